"""Copies of rows that others could have made or changed: none of them is trusted, followed or overwritten."""

import os
import stat
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzz.copies import arrays_of, good, learned, opened, sealed, taken_apart

from perceptrons.data import cache, cache_file, source
from perceptrons.data.cache import Cached
from perceptrons.data.sparse import are_pointers

posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("".join(f"{i % 2} {i % 5}:{i}.5\n" for i in range(50)))
    return file


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for caches, where even few rows are copied."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache, "MEMORY", 0)
    return tmp_path / "home" / "perceptrons" / "rows"


def copied(path, cache=True):
    """Read a file twice, the second time from its copy, if there is one."""
    made = source(path, cache=cache).again()
    first, second = ([rows.matrix().toarray().tolist() for rows, _ in made.batches()] for _ in range(2))
    assert first == second and made.table is not None
    return made


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# -- where copies lie -------------------------------------------------------------------------------------------------


@posix
def test_nobody_else_can_read_a_copy(path, home):
    path.chmod(0o600)
    umask = os.umask(0)
    try:
        made = copied(path)
    finally:
        os.umask(umask)
    assert Path(made.path).parent == home and mode(Path(made.path)) == 0o600
    assert mode(home) == 0o700  # folders above may be older: where the package cannot be written, machine code is there
    assert os.listdir(path.parent) == ["rows.svm", "home"] or os.listdir(path.parent) == ["home", "rows.svm"]


@posix
def test_a_link_in_the_place_of_a_copy_is_not_followed(path, home):
    made, victim = copied(path), path.with_name("victim")
    victim.write_text("precious")
    good = Path(made.path).read_bytes()
    for target in (victim, path.with_name("nothing yet")):
        os.unlink(made.path)
        os.symlink(target, made.path)
        assert source(path).again().table is None
        copied(path)
        assert victim.read_text() == "precious" and not path.with_name("nothing yet").exists()
        assert not os.path.islink(made.path) and Path(made.path).read_bytes() == good


@posix
def test_only_own_regular_files_that_nobody_else_can_write_are_taken_for_copies(path, home, stranger):
    made = copied(path)
    whole = Path(made.path).read_bytes()
    os.rename(made.path, path.with_name("good"))
    os.symlink(path.with_name("good"), made.path)
    assert source(path).again().table is None
    os.unlink(made.path)
    os.mkfifo(made.path)  # nobody writes to it: opening it would wait forever
    assert source(path).again().table is None
    os.unlink(made.path)
    Path(made.path).write_bytes(whole)
    os.chmod(made.path, 0o666)
    assert source(path).again().table is None
    os.chmod(made.path, 0o600)
    assert source(path).again().table is not None
    stranger(made.path)
    assert source(path).again().table is None


@posix
@pytest.mark.parametrize("how", ["a file", "writable by all", "of another user", "a link", "above: of another user"])
def test_without_a_folder_for_caches_the_copy_is_temporary(how, path, home, stranger, tmp_path):
    if how == "a file":
        home.parents[1].write_text("not a folder")
    else:
        home.parent.mkdir(parents=True)
    if how == "writable by all":
        home.mkdir()
        home.chmod(0o777)
    elif how == "of another user":
        home.mkdir()
        stranger(home)
    elif how == "a link":
        (tmp_path / "elsewhere").mkdir()
        home.symlink_to(tmp_path / "elsewhere")
    elif how == "above: of another user":  # as with sudo, which may keep HOME
        stranger(home.parent)
    before = sorted(tmp_path.rglob("*"))
    made = copied(path)
    assert sorted(tmp_path.rglob("*")) == before and "temporary" in made.path


@posix
def test_in_a_folder_that_others_can_write_copies_lie_in_a_folder_of_ones_own(path, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    own = shared / f"perceptrons-{os.geteuid()}"
    made = copied(path, shared)
    assert Path(made.path).parent == own and mode(own) == 0o700 and mode(Path(made.path)) == 0o600
    assert list(shared.iterdir()) == [own]
    assert source(path, cache=shared).again(often=False).table is not None


@posix
@pytest.mark.parametrize("how", ["a link", "a file", "writable by all", "of another user"])
def test_a_folder_of_ones_own_that_is_somebody_elses_is_not_used(how, path, tmp_path, stranger):
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    victim.mkdir(mode=0o700)
    shared.mkdir()
    shared.chmod(0o1777)
    own = shared / f"perceptrons-{os.geteuid() if how != 'of another user' or os.geteuid() == 0 else stranger.user}"
    if how == "a link":
        own.symlink_to(victim)
    elif how == "a file":
        own.write_text("no folder")
    else:
        own.mkdir(mode=0o700)
        own.chmod(0o777 if how == "writable by all" else 0o700)
    if how == "of another user":
        stranger(own)
    assert source(path, cache=shared).again(often=False).__class__ is not Cached
    refused = r"shared cannot hold a copy of the rows: other users can write it, and perceptrons-\d+ in it is not"
    with pytest.warns(UserWarning, match=refused):
        made = copied(path, shared)
    assert "temporary" in made.path and not list(victim.iterdir())


def test_a_folder_that_cannot_be_used_is_no_end_of_training(path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match=r"file cannot hold a copy of the rows: .*; name another folder to keep it"):
        made = copied(path, tmp_path / "file")
    assert "temporary" in made.path and (tmp_path / "file").read_text() == ""


def test_a_long_name_is_no_obstacle(tmp_path, home):
    path = tmp_path / ("ä" * 120 + ".svm")
    path.write_text("1 1:1\n0 2:1\n")
    assert len(os.path.basename(copied(path).path)) == 50


# -- copies that nobody needs -----------------------------------------------------------------------------------------


@posix
def test_stale_copies_are_removed_and_nothing_else(path, home, tmp_path):
    files = {name: tmp_path / f"{name}.svm" for name in ("kept", "changed", "gone", "unused", "folder")}
    made = {}
    for name, file in files.items():
        file.write_text(path.read_text())
        made[name] = Path(copied(file).path)
    copies = set(home.iterdir())
    in_use = source(files["changed"]).again()
    files["changed"].write_text("1 1:1\n")
    files["gone"].unlink()
    os.utime(made["unused"], (1, time.time() - cache_file.UNUSED - 60))
    made["folder"].unlink()
    others = [home / f"x.{'0' * 16}.cache", home / "notes.cache", home / "notes", made["folder"]]
    for other in others[:3]:
        other.write_text("perceptrons" * 10)
    others[3].mkdir()
    outside = tmp_path / "outside"
    outside.write_bytes(made["gone"].read_bytes())
    others.append(home / f"y.{'1' * 16}.cache")
    others[-1].symlink_to(outside)
    left = home / f".{made['kept'].name}.{'ab' * 8}.tmp"
    left.write_text("half")
    new = Path(copied(path).path)
    assert set(home.iterdir()) == {made["kept"], new, *others} and len(copies) == 5
    assert outside.exists() and sum(len(rows) for rows, _ in in_use.batches()) == 50


def test_a_copy_that_is_used_stays(path, home, tmp_path):
    made = copied(path)
    os.utime(made.path, (1, time.time() - cache_file.UNUSED - 60))
    assert source(path).again().table is not None
    other = tmp_path / "other.svm"
    other.write_text("1 1:1\n0 2:1\n")
    copied(other)
    assert source(path).again().table is not None


# -- what copies hold -------------------------------------------------------------------------------------------------


def written(folder, kind, content):
    """Replace the good copy of a source."""
    right = good(kind, folder)
    made = opened(kind, folder)
    with open(os.open(folder / right.name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return made


def test_blocks_that_changed_places_are_noticed(tmp_path):
    right = good("svm", tmp_path)
    parts = taken_apart(right.content)
    swapped = bytearray(right.content)
    at = parts.contents["batches"][0]["at"]
    assert swapped[at : at + 8] != swapped[at + 8 : at + 16]
    swapped[at : at + 8], swapped[at + 8 : at + 16] = swapped[at + 8 : at + 16], swapped[at : at + 8]
    assert np.array_equal(learned(written(tmp_path, "svm", bytes(swapped))), right.coef)
    one, two, *rest = parts.batches
    assert len(one) == len(two) and one != two
    moved = parts._replace(batches=[two, one, *rest]).joined(digests=False)
    assert np.array_equal(learned(written(tmp_path, "svm", moved)), right.coef)


def change(name, place, value):
    """Put a value into an array of the second batch."""

    def apply(parts):
        batch = bytearray(parts.batches[1])
        arrays_of(batch, parts.contents["batches"][1])[name].reshape(-1)[place] = value
        parts.batches[1] = bytes(batch)

    return apply


ARRAYS = {
    "row pointers that do not start at 0": change("indptr", 0, 1),
    "row pointers that fall": change("indptr", 5, 2**40),
    "row pointers that go on and on": change("indptr", slice(5, None), 2**63),
    "row pointers beyond the values": change("indptr", -1, 1000),
    "row pointers that leave out values": change("indptr", -1, 30),
    "an index outside": change("indices", -1, 2**31),
    "an index twice": change("indices", slice(-2, None), 4),
    "a value that is not finite": change("values", 3, np.nan),
    "a wrong squared length": change("sq_norm", 2, 1000.0),
    "a squared length that is not a number": change("sq_norm", 2, np.nan),
    "a label that is not finite": change("y", 2, np.inf),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=list(ARRAYS))
def test_wrong_arrays_with_right_digests_are_not_used(change, tmp_path):
    right = good("svm", tmp_path)
    parts = taken_apart(right.content)
    change(parts)
    copy = written(tmp_path, "svm", parts.joined())
    assert Cached(copy, str(tmp_path)).table is not None  # nothing shows yet
    assert np.array_equal(learned(copy), right.coef)
    assert (tmp_path / right.name).read_bytes() == right.content  # made anew


ENTRIES = [("rows", 10**6), ("rows", -1), ("rows", 1.0), ("rows", True), ("rows", 2**70), ("values", 10**6)]
ENTRIES += [("values", None), ("features", 2**28), ("features", 0), ("features", "9"), ("at", 0), ("at", 2**62)]
ENTRIES += [("stored", "<f8"), ("stored", "|O"), ("wide", "<c16"), ("wide", None), ("labels", "|O"), ("labels", None)]


@pytest.mark.parametrize(("name", "value"), ENTRIES)
def test_wrong_contents_with_a_right_digest_are_not_used(name, value, tmp_path):
    right = good("svm", tmp_path)
    parts = taken_apart(right.content)
    entry = parts.contents["batches"][1]
    assert type(entry[name]) is not type(value) or entry[name] != value
    entry[name] = value
    assert np.array_equal(learned(written(tmp_path, "svm", parts.joined())), right.coef)
    assert (tmp_path / right.name).read_bytes() == right.content  # made anew


@pytest.mark.parametrize("indptr", [[1, 2, 3], [0, 2, 1, 3], [0, 3, 2], [0, 3, 4], [0, 2**64 - 1, 3], [0, 2]])
def test_row_pointers_rise_from_0_to_the_number_of_values(indptr):
    assert are_pointers(np.array([0, 0, 2, 3, 3], dtype=np.uint64), 3)
    assert not are_pointers(np.array(indptr, dtype=np.uint64), 3)


def test_features_that_do_not_occur_take_no_memory(tmp_path):
    right = good("svm", tmp_path)
    parts = taken_apart(right.content)
    for entry in parts.contents["batches"]:
        entry["features"] = 2**31
    copy = written(tmp_path, "svm", parts.joined())
    assert Cached(copy, str(tmp_path)).table is not None  # nothing shows yet
    assert np.array_equal(learned(copy), right.coef)


def test_every_batch_is_there_once(tmp_path):
    right = good("svm", tmp_path)
    twice, short = taken_apart(right.content), taken_apart(right.content)
    twice.contents["batches"][1] = dict(twice.contents["batches"][0])
    short.contents["batches"].pop()
    for parts in (twice, short):
        assert Cached(written(tmp_path, "svm", parts.joined(digests=False)), str(tmp_path)).table is None


def test_a_change_of_the_contents_is_noticed(tmp_path):
    right = good("csv", tmp_path)
    changed = right.content.replace(b'"category": ["a"', b'"category": ["z"')
    assert changed != right.content
    assert Cached(written(tmp_path, "csv", changed), str(tmp_path)).table is None


def test_contents_that_are_not_contents_are_not_used(tmp_path):
    right = good("svm", tmp_path)
    parts = taken_apart(right.content)
    nested = b"[" * 100_000
    for contents in (b"", b"1", b"[]", b"{}", nested, b'{"encoding": null, "batches": []}', b'{"encoding": null}'):
        for batches in (parts.batches, []):
            copy = written(tmp_path, "svm", sealed(parts.head, batches, contents))
            assert Cached(copy, str(tmp_path)).table is None
    long = right.content[:-60] + (2**63).to_bytes(8, "little") + right.content[-52:]
    assert len(long) == len(right.content)
    assert Cached(written(tmp_path, "svm", long), str(tmp_path)).table is None


STATES = [
    ("numbers", ["age", 5]),
    ("numbers", "age"),
    ("numbers", ["age", "job"]),
    ("categories", []),
    ("flags", ["age"]),
]
STATES += [("label", "object"), ("target", 7), ("hash_bits", 40), ("hash_bits", True), ("text_bits", 1e9)]
STATES += [("ngrams", None), ("missing", float("nan")), ("missing", "x"), ("more", 1), ("numbers", ["age", "more"])]


@pytest.mark.parametrize(("name", "value"), STATES)
def test_wrong_columns_of_tables_are_not_used(name, value, tmp_path):
    right = good("csv", tmp_path)
    assert Cached(written(tmp_path, "csv", right.content), str(tmp_path)).table is not None
    parts = taken_apart(right.content)
    parts.contents["encoding"][0][name] = value
    assert Cached(written(tmp_path, "csv", parts.joined()), str(tmp_path)).table is None
    parts = taken_apart(right.content)
    parts.contents["encoding"][1]["category"].append("more")
    assert Cached(written(tmp_path, "csv", parts.joined()), str(tmp_path)).table is None


def test_a_full_folder_for_caches_is_told_with_its_name(path, home, monkeypatch):
    def full(*args, **others):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(UserWarning, match=r"rows/rows\.svm\.\w+\.cache: cannot keep a copy .* No space left"):
        made = source(path).again()
        assert len(list(made.batches())) == 1
    assert made.table is None and not list(home.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(made.batches())) == 1
