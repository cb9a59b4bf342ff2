"""Which pairs come into a set: in a secret order, round by round. A round gives every form one item."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vcrgen.builder.sources import Source, some_items
from vcrgen.config import HiddenOptions
from vcrgen.errors import NoPairsError
from vcrgen.hidden.alike import assign
from vcrgen.hidden.forms import Form, FormMaker, Planned
from vcrgen.hidden.reference import Reference
from vcrgen.hidden.secret import Secret
from vcrgen.plurals import counted
from vcrgen.records import Item, Reason, Reject, Span
from vcrgen.work.ledger import Ledger
from vcrgen.work.watcher import Watcher

# Rows that are read together, at most: with the pictures of so many in memory, each group of rows is read once for all.
TOGETHER = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What became of the pairs of one round: a line of the ledger."""

    answers: list[dict[str, Any]]  # the key's line for every form
    statistics: list[list[int]]  # of each form's item, as `Planned` gives them
    drops: dict[str, int]  # pairs set aside since the round before, by reason
    read: int  # pairs of the secret order up to here


class Rounds:
    """Takes pairs until every form has its items; what an earlier run has decided is in the ledger.

    Args:
        options: Say how many items and forms.
        source: The pairs.
        secret: Gives their order.
        maker: Plans and draws items.
        known: Pairs that are refused.
        store: Puts the images of a form's item on the disk.
        watcher: Told of the progress.
    """

    def __init__(
        self, options: HiddenOptions, *, source: Source, secret: Secret, maker: FormMaker, known: Reference,
        store: Callable[[int, Form], None], watcher: Watcher,
    ) -> None:  # fmt: skip
        self._options, self._source, self._maker, self._known = options, source, maker, known
        self._store, self._watcher = store, watcher
        rows = ((number, row) for number, part in enumerate(source.partitions()) for row in range(part.rows))
        # Partition and row of every pair of the source, in an order that only the secret gives.
        self._order = sorted(rows, key=lambda row: secret.token("order", f"{row[0]}/{row[1]}"))
        self._forms = range(max(options.forms, options.same_pairs))
        self._taken = Reference(options.config.max_pixels)
        self._spans = [0 for _ in self._forms]
        self._totals = [[0] * 4 for _ in self._forms]
        self.done: list[Round] = []
        self.drops = Counter[str]()

    def finish(self, ledger: Ledger) -> None:
        """Decide all rounds.

        Raises:
            NoPairsError: The source has too few pairs.
            SourceError: It cannot be read.
        """
        self._watcher.begin(self._options.items * self._options.forms, 0)
        while str(len(self.done)) in ledger:
            self._count(Round(**ledger[str(len(self.done))]))
            for answer in self.done[-1].answers:
                self._taken.add_hash(np.frombuffer(bytes.fromhex(answer["picture"]), np.uint8), answer["caption"])
            self._set_aside(Counter(self.done[-1].drops))
        candidates = self._candidates(self.done[-1].read if self.done else 0)
        while len(self.done) < self._options.items:
            decided = self._decide(candidates)
            ledger.add(str(len(self.done)), asdict(decided))
            self._count(decided)

    def _count(self, decided: Round) -> None:
        self.done.append(decided)
        for form, answer in enumerate(decided.answers):
            self._spans[form] += len(answer["spans"])
            self._totals[form] = [a + b for a, b in zip(self._totals[form], decided.statistics[form], strict=True)]
        self._watcher.advance(self._options.forms, self._options.forms, Counter())

    def _decide(self, candidates: Iterator[tuple[int, Item]]) -> Round:
        """Take as many pairs as one more item of every form needs, and draw them."""
        pairs: list[tuple[list[Planned], str]] = []
        drops, read = Counter[str](), 0
        while len(pairs) < self._options.forms:
            found = next(candidates, None)
            if found is None:
                raise self._too_few(len(pairs))
            read, item = found
            outcome = self._judge(item)
            if isinstance(outcome, tuple):
                pairs.append(outcome)
            else:
                drops[outcome] += 1
                self._set_aside(Counter([outcome]))
        # Of each pair as many forms are planned as there are of the same pairs.
        planned = [(one, picture) for plans, picture in pairs for one in plans]
        if self._options.forms > 1:
            statistics = [one.statistics for one, _ in planned]
            planned = [planned[number] for number in assign(self._totals, statistics)]
        forms = [self._maker.draw(one, form, self._spans[form], picture) for form, (one, picture) in enumerate(planned)]
        for number, form in enumerate(forms):
            self._store(number, form)
        return Round(
            answers=[form.answer for form in forms], statistics=[list(one.statistics) for one, _ in planned],
            drops=dict(drops), read=read,
        )  # fmt: skip

    def _set_aside(self, drops: Counter[str]) -> None:
        self.drops += drops
        self._watcher.advance(0, 0, drops)

    def _judge(self, item: Item) -> tuple[list[Planned], str] | str:
        """A pair's plans and the hash of its picture; or why it is set aside."""
        picture = None if item.image is None else self._known.hash(item.image)
        for pairs, reason in ((self._known, Reason.IN_REFERENCE), (self._taken, Reason.DUPLICATE)):
            if pairs.match(picture, item.caption or ""):
                return str(reason)
        plans: list[Planned] = []
        spans: list[Span] = []
        for form in range(self._options.same_pairs):
            planned = self._maker.plan(item, len(self.done), form, spans)
            if isinstance(planned, Reject):
                return str(planned.reason)
            plans.append(planned)
            spans += planned.spans
        if picture is None:  # for safety: what cannot be decoded here could not be planned
            return str(Reason.UNDECODABLE)
        self._taken.add_hash(picture, plans[0].prepared.layout.text)  # what the key says, for a run that goes on
        return plans, picture.tobytes().hex()

    def _candidates(self, read: int) -> Iterator[tuple[int, Item]]:
        """The pairs of the secret order but for the first ``read``, each with its number from 1.

        Rows are read ahead: as many as are needed at least, and more where many are set aside.
        """
        while read < len(self._order):
            missing = self._options.forms * (self._options.items - len(self.done))
            batch = self._order[read : read + min(TOGETHER, missing + self.drops.total())]
            items = self._read(batch)
            for place in batch:
                read += 1
                if (item := items[place]) is not None:  # a row that does not meet the conditions
                    yield read, item

    def _read(self, places: list[tuple[int, int]]) -> dict[tuple[int, int], Item | None]:
        """The items at some partitions and rows."""
        rows: defaultdict[int, list[int]] = defaultdict(list)
        for partition, row in sorted(places):
            rows[partition].append(row)
        return {
            (partition, row): item
            for partition, numbers in rows.items()
            for row, item in zip(
                numbers, some_items(self._source, self._options.config, partition, numbers), strict=True
            )
        }

    def _too_few(self, more: int) -> NoPairsError:
        options = self._options
        usable, wanted = len(self.done) * options.forms + more, options.items * options.forms
        most = ", ".join(f"{reason} {count}" for reason, count in self.drops.most_common(3))
        asked = f"--items {options.items} in each of --forms {options.forms}" if options.forms > 1 else "--items"
        return NoPairsError(
            f"The source {self._source.description} has {counted(usable, 'usable pair')}, and {wanted} are asked for "
            f"with {asked} (set aside: {most or 'none'})."
        )
