"""The report on subsets of items: accuracy of each selection method at each size, and the smallest sufficient size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vcrgen.analysis.items.classical import IntervalEstimate
from vcrgen.analysis.items.item_table import ItemTable, check_size
from vcrgen.analysis.items.items_report import describe_table, share, table_warnings
from vcrgen.analysis.items.shorten import METHODS, ShortenResult, SubsetResult, default_sizes, shorten
from vcrgen.analysis.wording import between, number
from vcrgen.config.analysis import ShortenOptions
from vcrgen.plurals import pluralize
from vcrgen.report.charts import curve
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Interval, Percent, Table, TableCell

_LIMITATIONS = (
    "Accuracy for models unlike these: the held-out models are of the same sample, and a new family may differ more.",
    "Comparison of scores of a subset with those of the whole set: `vcrgen score --subset` gives them different "
    "signatures, and they are never ranked together.",
    "Small differences between models: a subset separates fewer models than the whole set, and its intervals are "
    "wider.",
    "A subset that was chosen by models and is published is a target: keep the rest of the items for a check.",
)


def shorten_items(table: ItemTable, options: ShortenOptions) -> ShortenResult:
    """Select subsets of the sizes of the options, or of round ones.

    Raises:
        AnalysisError: There are too few models or items, or a size is none.
    """
    check_size(table)
    sizes = options.sizes or default_sizes(len(table.group_names))
    return shorten(table, sizes, seed=options.seed, repeats=options.resamples)


def subset_files(result: ShortenResult, method: str) -> Mapping[str, tuple[str, ...]]:
    """The files that ``vcrgen score --subset`` takes: names and ids, one for each size."""
    return {f"ids-{size}.txt": ids for (name, size), ids in result.chosen.items() if name == method}


def shorten_document(table: ItemTable, result: ShortenResult, options: ShortenOptions, *, settings: str) -> Document:
    """Report the accuracy of subsets; ``settings`` is a line with the options."""
    unit = "images" if table.is_grouped else "items"
    limits = options.error is not None or options.agreement is not None
    return Document(
        title="Subsets of items",
        lead=f"{describe_table(table)}, from {table.source}. {pluralize(result.held_out, 'model is', 'models are')} "
        f"held out, {pluralize(result.repeats, 'time')}.",
        sections=[
            *([_smallest(result, options, unit)] if limits else []),
            _how_near(result, options.method, unit),
            _against_random(result, unit),
        ],
        limitations=_LIMITATIONS,
        warnings=table_warnings(table),
        settings=settings,
        private=table.hidden,
    )


def _smallest(result: ShortenResult, options: ShortenOptions, unit: str) -> Section:
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
        title="Smallest sufficient size",
        text=[
            f"Wanted: {' and '.join(wanted)}. With the method {options.method}, {enough} meets that: the range of "
            "95 % of the repeats lies within the limits. Smaller sizes whose range includes a limit are inconclusive."
        ],
        tables=[
            Table(
                title="Smallest size that meets the limits",
                heads=("Method", unit.capitalize(), "Inconclusive"), labels=1, rows=rows,
            )
        ],
    )  # fmt: skip


def _how_near(result: ShortenResult, method: str, unit: str) -> Section:
    rows: list[Sequence[TableCell]] = [
        (each.method, str(each.size), *_points(each.error), *_plain(each.agreement), *_shares(each.decisions))
        for each in result.results
    ]
    return Section(
        title="Accuracy of subsets",
        text=[
            "The error is the mean distance, in points, between a held-out model's score on the subset and on all "
            f"{result.units} {unit}. The rank correlation is Spearman's, among the held-out models. A decision is "
            "correct if two held-out models that differ significantly over all items keep their order. Ranges hold 95 "
            "% of the repeats.",
            *(
                f"{name.capitalize()}: {row.description.format(unit=unit, model=f'{result.kind} model')}."
                for name, row in METHODS.items()
            ),
        ],
        charts=[_drawing(result, method, unit)],
        tables=[
            Table(
                title="On held-out models",
                heads=(
                    "Method", unit.capitalize(), "Error, points", "95 % of repeats", "Rank correlation",
                    "95 % of repeats", "Correct decisions, %", "95 % of repeats",
                ),
                labels=2, rows=rows, breaks=(4, 6),
            )
        ],
    )  # fmt: skip


def _drawing(result: ShortenResult, method: str, unit: str) -> Chart:
    sizes = sorted({each.size for each in result.results})
    places = {size: _place(size, sizes) for size in sizes}
    most = max(each.error.value for each in result.results) or 1.0
    ours, random = (
        [(places[each.size], each.error.value / most) for each in _of(result, name)] for name in (method, "random")
    )
    return Chart(
        title=f"Mean error by number of {unit}",
        svg=curve(ours, [(places[size], str(size)) for size in _spaced(sizes, places)], other=random),
        note=f"Full line: {method}; broken line: random. The top is {100 * most:.2f} points, the bottom 0.",
    )


def _against_random(result: ShortenResult, unit: str) -> Section:
    rows: list[Sequence[TableCell]] = []
    for each in result.results:
        if each.method != "random":
            low, high = each.less_error.low, each.less_error.high
            verdict = "better" if low > 0 else "worse" if high < 0 else "inconclusive"
            rows.append(
                (each.method, str(each.size), *_points(each.less_error), verdict, *_shares(each.more_decisions))
            )
    return Section(
        title="Comparison with random selection",
        text=[
            "On the same held-out models; above 0 the method is better than random. The interval of the mean gain is "
            "corrected for repeats that share models (Nadeau and Bengio, 2003)."
        ],
        tables=[
            Table(
                title="Gain over random selection",
                heads=(
                    "Method", unit.capitalize(), "Less error, points", "95 % interval", "Verdict",
                    "More correct decisions, %", "95 % interval",
                ),
                labels=2, rows=rows, breaks=(5,),
            )
        ],
    )  # fmt: skip


def _of(result: ShortenResult, method: str) -> list[SubsetResult]:
    return sorted((each for each in result.results if each.method == method), key=lambda each: each.size)


def _points(value: IntervalEstimate) -> tuple[TableCell, TableCell]:
    return number(100 * value.value, 2), between(100 * value.low, 100 * value.high, 2)


def _plain(value: IntervalEstimate) -> tuple[TableCell, TableCell]:
    return number(value.value, 3), between(value.low, value.high, 3)


def _shares(value: IntervalEstimate) -> tuple[TableCell, TableCell]:
    if math.isnan(value.value):
        return Percent(None), None
    return share(value.value), Interval(value.low, value.high, 1)


def _place(size: int, sizes: Sequence[int]) -> float:
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    return (math.log(size) - low) / (high - low) if high > low else 0.5


def _spaced(sizes: Sequence[int], places: Mapping[int, float]) -> list[int]:
    kept: list[int] = []
    for size in sizes:
        if not kept or places[size] - places[kept[-1]] > 0.12:
            kept.append(size)
    return kept
