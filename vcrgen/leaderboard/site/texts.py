"""Figures, sizes, dates and names as people read them; templates call these functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from vcrgen.dataset.key import FEEDBACK
from vcrgen.dataset.views import View
from vcrgen.leaderboard.disclosure import INSTANT_SENTENCE, in_points
from vcrgen.leaderboard.records import (
    Feedback,
    Figure,
    Figures,
    Group,
    ModelRun,
    Phase,
    TestSet,
    Track,
    Versus,
)
from vcrgen.plurals import counted
from vcrgen.published.quoted import Quoted
from vcrgen.report.charts import reach
from vcrgen.report.table import DASH, DECIMALS, MINUS, percent
from vcrgen.scorer.curve_tables import CurveChart, chart_of
from vcrgen.tasks.task import DEFAULT, LABELS, TASKS, ScoredTask
from vcrgen.text.languages import LANGUAGES

VIEW_NOTES = {
    View.STACKED: "VI+TEI: the model sees the picture with its caption, in which words are covered.",
    View.TEI: "TEI: the model sees the covered caption on white, without the picture.",
    View.STRIP: "TEI strip: the model sees only the strip with the covered caption.",
    View.IMAGE: "Image: the model sees the picture with the question and its options.",
    View.BLIND: "Blind: the model sees the question and its options, without the picture.",
}
# Outcomes that have the colour of another task's.
_DRAWN_AS = {"right": "exact", "ambiguous": "short", "invalid": "cut"}
STATE_NAMES = {
    "held": "Waiting for a maintainer",
    "queued": "Waiting to be scored", "scoring": "Being scored", "scored": "Scored", "failed": "Not scored",
    "removed": "Removed",
}  # fmt: skip
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", re.ASCII)
_WEB = re.compile(r"https?://[^\s\"'<>]+")


class Shown(NamedTuple):
    """A figure in percent, as texts: the mean, its 95 % interval, and the mean for sorting, with an ASCII sign."""

    value: str
    interval: str
    key: str


def decimals_of(track: Track | None) -> int:
    """Decimals of a percentage: two, or as many as the step of a hidden set needs."""
    if track is None or not track.step:
        return DECIMALS
    return max(0, -int(Decimal(in_points(track.step).split()[0]).as_tuple().exponent))


def shown(figure: Figure, decimals: int, *, sign: bool = False) -> Shown:
    """A figure as texts."""
    value = percent(figure.value, decimals, sign=sign)
    low, high = (percent(end, decimals, sign=sign) for end in (figure.low, figure.high))
    return Shown(value, f"{low}{' to ' if sign else DASH}{high}", sort_key(value))


def sort_key(text: str) -> str:
    """A number for people as one that a program reads."""
    return text.replace(MINUS, "-").lstrip("+")


def by_metric(*figures: Figures) -> list[tuple[Any, ...]]:
    """The label of each metric that all of some figures have, and the figure that each of them has."""
    common = (metric for metric in LABELS if all(metric in each for each in figures))
    return [(LABELS[metric], *(each[metric] for each in figures)) for metric in common]


def reach_of(differences: Iterable[Figures]) -> float:
    """How far an axis has to go on either side of zero to hold all intervals."""
    return reach(end for figures in differences for each in figures.values() for end in (each.low, each.high))


def phase_dates(phase: Phase) -> str:
    """When a set takes files, in a few words."""
    if phase.retired is not None:
        return f"retired on {day(phase.retired)}"
    if phase.closing is not None:
        return f"closed on {day(phase.closing)}"
    opens = f"from {minute(phase.opens)} UTC" if phase.opens else ""
    closes = f"until {minute(phase.closes)} UTC" if phase.closes else ""
    return " ".join(filter(None, (opens, closes))) or "at any time"


def phase_notes(track: Track) -> list[str]:
    """What a reader of a hidden set's table has to know of it, sentence by sentence."""
    phase, notes = track.phase, []
    if phase.feedback is Feedback.INSTANT:
        notes.append(INSTANT_SENTENCE)
    if phase.climbs:
        notes.append(
            f"While the set takes files, one figure of a model is shown: {track.task.leading.in_text} on "
            f"{track.view.label} over a part of the set, and only where it beats the best of its team by "
            f"{in_points(track.step)} or more. The other part is scored when the set is closed, of all models at once, "
            "and ranks them."
        )
    if phase.closed is not None:
        notes.append(
            f"Closed on {day(phase.closed)}. These scores are of the part that was kept for the end, one file a model."
        )
    elif phase.opens is not None:
        notes.append(f"The set takes files {phase_dates(phase)}.")
    elif phase.closes is not None:
        notes.append(f"The set takes files until {minute(phase.closes)} UTC.")
    if phase.retired is not None:
        notes.append(f"Retired on {day(phase.retired)}: the set takes no more files.")
    if phase.published is not None:
        notes.append(f"Its key was published on {day(phase.published)}.")
    return notes


def example_lines(sets: Iterable[TestSet]) -> list[tuple[str, list[str]]]:
    """Lines of files of outputs, each with the sets that take it so."""
    lines: dict[str, list[str]] = {}
    for one in sets:
        variant = f', "{one.task.axis}": "{one.modes[0]}"' if len(one.modes) > 1 else ""
        view = one.task.image_views[0]
        lines.setdefault(f'{{"question_id": "...", "output": "...", "view": "{view}"{variant}}}', []).append(one.name)
    return list(lines.items())


def languages_of(one: TestSet) -> tuple[str, ...]:
    """Codes of the languages in which a set asks."""
    return one.modes if one.task.axis == "lang" else (one.language,)


def modes_of(one: TestSet) -> tuple[str, ...]:
    """The modes of a set; none where its languages are in their place."""
    return () if one.task.axis == "lang" else one.modes


def step_shown(share: float | None, track: Track) -> str:
    """A step of a ladder in percent, or that there is none."""
    return "not better than the team's best" if share is None else percent(share, decimals_of(track))


def file_state(run: ModelRun) -> str:
    """What became of a file that is not the one which the board shows."""
    if run.removed:
        return f"removed: {run.removed}"
    if run.part != FEEDBACK:
        return "another file counts"
    return "tried: not better than the team's best" if run.best is None else f"tried: {100 * run.best:g} %"


def language_name(code: str) -> str:
    """A language's English name, or its code where the project does not know it."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def mode_name(mode: str) -> str:
    """A mode for people; ``any`` is of outputs that state none, where the set has none."""
    return "any mode" if mode == "any" else mode


def size_of(one: Track | TestSet) -> str:
    """How many questions and units it has, in words."""
    return one.task.size.format(questions=one.questions, units=one.spans)


def ranked_by(sets: Iterable[TestSet]) -> str:
    """The metrics that rank some sets, as they stand in a sentence."""
    return " or ".join(dict.fromkeys(one.task.leading.in_text for one in sets)) or DEFAULT.leading.in_text


def tasks_of(sets: Iterable[TestSet]) -> list[ScoredTask]:
    """The tasks of some sets, each once; of no set the first task."""
    found = {one.task.name: one.task for one in sets}
    return [task for name, task in TASKS.items() if name in found] or [DEFAULT]


def curve_charts(curves: Iterable[Mapping[str, Any]]) -> list[CurveChart]:
    """The charts of accuracy against visible ink, one a view."""
    return [chart_of(curve, View(curve["view"]).label) for curve in curves]


def track_name(track: Track) -> str:
    """Mode and view: what a set has several of."""
    return f"{mode_name(track.mode)}, {track.view.label}"


def sets_and_modes(tracks: Sequence[Track]) -> str:
    """A set and which of its modes; of several modes their mean."""
    modes = " and ".join(mode_name(track.mode) for track in tracks)
    return f"{tracks[0].set}, {f'mean of {modes}' if len(tracks) > 1 else modes}"


def quoted_setting(row: Quoted) -> str:
    """Language, mode and view of a publication's row; of a question set the mode is the language."""
    modes = [row.mode] if row.mode != row.language else []
    return ", ".join([language_name(row.language), *modes, row.view.label])


def measured_on(row: Quoted) -> str:
    """The data of a publication's row."""
    return ", ".join(filter(None, (row.data, counted(row.items, "image") if row.items else ""))) or DASH


def day(moment: datetime) -> str:
    """The date in UTC."""
    return minute(moment)[:10]


def minute(moment: datetime) -> str:
    """Date and time in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def file_size(count: int) -> str:
    """Bytes for people."""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return counted(count, "byte")


def tests_of(part: Versus) -> str:
    """What the tests over single texts say of two models; nothing where the set is hidden."""
    sentences = []
    if part.only_a is not None and part.only_b is not None:
        done, what = part.track.task.right, part.track.task.unit_head.lower()
        sentences.append(f"Only A {done} {part.only_a:,} of {part.track.spans:,} {what}, only B {part.only_b:,}.")
    if part.p is not None:
        p = "< 0.001" if part.p < 0.001 else f"= {part.p:.2g}"
        sentences.append(f"McNemar's exact test over single texts: p {p}.")
    return " ".join(sentences)


def web_address(link: str) -> str:
    """The address if a browser may follow it, else nothing. Checked at intake; once more where it becomes a link."""
    return link if _WEB.fullmatch(link) else ""


def contact_link(contact: str) -> str:
    """Where a contact leads, if it is an address; it may be any text."""
    return f"mailto:{contact}" if _MAIL.fullmatch(contact) else web_address(contact)


def outcome_parts(task: ScoredTask, outcomes: Mapping[str, int]) -> list[tuple[str, float, int, str]]:
    """Kind, share, units and words of the outcomes that occurred, in the order of the scorer."""
    total = sum(outcomes.values())
    found = ((kind, outcomes.get(kind, 0), words) for kind, words in task.outcomes.items())
    return [(_DRAWN_AS.get(kind, kind), count / total, count, words) for kind, count, words in found if count]


def by_property(groups: Iterable[Group]) -> dict[str, list[Group]]:
    """Groups of spans by what they are grouped by."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(group.by, []).append(group)
    return found
