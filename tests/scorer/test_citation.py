"""The line of a run that is pasted into a paper."""

import json
from pathlib import Path

from tests.bloom.conftest import made_set
from tests.scorer.mcq.test_session import items, key_of, lines
from vcrgen.scorer import ScoreOptions, Session, score
from vcrgen.scorer.citation import citation


def test_the_line_has_every_figure_of_the_result(key: Path, perfect: Path) -> None:
    result = Session(key, ScoreOptions()).score(perfect)
    (cell,) = result.cells
    exact = cell.metrics["exact"]
    assert citation(result) == (
        f"perfect: Exact match, % [95 % interval]: - VI+TEI 100.00 [{100 * exact.low:.2f}, 100.00]; "
        f"n = 4 spans in 3 images; {result.signature}"
    )


def test_cells_of_other_sizes_have_their_own_n(tmp_path: Path) -> None:
    """Item 5 lacks a language, so n differs between the two."""
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines(items(), key_of)), "utf-8")
    line = citation(score(file, data=made_set(tmp_path / "set", items())))
    assert "(n = 48 items in 12 pictures), " in line and "(n = 47 items in 12 pictures); " in line
