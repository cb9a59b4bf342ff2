"""Selection of the pairs of a set: in a secret order, round by round. A round adds one item to every form."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vcrgen.builder.sources import Source, describe_unmatched, items_at
from vcrgen.core.errors import NoPairsError
from vcrgen.core.ledger import Ledger
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.core.records import Item, RejectReason
from vcrgen.hidden.forms import FormBuilder, FormItem, PlannedItem
from vcrgen.hidden.near import Bits
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.planning import Candidate, PlansAhead
from vcrgen.hidden.reference import Reference
from vcrgen.hidden.secret import Secret
from vcrgen.hidden.similarity import assign

# Maximal number of rows that are read together, so that row groups are read rarely.
READ_AHEAD = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRound:
    """The result of one round: a line of the ledger."""

    answers: list[dict[str, Any]]  # the key's line for every form
    statistics: list[list[int]]  # of each form's item, as `PlannedItem` gives them
    rejected: dict[str, int]  # number of rejected pairs since the last round, by reason
    read: int  # number of pairs read, in the secret order


@dataclass(frozen=True, slots=True, kw_only=True)
class _TakenPair:
    """A pair of the set."""

    item: Item
    plans: list[PlannedItem]  # for every form that has it
    picture: str  # the hash of its picture, in hex


class RoundSelector:
    """Selects pairs until every form has its items; the ledger holds the rounds of earlier runs."""

    def __init__(
        self,
        options: HiddenOptions,
        *,
        source: Source,
        secret: Secret,
        builder: FormBuilder,
        planning: PlansAhead,
        other_pairs: Reference,
        store: Callable[[int, FormItem], None],
        listener: ProgressListener,
    ) -> None:
        self._options, self._source, self._builder, self._other_pairs = options, source, builder, other_pairs
        self._planning, self._store, self._listener = planning, store, listener
        rows = ((number, row) for number, part in enumerate(source.partitions()) for row in range(part.rows))
        # Partition and row of every pair of the source, in an order that only the secret gives.
        self._order = sorted(rows, key=lambda row: secret.token("order", f"{row[0]}/{row[1]}"))
        self._forms = range(max(options.forms, options.same_pairs))
        self._taken = Reference(options.config.max_pixels)
        self._spans = [0 for _ in self._forms]
        self._totals = [[0] * 4 for _ in self._forms]
        self.done: list[SelectionRound] = []
        self.rejected = Counter[str]()

    def finish(self, ledger: Ledger) -> None:
        """Run all rounds.

        Raises:
            NoPairsError: The source has too few pairs.
            SourceError: It cannot be read.
        """
        self._listener.begin(self._options.items * self._options.forms, 0)
        while str(len(self.done)) in ledger:
            self._count(SelectionRound(**ledger[str(len(self.done))]))
            for answer in self.done[-1].answers:
                self._taken.add_hash(np.frombuffer(bytes.fromhex(answer["picture"]), np.uint8), answer["caption"])
            self._count_rejected(Counter(self.done[-1].rejected))
        candidates = self._candidates(self.done[-1].read if self.done else 0)
        while len(self.done) < self._options.items:
            result = self._run_round(candidates)
            ledger.add(str(len(self.done)), asdict(result))
            self._count(result)

    def _count(self, result: SelectionRound) -> None:
        self.done.append(result)
        for form, answer in enumerate(result.answers):
            self._spans[form] += len(answer["spans"])
            self._totals[form] = [a + b for a, b in zip(self._totals[form], result.statistics[form], strict=True)]
        self._listener.advance(self._options.forms, self._options.forms, Counter())

    def _run_round(self, candidates: Iterator[Candidate]) -> SelectionRound:
        """Select the pairs for one more item of every form, and draw them."""
        pairs: list[_TakenPair] = []
        rejected, read = Counter[str](), 0
        while len(pairs) < self._options.forms:
            taken = len(self.done) * self._options.forms + len(pairs)
            candidate = self._planning.next(candidates, taken, self._options.items * self._options.forms - taken)
            if candidate is None:
                raise self._too_few(len(pairs))
            read = candidate.read
            outcome = self._take(candidate)
            if isinstance(outcome, _TakenPair):
                pairs.append(outcome)
            else:
                rejected[outcome] += 1
                self._count_rejected(Counter([outcome]))
        # With same_pairs, each pair is planned once for every form.
        planned = [(pair, plan) for pair in pairs for plan in pair.plans]
        if self._options.forms > 1:
            statistics = [plan.statistics for _, plan in planned]
            planned = [planned[number] for number in assign(self._totals, statistics)]
        forms = [
            self._builder.draw(pair.item, plan, form, self._spans[form], pair.picture)
            for form, (pair, plan) in enumerate(planned)
        ]
        for number, form in enumerate(forms):
            self._store(number, form)
        return SelectionRound(
            answers=[form.answer for form in forms],
            statistics=[list(plan.statistics) for _, plan in planned],
            rejected=dict(rejected),
            read=read,
        )

    def _count_rejected(self, rejected: Counter[str]) -> None:
        self.rejected += rejected
        self._listener.advance(0, 0, rejected)

    def _take(self, candidate: Candidate) -> _TakenPair | RejectReason:
        """Take a candidate into the set, or return the reason for its rejection."""
        if refusal := candidate.refusal or self._refusal(candidate.item, candidate.picture):  # more pairs are taken now
            return refusal
        assert candidate.plans is not None  # as all have that were not refused
        plans = candidate.plans.result()
        if isinstance(plans, RejectReason):
            return plans
        if candidate.picture is None:  # not reached: such an item could not be planned
            return RejectReason.UNDECODABLE
        self._taken.add_hash(candidate.picture, plans[0].caption)  # as in the key, for a resumed run
        return _TakenPair(item=candidate.item, plans=plans, picture=candidate.picture.tobytes().hex())

    def _refusal(self, item: Item, picture: Bits | None) -> RejectReason | None:
        """Why a pair cannot be taken, whatever its spans are: it is known, or taken already."""
        for pairs, reason in ((self._other_pairs, RejectReason.IN_REFERENCE), (self._taken, RejectReason.DUPLICATE)):
            if pairs.match(picture, item.caption or ""):
                return reason
        return None

    def _candidates(self, read: int) -> Iterator[Candidate]:
        """Yield the pairs after the first ``read`` in the secret order.

        Rows are read ahead: as many as are still needed, and more after rejects.
        """
        while read < len(self._order):
            missing = self._options.forms * (self._options.items - len(self.done))
            batch = self._order[read : read + min(READ_AHEAD, missing + self.rejected.total())]
            items = self._read(batch)
            for place in batch:
                read += 1
                if (item := items[place]) is not None:  # a row that does not meet the conditions
                    picture = None if item.image is None else self._other_pairs.hash(item.image)
                    yield Candidate(read=read, item=item, picture=picture, refusal=self._refusal(item, picture))

    def _read(self, places: list[tuple[int, int]]) -> dict[tuple[int, int], Item | None]:
        """Read the items at some partitions and rows."""
        rows: defaultdict[int, list[int]] = defaultdict(list)
        for partition, row in sorted(places):
            rows[partition].append(row)
        return {
            (partition, row): item
            for partition, numbers in rows.items()
            for row, item in zip(numbers, items_at(self._source, self._options.config, partition, numbers), strict=True)
        }

    def _too_few(self, more: int) -> NoPairsError:
        options = self._options
        usable, required = len(self.done) * options.forms + more, options.items * options.forms
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.rejected.most_common(3))
        options_text = f"--items {options.items} in each of --forms {options.forms}" if options.forms > 1 else "--items"
        if not usable and not reasons and (unmatched := describe_unmatched(self._source, options.config)):
            reasons = f"none; {unmatched}"
        return NoPairsError(
            f"The source {self._source.description} has {pluralize(usable, 'usable pair')}, and {required} are asked "
            f"for with {options_text} (rejected: {reasons or 'none'}); lower it, or add pairs."
        )
