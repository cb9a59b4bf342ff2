"""All figures of a table of items, one after the other; knows no report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vcrgen.analysis.items.classical import Copies, ItemFigures, Reliability, item_figures, near_copies, reliability
from vcrgen.analysis.items.hardness import Hardness, what_makes_hard
from vcrgen.analysis.items.irt import MOST_CELLS, ItemModel, fit_items
from vcrgen.analysis.items.table import ItemTable, check_size
from vcrgen.analysis.items.traits import span_traits
from vcrgen.errors import AnalysisError

MOST_EFFECTS = 1 << 31  # models squared times items, up to which the mixed model is fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """All figures of an analysis of items."""

    table: ItemTable
    figures: ItemFigures
    reliability: Reliability | None  # None where fewer than three models have every item
    model: ItemModel | None  # None where the table is too large for one, no item differs, or it does not settle
    copies: Copies
    hardness: Hardness | None  # None where items are no spans, no trait differs, or it does not settle
    notes: tuple[str, ...]  # why there is no model of items or of what makes them hard


def analyse_items(table: ItemTable, *, data: Path | None = None, seed: int = 0, resamples: int = 2000) -> ItemResult:
    """Every figure of a table of items.

    Args:
        table: Scores of at least 5 models.
        data: The dataset that evidence is of, which tells more about its spans.
        seed: Of random halves and resamples.
        resamples: Of models, for the interval of alpha.

    Raises:
        AnalysisError: There are too few models or items, or the dataset is not that of the evidence.
    """
    check_size(table)
    notes: list[str] = []
    model = hardness = None
    if table.scores.size > MOST_CELLS:
        notes.append(f"The table has more than {MOST_CELLS:,} cells, so no item response model is fitted.")
    elif not len(table.varied):
        notes.append("No item is solved by some models and not by others, so no item response model is fitted.")
    else:
        try:
            model = fit_items(table)
        except AnalysisError as problem:
            notes.append(str(problem))
    if table.spans and len(table.models) ** 2 * len(table.items) > MOST_EFFECTS:
        notes.append("The table is too large for the model of what makes a span hard.")
    elif table.spans and len(table.varied):
        traits = span_traits(table, data)
        try:
            hardness = what_makes_hard(table, traits)
        except AnalysisError as problem:
            notes.append(str(problem))
    elif data is not None:
        raise AnalysisError(f"{table.source} is no evidence of vcrgen score --spans, so --data tells nothing of it.")
    return ItemResult(
        table=table, figures=item_figures(table), reliability=reliability(table, seed=seed, resamples=resamples),
        model=model, copies=near_copies(table), hardness=hardness, notes=tuple(notes),
    )  # fmt: skip
