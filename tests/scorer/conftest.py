"""A small answer key and the files around it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

KEY = [
    {"question_id": "a", "crossed_text": ["the quick brown fox jumps", "over the lazy old dog"]},
    {"question_id": "b", "crossed_text": ["is a town in the"]},
    {"question_id": "c", "crossed_text": ["one of the most famous"]},
]
WriteLines = Callable[[str, Iterable[Any]], Path]


@pytest.fixture
def write_lines(tmp_path: Path) -> WriteLines:
    def write(name: str, rows: Iterable[Any]) -> Path:
        file = tmp_path / name
        lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return file

    return write


@pytest.fixture
def key(write_lines: WriteLines) -> Path:
    return write_lines("key.jsonl", KEY)


@pytest.fixture
def perfect(write_lines: WriteLines) -> Path:
    rows = ({"question_id": row["question_id"], "output": "\n".join(row["crossed_text"])} for row in KEY)
    return write_lines("perfect.jsonl", rows)
