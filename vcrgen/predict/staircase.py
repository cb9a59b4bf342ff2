"""An adaptive estimate of a model's threshold with a fifth of the questions.

Each round of requests depends on the answers before. ``preds.ledger`` holds every reply, ``preds.staircase.json`` the
result. A killed run repeats its rounds from the ledger; a later full run into the same file sends the other requests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vcrgen.dataset.pictures import Pictures, PictureSelection, open_pictures
from vcrgen.dataset.reader import Dataset
from vcrgen.files import write_json
from vcrgen.models.base import Model, Request, RequestProblem
from vcrgen.models.run import read_reply, send
from vcrgen.predict.job import Budget, open_ledger, read_usage, sibling
from vcrgen.predict.prompts import Prompt
from vcrgen.predict.report import VERSION, ReplyTally
from vcrgen.predict.run import guard_output
from vcrgen.records import RejectReason
from vcrgen.stats.psychometric import Curve
from vcrgen.stats.staircase import Staircase
from vcrgen.work.ledger import Ledger
from vcrgen.work.progress import ProgressListener

SHARE = 5  # 1 in 5 questions is sent
SCHEMA = "vcrgen-staircase-1"

Question = tuple[int, str]
"""The number of a row, and its mode."""
Judge = Callable[[int, str, str], tuple[Sequence[float], Sequence[bool]]]
"""Returns visible ink and exact match of each span, for a question's number, a mode and an output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseResult:
    """The result of a staircase.

    Attributes:
        path: File of the result.
        curve: The psychometric function; None for an unfinished run.
        asked: Questions at each level, with unanswered ones.
        planned: Number of questions in all.
        missing: Requests of the last round without a reply, by reason.
        example: The first problem, for people.
    """

    path: Path
    model: str
    curve: Curve | None
    asked: Mapping[str, int]
    planned: int
    missing: Counter[str]
    example: str
    spent: ReplyTally  # all replies in the ledger


def find_threshold(
    dataset: Dataset,
    choice: PictureSelection,
    *,
    levels: Mapping[str, float],
    questions: int,
    judge: Judge,
    signature: str,
    out: Path,
    model: Model,
    prompt: Prompt,
    seed: int = 0,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    listener: ProgressListener | None = None,
) -> StaircaseResult:
    """Estimate a model's threshold by an adaptive staircase over a fifth of the questions.

    Args:
        dataset: The dataset.
        choice: Its split and one view.
        levels: Mean visible ink of each mode, rising.
        questions: Number of questions; each is a row of every mode, in the same order.
        judge: Scores an answer.
        signature: Signature of the scores.
        out: As ``preds.jsonl``; names the ledger and the result.
        model: The model.
        prompt: The prompt.
        seed: Seed of the order of the questions and of the bootstrap.
        price: Prices of a million tokens, read and written.
        max_cost: Send nothing more when the replies in the ledger cost this.
        listener: Receives the progress.

    Raises:
        DatasetError: The dataset is damaged.
        EndpointError: The server cannot be reached, or refuses.
        OutputError: The ledger is of another run, or cannot be written.
    """
    pictures = open_pictures(dataset, choice)
    facts = {"version": VERSION, "dataset": pictures.identity, **model.facts, **prompt.facts}
    listener, modes = listener or ProgressListener(), list(levels)
    total = max(len(modes), questions * len(modes) // SHARE)
    steps = Staircase(list(levels.values()), questions, total, seed=seed)
    target, problems = sibling(out, ".staircase.json"), list[tuple[Question, RequestProblem]]()
    with guard_output(out), open_ledger(out, facts, listener) as ledger:
        spent = read_usage(ledger, price, out)
        budget = Budget(spent, max_cost, listener)
        listener.begin(steps.questions, 0)
        while not problems and (chosen := steps.round()):
            requests = _requests(pictures, [(row, modes[level]) for row, level in chosen], prompt, listener)
            keys, problems = _send_round(requests, model, ledger, budget, listener)
            for row, mode in sorted(keys):
                steps.take(row, *judge(row, mode, read_reply(ledger, keys[row, mode]).text))
        result = _result(target, model.name, steps, modes, problems, spent, seed)
        if result.curve is not None:
            asked = [{"mode": mode, "ink": ink, "asked": result.asked[mode]} for mode, ink in levels.items()]
            sizes = {"seed": seed, "questions": steps.questions, "of": questions * len(modes), "score": signature}
            settings = {"model": model.name, **facts, "view": choice.views[0].value, "split": choice.split, **sizes}
            write_json(target, {"schema": SCHEMA, **settings, "levels": asked, **result.curve.as_json()})
    return result


def _result(
    path: Path,
    name: str,
    steps: Staircase,
    modes: Sequence[str],
    problems: list[tuple[Question, RequestProblem]],
    spent: ReplyTally,
    seed: int,
) -> StaircaseResult:
    """Return the result of a run that has ended; problems are in the order of the questions, not of the replies."""
    problems = sorted(problems, key=lambda problem: problem[0])
    return StaircaseResult(
        path=path,
        model=name,
        curve=None if problems or not steps.answered else steps.curve(seed=seed),
        asked=dict(zip(modes, steps.asked, strict=True)),
        planned=steps.questions,
        spent=spent,
        missing=Counter(problem.reason for _, problem in problems),
        example=next((f"question {row}, {mode}: {why.detail}" for (row, mode), why in problems), ""),
    )


def _send_round(
    requests: Iterator[tuple[Question, Request]],
    model: Model,
    ledger: Ledger,
    budget: Budget,
    listener: ProgressListener,
) -> tuple[dict[Question, str], list[tuple[Question, RequestProblem]]]:
    """Send the requests of a round; return the keys of the replies and the problems by question."""
    keys, problems = dict[Question, str](), list[tuple[Question, RequestProblem]]()
    for question, key, outcome in send(requests, model, ledger, may_send=budget, retry_refused=True, listener=listener):
        if isinstance(outcome, RequestProblem):
            problems.append((question, outcome))
            budget.count(outcome)
            continue
        keys[question] = key
        listener.advance(1, 1, Counter())
        if outcome is not None:
            budget.count(outcome)
    return keys, problems


def _requests(
    pictures: Pictures, questions: Sequence[Question], prompt: Prompt, listener: ProgressListener
) -> Iterator[tuple[Question, Request]]:
    """Yield the requests of a round, without pictures that cannot be shown."""
    by_mode = defaultdict[str, list[int]](list)
    for row, mode in questions:
        by_mode[mode].append(row)
    for mode, rows in by_mode.items():
        for row, picture in zip(sorted(rows), pictures.at(mode, rows), strict=True):
            if picture.problem:
                listener.advance(1, 0, Counter({RejectReason.NO_IMAGE: 1}))
            else:
                yield (row, mode), prompt.request(picture)
