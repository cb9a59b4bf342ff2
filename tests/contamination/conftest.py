"""Sets of which every answer is made up, and models of which it is known what they know."""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

Chance = Callable[[str, str], float]
"""Return how likely an answer of a question is restored: question id and answer."""


class Study:
    """Writes keys of answers and outputs of models into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, name: str, pairs: int, *, drawing: int = 0, first: int = 0, spans: Sequence[int] = (1, 2, 3)) -> Path:
        """Questions with made-up answers; another ``drawing`` has other answers of the same questions."""
        rows = [
            {
                "question_id": f"q{number}",
                "crossed_text": [
                    f"w{number} s{turn} d{drawing} five tokens" for turn in range(spans[number % len(spans)])
                ],
            }
            for number in range(first, first + pairs)
        ]
        return self.lines(name, rows)

    def outputs(
        self,
        name: str,
        key: Path,
        chances: dict[str, Chance],
        *,
        seed: int = 0,
        model: str | None = "qwen",
        most: int | None = None,
    ) -> Path:
        """Outputs in some views; spans of a question are alike, as the chance is shifted by question."""
        rows = []
        for question in list(map(json.loads, key.read_text("utf-8").splitlines()))[:most]:
            question_id = question["question_id"]
            for view, chance in chances.items():
                drawn = random.Random(f"{seed} {name} {question_id} {view}")
                said = [
                    each if drawn.random() < chance(question_id, each) else "no" for each in question["crossed_text"]
                ]
                row = {"question_id": question_id, "view": view, "output": " / ".join(said)}
                rows.append(row if model is None else row | {"model": model})
        return self.lines(name, rows)

    def lines(self, name: str, rows: Iterable[Any]) -> Path:
        """Any JSON Lines."""
        file = self._folder / name
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return file


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)
