"""Records in, whole HTML pages out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vcrgen.leaderboard import page_records, times
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.leaderboard.records import Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.site import names, tables, texts
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES, BoardPage
from vcrgen.leaderboard.site.listing import WHOLE, TableRequest, settle
from vcrgen.leaderboard.tables import cautions, human_table, pixel_table
from vcrgen.report import charts
from vcrgen.report.escape import MAX_NAME
from vcrgen.report.published.fields import MAX_LINK, Access, show_size
from vcrgen.report.published.results import reported_metrics
from vcrgen.report.templating import Templates, page_templates

REFRESH_SECONDS = 3
SamplesOf = Callable[[TestSet], page_records.SetSamples | None]


class Pages:
    """The pages of one board.

    Args:
        site: What stands on all of them.
        samples: Gives the samples of a set, if there are any.
        views: The names of sets that have a view beside the pages.
    """

    def __init__(
        self,
        site: page_records.Site,
        samples: SamplesOf = lambda test_set: None,
        views: frozenset[str] = frozenset(),
    ) -> None:
        self.site = site
        self._samples = samples
        self._views = views

    def board(self, table: page_records.BoardTable, asked: TableRequest = WHOLE) -> str:
        """One table."""
        track = table.track
        ranked = [ranking for ranking in table.rankings if ranking.rows]
        asked = self._settle(asked, *(len(ranking.rows) for ranking in ranked), len(table.ladder_rows))
        others = replace(asked, page=1, sort="")  # of tables below the first one, of which the address says no page
        rankings = [
            (ranking, tables.list_ranking(table, ranking, asked if ranking is ranked[0] else others))
            for ranking in ranked
        ]
        return self._render(
            "board.html",
            f"{self.site.title_of(track.set)}, {texts.track_name(track)}",
            names.INDEX,
            track=track,
            asked=asked,
            step=in_points(track.step) if track.step else "",
            navigation=tables.navigation(self.site, track),
            view_notes=[note for view, note in texts.VIEW_NOTES.items() if view in table.views],
            columns=list(tables.columns_of(table)),
            rankings=rankings,
            ladder=tables.list_ladder(table, asked),
            charts_shown=tables.charts_of(ranked[0], track) if ranked else [],
            cautions=cautions(track),
            pixels=pixel_table(track.task, table.pixels) if table.pixels else None,
            humans=human_table(track.task, table.humans) if table.humans else None,
        )

    def page(self, row: BoardPage, rows: Sequence[Any] = (), asked: TableRequest = WHOLE) -> str:
        """Render a page of the registry with the rows of its query."""
        asked = self._settle(asked, len(rows))
        listing = row.listing(rows, asked, self.site) if row.listing else None
        return self._render(
            row.template_name, row.title, row.name, rows=rows, asked=asked, listing=listing, **row.values(self.site)
        )

    def _settle(self, asked: TableRequest, *sizes: int) -> TableRequest:
        return settle(asked, *sizes) if self.site.live else WHOLE

    def set(self, test_set: TestSet) -> str:
        """One set: its tables, an example item, and files to begin with."""
        samples = self._samples(test_set)
        item = samples.item if samples else None
        variant = next(iter(test_set.modes), "")
        return self._render(
            "set.html",
            self.site.title_of(test_set.name),
            "",
            test_set=test_set,
            tracks=[track for track in self.site.tracks if track.set == test_set.name],
            item=item,
            line=test_set.output_line(item.question_id, variant, item.right_output) if item else "",
            has_files=samples is not None and samples.has_files,
            has_view=test_set.name in self._views,
        )

    def empty(self) -> str:
        """The index of a board without sets."""
        return self._render("empty.html", self.site.settings.title, names.INDEX)

    def model(self, page: page_records.ModelPage) -> str:
        """One model with everything that was submitted for it."""
        entry = page.facts.entry
        partners = [other for other in self.site.models if other.entry != entry]
        if not self.site.live:  # only some comparisons were exported
            partners = [
                other for other in partners if {(entry, other.entry), (other.entry, entry)} & self.site.compared
            ]
        return self._render(
            "model.html",
            page.facts.model,
            "",
            model=tables.describe(page.facts),
            entry=entry,
            partners=partners,
            runs=[run for run in page.runs if run.current and not run.removed],
            old=[run for run in page.runs if run.removed or not run.current],
        )

    def compare(self, page: page_records.ComparePage) -> str:
        """Two models side by side."""
        reach = texts.axis_reach(part.difference for part in page.comparisons)  # one axis for all parts
        title = f"{page.a.model} and {page.b.model}"
        return self._render("compare.html", title, names.COMPARE, page=page, reach=reach)

    def choose(self, sides: Sequence[tables.ComparedSide]) -> str:
        """Two models to choose, as far as they were found."""
        row = BOARD_PAGES[names.COMPARE]
        return self._render(row.template_name, row.title, row.name, **{**row.values(self.site), "sides": sides})

    def team(self, page: page_records.TeamPage | None, token: str, problems: Sequence[str]) -> str:
        """A team's files and what is left to it, for itself; without a page, the form that asks for its token.

        The token goes back to the one who sent it, so that a file can be chosen with a click and no cookie is needed.
        """
        return self._render("team.html", "Our files", names.TEAM, page=page, token=token, problems=problems)

    def sign_in(self) -> str:
        """The providers with which people sign in."""
        return self._render("sign-in.html", "Sign in", names.SIGN_IN)

    def signed_in(self, team: str, *, token: str = "", ticket: str = "", problems: Sequence[str] = ()) -> str:
        """The token of somebody who signed in, shown once; or the form of their team, with a ticket for it."""
        return self._render(
            "signed-in.html",
            "Signed in",
            names.SIGN_IN,
            team=team,
            token=token,
            ticket=ticket,
            problems=problems,
            longest_name=MAX_NAME,
        )

    def manage(self, files: Sequence[Submission] | None, token: str, problems: Sequence[str]) -> str:
        """Render the page for maintainers; without files, the form that asks for their token, which goes back."""
        return self._render(
            "manage.html",
            "For maintainers",
            names.MANAGE,
            files=files,
            token=token,
            problems=problems,
            kinds=[access.value for access in Access],
            size_of=show_size,
        )

    def submit(self, values: Mapping[str, str], problems: Sequence[str], checked: bool = False) -> str:
        """The form to submit outputs, with what was filled in before; a token is never filled in again.

        ``checked`` says that a file was looked at and is good.
        """
        fields = ("set", "model", "link", "access", "size", "released", "private")
        return self._render(
            "submit.html",
            "Submit outputs",
            names.SUBMIT,
            values={name: values.get(name, "") for name in fields},
            problems=problems,
            checked=checked,
            longest_name=MAX_NAME,
            longest_link=MAX_LINK,
            kinds=[access.value for access in Access],
        )

    def status(
        self,
        submission: Submission,
        waiting: int,
        cells: Sequence[page_records.ModelCell],
        feedback: page_records.LadderFeedback | None = None,
    ) -> str:
        """Render the status of a submission: the queue before it, or its scores."""
        going_on = submission.status in (SubmissionStatus.QUEUED, SubmissionStatus.SCORING)
        on_ladder = any(
            test_set.lifecycle.ladder_open for test_set in self.site.sets if test_set.name == submission.set
        )
        return self._render(
            "status.html",
            "Your submission",
            names.SUBMIT,
            submission=submission,
            waiting=waiting,
            cells=cells,
            feedback=feedback,
            model=tables.describe(submission.facts),
            refresh=REFRESH_SECONDS if going_on else 0,
            ladder_minutes=self.site.settings.ladder_minutes if on_ladder else 0,
        )

    def message(self, title: str, text: str) -> str:
        """A page that only says something: not found, too large, too many requests."""
        return self._render("message.html", title, "", text=text)

    def _render(self, template: str, title: str, current: str, **values: Any) -> str:
        site = self.site
        return _templates().render(
            template,
            site=site,
            title=title,
            current=current,
            links=[(row.name, row.label) for row in BOARD_PAGES.values() if row.exists(site)],
            updated=times.minute(site.updated) if site.updated else "",
            contact_link=texts.contact_link(site.settings.contact),
            **values,
        )


def policy(*, header: bool = True) -> str:
    """The content security policy of all pages, for the HTTP header or else for the ``<meta>`` of a page."""
    return _templates().policy(header=header)


def _templates() -> Templates:
    return page_templates(
        "vcrgen.leaderboard.site",
        style="board.css",
        script="board.js",
        forms=True,
        names=names,
        texts=texts,
        times=times,
        charts=charts,
        describe=tables.describe,
        reported_metrics=reported_metrics,
    )
