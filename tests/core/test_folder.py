"""Folders that appear whole, work that is resumed under its own plan only, and what is said when it is not."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vcrgen.core.errors import OutputError
from vcrgen.core.files import output_errors
from vcrgen.core.folder import PLAN, WorkFolder, new_folder
from vcrgen.core.storage import DiskFolder

NAME = ".vcrgen-test"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def work(out: Path, **options: bool) -> WorkFolder:
    return WorkFolder(DiskFolder(out), NAME, making="cake", **options)


# Work that goes on


def plan(**facts: object) -> dict[str, object]:
    return {"fingerprint": str(sorted(facts.items())), "facts": facts}


def test_the_same_plan_goes_on(out: Path) -> None:
    with work(out).locked():
        work(out).freeze(plan(seed=1, modes=("a", "b")))
        before = (out / NAME / PLAN).read_bytes()
    with work(out).locked():
        work(out).freeze(plan(seed=1, modes=("a", "b")))
    assert (out / NAME / PLAN).read_bytes() == before


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        ({"seed": 0}, {"seed": 1}, "(seed 0 there, 1 here)"),
        ({"seed": 0, "n": 5}, {"seed": 1, "n": 5}, "(seed 0 there, 1 here)"),
        ({"limit": None}, {"limit": 30}, "(limit none there, 30 here)"),
        ({}, {"pillow": "11.3.0"}, "(pillow none there, 11.3.0 here)"),
        ({"files": "a" * 64}, {"files": "b" * 64}, "(files)"),
        ({"a": 1, "b": ["x"] * 30, "c": 3, "d": 4}, {}, "(a 1 there, none here; b; c 3 there, none here; 1 more)"),
        (
            {"layout": "rules-1@pillow-13.0.0-basic"},
            {"layout": "rules-2@pillow-13.0.0-basic"},
            "(layout rules-1@pillow-13.0.0-ba… there, rules-2@pillow-13.0.0-ba… here)",
        ),
        (
            {"layout": "rules-2@pillow-13.0.0-basic"},
            {"layout": "rules-2@pillow-13.0.1-raqm"},
            "(layout …ow-13.0.0-basic there, …ow-13.0.1-raqm here)",
        ),
        ({"prompt": "Ask\n" * 9}, {"prompt": "Ask\n" * 9 + "on"}, r"(prompt …Ask\nAsk\n there, …Ask\nAsk\non here)"),
        ({"template": "a" * 64}, {}, "(template)"),
        ({"template": "{{ a }} {{ b }} {{ c }} {{ d }}"}, {}, "(template {{ a }} {{ b }} {{ c }} … there, none here)"),
    ],
)
def test_another_plan_is_refused_with_what_differs(
    out: Path, there: dict[str, object], here: dict[str, object], said: str
) -> None:
    place = work(out)
    with place.locked():
        place.freeze(plan(**there))
    with pytest.raises(OutputError) as caught, place.locked():
        place.freeze(plan(**here))
    assert f"holds an unfinished cake of another plan {said}; finish that one with its own command" in str(caught.value)


def test_a_plan_that_names_no_facts_is_refused_too(out: Path) -> None:
    (out / NAME).mkdir(parents=True)
    (out / NAME / PLAN).write_text('{"fingerprint": "another"}')
    with pytest.raises(OutputError, match=r"of another plan \(seed none there, 1 here\)"):
        work(out).freeze(plan(seed=1))


def test_one_process_at_a_time(out: Path) -> None:
    busy = pytest.raises(OutputError, match=f"Another process is writing to {out}; wait for it")
    with work(out).locked(), busy, work(out).locked():
        raise AssertionError("both are in")
    with work(out).locked():
        pass


def test_what_a_killed_process_was_writing_is_removed(out: Path) -> None:
    deep = out / NAME / "deep"
    deep.mkdir(parents=True)
    for name in (".a.0123.tmp", "b.tmp", "c"):
        (deep / name).write_text("x")
    with work(out).locked():
        assert sorted(path.name for path in deep.iterdir()) == ["b.tmp", "c"]


def test_a_private_folder_is_its_owners(out: Path) -> None:
    if os.name != "posix":
        pytest.skip("permissions of POSIX")
    with work(out, private=True).locked():
        assert stat.S_IMODE((out / NAME).stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["nothing", "empty", "unfinished"])
def test_places_that_are_free(out: Path, kind: str) -> None:
    if kind != "nothing":
        out.mkdir()
    if kind == "unfinished":
        (out / NAME).mkdir()
        (out / "half").write_text("x")
    work(out).check_out()


def test_places_that_are_taken(out: Path) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty and not an unfinished cake; choose another --out"):
        work(out).check_out()
    with pytest.raises(OutputError, match="is a file; choose a folder"):
        work(out / "thesis.txt")
    assert (out / "thesis.txt").read_text() == "mine"


def test_work_that_came_to_nothing_leaves_nothing(out: Path) -> None:
    place = work(out)
    with place.locked():
        place.freeze(plan(seed=1))
    place.clear()
    assert not out.exists()
    with place.locked():
        (out / "mine").write_text("x")
    place.clear()
    assert [path.name for path in out.iterdir()] == ["mine"]


# Folders made at once


def put(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "a").write_text("new")
    (folder / "MARK").touch()


@pytest.mark.parametrize("kind", ["nothing", "empty", "link", "deep"])
def test_a_new_folder_appears_whole(tmp_path: Path, kind: str) -> None:
    out = tmp_path / ("x/y/out" if kind == "deep" else "out")
    if kind == "empty":
        out.mkdir()
    if kind == "link":
        (tmp_path / "real").mkdir()
        out.symlink_to(tmp_path / "real")
    with new_folder(out) as folder:
        put(folder)
        assert not out.exists() or not any(out.iterdir())
    assert (out / "deep" / "a").read_text() == "new"
    assert out.is_symlink() == (kind == "link")
    assert not list(tmp_path.rglob(".*"))


def test_a_new_folder_that_fails_leaves_nothing(out: Path) -> None:
    with pytest.raises(RuntimeError), new_folder(out) as folder:
        put(folder)
        raise RuntimeError
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(("mark", "content"), [(None, "files already"), ("MARK", "something else")])
def test_what_is_somebody_elses_is_not_replaced(out: Path, mark: str | None, content: str) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=f"holds {content}"), new_folder(out, mark=mark):
        raise AssertionError("it is let in")
    with (
        pytest.raises(OutputError, match=f"holds {content}"),
        new_folder(out / "thesis.txt", mark=mark),
    ):
        raise AssertionError("it is let in")
    assert [path.name for path in out.parent.rglob("*")] == ["out", "thesis.txt"]


def test_an_earlier_output_is_replaced_as_a_whole(out: Path) -> None:
    for _ in range(2):
        with new_folder(out, mark="MARK") as folder:
            put(folder)
        (out / "left").write_text("of an earlier one")
    with pytest.raises(RuntimeError), new_folder(out, mark="MARK") as folder:
        raise RuntimeError
    assert (out / "left").exists()
    with new_folder(out, mark="MARK") as folder:
        put(folder)
    assert not (out / "left").exists() and [path.name for path in out.parent.iterdir()] == ["out"]


def test_what_a_killed_process_left_is_removed(out: Path) -> None:
    """SIGKILL while a folder is written, and between the two moves of a replacement."""
    code = """
import os, pathlib, signal, sys
from vcrgen.core import folder
if sys.argv[2] == "moved":
    folder.fsync = lambda path: None
    folder._flush = lambda made: setattr(pathlib.Path, "replace", lambda self, to: (self.rename(to), kill()))
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
with folder.new_folder(pathlib.Path(sys.argv[1]), mark="MARK") as made:
    (made / "half").touch()
    if sys.argv[2] == "written":
        kill()
"""
    with new_folder(out, mark="MARK") as folder:
        put(folder)
    for when in ("written", "moved"):
        assert subprocess.run([sys.executable, "-c", code, str(out), when]).returncode == -signal.SIGKILL
        left = {path.suffix for path in out.parent.iterdir()}
        assert left == ({"", ".tmp", ".lock"} if when == "written" else {".old", ".tmp", ".lock"})
        with pytest.raises(RuntimeError), new_folder(out, mark="MARK") as folder:
            assert not list(folder.iterdir())
            raise RuntimeError
        assert [path.name for path in out.parent.iterdir()] == ["out"] and (out / "deep" / "a").read_text() == "new"


def test_one_process_at_a_time_writes_a_new_folder(out: Path) -> None:
    with new_folder(out) as folder:
        with pytest.raises(OutputError, match="Another process is writing"), new_folder(out):
            raise AssertionError("it is let in")
        assert folder.exists()
    assert [path.name for path in out.parent.iterdir()] == ["out"]


# Sentences


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "the disk is full; free some space and run the same command again"),
        (PermissionError(13, "Permission denied", "/a/out/deep/x"), "permission denied (/a/out/deep/x)"),
        (PermissionError(13, "Permission denied", "/a/.out.0123.tmp"), "permission denied"),
        (PermissionError(13, "Permission denied"), "permission denied"),
        (OSError("s3://bucket/x: access denied"), "s3://bucket/x: access denied"),
        (OSError(), "OSError"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(error: OSError, said: str) -> None:
    with pytest.raises(OutputError) as caught, output_errors(Path("/a/out")):
        raise error
    assert str(caught.value) == f"/a/out cannot be written: {said}."
