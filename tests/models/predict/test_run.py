"""A run: the file it writes, what a killed one leaves, and who goes on with it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from vcrgen.core.errors import DatasetError, OutputError, PipelineError
from vcrgen.core.progress import ProgressListener
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import View
from vcrgen.models.predict.run import PredictResult, run_baseline
from vcrgen.scorer import ScoreOptions, Session

Fake = Any
BOTH = PictureSelection(views=(View.STACKED, View.TEI))


def run(folder: Path, out: Path, model: Fake, choice: PictureSelection = BOTH, **options: Any) -> PredictResult:
    pictures = open_pictures(open_dataset(folder, VCR), choice)
    return run_baseline(pictures, choice, out=out, make_model=lambda: model, **options)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def unfinished(out: Path) -> list[Path]:
    """The ledgers of unfinished runs, which are all that may lie beside the outputs."""
    assert {path.name for path in out.parent.glob(".*")} <= {f".{out.name}.unfinished"}
    return sorted(out.with_name(f".{out.name}.unfinished").glob("*"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    return tmp_path / "outputs" / "preds.jsonl"


def test_outputs_of_a_built_dataset_fit_the_scorer(dataset: Path, out: Path, fake_model: Fake) -> None:
    result = run(dataset, out, fake_model())
    assert (result.path, result.model, result.outputs, result.rejected) == (out, "fake-1", 24, Counter())
    assert list(lines(out)[0]) == ["question_id", "view", "mode", "model", "output"]
    assert lines(out)[0]["output"].startswith("en 300x")
    validation = Session(dataset, ScoreOptions(split="all")).validate(out)
    assert validation.fit and validation.models == ("fake-1",)
    assert validation.cells == {(m, v): 6 for m in ("easy", "hard") for v in BOTH.views}
    assert [path.name for path in out.parent.iterdir()] == ["preds.jsonl"]


def test_outputs_of_a_hidden_set_have_no_mode(hidden: Callable[..., Path], out: Path, fake_model: Fake) -> None:
    run(hidden(), out, fake_model())
    assert [(row["view"], row["output"]) for row in lines(out)] == [
        (view, f"en {width}x30") for width in (40, 41, 42) for view in ("stacked", "tei")
    ]
    assert not any("mode" in row for row in lines(out))


def test_any_number_of_workers_gives_the_same_file(dataset: Path, out: Path, fake_model: Fake) -> None:
    files = [out.with_name(f"{workers}.jsonl") for workers in (1, 2, 5)]
    for workers, file in zip((1, 2, 5), files, strict=True):
        choice = PictureSelection(views=BOTH.views)
        pictures = open_pictures(open_dataset(dataset, VCR), choice)
        run_baseline(pictures, choice, out=file, make_model=fake_model, workers=workers)
    assert len({file.read_bytes() for file in files}) == 1


class Seen(ProgressListener):
    def __init__(self) -> None:
        self.began: tuple[int, int] | None = None
        self.done = self.kept = 0
        self.drops = Counter[str]()

    def begin(self, total: int, done: int) -> None:
        self.began = total, done

    def advance(self, done: int, kept: int, drops: Counter[str], /) -> None:
        self.done += done
        self.kept += kept
        self.drops.update(drops)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.process
def test_a_kill_leaves_no_lock_beside_the_outputs(dataset: Path, out: Path, fake_model: Fake) -> None:
    """Only the folder of unfinished runs, and nothing once one of them is finished."""
    script = out.parent.parent / "job.py"
    script.write_text(
        "import sys, time\n"
        f"sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[3])!r}]\n"
        "from pathlib import Path\n"
        "from conftest import FakeModel\n"
        "from vcrgen.data.pictures import PictureSelection, open_pictures\n"
        "from vcrgen.data.reader import open_dataset\n"
        "from vcrgen.models.predict.run import run_baseline\n"
        "from vcrgen.data.tasks.vcr import VCR\n"
        "class Slow(FakeModel):\n"
        "    def reply(self, request):\n"
        "        time.sleep(0.05 if self.read_so_far < 3 else 600)\n"
        "        return super().reply(request)\n"
        f"run_baseline(open_pictures(open_dataset({str(dataset)!r}, VCR), PictureSelection()), PictureSelection(),\n"
        f"    out=Path({str(out)!r}), make_model=Slow)\n"
    )
    process = subprocess.Popen([sys.executable, str(script)])
    deadline = time.monotonic() + 180
    while process.poll() is None and time.monotonic() < deadline:
        if any(ledger.read_bytes().count(b"\n") == 3 for ledger in unfinished(out) if ledger.name != "lock"):
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    assert process.wait() == -signal.SIGKILL
    assert [path.name for path in out.parent.iterdir()] == [".preds.jsonl.unfinished"]
    model = fake_model()
    run(dataset, out, model, PictureSelection())
    assert model.read_so_far == 12 - 3
    assert [path.name for path in out.parent.iterdir()] == ["preds.jsonl"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data,
        lambda data: data[:-1],
        lambda data: data[:-30],
        lambda data: data + b'{"key": "000',
        lambda data: data + b"\0" * 4096 + b"\n",
        lambda data: b"",
    ],
)
def test_a_killed_run_goes_on(dataset: Path, out: Path, fake_model: Fake, damage: Callable[[bytes], bytes]) -> None:
    whole = out.with_name("whole.jsonl")
    run(dataset, whole, fake_model())
    with pytest.raises(KeyboardInterrupt):
        run(dataset, out, fake_model(killed_after=10))
    assert not out.exists()
    (ledger,) = unfinished(out)
    made = ledger.read_bytes()
    assert made.count(b"\n") == 10
    ledger.write_bytes(damage(made))

    model, seen = fake_model(), Seen()
    result = run(dataset, out, model, listener=seen)
    kept = damage(made)[: len(made)].count(b"\n")
    assert model.read_so_far == seen.kept == 24 - kept and seen.began == (24, kept) and result.outputs == 24
    assert out.read_bytes() == whole.read_bytes()
    assert unfinished(out) == []


def test_a_run_does_not_go_on_with_another_ones_outputs(
    dataset: Path, hidden: Callable[..., Path], out: Path, fake_model: Fake
) -> None:
    others: list[tuple[Path, Fake, PictureSelection]] = [
        (dataset, fake_model(killed_after=2), PictureSelection()),
        (dataset, fake_model(killed_after=2), PictureSelection(limit=3)),
        (dataset, fake_model(killed_after=2, version="2"), BOTH),
        (hidden(), fake_model(killed_after=2), BOTH),
    ]
    for folder, model, choice in others:
        with pytest.raises(KeyboardInterrupt):
            run(folder, out, model, choice)
    assert len(unfinished(out)) == 4
    model = fake_model()
    run(dataset, out, model)
    assert model.read_so_far == 24
    assert unfinished(out) == []  # none of them could become this file any more


def test_pictures_that_cannot_be_read_are_reject(hidden: Callable[..., Path], out: Path, fake_model: Fake) -> None:
    public, seen = hidden(), Seen()
    (public / "only_it_image" / ("0" * 32 + ".png")).unlink()
    (public / "stacked_image" / ("0" * 31 + "1.png")).write_bytes(b"\x89PNG\r\n\x1a\n")
    result = run(public, out, fake_model(fails_on=42), listener=seen)
    assert result.outputs == len(lines(out)) == 2
    assert result.rejected == {"no_image": 1, "undecodable_image": 3}
    assert result.example == f"{'0' * 32}, TEI: the file {'0' * 32}.png is missing or cannot be read"
    assert seen.began == (6, 0) and (seen.done, seen.kept, seen.drops) == (6, 2, result.rejected)


def test_rejected_pictures_are_tried_again(hidden: Callable[..., Path], out: Path, fake_model: Fake) -> None:
    public = hidden()
    first = public / "stacked_image" / ("0" * 32 + ".png")
    data = first.read_bytes()
    first.write_bytes(b"")
    with pytest.raises(KeyboardInterrupt):
        run(public, out, fake_model(killed_after=2))
    first.write_bytes(data)
    assert not run(public, out, fake_model()).rejected
    assert Counter(row["output"] for row in lines(out)) == {f"en {width}x30": 2 for width in (40, 41, 42)}


def test_not_one_picture_can_be_read(hidden: Callable[..., Path], out: Path, fake_model: Fake) -> None:
    public = hidden()
    for file in public.rglob("*.png"):
        file.unlink()
    with pytest.raises(DatasetError, match=r"Not one picture of .* can be read \(the first: 0{32}, VI\+TEI: the file"):
        run(public, out, fake_model())
    assert list(out.parent.iterdir()) == []


def test_a_hidden_set_without_questions(hidden: Callable[..., Path], out: Path, fake_model: Fake) -> None:
    with pytest.raises(DatasetError, match="holds no question"):
        run(hidden(lambda rows: rows.clear()), out, fake_model())


def test_a_finished_file_is_kept(dataset: Path, out: Path, fake_model: Fake) -> None:
    out.write_text("mine")
    with pytest.raises(OutputError, match="is there already"):
        run(dataset, out, fake_model())
    assert out.read_text() == "mine"


def test_a_file_that_another_run_writes_meanwhile_is_kept(dataset: Path, out: Path, fake_model: Fake) -> None:
    def slow_to_load() -> Fake:
        out.write_text("of a run that began before")
        return fake_model()

    with pytest.raises(OutputError, match="is there already"):
        run_baseline(open_pictures(open_dataset(dataset, VCR), BOTH), BOTH, out=out, make_model=slow_to_load)
    assert [(path.name, path.read_text()) for path in out.parent.iterdir()] == [
        ("preds.jsonl", "of a run that began before")
    ]


def test_one_run_at_a_time(dataset: Path, out: Path, fake_model: Fake) -> None:
    lock = out.with_name(f".{out.name}.unfinished") / "lock"
    lock.parent.mkdir()
    with FileLock(lock), pytest.raises(OutputError, match="Another run is writing to"):
        run(dataset, out, fake_model())


def test_a_model_that_is_not_installed_leaves_nothing(dataset: Path, out: Path) -> None:
    def missing() -> Fake:
        raise PipelineError("not installed")

    with pytest.raises(PipelineError):
        run_baseline(open_pictures(open_dataset(dataset, VCR), BOTH), BOTH, out=out, make_model=missing)
    assert list(out.parent.iterdir()) == []
