"""Examples of a stream: which, how often, and their pixels."""

import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import vcrgen.builder.stream.stream as module
from vcrgen.builder.options import load_build_config
from vcrgen.builder.stream import VCRStream
from vcrgen.builder.stream.difficulty import read_difficulty
from vcrgen.builder.stream.examples import Examples
from vcrgen.builder.transform import VCRTransform
from vcrgen.core.errors import ConfigError, FontError, NoPairsError, SourceError, StreamError, VcrgenError
from vcrgen.core.records import Item, Reject
from vcrgen.samples.pairs import caption, sample_pair
from vcrgen.typeset.calibrate import TOLERANCE_SMALL
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.records import Cell, Cover
from vcrgen.typeset.render import render_strip

SMALL = {"width": 160, "font_size": 12, "shard_size": 6}
USABLE = 41


def content(example: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in example.values())


def one_epoch(source: str, **options: Any) -> list[dict[str, Any]]:
    return list(VCRStream(source, epochs=1, **SMALL | options))


class _GrayColumns:
    """Hides every other column of a place with gray."""

    name = "columns"

    def cover(self, cell: Cell) -> Cover:
        box = cell.line_box
        mask = np.zeros((box.y1 - box.y0, box.x1 - box.x0), dtype=bool)
        mask[:, ::2] = True
        return Cover(box=box, mask=mask, fill=123)


def test_a_stream_draws_the_covers_of_its_style() -> None:
    """Not only white rows: as many pixels have the fill as the masks hide, and ink is measured between them."""
    examples = Examples(load_build_config(None, {"lang": "en"}), read_difficulty("easy"), ["strip"])
    style = examples.pipeline.style
    covers = {mode: replace(cover, rule=_GrayColumns()) for mode, cover in style.calibrations.items()}
    examples.pipeline.style = replace(style, calibrations=covers, cover="stripes")
    item = Item(source_id="a", image=sample_pair("en", 3).image, caption=caption("en", 3))
    planned = next(iter(examples.pipeline.plan_items([item])))
    assert not isinstance(planned, Reject)
    example = examples.make(*planned, epoch=0, step=0)
    cells = [cell.line_box for span in planned[1] for cell in span_cells(span, planned[0].layout)]
    hidden = sum((cell.y1 - cell.y0) * len(range(cell.x0, cell.x1, 2)) for cell in cells)
    uncovered = render_strip(planned[0].layout)
    assert np.count_nonzero((example["image"][:, :, 0] == 123) & (uncovered != 123)) == pytest.approx(hidden, abs=3)
    assert all(0.3 < ink < 0.7 for ink in example["visible_ink"])


def test_an_epoch_has_every_usable_pair_once(pairs: str, bad: dict[int, str]) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    examples = list(stream)
    assert len(examples) == len({example["source_id"] for example in examples}) == USABLE
    assert stream.skipped == Counter(bad.values()) and stream.rows == USABLE + len(bad)
    assert repr(stream) == f"<VCRStream of {stream.source}: {stream.rows} pairs, en, epoch 1>"
    assert [example["source_id"] for example in examples] != sorted(example["source_id"] for example in examples)


def test_an_example_says_what_it_is(pairs: str) -> None:
    for example in one_epoch(pairs, mode={"easy": 1, "hard": 1}, seed=3):
        image = example["image"]
        assert image.dtype == np.uint8 and image.shape[1:] == (SMALL["width"], 3) and image.flags.writeable
        assert example["question"].startswith("What is the covered texts") and example["epoch"] == 0
        assert example["answers"] and all(text in example["caption"] for text in example["answers"])
        assert len(example["visible_ink"]) == len(example["answers"])
        assert (example["mode"], example["ink"]) in (("easy", 0.48), ("hard", 0.27)) and example["view"] == "stacked"


def test_epochs_have_spans_modes_and_orders_of_their_own(pairs: str) -> None:
    examples = list(islice(VCRStream(pairs, **SMALL), 3 * USABLE))
    epochs = [[example for example in examples if example["epoch"] == epoch] for epoch in range(3)]
    assert [len(epoch) for epoch in epochs] == 3 * [USABLE]
    for column in ("answers", "mode"):
        values = [{example["source_id"]: example[column] for example in epoch} for epoch in epochs]
        assert values[0].keys() == values[1].keys() and values[0] != values[1] != values[2] != values[0]
    orders = [[example["source_id"] for example in epoch] for epoch in epochs]
    assert orders[0] != orders[1] != orders[2]


@pytest.mark.parametrize(("world", "workers"), [(2, 2), (20, 1)])
def test_any_split_gives_the_same_examples(
    pairs: str, world: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def epoch(**options: Any) -> list[tuple[Any, ...]]:
        return [content(example) for example in one_epoch(pairs, schedule=[(0, 0.7), (40, 0.2)], **options)]

    whole = Counter(epoch())
    parts: Counter[tuple[Any, ...]] = Counter()
    for rank in range(world):
        for worker in range(max(1, workers)):
            monkeypatch.setattr(module, "find_worker", lambda worker=worker: (worker, workers) if workers else None)
            parts.update(epoch(rank=rank, world_size=world))
    assert parts == whole


@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_pictures_are_those_of_the_transform(pairs: str, mode: str) -> None:
    rows = {row["id"]: row for file in Path(pairs).parent.glob("*.parquet") for row in pq.read_table(file).to_pylist()}
    columns = {"stacked": "stacked_image", "tei": "only_it_image", "strip": "only_it_image_small"}
    options = {name: value for name, value in SMALL.items() if name != "shard_size"}
    transform = VCRTransform(mode=mode, **options)
    for example in islice(VCRStream(pairs, mode=mode, views=tuple(columns), **SMALL), 25):
        row = rows[example["source_id"]]
        built = transform({"image": row["image"], "caption": row["caption"], "crossed_text": example["answers"]})
        assert built["question_id"] == example["question_id"] and built["caption"] == example["caption"]
        assert (np.asarray(built[columns[example["view"]]]) == example["image"]).all()
        assert [span["visible_ink"] for span in built["spans"]] == example["visible_ink"]


def test_views_are_drawn_for_each_pair(pairs: str) -> None:
    views = Counter(example["view"] for example in one_epoch(pairs, views=("stacked", "strip")))
    assert set(views) == {"stacked", "strip"} and min(views.values()) > USABLE / 4
    assert {example["view"] for example in one_epoch(pairs, views="tei")} == {"tei"}


@pytest.mark.parametrize(("lang", "ink"), [("en", 0.15), ("zh", 0.8)])
def test_covers_leave_the_ink_that_is_asked_for(lang: str, ink: float) -> None:
    examples = list(VCRStream("samples:70", lang=lang, ink=ink, epochs=1))
    assert {(example["mode"], example["ink"]) for example in examples} == {("ink", ink)}
    visible = [share for example in examples for share in example["visible_ink"]]
    assert (
        abs(np.median(visible) - ink) <= TOLERANCE_SMALL + 0.02
    )  # the captions are not all in the calibration's sample


def test_a_schedule_goes_by_steps(pairs: str) -> None:
    examples = one_epoch(pairs, schedule=[(0, "easy"), (10, "easy"), (11, "hard")])
    assert all((example["mode"] == "easy") == (example["step"] <= 10) for example in examples)
    assert [example["step"] for example in examples] == sorted(example["step"] for example in examples)
    inks = [example["ink"] for example in one_epoch(pairs, schedule=[(0, 0.7), (46, 0.24)])]
    assert inks == sorted(inks, reverse=True) and inks[0] > 0.68 and inks[-1] < 0.26


def test_conditions_and_limits_are_those_of_a_build(pairs: str) -> None:
    assert [example["source_id"] for example in one_epoch(pairs, where=("id=pair-30",))] == ["pair-30"]
    assert len(one_epoch(pairs, limit=10)) == 9


def test_a_stream_can_be_pickled_in_the_middle(pairs: str) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    first = list(islice(stream, 17))
    again = pickle.loads(pickle.dumps(stream))
    rest = list(map(content, stream))
    assert rest == list(map(content, again)) and len(first) + len(rest) == USABLE


@pytest.mark.parametrize("epochs", [None, 1])
def test_a_source_without_a_usable_pair(pairs: str, epochs: int | None, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("the\na\nan\nof\nin\non\nand\nis\nwith\nto\nat\n")
    stream = VCRStream(pairs, censor_list=words, epochs=epochs, **SMALL)
    with pytest.raises(NoPairsError, match=r"No pair of .* can be used \(44 sensitive"):
        list(stream)
    with pytest.raises(NoPairsError, match=r"can be used \(no row matches id=nobody; id is"):
        list(VCRStream(pairs, where=("id=nobody",), epochs=epochs, **SMALL))


def test_a_worker_without_a_usable_pair_does_not_run_for_ever(pairs: str) -> None:
    stream = VCRStream(pairs, where=("id=nobody",), rank=1, world_size=2, **SMALL)
    with pytest.raises(NoPairsError):
        next(iter(stream))
    assert not list(VCRStream(pairs, where=("id=nobody",), rank=1, world_size=2, epochs=1, **SMALL))


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"widht": 3}, ConfigError, "nearest known key is 'width'"),
        ({"lang": "xx"}, ConfigError, "unknown language 'xx'"),
        ({"splits": "train=..."}, ConfigError, "writes no files, so 'splits'"),
        ({"image_format": "webp"}, ConfigError, "writes no files, so 'image_format'"),
        ({"mode": "medium"}, ConfigError, "'medium' is no mode"),
        ({"ink": 2}, ConfigError, "no share of visible ink"),
        ({"views": ()}, ConfigError, "one or several of stacked, tei, strip"),
        ({"views": ("stacked", "stacked")}, ConfigError, "one or several of stacked, tei, strip"),
        ({"views": ("photo",)}, ConfigError, "one or several of stacked, tei, strip"),
        ({"epochs": 0}, ConfigError, "at least 1"),
        ({"epochs": 1.5}, ConfigError, "at least 1"),
        ({"rank": 0}, ConfigError, "belong together"),
        ({"rank": 2, "world_size": 2}, ConfigError, "Rank 2 of 2 is no rank"),
        ({"rank": "a", "world_size": 2}, ConfigError, "Rank a of 2 is no rank"),
        ({"font": "no-such-font"}, FontError, "no-such-font"),
        ({"source": "no/such/file.parquet"}, SourceError, "no file or folder"),
        ({"caption_column": "text"}, SourceError, "text"),
    ],
)
def test_wrong_options(given: dict[str, Any], error: type[VcrgenError], says: str) -> None:
    with pytest.raises(error, match=says):
        VCRStream(**given)


def test_ranks_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert VCRStream("samples:20").state_dict()["shares"][0]["share"] == [2, 3]
    assert VCRStream("samples:20", rank=0, world_size=1).state_dict()["shares"][0]["share"] == [0, 1]
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(ConfigError, match="Rank 2 of two is no rank"):
        VCRStream("samples:20")


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from vcrgen.builder.stream import VCRStream, collate
stream = VCRStream("samples:16", epochs=1)
print(len(collate(list(stream))["messages"]), sum(len(batch) for batch in stream.batches([[1], [2, 3]])))
assert not any(name.partition(".")[0] == "torch" for name in sys.modules)
"""


def test_torch_is_not_needed() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["16", "3"], done.stderr


@pytest.mark.parametrize("view", ["stacked", "strip"])
def test_the_mask_of_covers_is_that_of_the_view(pairs: str, view: str) -> None:
    """Covers that are not rows: without them each image differs inside its mask, and nowhere else."""
    options = {"views": [view], "cover": "leaf", "shuffle": False, "width": 160, "font_size": 12, "epochs": 1}
    more = list(VCRStream(pairs, ink=0.3, distractors=2, **options))
    one = list(VCRStream(pairs, ink=0.3, **options))
    by_id = {example["source_id"]: example for example in one}
    assert more and len(more) > USABLE // 2
    for example in more:
        other = by_id[example["source_id"]]
        mask = example["cover_mask"]
        assert mask.dtype == bool and mask.shape == example["image"].shape[:2] and (mask >= other["cover_mask"]).all()
        differs = (example["image"] != other["image"]).any(axis=2)
        assert not (differs & ~(mask & ~other["cover_mask"])).any()
        assert example["visible_ink"] == other["visible_ink"] and all(0.05 < ink < 0.6 for ink in other["visible_ink"])
    assert any((example["cover_mask"] != by_id[example["source_id"]]["cover_mask"]).any() for example in more)


def test_another_epoch_has_covers_of_another_form() -> None:
    examples = Examples(load_build_config(None, {"cover": "leaf"}), read_difficulty("easy"), ["strip"])
    item = Item(source_id="a", image=sample_pair("en", 3).image, caption=caption("en", 3))
    planned = next(iter(examples.pipeline.plan_items([item])))
    assert not isinstance(planned, Reject)
    made = [examples.make(*planned, epoch=epoch, step=0) for epoch in (0, 0, 1)]
    masks = [example["cover_mask"] for example in made if not isinstance(example, Reject)]
    assert (masks[0] == masks[1]).all() and (masks[0] != masks[2]).any()


def test_pairs_that_cannot_be_covered_are_counted(pairs: str) -> None:
    stream = VCRStream(pairs, epochs=1, cover="leaf", distractors=20, width=160, font_size=40, max_height=4000)
    with pytest.raises(NoPairsError, match="no_room_for_distractors"):
        list(stream)
    assert stream.skipped["no_room_for_distractors"] >= 1


def test_a_window_has_its_rows_from_several_places() -> None:
    """A state of windows of other runs is refused."""
    options = {"mode": "hard", "epochs": 1, "shard_size": 8}
    for runs in (1, 4):
        stream = VCRStream("samples:64", runs=runs, **options)
        first = [int(example["source_id"].rpartition("-")[2]) for example in islice(stream, 7)]  # one is rejected
        assert len({number // (8 // runs) for number in first}) == runs, first
    state = VCRStream("samples:64", runs=4, **options).state_dict()
    assert state["runs"] == 4
    with pytest.raises(StreamError, match="windows of 4 runs, not 2; make the stream as it was then"):
        VCRStream("samples:64", runs=2, **options).load_state_dict(state)
    with pytest.raises(ConfigError, match="`runs` is 0; give a count of at least 1"):
        VCRStream("samples:64", runs=0)
