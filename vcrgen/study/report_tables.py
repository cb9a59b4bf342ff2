"""The tables of a study's report."""

from collections.abc import Sequence
from statistics import mean

from vcrgen.data.tasks.task import TASKS
from vcrgen.report.escape import one_line
from vcrgen.report.table import MINUS, Interval, Number, Percent, Table, TableCell
from vcrgen.study import scoring
from vcrgen.study.exclusion import Tally
from vcrgen.study.grading import question_of
from vcrgen.study.model_answers import ModelAnswers
from vcrgen.study.records import GradedResponse, Rater, StudyDesign, StudyItem
from vcrgen.study.source import McqSource, StudySource

INTERVAL = "95 % interval"
PEOPLE = "People, exact match in percent"
ALL_PEOPLE = "All raters, the excluded ones among them, exact match in percent"


def human_table(design: StudyDesign, graded: Sequence[GradedResponse], title: str = PEOPLE) -> Table:
    """Scores as papers print them: mean and SD over raters, with all errors and filtered."""
    rows: list[Sequence[TableCell]] = []
    for condition, own in scoring.by_condition(design, graded):
        exact, filtered, lenient = (
            scoring.human_scores(own, is_right, seed=design.seed)
            for is_right in (scoring.exact_match, scoring.filtered_match, scoring.lenient_match)
        )
        interval = Interval(exact.mean.low, exact.mean.high)
        all_three = (exact, filtered, lenient)
        first, sd, *rest = (cell for scores in all_three for cell in (Percent(scores.mean.value), Percent(scores.sd)))
        rows.append((design.lang, condition.label, exact.spans, exact.raters, first, sd, interval, *rest))
    heads = (
        *("Language", "Mode and view", "Spans", "Raters", "Exact match", "sd", INTERVAL),
        *("Filtered", "sd", "Lenient", "sd"),
    )
    return Table(title=title, heads=heads, labels=2, rows=rows)


def view_table(design: StudyDesign, graded: Sequence[GradedResponse]) -> Table:
    """The paired difference of two views of a task, such as with and without the picture."""
    task = TASKS[design.task]
    rows: list[Sequence[TableCell]] = [
        (
            mode,
            row.spans,
            *map(Percent, row.means),
            Percent(row.difference.value, sign=True),
            Interval(row.difference.low, row.difference.high, sign=True),
        )
        for mode, row in scoring.view_differences(design, graded)
    ]
    heads = ("Mode", "Spans", *(view.label for view in task.view_contrast), task.contrast_label, INTERVAL)
    return Table(title=f"People, {task.contrast_label}, paired", heads=heads, labels=1, rows=rows)


def model_table(design: StudyDesign, graded: Sequence[GradedResponse], model: ModelAnswers) -> Table:
    """The paired difference of people and a model, by condition."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in scoring.by_condition(design, graded):
        right = model.right.get(condition.label, {})
        gap = scoring.human_minus_model(mine, right, seed=design.seed)
        if gap is None:
            continue
        both = [response for response in mine if (response.item, response.place) in right]
        shares = (
            mean(float(response.exact_match) for response in both),
            mean(float(right[response.item, response.place]) for response in both),
        )
        spans = len({(response.item, response.place) for response in both})
        difference = (Percent(gap.value, sign=True), Interval(gap.low, gap.high, sign=True))
        rows.append((condition.label, spans, *map(Percent, shares), *difference))
    heads = ("Mode and view", "Spans", "People", "Model", f"People {MINUS} model", INTERVAL)
    return Table(title=f"People and {one_line(model.name)}", heads=heads, labels=1, rows=rows)


def agreement_table(design: StudyDesign, graded: Sequence[GradedResponse]) -> Table:
    """Agreement of the raters, by condition."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in scoring.by_condition(design, graded):
        agreement = scoring.agreement(mine)
        same = Percent(agreement.same / agreement.pairs) if agreement.pairs else None
        alphas = (Number(value, 3) for value in (agreement.nominal, agreement.edit, agreement.right, agreement.ac1))
        rows.append((condition.label, agreement.pairs, same, *alphas))
    heads = ("Mode and view", "Pairs", "Same, %", "alpha texts", "alpha edits", "alpha right", "AC1 right")
    return Table(title="Agreement", heads=heads, labels=1, rows=rows)


def rater_table(statistics: Sequence[scoring.RaterStatistics], raters: Sequence[Rater]) -> Table:
    """A row for each rater who finished an item."""
    by_number = {rater.number: rater for rater in raters}
    rows: list[Sequence[TableCell]] = []
    for figures in statistics:
        remarks = [*(["outlier"] if figures.is_outlier else []), *(["excluded"] if figures.is_excluded else [])]
        rows.append(
            (
                by_number[figures.rater].name,
                by_number[figures.rater].languages,
                by_number[figures.rater].state.value,
                ", ".join(remarks),
                figures.items,
                figures.spans,
                Percent(figures.exact_match),
                Percent(figures.lenient_match),
                figures.unread,
                Number(figures.seconds, 1),
                *map(_ratio, figures.conduct),
                Percent(figures.same[0] / figures.same[1]) if figures.same[1] else None,
            )
        )
    heads = (
        *("Rater", "Languages", "State", "Remark", "Items", "Spans", "Exact match", "Lenient", "Unread", "Seconds"),
        *("Checks", "Repeats", "Blank", "Fast", "Same, %"),
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


def _ratio(tally: Tally) -> str | None:
    return f"{tally.number} of {tally.total}" if tally.total else None
