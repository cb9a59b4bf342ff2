"""Curves for reports: tables, sentences, lines of a CSV, and what a page draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from vcrgen.plurals import pluralize
from vcrgen.report.charts import fitted_curve
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.scorer.comparison import ALPHA
from vcrgen.scorer.curves import ThresholdComparison
from vcrgen.scorer.results import RunCurve, RunResult
from vcrgen.stats.psychometric import LEAST_IMAGES, Bound, Curve

STEPS = 100  # places at which a page draws a curve
_SIGNS = {-1: "<", 0: "", 1: ">"}


def curve_table(results: Sequence[RunResult]) -> Table:
    """Thresholds, slopes and the limits of the curves."""
    rows = [
        (
            result.title,
            each.view.label,
            format_bound(each.curve.threshold),
            format_threshold_interval(each.curve),
            *_slope(each),
            Percent(each.curve.guess),
            Percent(each.curve.lapse),
            None if each.curve.fit_p is None else PValue(each.curve.fit_p),
        )
        for result, each in _curves(results)
    ]
    heads = ("Model", "View", "Threshold", "95 % interval", "Slope", "95 % interval", "Guess", "Lapse", "Fit p")
    return Table(
        title="Visible ink at which half of the spans are recovered, in percent", heads=heads, labels=2, rows=rows
    )


def _slope(each: RunCurve) -> tuple[TableCell, TableCell]:
    """Percent of spans that a percent of ink adds."""
    curve = each.curve
    if curve.slope is None or curve.slope_low is None or curve.slope_high is None:
        return None, None
    return Number(curve.slope), f"{Number(curve.slope_low)} to {Number(curve.slope_high)}"


def format_bound(bound: Bound) -> str:
    """A share in percent, with a sign where it is below or above all that was measured."""
    return f"{_SIGNS[bound.side]}{percent(bound.value)}"


def format_threshold_interval(curve: Curve) -> str:
    """Both ends of a threshold's interval."""
    return f"{format_bound(curve.low)} to {format_bound(curve.high)}"


def threshold_table(comparisons: Sequence[ThresholdComparison]) -> Table:
    """Differences of thresholds with their tests."""
    rows: list[tuple[TableCell, ...]] = []
    for each in comparisons:
        names = (each.a, each.b, each.view.label)
        if each.difference is None or each.p_holm is None:
            rows.append((*names, "outside", None, None))
        else:
            value, low, high, _ = each.difference
            rows.append((*names, Percent(value, sign=True), Interval(low, high, sign=True), PValue(each.p_holm)))
    heads = ("A", "B", "View", "Threshold", "95 % interval", "Holm p")
    return Table(title=f"Thresholds: A {MINUS} B, in percent of ink", heads=heads, labels=3, rows=rows)


def curve_sentences(results: Sequence[RunResult]) -> Iterator[str]:
    """A sentence for each curve."""
    return (f"{result.title}, {each.view.label}: {curve_sentence(each.curve)}" for result, each in _curves(results))


def curve_sentence(curve: Curve) -> str:
    """The threshold of a curve as a sentence, which begins with a small letter, and what makes it doubtful."""
    return " ".join((_threshold_sentence(curve), *_doubts(curve)))


def _threshold_sentence(curve: Curve) -> str:
    if curve.threshold.side:
        end, other = ("more", "highest") if curve.threshold.side > 0 else ("less", "lowest")
        return (
            "the threshold is outside of the measured levels: half of the spans would be recovered with "
            f"{end} than {percent(curve.threshold.value)} % of their ink, the {other} that was measured."
        )
    where, interval = percent(curve.threshold.value), f"95 % interval {format_threshold_interval(curve)}"
    if curve.between:
        low, high = map(percent, curve.between)
        return f"half of the spans are recovered at some share of ink between {low} and {high} % ({interval})."
    return f"half of the spans are recovered where {where} % of their ink is visible ({interval})."


def _doubts(curve: Curve) -> Iterator[str]:
    """Say that answers do not follow a rising curve, lie too far apart, or are of too few images."""
    if curve.between and not curve.threshold.side:
        yield "Hardly any answer lies on the rise of the curve: add levels in between."
    if curve.images < LEAST_IMAGES:
        few = pluralize(curve.images, "image is", "images are")
        yield f"{few} too few for an interval, which takes {LEAST_IMAGES}."
    if curve.fit_p is not None and curve.fit_p < ALPHA:
        yield f"The answers do not follow a rising curve (p = {curve.fit_p:.2g}), so do not report its threshold."


def curve_csv_rows(result: RunResult) -> Iterator[tuple[str, str, tuple[TableCell, ...], str]]:
    """Of each figure of each curve its view, name, value and interval (None where unknown), and a label.

    The label says ``below`` or ``above`` of a threshold outside of what was measured: the value is its nearest end.
    """
    for each in result.curves:
        curve = each.curve
        side = ("", "above", "below")[curve.threshold.side]
        ends = (curve.threshold.value, curve.low.value, curve.high.value)
        yield each.view.value, "threshold", tuple(map(Percent, ends)), side
        yield each.view.value, "slope", tuple(map(Number, (curve.slope, curve.slope_low, curve.slope_high))), side
        for name in ("guess", "lapse"):
            yield each.view.value, name, (Percent(getattr(curve, name)), None, None), ""


class CurveChart(NamedTuple):
    """A curve on a page."""

    title: str
    threshold: str  # in percent
    interval: str
    drawing: Markup


def curve_charts(results: Sequence[RunResult]) -> list[CurveChart]:
    """A chart of each curve."""
    return [curve_chart(each.as_json(), f"{result.title}, {each.view.label}") for result, each in _curves(results)]


def curve_chart(values: Mapping[str, Any], title: str) -> CurveChart:
    """The chart of a curve as results hold it (:meth:`vcrgen.scorer.curves.RunCurve.as_json`)."""
    curve = Curve.from_json(values)
    points = [
        (
            level["ink"],
            level["exact"],
            level["low"],
            level["high"],
            f"{level['mode']}: {percent(level['exact'])} % of the spans at {percent(level['ink'])} % of the ink",
        )
        for level in values["levels"]
    ]
    width = curve.high_x - curve.low_x
    places = [curve.low_x + width * step / STEPS for step in range(STEPS + 1)]
    drawing = fitted_curve(
        points,
        [(place, curve.share(place)) for place in places],
        ticks=[(share / 5, f"{20 * share} %") for share in range(6)],
        mark=None if curve.threshold.side else (curve.low.value, curve.threshold.value, curve.high.value),
    )
    return CurveChart(title, format_bound(curve.threshold), format_threshold_interval(curve), drawing)


def _curves(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, RunCurve]]:
    return ((result, each) for result in results for each in result.curves)
