"""The report on sample sizes: what is needed, for which settings it was measured, and how it changes with the size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from vcrgen.analysis.measured import FEWEST_TO_PRUNE, PRUNE_MODELS, PRUNE_SHARES
from vcrgen.analysis.sample_size import SizeCurve, curves
from vcrgen.config.analysis import SampleSizeOptions
from vcrgen.errors import AnalysisError
from vcrgen.report.charts import lines
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Percent, Table, TableCell

_HEIGHTS = (1, 2, 5, 10, 20)  # points at the top of a chart
_LIMITATIONS = (
    "A promise: an interval of another data set may be wider, and a test may miss a difference of this size.",
    "Sizes beyond the measured ones, and settings that were not measured: those are refused or left empty.",
    "Systematic faults: more images of a wrong kind, or raters of another group than meant, do not help.",
)


def sample_size_document(options: SampleSizeOptions, *, settings: str) -> Document:
    """Report the sizes that the options ask for.

    Raises:
        AnalysisError: A setting was not measured.
    """
    summary: list[str] = []
    sections: list[Section] = []
    for wanted, make in (
        (options.difference, _difference),
        (options.threshold, _threshold),
        (options.human, _human),
        (options.lost_tasks, _lost_tasks),
    ):
        if wanted is not None:
            sentence, section = make(options, wanted)
            summary.append(sentence)
            sections.append(section)
    return Document(
        title="Sample sizes",
        summary=summary,
        sections=sections,
        settings=settings,
        limitations=_LIMITATIONS,
        lead="From simulations with the tests and intervals of this package, stored with it "
        "(scripts/measure_sample_size.py). Between measured sizes numbers are interpolated.",
    )


def _difference(options: SampleSizeOptions, points: float) -> tuple[str, Section]:
    of_points = curves("difference", difference=points)
    chosen = curves("difference", difference=points, accuracy=options.accuracy, alike=options.alike)[0]
    needed = chosen.needed(options.power, is_power=True)
    sentence = (
        f"A difference of {_points(points)} between two models of about {options.accuracy:g} % is found with a power "
        f"of {options.power:g} by {_images(chosen, needed)}."
    )
    rows: list[Sequence[TableCell]] = [
        (f"{of.setting['accuracy']:g}", f"{of.setting['alike']:g}", _cell(of, of.needed(options.power, is_power=True)))
        for of in of_points
    ]
    at = [of for of in of_points if of.setting["accuracy"] == options.accuracy]
    series = [(f"alike {of.setting['alike']:g}", [(_place(of, n), v) for n, v in _pairs(of)]) for of in at]
    chart = _chart(
        f"Power for {_points(points)} at {options.accuracy:g} %, by number of images",
        at[0],
        series,
        [(share, f"power {share:g}") for share in (0.0, 0.5, 1.0)],
    )
    text = (
        "Images have 1 to 4 spans that correlate by .25. Two models do the same on a share of the spans (alike), but "
        "for the difference. The test is that of vcrgen compare, at 95 %, of 500 simulated pairs a number."
    )
    table = Table(title="Images for a difference", heads=("Accuracy, %", "Alike", "Images"), labels=2, rows=rows)
    return sentence, Section(title="Difference of two models", text=[text], charts=[chart], tables=[table])


def _threshold(options: SampleSizeOptions, width: float) -> tuple[str, Section]:
    of_levels = curves("threshold", levels=options.levels)
    chosen = curves("threshold", levels=options.levels, scale=options.scale)[0]
    sentence = (
        f"A threshold of visible ink is known to {_points(width)} on either side with "
        f"{_images(chosen, chosen.needed(width, is_power=False))}, each shown at {options.levels} levels."
    )
    rows: list[Sequence[TableCell]] = [
        (f"{of.setting['levels']:g}", f"{of.setting['scale']:g}", _cell(of, of.needed(width, is_power=False)))
        for of in curves("threshold")
    ]
    series = [(f"scale {of.setting['scale']:g}", _widths(of, of_levels)) for of in of_levels]
    chart = _chart(
        f"Half-width of a threshold's interval at {options.levels} levels, by number of images",
        chosen,
        series,
        _marks(of_levels),
    )
    text = (
        "Observers recover a span with a chance that is logistic in its visible ink; scale is that of the function, in "
        "points of ink (3 is steep, 10 flat). Of 20 simulated observers the mean half-width of the 95 % interval."
    )
    table = Table(title="Images for a threshold", heads=("Levels", "Scale", "Images"), labels=2, rows=rows)
    return sentence, Section(title="Threshold", text=[text], charts=[chart], tables=[table])


def _human(options: SampleSizeOptions, width: float) -> tuple[str, Section]:
    at = _of_people(options.human_accuracy)
    enough = [(of, needed) for of in at if (needed := of.needed(width, is_power=False)) is not None]
    known = f"a human baseline of about {options.human_accuracy:g} % is known to {_points(width)} on either side"
    if enough:
        few, needed = enough[0]
        sentence = f"{known[0].upper()}{known[1:]} with {few.setting['raters']:g} raters and {_images(few, needed)}"
        sentence += ", each seen by three of the raters."
    else:
        most = max(at, key=lambda of: of.setting["raters"])
        sentence = (
            f"With the most that were measured, {most.setting['raters']:g} raters and {most.images[-1]} images, "
            f"{known} in no case: ask more raters."
        )
    rows: list[Sequence[TableCell]] = [
        (f"{of.setting['accuracy']:g}", f"{of.setting['raters']:g}", _cell(of, of.needed(width, is_power=False)))
        for of in curves("human")
    ]
    series = [(f"{of.setting['raters']:g} raters", _widths(of, at)) for of in at]
    chart = _chart(
        f"Half-width of people's mean at {options.human_accuracy:g} %, by number of images", at[0], series, _marks(at)
    )
    text = (
        "Raters differ by .3 and images by .5 (standard deviations, logits); each image is seen by three raters. Of 40 "
        "simulated studies the mean half-width of the 95 % interval over images and raters."
    )
    table = Table(title="Images for a human baseline", heads=("Accuracy, %", "Raters", "Images"), labels=2, rows=rows)
    return sentence, Section(title="Human baseline", text=[text], charts=[chart], tables=[table])


def _lost_tasks(_: SampleSizeOptions, wanted: float) -> tuple[str, Section]:
    shares = dict(zip(PRUNE_MODELS, PRUNE_SHARES, strict=True))
    needed = next((models for models, (_, _, good) in shares.items() if 100 * good <= wanted), None)
    sentence = f"Pruning drops at most {wanted:g} % of good tasks (true loading .80) with {_models(needed, shares)}."
    heads = ("Models", "Good tasks dropped, %", "Redundant pairs that lose one, %", "Weak tasks dropped, %")
    rows: list[Sequence[TableCell]] = [
        (str(models), *(Percent(share, 1) for share in (good, pairs, weak)))
        for models, (pairs, weak, good) in shares.items()
    ]
    text = f"Of 100 simulated tables a size; limits: VIF 5, loading .75. A verdict takes {FEWEST_TO_PRUNE} models."
    table = Table(title="Models for pruning", heads=heads, labels=1, rows=rows)
    return sentence, Section(title="Pruning", text=[text], tables=[table])


def _models(needed: int | None, measured: Mapping[int, object]) -> str:
    """The smallest measured number of models, in words."""
    if needed is None:
        return f"more than {max(measured)} models, the most that were measured"
    return f"{needed} models" if needed > min(measured) else f"at most {needed} models"


def _of_people(accuracy: float) -> tuple[SizeCurve, ...]:
    """The curves of an accuracy; an error names the option by which people's is asked for."""
    try:
        return curves("human", accuracy=accuracy)
    except AnalysisError as problem:
        raise AnalysisError(str(problem).replace("--accuracy", "--human-accuracy")) from None


def _points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


def _images(of: SizeCurve, needed: int | None) -> str:
    return f"{_cell(of, needed)} images{', the most that were measured' if needed is None else ''}"


def _cell(of: SizeCurve, needed: int | None) -> str:
    if needed is None:
        return f"more than {of.images[-1]:,}"
    return f"{'at most ' if needed == of.images[0] else ''}{needed:,}"


def _pairs(of: SizeCurve) -> Iterator[tuple[int, float]]:
    return zip(of.images, of.values, strict=True)


def _place(of: SizeCurve, images: int) -> float:
    return math.log(images / of.images[0]) / math.log(of.images[-1] / of.images[0])


def _top(shown: Sequence[SizeCurve]) -> float:
    return next(step for step in _HEIGHTS if max(max(of.values) for of in shown) <= step)


def _widths(of: SizeCurve, shown: Sequence[SizeCurve]) -> list[tuple[float, float]]:
    return [(_place(of, images), value / _top(shown)) for images, value in _pairs(of)]


def _marks(shown: Sequence[SizeCurve]) -> list[tuple[float, str]]:
    return [(share, f"{share * _top(shown):g} points") for share in (0.0, 0.5, 1.0)]


def _chart(
    title: str,
    of: SizeCurve,
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    heights: Sequence[tuple[float, str]],
) -> Chart:
    drawing = lines(
        series,
        ticks=[(_place(of, images), f"{images:,}") for images in of.images],
        heights=heights,
        text=f"{title}: {len(series)} lines.",
    )
    return Chart(title=title, svg=drawing, note="Across: number of images, on a logarithmic scale.")
