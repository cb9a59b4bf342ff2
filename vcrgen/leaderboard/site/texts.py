"""Figures, sizes, dates and names as people read them, rounded once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from vcrgen.leaderboard.records import Figure, Track
from vcrgen.report.table import DASH, DECIMALS, MINUS, percent
from vcrgen.scorer.records import View
from vcrgen.text.languages import LANGUAGES

VIEW_NOTES = {
    View.STACKED: "VI+TEI: the model sees the picture and, below it, the caption with its covered words.",
    View.TEI: "TEI: the model sees the covered caption on white, without the picture.",
    View.STRIP: "TEI strip: the model sees only the strip with the covered caption.",
}
OUTCOME_NOTES = {
    "exact": "restored exactly",
    "wrong": "another text",
    "short": "output too short",
    "refused": "refused",
    "empty": "empty output",
    "null": "null output",
    "missing": "no output",
}
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", re.ASCII)
_WEB = re.compile(r"https?://[^\s\"'<>]+")


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure in percent, as texts.

    Attributes:
        value: The mean.
        interval: Its 95 % interval.
        key: The mean for sorting: with an ASCII sign.
        bar: The interval as a small drawing, or nothing.
    """

    value: str
    interval: str
    key: str
    bar: str = ""


def decimals_of(track: Track) -> int:
    """Decimals of a percentage: two, or as many as the step of a hidden set needs."""
    if not track.step:
        return DECIMALS
    return max(0, -int(Decimal(points(track)).as_tuple().exponent))


def points(track: Track) -> str:
    """What a hidden set's scores are rounded to, in percentage points."""
    return f"{round(100 * track.step, 6):f}".rstrip("0").rstrip(".")


def shown(figure: Figure, decimals: int, *, sign: bool = False, bar: str = "") -> Shown:
    """A figure as texts."""
    value = percent(figure.value, decimals, sign=sign)
    low, high = (percent(end, decimals, sign=sign) for end in (figure.low, figure.high))
    between = " to " if sign else DASH
    return Shown(value, f"{low}{between}{high}", value.replace(MINUS, "-").lstrip("+"), bar)


def language_name(code: str) -> str:
    """A language's English name, or its code where the project does not know it."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def mode_name(mode: str) -> str:
    """A mode for people; ``any`` is of outputs that state none, where the set has none."""
    return "any mode" if mode == "any" else mode


def track_name(track: Track) -> str:
    """Mode and view: what a set has several of."""
    return f"{mode_name(track.mode)}, {track.view.label}"


def day(moment: datetime) -> str:
    """The date in UTC."""
    return _utc(moment).strftime("%Y-%m-%d")


def minute(moment: datetime) -> str:
    """Date and time in UTC."""
    return _utc(moment).strftime("%Y-%m-%d %H:%M")


def file_size(count: int) -> str:
    """Bytes for people."""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def p_value(p: float) -> str:
    """A p-value with its sign of relation."""
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def web_address(link: str) -> str:
    """The address if a browser may follow it, else nothing. Checked at intake; once more where it becomes a link."""
    return link if _WEB.fullmatch(link) else ""


def contact_link(contact: str) -> str:
    """Where a contact leads, if it is an address; it may be any text."""
    return f"mailto:{contact}" if _MAIL.fullmatch(contact) else web_address(contact)


def outcome_parts(outcomes: Mapping[str, int]) -> list[tuple[str, str, int, float]]:
    """Kind, words, spans and share of the outcomes that occurred, in the order of the scorer."""
    total = sum(outcomes.values())
    return [
        (kind, words, count, count / total) for kind, words in OUTCOME_NOTES.items() if (count := outcomes.get(kind, 0))
    ]


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment
