"""Times as a board shows them: to the minute, as how long scoring took tells in which split a long output is.

Pages, exports, answers of the API and messages format times here and nowhere else.
"""

from datetime import UTC, datetime


def minute(at: datetime) -> str:
    """Date and time in UTC, for people: ``2026-11-20 09:30``."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def iso_minute(at: datetime) -> str:
    """Date and time in UTC, for programs: ``2026-11-20T09:30+00:00``."""
    return at.astimezone(UTC).isoformat(timespec="minutes")


def day(at: datetime) -> str:
    """The date in UTC."""
    return at.astimezone(UTC).date().isoformat()
