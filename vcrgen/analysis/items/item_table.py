"""The outcome of each model on each item: the table that all analyses of items start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from vcrgen.errors import AnalysisError
from vcrgen.stats.arrays import Bits, Floats, Ints

FEWEST_MODELS = 5
FEW_MODELS = 50  # below this every form of a report has a warning
MOST_CELLS = 1 << 25  # models x items: 256 MiB


class MaskedSpan(NamedTuple):
    """The masked span of an item of evidence; its text is an answer and is never shown."""

    question_id: str
    number: int  # of the span in its image, from 0
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTable:
    """Scores of models on items, from 0 to 1; models and items are in the order of their names.

    Items that were asked about one image stand or fall together, so each item has a group: its image. Without images
    every item is a group of its own.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    scores: Floats  # models x items; NaN where a model gave no answer
    groups: Ints  # of each item, the number of its group
    group_names: tuple[str, ...]  # the question's id where items are spans
    source: str  # what was read, for people
    metric: str = "score"
    mode: str | None = None  # of evidence, the mode (or language) of its outputs
    view: str | None = None  # of evidence, their view
    missing_outcomes: Mapping[str, int] = field(default_factory=dict)  # counts of the outcomes of missing cells
    empty_counts: tuple[int, int] = (0, 0)  # models and items that are left out, as they have no score at all
    hidden: bool = False  # whether they are items of a hidden set
    spans: Sequence[MaskedSpan] = field(default=(), repr=False)  # of each item; empty where items are no spans
    numbers: Sequence[int] = field(default=(), repr=False)  # of each item in its image; empty where not known
    choices: Ints | None = field(default=None, repr=False)  # models x items: the option that was chosen, -1 for none
    options: Sequence[str] = field(default=(), repr=False)  # names of options

    @property
    def present(self) -> Bits:
        """Models x items: whether there is a score."""
        there: Bits = ~np.isnan(self.scores)
        return there

    @property
    def varying_items(self) -> Ints:
        """The numbers of the items that not all models have the same score on."""
        there = self.present
        low, high = (np.where(there, self.scores, end) for end in (np.inf, -np.inf))
        return np.flatnonzero(low.min(axis=0) < high.max(axis=0))

    @property
    def complete_models(self) -> Ints:
        """The numbers of the models that have a score on every item."""
        return np.flatnonzero(self.present.all(axis=1))

    @property
    def places(self) -> Sequence[tuple[str, int]] | None:
        """Of each item its question's id and its number in the question; None where only the question is known."""
        if self.spans:
            return [(span.question_id, span.number) for span in self.spans]
        if self.numbers:
            return [(self.group_names[group], number) for group, number in zip(self.groups, self.numbers, strict=True)]
        return None if self.is_grouped else [(self.group_names[group], 0) for group in self.groups]

    @property
    def is_grouped(self) -> bool:
        """True if some items share a group."""
        return len(self.group_names) < len(self.items)

    def select_models(self, rows: Sequence[int] | Ints) -> ItemTable:
        """The table with only some of the models."""
        chosen = np.asarray(rows, np.int64)
        choices = None if self.choices is None else self.choices[chosen]
        names = tuple(self.models[row] for row in chosen)
        return replace(self, models=names, scores=self.scores[chosen], choices=choices)

    def sums(self) -> tuple[Floats, Floats]:
        """Models x groups: the sum of the scores of a group's items, and how many of them there are."""
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(len(self.group_names)))
        filled, there = np.nan_to_num(self.scores)[:, order], self.present[:, order].astype(np.float64)
        return np.add.reduceat(filled, starts, axis=1), np.add.reduceat(there, starts, axis=1)


def check_size(table: ItemTable) -> None:
    """Refuse a table that is too small, or too large, for statistics of items.

    Raises:
        AnalysisError: It has fewer than 5 models, only one item, or more cells than are analysed.
    """
    if len(table.models) < FEWEST_MODELS:
        raise AnalysisError(
            f"Statistics of items need at least {FEWEST_MODELS} models, and {table.source} has {len(table.models)}; "
            "add the evidence of other models."
        )
    if len(table.items) < 2:
        raise AnalysisError(f"{table.source} has {len(table.items)} item; statistics of items need at least 2.")
    if len(table.models) * len(table.items) > MOST_CELLS:
        raise AnalysisError(f"{table.source} has more than {MOST_CELLS:,} cells; analyse a part of the items.")


def model_scores(table: ItemTable) -> Floats:
    """The mean score of each model over the items that it has."""
    means: Floats = np.nanmean(table.scores, axis=1)
    return means
