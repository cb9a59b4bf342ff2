"""A drawn set, and raters who say of each item what a test wants."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import PATHS, made_set, row
from vcrgen.bloom.audit.draw import Draw, DrawnItem, draw_set
from vcrgen.config import AuditOptions
from vcrgen.dataset.reader import Dataset
from vcrgen.tasks.opening import open_any

Says = Callable[[DrawnItem, int], str]


def line(draw: Draw, item: DrawnItem, rater: int, verdict: Any = "approve", **changes: Any) -> dict[str, Any]:
    """What a page exports of an item."""
    said = {"audit": draw.name, "rater": rater, "question_id": item.question_id, "answer": "A", "verdict": verdict}
    return said | {"note": ""} | changes


def exported(draw: Draw, folder: Path, says: Says) -> list[Path]:
    """The files of all raters."""
    files = []
    for rater in range(1, draw.raters + 1):
        rows = [line(draw, item, rater, says(item, rater)) for item in draw.items if rater in item.raters]
        files.append(folder / f"rater-{rater}.jsonl")
        files[-1].write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A set of 120 items of six leaves, of 40 to 5 items."""
    sizes = (40, 30, 20, 15, 10, 5)
    paths = [path for path, size in zip(PATHS[::20], sizes, strict=True) for _ in range(size)]
    rows = [row(number, path=path) for number, path in enumerate(paths)]
    return open_any(made_set(tmp_path_factory.mktemp("audit") / "set", rows))


@pytest.fixture(scope="module")
def drawn(made: Dataset) -> Draw:
    return draw_set(made, AuditOptions(items=60, overlap=0.5))
