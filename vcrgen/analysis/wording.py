"""Sentences and cells that the documents of several analyses share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vcrgen.analysis.factors import FEW_A_TASK, FEW_MODELS, FactorEstimate
from vcrgen.report.document import Section
from vcrgen.report.sentences import sentences
from vcrgen.report.table import Number, NumberInterval, Percent, PValue, Table, TableCell

CELL = 3  # decimals of correlations, loadings and the like


def said(template: str, block: str, **values: Any) -> list[str]:
    """The sentences of a block of one of this package's templates."""
    return sentences("vcrgen.analysis", f"{template}.j2", block, **values)


def few_models(models: int, largest: int = 0) -> list[str]:
    """Warnings that there are too few models, for so many tasks of the largest ability."""
    return said("shared", "few_models", models=models, largest=largest, few=FEW_MODELS, few_a_task=FEW_A_TASK)


def left_out(failed: int, of: str) -> list[str]:
    """A sentence on fits without a solution, if there are any."""
    return said("shared", "failed", failed=failed, of=of)


def between(low: float, high: float, decimals: int = CELL) -> NumberInterval | None:
    """An interval as a cell; None where there is none."""
    return NumberInterval(low, high, decimals) if math.isfinite(low) and math.isfinite(high) else None


def number(value: float, decimals: int = CELL) -> Number | None:
    """A number as a cell; None where it is not known."""
    return Number(value, decimals) if math.isfinite(value) else None


def share(value: float, decimals: int = 0) -> Percent | None:
    """A share as a cell; None where it is not known."""
    return Percent(value, decimals) if math.isfinite(value) else None


def figure(estimate: FactorEstimate, decimals: int = CELL) -> tuple[TableCell, TableCell]:
    """A figure and its interval as cells."""
    return number(estimate.value, decimals), between(estimate.low, estimate.high, decimals)


def p_value(p: float) -> PValue | None:
    """A p-value as a cell; None where it is not known."""
    return PValue(p) if math.isfinite(p) else None


def errata_sections(rows: Sequence[Sequence[str]], *text: str) -> list[Section]:
    """The section of the errata of a publication, whose first row is the heads; none without errata."""
    if not rows:
        return []
    heads, title = [head.capitalize() for head in rows[0]], "Printed wrongly in the publication"
    table = Table(title=title, heads=heads, labels=len(heads), rows=rows[1:])
    return [Section(title="Errata", text=text, tables=[table])]
