"""Run fuzzers: malformed input of every kind, each case in a child process.

A fuzzer is a module of this folder with one function ``case(random, folder)``. It makes one input from `random` and
gives it to the library. The library must accept it or refuse it with a clear error: a ValueError, TypeError or OSError
with a short message. Anything else is a failure: a signal, no end within two minutes, another exception, text on
standard error, or more than 600 MB of memory. The case number is the seed, so that each case can be run again.

    python tests/fuzz/harness.py                       1,000 cases of each kind
    python tests/fuzz/harness.py --cases 100000 csr    100,000 cases of one kind
    python tests/fuzz/harness.py --first 4711 --cases 1 csr
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
KINDS = sorted(path.stem for path in TESTS.glob("fuzz/*.py") if path.stem != "harness" and "test" not in path.stem)
CHUNK = 2_000  # cases a child
PATIENCE = 120  # seconds a case; the first case of its kind may have to compile code
MOST_MEMORY = 600  # MB a child
LONGEST = 2_000  # characters of an error message
CLEAR = (ValueError, TypeError, OSError)
SHOWN = 5  # failures that are printed for each kind


def outcome(kind: str, number: int, folder: Path) -> tuple[str, str]:
    """Run one case; returns what happened and, for a failure, the details."""
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    try:
        importlib.import_module(f"fuzz.{kind}").case(np.random.default_rng(number), folder)
    except CLEAR as error:
        if 0 < len(str(error)) <= LONGEST and "Traceback" not in str(error):
            return "refused", ""
        return "unclear error", traceback.format_exc(limit=-3)
    except Exception:
        return "unclear error", traceback.format_exc(limit=-3)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if used > MOST_MEMORY:
        return "too much memory", f"{used} MB"
    return "accepted", ""


def work(kind: str, numbers: range, folder: Path, results: Connection, errors: int) -> None:
    """Run cases in this child process, and send what happened to each."""
    os.dup2(errors, 2)  # whatever a library prints there
    warnings.simplefilter("ignore")
    for number in numbers:
        what, details = outcome(kind, number, folder)
        if os.lseek(errors, 0, os.SEEK_END):
            what, details = "text on standard error", os.pread(errors, 1000, 0).decode(errors="replace")
            os.ftruncate(errors, 0)
            os.lseek(errors, 0, os.SEEK_SET)
        results.send((number, what, details))


def run(kind: str, numbers: range) -> Counter[str]:
    """Run the cases of a kind; prints the first failures and returns how often each outcome occurred."""
    context = multiprocessing.get_context("fork")
    counts: Counter[str] = Counter()
    failures, at = 0, numbers.start
    while at < numbers.stop:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
            results, to_parent = context.Pipe(duplex=False)
            chunk = range(at, min(at + CHUNK, numbers.stop))
            child = context.Process(target=work, args=(kind, chunk, Path(folder), to_parent, errors.fileno()))
            child.start()
            to_parent.close()
            found: list[tuple[str, str]] = []
            try:
                while at < chunk.stop or results.poll(0.1):
                    if not results.poll(PATIENCE):
                        child.kill()
                        found.append(("hang", f"no end within {PATIENCE} seconds"))
                        break
                    number, what, details = results.recv()
                    at = number + 1
                    counts[what] += 1
                    if details:
                        found.append((what, f"{details}\n(case {number})"))
            except EOFError:  # the child has ended
                child.join()
                if at < chunk.stop:
                    found.append(("crash", f"exit code {child.exitcode}"))
            child.join()
            if found and found[-1][0] in ("crash", "hang"):
                counts[found[-1][0]] += 1
                found[-1] = (found[-1][0], f"{found[-1][1]}\n(case {at})")
                at += 1
        for what, details in found[: max(0, SHOWN - failures)]:
            print(f"{kind}: {what}: {details}", flush=True)
        failures += len(found)
    return counts


def main() -> int:
    """Run the program; the exit code is 1 if any case failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"any of {', '.join(KINDS)}; all by default")
    parser.add_argument("--cases", type=int, default=1_000, help="cases of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    given = parser.parse_args()
    unknown = set(given.kinds) - set(KINDS)
    if unknown:
        parser.error(f"there is no kind {min(unknown)!r}: the kinds are {', '.join(KINDS)}")
    sys.path[0:1] = [str(TESTS), str(TESTS / "cases")]
    failed = 0
    for kind in given.kinds or KINDS:
        importlib.import_module(f"fuzz.{kind}")  # children need not import it
        begin = time.perf_counter()
        counts = run(kind, range(given.first, given.first + given.cases))
        bad = sum(counts.values()) - counts["accepted"] - counts["refused"]
        failed += bad
        others = "".join(f", {n:,} x {what}" for what, n in counts.items() if what not in ("accepted", "refused"))
        print(
            f"{kind}: {given.cases:,} cases, {counts['refused']:,} refused with a clear error, "
            f"{counts['accepted']:,} accepted, {bad:,} failed{others} ({time.perf_counter() - begin:.0f} s)",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
