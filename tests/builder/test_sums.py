"""Every row and every caption of a source is a pair, rejected, or left out as the options say."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.making import encoded, files_of, two_coloured
from vcrgen.builder import run as runs
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.run import WORK, build
from vcrgen.builder.stream import VCRStream
from vcrgen.core.errors import SourceError
from vcrgen.core.progress import ProgressListener
from vcrgen.core.records import Item, Reject
from vcrgen.data.manifest import read_manifest

Run = Callable[..., tuple[int, str, str]]
CAPTIONS = (
    "the small green boat lies quietly on the warm sand",
    "the old wooden boat rests quietly on the cold gray sand",
    "the young brown horse walks slowly through the deep snow",
    "the little red kettle stands quietly on the warm kitchen stove",
    "the small white dog sleeps quietly on the warm wooden floor",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures 0.png to 5.png."""
    for number in range(6):
        shade = random.Random(number).randrange(256)
        (tmp_path / f"{number}.png").write_bytes(encoded(two_coloured((60, 40), (shade, 40 * number, 9))))
    return tmp_path


def write(folder: Path, rows: Iterable[Any]) -> str:
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / "x.jsonl")


OF_SEVERAL = [{"image": f"{n}.png", "kind": "ab"[n % 2], "caption": [*CAPTIONS[n:], ""]} for n in range(5)]


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        ([{"image": f"{n}.png", "caption": CAPTIONS[n]} for n in range(5)], {}, "5 rows = 5 pairs"),
        (
            [{"image": f"{n % 2}.png", "caption": CAPTIONS[n % 2]} for n in range(3)] + [{"image": "", "caption": ""}],
            {},
            "4 rows = 2 pairs + 1 rejected + 1 duplicate",
        ),
        (OF_SEVERAL, {}, "5 rows with 20 captions = 5 pairs + 15 captions left out"),
        (OF_SEVERAL, {"captions": "each"}, "5 rows with 20 captions = 15 pairs + 5 captions left out"),
        (
            OF_SEVERAL,
            {"captions": "longest", "where": ("kind=b",)},
            "5 rows without the 3 that --where leaves out with 8 captions = 2 pairs + 6 captions left out",
        ),
        (
            [{"image": f"{n}.png", "kind": "ab"[n % 2], "caption": CAPTIONS[n]} for n in range(5)],
            {"where": ("kind=a",)},
            "5 rows = 3 pairs + 2 that --where leaves out",
        ),
        (OF_SEVERAL, {"limit": 2}, "2 rows with 11 captions = 2 pairs + 9 captions left out"),
    ],
)
def test_the_sum_of_a_build(folder: Path, rows: list[Any], options: dict[str, Any], expected: str) -> None:
    result = build(write(folder, rows), out=folder / "out", mode="easy", **options)
    assert result.manifest.sum == expected
    assert read_manifest(folder / "out") == result.manifest


def test_a_caption_that_begins_with_a_lone_quote(folder: Path, run: Run) -> None:
    """It swallowed the rows up to the next one, and the summary counted what was left."""
    rows = ["image\tcaption", *(f"{n}.png\t{'' if n % 3 else chr(34)}{CAPTIONS[n]}" for n in range(5))]
    (folder / "x.tsv").write_text("\n".join(rows) + "\n")
    code, out, err = run("build", folder / "x.tsv", "--out", folder / "out", "--mode", "easy")
    assert code == 0, err
    assert "Sum: 5 rows = 5 pairs\n" in out
    stream = VCRStream(folder / "x.tsv", epochs=1)
    assert len(list(stream)) == 5 == stream.rows_read.rows == stream.rows_read.captions


def test_progress_counts_rows(folder: Path) -> None:
    """Not captions, of which a row may have several, nor only rows that meet the conditions."""
    done: list[int] = []

    class Counting(ProgressListener):
        def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
            done.append(read)

    source = write(folder, OF_SEVERAL)
    build(source, out=folder / "a", mode="easy", captions="each", progress=Counting())
    build(source, out=folder / "b", mode="easy", where=("kind=a",), limit=2, progress=Counting())
    assert sum(done) == 5 + 3


def test_a_shard_that_loses_a_pair_fails_and_the_others_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Pipeline.pairs

    def losing(self: Pipeline, items: Iterable[Item]) -> Iterator[Any]:
        found = list(real(self, items))
        return iter([each for each in found if isinstance(each, Reject) or each.source_id != "x.jsonl#4"])

    rows = write(folder, ({"image": f"{n}.png", "caption": CAPTIONS[n]} for n in range(5)))
    options: dict[str, Any] = {"mode": "easy", "shard_size": 2}
    monkeypatch.setattr(Pipeline, "pairs", losing)
    problem = r"^The sum does not hold in x\.jsonl, rows 4 to 4 \(shard 2\): of 1 rows, 1 were read .* 0 became pairs"
    with pytest.raises(SourceError, match=problem):
        build(rows, out=folder / "out", **options)
    kept = sorted((folder / "out" / WORK / "manifests").iterdir())
    assert [file.name for file in kept] == ["00000.json", "00001.json"]
    monkeypatch.undo()
    before = [file.stat().st_mtime_ns for file in kept]
    began = []
    monkeypatch.setattr(runs, "neighbours", lambda tasks, *_: [began.append(task.index) or (task,) for task in tasks])
    assert build(rows, out=folder / "out", **options).manifest.sum == "5 rows = 5 pairs"
    assert began == [2] and len(before) == 2


def test_a_whole_build_that_does_not_add_up_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "read_results", lambda plan, work: {})
    real = runs.plan_assembly
    monkeypatch.setattr(runs, "plan_assembly", lambda results, *args, **kw: real(results[:1], *args, **kw))
    rows = write(folder, ({"image": f"{n}.png", "caption": CAPTIONS[n]} for n in range(5)))
    with pytest.raises(SourceError, match=r"does not hold in JSONL file x\.jsonl: of 5 rows, 2 were read"):
        build(rows, out=folder / "out", mode="easy", shard_size=2)


def test_a_stream_that_loses_a_row_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = VCRStream(write(folder, OF_SEVERAL), epochs=1)
    real = Pipeline.plan_items
    monkeypatch.setattr(Pipeline, "plan_items", lambda *args, **kw: iter(list(real(*args, **kw))[:-1]))
    with pytest.raises(SourceError, match="The sum does not hold"):
        list(stream)


def test_every_epoch_of_a_stream_takes_the_next_caption(folder: Path) -> None:
    stream = VCRStream(write(folder, OF_SEVERAL), captions="each", epochs=5, shuffle=False)
    found: dict[int, list[str]] = {}
    for example in stream:
        found.setdefault(int(example["source_id"].split("#")[1]), []).append(example["caption"])
    assert found == {n: [CAPTIONS[n:][epoch % (5 - n)] for epoch in range(5)] for n in range(5)}
    assert stream.rows_read.rows == 25 and stream.rows_read.captions == 100 == 25 + stream.rows_read.left_out


def test_several_processes_read_compressed_captions_to_the_same_bytes(folder: Path) -> None:
    source = Path(write(folder, OF_SEVERAL))
    packed = source.with_name("x.jsonl.gz")
    packed.write_bytes(gzip.compress(source.read_bytes()))
    made = []
    for workers in (1, 2):
        out = folder / f"out-{workers}"
        result = build(packed, out=out, workers=workers, mode="easy", captions="each", shard_size=2)
        assert result.manifest.sum == "5 rows with 20 captions = 15 pairs + 5 captions left out"
        made.append(files_of(out))
    assert made[0] == made[1]
