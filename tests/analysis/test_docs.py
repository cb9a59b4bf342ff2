"""The examples of docs/analysis.md are true, and its commands run."""

from pathlib import Path

import pytest

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.analysis.examples import published_rows

PAGE = Page("docs/analysis.md")


def test_every_example_holds() -> None:
    assert PAGE.execute() >= 1


def test_every_command_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    heads, *rows = published_rows("gold-models")
    arena = [
        [model, "Arena", f"{1000 + 10 * number}", ""] for number, model in enumerate(dict.fromkeys(r[0] for r in rows))
    ]
    Path("scores.csv").write_text("".join(",".join(row) + "\n" for row in (heads, *rows, *arena)))
    (spec,) = [text for kind, text in PAGE.blocks if kind == "yaml"]
    Path("abilities.yaml").write_text(spec.replace("MMMU *", "*o*ics*"))
    (votes,) = [text for kind, text in PAGE.blocks if kind == "csv"]
    Path("votes.csv").write_text(votes)
    printed = "".join(succeed(run, line) for line in PAGE.commands)
    printed += "".join(Path(folder, "report.html").read_text("utf-8") for folder in ("pruned", "set"))
    assert len(PAGE.output) == 12 and all(line.removeprefix("-") in squeeze(printed) for line in PAGE.output)
    assert len(PAGE.commands) == 8 and Path("pruned/kept.yaml").exists() and Path("set/items.csv").exists()
