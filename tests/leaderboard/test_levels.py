"""A public set with levels of ink: each level is ranked, and is a row of a model's page."""

from pathlib import Path

from tests.leaderboard.common import Run
from tests.making import outputs_by_ink


def test_each_level_is_ranked(run: Run, ladder: Path) -> None:
    assert run("leaderboard", "init", "board", "--data", f"ladder:{ladder}")[0] == 0
    for name, least in (("sees", 0.22), ("blind", 2.0)):
        outputs_by_ink(ladder, Path(f"{name}.jsonl"), least)
        code, _, err = run("leaderboard", "add", "board", f"{name}.jsonl", "--model", name, "--team", "Team A")
        assert code == 0, err
    code, _, err = run("leaderboard", "export", "board", "--to", "site", "--out", "site")
    assert code == 0, err
    (sees,) = (
        text for page in Path("site").glob("model-*.html") if "<h1><bdi>sees</bdi>" in (text := page.read_text("utf-8"))
    )
    for level in ("ink-0.10", "ink-0.20", "ink-0.30", "ink-0.70"):
        assert Path(f"site/board-ladder-{level}-stacked.html").exists()
        assert f"{level}, VI+TEI" in sees
