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


@pytest.fixture(scope="session")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English pairs at three levels of ink."""
    out = tmp_path_factory.mktemp("publish") / "ladder"
    build("samples:3", out=out, mode="ink=0.05,0.3,0.7")
    return out
