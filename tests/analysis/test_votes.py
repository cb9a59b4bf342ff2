"""Votes as an anchor: every form of a winner, what is wrong in one sentence, and the analyses that take the file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.votes import Votes, fit_votes, read_votes, with_votes
from vcrgen.analysis.votes_report import votes_document
from vcrgen.core.errors import AnalysisError

HEAD = "model_a,model_b,winner\n"
Run = Callable[..., tuple[int, str, str]]


def written(lines: str, file: Path) -> Path:
    file.write_text(HEAD + lines)
    return file


def test_every_form_of_a_winner(tmp_path: Path) -> None:
    lines = "A,B,model_a\nB,A,model_b\nA,B,A\nB,A,B\nA,B,tie\nB,A,tie (bothbad)\nA,B,bothbad\n"
    votes = read_votes(written(lines, tmp_path / "votes.csv"))
    assert votes.models == ("A", "B")
    assert votes.wins.tolist() == [[0, 3], [1, 0]] and votes.ties.tolist() == [[0, 3], [3, 0]]
    assert votes.counts.tolist() == [7, 7]
    result = fit_votes(votes)
    assert result.strengths.value == pytest.approx(np.log(4.5 / 2.5) / 2 * np.array([1, -1]))
    assert result.headline.endswith("votes.csv: 2 models, 7 votes") and result.order == [0, 1]
    assert [row["model"] for row in result.long_rows()] == ["A", "B"]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(tmp_path: Path, separator: str) -> None:
    text = f"{HEAD}A,B,model_a\n".replace(",", separator)
    (tmp_path / "votes.csv").write_text(text)
    assert read_votes(tmp_path / "votes.csv").wins.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(("won", "lost", "tied"), [(27, 13, []), (26, 14, [1]), (7, 7, [1])])
def test_the_strongest_model_is_preferred_only_where_it_is_significantly_so(
    won: int, lost: int, tied: list[int]
) -> None:
    votes = Votes(source="v.csv", models=("A", "B"), wins=np.array([[0.0, won], [lost, 0]]), ties=np.zeros((2, 2)))
    result = fit_votes(votes)
    width = 1.96 * np.sqrt(1 / won + 1 / lost)  # of the log odds of a binomial share
    assert result.tied_with_first == tied and (np.log(won / lost) > width) == (not tied)
    summary = " ".join(votes_document(result, settings="").summary)
    assert ("A or B: their strengths do not differ significantly" in summary) == bool(tied)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "has no vote; a line is a vote"),
        ("A,A,tie\n", "line 2: the vote is on 'A' alone"),
        ("A,B,C\n", "line 2: the winner 'C' is not model_a, model_b, tie, or one of the two models"),
        ("A,B\n", "line 2: 2 cells under 3 column names"),
        (",B,tie\n", "line 2: "),
        ("A,B,tie\nC,D,tie\nD,E,tie\n", "no vote connects these groups of models, so their strengths have no common "),
        ("A,B,tie\nC,D,tie\nD,E,tie\n", "common scale: C, D, E; A, B. Collect"),
        ("A,B,model_a\nB,C,tie\nA,C,A\n", "A won every vote against the other models"),
        ("A,B,tie\nC,B,model_b\nC,A,A\n", "C lost every vote against the other models"),
        ("A,B,tie\nA,C,A\nB,D,B\nC,D,tie\n", "A, B won every vote against the other models"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, lines: str, sentence: str) -> None:
    with pytest.raises(AnalysisError) as problem:
        fit_votes(read_votes(written(lines, tmp_path / "votes.csv")))
    assert sentence in str(problem.value)


def test_strengths_beyond_numbers_are_one_sentence() -> None:
    wins = np.array([[0, 1e200, 0], [1, 0, 1e200], [0, 1, 0]])
    votes = Votes(source="v.csv", models=("A", "B", "C"), wins=wins, ties=np.zeros((3, 3)))
    with pytest.raises(AnalysisError, match="some models won nearly all of very many votes"):
        fit_votes(votes)


def test_strengths_are_a_task_of_the_models_that_have_votes(gold: ScoreTable, tmp_path: Path) -> None:
    file = str(written("made 1,made 2,tie\nmade 2,made 3,made 2\nmade 3,made 1,made 3\n", tmp_path / "votes.csv"))
    table = with_votes(gold, file)
    assert table.tasks == (*gold.tasks, file) and table.models == ("made 1", "made 2", "made 3")
    assert table.notes[-1].endswith("votes.csv has no score of them: 162 of 165.")
    assert table.scores[1, -1] > table.scores[2, -1] > table.scores[0, -1]
    assert with_votes(gold, "Human") is gold and with_votes(gold, None) is gold
    written("A,B,tie\n", tmp_path / "votes.csv")
    with pytest.raises(AnalysisError, match="has none of the models of made scores: it has A, B, the table has made 1"):
        with_votes(gold, file)


def test_a_model_explains_the_votes(run: Run) -> None:
    table = EXAMPLES["gold"].load()
    lines = ["model," + ",".join(table.tasks)]
    lines += [",".join(map(str, (model, *row))) for model, row in zip(table.models, table.scores, strict=True)]
    Path("scores.csv").write_text("\n".join(lines) + "\n")
    Path("spec.yaml").write_text("abilities: {Perception: [Color, Count], Memory: [Artwork, Landmark]}\n")
    pairs = [(a, b) for number, a in enumerate(table.models[:15]) for b in table.models[:number]]
    votes = "".join(f"{a},{b},{'tie' if (len(a) + len(b)) % 3 else 'model_a'}\n" for a, b in pairs)
    written(votes, Path("votes.csv"))
    command = ("analyze", "factors", "scores.csv", "--spec", "spec.yaml", "--anchor", "votes.csv", "--resamples", 100)
    code, text, errors = run(*command)
    assert code == 0 and "15 models, 4 tasks of 2 abilities, anchor votes.csv" in text, errors
    code, text, _ = run("analyze", "votes", "votes.csv", "--out", "votes.html")
    page = Path("votes.html").read_text()
    assert code == 0 and "Wins against the average model" in page and "--anchor votes.csv" in page
    code, _, errors = run("analyze", "factors", "scores.csv", "--spec", "spec.yaml", "--anchor", "none.csv")
    assert code == 2 and "none.csv is not a file" in errors
