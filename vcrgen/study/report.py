"""The report of a study: a document, the scores for a leaderboard, and items with pictures for its page."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.bloom.audit.audit_report import audit_document, audit_page
from vcrgen.bloom.audit.audit_statistics import audit_statistics, rejected_ids
from vcrgen.core.errors import StudyError
from vcrgen.core.media import data_uri
from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Document, Section, html_page, render
from vcrgen.report.published.human_baseline import HumanBaseline
from vcrgen.study import report_tables, scoring
from vcrgen.study.audit_study import rejected_item_views, study_verdicts
from vcrgen.study.causes import cause_table, check_has_causes, errors_of, excuse, read_causes
from vcrgen.study.creation import check_source
from vcrgen.study.exclusion import exclusion_rule
from vcrgen.study.grading import finished_steps, grade, question_of
from vcrgen.study.human_baseline import baseline_differences, baseline_scores
from vcrgen.study.mcq_report import as_mcq_table
from vcrgen.study.model_answers import read_model_answers
from vcrgen.study.records import ErrorId, Rater, RaterState, RaterStep, StudyDesign, StudyItem
from vcrgen.study.scoring import SuspectKey
from vcrgen.study.source import StudySource, displayed_questions
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design, read_secret
from vcrgen.study.store.items import read_items, read_picture
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import open_slots, read_steps

MAX_KEYS = 50  # items that a page shows
STUDY_DIGITS = 16  # hex digits that identify a study on a board


class SuspectItem(NamedTuple):
    """An answer that may be wrong, with what a person needs to judge it."""

    key: SuspectKey
    question_id: str
    answer: str
    picture: str  # a ``data:`` URI
    questions: Sequence[Mapping[str, Any]]  # of an MCQ item


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """A document, and the items that its page shows below."""

    design: StudyDesign
    document: Document
    suspects: Sequence[SuspectItem] = ()
    rejected: Sequence[Mapping[str, Any]] = ()  # of an audit
    rejected_count: int = 0

    def render(self, form: str) -> str:
        """Write the report as ``md``, ``csv``, ``latex``, ``html``, or ``json`` for a leaderboard.

        Raises:
            ConfigError: The format is another.
            StudyError: The rule of the study excludes everybody, so that a leaderboard has nothing to show.
        """
        if form == "json" and self.document.json_value and not self.document.json_value["scores"]:
            raise StudyError("The exclusion rule of this study leaves nobody, so there is no human baseline.")
        if form != "html":
            return render(self.document, form)
        if self.design.draw:
            return audit_page(self.document, self.rejected, self.rejected_count)
        return html_page(
            self.document,
            "vcrgen.study vcrgen.bloom.audit",
            "report.html",
            "question.css",
            is_mcq=self.design.is_mcq,
            suspects=self.suspects,
        )


def make_report(
    store: StudyStore, *, data: str | None = None, compare: Sequence[Path] = (), causes: Path | None = None
) -> StudyReport:
    """Score the responses of a study.

    Args:
        data: Where the dataset is now, if it was moved.
        compare: Files of model outputs for the same dataset, as `vcrgen score` takes them.
        causes: The list of errors with their causes.

    Raises:
        StudyError: The dataset has changed, nobody has finished an item, models are to be compared with an audit, or
            the list of errors is wrong.
        VcrgenError: The dataset or a file of outputs cannot be read.
    """
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        raters, steps = read_raters(connection), read_steps(connection)
        study = hashlib.sha256(read_secret(connection).encode()).hexdigest()[:STUDY_DIGITS]
        missing = len(open_slots(connection, design))
    if design.draw and compare:
        raise StudyError(f"{store.folder} is an audit, which is not compared with models; leave out --compare.")
    if causes:
        check_has_causes(store, design)
    source = None if design.draw else check_source(design, data)
    if not finished_steps(steps):
        raise StudyError(f"{store.folder}: nobody has finished an item yet, so there is nothing to report.")
    if source is None:
        return _audit_report(store, design, items, steps, list(_unfinished(raters, missing)))
    responses = grade(source, items, steps)
    errors = {response.error for response in errors_of(responses, design.text_only)}
    named = read_causes(causes, errors) if causes else {}
    responses = excuse(responses, named, design.text_only)
    statistics = scoring.rater_statistics(responses, steps, design, items)
    excluded = {rater.rater for rater in statistics if rater.is_excluded}
    graded = [response for response in responses if response.rater not in excluded]
    models = read_model_answers(Path(source.place), design, items, compare)
    # Responses without a picture say nothing of the key, and have no cause of errors.
    seen = [response for response in graded if response.condition not in design.text_only]
    keys = scoring.suspect_keys(seen)
    tables = [
        report_tables.human_table(design, graded),
        *([report_tables.human_table(design, responses, report_tables.ALL_PEOPLE)] if excluded else []),
        report_tables.view_table(design, graded),
        *(report_tables.model_table(design, graded, model) for model in models),
        report_tables.agreement_table(design, graded),
        report_tables.rater_table(statistics, raters),
        cause_table(seen, named),
        report_tables.key_table(keys[:MAX_KEYS], items, source),
    ]
    baseline = HumanBaseline(
        study=study,
        data=source.key.facts["data"],
        language=design.lang,
        scores=tuple(baseline_scores(design, graded)),
        differences=tuple(baseline_differences(design, graded)),
    )
    document = Document(
        title="Human baseline",
        lead=_lead(design),
        private=design.hidden,
        sections=[Section(tables=[as_mcq_table(table) if design.is_mcq else table for table in tables if table.rows])],
        limitations=list(_notes(design, raters, excluded, missing, named, len(keys))),
        settings=f"Signature of the dataset: {design.signature}",
        json_value=baseline.as_json(),
    )
    suspects = [_suspect_item(store, key, items[key.item], source) for key in keys[:MAX_KEYS]]
    return StudyReport(design=design, document=document, suspects=suspects)


def _audit_report(
    store: StudyStore, design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep], notes: list[str]
) -> StudyReport:
    assert design.draw is not None
    verdicts = study_verdicts(design.draw, items, steps)
    keys = {item.question_id: item.answers[0] for item in items if item.answers}
    document = audit_document(design.draw, verdicts, audit_statistics(design.draw, verdicts, keys), notes)
    question_ids = rejected_ids(verdicts)
    rejected = list(rejected_item_views(store, design.draw, items, verdicts, question_ids[:MAX_KEYS]))
    return StudyReport(design=design, document=document, rejected=rejected, rejected_count=len(question_ids))


def _lead(design: StudyDesign) -> str:
    raters = pluralize(design.options["raters"], "rater")
    if design.is_mcq:
        return f"{pluralize(design.items, 'question')}, {raters} for each in each language and view."
    return (
        f"{pluralize(design.items, 'item')} with {pluralize(design.spans, 'masked span')}, language {design.lang}, "
        f"{raters} for each item in each mode and view."
    )


def _suspect_item(store: StudyStore, key: SuspectKey, item: StudyItem, source: StudySource) -> SuspectItem:
    with store.reading() as connection:
        png = read_picture(connection, item.number, 0)  # the easiest mode comes first
    question = question_of(source, item)
    return SuspectItem(key, item.question_id, question.answers[key.place], data_uri(png), displayed_questions(question))


def _notes(
    design: StudyDesign,
    raters: Sequence[Rater],
    excluded: Iterable[int],
    missing: int,
    causes: Mapping[ErrorId, str],
    keys: int,
) -> Iterator[str]:
    if rule := exclusion_rule(design):
        names = ", ".join(f"r{rater}" for rater in sorted(excluded)) or "nobody"
        yield f"Exclusion rule, fixed before anybody answered: {rule}. Excluded: {names}."
    else:
        yield "This study excludes nobody, whatever they answered."
    yield from _unfinished(raters, missing)
    if not causes and len(design.text_only) < len(design.conditions):
        main = "RAE" if design.is_mcq else "Exact match"
        yield f"Filtered is the same as {main}, as no causes of errors are given (--causes)."
    if keys > MAX_KEYS:
        yield f"Only the first {MAX_KEYS} of {keys} answers that may be wrong are shown."
    intervals = "Intervals are of a two-way bootstrap over images and raters."
    if design.is_mcq:
        yield f"RAE is the share of questions with the right option; guessing gives 25 % with four options. {intervals}"
        return
    yield (
        f"{intervals} Lenient match ignores case, quotes, full width and spaces; it cannot be compared with a model's "
        "score."
    )


def _unfinished(raters: Sequence[Rater], missing: int) -> Iterator[str]:
    """Yield sentences on raters at work, and on slots that nobody has."""
    working = [rater.name for rater in raters if rater.state is RaterState.WORKING]
    if working:
        yield f"Still at work: {', '.join(working)}; their finished items count, and they may change them."
    if missing:
        yield (
            f"{pluralize(missing, 'response is', 'responses are')} not assigned to anybody; `vcrgen study invite` "
            "assigns them to new people."
        )
