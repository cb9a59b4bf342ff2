"""The report on shorter sets: how near each way to choose comes at each size, and which size is enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vcrgen.analysis.document import Document, Drawing, Section
from vcrgen.analysis.items.classical import WithInterval
from vcrgen.analysis.items.items_report import described, share, table_warnings
from vcrgen.analysis.items.shorten import METHODS, Shortened, SubsetResult, about_methods, default_sizes, shorten
from vcrgen.analysis.items.table import ItemTable, check_size
from vcrgen.analysis.wording import between, number
from vcrgen.config import ShortenOptions
from vcrgen.plurals import counted
from vcrgen.report.charts import curve
from vcrgen.report.table import Interval, Percent, Table, TableCell

_NOT_SHOWN = (
    "How a subset does on models unlike these. It is measured on models that were held out, but from the same lot; a "
    "new family may be off by more.",
    "Scores of a subset and of the whole set side by side: `vcrgen score --subset` gives them different signatures, "
    "and they are never ranked together.",
    "Differences between models that the whole set does not tell apart either: a shorter set tells fewer apart, and "
    "its intervals are wider.",
    "A subset that was chosen by models and is published is a target: keep the rest of the items for a check.",
)


def shorten_items(table: ItemTable, options: ShortenOptions) -> Shortened:
    """Subsets of the sizes that are asked for, or of round ones.

    Raises:
        AnalysisError: There are too few models or items, or a size is none.
    """
    check_size(table)
    sizes = options.sizes or default_sizes(len(table.group_names))
    return shorten(table, sizes, seed=options.seed, repeats=options.resamples)


def subset_files(result: Shortened, method: str) -> Mapping[str, tuple[str, ...]]:
    """The files that ``vcrgen score --subset`` takes: names and ids, one for each size."""
    return {f"ids-{size}.txt": ids for (name, size), ids in result.chosen.items() if name == method}


def shorten_document(table: ItemTable, result: Shortened, options: ShortenOptions, *, settings: str) -> Document:
    """The report on shorter sets; ``settings`` is a line that says how it was made."""
    unit = "images" if table.grouped else "items"
    limits = options.error is not None or options.agreement is not None
    return Document(
        title="Shorter sets",
        lead=f"{described(table)}, from {table.source}. {counted(result.held_out, 'model is', 'models are')} held out, "
        f"{counted(result.repeats, 'time')}.",
        sections=[
            *([_smallest(result, options, unit)] if limits else []),
            _how_near(result, options.method, unit),
            _against_random(result, unit),
        ],
        not_shown=_NOT_SHOWN,
        warnings=table_warnings(table),
        settings=settings,
        private=table.hidden,
    )


def _smallest(result: Shortened, options: ShortenOptions, unit: str) -> Section:
    """Which size is enough for the limits that were given."""
    wanted = []
    if options.error is not None:
        points = "point" if options.error == 1 else "points"
        wanted.append(f"a mean error of at most {options.error:g} {points}")
    if options.agreement is not None:
        wanted.append(f"a rank correlation of at least {options.agreement:g}")
    rows: list[Sequence[TableCell]] = []
    for method in METHODS:
        error = None if options.error is None else options.error / 100
        size, unsure = result.smallest(method, error=error, agreement=options.agreement)
        rows.append(
            (method, size if size is not None else "none of those tried", ", ".join(map(str, unsure)) or "none")
        )
    chosen = next(row for row in rows if row[0] == options.method)
    enough = f"{chosen[1]} {unit}" if isinstance(chosen[1], int) else "no size that was tried"
    return Section(
        title="Which size is enough",
        text=[
            f"Wanted: {' and '.join(wanted)}. With the method {options.method}, {enough} surely meets that: the range "
            "of 95 % of the repeats lies within the limits. Of smaller sizes whose range holds a limit it cannot be "
            "told."
        ],
        tables=[
            Table(
                title="Smallest size that meets the limits",
                heads=("Method", unit.capitalize(), "Cannot be told"), labels=1, rows=rows,
            )
        ],
    )  # fmt: skip


def _how_near(result: Shortened, method: str, unit: str) -> Section:
    rows: list[Sequence[TableCell]] = [
        (each.method, str(each.size), *_points(each.error), *_plain(each.agreement), *_shares(each.decisions))
        for each in result.results
    ]
    return Section(
        title="How near shorter sets come",
        text=[
            "The error is the mean distance, in points, between a held-out model's score on the subset and on all "
            f"{result.units} {unit}. The rank correlation is Spearman's, among the held-out models. A decision is "
            "right if two held-out models, which all items tell apart beyond chance, stand in the same order. Ranges "
            "hold 95 % of the repeats.",
            *(
                f"{method.capitalize()}: {about}."
                for method, about in about_methods(unit, "Rasch model" if result.kind == "Rasch" else "2PL").items()
            ),
        ],
        drawings=[_drawing(result, method, unit)],
        tables=[
            Table(
                title="On models that were held out of the choice",
                heads=(
                    "Method", unit.capitalize(), "Error, points", "95 % of repeats", "Rank correlation",
                    "95 % of repeats", "Decisions right, %", "95 % of repeats",
                ),
                labels=2, rows=rows, breaks=(4, 6),
            )
        ],
    )  # fmt: skip


def _drawing(result: Shortened, method: str, unit: str) -> Drawing:
    """The error of one way to choose by size, beside that of a random choice."""
    sizes = sorted({each.size for each in result.results})
    places = {size: _place(size, sizes) for size in sizes}
    most = max(each.error.value for each in result.results) or 1.0
    ours, random = (
        [(places[each.size], each.error.value / most) for each in _of(result, name)] for name in (method, "random")
    )
    return Drawing(
        title=f"Mean error by number of {unit}",
        svg=curve(ours, [(places[size], str(size)) for size in _spaced(sizes, places)], other=random),
        note=f"Full line: {method}; broken line: random. The top is {100 * most:.2f} points, the bottom 0.",
    )


def _against_random(result: Shortened, unit: str) -> Section:
    rows: list[Sequence[TableCell]] = []
    for each in result.results:
        if each.method != "random":
            low, high = each.less_error.low, each.less_error.high
            verdict = "better" if low > 0 else "worse" if high < 0 else "cannot be told"
            rows.append(
                (each.method, str(each.size), *_points(each.less_error), verdict, *_shares(each.more_decisions))
            )
    return Section(
        title="Against a random choice",
        text=[
            "Both choices are measured on the same held-out models; above 0 the method is better than random. The "
            "interval is that of the mean gain, and allows for repeats that share models (Nadeau and Bengio, 2003)."
        ],
        tables=[
            Table(
                title="Gain over a random choice",
                heads=(
                    "Method", unit.capitalize(), "Less error, points", "95 % interval", "Error is",
                    "More decisions right, %", "95 % interval",
                ),
                labels=2, rows=rows, breaks=(5,),
            )
        ],
    )  # fmt: skip


def _of(result: Shortened, method: str) -> list[SubsetResult]:
    return sorted((each for each in result.results if each.method == method), key=lambda each: each.size)


def _points(value: WithInterval) -> tuple[TableCell, TableCell]:
    return number(100 * value.value, 2), between(100 * value.low, 100 * value.high, 2)


def _plain(value: WithInterval) -> tuple[TableCell, TableCell]:
    return number(value.value, 3), between(value.low, value.high, 3)


def _shares(value: WithInterval) -> tuple[TableCell, TableCell]:
    if math.isnan(value.value):
        return Percent(None), None
    return share(value.value), Interval(value.low, value.high, 1)


def _place(size: int, sizes: Sequence[int]) -> float:
    """Where a size stands on an axis that doubles alike everywhere."""
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    return (math.log(size) - low) / (high - low) if high > low else 0.5


def _spaced(sizes: Sequence[int], places: Mapping[int, float]) -> list[int]:
    """The sizes that have room for their number on a phone."""
    kept: list[int] = []
    for size in sizes:
        if not kept or places[size] - places[kept[-1]] > 0.12:
            kept.append(size)
    return kept
