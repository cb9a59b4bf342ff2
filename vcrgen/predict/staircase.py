"""A model's threshold with a fifth of the questions: each round of requests goes by the answers of those before.

Beside ``preds.jsonl``, which is not written, stand ``preds.ledger`` with every reply and ``preds.staircase.json`` with
what came of it. A killed run takes its replies from the ledger, so it comes to the same rounds and goes on. A whole run
into the same file, later, asks the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vcrgen.dataset.pictures import Choice, Pictures, open_pictures
from vcrgen.dataset.reader import Dataset
from vcrgen.files import write_json
from vcrgen.models.base import Model, Request, RequestProblem
from vcrgen.models.run import read_reply, send
from vcrgen.predict.job import Allowance, beside, ledger_of, spent_in
from vcrgen.predict.prompts import Prompt
from vcrgen.predict.report import VERSION, ReplyTally
from vcrgen.predict.run import run_into
from vcrgen.records import Reason
from vcrgen.stats.psychometric import Curve
from vcrgen.stats.staircase import Staircase
from vcrgen.work.watcher import Watcher

SHARE = 5  # one of so many questions is asked
SCHEMA = "vcrgen-staircase-1"

Question = tuple[int, str]
"""The number of a row, and its mode."""
Judge = Callable[[int, str, str], tuple[Sequence[float], Sequence[bool]]]
"""Of the number of a question, a mode and an output: of each text its visible ink, and whether it is restored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseResult:
    """What became of a staircase.

    Attributes:
        curve: The curve through the answers; None for a run that is not finished.
        asked: Questions at each level; in a run that is not finished, with those that lack replies.
        planned: Questions in all.
        missing: How many requests of the last round have no reply, by the reason.
        example: The first of them, and why; for people.
    """

    path: Path  # the file that says it
    model: str
    curve: Curve | None
    asked: Mapping[str, int]
    planned: int
    missing: Counter[str]
    example: str
    spent: ReplyTally  # all replies in the ledger


def find_threshold(
    dataset: Dataset,
    choice: Choice,
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
    watcher: Watcher | None = None,
) -> StaircaseResult:
    """Ask a model about a fifth of the pictures, where its threshold is.

    Args:
        dataset: The pictures.
        choice: Their view (one) and their split.
        levels: Of each mode the mean visible ink of its texts, rising.
        questions: How many there are; each is a row of every mode, in the same order.
        judge: Says what is right in an answer.
        signature: How the judge scores, for the result.
        out: Names the ledger and the result, as ``preds.jsonl`` does.
        model: What is asked.
        prompt: What is sent with a picture.
        seed: Of the order of the questions, and of the resamples of the interval.
        price: Of a million tokens that are read, and that are written.
        max_cost: When the replies in the ledger cost this, nothing more is sent.
        watcher: Told of the progress.

    Raises:
        DatasetError: The dataset is damaged.
        EndpointError: The server cannot be reached, or refuses.
        OutputError: The ledger is of another run, or cannot be written.
    """
    pictures = open_pictures(dataset, choice)
    facts = {"version": VERSION, "dataset": pictures.identity, **model.facts, **prompt.facts}
    watcher, modes = watcher or Watcher(), list(levels)
    total = max(len(modes), questions * len(modes) // SHARE)
    steps = Staircase(list(levels.values()), questions, total, seed=seed)
    target, problems = beside(out, ".staircase.json"), list[tuple[Question, RequestProblem]]()
    with run_into(out), ledger_of(out, facts) as ledger:
        spent = spent_in(ledger, price, out)
        allowance = Allowance(spent, max_cost, None)
        watcher.begin(steps.questions, 0)
        while not problems and (chosen := steps.round()):
            keys = dict[Question, str]()
            asked = _requests(pictures, [(row, modes[level]) for row, level in chosen], prompt, watcher)
            for question, key, outcome in send(asked, model, ledger, may_send=allowance):
                if isinstance(outcome, RequestProblem):
                    problems.append((question, outcome))
                    continue
                keys[question] = key
                watcher.advance(1, 1, Counter())
                if outcome is not None:
                    allowance.count(outcome)
            for row, mode in sorted(keys):
                steps.take(row, *judge(row, mode, read_reply(ledger, keys[row, mode]).text))
        problems.sort(key=lambda problem: problem[0])  # not in the order in which they came
        result = StaircaseResult(
            path=target, model=model.name, curve=None if problems or not steps.answered else steps.curve(seed=seed),
            asked=dict(zip(modes, steps.asked, strict=True)), planned=steps.questions, spent=spent,
            missing=Counter(problem.reason for _, problem in problems),
            example=next((f"question {row}, {mode}: {why.detail}" for (row, mode), why in problems), ""),
        )  # fmt: skip
        if result.curve is not None:
            write_json(target, {
                "schema": SCHEMA, "model": model.name, **facts, "view": choice.views[0].value, "split": choice.split,
                "seed": seed, "questions": steps.questions, "of": questions * len(modes), "score": signature,
                "levels": [{"mode": mode, "ink": ink, "asked": result.asked[mode]} for mode, ink in levels.items()],
                **result.curve.as_json(),
            })  # fmt: skip
    return result


def _requests(
    pictures: Pictures, questions: Sequence[Question], prompt: Prompt, watcher: Watcher
) -> Iterator[tuple[Question, Request]]:
    """The requests of a round. A picture that cannot be shown never gets a reply: the rounds go on without it."""
    by_mode = defaultdict[str, list[int]](list)
    for row, mode in questions:
        by_mode[mode].append(row)
    for mode, rows in by_mode.items():
        for row, picture in zip(sorted(rows), pictures.at(mode, rows), strict=True):
            if picture.problem:
                watcher.advance(1, 0, Counter({Reason.NO_IMAGE: 1}))
            else:
                yield (row, mode), prompt.request(picture)
