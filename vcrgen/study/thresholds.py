"""Thresholds of people: the share of visible ink at which they recover half of the spans, fitted as for models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vcrgen.dataset.views import View
from vcrgen.records import Mode, is_mode
from vcrgen.report.table import Percent, Table, TableCell
from vcrgen.scorer.curve_tables import format_bound, format_threshold_interval
from vcrgen.scorer.curves import LEAST_LEVELS
from vcrgen.scorer.records import Question
from vcrgen.stats.psychometric import Curve, count_answers, fit_curve
from vcrgen.study.grading import question_of
from vcrgen.study.records import GradedResponse, Rater, StudyDesign, StudyItem
from vcrgen.study.source import StudySource

EVERYBODY = "Everybody"


class HumanCurve(NamedTuple):
    """The psychometric curve of all people in a view, or of one of them."""

    name: str
    view: View
    texts: int
    curve: Curve


def human_curves(
    design: StudyDesign,
    graded: Sequence[GradedResponse],
    raters: Sequence[Rater],
    items: Sequence[StudyItem],
    source: StudySource,
) -> list[HumanCurve]:
    """Return a curve for all people, and for each of them; none with fewer than three levels of ink.

    The bootstrap of intervals is over images, and not over people: they are about these raters.
    """
    names, found = {rater.number: rater.name for rater in raters}, []
    for view, conditions in _levels(design):
        seen = [one for one in graded if one.condition in conditions]
        ink = [_ink(one, conditions, items, source) for one in seen]
        people = [(EVERYBODY, set(names)), *((names[number], {number}) for number in sorted({m.rater for m in seen}))]
        for name, numbers in people:
            mine = [(one, x) for one, x in zip(seen, ink, strict=True) if one.rater in numbers]
            if len({one.condition for one, _ in mine}) >= LEAST_LEVELS:
                found.append(HumanCurve(name, view, len(mine), _fit(mine, design.seed)))
    return found


def threshold_table(curves: Sequence[HumanCurve]) -> Table:
    """Return the thresholds of curves with their intervals."""
    rows: list[Sequence[TableCell]] = [
        (
            each.name,
            each.view.label,
            each.texts,
            format_bound(each.curve.threshold),
            format_threshold_interval(each.curve),
            Percent(each.curve.guess),
            Percent(each.curve.lapse),
        )
        for each in curves
    ]
    heads = ("Rater", "View", "Texts", "Threshold", "95 % interval", "Guess", "Lapse")
    return Table(title="Visible ink at which people recover half, in percent", heads=heads, labels=2, rows=rows)


def _levels(design: StudyDesign) -> Iterator[tuple[View, Mapping[int, str]]]:
    """Return each view with enough levels, and the mode of each condition by number."""
    by_view: dict[View, dict[int, str]] = {}
    for number, condition in enumerate(design.conditions):
        if is_mode(condition.mode) and Mode(condition.mode).ink is not None:
            by_view.setdefault(condition.view, {})[number] = condition.mode
    return ((view, found) for view, found in by_view.items() if len(found) >= LEAST_LEVELS)


def _ink(one: GradedResponse, conditions: Mapping[int, str], items: Sequence[StudyItem], source: StudySource) -> float:
    """Return the measured visible ink of a span, or else that of the level."""
    mode = conditions[one.condition]
    level = Mode(mode).ink
    assert level is not None
    question = question_of(source, items[one.item])
    assert isinstance(question, Question)
    return question.spans[one.place].ink.get(mode, level)


def _fit(seen: Sequence[tuple[GradedResponse, float]], seed: int) -> Curve:
    import numpy as np

    pictures, picture = np.unique([one.item for one, _ in seen], return_inverse=True)
    x, right = np.array([ink for _, ink in seen]), np.array([one.exact_match for one, _ in seen])
    level = np.array([one.condition for one, _ in seen])
    means = [float(x[level == each].mean()) for each in np.unique(level)]
    return fit_curve(count_answers(x, right, picture, len(pictures)), seed=seed, measured=(min(means), max(means)))
