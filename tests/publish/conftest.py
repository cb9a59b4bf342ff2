"""Small datasets of the built-in pairs."""

from pathlib import Path

import pytest

from vcrgen.builder.run import build


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chinese pairs, hard only."""
    out = tmp_path_factory.mktemp("publish") / "vcr-zh"
    build("samples", out=out, limit=6, lang="zh", mode="hard")
    return out
