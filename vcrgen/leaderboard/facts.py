"""What a team says of its model: short texts from strangers, checked once, before anything is stored."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from urllib.parse import urlsplit

from vcrgen.errors import LeaderboardError
from vcrgen.files import canonical_json

MAX_NAME = 80
MAX_LINK = 300
MAX_FILE_NAME = 100
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([MBT])", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BILLIONS = {"M": 0.001, "B": 1.0, "T": 1000.0}


class Access(StrEnum):
    """Whether others can run the model."""

    OPEN = "open"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One model as its team describes it; made by :func:`check_facts`.

    Attributes:
        team: Who submits.
        model: The model's name.
        link: An ``http`` or ``https`` address, or empty.
        access: Open weights or not.
        size: Parameters in billions, or None.
        released: Date of release, or None.
    """

    team: str
    model: str
    link: str = ""
    access: Access = Access.UNKNOWN
    size: float | None = None
    released: date | None = None

    @property
    def entry(self) -> str:
        """Twelve hex digits that stand for team and model: the name of the model's page."""
        return entry_of(self.team, self.model)


@functools.lru_cache(maxsize=4096)
def entry_of(team: str, model: str) -> str:
    """The entry of a team's model; names that differ in case only are the same."""
    return hashlib.sha256(canonical_json([team.casefold(), model.casefold()]).encode()).hexdigest()[:12]


def check_facts(
    *, team: str, model: str, link: str = "", access: str = "", size: str = "", released: str = ""
) -> ModelFacts:
    """Check what a form, an API call or a command line says of a model.

    Args:
        team: 1 to 80 visible characters.
        model: The same.
        link: An address that begins with ``http://`` or ``https://``; empty for none.
        access: ``open``, ``closed`` or ``unknown``; empty for unknown.
        size: Parameters such as ``7B``, ``1.3B`` or ``350M``; empty for unknown.
        released: ``YYYY-MM-DD``; empty for unknown.

    Raises:
        LeaderboardError: One of them is not that; says which.
    """
    if access not in ("", *Access):
        raise LeaderboardError(f"The access is one of {', '.join(Access)}, not {access[:20]!r}.")
    return ModelFacts(
        team=check_name(team, "team"),
        model=check_name(model, "model"),
        link=check_link(link.strip()),
        access=Access(access or Access.UNKNOWN),
        size=parse_size(size),
        released=_check_date(released.strip()),
    )


def check_name(text: str, what: str) -> str:
    """A name as it is stored: NFC, single spaces, nothing invisible.

    Raises:
        LeaderboardError: It is empty, too long, or holds characters that cannot be seen or that turn the text around.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise LeaderboardError(f"The name of the {what} is missing.")
    if len(name) > MAX_NAME:
        raise LeaderboardError(f"The name of the {what} is longer than {MAX_NAME} characters.")
    if odd := next((char for char in name if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")), None):
        raise LeaderboardError(f"The name of the {what} holds the invisible character U+{ord(odd):04X}; take it out.")
    return name


def file_name(name: str | None) -> str:
    """The last part of a file's name, for people to recognise; never used as a path."""
    last = re.split(r"[/\\]", name or "")[-1]
    shown = "".join(char for char in last if unicodedata.category(char)[0] not in "CZ" or char == " ").strip()
    return shown[-MAX_FILE_NAME:] or "predictions"


def parse_size(text: str) -> float | None:
    """Parameters in billions: ``350M`` is 0.35.

    Raises:
        LeaderboardError: It is not a number with M, B or T.
    """
    if not (text := text.strip()) or text == "-":
        return None
    if not (found := _SIZE.fullmatch(text)):
        raise LeaderboardError(f"The size is written like 7B, 1.3B or 350M, not {text[:20]!r}.")
    return round(float(found[1]) * _BILLIONS[found[2].upper()], 6)


def show_size(size: float | None) -> str:
    """A size for people, as :func:`parse_size` reads it; empty for none."""
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


def _check_date(text: str) -> date | None:
    if not text:
        return None
    try:
        if not _DATE.fullmatch(text):  # Python also takes days of a week, such as 2026-W05-6
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise LeaderboardError(f"The date of release is written like 2026-01-31, not {text[:20]!r}.") from None
