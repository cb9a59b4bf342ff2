"""What a team says of its model: short texts from strangers, checked once, before anything is stored."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from vcrgen.errors import LeaderboardError
from vcrgen.files import canonical_json
from vcrgen.published.facts import Access, check_link, check_name, parse_date, parse_size

MAX_FILE_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One model as its team describes it; made by :func:`check_facts`."""

    team: str  # who submits
    model: str
    link: str = ""  # an http or https address, or empty
    access: Access = Access.UNKNOWN  # whether others can run the model
    size: float | None = None  # parameters in billions
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

    Names have 1 to 80 visible characters. A link begins with ``http://`` or ``https://``, an access is ``open``,
    ``closed`` or ``unknown``, a size is written like ``7B``, ``1.3B`` or ``350M`` and a date like ``2026-01-31``; each
    of these four may be empty for what is not known.

    Raises:
        LeaderboardError: One of them is not that; says which.
    """
    if access not in ("", *Access):
        raise LeaderboardError(f"The access is one of {', '.join(Access)}, not {access[:20]!r}.")
    return ModelFacts(
        team=check_name(team, "team"), model=check_name(model, "model"), link=check_link(link.strip()),
        access=Access(access or Access.UNKNOWN), size=parse_size(size), released=parse_date(released.strip()),
    )  # fmt: skip


def file_name(name: str | None) -> str:
    """The last part of a file's name, for people to recognise; never used as a path."""
    last = re.split(r"[/\\]", name or "")[-1]
    shown = "".join(char for char in last if unicodedata.category(char)[0] not in "CZ" or char == " ").strip()
    return shown[-MAX_FILE_NAME:] or "predictions"
