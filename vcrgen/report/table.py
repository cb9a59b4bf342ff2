"""A table of typed cells. This is the only place where numbers are rounded: results and files keep them as they are.

A cell is a text, a whole number, a `Number`, `Percent`, `Interval`, `NumberInterval` or
`PValue`, or None for what is missing. ``str`` of a cell is what people read: ``str(Percent(0.12345))`` is
``12.35``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from vcrgen.report.charts import shade

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"  # stands for what is missing
DECIMALS = 2  # where nothing else is said
COEFFICIENT_DECIMALS = 3  # of correlations, loadings and the like
SMALLEST_P = 0.001  # that people read; files for programs have all digits


@dataclass(frozen=True, slots=True)
class Number:
    """A number with some decimals."""

    value: float | None
    decimals: int = DECIMALS  # digits after the point
    sign: bool = False  # whether a plus stands before a positive number

    def __str__(self) -> str:
        return _rounded(self.value, self.decimals, self.sign)


@dataclass(frozen=True, slots=True)
class Percent:
    """A share from 0 to 1, or None, that is shown in percent; ``decimals`` and ``sign`` as in `Number`."""

    share: float | None
    decimals: int = DECIMALS
    sign: bool = False

    @property
    def value(self) -> float | None:
        """The percentage, not yet rounded."""
        return None if self.share is None else 100 * self.share

    def __str__(self) -> str:
        return _rounded(self.value, self.decimals, self.sign)


@dataclass(frozen=True, slots=True)
class NumberInterval:
    """An interval of numbers; ``decimals`` and ``sign`` as in `Number`."""

    low: float
    high: float
    decimals: int = DECIMALS
    sign: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as texts."""
        return _rounded(self.low, self.decimals, self.sign), _rounded(self.high, self.decimals, self.sign)

    def __str__(self) -> str:
        return " to ".join(self.ends)


@dataclass(frozen=True, slots=True)
class Interval(NumberInterval):
    """An interval of shares that is shown in percent."""

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as texts, in percent."""
        return percent(self.low, self.decimals, sign=self.sign), percent(self.high, self.decimals, sign=self.sign)


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value, of which people read three digits."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.3f}" if self.value >= SMALLEST_P else f"<{SMALLEST_P}"


TableCell: TypeAlias = str | int | Number | Percent | Interval | NumberInterval | PValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under a title."""

    title: str
    heads: Sequence[str]
    labels: int  # how many columns, from the left, hold labels; the others hold numbers, which stand on the right
    rows: Sequence[Sequence[TableCell]]  # as many cells each as there are heads
    best: Collection[int] = ()  # numbers of the columns whose highest percentage is marked where a form can do so
    breaks: Collection[int] = ()  # numbers of the columns before which a narrow page may break the table
    shaded: Collection[int] = ()  # numbers of the columns whose percentages are shaded where a form can do so
    middle: float = 0.0  # the share from which shades grow in both directions
    notes: Sequence[tuple[str, str]] = ()  # sentences numbered below the table, each with an address or an empty text

    def texts(self) -> list[list[str]]:
        """The cells as people read them."""
        return [[show(cell) for cell in row] for row in self.rows]

    def broken(self) -> list[Table]:
        """The table in parts, each with all labels and with the columns up to the next break; notes stay with the last.

        Example: two labels, four numbers and a break before the third of them are two tables of four columns.
        """
        ends = [*sorted(self.breaks), len(self.heads)]
        parts = []
        for start, end in zip([self.labels, *ends], ends, strict=False):
            columns = [*range(self.labels), *range(start, end)]
            parts.append(
                replace(
                    self,
                    heads=[self.heads[column] for column in columns],
                    rows=[[row[column] for column in columns] for row in self.rows],
                    best=[number for number, column in enumerate(columns) if column in self.best],
                    shaded=[number for number, column in enumerate(columns) if column in self.shaded],
                    breaks=(),
                    notes=self.notes if end == len(self.heads) else (),
                )
            )
        return parts

    def shades(self, line: int) -> list[str]:
        """Of each cell in a line the name of its shade, such as ``plus-7`` or ``minus-10``; empty for most tables."""
        names = [""] * len(self.heads)
        for column in self.shaded:
            cell = self.rows[line][column]
            if isinstance(cell, Percent) and cell.share is not None:
                kind, depth = shade(cell.share, self.middle)
                names[column] = f"{kind}-{round(10 * depth)}"
        return names

    def best_cells(self) -> set[tuple[int, int]]:
        """Row and column of the cells that are best; all that look the same, and none where nothing is to be beaten."""
        best = set()
        for column in self.best:
            cells = [(line, row[column]) for line, row in enumerate(self.rows)]
            shares = {line: cell.share for line, cell in cells if isinstance(cell, Percent) and cell.share is not None}
            if len(shares) > 1:
                highest = show(self.rows[max(shares, key=shares.__getitem__)][column])
                best |= {(line, column) for line in shares if show(self.rows[line][column]) == highest}
        return best


def show(cell: TableCell) -> str:
    """A cell as people read it."""
    return DASH if cell is None else str(cell)


def finite_number(value: float, decimals: int = COEFFICIENT_DECIMALS) -> Number | None:
    """A number as a cell; None for NaN, so that files have no line for it."""
    return Number(float(value), decimals) if math.isfinite(value) else None


def finite_interval(low: float, high: float, decimals: int = COEFFICIENT_DECIMALS) -> NumberInterval | None:
    """An interval as a cell; None if an end is NaN."""
    return NumberInterval(float(low), float(high), decimals) if math.isfinite(low) and math.isfinite(high) else None


def finite_percent(share: float) -> Percent | None:
    """A share as a cell; None for NaN."""
    return Percent(float(share), 0) if math.isfinite(share) else None


def finite_p(p: float) -> PValue | None:
    """A p-value as a cell; None for NaN."""
    return PValue(float(p)) if math.isfinite(p) else None


def percent(share: float | None, decimals: int = DECIMALS, *, sign: bool = False) -> str:
    """A share in percent: ``12.35``, with ``sign`` ``+12.35``; what rounds to zero has no sign."""
    return _rounded(None if share is None else 100 * share, decimals, sign)


def _rounded(value: float | None, decimals: int, sign: bool) -> str:
    if value is None or not math.isfinite(value):
        return DASH
    number = round(value, decimals)
    if number == 0:  # neither -0.00 nor +0.00: the sign would say more than the digits do
        return f"{0:.{decimals}f}"
    return f"{number:{'+' if sign else ''}.{decimals}f}".replace("-", MINUS)
