"""Every golden file against what the code makes now.

A change that is wanted: `python scripts/update_golden.py` writes the files anew and prints what changed.
"""

import difflib
import json
from typing import Any

import pytest

from tests.golden import make

UPDATE = "If this change is wanted: python scripts/update_golden.py, and say in the commit why."
MOST = 60  # lines of a difference that are shown


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Datasets, sets and boards that several golden files are made of."""
    return make.Bench(tmp_path_factory.mktemp("golden").resolve())


@pytest.fixture(scope="session")
def recorded() -> dict[str, str]:
    """The versions that the golden files were made with."""
    return json.loads((make.VALUES / "versions.json").read_text("utf-8"))


@pytest.mark.parametrize("name", make.GOLDEN)
def test_golden(name: str, bench: Any, recorded: dict[str, str]) -> None:
    file, golden = make.VALUES / f"{name}.json", make.GOLDEN[name]
    assert file.is_file(), f"{file.name} is not there. {UPDATE}"
    if sentence := make.foreign(golden.needs, recorded):
        pytest.skip(sentence)
    expected, found = file.read_text("utf-8"), make.as_text(golden.value(bench))
    if found != expected:
        lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "golden", "now", "", "", 2, ""))
        more = [f"... and {len(lines) - MOST} lines more"] if len(lines) > MOST else []
        pytest.fail("\n".join([f"{file.name}:", *lines[:MOST], *more, UPDATE]), pytrace=False)


def test_there_is_a_maker_for_every_file() -> None:
    assert {file.stem for file in make.VALUES.glob("*.json")} == {*make.GOLDEN, "versions"}


def test_versions_are_recorded(recorded: dict[str, str]) -> None:
    assert set(recorded) == set(make.versions())
    assert {need for golden in make.GOLDEN.values() for need in golden.needs} <= set(recorded)
