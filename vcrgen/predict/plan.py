"""The plan of a run: requests, tokens, cost and time, estimated from a few replies of the same selection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vcrgen.dataset.pictures import PictureSelection
from vcrgen.dataset.reader import Dataset
from vcrgen.models.base import Model, Reply, Request, RequestProblem
from vcrgen.models.run import is_refused, read_reply, send
from vcrgen.predict.job import Budget, open_ledger, read_usage
from vcrgen.predict.prompts import Prompt
from vcrgen.predict.questions import open_selection
from vcrgen.predict.report import VERSION, ReplyTally
from vcrgen.predict.run import guard_output
from vcrgen.work.ledger import Ledger
from vcrgen.work.progress import SILENT, ProgressListener

PLAN_REQUESTS = 5


class Range(NamedTuple):
    """An estimate with its lowest and highest value."""

    mean: float
    lowest: float
    highest: float

    def __add__(self, other: Range) -> Range:  # type: ignore[override]
        """Return the sum of two estimates."""
        return Range(*(one + two for one, two in zip(self, other, strict=True)))

    def times(self, factor: float) -> Range:
        """Return the estimate of so many."""
        return Range(*(factor * value for value in self))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A plan.

    Attributes:
        requests: Different requests of the selection; those that cannot be made are left out.
        left: Those without a reply, refused ones left out.
        calls: Calls that a server gets for these.
        sampled: Replies that the estimate is based on.
        tokens: Tokens of these requests by kind, ``input`` and ``output``.
        seconds: Seconds of these requests, one after another.
        spent: Statistics of all replies in the ledger.
        example: The first problem, for people.
    """

    requests: int
    left: int
    calls: int
    sampled: int
    tokens: dict[str, Range]
    seconds: float
    spent: ReplyTally
    example: str


class _Kind(NamedTuple):
    """Requests that cost alike."""

    calls: int
    images: int
    view: str


@dataclass(slots=True)
class _Selection:
    """The different requests of a selection, by their ids, in the dataset's order."""

    kinds: dict[str, _Kind] = field(default_factory=dict)
    example: str = ""

    def left(self, ledger: Ledger) -> dict[_Kind, list[str]]:
        """Return the requests that are left to send, by kind."""
        found = defaultdict[_Kind, list[str]](list)
        for key, kind in self.kinds.items():
            if key not in ledger and not is_refused(ledger, key):
                found[kind].append(key)
        return found


def plan(
    dataset: Dataset,
    choice: PictureSelection,
    *,
    out: Path,
    model: Model,
    prompt: Prompt,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    listener: ProgressListener = SILENT,
) -> RunPlan:
    """Send :data:`PLAN_REQUESTS` requests, spread evenly over the selection, and estimate the others by their replies.

    The replies are kept; a run sends the rest. The arguments are those of :func:`vcrgen.predict.job.predict`.
    """
    pictures = open_selection(dataset, choice, answers=prompt.answer_logprobs)
    facts = {"version": VERSION, "dataset": pictures.identity, **model.facts, **prompt.facts}

    def requests() -> Iterator[tuple[str, Request]]:
        for picture in pictures.stream():
            try:
                if not picture.problem:
                    yield picture.view.value, prompt.request(picture)
            except RequestProblem as problem:
                selection.example = selection.example or f"{picture.question_id}: {problem.detail}"

    selection = _Selection()
    with guard_output(out), open_ledger(out, facts, listener) as ledger:
        spent = read_usage(ledger, price, out)
        budget = Budget(spent, max_cost)
        for view, request in requests():
            selection.kinds.setdefault(request.id, _Kind(request.calls, len(request.images), view))
        chosen = _spread(selection.left(ledger))
        wanted = ((view, request) for view, request in requests() if request.id in chosen)
        listener.begin(len(chosen), 0)
        for _, _, outcome in send(wanted, model, ledger, may_send=budget, listener=listener):
            if isinstance(outcome, RequestProblem):
                selection.example = selection.example or outcome.detail
            if outcome is not None:
                budget.count(outcome)
                listener.advance(1, isinstance(outcome, Reply), Counter())
        return _estimate(selection, ledger, spent)


def _spread(left: dict[_Kind, list[str]]) -> set[str]:
    """Choose requests that are evenly spaced, with one of each kind at least."""
    ordered = [key for keys in left.values() for key in keys]
    count = min(PLAN_REQUESTS, len(ordered))
    chosen = {ordered[(2 * number + 1) * len(ordered) // (2 * count)] for number in range(count)}
    return chosen | {keys[len(keys) // 2] for keys in left.values() if chosen.isdisjoint(keys)}


def _estimate(selection: _Selection, ledger: Ledger, spent: ReplyTally) -> RunPlan:
    """Estimate the requests that are left by the replies of the selection, kind by kind."""
    replies = defaultdict[_Kind, list[Reply]](list)
    for key, kind in selection.kinds.items():
        if key in ledger:
            replies[kind].append(read_reply(ledger, key))
    everything = [reply for kind in replies.values() for reply in kind]
    left = selection.left(ledger)
    tokens, seconds = {name: Range(0, 0, 0) for name in ("input", "output")}, 0.0
    for kind, keys in left.items():
        known = replies[kind] or everything
        for name in tokens:
            tokens[name] += _mean([_tokens(reply, name) for reply in known]).times(len(keys))
        seconds += _mean([reply.seconds for reply in known]).mean * len(keys)
    return RunPlan(
        requests=len(selection.kinds),
        left=sum(map(len, left.values())),
        sampled=len(everything),
        tokens=tokens,
        calls=sum(kind.calls * len(keys) for kind, keys in left.items()),
        seconds=seconds,
        spent=spent,
        example=selection.example,
    )


def _tokens(reply: Reply, kind: str) -> int:
    """Return the tokens of a reply with those of unusable replies before it."""
    return reply.usage.get(kind, 0) + reply.extra_usage.get("unusable", {}).get(kind, 0)


def _mean(values: Sequence[float]) -> Range:
    return Range(sum(values) / len(values), min(values), max(values)) if values else Range(0, 0, 0)
