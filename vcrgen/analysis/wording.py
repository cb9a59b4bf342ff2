"""Sentences and cells that the documents of several analyses share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vcrgen.analysis.factors import FEW_A_TASK, FEW_MODELS, FactorEstimate
from vcrgen.plurals import pluralize
from vcrgen.report.document import Section
from vcrgen.report.table import Number, NumberInterval, Percent, PValue, Table, TableCell

if TYPE_CHECKING:
    from vcrgen.analysis.score_table import ScoreTable

CELL = 3  # decimals of correlations, loadings and the like


def few_models(models: int, largest: int = 0) -> Iterator[str]:
    """Warnings that there are too few models, for so many tasks of the largest ability."""
    if models < FEW_MODELS:
        yield (
            f"Only {models} models: with fewer than {FEW_MODELS}, most figures here would be others for other "
            "models. Read the intervals, not the figures."
        )
    if models < FEW_A_TASK * largest:
        yield (
            f"Only {models} models for an ability of {pluralize(largest, 'task')}: with fewer than {FEW_A_TASK} models "
            "a task, weights follow the sample."
        )


def between(low: float, high: float, decimals: int = CELL) -> NumberInterval | None:
    """An interval as a cell; None where there is none."""
    return NumberInterval(low, high, decimals) if math.isfinite(low) and math.isfinite(high) else None


def number(value: float, decimals: int = CELL) -> Number | None:
    """A number as a cell; None where it is not known."""
    return Number(value, decimals) if math.isfinite(value) else None


def share(value: float, decimals: int = 0) -> Percent | None:
    """A share as a cell; None where it is not known."""
    return Percent(value, decimals) if math.isfinite(value) else None


def figure(of: FactorEstimate, decimals: int = CELL) -> tuple[TableCell, TableCell]:
    """A figure and its interval as cells."""
    return number(of.value, decimals), between(of.low, of.high, decimals)


def p_value(p: float) -> PValue | None:
    """A p-value as a cell; None where it is not known."""
    return PValue(p) if math.isfinite(p) else None


def without_solution(number: int, one: str, many: str) -> str:
    """Return most of a sentence on fits without a solution."""
    return pluralize(number, f"{one} had no solution and is left out", f"{many} had no solution and are left out")


def resampling_note(draws: int, failed: int, table: ScoreTable) -> str:
    """Describe the bootstrap intervals and the resamples without a solution."""
    units = f"{len(set(table.families))} families of models" if table.families else "models"
    lost = f" {without_solution(failed, 'of them', 'of them')}" if failed else " All of them had a solution"
    none = "; that is more than 5 %, so no interval is given" if failed > 0.05 * draws else ""
    return f"Intervals are 95 % percentile intervals of {draws:,} resamples of {units}.{lost}{none}."


def errata_sections(rows: Sequence[Sequence[str]], *text: str) -> list[Section]:
    """The section of the errata of a publication, whose first row is the heads; none without errata."""
    if not rows:
        return []
    heads, title = [head.capitalize() for head in rows[0]], "Printed wrongly in the publication"
    table = Table(title=title, heads=heads, labels=len(heads), rows=rows[1:])
    return [Section(title="Errata", text=text, tables=[table])]
