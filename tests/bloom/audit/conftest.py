"""A sample, and verdicts of raters on its items."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import PATHS, made_set, row
from vcrgen.bloom.audit.draw import Draw, DrawnItem, draw_set
from vcrgen.bloom.options import AuditOptions
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.opening import open_task_dataset

Says = Callable[[DrawnItem, int], str]


def line(draw: Draw, item: DrawnItem, rater: int, verdict: Any = "approve", **changes: Any) -> dict[str, Any]:
    """A line of a study's export."""
    said = {"audit": draw.name, "rater": rater, "question_id": item.question_id, "answer": "A", "verdict": verdict}
    return said | {"note": ""} | changes


def exported(draw: Draw, folder: Path, says: Says) -> Path:
    """The file of a study with the verdicts of all raters."""
    rows = [line(draw, item, rater, says(item, rater)) for item in draw.items for rater in item.raters]
    file = folder / "verdicts.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return file


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A set of 120 items of six categories, of 40 to 5 items."""
    sizes = (40, 30, 20, 15, 10, 5)
    paths = [path for path, size in zip(PATHS[::20], sizes, strict=True) for _ in range(size)]
    rows = [row(number, path=path) for number, path in enumerate(paths)]
    return open_task_dataset(made_set(tmp_path_factory.mktemp("audit") / "set", rows))


@pytest.fixture(scope="module")
def drawn(made: Dataset) -> Draw:
    return draw_set(made, AuditOptions(items=60, overlap=0.5))
