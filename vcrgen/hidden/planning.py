"""Plans of a set's pairs, made in this process or ahead in several.

What is decided of a pair hangs on its number in the set, and so on how many before it are rejected. Processes plan the
next candidates as if none were; those behind one that is rejected are planned again.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from vcrgen.builder.options import BuildConfig
from vcrgen.core.processes import process_pool
from vcrgen.core.records import Item, Reject, RejectReason, Span
from vcrgen.hidden.forms import FormBuilder, PlannedItem
from vcrgen.hidden.near import Bits
from vcrgen.hidden.secret import Secret

AHEAD = 2  # candidates for each process, so that none waits
ADVICE = "what it had finished is kept: run the same command again to go on, with fewer --workers if memory was short"

Plans: TypeAlias = list[PlannedItem] | RejectReason
"""The plans of a pair, one for each form that has it; or the reason why it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A pair to plan."""

    item: Item
    number: int  # of the pair in the set


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A pair in the secret order whose plans are made ahead."""

    read: int  # pairs read up to it
    item: Item
    picture: Bits | None  # hash of its picture; None if that cannot be decoded
    refusal: RejectReason | None  # known without a plan
    number: int = -1  # for which it is planned
    plans: Future[Plans] | None = None


class Planner:
    """Plans pairs; one in each process."""

    def __init__(self, builder: FormBuilder, forms: int) -> None:
        self._builder, self._forms = builder, forms

    def __call__(self, task: PlanTask) -> Plans:
        """Plan a pair for every form that has it, each with other spans than the ones before."""
        plans: list[PlannedItem] = []
        spans: list[Span] = []
        for form in range(self._forms):
            planned = self._builder.plan(task.item, task.number, form, spans)
            if isinstance(planned, Reject):
                return planned.reason
            plans.append(planned)
            spans += planned.covers
        return plans


def _make_planner(config: BuildConfig, secret: Secret, fonts: Sequence[str], forms: int) -> Planner:
    return Planner(FormBuilder(config, secret, fonts), forms)


class PlansAhead:
    """Plans of the next candidates.

    Args:
        ahead: Number of candidates that are planned at a time.
        pairs: Pairs that share a number: one for each form of other pairs.
    """

    def __init__(self, submit: Callable[[PlanTask], Future[Plans]], ahead: int, pairs: int) -> None:
        self._submit, self._ahead, self._pairs = submit, ahead, pairs
        self._waiting: deque[Candidate] = deque()

    def next(self, candidates: Iterator[Candidate], taken: int, missing: int) -> Candidate | None:
        """The next candidate; None if there is none.

        Args:
            candidates: Those that were not begun.
            taken: Number of pairs that the set has.
            missing: Number of pairs that it lacks.
        """
        while sum(not waiting.refusal for waiting in self._waiting) < min(self._ahead, missing):
            if (candidate := next(candidates, None)) is None:
                break
            self._waiting.append(candidate)
        usable = (candidate for candidate in self._waiting if not candidate.refusal)
        for place, candidate in enumerate(usable, taken):
            self._begin(candidate, place // self._pairs)
        return self._waiting.popleft() if self._waiting else None

    def _begin(self, candidate: Candidate, number: int) -> None:
        """Plan a candidate for a number, if that is not under way."""
        if candidate.number != number:
            if candidate.plans:
                candidate.plans.cancel()
            candidate.number = number
            candidate.plans = self._submit(PlanTask(item=candidate.item, number=number))


@contextmanager
def open_planning(builder: FormBuilder, *, forms: int, pairs: int, workers: int) -> Iterator[PlansAhead]:
    """Plan in this process, or in several for a block.

    Args:
        forms: Number of forms that have the same pair.
        pairs: Pairs that share a number.
    """
    if workers == 1:
        yield PlansAhead(partial(_plan_here, Planner(builder, forms)), 1, pairs)
        return
    make = partial(_make_planner, builder.pipeline.config, builder.secret, builder.fonts, forms)
    with process_pool(make, workers, advice=ADVICE) as submit:
        yield PlansAhead(submit, AHEAD * workers, pairs)


def _plan_here(planner: Planner, task: PlanTask) -> Future[Plans]:
    future: Future[Plans] = Future()
    future.set_result(planner(task))
    return future
