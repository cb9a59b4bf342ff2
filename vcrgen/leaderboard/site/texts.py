"""Figures, sizes, dates and names as people read them; templates call these functions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from vcrgen.core.plurals import pluralize
from vcrgen.data.key import FEEDBACK
from vcrgen.data.tasks.task import LABELS, TASKS, VCR_TASK, ScoredTask
from vcrgen.data.tasks.wording import wording_of
from vcrgen.data.views import View
from vcrgen.leaderboard.disclosure import INSTANT_SENTENCE, in_points
from vcrgen.leaderboard.page_records import Estimate, Estimates, Group, ModelRun, PairwiseComparison, Track
from vcrgen.leaderboard.records import Feedback, SetLifecycle, TestSet
from vcrgen.leaderboard.times import day, minute
from vcrgen.report.charts import reach
from vcrgen.report.published.results import ReportedResult
from vcrgen.report.table import DASH, DECIMALS, MINUS, percent
from vcrgen.text.languages import LANGUAGES

VIEW_NOTES = {
    View.STACKED: "VI+TEI: the model sees the image with its caption, some words masked by covers.",
    View.TEI: "TEI: the model sees the masked caption on white, without the image.",
    View.STRIP: "TEI strip: the model sees only the strip with the masked caption.",
    View.IMAGE: "Image: the model sees the image with the question and its options.",
    View.TEXT_ONLY: "Text only: the model sees the question and its options, without the image.",
}
# Outcomes that have the colour of another task's.
_DRAWN_AS = {"right": "exact", "ambiguous": "short", "invalid": "beyond_limit"}
STATUS_NAMES = {
    "held": "Waiting for a maintainer",
    "queued": "Waiting to be scored",
    "scoring": "Being scored",
    "scored": "Scored",
    "failed": "Not scored",
    "removed": "Removed",
}
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", re.ASCII)
_WEB = re.compile(r"https?://[^\s\"'<>]+")


class EstimateTexts(NamedTuple):
    """A figure in percent, as texts: the mean, its 95 % interval, and the mean for sorting, with an ASCII sign."""

    value: str
    interval: str
    key: str


def decimals_of(track: Track | None) -> int:
    """Decimals of a percentage: two, or as many as the step of a hidden set needs."""
    if track is None or not track.step:
        return DECIMALS
    return max(0, -int(Decimal(in_points(track.step).split()[0]).as_tuple().exponent))


def estimate_texts(estimate: Estimate, decimals: int, *, sign: bool = False) -> EstimateTexts:
    """A figure as texts."""
    value = percent(estimate.value, decimals, sign=sign)
    low, high = (percent(end, decimals, sign=sign) for end in (estimate.low, estimate.high))
    return EstimateTexts(value, f"{low}{' to ' if sign else DASH}{high}", sort_key(value))


def sort_key(text: str) -> str:
    """A number for people as one that a program reads."""
    return text.replace(MINUS, "-").lstrip("+")


def by_metric(*estimates: Estimates) -> list[tuple[Any, ...]]:
    """The label of each metric that all of some figures have, and the figure that each of them has."""
    common = (metric for metric in LABELS if all(metric in figures for figures in estimates))
    return [(LABELS[metric], *(figures[metric] for figures in estimates)) for metric in common]


def axis_reach(differences: Iterable[Estimates]) -> float:
    """Half the width of an axis around zero that holds all intervals."""
    intervals = (estimate for estimates in differences for estimate in estimates.values())
    return reach(end for interval in intervals for end in (interval.low, interval.high))


def lifecycle_dates(lifecycle: SetLifecycle) -> str:
    """When a set takes files, in a few words."""
    if lifecycle.retired is not None:
        return f"retired on {day(lifecycle.retired)}"
    if lifecycle.closing is not None:
        return f"closed on {day(lifecycle.closing)}"
    opens = f"from {minute(lifecycle.opens)} UTC" if lifecycle.opens else ""
    closes = f"until {minute(lifecycle.closes)} UTC" if lifecycle.closes else ""
    return " ".join(filter(None, (opens, closes))) or "at any time"


def lifecycle_notes(track: Track) -> list[str]:
    """What readers of a hidden set's table have to know, as sentences."""
    lifecycle, notes = track.lifecycle, []
    if lifecycle.feedback is Feedback.INSTANT:
        notes.append(INSTANT_SENTENCE)
    if lifecycle.ladder_open:
        notes.append(
            f"While the set is open, one score of a model is shown: {track.task.leading.in_text} on "
            f"{track.view.label} over a part of the set, and only where it beats the best of its team by "
            f"{in_points(track.step)} or more. The other part is scored when the set is closed, of all models at once, "
            "and ranks them."
        )
    if lifecycle.closed is not None:
        notes.append(f"Closed on {day(lifecycle.closed)}. These scores are of the final split, one file per model.")
    elif lifecycle.opens is not None:
        notes.append(f"The set is open {lifecycle_dates(lifecycle)}.")
    elif lifecycle.closes is not None:
        notes.append(f"The set is open until {minute(lifecycle.closes)} UTC.")
    if lifecycle.retired is not None:
        notes.append(f"Retired on {day(lifecycle.retired)}: the set takes no more files.")
    if lifecycle.published is not None:
        notes.append(f"Its key was published on {day(lifecycle.published)}.")
    return notes


def example_lines(sets: Iterable[TestSet]) -> list[tuple[str, list[str]]]:
    """Lines of files of outputs, each with the sets that take it so."""
    lines: dict[str, list[str]] = {}
    for test_set in sets:
        line = test_set.output_line("...", next(iter(test_set.modes), ""), "...")
        lines.setdefault(line, []).append(test_set.name)
    return list(lines.items())


def languages_of(test_set: TestSet) -> tuple[str, ...]:
    """Codes of the languages in which a set asks."""
    return test_set.modes if test_set.task.axis == "lang" else (test_set.language,)


def modes_of(test_set: TestSet) -> tuple[str, ...]:
    """The modes of a set; none where its languages are in their place."""
    return () if test_set.task.axis == "lang" else test_set.modes


def step_shown(share: float | None, track: Track) -> str:
    """A step of a ladder in percent, or that there is none."""
    return "not better than the team's best" if share is None else percent(share, decimals_of(track))


def file_status(run: ModelRun) -> str:
    """What became of a file that is not the one on the board."""
    if run.removed:
        return f"removed: {run.removed}"
    if run.split != FEEDBACK:
        return "another file counts"
    return "tried: not better than the team's best" if run.best is None else f"tried: {100 * run.best:g} %"


def language_name(code: str) -> str:
    """A language's English name, or its code where the project does not know it."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def mode_name(mode: str) -> str:
    """A mode for people; ``any`` is of outputs that state none, where the set has none."""
    return "any mode" if mode == "any" else mode


def size_of(data: Track | TestSet) -> str:
    """How many questions and units there are, in words."""
    return wording_of(data.task).size(data.questions, data.spans)


def ranked_by(sets: Iterable[TestSet]) -> str:
    """The metrics that rank some sets, as they stand in a sentence."""
    return " or ".join(dict.fromkeys(test_set.task.leading.in_text for test_set in sets)) or VCR_TASK.leading.in_text


def logo(sets: Iterable[TestSet]) -> str:
    """Letters for what the sets of a board are."""
    return "VCR" if VCR_TASK in tasks_of(sets) else "MCQ"


def tasks_of(sets: Iterable[TestSet]) -> list[ScoredTask]:
    """The tasks of some sets, each once; of no set the first task."""
    names = {test_set.task.name for test_set in sets}
    return [task for name, task in TASKS.items() if name in names] or [VCR_TASK]


def track_name(track: Track) -> str:
    """Mode and view: what a set has several of."""
    return f"{mode_name(track.mode)}, {track.view.label}"


def sets_and_modes(title: str, tracks: Sequence[Track]) -> str:
    """A set by its title and which of its modes; of several modes their mean."""
    modes = " and ".join(mode_name(track.mode) for track in tracks)
    return f"{title}, {f'mean of {modes}' if len(tracks) > 1 else modes}"


def reported_setting(row: ReportedResult) -> str:
    """Language, mode and view of a publication's row; of a multiple-choice benchmark the mode is the language."""
    modes = [row.mode] if row.mode != row.language else []
    return ", ".join([language_name(row.language), *modes, row.view.label])


def measured_on(row: ReportedResult) -> str:
    """The data of a publication's row."""
    return ", ".join(filter(None, (row.data, pluralize(row.items, "image") if row.items else ""))) or DASH


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text of the maintainers, which empty lines divide; each keeps its lines."""
    return [paragraph.strip() for paragraph in re.split(r"\n[ \t]*\n", text) if paragraph.strip()]


def iso_day(text: str) -> str:
    """A day as it was typed, ``2026-01-31``, or nothing if it is none."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def file_size(count: int) -> str:
    """Bytes for people."""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return pluralize(count, "byte")


def paired_tests(part: PairwiseComparison) -> str:
    """The tests over single units of two models as sentences; empty for a hidden set."""
    sentences = []
    if part.only_a is not None and part.only_b is not None:
        done, what = wording_of(part.track.task).verb_correct, wording_of(part.track.task).unit_head.lower()
        sentences.append(f"Only A {done} {part.only_a:,} of {part.track.spans:,} {what}, only B {part.only_b:,}.")
    if part.p is not None:
        clusters = part.track.task.clusters
        sentences.append(
            f"Sign flips of {clusters}: p = {part.p:.2g}, for all pairs of the table {part.p_corrected:.2g}."
        )
    return " ".join(sentences)


def web_address(link: str) -> str:
    """The address if a browser may follow it, else nothing. Checked at intake; once more where it becomes a link."""
    return link if _WEB.fullmatch(link) else ""


def contact_link(contact: str) -> str:
    """The link of a contact if it is an address: of mail, or of a page. It may be any text."""
    return f"mailto:{contact}" if _MAIL.fullmatch(contact) else web_address(contact)


def outcome_parts(task: ScoredTask, outcomes: Mapping[str, int]) -> list[tuple[str, float, int, str]]:
    """Kind, share, units and words of the outcomes that occurred, in the order of the scorer."""
    total = sum(outcomes.values())
    counted = ((kind, outcomes.get(kind, 0), words) for kind, words in wording_of(task).outcomes.items())
    return [(_DRAWN_AS.get(kind, kind), count / total, count, words) for kind, count, words in counted if count]


def by_property(groups: Iterable[Group]) -> dict[str, list[Group]]:
    """Groups of spans by what they are grouped by."""
    by_name: dict[str, list[Group]] = {}
    for group in groups:
        by_name.setdefault(group.by, []).append(group)
    return by_name
