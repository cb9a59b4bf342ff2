"""A small dataset's answers, and the evidence of some models on it."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.scorer import score

WORDS = ["river", "bridge", "stone", "yellow", "garden", "market", "castle", "window", "paper", "silver"]


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 questions with one to three spans each."""
    rng, file = random.Random(1), tmp_path_factory.mktemp("items") / "key.jsonl"
    rows = [
        {"question_id": f"q{n:02d}", "crossed_text": [" ".join(rng.choices(WORDS, k=3)) for _ in range(n % 3 + 1)]}
        for n in range(40)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture(scope="session")
def evidence(key: Path) -> Callable[..., list[Path]]:
    """Makes evidence of models, each with a file of outputs of its own."""

    def make(folder: Path, models: int, suffix: str = ".parquet", **options: object) -> list[Path]:
        rows = [json.loads(line) for line in key.read_text("utf-8").splitlines()]
        files = []
        for number in range(models):
            rng, lines = random.Random(number), []
            for row in rows:
                texts = [text if rng.random() < (number + 2) / (models + 4) else "no" for text in row["crossed_text"]]
                lines.append(
                    {"question_id": row["question_id"], "model": f"m{number:02d}", "output": " / ".join(texts)}
                )
            outputs = folder / f"m{number:02d}.jsonl"
            outputs.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
            files.append(folder / f"spans_{number:02d}{suffix}")
            score(outputs, data=key, spans=files[-1], **options)
        return files

    return make


@pytest.fixture(scope="session")
def twelve(evidence: Callable[..., list[Path]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Evidence of twelve models."""
    return evidence(tmp_path_factory.mktemp("twelve"), 12)


@pytest.fixture
def rough(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the rounds of a fit at a change that is a hundred times larger."""
    monkeypatch.setattr("vcrgen.analysis.items.irt._NEAR", 1e-2)
