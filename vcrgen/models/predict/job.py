"""Outputs of a model that costs time or money: no request is repeated, and a run can be extended.

Two files accompany the outputs, ``preds.jsonl``:

    preds.ledger      a line for every reply, written before it counts; kept when the outputs are finished
    preds.run.json    settings and statistics of the run

A later run into the same file sends the requests that the ledger lacks, as for another view or mode, and rewrites the
file with all of them.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import Any

from vcrgen.core.errors import EndpointError, OutOfPatience, OutputError
from vcrgen.core.files import write_json
from vcrgen.core.folder import differences
from vcrgen.core.ledger import Ledger
from vcrgen.core.progress import ProgressListener
from vcrgen.data.pictures import PictureSelection
from vcrgen.data.reader import Dataset
from vcrgen.data.views import View
from vcrgen.models.base import Model, Reply, ReplyOutcome, RequestProblem
from vcrgen.models.predict.prompts import Prompt
from vcrgen.models.predict.questions import open_selection
from vcrgen.models.predict.report import VERSION, ReplyTally, run_report
from vcrgen.models.predict.run import OutputLine, PictureRun, guard_output, write_outputs
from vcrgen.models.run import open_replies, read_reply, reply_ids, unusable_usage

_PLAN, _CHOICE = "settings of the run", "choice "  # keys of a ledger; those of replies have no space


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The result of a run.

    Attributes:
        path: File of outputs.
        finished: Whether the file was written.
        total: Selected pictures.
        missing: Pictures without a reply, by reason.
        refused: Pictures whose requests the server refuses; they are not sent again by themselves.
        example: The first problem, for people.
        tally: Statistics of the replies in the file, or of those that an unfinished run has for it.
        spent: Statistics of all replies in the ledger.
    """

    path: Path
    finished: bool
    model: str
    total: int
    missing: Counter[str]
    refused: int
    example: str
    tally: ReplyTally
    spent: ReplyTally


def predict(
    dataset: Dataset,
    choice: PictureSelection,
    *,
    out: Path,
    model: Model,
    prompt: Prompt,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    allow_failed: bool = False,
    retry_refused: bool = False,
    listener: ProgressListener | None = None,
) -> JobResult:
    """Send the requests about a dataset that have no reply yet, and write the outputs.

    Args:
        choice: The selected pictures or questions.
        out: JSON Lines; new, or of an earlier run with the same model, dataset and parameters.
        price: Prices of a million tokens, read and written.
        max_cost: Send nothing more when the replies in the ledger cost this.
        allow_failed: Write the outputs in spite of missing replies, whatever ends the run.
        retry_refused: Send requests again that the server refused.

    Raises:
        DatasetError: The dataset is damaged.
        EndpointError: The server cannot be reached, or refuses.
        OutputError: The file is of another run, or cannot be written.
    """
    pictures = open_selection(dataset, choice, answers=prompt.answer_logprobs)
    facts = {"version": VERSION, "dataset": pictures.identity, **model.facts, **prompt.facts}
    listener = listener or ProgressListener()
    with guard_output(out), open_ledger(out, facts, listener) as ledger:
        spent = read_usage(ledger, price, out)
        budget = Budget(spent, max_cost, listener)
        begin = partial(PictureRun, pictures, prompt.request, ledger)
        run = _ask(begin, model, budget, allow_failed=allow_failed, retry_refused=retry_refused, listener=listener)
        finished = bool(run.lines) and (allow_failed or not run.rejected)
        tally = ReplyTally(price)
        replies: Iterable[Reply] = (read_reply(ledger, key) for _, key in run.lines)
        if finished:
            replies = _write_lines(run, dataset, choice, prompt, ledger, out, model.name)
        for reply in replies:
            tally.add(reply)
        tally.retries.update(run.retries)
        choices = [asdict(earlier) for earlier in _choices(ledger, out, type(choice))]
        report = run_report(
            facts, choices, tally, finished=finished, pictures=pictures.total, missing=run.reasons, prompt=run.prompt
        )
        write_json(sibling(out, ".run.json"), report)
    return JobResult(
        path=out,
        finished=finished,
        model=model.name,
        total=pictures.total,
        missing=run.reasons,
        refused=run.refused,
        example=run.example,
        tally=tally,
        spent=spent,
    )


def _ask(
    begin: Callable[[], PictureRun],
    model: Model,
    budget: Budget,
    *,
    allow_failed: bool,
    retry_refused: bool,
    listener: ProgressListener,
) -> PictureRun:
    """Send what is missing, until all have a reply or the server ends it.

    Then the run goes on offline, if the user's patience was over, or with `allow_failed` once there is a reply.
    """
    run = begin()
    try:
        run.ask(model, listener, may_send=budget, retry_refused=retry_refused, on_outcome=budget.count)
    except EndpointError as error:
        if not isinstance(error, OutOfPatience) and not (allow_failed and budget.replies):
            raise
        listener.warn(str(error))
        run = begin()
        run.ask(model, ProgressListener(), may_send=lambda: False)
    return run


class Budget:
    """A limit of cost; true as long as another request may be sent. The progress shows what was spent."""

    def __init__(self, spent: ReplyTally, max_cost: float | None, listener: ProgressListener) -> None:
        self._spent, self._max_cost, self._listener = spent, max_cost, listener
        listener.note(spent.spending)

    def __call__(self) -> bool:
        """Return whether the next request may be sent."""
        return self._max_cost is None or (self._spent.cost or 0.0) < self._max_cost

    @property
    def replies(self) -> int:
        """Replies that the ledger holds, also of earlier runs."""
        return self._spent.replies

    def count(self, outcome: Reply | RequestProblem) -> None:
        """Add the cost of a new reply, or of unusable ones."""
        if isinstance(outcome, RequestProblem):
            self._spent.add_unusable(outcome.usage)
        elif self._max_cost is not None and not outcome.usage and outcome.outcome == ReplyOutcome.ANSWERED:
            raise EndpointError(
                "The server does not say how many tokens a reply took, so --max-cost cannot be kept; leave it out."
            )
        else:
            self._spent.add(outcome)
        self._listener.note(self._spent.spending)


def sibling(out: Path, end: str) -> Path:
    """File beside a file of outputs with another suffix."""
    return out.with_name(out.stem + end)


@contextmanager
def open_ledger(out: Path, facts: Mapping[str, Any], listener: ProgressListener) -> Iterator[Ledger]:
    """Open the ledger of a file of outputs under a lock; an empty one is removed.

    Raises:
        OutputError: It is of another run, or the file of outputs has none.
    """
    file = sibling(out, ".ledger")
    if out.is_dir() or file == out:
        raise OutputError(f"{out} is no name for a file of outputs; choose another --out, as preds.jsonl.")
    with open_replies(file, listener, remedy="choose another --out") as ledger:
        if len(ledger) and _PLAN not in ledger:
            raise OutputError(f"{file} is not the ledger of a run; choose another --out, or move that file.")
        # The line that tells that the file is of this ledger may be a damaged one.
        if out.exists() and not any(key.startswith(_CHOICE) for key in ledger) and not ledger.damaged:
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


def _damaged(out: Path) -> OutputError:
    return OutputError(f"{sibling(out, '.ledger')} is damaged; remove it, or choose another --out.")


def read_usage(ledger: Ledger, price: tuple[float, float] | None, out: Path) -> ReplyTally:
    """Count all replies in the ledger; an OutputError if one is damaged."""
    spent = ReplyTally(price)
    for key in reply_ids(ledger):
        try:
            spent.add(Reply.from_json(ledger[key]))
        except ValueError:
            raise _damaged(out) from None
    spent.add_unusable(unusable_usage(ledger))
    return spent


def _choices(ledger: Ledger, out: Path, kind: type[PictureSelection]) -> list[PictureSelection]:
    """Read the selections whose pictures are in the file of outputs."""
    choices: list[PictureSelection] = []
    for values in (ledger[key] for key in ledger if key.startswith(_CHOICE)):
        try:
            choices.append(kind(**{**values, "views": tuple(View(view) for view in values["views"])}))
        except (TypeError, KeyError, ValueError):
            raise _damaged(out) from None
    return choices


def _write_lines(
    run: PictureRun, dataset: Dataset, choice: PictureSelection, prompt: Prompt, ledger: Ledger, out: Path, name: str
) -> Iterable[Reply]:
    """Write the outputs of this choice and of earlier ones that it does not include; return their replies."""
    earlier = _choices(ledger, out, type(choice))
    if choice not in earlier:
        ledger.add(next(key for n in count() if (key := f"{_CHOICE}{n}") not in ledger), asdict(choice))
    others = [other for other in earlier if not choice.includes(other)]
    lines = _merged(dataset, [choice, *others], prompt, ledger) if others else run.lines
    return write_outputs(out, lines, ledger, name)


def _merged(
    dataset: Dataset, choices: Iterable[PictureSelection], prompt: Prompt, ledger: Ledger
) -> Iterator[tuple[OutputLine, str]]:
    """Yield the pictures of several selections that have replies, once each, in the dataset's order."""
    streams = [open_selection(dataset, choice, answers=prompt.answer_logprobs).stream() for choice in choices]
    for _, same in groupby(heapq.merge(*streams, key=lambda picture: picture.place), lambda picture: picture.place):
        picture = next(same)
        with suppress(RequestProblem):
            if not picture.problem and (key := prompt.request(picture).id) in ledger:
                yield OutputLine.of(picture), key
