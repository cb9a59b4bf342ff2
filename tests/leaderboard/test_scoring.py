"""Scoring a file: complete or rejected with reasons, and of a hidden set not a hint."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaderboard.common import Hand
from vcrgen.leaderboard.scoring import CellOutcome, ScoringOutcome, open_session, score_file
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.span_session import Session
from vcrgen.stats.bootstrap import BootstrapMean

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def open_set(public: Path) -> Session:
    return open_session("public", public)


@pytest.fixture(scope="module")
def secret_set(hidden: Path) -> Session:
    return open_session("hidden-en", hidden / "key")


def lines_of(file: Path) -> Lines:
    return [json.loads(line) for line in file.read_text().splitlines()]


def write(file: Path, lines: Lines) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_complete_file_gives_its_cells(open_set: Session, hand: Hand) -> None:
    outcome = score_file(open_set, hand(open_set.key, right=1), shown_as="x")
    assert outcome.problems == () and outcome.signature == str(open_set.signature) and outcome.outputs is None
    names = {(cell.mode, cell.view) for cell in outcome.cells}
    assert names == {(mode, view) for mode in ("easy", "hard") for view in ("stacked", "tei")}
    spans = sum(len(question.spans) for question in open_set.key.questions)
    for cell in outcome.cells:
        assert cell.estimates["exact"] == cell.estimates["jaccard"]
        value, low, high = cell.estimates["exact"]
        assert (value, high) == (1.0, 1.0) and 0.5 < low < 0.8, "eight images tell little"
        assert BootstrapMean.from_bytes(cell.means["exact"]).means.tolist() == [1.0] * 100
        assert np.unpackbits(np.frombuffer(cell.hits, np.uint8)).sum() == spans
        assert (cell.difference is not None) == (cell.view == "stacked")


def test_the_name_it_was_handed_in_under_says_the_view(open_set: Session, tmp_path: Path) -> None:
    """The vault keeps a file under its SHA-256, so its own name says nothing."""
    file = tmp_path / "0123456789abcdef"
    rows = (f"{question.question_id},x" for question in open_set.key.questions)
    file.write_text("\n".join(["index,prediction", *rows]))
    outcome = score_file(open_set, file, shown_as="GPT4o_VCR_EN_HARD_TEI_test_1a_openended.csv")
    assert [(cell.mode, cell.view) for cell in outcome.cells] == [("hard", "tei")]
    (problem,) = score_file(open_set, file, shown_as="outputs.csv").problems
    assert problem.startswith("outputs.csv: neither a column `view` nor") and str(tmp_path) not in problem


def test_hits_say_which_spans_were_restored(open_set: Session, hand: Hand) -> None:
    outcome = score_file(open_set, hand(open_set.key, right=3, views=["tei"], modes=["hard"]), shown_as="x")
    (cell,) = outcome.cells
    expected = [n % 3 == 0 for n, question in enumerate(open_set.key.questions) for _ in question.spans]
    hits = np.unpackbits(np.frombuffer(cell.hits, np.uint8), count=len(expected)).astype(bool)
    assert hits.tolist() == expected and cell.difference is None
    assert cell.estimates["exact"][0] == pytest.approx(np.mean(expected))


def spoil(lines: Lines, how: str) -> Lines:
    first = lines[0]
    changed = {
        "missing": lines[2:],
        "unknown": [*lines, {**first, "question_id": "nobody's"}],
        "duplicate": [*lines, first],
        "conflict": [*lines, {**first, "output": "another"}],
        "null": [{**first, "output": None}, *lines[1:]],
        "nan": [{**first, "output": float("nan")}, *lines[1:]],
    }
    return changed[how]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("missing", "Questions without an output: 2 ('{0}' (stacked, easy), '{1}' (stacked, easy))."),
        ("unknown", 'Ids that the dataset does not have: 1 (line 49: "nobody\'s").'),
        ("duplicate", "Further outputs for a question that had the same one: 1 (line 49: '{0}')."),
        ("conflict", "Further outputs for a question that had another one: 1 (line 49: '{0}')."),
        ("null", "Null instead of an output: 1 (line 1)."),
        ("nan", "No value (NaN) instead of an output: 1 (line 1)."),
    ],
)
def test_what_is_not_complete_is_refused_with_the_places(
    how: str, sentence: str, open_set: Session, hand: Hand, tmp_path: Path
) -> None:
    file = write(tmp_path / "f.jsonl", spoil(lines_of(hand(open_set.key)), how))
    ids = [question.question_id for question in open_set.key.questions]
    assert score_file(open_set, file, shown_as="x") == ScoringOutcome(problems=(sentence.format(*ids),))


def test_places_are_a_few(open_set: Session, hand: Hand, tmp_path: Path) -> None:
    lines = [{**line, "output": None} for line in lines_of(hand(open_set.key))]
    (problem,) = score_file(open_set, write(tmp_path / "f.jsonl", lines), shown_as="x").problems
    assert problem == "Null instead of an output: 48 (line 1, line 2, line 3, line 4, line 5, …)."


def test_all_flaws_are_told_at_once(open_set: Session, hand: Hand, tmp_path: Path) -> None:
    lines = spoil(spoil(lines_of(hand(open_set.key)), "missing"), "duplicate")
    assert len(score_file(open_set, write(tmp_path / "f.jsonl", lines), shown_as="x").problems) == 2


def test_a_set_with_both_modes_asks_for_the_mode(open_set: Session, hand: Hand) -> None:
    outcome = score_file(open_set, hand(open_set.key, modes=[None]), shown_as="x")
    assert outcome.problems == (
        'The set has both modes, and some outputs do not say theirs: add "mode": "easy" or "mode": "hard".',
    )


def test_a_hidden_set_asks_for_no_mode(secret_set: Session, hand: Hand) -> None:
    outcome = score_file(secret_set, hand(secret_set.key), shown_as="x")
    assert {(cell.mode, cell.view) for cell in outcome.cells} == {("mixed", "stacked"), ("mixed", "tei")}
    assert outcome.outputs is not None


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"{" * 100_000,
        b"[1, 2]",
        b'{"question_id": 1}',
        b"a,b\n1,2\n",
        b"\xff\xfe",
        b"\n",
        b'{"\\u001b[31m\\u202e\\ud800": 1, "question_id": "x"}',
    ],
)
def test_what_cannot_be_read_is_one_sentence_about_the_file_as_its_team_calls_it(
    content: bytes, open_set: Session, tmp_path: Path
) -> None:
    file = tmp_path / ("0" * 64)
    file.write_bytes(content)
    (problem,) = score_file(open_set, file, shown_as="mine.jsonl").problems
    assert "mine.jsonl" in problem and str(tmp_path) not in problem and "0" * 64 not in problem
    assert problem.isprintable()
    problem.encode()


# --- Hidden sets -----------------------------------------------------------------------------------------------------


def copy_of(lines: Lines, how: str) -> Lines:
    """Files that differ from another one by less or more; there are 8 outputs of each view."""

    def change(line: dict[str, Any], number: int) -> dict[str, Any]:
        text = str(line["output"])
        texts = {
            "the same": text,
            "case": text.upper(),
            "space": f"  {text.replace(' ', chr(10) * 2)}\t",
            "one of 16": "changed" if number == 5 else text,
            "one view": f"changed {number}" if number < 8 else text,
        }
        return {**line, "output": texts[how]}

    return [change(line, number) for number, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("how", "rejected"),
    [
        ("the same", True),
        ("case", True),
        ("space", True),
        ("one of 16", False),
        ("one view", False),
    ],
)
def test_copies_are_not_scored(how: str, rejected: bool, secret_set: Session, hand: Hand, tmp_path: Path) -> None:
    first = hand(secret_set.key, right=2)
    before = score_file(secret_set, first, shown_as="x").outputs
    assert before is not None
    file = write(tmp_path / "second.jsonl", copy_of(lines_of(first), how))
    outcome = score_file(secret_set, file, shown_as="x", earlier=[b"", before])
    assert bool(outcome.problems) == rejected
    if rejected:
        assert "All outputs are those of a file that your team submitted before" in outcome.problems[0]
        assert outcome == ScoringOutcome(problems=outcome.problems)


def test_the_order_of_lines_makes_no_other_file(secret_set: Session, hand: Hand, tmp_path: Path) -> None:
    first = hand(secret_set.key, right=2)
    before = score_file(secret_set, first, shown_as="x").outputs
    shuffled = write(tmp_path / "second.jsonl", lines_of(first)[::-1])
    assert score_file(secret_set, shuffled, shown_as="x").outputs == before


def test_the_other_view_is_no_copy(secret_set: Session, hand: Hand) -> None:
    before = score_file(secret_set, hand(secret_set.key, views=["stacked"]), shown_as="x").outputs
    assert before is not None
    outcome = score_file(secret_set, hand(secret_set.key, views=["tei"]), shown_as="x", earlier=[before])
    assert outcome.problems == () and len(outcome.cells) == 1


def vcr_repository(key: AnswerKey, guess: str) -> dict[str, Any]:
    """The VCR repository's form, which may hold answers."""
    return {
        str(number): {
            "res_stacked_image": "nothing",
            "crossed_text": [guess] * len(question.answers),
            "question_id": question.question_id,
        }
        for number, question in enumerate(key.questions)
    }


def vlmevalkit(key: AnswerKey, guesses: Callable[[int], list[str]]) -> Lines:
    return [
        {
            "index": number,
            "question_id": question.question_id,
            "view": "stacked",
            "answer": guesses(number),
            "prediction": "nothing",
        }
        for number, question in enumerate(key.questions)
    ]


def lmms(key: AnswerKey, guesses: Callable[[int], list[str]]) -> str:
    lines = (
        {
            "doc_id": key.row_of(question.question_id),
            "target": json.dumps(guesses(number)),
            "view": "stacked",
            "resps": [["nothing"]],
            "doc": {"question_id": question.question_id, "crossed_text": guesses(number)},
        }
        for number, question in enumerate(key.questions)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_answers_in_a_file_are_no_way_to_ask(secret_set: Session, tmp_path: Path) -> None:
    """Right or wrong, what the board says is the same to the letter, but for the file's own hash."""
    key = secret_set.key
    forms: dict[str, list[Any]] = {
        "repository": [vcr_repository(key, guess) for guess in ("wrong", key.questions[0].answers[0])],
        "table": [
            vlmevalkit(key, lambda number: ["wrong"] * len(key.questions[number].answers)),
            vlmevalkit(key, lambda number: ["wrong"]),
            vlmevalkit(key, lambda number: list(key.questions[number].answers)),
        ],
        "log": [lmms(key, lambda number: ["wrong"]), lmms(key, lambda number: list(key.questions[number].answers))],
    }
    for values in forms.values():
        outcomes = []
        for value in values:
            file = tmp_path / "same-name"
            file.write_text(value if isinstance(value, str) else json.dumps(value))
            outcomes.append(score_file(secret_set, file, shown_as="x"))
        assert outcomes[0].problems == () and len(outcomes[0].cells) == 1
        assert all(outcome == outcomes[0] for outcome in outcomes)


# --- From one process to another -------------------------------------------------------------------------------------

estimates = st.dictionaries(st.sampled_from(["exact", "jaccard"]), st.tuples(*[st.floats(0, 1)] * 3))
cell_outcomes = st.builds(
    CellOutcome,
    mode=st.text(max_size=5),
    view=st.sampled_from(["stacked", "tei"]),
    estimates=estimates,
    difference=st.none() | estimates,
    means=st.dictionaries(st.text(max_size=5), st.binary(max_size=30)),
    hits=st.binary(max_size=5),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.builds(
        ScoringOutcome,
        problems=st.lists(st.text(), max_size=3).map(tuple),
        signature=st.text(),
        result=st.none() | st.dictionaries(st.text(), values, max_size=3),
        cells=st.lists(cell_outcomes, max_size=3).map(tuple),
        outputs=st.none() | st.binary(max_size=20),
    )
)
def test_an_outcome_crosses_as_it_is(outcome: ScoringOutcome) -> None:
    assert ScoringOutcome.from_bytes(outcome.to_bytes()) == outcome


def test_a_real_outcome_crosses_as_it_is(secret_set: Session, hand: Hand) -> None:
    outcome = score_file(secret_set, hand(secret_set.key, right=2), shown_as="x")
    crossed = ScoringOutcome.from_bytes(outcome.to_bytes())
    assert crossed.cells == outcome.cells and crossed.outputs == outcome.outputs
    assert crossed.result == json.loads(json.dumps(outcome.result))
