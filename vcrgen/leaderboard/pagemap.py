"""Pages by name, from the database: the same for a service and for a folder of files."""

from __future__ import annotations

from vcrgen.leaderboard.queries import BoardQueries
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES
from vcrgen.leaderboard.site.listing import WHOLE, TableRequest
from vcrgen.leaderboard.site.render import Pages

PARAMETRIC = ("board", "model", "compare")  # kinds of pages that this module makes


def is_page_name(name: str) -> bool:
    """Whether a page of this name may exist, without a look at the database."""
    row = BOARD_PAGES.get(name)
    return not row.is_form if row else (names.parse_name(name) or ("",))[0] in PARAMETRIC


def page_of(pages: Pages, queries: BoardQueries, name: str, asked: TableRequest = WHOLE) -> str | None:
    """Return the HTML of a page, or None if there is no such page, set, model or pair."""
    if name == names.INDEX:
        tracks = queries.tracks()
        return pages.board(queries.table(tracks[0]), asked) if tracks else pages.empty()
    if row := BOARD_PAGES.get(name):
        exists = row.exists(pages.site) and not row.is_form
        return pages.page(row, getattr(queries, row.query)() if row.query else (), asked) if exists else None
    kind, *parameters = names.parse_name(name) or ("",)
    if kind == "model":
        model = queries.model(*parameters)
        return pages.model(model) if model else None
    if kind == "compare":
        pair = queries.compare(*parameters)
        return pages.compare(pair) if pair else None
    found = (track for track in queries.tracks() if [track.set, track.mode, track.view.value] == parameters)
    track = next(found, None) if kind == "board" else None
    return pages.board(queries.table(track), asked) if track else None
