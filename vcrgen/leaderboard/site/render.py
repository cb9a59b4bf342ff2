"""Records in, whole HTML pages out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from vcrgen.leaderboard import records
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.leaderboard.records import State
from vcrgen.leaderboard.site import names, tables, texts
from vcrgen.leaderboard.site.names import compare_name
from vcrgen.leaderboard.tables import people_table
from vcrgen.published.facts import MAX_LINK, MAX_NAME, Access, show_size
from vcrgen.published.quoted import Quoted, quoted_metrics
from vcrgen.report import charts
from vcrgen.report.pages import Templates

REFRESH_SECONDS = 3


class Pages:
    """The pages of one board; ``site`` is what stands on all of them."""

    def __init__(self, site: records.Site) -> None:
        self._site = site
        self._models = {facts.entry: facts for facts in site.models}

    def board(self, table: records.BoardTable) -> str:
        """One table; the first one is also the index."""
        track = table.track
        rankings = [(ranking, tables.rows_of(table, ranking)) for ranking in table.rankings if ranking.rows]
        return self._render(
            "board.html", f"{track.set}, {texts.track_name(track)}", names.INDEX, track=track,
            step=in_points(track.step) if track.step else "", navigation=tables.navigation(self._site, track),
            view_notes=[note for view, note in texts.VIEW_NOTES.items() if view in table.views],
            columns=list(tables.columns_of(table)), rankings=rankings, climbers=table.climbers,
            charts_shown=tables.charts_of(rankings[0][0], track) if rankings else [], quoted=table.quoted,
            people=people_table(track.task, table.people) if table.people else None,
        )  # fmt: skip

    @property
    def has_headline(self) -> bool:
        """Whether the maintainers name sets for one figure a model."""
        return bool(self._site.settings.headline)

    def headline(self, rows: Sequence[records.Headline]) -> str:
        """One figure a model, over the sets that the maintainers name."""
        sets = [each for each in self._site.sets if each.name in self._site.settings.headline]
        return self._render("headline.html", "Overall", names.HEADLINE, rows=rows, sets=sets)

    def empty(self) -> str:
        """The index of a board without sets."""
        return self._render("empty.html", self._site.settings.title, names.INDEX)

    def model(self, page: records.ModelPage) -> str:
        """One model with everything that was handed in for it."""
        entry = page.facts.entry
        partners = [other for other in self._site.models if other.entry != entry]
        if not self._site.live:  # only some comparisons were exported
            partners = [
                other for other in partners if {(entry, other.entry), (other.entry, entry)} & self._site.compared
            ]
        return self._render(
            "model.html", page.facts.model, "", model=tables.describe(page.facts), entry=entry, partners=partners,
            runs=[run for run in page.runs if run.current and not run.removed],
            old=[run for run in page.runs if run.removed or not run.current],
        )  # fmt: skip

    def compare(self, page: records.ComparePage) -> str:
        """Two models side by side."""
        reach = texts.reach_of(part.difference for part in page.parts)  # one axis for all parts
        title = f"{page.a.model} and {page.b.model}"
        return self._render("compare.html", title, names.COMPARE, page=page, reach=reach)

    def choose(self) -> str:
        """Which two models to compare: a form in a service, a list of links in a folder of files."""
        known = self._models
        pairs = [(known[a], known[b], compare_name(a, b)) for a, b in self._site.compared if {a, b} <= known.keys()]
        pairs.sort(key=lambda pair: (pair[0].model.casefold(), pair[1].model.casefold(), pair[2]))
        return self._render("choose.html", "Compare two models", names.COMPARE, pairs=pairs)

    def gap(self, gaps: Sequence[records.Gap]) -> str:
        """Models on a public and on a hidden set."""
        return self._render("gap.html", "Public and hidden sets", names.GAP, gaps=gaps)

    def history(self, events: Sequence[records.Event]) -> str:
        """The log, the newest first."""
        newest_first = sorted(events, key=lambda event: event.number, reverse=True)
        return self._render("history.html", "History", names.HISTORY, events=newest_first, models=self._models)

    def quoted(self, rows: Sequence[Quoted]) -> str:
        """All rows from publications."""
        return self._render("quoted.html", "Quoted from publications", names.QUOTED, quoted=rows)

    def about(self) -> str:
        """How to hand in outputs, and how they are scored and ranked."""
        hidden = {track.set: track for track in reversed(self._site.tracks) if track.step}
        tasks = texts.tasks_of(self._site.sets)
        views = [view for task in tasks for view in task.board_views]
        return self._render(
            "about.html",
            "About",
            names.ABOUT,
            hidden=list(reversed(hidden.values())),
            view_notes=[texts.VIEW_NOTES[view] for view in views],
            tasks=tasks,
            views=views,
            axes=[task.axis_label.lower() for task in tasks],
        )

    def team(self, page: records.TeamPage | None, token: str, problems: Sequence[str]) -> str:
        """A team's files and what is left to it, for itself; without a page, the form that asks for its token.

        The token goes back to the one who sent it, so that a file can be chosen with a click and no cookie is needed.
        """
        return self._render("team.html", "Our files", names.TEAM, page=page, token=token, problems=problems)

    def manage(self, files: Sequence[records.Submission] | None, token: str, problems: Sequence[str]) -> str:
        """What maintainers may change; without files, the form that asks for their token, which goes back to them."""
        return self._render(
            "manage.html", "For maintainers", names.MANAGE, files=files, token=token, problems=problems,
            kinds=[access.value for access in Access], size_of=show_size,
        )  # fmt: skip

    def submit(self, values: Mapping[str, str], problems: Sequence[str], checked: bool = False) -> str:
        """The form to hand in outputs, with what was filled in before; a token is never filled in again.

        ``checked`` says that a file was looked at and is good.
        """
        fields = ("set", "model", "link", "access", "size", "released", "private")
        return self._render(
            "submit.html", "Submit outputs", names.SUBMIT, values={name: values.get(name, "") for name in fields},
            problems=problems, checked=checked, longest_name=MAX_NAME, longest_link=MAX_LINK,
            kinds=[access.value for access in Access],
        )  # fmt: skip

    def status(
        self, submission: records.Submission, waiting: int, cells: Sequence[records.ModelCell],
        told: records.Told | None = None,
    ) -> str:  # fmt: skip
        """Where a submission stands: how many are scored before it, or its scores once it has been scored."""
        going_on = submission.state in (State.QUEUED, State.SCORING)
        return self._render(
            "status.html", "Your submission", names.SUBMIT, submission=submission, waiting=waiting, cells=cells,
            told=told, model=tables.describe(submission.facts), refresh=REFRESH_SECONDS if going_on else 0,
        )  # fmt: skip

    def message(self, title: str, text: str) -> str:
        """A page that only says something: not found, too large, too many requests."""
        return self._render("message.html", title, "", text=text)

    def _render(self, template: str, title: str, current: str, **values: Any) -> str:
        site = self._site
        both = {track.hidden for track in site.tracks} == {False, True}
        links = (
            (names.INDEX, "Leaderboard", True),
            (names.HEADLINE, "Overall", self.has_headline),
            (names.GAP, "Public and hidden", both),
            (names.COMPARE, "Compare", site.live or bool(site.compared)),
            (names.QUOTED, "Quoted", True),
            (names.HISTORY, "History", True),
            (names.ABOUT, "About", True),
            (names.SUBMIT, "Submit", site.live),
            (names.TEAM, "Our files", site.live),
        )
        return _templates().render(
            template, site=site, title=title, current=current,
            links=[(name, label) for name, label, there in links if there],
            updated=texts.minute(site.updated) if site.updated else "",
            contact_link=texts.contact_link(site.settings.contact), **values,
        )  # fmt: skip


def policy(*, header: bool = True) -> str:
    """The content security policy of all pages, for the HTTP header or else for the ``<meta>`` of a page."""
    return _templates().policy(header=header)


@cache
def _templates() -> Templates:
    return Templates(
        "vcrgen.leaderboard.site", style="board.css", script="board.js", forms=True,
        names=names, texts=texts, charts=charts, describe=tables.describe,
        quoted_metrics=quoted_metrics,
    )  # fmt: skip
