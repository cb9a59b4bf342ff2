"""The share of ink at which people restore half of the texts, where a dataset has levels; by the fit of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vcrgen.dataset.views import View
from vcrgen.records import Mode, is_mode
from vcrgen.report.table import Percent, Table, TableCell
from vcrgen.scorer.curve_tables import bound_shown, interval_shown
from vcrgen.scorer.curves import LEAST_LEVELS
from vcrgen.scorer.records import Question
from vcrgen.stats.psychometric import Curve, count, fit_curve
from vcrgen.study.marks import question_of
from vcrgen.study.records import Frozen, Mark, Rater, StudyItem
from vcrgen.study.source import StudySource

EVERYBODY = "Everybody"


class PeopleCurve(NamedTuple):
    """A curve of all people in a view, or of one of them."""

    name: str
    view: View
    texts: int
    curve: Curve


def people_curves(
    frozen: Frozen, marks: Sequence[Mark], raters: Sequence[Rater], items: Sequence[StudyItem], source: StudySource
) -> list[PeopleCurve]:
    """A curve for all people, and for each of them; none where the study has fewer than three levels of ink.

    Intervals resample the pictures that were seen, and not the people: they are about these raters.
    """
    names, found = {rater.number: rater.name for rater in raters}, []
    for view, conditions in _levels(frozen):
        seen = [one for one in marks if one.condition in conditions]
        ink = [_ink(one, conditions, items, source) for one in seen]
        people = [(EVERYBODY, set(names)), *((names[number], {number}) for number in sorted({m.rater for m in seen}))]
        for name, numbers in people:
            mine = [(one, x) for one, x in zip(seen, ink, strict=True) if one.rater in numbers]
            if len({one.condition for one, _ in mine}) >= LEAST_LEVELS:
                found.append(PeopleCurve(name, view, len(mine), _fit(mine, frozen.seed)))
    return found


def threshold_table(curves: Sequence[PeopleCurve]) -> Table:
    """The thresholds of curves with their intervals."""
    rows: list[Sequence[TableCell]] = [
        (
            each.name, each.view.label, each.texts, bound_shown(each.curve.threshold), interval_shown(each.curve),
            Percent(each.curve.guess), Percent(each.curve.lapse),
        )
        for each in curves
    ]  # fmt: skip
    heads = ("Rater", "View", "Texts", "Threshold", "95 % interval", "Guess", "Lapse")
    return Table(title="Visible ink at which people restore half, in percent", heads=heads, labels=2, rows=rows)


def _levels(frozen: Frozen) -> Iterator[tuple[View, Mapping[int, str]]]:
    """Each view with enough levels, and the mode of each condition by number."""
    by_view: dict[View, dict[int, str]] = {}
    for number, condition in enumerate(frozen.conditions):
        if is_mode(condition.mode) and Mode(condition.mode).ink is not None:
            by_view.setdefault(condition.view, {})[number] = condition.mode
    return ((view, found) for view, found in by_view.items() if len(found) >= LEAST_LEVELS)


def _ink(one: Mark, conditions: Mapping[int, str], items: Sequence[StudyItem], source: StudySource) -> float:
    """The visible ink of a text as it was seen: as it was measured, or else that of the level."""
    mode = conditions[one.condition]
    level = Mode(mode).ink
    assert level is not None
    question = question_of(source, items[one.item])
    assert isinstance(question, Question)
    return question.spans[one.place].ink.get(mode, level)


def _fit(seen: Sequence[tuple[Mark, float]], seed: int) -> Curve:
    import numpy as np

    pictures, picture = np.unique([one.item for one, _ in seen], return_inverse=True)
    x, right = np.array([ink for _, ink in seen]), np.array([one.strict for one, _ in seen])
    level = np.array([one.condition for one, _ in seen])
    means = [float(x[level == each].mean()) for each in np.unique(level)]
    return fit_curve(count(x, right, picture, len(pictures)), seed=seed, measured=(min(means), max(means)))
