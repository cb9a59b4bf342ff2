"""Facts about a model, by strangers and in publications: short texts that are checked before anything is stored."""

import re
from datetime import date
from enum import StrEnum
from urllib.parse import urlsplit

from vcrgen.core.errors import LeaderboardError

MAX_LINK = 300
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([MBT])", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BILLIONS = {"M": 0.001, "B": 1.0, "T": 1000.0}


class Access(StrEnum):
    """Availability of a model to others."""

    OPEN = "open"
    CLOSED = "closed"
    UNKNOWN = "unknown"


def parse_size(text: str) -> float | None:
    """Parameters in billions: ``350M`` is 0.35.

    Raises:
        LeaderboardError: It is not a number with M, B or T.
    """
    if not (text := text.strip()) or text == "-":
        return None
    if not (size := _SIZE.fullmatch(text)):
        raise LeaderboardError(f"The size is written like 7B, 1.3B or 350M, not {text[:20]!r}.")
    return round(float(size[1]) * _BILLIONS[size[2].upper()], 6)


def show_size(size: float | None) -> str:
    """A size for people, as `parse_size` reads it; empty for none."""
    if size is None:
        return ""
    return f"{size * 1000:g}M" if size < 1 else f"{size:g}B" if size < 1000 else f"{size / 1000:g}T"


def check_link(link: str) -> str:
    """An address that may stand on a page, or empty.

    Raises:
        LeaderboardError: It is no ``http`` or ``https`` address, or holds what has to be escaped.
    """
    if not link:
        return ""
    try:
        parts = urlsplit(link)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        fine = False
    if not fine or len(link) > MAX_LINK or not link.isascii() or re.search(r"[\x00-\x20\x7f\"'<>\\`{}|^]", link):
        raise LeaderboardError(f"The link has to be an http or https address of at most {MAX_LINK} plain characters.")
    return link


def parse_date(text: str) -> date | None:
    """A date as ``2026-01-31``; None for the empty text.

    Raises:
        LeaderboardError: It is not of that form.
    """
    if not text:
        return None
    try:
        if not _DATE.fullmatch(text):  # Python also takes days of a week, such as 2026-W05-6
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise LeaderboardError(f"The date of release is written like 2026-01-31, not {text[:20]!r}.") from None
