"""Fixtures that more than one room uses."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def wiki_dir() -> Path:
    """A part of the public VCR-WIKI test sets, beside the project; never copied into it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "wiki"
    if not folder.is_dir():
        pytest.skip(f"needs the public test items in {folder}")
    return folder
