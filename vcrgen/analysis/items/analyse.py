"""All statistics of a table of items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vcrgen.analysis.items.classical import (
    ItemStatistics,
    NearDuplicates,
    PreferredOption,
    Reliability,
    item_statistics,
    near_duplicates,
    preferred_options,
    reliability,
)
from vcrgen.analysis.items.covariates import span_covariates
from vcrgen.analysis.items.difficulty_model import DifficultyModel, fit_difficulty_model
from vcrgen.analysis.items.irt import MOST_CELLS, ItemModel, fit_items
from vcrgen.analysis.items.item_table import ItemTable, check_size
from vcrgen.errors import AnalysisError
from vcrgen.tasks.pixel_bits import PixelBits

MOST_EFFECTS = 1 << 31  # models squared times items, up to which the mixed model is fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """All statistics of an analysis of items."""

    table: ItemTable
    figures: ItemStatistics
    reliability: Reliability | None  # None where fewer than three models have every item
    model: ItemModel | None  # None where the table is too large for one, no item differs, or it does not settle
    duplicates: NearDuplicates
    preferred: list[PreferredOption] | None  # None without chosen options
    difficulty_model: DifficultyModel | None  # None without spans, varying covariates or convergence
    notes: tuple[str, ...]  # reasons for a missing model


def analyse_items(
    table: ItemTable, *, data: Path | None = None, pixels: PixelBits | None = None, seed: int = 0, resamples: int = 2000
) -> ItemResult:
    """Compute all statistics of a table of items.

    Args:
        table: Scores of at least 5 models.
        data: The dataset that evidence is of, which has further covariates of its spans.
        pixels: The bits that the visible pixels of its spans leave, as the template baseline wrote them.
        seed: Of random halves and resamples.
        resamples: Of models, for the interval of alpha.

    Raises:
        AnalysisError: There are too few models or items, or the dataset is not that of the evidence.
    """
    check_size(table)
    notes: list[str] = []
    model = difficulty_model = None
    if table.scores.size > MOST_CELLS:
        notes.append(f"The table has more than {MOST_CELLS:,} cells, so no item response model is fitted.")
    elif not len(table.varying_items):
        notes.append("No item is solved by some models and not by others, so no item response model is fitted.")
    else:
        try:
            model = fit_items(table)
        except AnalysisError as problem:
            notes.append(str(problem))
    if table.spans and len(table.models) ** 2 * len(table.items) > MOST_EFFECTS:
        notes.append("The table is too large for the model of difficulty.")
    elif table.spans and len(table.varying_items):
        covariates = span_covariates(table, data, pixels)
        try:
            difficulty_model = fit_difficulty_model(table, covariates)
        except AnalysisError as problem:
            notes.append(str(problem))
    elif data is not None or pixels is not None:
        name = "--data" if data is not None else "--pixels"
        raise AnalysisError(f"{table.source} is no evidence of vcrgen score --spans, so {name} has nothing of it.")
    return ItemResult(
        table=table,
        figures=item_statistics(table),
        reliability=reliability(table, seed=seed, resamples=resamples),
        model=model,
        duplicates=near_duplicates(table),
        preferred=preferred_options(table),
        difficulty_model=difficulty_model,
        notes=tuple(notes),
    )
