"""Pages of a board without parameters: one row each, from which navigation, service, exports and tests follow.

A new page takes a row here, a template, its rows in ``pages.QUERIES`` and a sentence in the docs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.leaderboard.page_records import OverallScore, Site
from vcrgen.leaderboard.site import names, tables, texts
from vcrgen.leaderboard.site.listing import Listing, TableRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPage:
    """One page, named as its template unless the row says otherwise."""

    name: str
    title: str
    label: str  # in the navigation
    values: Callable[[Site], Mapping[str, Any]] = lambda site: {}  # further values of the template
    listing: Callable[[Sequence[Any], TableRequest, Site], Listing] | None = None  # the rows that a page shows
    exists: Callable[[Site], bool] = lambda site: True
    template: str = ""
    is_form: bool = False  # answers a request of a team, so that only the service has it

    @property
    def template_name(self) -> str:
        """File name of the template."""
        return self.template or self.name


def _takes_teams(site: Site) -> bool:
    return site.live and bool(site.settings.oidc)


def _overall_values(site: Site) -> Mapping[str, Any]:
    return {"sets": [test_set for test_set in site.sets if test_set.name in site.settings.overall]}


def _list_overall(rows: Sequence[Any], asked: TableRequest, site: Site) -> Listing:
    by_set = {name: partial(_of_set, name) for name in site.settings.overall}
    return tables.list_models(rows, asked, {"overall": lambda row: row.exact, **by_set})


def _of_set(name: str, row: OverallScore) -> float:
    return row.by_set[name]


def _gap_values(site: Site) -> Mapping[str, Any]:
    tasks = texts.tasks_of(site.sets)
    return {
        "restores": VCR_TASK in tasks,
        "hidden_covers": [(site.title_of(each.name), each.covers) for each in site.sets if each.hidden and each.covers],
        "metrics": texts.ranked_by(site.sets),
        "views": " or ".join(task.image_views[0].label for task in tasks),
    }


def _list_gaps(rows: Sequence[Any], asked: TableRequest, site: Site) -> Listing:
    keys = {
        "gap": lambda row: row.difference.value,
        "public": lambda row: row.public_score.value,
        "hidden": lambda row: row.hidden_score.value,
    }
    return tables.list_models(rows, asked, keys)


def _list_events(rows: Sequence[Any], asked: TableRequest, site: Site) -> Listing:
    lines = rows if site.live else rows[-names.EXPORTED_EVENTS :]  # an exported page has all its rows in one file
    return tables.list_events(lines, asked, site.models_by_entry)


def _pairs(site: Site) -> Mapping[str, Any]:
    """Pairs of models with a page, where only some comparisons were exported."""
    models = site.models_by_entry
    pairs = [(models[a], models[b], names.compare_name(a, b)) for a, b in site.compared if {a, b} <= models.keys()]
    pairs.sort(key=lambda pair: (pair[0].model.casefold(), pair[1].model.casefold(), pair[2]))
    return {"pairs": pairs, "sides": tables.compared_sides(site, {})}


def _about_values(site: Site) -> Mapping[str, Any]:
    hidden = {track.set: track for track in reversed(site.tracks) if track.step}
    tasks = texts.tasks_of(site.sets)
    views = [view for task in tasks for view in task.board_views]
    return {
        "hidden": list(reversed(hidden.values())),
        "view_notes": [texts.VIEW_NOTES[view] for view in views],
        "tasks": tasks,
        "views": views,
        "axes": [task.axis_label.lower() for task in tasks],
    }


_ROWS: Sequence[BoardPage] = (  # in the order of the navigation; the index is one of the tables
    BoardPage(name=names.INDEX, title="", label="Leaderboard"),
    BoardPage(
        name=names.OVERALL,
        title="Overall",
        label="Overall",
        values=_overall_values,
        listing=_list_overall,
        exists=lambda site: bool(site.settings.overall),
    ),
    BoardPage(
        name=names.GAP,
        title="Public and hidden sets",
        label="Public and hidden",
        values=_gap_values,
        listing=_list_gaps,
        exists=lambda site: {track.hidden for track in site.tracks} == {False, True},
    ),
    BoardPage(
        name=names.COMPARE,
        title="Compare two models",
        label="Compare",
        values=_pairs,
        template="choose.html",
        exists=lambda site: site.live or bool(site.compared),
    ),
    BoardPage(
        name=names.REPORTED,
        title="Results reported in publications",
        label="Reported",
        listing=lambda rows, asked, site: tables.list_reported(rows, asked),
    ),
    BoardPage(name=names.HISTORY, title="History", label="History", listing=_list_events),
    BoardPage(name=names.ABOUT, title="About", label="About", values=_about_values),
    BoardPage(name=names.SUBMIT, title="Submit outputs", label="Submit", is_form=True, exists=lambda site: site.live),
    BoardPage(name=names.SIGN_IN, title="Sign in", label="Sign in", exists=_takes_teams, is_form=True),
    BoardPage(name=names.TEAM, title="Our files", label="Our files", is_form=True, exists=lambda site: site.live),
)
BOARD_PAGES: Mapping[str, BoardPage] = {row.name: row for row in _ROWS}
QUERY_PAGES = [row for row in _ROWS if row.name != names.INDEX and not row.is_form]
