"""Tests that a change asks for."""

from typing import Any

import pytest

from tests.loading import load_script
from tests.pages import ROOT


@pytest.fixture(scope="module")
def runner() -> Any:
    return load_script("run_tests")


@pytest.mark.parametrize(
    ("file", "among", "not_among"),
    [
        ("vcrgen/train/run.py", {"tests/train", "tests/cli", "tests/golden"}, {"tests/scorer"}),
        ("vcrgen/stats/paired.py", {"tests/stats", "tests/scorer", "tests/leaderboard"}, {"tests/typeset"}),
        (
            "vcrgen/builder/masking.py",
            {"tests/builder", "tests/text/test_pipelines.py", "tests/leaderboard", "tests/test_config.py"},
            {"tests/text", "tests/models", "tests/stats"},
        ),
        ("vcrgen/cli/analyze.py", {"tests/cli", "tests/analysis/test_cli.py"}, {"tests/analysis", "tests/stats"}),
        ("vcrgen/core/files.py", {"tests"}, {"tests/stats"}),
        ("pyproject.toml", {"tests"}, set()),
        ("tests/study/test_removed.py", {"tests/study"}, {"tests/cli"}),
        ("docs/study.md", {"tests/study/test_docs.py", "tests/test_readme.py"}, {"tests/study"}),
    ],
)
def test_tests_of_a_change(runner: Any, file: str, among: set[str], not_among: set[str]) -> None:
    chosen = set(runner.tests_for([file]))
    assert among <= chosen and not not_among & chosen
    assert all((ROOT / path).exists() for path in chosen)


def test_a_commit_that_git_does_not_know_is_named(runner: Any) -> None:
    with pytest.raises(ValueError, match="git knows no commit 'nowhere'"):
        runner.changed_files("nowhere")
