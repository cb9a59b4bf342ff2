"""One small job, and what an engine has to make of it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.run import build
from vcrgen.core.progress import ProgressListener


@pytest.fixture(scope="session")
def options() -> dict[str, Any]:
    """Options of the build."""
    return {"source": "samples:48", "splits": "train=...,test=6", "mode": "hard", "shard_size": 8}


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, options: dict[str, Any]) -> Path:
    """It, by one process."""
    out = tmp_path_factory.mktemp("reference") / "out"
    build(out=out, **options)
    return out


class Counting(ProgressListener):
    def __init__(self) -> None:
        self.read = self.built = 0

    def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
        self.read += read
        self.built += built


@pytest.fixture
def listener() -> Counting:
    """Adds up what an engine reports."""
    return Counting()
