"""Whole builds: what is dropped and why, the same bytes by every road, and nothing half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.builder.conftest import Stop, stops
from tests.making import encoded, rows_of, two_coloured
from tests.standing import stands_at
from vcrgen.builder import run, shards
from vcrgen.builder.options import load_build_config
from vcrgen.builder.run import WORK, build, plan_build
from vcrgen.core.errors import ConfigError, OutputError, SourceError
from vcrgen.core.folder import PLAN
from vcrgen.core.progress import ProgressListener, shown_bytes
from vcrgen.core.records import RejectReason
from vcrgen.core.storage import DiskFolder, Folder
from vcrgen.text.sample import calibration_sample

Tree = Callable[[Path], dict[str, str]]
Run = Callable[..., tuple[int, str, str]]
SAMPLES = "samples:30"
OPTIONS: dict[str, Any] = {"splits": "train=...,validation=4,test=0.2", "shard_size": 6}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted build with one worker."""
    out = tmp_path_factory.mktemp("reference") / "out"
    build(SAMPLES, out=out, **OPTIONS)
    return out


def test_the_size_of_what_is_finished_is_told(tmp_path: Path) -> None:
    notes: list[str] = []

    class Noting(ProgressListener):
        def note(self, text: str) -> None:
            notes.append(text)

    result = build(SAMPLES, out=tmp_path / "out", shard_size=6, progress=Noting())
    whole = sum(file.bytes for file in result.manifest.files)
    assert len(notes) == 5 and notes[0] != notes[-1] == shown_bytes(whole)


def test_every_drop_has_its_reason(pairs_file: Path, tmp_path: Path) -> None:
    result = build(pairs_file, out=tmp_path / "out")
    expected = {
        "no-image": RejectReason.NO_IMAGE,
        "no-caption": RejectReason.NO_CAPTION,
        "short": RejectReason.SHORT_CAPTION,
        "greek": RejectReason.OTHER_SCRIPT,
        "sensitive": RejectReason.SENSITIVE,
        "garbage": RejectReason.UNDECODABLE,
        "truncated": RejectReason.TRUNCATED,
        "tiny": RejectReason.TINY,
        "tall": RejectReason.TOO_TALL,
        "blank": RejectReason.BLANK,
        "no-glyph": RejectReason.NO_GLYPH,
        "no-ngram": RejectReason.NO_NGRAM,
        "copy": RejectReason.DUPLICATE,
    }
    lines = [json.loads(line) for line in (tmp_path / "out" / "rejects.jsonl").read_text("utf-8").splitlines()]
    assert {line["source_id"]: line["reason"] for line in lines} == expected
    assert all(line["detail"] for line in lines)
    assert result.manifest.rejected == dict(sorted(Counter(map(str, expected.values())).items()))
    assert (result.manifest.read, result.manifest.pairs) == (15, 2)


def test_an_emoji_without_a_glyph_costs_no_pair(tmp_path: Path) -> None:
    file, image = tmp_path / "pairs.parquet", encoded(two_coloured((300, 200), (90, 140, 200)))
    caption = (
        "Children play on a wide green meadow beside the old wooden mill \U0001f389 and laugh at a dog \U0001fae0."
    )
    pq.write_table(pa.table({"image": [image], "caption": [caption]}), file)
    build(file, out=tmp_path / "out", mode="hard")
    (row,) = rows_of(tmp_path / "out" / "hard")
    assert row["caption"] == "Children play on a wide green meadow beside the old wooden mill and laugh at a dog."


def test_the_dataset_loads_with_images_and_splits(reference: Path) -> None:
    import datasets

    both = {mode: datasets.load_dataset(str(reference), mode) for mode in ("easy", "hard")}
    default = datasets.load_dataset(str(reference))
    assert {name: len(split) for name, split in default.items()} == {
        name: len(split) for name, split in both["easy"].items()
    }
    assert len(both["easy"]["validation"]) == 4
    for easy, hard in zip(both["easy"]["train"], both["hard"]["train"], strict=True):
        assert easy["question_id"] == hard["question_id"]
        assert easy["crossed_text"] == hard["crossed_text"] == [span["text"] for span in easy["spans"]]
        assert easy["image"].tobytes() == hard["image"].tobytes()
        assert all(e["visible_ink"] > h["visible_ink"] for e, h in zip(easy["spans"], hard["spans"], strict=True))
        check_geometry(hard)


def check_geometry(row: dict[str, object]) -> None:
    """The columns say what the pixels are."""
    vi, stacked, only_it, strip = (
        row[name] for name in ("image", "stacked_image", "only_it_image", "only_it_image_small")
    )
    assert all(isinstance(image, Image.Image) and image.width == 300 for image in (vi, stacked, only_it, strip))
    assert strip.height == row["strip_height"] and (strip.height - 1) % 22 == 0
    assert stacked.height == only_it.height == vi.height + strip.height + 1
    assert row["strip_y"] == vi.height + 1
    assert stacked.crop((0, 0, 300, vi.height)).tobytes() == vi.tobytes()
    assert stacked.crop((0, row["strip_y"], 300, stacked.height)).tobytes() == strip.tobytes()
    top = row["only_it_strip_y"]
    assert only_it.crop((0, top, 300, top + strip.height)).tobytes() == strip.tobytes()
    assert abs(top - (only_it.height - top - strip.height)) <= 1
    gray = strip.convert("L")
    for span in row["spans"]:
        assert row["caption"][span["start"] : span["end"]] == span["text"]
        assert row["caption"].casefold().count(span["text"].casefold()) == 1
        for box in span["boxes"]:
            covered = gray.crop((box["x0"], box["y0"], box["x1"], box["y1"]))
            assert covered.getextrema() == (255, 255)
        assert span["rows_above"] > 0 or span["rows_below"] > 0


@pytest.mark.process
def test_any_number_of_workers_gives_one_result(tree: Tree, reference: Path, tmp_path: Path) -> None:
    script = (
        "from vcrgen.builder.run import build\n"
        "if __name__ == '__main__':\n"
        f"    build({SAMPLES!r}, out={str(tmp_path / 'out')!r}, workers=2, **{OPTIONS!r})\n"
    )
    (tmp_path / "job.py").write_text(script)
    subprocess.run([sys.executable, str(tmp_path / "job.py")], check=True, timeout=300)
    assert tree(tmp_path / "out") == tree(reference)


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize(("workers", "after"), [(2, 1), (1, 4)])
def test_killed_and_run_again(tree: Tree, reference: Path, tmp_path: Path, run: Run, workers: int, after: int) -> None:
    out = tmp_path / "out"
    words = ["build", SAMPLES, "--out", str(out), "--splits", OPTIONS["splits"], "--shard-size", "6"]
    process = stands_at(30, *words, "--workers", str(workers))
    manifests = out / WORK / "manifests"
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if manifests.exists() and len(list(manifests.glob("[0-9]*.json"))) >= after:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    assert process.wait() == -signal.SIGKILL
    assert [path.name for path in out.iterdir()] == [WORK]  # nothing half-written is seen
    code, _, err = run(*words)
    assert code == 0 and "Going on with an earlier run" in err, err
    assert tree(out) == tree(reference)


@pytest.mark.parametrize("stop_at", [0, 3, 1000])
def test_stopped_while_assembling(
    tree: Tree, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    """Stopped at every file of the assembly, and between the steps of publishing."""
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(run, "make_file", stops(run.make_file, after=stop_at))
        patch.setattr(run, "write_manifest", stops(run.write_manifest))
        with pytest.raises(Stop):
            build(SAMPLES, out=out, **OPTIONS)
    assert not (out / "_SUCCESS").exists()
    build(SAMPLES, out=out, **OPTIONS)
    assert tree(out) == tree(reference)


@pytest.mark.parametrize("entry", ["hard", "rejects.jsonl"])
def test_stopped_while_publishing(
    tree: Tree, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """Some of the dataset is in its place already, some is not."""
    transfer = DiskFolder.transfer

    def stopping(self: DiskFolder, name: str, target: Folder, new_name: str) -> None:
        if name == entry:
            raise Stop
        transfer(self, name, target, new_name)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(DiskFolder, "transfer", stopping)
        with pytest.raises(Stop):
            build(SAMPLES, out=out, **OPTIONS)
    assert (out / "easy").is_dir() and not (out / entry).exists()
    build(SAMPLES, out=out, **OPTIONS)
    assert tree(out) == tree(reference)


def test_other_splits_after_a_stopped_assembly_are_refused_at_once(
    tree: Tree, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts have been moved already: nothing is built again before that is said."""

    class Refusing(ProgressListener):
        def begin(self, total: int, done: int) -> None:
            raise AssertionError("shards are looked at")

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(run, "write_manifest", stops(run.write_manifest))
        with pytest.raises(Stop):
            build(SAMPLES, out=out, **OPTIONS)
    with pytest.raises(OutputError, match="unfinished build with other splits; finish that one"):
        build(SAMPLES, out=out, **OPTIONS | {"splits": "train=..."}, progress=Refusing())
    build(SAMPLES, out=out, **OPTIONS)
    assert tree(out) == tree(reference)


def test_ctrl_c_keeps_what_is_finished(tree: Tree, reference: Path, tmp_path: Path) -> None:
    class Interrupting(ProgressListener):
        def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
            if read and len(list((tmp_path / "out" / WORK / "manifests").glob("*.json"))) >= 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(SAMPLES, out=tmp_path / "out", progress=Interrupting(), **OPTIONS)
    build(SAMPLES, out=tmp_path / "out", **OPTIONS)
    assert tree(tmp_path / "out") == tree(reference)


def test_a_second_run_does_nothing(tree: Tree, reference: Path) -> None:
    before = tree(reference)
    assert build(SAMPLES, out=reference, **OPTIONS).was_complete
    assert tree(reference) == before


def test_another_build_is_refused(reference: Path) -> None:
    with pytest.raises(OutputError, match="another finished dataset"):
        build(SAMPLES, out=reference, seed=1)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("samples:4", {"seed": 7}, "seed 0 there, 7 here"),
        ("samples:4", {"width": 200, "ngram_size": 4}, "n 5 there, 4 here; width 300 there, 200 here"),
        ("samples:5", {}, "files of the source"),
    ],
)
def test_what_differs_from_an_unfinished_build_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, options: dict[str, int], said: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run, "plan_assembly", stops(run.plan_assembly))
        with pytest.raises(Stop):
            build("samples:4", out=tmp_path / "out")
    with pytest.raises(OutputError) as caught:
        build(source, out=tmp_path / "out", **options)
    assert f"holds an unfinished build of another plan ({said})" in str(caught.value)


def test_a_build_is_not_resumed_under_other_rules_of_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run, "plan_assembly", stops(run.plan_assembly))
        patch.setattr("vcrgen.builder.pipeline.LAYOUT_RULES", "rules-0")
        with pytest.raises(Stop):
            build("samples:4", out=tmp_path / "out")
    with pytest.raises(OutputError, match=r"another plan \(layout rules-0@\S*… there, rules-\d@\S*… here\)"):
        build("samples:4", out=tmp_path / "out")


def test_the_plan_says_of_which_versions_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = shards.environment()["versions"]
    with monkeypatch.context() as patch:
        patch.setattr(run, "plan_assembly", stops(run.plan_assembly))
        patch.setattr(shards, "byte_versions", lambda: versions | {"pyarrow": "0.0.1"})
        with pytest.raises(Stop):
            build("samples:4", out=tmp_path / "out")
    with pytest.raises(OutputError, match=rf"another plan \(pyarrow 0.0.1 there, {version('pyarrow')} here\)"):
        build("samples:4", out=tmp_path / "out")


@pytest.mark.parametrize("kind", ["file", "full"])
def test_an_output_in_the_way(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="choose"):
        build(SAMPLES, out=out)
    assert (out if kind == "file" else out / "thesis.txt").read_text() == "mine"


def test_a_language_without_a_sample_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.text.sample.files", lambda package: tmp_path)
    calibration_sample.cache_clear()
    with pytest.raises(ConfigError, match=r"^English has no text to calibrate covers on; write .*en/sample\.txt"):
        build("samples:2", out=tmp_path / "out")


@pytest.mark.parametrize("splits", [None, "train=...,test=2"])
def test_nothing_usable(tmp_path: Path, splits: str | None) -> None:
    pq.write_table(pa.table({"image": [b"x", b"y"], "caption": ["a", "b"]}), tmp_path / "bad.parquet")
    with pytest.raises(
        SourceError, match=r"no usable pair \(rejected: short_caption 2; the first .* bad.parquet#0: fewer"
    ):
        build(tmp_path / "bad.parquet", out=tmp_path / "out", splits=splits)
    assert not (tmp_path / "out").exists()
    with pytest.raises(SourceError) as caught:
        build(tmp_path / "bad.parquet", out=tmp_path / "out", where=("caption=c", "image=z"))
    assert "no usable pair (rejected: none; no row matches caption=c and image=z; caption is 'a' or 'b')" in str(
        caught.value
    )


def test_too_large_splits_lose_nothing(tmp_path: Path) -> None:
    read = []

    class Counting(ProgressListener):
        def advance(self, read_now: int, built: int, rejected: Counter[str]) -> None:
            read.append(read_now)

    with pytest.raises(ConfigError, match="asks for 1,000 pairs"):
        build("samples:20", out=tmp_path / "out", splits="train=...,test=1000", progress=Counting())
    assert sum(read) == 20
    result = build("samples:20", out=tmp_path / "out", splits="train=...,test=5", progress=Counting())
    assert sum(read) == 20 and result.manifest.pairs >= 18  # what was built before is taken


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without space")
@pytest.mark.filterwarnings("error")  # a writer that complains when it is collected
def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", lambda file, mode: real("/dev/full", mode))  # whose every write finds no space
    with pytest.raises(OutputError, match="the disk is full"):
        build("samples:20", out=tmp_path / "out")
    monkeypatch.undo()
    assert build("samples:20", out=tmp_path / "out").manifest.pairs > 0


def test_a_rebuilt_folder_is_not_shown_from_the_cache(tmp_path: Path) -> None:
    import datasets

    languages = []
    for lang in ("en", "zh"):
        out = tmp_path / lang / "same-name"
        build("samples:8", out=out, lang=lang, mode="easy")
        languages.append(datasets.load_dataset(str(out))["train"][0]["language"])
    assert languages == ["en", "zh"]


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="needs process groups")
def test_ctrl_c_in_a_terminal_says_what_to_do(tmp_path: Path) -> None:
    words = ["build", "samples:2000", "--shard-size", "8", "--workers", "2", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "vcrgen", *words]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        # A shell's job in the background ignores Ctrl-C, and so would its children; in a terminal it counts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "out" / WORK / "manifests").glob("[0-9]*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    # On a slow machine a line of progress may stand before it.
    assert errors.splitlines()[-1] == "Interrupted. What was finished is kept; run the same command again to go on."
    assert "Traceback" not in errors


def test_a_retried_group_of_tasks_skips_finished_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt at neighbouring tasks died in the third one, and the part of the first was lost."""
    config = load_build_config(None, {"source": "samples:12", "shard_size": 4})
    plan, source, pipeline = plan_build(config, ProgressListener())
    work = DiskFolder(tmp_path)
    for folder in ("parts", "keys", "rejects", "manifests"):
        work.subfolder(folder).make()
    work.write_json(PLAN, {})
    started: list[int] = []
    process = shards.process_shard

    def noted(task: shards.Task, *arguments: Any, **options: Any) -> shards.ShardResult:
        started.append(task.index)
        if started == [0, 1, 2]:
            raise KeyboardInterrupt
        return process(task, *arguments, **options)

    monkeypatch.setattr(shards, "process_shard", noted)
    places: dict[str, Any] = {"plan": plan, "pipeline": pipeline, "source": source, "work": work}
    with pytest.raises(KeyboardInterrupt):
        shards.process_shards(plan.tasks, ProgressListener().advance, **places)
    (tmp_path / shards.PART.format(0, "easy")).unlink()
    results = shards.process_shards(plan.tasks, ProgressListener().advance, **places)
    assert started == [0, 1, 2, 0, 2]
    assert [result.index for result in results] == [0, 1, 2]
    assert sum(result.rows for result in results) == 12
