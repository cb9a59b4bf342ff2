"""A run: the file it writes, what a killed one leaves, and who goes on with it."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from vcrgen.dataset.pictures import Choice, open_pictures
from vcrgen.dataset.reader import open_dataset
from vcrgen.dataset.views import View
from vcrgen.errors import DatasetError, OutputError, PipelineError
from vcrgen.predict.run import Result, Watcher, run_baseline
from vcrgen.scorer import Options, Session
from vcrgen.tasks.vcr import VCR

Fake = Any
BOTH = Choice(views=(View.STACKED, View.TEI))


def run(folder: Path, out: Path, engine: Fake, choice: Choice = BOTH, **options: Any) -> Result:
    pictures = open_pictures(open_dataset(folder, VCR), choice)
    return run_baseline(pictures, choice, out=out, make_engine=lambda: engine, **options)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def partials(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    return tmp_path / "outputs" / "preds.jsonl"


def test_outputs_of_a_built_dataset_fit_the_scorer(dataset: Path, out: Path, fake_engine: Fake) -> None:
    result = run(dataset, out, fake_engine())
    assert (result.path, result.model, result.outputs, result.aside) == (out, "fake-1", 24, Counter())
    assert list(lines(out)[0]) == ["question_id", "view", "mode", "model", "output"]
    assert lines(out)[0]["output"].startswith("en 300x")
    validation = Session(dataset, Options(split="all")).validate(out)
    assert validation.fit and validation.models == ("fake-1",)
    assert validation.cells == {(m, v): 6 for m in ("easy", "hard") for v in BOTH.views}
    assert [path.name for path in out.parent.iterdir()] == ["preds.jsonl"]


def test_outputs_of_a_hidden_set_have_no_mode(hidden: Callable[..., Path], out: Path, fake_engine: Fake) -> None:
    run(hidden(), out, fake_engine())
    assert [(row["view"], row["output"]) for row in lines(out)] == [
        (view, f"en {width}x30") for width in (40, 41, 42) for view in ("stacked", "tei")
    ]
    assert not any("mode" in row for row in lines(out))


def test_any_number_of_workers_gives_the_same_file(dataset: Path, out: Path, fake_engine: Fake) -> None:
    files = [out.with_name(f"{workers}.jsonl") for workers in (1, 2, 5)]
    for workers, file in zip((1, 2, 5), files, strict=True):
        choice = Choice(views=BOTH.views)
        pictures = open_pictures(open_dataset(dataset, VCR), choice)
        run_baseline(pictures, choice, out=file, make_engine=fake_engine, workers=workers)
    assert len({file.read_bytes() for file in files}) == 1


class Seen(Watcher):
    def __init__(self) -> None:
        self.began: tuple[int, int] | None = None
        self.aside: list[int] = []

    def begin(self, total: int, done: int) -> None:
        self.began = total, done

    def advance(self, aside: int) -> None:
        self.aside.append(aside)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data,
        lambda data: data[:-1],
        lambda data: data[:-30],
        lambda data: data + b'{"question_id": "000',
        lambda data: data + b"\0" * 4096,
        lambda data: data + b"\0" * 4096 + b"\n",
        lambda data: data + b"[1]\n",
        lambda data: data + b'{"question_id": "a"}\n',
        lambda data: data + b'{"question_id": "a", "view": "tei", "mode": [1], "output": ""}\n',
        lambda data: data + b'{"question_id": "a", "view": "tei"}\xff\n',
        lambda data: data + b"[" * 10**5 + b"\n",
        lambda data: b"",
    ],
)
def test_a_killed_run_goes_on(dataset: Path, out: Path, fake_engine: Fake, damage: Callable[[bytes], bytes]) -> None:
    whole = out.with_name("whole.jsonl")
    run(dataset, whole, fake_engine())
    with pytest.raises(KeyboardInterrupt):
        run(dataset, out, fake_engine(killed_after=10))
    assert not out.exists()
    (partial,) = partials(out.parent)
    made = partial.read_bytes()
    assert whole.read_bytes().startswith(made) and made.count(b"\n") == 10
    partial.write_bytes(damage(made))

    engine, seen = fake_engine(), Seen()
    result = run(dataset, out, engine, watcher=seen)
    kept = damage(made)[: len(made)].count(b"\n")
    assert engine.read_so_far == 24 - kept and seen.began == (24, kept) and result.outputs == 24
    assert out.read_bytes() == whole.read_bytes()
    assert partials(out.parent) == []


def test_a_run_does_not_go_on_with_another_ones_outputs(
    dataset: Path, hidden: Callable[..., Path], out: Path, fake_engine: Fake
) -> None:
    others: list[tuple[Path, Fake, Choice]] = [
        (dataset, fake_engine(killed_after=2), Choice()),
        (dataset, fake_engine(killed_after=2), Choice(limit=3)),
        (dataset, fake_engine(killed_after=2, version="2"), BOTH),
        (hidden(), fake_engine(killed_after=2), BOTH),
    ]
    for folder, engine, choice in others:
        with pytest.raises(KeyboardInterrupt):
            run(folder, out, engine, choice)
    assert len(partials(out.parent)) == 4
    engine = fake_engine()
    run(dataset, out, engine)
    assert engine.read_so_far == 24
    assert partials(out.parent) == []  # none of them could become this file any more


def test_pictures_that_cannot_be_read_are_set_aside(hidden: Callable[..., Path], out: Path, fake_engine: Fake) -> None:
    public, seen = hidden(), Seen()
    (public / "only_it_image" / ("0" * 32 + ".png")).unlink()
    (public / "stacked_image" / ("0" * 31 + "1.png")).write_bytes(b"\x89PNG\r\n\x1a\n")
    result = run(public, out, fake_engine(fails_on=42), watcher=seen)
    assert result.outputs == len(lines(out)) == 2
    assert result.aside == {"no_image": 1, "undecodable_image": 3}
    assert result.example == f"{'0' * 32}, TEI: the file {'0' * 32}.png is missing or cannot be read"
    assert seen.began == (6, 0) and seen.aside == [0, 1, 2, 2, 3, 4]


def test_pictures_set_aside_are_tried_again(hidden: Callable[..., Path], out: Path, fake_engine: Fake) -> None:
    public = hidden()
    first = public / "stacked_image" / ("0" * 32 + ".png")
    data = first.read_bytes()
    first.write_bytes(b"")
    with pytest.raises(KeyboardInterrupt):
        run(public, out, fake_engine(killed_after=2))
    first.write_bytes(data)
    assert not run(public, out, fake_engine()).aside
    assert Counter(row["output"] for row in lines(out)) == {f"en {width}x30": 2 for width in (40, 41, 42)}


def test_not_one_picture_can_be_read(hidden: Callable[..., Path], out: Path, fake_engine: Fake) -> None:
    public = hidden()
    for file in public.rglob("*.png"):
        file.unlink()
    with pytest.raises(DatasetError, match=r"Not one picture of .* can be read \(the first: 0{32}, VI\+TEI: the file"):
        run(public, out, fake_engine())
    assert list(out.parent.iterdir()) == []


def test_a_hidden_set_without_questions(hidden: Callable[..., Path], out: Path, fake_engine: Fake) -> None:
    with pytest.raises(DatasetError, match="holds no question"):
        run(hidden(lambda rows: rows.clear()), out, fake_engine())


def test_a_finished_file_is_kept(dataset: Path, out: Path, fake_engine: Fake) -> None:
    out.write_text("mine")
    with pytest.raises(OutputError, match="is there already"):
        run(dataset, out, fake_engine())
    assert out.read_text() == "mine"


def test_one_run_at_a_time(dataset: Path, out: Path, fake_engine: Fake) -> None:
    with FileLock(out.with_name(f".{out.name}.lock")), pytest.raises(OutputError, match="Another run is writing to"):
        run(dataset, out, fake_engine())


def test_a_place_that_cannot_be_written(dataset: Path, out: Path, fake_engine: Fake) -> None:
    out.write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        run(dataset, out / "preds.jsonl", fake_engine())


def test_a_reader_that_is_not_installed_leaves_nothing(dataset: Path, out: Path) -> None:
    def missing() -> Fake:
        raise PipelineError("not installed")

    with pytest.raises(PipelineError):
        run_baseline(open_pictures(open_dataset(dataset, VCR), BOTH), BOTH, out=out, make_engine=missing)
    assert list(out.parent.iterdir()) == []
