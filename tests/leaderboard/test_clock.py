"""Neither work nor moments tell in which split of a hidden set a question is."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import SET, Drain, Facts, Find, Submit
from vcrgen.leaderboard import scoring
from vcrgen.leaderboard import worker as workers
from vcrgen.leaderboard.api import as_json
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.closing import long_files
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.scoring import ScoringOutcome, check_file, score_file, session_of
from vcrgen.leaderboard.store.models import model_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.worker import Worker
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.scorer import Scorer

SPLITS = ("feedback", "final")
HEAVY = "a<think></think>" * 500


def write(folder: Path, key: AnswerKey, outputs: dict[str, str], *, other: str = "nothing") -> Path:
    """A complete file with some outputs by id, and one for all other questions."""
    rows = [
        {"question_id": each.question_id, "view": "stacked", "output": outputs.get(each.question_id, other)}
        for each in key.questions
    ]
    file = folder / "outputs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def scored(board: Board, file: Path) -> Any:
    (one,) = (each for each in board.sets if each.name == SET)
    split, view = one.lifecycle.split, one.lifecycle.view
    return score_file(
        session_of(one),
        file,
        shown_as="x",
        split_session=session_of(one, split, view),
        other_splits=[session_of(one, other, view) for other in one.lifecycle.splits if other != split],
    )


def test_every_question_is_read_as_often_whatever_its_split(
    stepped: Board, hidden_key: AnswerKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long output in the feedback split took nearly twice as long as in the final split."""
    (one,) = (each for each in stepped.sets if each.name == SET)
    read = Counter[str]()
    real = Scorer.__call__

    def noting(self: Scorer, answers: Sequence[str], output: str, *, failed: bool = False) -> Any:
        read[output] += 1
        return real(self, answers, output, failed=failed)

    monkeypatch.setattr(Scorer, "__call__", noting)
    assert one.lifecycle.split == "feedback"
    for question in hidden_key.questions:
        read.clear()
        assert not scored(stepped, write(tmp_path, hidden_key, {question.question_id: HEAVY})).problems
        assert read == {HEAVY: 1, "nothing": len(hidden_key.questions) - 1}, question.part


def test_the_service_scores_all_splits(stepped: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = (each for each in stepped.sets if each.name == SET)
    task = scoring.ScoringTask(set=one, file=Path("none"), shown_as="x", split="feedback", memory=1 << 30)
    called: list[dict[str, Any]] = []
    monkeypatch.setattr(scoring, "score_file", lambda *_, **options: called.append(options) or ScoringOutcome())
    monkeypatch.setattr(scoring, "limit_memory", lambda _: None)
    monkeypatch.setattr(scoring.signal, "signal", lambda *_: None)
    monkeypatch.setattr(scoring, "_die_with", lambda _: None)
    ours, theirs = scoring.mp.get_context().Pipe(duplex=False)
    scoring._subprocess_main(task, theirs, 0)
    assert ours.recv_bytes()
    (options,) = called
    assert [each.options.subset for each in (options["split_session"], *options["other_splits"])] == [*SPLITS]


def test_an_output_that_is_not_read_to_its_end_is_refused(
    stepped: Board, hidden_key: AnswerKey, tmp_path: Path
) -> None:
    (one,) = (each for each in stepped.sets if each.name == SET)
    for part in SPLITS:
        question = next(each for each in hidden_key.questions if each.part == part)
        fits = write(tmp_path, hidden_key, {question.question_id: "a" * LONGEST_OUTPUT})
        assert not scored(stepped, fits).problems
        file = write(tmp_path, hidden_key, {question.question_id: "a" * (LONGEST_OUTPUT + 1)})
        (problem,) = scored(stepped, file).problems
        assert problem.startswith("Outputs of more than 100,000 characters: 1 (line ")
        assert check_file(session_of(one), file, shown_as="x", view="stacked") == (problem,)


@pytest.mark.parametrize(("took", "left"), [(0, 60), (1.5, 58.5), (59, 1), (61, 59), (150, 30), (-86400, 60)])
def test_a_ladder_answers_at_fixed_moments(
    stepped: Board,
    hidden_key: AnswerKey,
    tmp_path: Path,
    submit: Submit,
    facts: Facts,
    find: Find,
    monkeypatch: pytest.MonkeyPatch,
    took: float,
    left: float,
) -> None:
    """Whatever scoring takes, also with a clock that went back by a day."""
    one = submit(stepped, write(tmp_path, hidden_key, {}), facts("M"), set_name=SET, limited=True)
    monkeypatch.setattr(workers, "now", lambda: one.received + timedelta(seconds=took))
    clock = [1000.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(workers, "score_in_subprocess", lambda *_, **__: scored(stepped, stepped.vault.path(one.file)))
    worker = Worker(stepped, say=lambda *_, **__: None, holds=True)
    with worker.exclusive(wait=1):
        assert worker.score_next()
        clock[0] += left - 0.1
        worker.finish_due()
        assert find(stepped, one.id).status is SubmissionStatus.SCORING
        clock[0] += 0.2
        worker.finish_due()
        assert find(stepped, one.id).status is SubmissionStatus.SCORED


def test_what_is_held_waits_again_when_the_worker_stops(
    stepped: Board, hidden_key: AnswerKey, tmp_path: Path, submit: Submit, facts: Facts, find: Find, drain: Drain
) -> None:
    one = submit(stepped, write(tmp_path, hidden_key, {}), facts("M"), set_name=SET, limited=True)
    worker = Worker(stepped, say=lambda *_, **__: None, holds=True)
    with worker.exclusive(wait=1):
        assert worker.score_next()
        worker.put_back()
    assert find(stepped, one.id).status is SubmissionStatus.QUEUED and drain(stepped) == 1


def test_moments_are_shown_by_the_minute(
    stepped: Board, submit: Submit, hidden_key: AnswerKey, tmp_path: Path, facts: Facts, find: Find, drain: Drain
) -> None:
    one = submit(stepped, write(tmp_path, hidden_key, {}), facts("M"), set_name=SET)
    drain(stepped)
    said = as_json(find(stepped, one.id), [], None)
    for name in ("received", "finished"):
        at = datetime.fromisoformat(said[name])
        assert at.tzinfo == UTC and (at.second, at.microsecond) == (0, 0)


def test_the_length_ratio_is_of_the_whole_set_and_long_files_are_named(
    stepped: Board, hidden_key: AnswerKey, tmp_path: Path, submit: Submit, facts: Facts, drain: Drain
) -> None:
    answers = sum(len(text) for question in hidden_key.questions for text in question.answers)
    ratios = []
    for part in SPLITS:
        question = next(each for each in hidden_key.questions if each.part == part)
        file = write(tmp_path, hidden_key, {question.question_id: "word " * answers}, other="")
        submit(stepped, file, facts(f"Long {part}"), set_name=SET)
        drain(stepped)
    honest = {each.question_id: "\n".join(each.answers) for each in hidden_key.questions}
    submit(stepped, write(tmp_path, hidden_key, honest), facts("Honest"), set_name=SET)
    drain(stepped)
    with stepped.reading() as connection:
        board = BoardReader(stepped.settings, connection)
        pages = [model_page(board, facts(name).entry) for name in ("Long feedback", "Long final", "Honest")]
        ratios = [page.runs[0].length_ratio for page in pages if page is not None]
    assert ratios[0] == ratios[1] == 5.0 and 1.0 <= ratios[2] < 1.2
    assert sorted(long_files(stepped, SET)) == [("Long feedback", 5.0), ("Long final", 5.0)]
