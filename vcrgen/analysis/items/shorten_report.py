"""The report on subsets of items: accuracy of each selection method at each size, and the smallest sufficient size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from vcrgen.analysis.items.classical import IntervalEstimate
from vcrgen.analysis.items.item_table import FEW_MODELS, ItemTable, check_size
from vcrgen.analysis.items.items_report import describe_table, share, table_warnings
from vcrgen.analysis.items.shorten import METHODS, ShortenResult, SubsetResult, default_sizes, shorten
from vcrgen.analysis.wording import between, number
from vcrgen.config.analysis import ShortenOptions
from vcrgen.plurals import pluralize
from vcrgen.report.charts import lines
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Interval, Percent, Table, TableCell
from vcrgen.scorer.subset import subset_text
from vcrgen.scorer.subset_estimate import estimate_text

_HEIGHTS = (0.5, 1, 2, 5, 10, 20, 50, 100)  # points at the top of the chart
_NO_PLACES = (
    "These items have no numbers in their images, so there is no file for `vcrgen score --subset` to estimate by; "
    "evidence of `vcrgen score --spans` has them, and so has a long table with the column `span`, numbers from 0."
)
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


def subset_files(table: ItemTable, result: ShortenResult, method: str) -> Mapping[str, str]:
    """The files that ``vcrgen score --subset`` takes: of each size the ids, and the estimator of the score on all.

    Without the numbers of items in their images there are ids alone.
    """
    files = {}
    places, units = table.places, len(table.group_names)
    for each in (each for each in result.results if each.method == method):
        choice = result.chosen[method, each.size]
        ids = [table.group_names[unit] for unit in choice.units]
        files[f"ids-{each.size}.txt"] = subset_text(ids)
        if places is not None:
            facts = {
                "method": method,
                "metric": table.metric,
                "mode": table.mode,
                "view": table.view,
                "models": len(table.models),
                "held_out": result.held_out,
                "questions": units,
                "error": each.error.value,
                "within": each.within,
            }
            items = [places[item] for item in choice.items]
            text = estimate_text(ids=ids, items=items, estimator=choice.estimator, facts=facts)
            files[f"ids-{each.size}.json"] = text
    return files


def shorten_document(table: ItemTable, result: ShortenResult, options: ShortenOptions, *, settings: str) -> Document:
    """Report the accuracy of subsets; ``settings`` is a line with the options."""
    unit = "images" if table.is_grouped else "items"
    limits = options.error is not None or options.agreement is not None
    return Document(
        title="Subsets of items",
        summary=list(_summary(table, result, options, unit)),
        lead=f"{describe_table(table)}, from {table.source}. {pluralize(result.held_out, 'model is', 'models are')} "
        f"held out, {pluralize(result.repeats, 'time')}.",
        sections=[
            *([_smallest(result, options, unit)] if limits else []),
            _how_near(table, result, unit),
            _against_random(result, unit),
        ],
        limitations=_LIMITATIONS,
        warnings=table_warnings(table),
        settings=settings,
        private=table.hidden,
    )


def _summary(table: ItemTable, result: ShortenResult, options: ShortenOptions, unit: str) -> Iterator[str]:
    """Sentences on what to do, for the method that was chosen."""
    ours = _of(result, options.method)
    largest = ours[-1]
    chosen = largest
    if options.error is not None or options.agreement is not None:
        error = None if options.error is None else options.error / 100
        size, _ = result.smallest(options.method, error=error, agreement=options.agreement)
        limits = " and ".join(_limits(options))
        if size is None:
            yield f"No size that was tried has {limits}; try larger ones with --keep, or score more models."
        else:
            chosen = next(each for each in ours if each.size == size)
            yield f"Keep {size} {unit}: the smallest size that was tried with {limits}."
    yield (
        f"{chosen.size} of {result.units} {unit} give the score on all with a mean error of "
        f"{100 * chosen.error.value:.2f} points by the method {options.method}; 95 % of held-out models are within "
        f"{100 * chosen.within:.2f}."
    )
    best = min((each for each in result.results if each.size == chosen.size), key=lambda each: each.error.value)
    if best.method != options.method and best.less_error.low > 0:
        yield f"Try --method {best.method}: at this size its mean error is {100 * best.error.value:.2f} points."
    if table.places is not None:
        yield f"vcrgen score --subset ids-{chosen.size}.txt prints that estimate of the score on all {unit}."
    if len(table.models) < FEW_MODELS:
        more = pluralize(FEW_MODELS - len(table.models), "more model", "more models")
        yield f"Score {more}: with fewer than {FEW_MODELS} these errors are vague."


def _limits(options: ShortenOptions) -> list[str]:
    wanted = []
    if options.error is not None:
        points = "point" if options.error == 1 else "points"
        wanted.append(f"a mean error of at most {options.error:g} {points}")
    if options.agreement is not None:
        wanted.append(f"a mean rank correlation of at least {options.agreement:g}")
    return wanted


def _smallest(result: ShortenResult, options: ShortenOptions, unit: str) -> Section:
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
            f"Wanted: {' and '.join(_limits(options))}. With the method {options.method}, {enough} meets that: the "
            "95 % interval of the mean lies within the limits. Smaller sizes whose interval includes a limit are "
            "inconclusive."
        ],
        tables=[
            Table(
                title="Smallest size that meets the limits",
                heads=("Method", unit.capitalize(), "Inconclusive"),
                labels=1,
                rows=rows,
            )
        ],
    )


def _how_near(table: ItemTable, result: ShortenResult, unit: str) -> Section:
    rows: list[Sequence[TableCell]] = [
        (
            each.method,
            str(each.size),
            *_points(each.error),
            number(100 * each.within, 2),
            *_plain(each.agreement),
            *_shares(each.decisions),
        )
        for each in result.results
    ]
    return Section(
        title="Accuracy of subsets",
        text=[
            "The error is the mean distance, in points, between the score of a held-out model on all "
            f"{result.units} {unit} and its estimate by the subset. Beside it stands the distance within which 95 % of "
            "the estimates are.",
            "The rank correlation is Spearman's, among the held-out models. A decision is correct if two held-out "
            "models that differ significantly over all items keep their order. Intervals are of the means, and "
            "corrected for repeats that share models (Nadeau and Bengio, 2003).",
            *([] if table.places is not None else [_NO_PLACES]),
            *(
                f"{name.capitalize()}: {row.description.format(unit=unit, model=f'{result.kind} model')}."
                for name, row in METHODS.items()
            ),
        ],
        charts=[_drawing(result, unit)],
        tables=[
            Table(
                title="On held-out models",
                heads=(
                    "Method",
                    unit.capitalize(),
                    "Error, points",
                    "95 % interval",
                    "95 % within",
                    "Rank correlation",
                    "95 % interval",
                    "Correct decisions, %",
                    "95 % interval",
                ),
                labels=2,
                rows=rows,
                breaks=(5, 7),
            )
        ],
    )


def _drawing(result: ShortenResult, unit: str) -> Chart:
    sizes = sorted({each.size for each in result.results})
    places = {size: _place(size, sizes) for size in sizes}
    top = 100 * max((each.error.value for each in result.results if math.isfinite(each.error.value)), default=0.01)
    height = next(step for step in _HEIGHTS if top <= step)
    series = [
        (name, [(places[each.size], 100 * each.error.value / height) for each in _of(result, name)]) for name in METHODS
    ]
    return Chart(
        title=f"Mean error of the estimated score, by number of {unit}",
        svg=lines(
            series,
            ticks=[(places[size], str(size)) for size in _spaced(sizes, places)],
            heights=[(share, f"{share * height:g} points") for share in (0.0, 0.5, 1.0)],
            text=f"Lines of mean errors of {len(METHODS)} methods by number of {unit}; the table has all numbers.",
        ),
        note=f"Across: number of {unit} that are kept, on a logarithmic scale. Up: points. Every method has a line.",
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
                    "Method",
                    unit.capitalize(),
                    "Less error, points",
                    "95 % interval",
                    "Verdict",
                    "More correct decisions, %",
                    "95 % interval",
                ),
                labels=2,
                rows=rows,
                breaks=(5,),
            )
        ],
    )


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
