"""A team's facts about its model: short texts from strangers, checked once, before anything is stored."""

import difflib
import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.records import ModelFacts
from vcrgen.report.escape import check_name
from vcrgen.report.published.fields import Access, check_link, parse_date, parse_size, show_size
from vcrgen.text.lookalikes import skeleton

MAX_FILE_NAME = 100
MAX_SIZE = 100_000.0  # billions of parameters, about fifty times the largest model of 2026
FIRST_RELEASE = date(1950, 1, 1)
AHEAD = timedelta(days=366)  # that a release may lie in the future


def check_facts(
    *, team: str, model: str, link: str = "", access: str = "", size: str = "", released: str = ""
) -> ModelFacts:
    """Check what a form, an API call or a command line says of a model.

    Names have 1 to 80 visible characters. A link begins with ``http://`` or ``https://``, an access is ``open``,
    ``closed`` or ``unknown``, a size is written like ``7B``, ``1.3B`` or ``350M`` and is at most ``100T``, and a date
    is written like ``2026-01-31`` and lies at most a year ahead; each of these four may be empty for what is not known.

    Raises:
        LeaderboardError: One of them is not that; says which.
    """
    if access not in ("", *Access):
        raise LeaderboardError(f"The access is one of {', '.join(Access)}, not {access[:20]!r}.")
    billions, day = parse_size(size), parse_date(released.strip())
    if billions is not None and not 0 < billions <= MAX_SIZE:
        raise LeaderboardError(f"The size is at most {show_size(MAX_SIZE)} and more than 0, not {size[:20]!r}.")
    if day is not None and not FIRST_RELEASE <= day <= datetime.now(UTC).date() + AHEAD:
        raise LeaderboardError(f"The date of release is after 1950 and at most a year ahead, not {day}.")
    return ModelFacts(
        team=check_name(team, "team"),
        model=check_name(model, "model"),
        link=check_link(link.strip()),
        access=Access(access or Access.UNKNOWN),
        size=billions,
        released=day,
    )


def lookalikes(models: Iterable[ModelFacts]) -> frozenset[str]:
    """The entries of which the team or the model can be taken for that of another team, as its name looks the same.

    Models of several teams that are written the same are not among them: the team stands beside them.
    """
    teams, names = defaultdict(set), defaultdict(set)
    all_models = list(models)
    for facts in all_models:
        teams[_look(facts.team)].add(facts.team.casefold())
        names[_look(facts.model)].add((facts.team.casefold(), facts.model.casefold()))

    def alike(facts: ModelFacts) -> bool:
        team, model = facts.team.casefold(), facts.model.casefold()
        others = names[_look(facts.model)]
        return len(teams[_look(facts.team)]) > 1 or any(who != team and name != model for who, name in others)

    return frozenset(facts.entry for facts in all_models if alike(facts))


def taken_for(name: str, teams: Iterable[str]) -> list[str]:
    """Those of other teams whose names look the same as a name."""
    return [team for team in teams if _look(team) == _look(name) and team.casefold() != name.casefold()]


def near_team(name: str, teams: Iterable[str]) -> str:
    """The team that somebody may mean who writes a name that no team has; empty if there is none.

    Teams that differ in a letter or number of their own, as Team A and Team B, are not mistyped.
    """
    by_key = {team.casefold(): team for team in teams}
    if name.casefold() in by_key:
        return ""
    others = [key for key in by_key if _words(key) != _words(name.casefold())]
    near = difflib.get_close_matches(name.casefold(), others, n=1)
    return by_key[near[0]] if near else ""


def _words(name: str) -> list[str]:
    return [word for word in name.split() if len(word) > 1 and not word.isdigit()]


@functools.lru_cache(maxsize=4096)
def _look(name: str) -> str:
    return skeleton(name).casefold()


def file_name(name: str | None) -> str:
    """The last part of a file's name, for people to recognise; never used as a path."""
    last = re.split(r"[/\\]", name or "")[-1]
    visible = "".join(char for char in last if unicodedata.category(char)[0] not in "CZ" or char == " ").strip()
    return visible[-MAX_FILE_NAME:] or "predictions"
