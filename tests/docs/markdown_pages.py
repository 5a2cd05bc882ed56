"""The pages of the site as tests see them: their blocks of code, and commands that are run as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MADE = ("_build", "gallery", "reference/api", "reference/backreferences")  # written by the build
FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\S*) *\n(?P<code>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code, and the last line of text before it."""

    kind: str
    code: str
    lead: str


def pages():
    """All pages that people wrote, README first."""
    docs = ROOT / "docs"
    found = (path for path in sorted(docs.rglob("*.md")) if not path.relative_to(docs).as_posix().startswith(MADE))
    return [ROOT / "README.md", *found]


def name(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    text = page.read_text()
    for found in FENCE.finditer(text):
        lead = text[: found.start()].rstrip().rpartition("\n")[2]
        indent = len(found["indent"])
        code = "".join(line[indent:] or "\n" for line in found["code"].splitlines(keepends=True))
        yield Block(found["kind"], code, lead)


# -- carrying a page out ----------------------------------------------------------------------------------------------


def environment(**more):
    """The environment of commands: `perceptrons` and `python` are those that run the tests."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1", **more}


def follow(page, folder, environment):
    """Make the files that a page shows in `folder`, run its commands there, and compare what they print."""
    for block in blocks(page):
        if block.kind == "console":
            for command, expected in commands(block.code):
                done = run(["bash", "-c", command], folder, environment)
                assert agrees(expected, done), f"$ {command}\n{done}\n-- expected:\n{expected}"
        elif found := re.fullmatch(r"In the new file `([^`]+)`, made by this program:", block.lead):
            run([sys.executable, "-c", block.code], folder, environment)
            assert (folder / found[1]).exists(), found[1]
        elif found := re.fullmatch(r"In the new file `([^`]+)`:", block.lead):
            assert not (folder / found[1]).exists(), found[1]
            (folder / found[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / found[1]).write_text(block.code)
        elif found := re.fullmatch(r"In `([^`]+)`, (before|in place of) `(.+)`:", block.lead):
            edit(folder / found[1], found[2], found[3], block.code)


def run(words, folder, environment):
    """What a command prints, errors included."""
    done = subprocess.run(
        words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100
    )
    return done.stdout


def edit(path, where, line, code):
    """Put code before a line of a file, or in its place."""
    text = path.read_text()
    found = re.findall(rf"^ *{re.escape(line)}.*\n", text, re.MULTILINE)
    assert len(found) == 1, f"{path} has {len(found)} lines that begin with {line}"
    apart = "\n\n" if where == "before" and re.match(r"(class|def|@)", code) else ""  # two empty lines
    path.write_text(text.replace(found[0], code + apart + (found[0] if where == "before" else "")))


def commands(code):
    """Commands of a block, each with the lines that it prints."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):  # the command goes on in the next line
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.strip()
        yield re.sub(r"  +# .*", "", command), expected


def agrees(expected, printed):
    """Whether a command printed what a page says: a line with only … stands for any lines, … in a line for any text.

    >>> agrees("rows: 6\\n…\\nerror … %\\n", "rows: 6\\nmany\\nlines\\nerror 3.5 %\\n")
    True
    >>> agrees("rows: 6\\n", "rows: 6\\nmany\\n")
    False
    """
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(piece.rstrip()) for piece in line.split("…")) + r" *\n"
    return re.fullmatch(pattern, printed) is not None
