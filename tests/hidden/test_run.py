"""Whole sets: the same bytes by every road, nothing in the way overwritten, nothing half-made left behind."""

import itertools
import json
import os
import shutil
import signal
import stat
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.hidden.conftest import samples_of, write_pairs
from tests.standing import stands_at
from vcrgen.core.errors import FontError, HiddenSetError, NoPairsError, OutputError, SourceError, VcrgenError
from vcrgen.core.progress import ProgressListener
from vcrgen.hidden import HiddenResult, verify
from vcrgen.hidden.run import DECISIONS, WORK
from vcrgen.samples import sample_pair

Make = Callable[..., HiddenResult]
Tree = Callable[[Path], dict[str, bytes]]
Answers = Callable[[Path], list[dict[str, Any]]]
SMALL = {"items": 3, "fonts": ("open-sans",)}


def failures(folder: Path) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in verify(folder) if check.ok is False]


# Determinism


def test_the_same_secret_gives_the_same_bytes(make: Make, tree: Tree, finished: Path, tmp_path: Path) -> None:
    result = make(tmp_path / "elsewhere" / "again")
    assert not result.was_complete
    assert tree(tmp_path / "elsewhere" / "again") == tree(finished)
    assert result.report == json.loads((finished / "key" / "report.json").read_bytes())


def test_another_secret_gives_another_set(
    make: Make, tree: Tree, answers: Answers, small: Path, other_secret_file: Path, tmp_path: Path
) -> None:
    source = write_pairs(tmp_path / "pairs.parquet", samples_of(range(3)))
    make(tmp_path / "out", secret=other_secret_file, source=source, **SMALL)
    make(tmp_path / "mine", source=source, **SMALL)
    mine, other = (answers(tmp_path / name) for name in ("mine", "out"))
    assert {a["source_id"] for a in mine} == {a["source_id"] for a in other}  # all pairs of the source
    assert not {a["question_id"] for a in mine} & {a["question_id"] for a in other}
    for name in ("width", "spans"):
        assert {a["source_id"]: a[name] for a in mine} != {a["source_id"]: a[name] for a in other}
    keys = [json.loads((tmp_path / name / "key" / "key.json").read_bytes()) for name in ("mine", "out")]
    assert not [name for name in ("nonce", "canary", "fingerprint", "seal", "public") if keys[0][name] == keys[1][name]]
    files = [tree(tmp_path / name) for name in ("mine", "out")]
    assert not {name for name in files[0] if name in files[1] and files[0][name] == files[1][name]}


def test_which_pairs_come_into_the_set_is_secret(
    make: Make, answers: Answers, secret_file: Path, other_secret_file: Path, tmp_path: Path
) -> None:
    pairs = samples_of(range(15))
    source = write_pairs(tmp_path / "pairs.parquet", pairs)
    chosen = []
    for number, secret in enumerate((secret_file, other_secret_file)):
        make(out := tmp_path / f"out-{number}", secret=secret, source=source, **SMALL)
        chosen.append({answer["caption"] for answer in answers(out)})
    assert chosen[0] != chosen[1]
    assert all(captions != {caption for _, caption in pairs[:3]} for captions in chosen)


# Balance


def spread(counts: Counter[str]) -> int:
    return max(counts.values()) - min(counts.values())


def test_fonts_places_and_covers_are_balanced(finished: Path, finished_forms: Path, answers: Answers) -> None:
    for folder in (finished, *(finished_forms / f"form-{form}" for form in (1, 2, 3))):
        lines = answers(folder)
        fonts, places = (Counter(a[name] for a in lines) for name in ("font", "strip"))
        covers = Counter(span["cover"] for a in lines for span in a["spans"])
        assert set(fonts) == {"open-sans", "liberation-serif", "caladea"} and spread(fonts) <= 1
        assert set(places) == {"above", "below"} and spread(places) <= 1
        assert set(covers) == {"easy", "hard"} and spread(covers) <= 1
        assert all(600 <= a["width"] <= 1000 for a in lines)
        report = json.loads((folder / "key" / "report.json").read_bytes())
        assert (report["fonts"], report["strip"], report["covers"]) == (fonts, places, covers)


def test_forms_are_of_the_same_pairs_and_share_nothing_else(finished_forms: Path, answers: Answers) -> None:
    forms = [{a["source_id"]: a for a in answers(finished_forms / f"form-{form}")} for form in (1, 2, 3)]
    assert forms[0].keys() == forms[1].keys() == forms[2].keys() and len(forms[0]) == 4
    for one, other in itertools.combinations(range(3), 2):
        pairs = [(forms[one][source], forms[other][source]) for source in forms[0]]
        assert all(a["font"] != b["font"] for a, b in pairs)
        assert all((a["strip"] == b["strip"]) == ((other - one) % 2 == 0) for a, b in pairs)
        assert not {a["question_id"] for a, _ in pairs} & {b["question_id"] for _, b in pairs}
        assert any(a["crossed_text"] != b["crossed_text"] for a, b in pairs)
    keys = [json.loads((finished_forms / f"form-{form}" / "key" / "key.json").read_bytes()) for form in (1, 2, 3)]
    assert len({key["nonce"] for key in keys}) == 3 and all(len(key["nonce"]) == 32 for key in keys)
    manifests = [json.loads((finished_forms / f"form-{form}/public/manifest.json").read_bytes()) for form in (1, 2, 3)]
    for name in ("canary", "commitment"):
        assert len({manifest[name] for manifest in manifests}) == 3
    names = [{file.name for file in (finished_forms / f"form-{form}").rglob("*.png")} for form in (1, 2, 3)]
    assert not names[0] & names[1] and not names[0] & names[2] and not names[1] & names[2]


def test_one_form_is_the_first_of_several(make: Make, answers: Answers, tmp_path: Path) -> None:
    """If the same pairs can be used."""
    for name, forms in (("one", 1), ("several", 2)):
        make(tmp_path / name, items=2, fonts=("open-sans",), same_pairs=forms)
    assert answers(tmp_path / "one") == answers(tmp_path / "several/form-1")


# Going on


def test_a_finished_set_is_left_alone(make: Make, tree: Tree, hidden_set: Path) -> None:
    before = tree(hidden_set), {path: path.stat().st_mtime_ns for path in hidden_set.rglob("*")}
    result = make(hidden_set, **SMALL)
    assert result.was_complete and result.report["items"] == 3
    assert (tree(hidden_set), {path: path.stat().st_mtime_ns for path in hidden_set.rglob("*")}) == before


class _Stop(Exception):
    pass


class _Stopping(ProgressListener):
    """Raises after a number of pairs."""

    def __init__(self, after: int, error: type[BaseException]) -> None:
        self._left, self._error = after, error

    def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
        self._left -= 1
        if not self._left:
            raise self._error


@pytest.mark.parametrize(("after", "error"), [(1, KeyboardInterrupt), (3, _Stop)])
def test_stopped_between_pairs(
    make: Make, tree: Tree, small: Path, tmp_path: Path, after: int, error: type[BaseException]
) -> None:
    with pytest.raises(error):
        make(tmp_path / "out", listener=_Stopping(after, error), **SMALL)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [WORK]
    assert len((tmp_path / "out" / WORK / DECISIONS).read_bytes().splitlines()) == after
    assert not make(tmp_path / "out", **SMALL).was_complete
    assert tree(tmp_path / "out") == tree(small)


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_and_run_again(make: Make, tree: Tree, finished: Path, secret_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["hidden", "samples:40", "--private-source", "--out", str(out), "--items", "6", "--cover", "rows"]
    words += ["--secret-file", str(secret_file), "--fonts", "open-sans,liberation-serif,caladea", "--reuse-secret"]
    process = stands_at(5, *words)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if (out / WORK / DECISIONS).exists() and (out / WORK / DECISIONS).read_bytes().count(b"\n") >= 3:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    assert process.wait() == -signal.SIGKILL
    assert [path.name for path in out.iterdir()] == [WORK]  # nothing half-made is seen
    assert (out / WORK).stat().st_mode & 0o077 == 0
    make(out)
    assert tree(out) == tree(finished)


@pytest.mark.parametrize("forms", [1, 2])
def test_killed_before_any_file_is_put_in_place(
    make: Make, tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forms: int
) -> None:
    """The state of the disk at each renaming, of files and of finished parts, with what was half written."""
    options = {"items": 3 - forms, "fonts": ("open-sans", "caladea"), "forms": forms}
    states = itertools.count()
    real = Path.replace

    def noting(self: Path, target: Path) -> Path:
        state = next(states)
        if forms == 1 or state >= 16:  # two forms are decided and written as one is
            shutil.copytree(tmp_path / "out", tmp_path / "killed" / str(state))
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", noting)
        make(tmp_path / "out", **options)
    expected = tree(tmp_path / "out")
    killed = sorted((tmp_path / "killed").iterdir(), key=lambda folder: int(folder.name))
    assert len(killed) >= (12 if forms == 1 else 5)
    assert any(list(folder.rglob("*.tmp")) for folder in killed) and not list(killed[-1].rglob("*.tmp"))
    for folder in killed:
        assert not make(folder, **options).was_complete
        assert tree(folder) == expected, folder.name
        parts = [folder] if forms == 1 else sorted(folder.iterdir())
        assert [failures(part) for part in parts] == [[]] * forms


@pytest.mark.parametrize("gone", [[], ["plan.json", "lock", DECISIONS]])
def test_killed_while_cleaning_up(
    make: Make, tree: Tree, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: list[str]
) -> None:
    def stop(folder: Path) -> None:
        raise _Stop

    with monkeypatch.context() as patch:
        patch.setattr("vcrgen.core.storage.DiskFolder.remove", stop)
        with pytest.raises(_Stop):
            make(tmp_path / "out", **SMALL)
    for name in gone:
        (tmp_path / "out" / WORK / name).unlink(missing_ok=True)
    assert make(tmp_path / "out", **SMALL).was_complete
    assert tree(tmp_path / "out") == tree(small)


def test_answers_that_cannot_be_removed_are_not_left_in_silence(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("vcrgen.core.storage.DiskFolder.remove", lambda folder: None)
        with pytest.raises(OutputError, match=f"{WORK} holds answers and cannot be removed"):
            make(tmp_path / "out", **SMALL)
    assert make(tmp_path / "out", **SMALL).was_complete and not (tmp_path / "out" / WORK).exists()


def test_another_process_at_work(make: Make, tmp_path: Path) -> None:
    with pytest.raises(_Stop):
        make(tmp_path / "out", listener=_Stopping(1, _Stop), **SMALL)
    with FileLock(tmp_path / "out" / WORK / "lock"), pytest.raises(OutputError, match="Another process is writing"):
        make(tmp_path / "out", **SMALL)
    assert make(tmp_path / "out", **SMALL).report["items"] == 3


def test_nothing_of_an_unfinished_set_can_be_read_by_others(make: Make, tmp_path: Path) -> None:
    with pytest.raises(_Stop):
        make(tmp_path / "out", listener=_Stopping(2, _Stop), **SMALL)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "out" / WORK).stat().st_mode) == 0o700


# What is in the way


def put_file(out: Path, make: Make) -> None:
    out.write_text("mine")


def put_thesis(out: Path, make: Make) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")


def put_other_options(out: Path, make: Make) -> None:
    make(out, items=2, fonts=("open-sans",))


def put_other_source(out: Path, make: Make) -> None:
    make(out, source="samples:39", **SMALL)


def put_unfinished(out: Path, make: Make) -> None:
    with pytest.raises(_Stop):
        make(out, items=2, fonts=("open-sans",), listener=_Stopping(1, _Stop))


def put_changed(out: Path, make: Make) -> None:
    make(out, **SMALL)
    (out / "key" / "answers.jsonl").write_text("{}\n")


def put_half(out: Path, make: Make) -> None:
    make(out, **SMALL)
    shutil.rmtree(out / "public")


@pytest.mark.parametrize(
    ("put", "message"),
    [
        (put_file, "is a file; choose a folder"),
        (put_thesis, "is not empty"),
        (put_other_options, "holds another hidden set"),
        (put_other_source, "holds another hidden set"),
        (put_unfinished, r"holds an unfinished hidden set of another plan \(items 2 there, 3 here\)"),
        (put_changed, "was changed after the set was made"),
        (put_half, "is not empty"),
    ],
)
def test_what_is_in_the_way_is_left_as_it_is(
    make: Make, tree: Tree, tmp_path: Path, put: Callable[[Path, Make], None], message: str
) -> None:
    put(tmp_path / "out", make)
    before = tree(tmp_path)
    with pytest.raises(VcrgenError, match=message) as caught:
        make(tmp_path / "out", **SMALL)
    assert isinstance(caught.value, OutputError | HiddenSetError) and str(caught.value).count("\n") == 0
    assert tree(tmp_path) == before


def test_the_set_of_another_secret_is_left_as_it_is(
    make: Make, tree: Tree, hidden_set: Path, other_secret_file: Path
) -> None:
    before = tree(hidden_set)
    with pytest.raises(OutputError, match="or secret"):
        make(hidden_set, secret=other_secret_file, **SMALL)
    assert tree(hidden_set) == before


def test_an_unfinished_set_of_another_secret_or_source_is_left_as_it_is(
    make: Make, tree: Tree, other_secret_file: Path, tmp_path: Path
) -> None:
    """The message names the difference; the plan does not reveal the source."""
    with pytest.raises(_Stop):
        make(tmp_path / "out", listener=_Stopping(1, _Stop), **SMALL)
    before = tree(tmp_path)
    assert b"samples" not in before[f"out/{WORK}/plan.json"]
    for other in ({"secret": other_secret_file}, {"source": "samples:39"}):
        with pytest.raises(OutputError, match=r"of another plan \(source or secret\)"):
            make(tmp_path / "out", **SMALL, **other)
    assert tree(tmp_path) == before


def test_an_unfinished_set_is_not_resumed_under_other_rules_of_layout(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(_Stop):
        make(tmp_path / "out", listener=_Stopping(1, _Stop), **SMALL)
    monkeypatch.setattr("vcrgen.builder.pipeline.LAYOUT_RULES", "rules-0")
    with pytest.raises(OutputError, match=r"of another plan \(layout rules-\d@\S*… there, rules-0@\S*… here\)"):
        make(tmp_path / "out", **SMALL)


# The secret's file


def test_no_file_of_the_set_holds_the_secret(make: Make, tree: Tree, tmp_path: Path) -> None:
    held: list[dict[str, bytes]] = []

    class Looking(ProgressListener):
        def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
            held.append(tree(tmp_path / "out"))

    secret_file = tmp_path / "secret.key"
    result = make(tmp_path / "out", secret=secret_file, listener=Looking(), **SMALL)
    digits = secret_file.read_text().splitlines()[0]
    forms = (digits.encode(), digits.upper().encode(), bytes.fromhex(digits), digits[:32].encode())
    held.append(tree(tmp_path / "out"))
    for files in held:
        assert not [name for name, data in files.items() for form in forms if form in data]
    assert digits not in repr(result)


def test_no_secret_is_made_for_a_set_that_cannot_be_written(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out, options in (
        ("file", {}),
        ("out", {"fonts": ("no-such-font",)}),
        ("out", {"source": "none.parquet"}),
        ("out", {"not_in": ("none.parquet",)}),
    ):
        with pytest.raises(VcrgenError):
            make(tmp_path / out, secret=tmp_path / "secret.key", **{**SMALL, **options})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "place", ["out/secret.key", "out/key/secret.key", "out", "out/../out/s", "x/../out/s", "link/s"]
)
def test_a_secret_within_the_set_is_refused(make: Make, tmp_path: Path, place: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(HiddenSetError, match="lies inside"):
        make(tmp_path / "out", secret=tmp_path / place, **SMALL)
    assert not (tmp_path / "out").exists()


def test_a_set_goes_on_with_its_own_secret_only(make: Make, hidden_set: Path, tmp_path: Path) -> None:
    """A lost file of the secret is not replaced."""
    with pytest.raises(HiddenSetError, match=r"no secret file .*lost\.key, and .* is not empty"):
        make(hidden_set, secret=tmp_path / "lost.key", **SMALL)
    assert not (tmp_path / "lost.key").exists()


# What cannot be made


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fonts": ("open-sans", "no-such-font")}, FontError, "no-such-font cannot be used"),
        ({"fonts": ("",)}, FontError, "cannot be used"),
        ({"fonts": ("open-sans", "ar-pl-sungti-gb"), "lang": "zh"}, FontError, "lacks .* letters .*of Chinese"),
        ({"source": "no-such-file.parquet"}, SourceError, "no-such-file.parquet"),
        ({"config": {"caption_column": "text"}}, SourceError, "'text'"),
        ({"source": "samples:5", "items": 6}, NoPairsError, r"has 5 usable pairs, and 6 .*--items \(rejected: none\)"),
        (
            {"source": "samples:5", "items": 2, "config": {"where": ("id=x",)}},
            NoPairsError,
            "none; no row matches id=x; id",
        ),
        ({"source": "samples:5", "items": 9, "same_pairs": 2}, NoPairsError, "5 usable pairs, and 9"),
    ],
)
def test_what_cannot_be_made(
    make: Make, tmp_path: Path, options: dict[str, Any], error: type[VcrgenError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        make(tmp_path / "out", **{**SMALL, **options})
    assert str(caught.value).count("\n") == 0
    assert not any(tmp_path.iterdir())


def test_too_few_usable_pairs_are_counted_by_reason(make: Make, tmp_path: Path) -> None:
    good = sample_pair("en", 3).caption
    captions = [good, f"\U000131a0 {good}", f"水 {good}", "Two words", f"A massacre. {good}", f" {good} ", None]
    pairs = [(image, caption) for (image, _), caption in zip(samples_of(range(7)), captions, strict=True)]
    source = write_pairs(tmp_path / "pairs.parquet", pairs)
    with pytest.raises(NoPairsError, match="1 usable pair, and 4") as caught:
        make(tmp_path / "out", source=source, items=4, fonts=("open-sans",))
    assert "no_glyph 2" in str(caught.value) and good[:10] not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.parquet"]
    result = make(tmp_path / "out", source=source, items=1, fonts=("open-sans",))
    assert result.report["items"] == 1 and failures(tmp_path / "out") == []


def test_a_pair_comes_once(make: Make, answers: Answers, tmp_path: Path) -> None:
    """Neither the same picture nor the same caption twice."""
    rows = samples_of(range(4))
    rows += [(rows[0][0], sample_pair("en", 9).caption), (sample_pair("en", 10).image, rows[1][1]), rows[2]]
    source = write_pairs(tmp_path / "pairs.parquet", rows)
    with pytest.raises(NoPairsError, match=r"has 4 usable pairs, and 7 .*duplicate 3"):
        make(tmp_path / "out", source=source, items=7)
    make(tmp_path / "out", source=source, items=4)
    assert len({answer["caption"] for answer in answers(tmp_path / "out")}) == 4


def test_a_full_disk_is_one_sentence(
    make: Make, tree: Tree, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if "only_it_image" in self.parts and len(list(self.parent.glob("*.png"))) == 2:
            raise OSError(28, "No space left on device", str(self))
        return real(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OutputError, match="the disk is full"):
            make(tmp_path / "out", **SMALL)
    make(tmp_path / "out", **SMALL)
    assert tree(tmp_path / "out") == tree(small)
