"""Queries of a board: from the store, whose cells have passed ``disclosure.py``, to the records that pages show.

What is computed of scores here, comparisons and differences, passes it as well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from vcrgen.data.tasks.wording import wording_of
from vcrgen.leaderboard import records
from vcrgen.leaderboard.model_facts import lookalikes
from vcrgen.leaderboard.queries.comparisons import ComparisonQueries
from vcrgen.leaderboard.queries.models import ModelQueries
from vcrgen.leaderboard.queries.rankings import RankingQueries
from vcrgen.leaderboard.queries.state import SetRows as SetRows
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import MAINTAINER, last_event, read_log


class BoardQueries(RankingQueries, ModelQueries, ComparisonQueries):
    """All that pages, exports and the API show of a board."""

    def site(self, *, live: bool, compared: Collection[tuple[str, str]] = ()) -> records.Site:
        """Return the record that every page of a board shows."""
        models = {
            one.facts.entry: one.facts
            for each in self.sets.values()
            if each.lifecycle.ladder_open
            for one in submissions.public_files(self.connection, each.name)
        }
        models |= {row.facts.entry: row.facts for row in sorted(self.rows, key=lambda row: row.received)}
        return records.Site(
            settings=self.board.settings.model_copy(update=self._public_settings()),
            sets=tuple(self.sets.values()),
            tracks=tuple(self.tracks()),
            live=live,
            compared=frozenset(compared),
            models=tuple(sorted(models.values(), key=lambda facts: (facts.model.casefold(), facts.team.casefold()))),
            alike=lookalikes(models.values()),
            updated=last_event(self.connection)[1],
        )

    def _public_settings(self) -> dict[str, object]:
        """Settings without passwords, and with a title."""
        providers = tuple(
            each.model_copy(update={"client_secret": "", "client_id": ""}) for each in self.board.settings.oidc
        )
        return {"database": "", "sets": (), "oidc": providers, "title": self._title()}

    def _title(self) -> str:
        """The board's title, or else what its sets are."""
        names = list(dict.fromkeys(wording_of(one.task).title for one in self.sets.values()))
        return self.board.settings.title or (names[0] if len(names) == 1 else "Leaderboard")

    def events(self, *, after: int = 0, most: int | None = None) -> Sequence[records.Event]:
        """The lines of the log after a number, at most so many, without the maintainers' accounts on the machine."""
        return list(map(_public_event, read_log(self.connection, after=after, most=most)))


def _public_event(line: records.Event) -> records.Event:
    """Return a line of the log without a maintainer's account on the machine."""
    return replace(line, actor=MAINTAINER) if line.actor.startswith(MAINTAINER) else line
