"""What a study has found: tables, notes, and the covered texts whose answers may be wrong, in every form of reports."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from vcrgen.bloom.audit.figures import rejected
from vcrgen.bloom.audit.report import HOW_TO_READ, NAMES
from vcrgen.config import ScoreOptions
from vcrgen.errors import StudyError
from vcrgen.files import indented_json
from vcrgen.media import data_uri
from vcrgen.plurals import counted
from vcrgen.published.people import InkBound, PeopleDifference, PeopleFile, PeopleScore, PeopleThreshold
from vcrgen.report.escape import escape_markdown, one_line
from vcrgen.report.forms import as_csv, as_markdown, as_narrow_latex
from vcrgen.report.pages import Templates
from vcrgen.report.table import MINUS, Interval, Number, Percent, Table, TableCell
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.run import Session
from vcrgen.stats.agreement import alpha, same_pairs
from vcrgen.study import figures
from vcrgen.study import store as db
from vcrgen.study.audit import answers_of, report_tables, shown_faults
from vcrgen.study.choice_report import CHANCE, model_choices, of_questions
from vcrgen.study.figures import OddKey
from vcrgen.study.make import check_source
from vcrgen.study.marks import CAUSES, agreed, answered, mark, question_of
from vcrgen.study.records import Condition, Frozen, Mark, Rater, RaterState, StudyItem, Wrong
from vcrgen.study.source import ChoiceSource, StudySource, questions_shown
from vcrgen.study.store import Store
from vcrgen.study.thresholds import EVERYBODY, PeopleCurve, people_curves, threshold_table
from vcrgen.tasks.task import TASKS

MOST_KEYS = 50  # that a report shows
STUDY_DIGITS = 16  # hex digits by which a board knows a study again
WIDE = {"Language", "Raters", "Languages", "State", "Why", "Path"}  # heads of columns for which a terminal has no room
INTERVAL = "95 % interval"


class ShownKey(NamedTuple):
    """A covered text whose answer may be wrong, with what a person needs to judge it."""

    key: OddKey
    question_id: str
    answer: str
    picture: str  # a ``data:`` URI
    questions: Sequence[Mapping[str, Any]]  # of an item of a question set, what was asked


class ModelMarks(NamedTuple):
    """What a model made of the covered texts."""

    name: str
    right: Mapping[str, Mapping[tuple[int, int], bool]]  # by label of the condition, then by item and place


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """All of a report; tables that would be empty are left out."""

    frozen: Frozen
    tables: Sequence[Table]
    notes: Sequence[str]
    keys: Sequence[ShownKey]
    scores: PeopleFile | None  # for a board; none of an audit
    faults: Sequence[Mapping[str, Any]] = ()  # of an audit, items that a rater did not approve


def make_report(store: Store, *, data: str | None = None, compare: Sequence[Path] = ()) -> StudyReport:
    """Score what people typed, and say what it shows.

    Args:
        store: The study.
        data: Where the dataset is now, if it was moved.
        compare: Files of model outputs for the same dataset, as `vcrgen score` takes them.

    Raises:
        StudyError: The dataset has changed, nobody has finished an item, or models are to be compared with an audit.
        VcrgenError: The dataset or a file of outputs cannot be read.
    """
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        raters, places = db.raters_of(connection), db.places_of(connection)
        study = hashlib.sha256(db.read_secret(connection).encode()).hexdigest()[:STUDY_DIGITS]
        causes, missing = db.causes_of(connection), len(db.wanted_slots(connection, frozen))
    nothing = StudyError(f"{store.folder}: nobody has finished an item yet, so there is nothing to report.")
    if frozen.draw:
        if compare:
            raise StudyError(f"{store.folder} is an audit, which is not compared with models; leave out --compare.")
        if not answered(places):
            raise nothing
        answers = answers_of(frozen.draw, items, places)
        tables = [table for table in report_tables(frozen.draw, items, answers) if table.rows]
        notes = [HOW_TO_READ, *_unfinished(raters, missing)]
        wanted = rejected(answers)
        if len(wanted) > MOST_KEYS:
            notes.append(f"A page shows the first {MOST_KEYS} of {len(wanted)} items that a rater did not approve.")
        faults = list(shown_faults(store, frozen.draw, items, answers, wanted[:MOST_KEYS]))
        return StudyReport(frozen=frozen, tables=tables, notes=notes, keys=[], scores=None, faults=faults)
    source = check_source(frozen, data)
    every = mark(source, items, places, agreed(causes), frozen.blind)
    if not every:
        raise nothing
    of_raters = figures.each_rater(every, places, frozen.options)
    out = {one.rater for one in of_raters if one.left_out}
    marks = [one for one in every if one.rater not in out]
    runs = _runs(source.place, frozen, items, compare)
    # Who had no picture to answer from says nothing of the key, and has no cause of errors.
    seen = [one for one in marks if one.condition not in frozen.blind]
    keys = figures.odd_keys(seen)
    curves = people_curves(frozen, marks, raters, items, source)
    tables = [
        people_table(frozen, marks), _view_table(frozen, marks), threshold_table(curves),
        *(_against(frozen, marks, run) for run in runs), _agreement(frozen, marks),
        _raters(of_raters, raters), *_causes(seen, causes), *_keys(keys, items, source),
    ]  # fmt: skip
    if frozen.choosing:
        tables = [of_questions(table) for table in tables]
    shown = [_shown(store, key, items[key.item], source) for key in keys[:MOST_KEYS]]
    scores = tuple(_scores(frozen, marks, curves))
    notes = list(_notes(frozen, raters, out, missing, causes, len(keys)))
    return StudyReport(
        frozen=frozen, tables=[table for table in tables if table.rows], notes=notes, keys=shown,
        scores=PeopleFile(
            study=study, data=source.key.facts["data"], language=frozen.lang, scores=scores,
            differences=tuple(_differences(frozen, marks)),
        ),
    )  # fmt: skip


def _by_condition(frozen: Frozen, marks: Sequence[Mark]) -> Iterator[tuple[Condition, list[Mark]]]:
    """Each condition that has marks, with these."""
    for number, condition in enumerate(frozen.conditions):
        if mine := [one for one in marks if one.condition == number]:
            yield condition, mine


def people_table(frozen: Frozen, marks: Sequence[Mark]) -> Table:
    """As the published table: the mean over passes and the deviation over raters, all errors and filtered."""
    rows: list[Sequence[TableCell]] = []
    for condition, mine in _by_condition(frozen, marks):
        every, some, typed = (
            figures.human(mine, right, seed=frozen.seed) for right in (figures.strict, figures.filtered, figures.typed)
        )
        interval = Interval(every.interval.low, every.interval.high)
        cells = (cell for one in (every, some, typed) for cell in (Percent(one.mean), Percent(one.sd)))
        first, sd, *rest = cells
        rows.append((frozen.lang, condition.label, every.spans, every.raters, first, sd, interval, *rest))
    heads = ("Language", "Mode and view", "Spans", "Raters", "All", "sd", INTERVAL, "Filtered", "sd", "typed", "sd")
    return Table(title="People, exact match in percent", heads=heads, labels=2, rows=rows)


def _view_differences(frozen: Frozen, marks: Sequence[Mark]) -> Iterator[tuple[str, figures.ViewDifference]]:
    """Of each mode or language that was seen in both views, the one minus the other."""
    views = TASKS[frozen.task].view_contrast
    for mode in dict.fromkeys(condition.mode for condition in frozen.conditions):
        first, second = (
            [one for one in marks if frozen.conditions[one.condition] == Condition(mode, view)] for view in views
        )
        if found := figures.view_difference(first, second, seed=frozen.seed):
            yield mode, found


def _view_table(frozen: Frozen, marks: Sequence[Mark]) -> Table:
    """What the picture, or the part of it that one view lacks, is worth to people."""
    task = TASKS[frozen.task]
    rows: list[Sequence[TableCell]] = [
        (
            mode, found.spans, *map(Percent, found.means), Percent(found.difference.value, sign=True),
            Interval(found.difference.low, found.difference.high, sign=True),
        )
        for mode, found in _view_differences(frozen, marks)
    ]  # fmt: skip
    heads = ("Mode", "Spans", *(view.label for view in task.view_contrast), task.contrast_label, INTERVAL)
    return Table(title=f"People, {task.contrast_label}, paired", heads=heads, labels=1, rows=rows)


def _scores(frozen: Frozen, marks: Sequence[Mark], curves: Sequence[PeopleCurve]) -> Iterator[PeopleScore]:
    """What a board shows of the people: a score for each mode and view, with the threshold of all of them."""
    thresholds = {each.view: _threshold(each) for each in curves if each.name == EVERYBODY}
    for condition, mine in _by_condition(frozen, marks):
        found = figures.human(mine, figures.strict, seed=frozen.seed)
        # The interval is of the mean over marks: where passes are not whole, that over passes could be outside.
        yield PeopleScore(
            mode=condition.mode, view=condition.view, people=found.raters, items=len({one.cluster for one in mine}),
            spans=found.spans, exact=found.mean, low=min(found.interval.low, found.mean),
            high=max(found.interval.high, found.mean), sd=found.sd, threshold=thresholds.get(condition.view),
        )  # fmt: skip


def _differences(frozen: Frozen, marks: Sequence[Mark]) -> Iterator[PeopleDifference]:
    of = TASKS[frozen.task].contrast_name
    for mode, found in _view_differences(frozen, marks):
        ends = found.difference
        yield PeopleDifference(mode=mode, of=of, spans=found.spans, value=ends.value, low=ends.low, high=ends.high)


def _threshold(found: PeopleCurve) -> PeopleThreshold:
    value, low, high = (
        InkBound(value=bound.value, side=bound.side)  # type: ignore[arg-type]
        for bound in (found.curve.threshold, found.curve.low, found.curve.high)
    )
    return PeopleThreshold(value=value, low=low, high=high)


def _against(frozen: Frozen, marks: Sequence[Mark], run: ModelMarks) -> Table:
    rows: list[Sequence[TableCell]] = []
    for condition, mine in _by_condition(frozen, marks):
        model = run.right.get(condition.label, {})
        found = figures.against(mine, model, seed=frozen.seed)
        if found is None:
            continue
        both = [one for one in mine if (one.item, one.place) in model]
        people = mean(float(one.strict) for one in both)
        machine = mean(float(model[one.item, one.place]) for one in both)
        interval = Interval(found.low, found.high, sign=True)
        spans = len({(one.item, one.place) for one in both})
        figures_shown = (Percent(people), Percent(machine), Percent(found.value, sign=True))
        rows.append((condition.label, spans, *figures_shown, interval))
    heads = ("Mode and view", "Spans", "People", "Model", f"People {MINUS} model", INTERVAL)
    return Table(title=f"People and {one_line(run.name)}", heads=heads, labels=1, rows=rows)


def _agreement(frozen: Frozen, marks: Sequence[Mark]) -> Table:
    rows: list[Sequence[TableCell]] = []
    for condition, mine in _by_condition(frozen, marks):
        found = figures.agreement(mine)
        same = Percent(found.same / found.pairs) if found.pairs else None
        alphas = (Number(value, 3) for value in (found.nominal, found.edit, found.right, found.ac1))
        rows.append((condition.label, found.pairs, same, *alphas))
    heads = ("Mode and view", "Pairs", "Same, %", "alpha texts", "alpha edits", "alpha right", "AC1 right")
    return Table(title="Agreement", heads=heads, labels=1, rows=rows)


def _raters(of_raters: Sequence[figures.OneRater], raters: Sequence[Rater]) -> Table:
    known = {rater.number: rater for rater in raters}
    rows: list[Sequence[TableCell]] = []
    for one in of_raters:
        remarks = [*(["odd"] if one.odd else []), *(["left out"] if one.left_out else [])]
        rows.append(
            (
                known[one.rater].name, known[one.rater].languages, known[one.rater].phase.value, ", ".join(remarks),
                one.items, one.spans, Percent(one.strict), Percent(one.typed), one.unread, Number(one.seconds, 1),
                _of(one.checks), _of(one.repeats), Percent(one.same[0] / one.same[1]) if one.same[1] else None,
            )
        )  # fmt: skip
    heads = (
        *("Rater", "Languages", "State", "Remark", "Items", "Spans", "All", "typed", "Unread", "Seconds"),
        *("Checks", "Repeats", "Same, %"),
    )
    return Table(title="Raters", heads=heads, labels=4, rows=rows)


def _of(counts: tuple[int, int]) -> str | None:
    return f"{counts[0]} of {counts[1]}" if counts[1] else None


def _causes(marks: Sequence[Mark], causes: Mapping[str, Mapping[Wrong, str]]) -> Iterator[Table]:
    """How many errors have which cause; and how far the maintainers agree, where two of them named causes."""
    stand, wrong = agreed(causes), [one for one in marks if not one.strict]
    if not causes:
        return
    counted: dict[str, int] = {}
    for one in wrong:
        if one.typed or not one.unread:
            cause = stand.get((one.item, one.place, one.typed), "")
            counted[cause] = counted.get(cause, 0) + 1
    names = {**CAUSES, "": "none, or not agreed on"}
    unread = sum(one.unread and not one.typed for one in wrong)
    rows = [(names[cause], counted[cause]) for cause in names if cause in counted]
    yield Table(title="Causes of errors", heads=("Cause", "Errors"), labels=1, rows=[*rows, ("not typed", unread)])
    if len(causes) > 1:
        units = [
            [of_one[about] for of_one in causes.values() if about in of_one]
            for about in sorted({about for of_one in causes.values() for about in of_one})
        ]
        same, pairs = same_pairs(units)
        share = Percent(same / pairs) if pairs else None
        heads = ("Maintainers", "Pairs", "the same", "alpha")
        row = (", ".join(causes), pairs, share, Number(alpha(units), 3))
        yield Table(title="Agreement on causes", heads=heads, labels=1, rows=[row])


def _keys(keys: Sequence[OddKey], items: Sequence[StudyItem], source: StudySource) -> Iterator[Table]:
    nobody = "nobody has it right" if isinstance(source, ChoiceSource) else "nobody restores it"
    rows = [
        (
            items[key.item].question_id, key.place + 1, question_of(source, items[key.item]).answers[key.place],
            "all agree on another" if key.agreed else nobody,
            "; ".join(filter(None, key.typed))[:200], key.raters,
        )
        for key in keys[:MOST_KEYS]
    ]  # fmt: skip
    heads = ("Item", "Span", "Answer", "Why", "Typed", "Raters")
    yield Table(title="Answers that may be wrong", heads=heads, labels=5, rows=rows)


def _shown(store: Store, key: OddKey, item: StudyItem, source: StudySource) -> ShownKey:
    with store.reading() as connection:
        png = db.picture_of(connection, item.number, 0)  # the easiest mode comes first
    question = question_of(source, item)
    return ShownKey(key, item.question_id, question.answers[key.place], data_uri(png), questions_shown(question))


def _notes(
    frozen: Frozen, raters: Sequence[Rater], out: Iterable[int], missing: int,
    causes: Mapping[str, object], keys: int,
) -> Iterator[str]:  # fmt: skip
    options = frozen.options
    limits = [
        f"fewer than {100 * options[name]:g} % of their {what}"
        for name, what in (("min_checks", "attention checks right"), ("min_repeats", "repeated texts typed alike"))
        if options[name]
    ]
    who = ", ".join(f"r{rater}" for rater in sorted(out)) or "nobody"
    if limits:
        yield f"Rule of this study: raters with {' or '.join(limits)} are left out: {who}."
    else:
        yield "Rule of this study: nobody is left out, whatever their attention checks and repeats."
    yield from _unfinished(raters, missing)
    if not causes and len(frozen.blind) < len(frozen.conditions):
        every = "RAE" if frozen.choosing else "All"
        yield f"Filtered is the same as {every}: nobody has marked causes yet (`vcrgen study adjudicate`)."
    if keys > MOST_KEYS:
        yield f"Only the first {MOST_KEYS} of {keys} answers that may be wrong are shown."
    if frozen.hidden:
        yield "The answers are secret, and this report shows some of them: keep it."
    if frozen.choosing:
        yield CHANCE
        return
    yield (
        "Intervals resample pictures and raters. `typed` takes no notice of case, quotes, full width and spaces; it is "
        "no score to set beside a model's."
    )


def _unfinished(raters: Sequence[Rater], missing: int) -> Iterator[str]:
    """Who is at work, and what nobody is asked."""
    working = [rater.name for rater in raters if rater.phase is RaterState.WORKING]
    if working:
        yield f"Still at work: {', '.join(working)}; what they have finished is counted, and they may change it."
    if missing:
        yield (
            f"{counted(missing, 'answer that the study wants is', 'answers that the study wants are')} with nobody; "
            "`vcrgen study invite` gives them to new people."
        )


def _runs(data: str, frozen: Frozen, items: Sequence[StudyItem], files: Sequence[Path]) -> list[ModelMarks]:
    """What models made of the items, by the same scorer."""
    if not files:
        return []
    numbers = {item.question_id: item.number for item in items if item.answers is None}
    if frozen.choosing:
        return [ModelMarks(*found) for found in model_choices(Path(data), frozen, numbers, list(files))]
    session = Session(Path(data), ScoreOptions(split=frozen.options["split"]))
    found = []
    for run in session.runs(list(files)):
        right: dict[str, dict[tuple[int, int], bool]] = {condition.label: {} for condition in frozen.conditions}
        for output in session.find(run, set(numbers)):
            for condition in frozen.conditions:
                if condition.view == output.view and output.mode in (condition.mode, UNSTATED):
                    marks = {
                        (numbers[output.question_id], place): match.exact for place, match in enumerate(output.matches)
                    }
                    right[condition.label] |= marks
        model = next((output.prediction.model for output in session.joined(run)), None)
        found.append(ModelMarks(model or run[0].path.stem, right))
    return found


def as_document(report: StudyReport, form: str) -> str:
    """A report as a document: ``md``, ``csv`` (one table after another), ``latex``, ``html``, or ``json``.

    Raises:
        StudyError: The form is another.
    """
    if form not in FORMS:
        raise StudyError(f"Unknown format {form!r}; known: {', '.join(('text', *FORMS))}.")
    return FORMS[form](report)


def _markdown(report: StudyReport) -> str:
    parts = [f"## {escape_markdown(table.title)}\n\n{as_markdown(table)}" for table in report.tables]
    notes = "\n".join(f"- {escape_markdown(note)}" for note in report.notes)
    return "\n\n".join([*parts, notes]) + "\n"


def _csv(report: StudyReport) -> str:
    return "\n".join(f"{table.title}\n{as_csv(table)}" for table in report.tables)


def _latex(report: StudyReport) -> str:
    parts = [f"% {one_line(table.title)}\n{as_narrow_latex(table)}" for table in report.tables]
    notes = [f"% {one_line(note)}" for note in report.notes]
    return "\n\n".join(["% needs \\usepackage{booktabs,graphicx}", *parts, *notes]) + "\n"


def _html(report: StudyReport) -> str:
    return _templates().render(
        "report.html", title="A study of people", frozen=report.frozen, tables=report.tables, notes=report.notes,
        keys=report.keys, faults=report.faults, names=NAMES,
    )  # fmt: skip


def _json(report: StudyReport) -> str:
    """The scores as `vcrgen leaderboard import` takes them: no text and nothing of a single person."""
    if report.scores is None:
        raise StudyError("Leaderboards take no verdicts of audits; choose another --format.")
    return indented_json(report.scores.as_json())


@functools.cache
def _templates() -> Templates:
    return Templates("vcrgen.study vcrgen.bloom.audit", style="item.css articles.css")


FORMS: Mapping[str, Callable[[StudyReport], str]] = {
    "md": _markdown, "csv": _csv, "latex": _latex, "html": _html, "json": _json,
}  # fmt: skip
