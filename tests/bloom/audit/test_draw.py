"""The drawn items, and their raters."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from tests.stats.test_strata import COUNTS
from vcrgen.bloom.audit.draw import Draw, draw_items, draw_set, read_draw, write_draw
from vcrgen.bloom.options import AuditOptions
from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.opening import open_task_dataset


def test_the_published_counts() -> None:
    if not COUNTS.exists():
        pytest.skip("needs shared/data/papers/bloom_taxonomy.csv")
    lines = [line.split(",") for line in COUNTS.read_text("utf-8").splitlines()[1:]]
    items = [
        (f"{level}/{sub}/{leaf}-{number}", f"{level}/{sub}/{leaf}", 4)
        for level, sub, leaf, count, *_ in lines
        for number in range(int(count))
    ]
    draw = draw_items(items, AuditOptions())
    counts = Counter(item.path for item in draw.items)
    assert len(draw.items) == 969 and len(counts) == 106 and min(counts.values()) >= 4
    weights = draw.weights()
    assert sum(weights[item.path] for item in draw.items) == pytest.approx(7747)
    assert max(weights.values()) / min(weights.values()) < 1.3  # in proportion


def test_the_order_of_items_decides_nothing_and_the_seed_does(made: Dataset, drawn: Draw) -> None:
    items = [(f"i{number}", f"a/b/{number % 3}", 4) for number in range(60)]
    assert draw_items(items, AuditOptions()) == draw_items(items[::-1], AuditOptions())
    chosen = [{item.question_id for item in draw_items(items, AuditOptions(seed=seed)).items} for seed in range(3)]
    assert len(set(map(frozenset, chosen))) == 3  # by lot, not the first ids of a leaf
    assert draw_set(made, AuditOptions(items=60, overlap=0.5)) == drawn


@pytest.mark.parametrize(("raters", "overlap"), [(1, 0.5), (2, 0.2), (3, 1.0), (5, 0.25)])
def test_raters_get_as_many_items_and_the_overlap_is_as_asked(raters: int, overlap: float) -> None:
    items = [(f"i{number:03}", f"a/b/{number % 5}", 4) for number in range(400)]
    draw = draw_items(items, AuditOptions(items=200, raters=raters, overlap=overlap))
    load = Counter(number for item in draw.items for number in item.raters)
    twice = [item for item in draw.items if len(item.raters) == 2]
    assert all(len(set(item.raters)) == len(item.raters) <= 2 for item in draw.items)
    assert len(twice) == (round(200 * overlap) if raters > 1 else 0)
    assert set(load) == set(range(1, raters + 1)) and max(load.values()) - min(load.values()) <= 12


def test_a_file_is_read_again_and_another_draw_is_refused(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    file = tmp_path / "audit" / "draw.json"
    write_draw(file, drawn)
    before = file.read_bytes()
    write_draw(file, drawn)
    assert read_draw(file, made) == drawn and file.read_bytes() == before
    with pytest.raises(ConfigError, match="holds another draw"):
        write_draw(file, draw_set(made, AuditOptions(items=60, seed=9)))
    other = open_task_dataset(made_set(tmp_path / "other", [row(0), row(1)]))
    with pytest.raises(DatasetError, match="drawn of another MCQ benchmark"):
        read_draw(file, other)


@pytest.mark.parametrize("change", [{"name": "x"}, {"items": 3}, {"items": [{"question_id": 1}]}, {"form": "other"}])
def test_a_changed_file_is_refused(drawn: Draw, tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "draw.json"
    write_draw(file, drawn)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(DatasetError, match="draw again"):
        read_draw(file)


def test_a_list_is_no_draw(tmp_path: Path) -> None:
    file = tmp_path / "draw.json"
    file.write_text("[1]", "utf-8")
    with pytest.raises(DatasetError, match="draw again"):
        read_draw(file)


def test_what_somebody_made_up_is_no_draw(drawn: Draw, tmp_path: Path) -> None:
    """The name of each fits what is in it, as for a real one."""
    first, *others = drawn.items
    nobody, nowhere = replace(first, raters=(drawn.raters + 1,)), replace(first, path="of/no/leaf")
    options = [{}, *({**drawn.options, **change} for change in ({"raters": "z"}, {"raters": 10**9}, {"more": 1}))]
    changes: list[dict[str, Any]] = [
        *({"options": one} for one in options),
        *({"categories": dict(drawn.categories) | {first.path: size}} for size in ("many", 0)),
        *({"items": (one, *others)} for one in (nobody, nowhere)),
    ]
    for number, change in enumerate(changes):
        file = tmp_path / f"{number}.json"
        write_draw(file, replace(drawn, **change))
        with pytest.raises(DatasetError, match="remove it, and draw again"):
            read_draw(file)
