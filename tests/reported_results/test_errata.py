"""Errata of papers, computed from the papers' tables by scripts/check_errata.py where these are at hand."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load_script

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT.parent / "shared/data/papers"
BENCHMARKS = ROOT / "vcrgen/reported_results/benchmarks"


@pytest.fixture
def script() -> Any:
    if not PAPERS.is_dir():
        pytest.skip("needs ../shared/data/papers")
    return load_script("check_errata")


def test_every_erratum_is_computed(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([str(PAPERS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(": agrees (" in line for line in lines) == 16 and sum(": not computed (" in line for line in lines) == 3


def test_the_macros_of_table_1_are_no_erratum(script: Any) -> None:
    """Three were listed, from levels that the paper rounds; those of the items are the printed ones."""
    for method, lang, printed in (("rae", "en", 0.881), ("lbs", "en", 0.387), ("rae", "ar", 0.856)):
        with (PAPERS / f"bloom_leaf_scores_{method}.csv").open(encoding="utf-8", newline="") as file:
            shares = script.level_shares(list(csv.DictReader(file)))
        levels = [share for (model, of, _), share in shares.items() if (model, of) == ("gemma3-27b", lang)]
        assert len(levels) == 6 and sum(levels) / 6 == pytest.approx(printed, abs=0.0005)


def test_a_wrong_row_is_found(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in BENCHMARKS.glob("*-errata.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(script, "BENCHMARKS", tmp_path)
    with (tmp_path / "bloom-errata.csv").open("a", encoding="utf-8") as file:
        file.write('Table 1,"Macro RAE of Gemma3-27B, English",0.881,0.8800,Levels.\n')
    assert script.main([str(PAPERS)]) == 1
    assert "Gemma3-27B, English: printed '0.881', right '0.8800': WRONG (no computation)" in capsys.readouterr().out
