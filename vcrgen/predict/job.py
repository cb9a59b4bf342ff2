"""Outputs of a model that costs time or money: nothing that was answered is asked again, and a run can be extended.

Beside the outputs, ``preds.jsonl``, stand

    preds.ledger      every reply, a line each: written before it counts, kept when the outputs are finished
    preds.run.json    what was asked of whom, and what came of it

A later run into the same file asks what the ledger does not hold: the rest after ``--limit``, another view or mode. The
file has all of it then.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from vcrgen.dataset.pictures import Choice
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.views import View
from vcrgen.errors import EndpointError, OutputError
from vcrgen.files import write_json
from vcrgen.models.base import Model, Reply, ReplyOutcome, RequestProblem
from vcrgen.models.run import read_reply
from vcrgen.predict.prompts import Prompt
from vcrgen.predict.questions import open_chosen
from vcrgen.predict.report import VERSION, ReplyTally, report_of
from vcrgen.predict.run import OutputLine, PictureRun, run_into, write_outputs
from vcrgen.work.folder import differences
from vcrgen.work.ledger import Ledger
from vcrgen.work.lock import locked
from vcrgen.work.watcher import Watcher

PLAN_CALLS = 5
_PLAN, _CHOICE = "plan", "choice "  # keys of a ledger that are not those of replies


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What became of a run.

    Attributes:
        asked: Pictures that the run was about.
        missing: How many of them have no reply, by the reason.
        left: Requests that have no reply; several pictures may share one.
        example: The first of them, and why; for people.
        tally: Of the replies in the file or, of a run that is not finished, of those that the file would have.
        spent: Of all replies in the ledger.
    """

    path: Path  # the file of outputs
    finished: bool  # whether the file was written
    model: str
    asked: int
    missing: Counter[str]
    left: int
    example: str
    tally: ReplyTally
    spent: ReplyTally


def predict(
    dataset: Dataset,
    choice: Choice,
    *,
    out: Path,
    model: Model,
    prompt: Prompt,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    plan: bool = False,
    allow_failed: bool = False,
    watcher: Watcher | None = None,
) -> JobResult:
    """Ask a model about the pictures of a dataset that it was not asked about yet, and write its outputs.

    Args:
        dataset: The pictures.
        choice: Which of them.
        out: JSON Lines; a new file, or one that an earlier run of the same model, dataset and parameters wrote.
        model: What is asked.
        prompt: What is sent with a picture.
        price: Of a million tokens that are read, and that are written.
        max_cost: When the replies in the ledger cost this, nothing more is sent.
        plan: Send :data:`PLAN_CALLS` requests and write no outputs.
        allow_failed: Write the outputs even if pictures have no reply.
        watcher: Told of the progress.

    Raises:
        DatasetError: The dataset is damaged.
        EndpointError: The server cannot be reached, or refuses.
        OutputError: The file is of another run, or cannot be written.
    """
    pictures = open_chosen(dataset, choice, answers=prompt.answers)
    facts = {"version": VERSION, "dataset": pictures.identity, **model.facts, **prompt.facts}
    with run_into(out), ledger_of(out, facts) as ledger:
        spent = spent_in(ledger, price, out)
        run = PictureRun(pictures, prompt.request, ledger)
        may_send = Allowance(spent, max_cost, PLAN_CALLS if plan else None)
        run.ask(model, watcher or Watcher(), may_send=may_send, on_reply=may_send.count)
        finished = not plan and bool(run.lines) and (allow_failed or not run.aside)
        tally = ReplyTally(price)
        replies: Iterable[Reply] = (read_reply(ledger, key) for _, key in run.lines)
        if finished:
            earlier = _choices(ledger, out, type(choice))
            if choice not in earlier:
                ledger.add(f"{_CHOICE}{len(earlier)}", asdict(choice))
            others = [other for other in earlier if not choice.holds(other)]
            lines = _merged(dataset, [choice, *others], prompt, ledger) if others else run.lines
            replies = write_outputs(out, lines, ledger, model.name)
        for reply in replies:
            tally.add(reply)
        tally.retries.update(run.retries)
        choices = [asdict(each) for each in _choices(ledger, out, type(choice))]
        report = report_of(facts, choices, tally, finished=finished, pictures=pictures.total, missing=run.reasons)
        write_json(beside(out, ".run.json"), report)
    return JobResult(
        path=out, finished=finished, model=model.name, asked=pictures.total, missing=run.reasons,
        left=len(run.unanswered), example=run.example, tally=tally, spent=spent,
    )  # fmt: skip


class Allowance:
    """Whether another request may be sent."""

    def __init__(self, spent: ReplyTally, max_cost: float | None, calls: int | None) -> None:
        self._spent, self._max_cost, self._calls = spent, max_cost, calls

    def __call__(self) -> bool:
        """Ask for the next one."""
        if self._max_cost is not None and (self._spent.cost or 0.0) >= self._max_cost:
            return False
        if self._calls is not None:  # it is asked once for each request
            self._calls -= 1
            return self._calls >= 0
        return True

    def count(self, reply: Reply) -> None:
        """Count what a new reply costs."""
        if self._max_cost is not None and not reply.usage and reply.outcome == ReplyOutcome.ANSWERED:
            raise EndpointError(
                "The server does not say how many tokens a reply took, so --max-cost cannot be kept; leave it out."
            )
        self._spent.add(reply)


def beside(out: Path, end: str) -> Path:
    """The file beside a file of outputs that has its name with another end."""
    return out.with_name(out.stem + end)


@contextmanager
def ledger_of(out: Path, facts: Mapping[str, Any]) -> Iterator[Ledger]:
    """The ledger beside a file of outputs, kept from other processes; gone if it holds no reply.

    Raises:
        OutputError: It is of another run, or the file of outputs has none.
    """
    file = beside(out, ".ledger")
    if out.is_dir() or file == out:
        raise OutputError(f"{out} is no name for a file of outputs; choose another --out, as preds.jsonl.")
    busy = OutputError(f"Another run is writing to {out}; wait for it or choose another --out.")
    with locked(out.with_name(f".{out.name}.lock"), busy):
        _check_ledger(file)
        with Ledger(file) as ledger:
            if out.exists() and f"{_CHOICE}0" not in ledger:
                raise OutputError(f"{out} is there already; choose another --out, or remove it.")
            if len(ledger) == 1:  # of a run that got no reply
                ledger.clear()
            if _PLAN not in ledger:
                ledger.add(_PLAN, facts)
            there = ledger[_PLAN]
            if there != facts:
                what = f"{out} is of another run ({differences(there, facts)})"
                raise OutputError(f"{what}; choose another --out, or remove {file}.")
            try:
                yield ledger
            finally:
                if len(ledger) == 1:
                    ledger.clear()


def _check_ledger(file: Path) -> None:
    """See that a file is a ledger of these runs before it is opened as one, which cuts off what is damaged."""
    start = f'{{"key": "{_PLAN}", "value": '.encode()
    if file.exists():
        with file.open("rb") as handle:
            if not start.startswith(handle.read(len(start))):
                raise OutputError(f"{file} is not the ledger of a run; choose another --out, or move that file.")


def _damaged(out: Path) -> OutputError:
    return OutputError(f"{beside(out, '.ledger')} is damaged; remove it, or choose another --out.")


def spent_in(ledger: Ledger, price: tuple[float, float] | None, out: Path) -> ReplyTally:
    """What all replies in the ledger were; an OutputError where somebody changed one."""
    spent = ReplyTally(price)
    for key, value in ledger.items():
        if key != _PLAN and not key.startswith(_CHOICE):
            try:
                spent.add(Reply.from_json(value))
            except (TypeError, AttributeError, ValueError):
                raise _damaged(out) from None
    return spent


def _choices(ledger: Ledger, out: Path, kind: type[Choice]) -> list[Choice]:
    """The choices whose pictures are in the file of outputs."""
    found: list[Choice] = []
    while (key := f"{_CHOICE}{len(found)}") in ledger:
        values = ledger[key]
        try:
            found.append(kind(**{**values, "views": tuple(View(view) for view in values["views"])}))
        except (TypeError, KeyError, ValueError):
            raise _damaged(out) from None
    return found


def _merged(
    dataset: Dataset, choices: Iterable[Choice], prompt: Prompt, ledger: Ledger
) -> Iterator[tuple[OutputLine, str]]:
    """The pictures of several choices that have replies, in the dataset's order; each comes once."""
    streams = [open_chosen(dataset, choice, answers=prompt.answers).stream() for choice in choices]
    for _, same in groupby(heapq.merge(*streams, key=lambda picture: picture.place), lambda picture: picture.place):
        picture = next(same)
        with suppress(RequestProblem):
            if not picture.problem and (key := prompt.request(picture).id) in ledger:
                yield OutputLine.of(picture), key
