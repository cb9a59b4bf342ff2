"""A public set with levels of ink: its pages show each model's curve."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq

from tests.leaderboard.common import Run


def write(ladder: Path, file: Path, least: float) -> None:
    """Outputs that restore what has more than a share of its ink."""
    with file.open("w", encoding="utf-8") as lines:
        for table in sorted(ladder.glob("ink-*/*.parquet")):
            for row in pq.read_table(table, columns=["question_id", "mode", "spans"]).to_pylist():
                said = "\n".join(span["text"] if span["visible_ink"] > least else "no" for span in row["spans"])
                line = {"question_id": row["question_id"], "mode": row["mode"], "view": "stacked", "output": said}
                lines.write(json.dumps(line) + "\n")


def test_pages_show_curves_beside_bars(run: Run, ladder: Path) -> None:
    assert run("leaderboard", "init", "board", "--data", f"ladder:{ladder}")[0] == 0
    for name, least in (("sees", 0.22), ("blind", 2.0)):
        write(ladder, Path(f"{name}.jsonl"), least)
        code, _, err = run("leaderboard", "add", "board", f"{name}.jsonl", "--model", name, "--team", "Team A")
        assert code == 0, err
    code, _, err = run("leaderboard", "export", "board", "--to", "site", "--out", "site")
    assert code == 0, err
    assert Path("site/board-ladder-ink-0.20-stacked.html").exists()
    pages = {page.read_text("utf-8") for page in Path("site").glob("model-*.html")}
    (sees,) = (page for page in pages if "<h1><bdi>sees</bdi>" in page)
    (blind,) = (page for page in pages if "<h1><bdi>blind</bdi>" in page)
    assert sees.count('class="sc fc"') == 1 and "ink-0.20, VI+TEI" in sees
    assert re.search(r"VI\+TEI: threshold (19|2\d)\.\d\d %", sees)
    assert "VI+TEI: threshold &gt;6" in blind
