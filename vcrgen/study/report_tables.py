"""The tables of a study's report."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from vcrgen.data.tasks.task import TASKS
from vcrgen.report.escape import one_line
from vcrgen.report.table import MINUS, Interval, Number, Percent, Table, TableCell
from vcrgen.study import scoring
from vcrgen.study.grading import question_of
from vcrgen.study.model_answers import ModelAnswers
from vcrgen.study.records import GradedResponse, Rater, StudyDesign, StudyItem
from vcrgen.study.source import McqSource, StudySource

INTERVAL = "95 % interval"


def human_table(design: StudyDesign, graded: Sequence[GradedResponse]) -> Table:
    """Scores as papers print them: mean and SD over raters, with all errors and filtered."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in scoring.by_condition(design, graded):
        exact, filtered, lenient = (
            scoring.human_scores(mine, is_right, seed=design.seed)
            for is_right in (scoring.exact_match, scoring.filtered_match, scoring.lenient_match)
        )
        interval = Interval(exact.mean.low, exact.mean.high)
        all_three = (exact, filtered, lenient)
        first, sd, *rest = (cell for one in all_three for cell in (Percent(one.mean.value), Percent(one.sd)))
        rows.append((design.lang, condition.label, exact.spans, exact.raters, first, sd, interval, *rest))
    heads = (
        *("Language", "Mode and view", "Spans", "Raters", "Exact match", "sd", INTERVAL),
        *("Filtered", "sd", "Lenient", "sd"),
    )
    return Table(title="People, exact match in percent", heads=heads, labels=2, rows=rows)


def view_table(design: StudyDesign, graded: Sequence[GradedResponse]) -> Table:
    """Return the paired difference of two views of a task, such as with and without the picture."""
    task = TASKS[design.task]
    rows: list[Sequence[TableCell]] = [
        (
            mode,
            found.spans,
            *map(Percent, found.means),
            Percent(found.difference.value, sign=True),
            Interval(found.difference.low, found.difference.high, sign=True),
        )
        for mode, found in scoring.view_differences(design, graded)
    ]
    heads = ("Mode", "Spans", *(view.label for view in task.view_contrast), task.contrast_label, INTERVAL)
    return Table(title=f"People, {task.contrast_label}, paired", heads=heads, labels=1, rows=rows)


def model_table(design: StudyDesign, graded: Sequence[GradedResponse], model: ModelAnswers) -> Table:
    """Return the paired difference of people and a model, by condition."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in scoring.by_condition(design, graded):
        right = model.right.get(condition.label, {})
        found = scoring.human_minus_model(mine, right, seed=design.seed)
        if found is None:
            continue
        both = [one for one in mine if (one.item, one.place) in right]
        shares = (
            mean(float(one.exact_match) for one in both),
            mean(float(right[one.item, one.place]) for one in both),
        )
        spans = len({(one.item, one.place) for one in both})
        difference = (Percent(found.value, sign=True), Interval(found.low, found.high, sign=True))
        rows.append((condition.label, spans, *map(Percent, shares), *difference))
    heads = ("Mode and view", "Spans", "People", "Model", f"People {MINUS} model", INTERVAL)
    return Table(title=f"People and {one_line(model.name)}", heads=heads, labels=1, rows=rows)


def agreement_table(design: StudyDesign, graded: Sequence[GradedResponse]) -> Table:
    """Agreement of the raters, by condition."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in scoring.by_condition(design, graded):
        found = scoring.agreement(mine)
        same = Percent(found.same / found.pairs) if found.pairs else None
        alphas = (Number(value, 3) for value in (found.nominal, found.edit, found.right, found.ac1))
        rows.append((condition.label, found.pairs, same, *alphas))
    heads = ("Mode and view", "Pairs", "Same, %", "alpha texts", "alpha edits", "alpha right", "AC1 right")
    return Table(title="Agreement", heads=heads, labels=1, rows=rows)


def rater_table(statistics: Sequence[scoring.RaterStatistics], raters: Sequence[Rater]) -> Table:
    """A row for each rater who finished an item."""
    known = {rater.number: rater for rater in raters}
    rows: list[Sequence[TableCell]] = []
    for one in statistics:
        remarks = [*(["outlier"] if one.is_outlier else []), *(["excluded"] if one.is_excluded else [])]
        rows.append(
            (
                known[one.rater].name,
                known[one.rater].languages,
                known[one.rater].state.value,
                ", ".join(remarks),
                one.items,
                one.spans,
                Percent(one.exact_match),
                Percent(one.lenient_match),
                one.unread,
                Number(one.seconds, 1),
                _ratio(one.checks),
                _ratio(one.repeats),
                Percent(one.same[0] / one.same[1]) if one.same[1] else None,
            )
        )
    heads = (
        *("Rater", "Languages", "State", "Remark", "Items", "Spans", "Exact match", "Lenient", "Unread", "Seconds"),
        *("Checks", "Repeats", "Same, %"),
    )
    return Table(title="Raters", heads=heads, labels=4, rows=rows)


def key_table(keys: Sequence[scoring.SuspectKey], items: Sequence[StudyItem], source: StudySource) -> Table:
    """Suspect keys: answers that may be wrong."""
    nobody = "nobody has it right" if isinstance(source, McqSource) else "nobody recovers it"
    rows = [
        (
            items[key.item].question_id,
            key.place + 1,
            question_of(source, items[key.item]).answers[key.place],
            "all agree on another" if key.consensus else nobody,
            "; ".join(filter(None, key.typed))[:200],
            key.raters,
        )
        for key in keys
    ]
    heads = ("Item", "Span", "Answer", "Why", "Typed", "Raters")
    return Table(title="Answers that may be wrong", heads=heads, labels=5, rows=rows)


def _ratio(counts: tuple[int, int]) -> str | None:
    return f"{counts[0]} of {counts[1]}" if counts[1] else None
