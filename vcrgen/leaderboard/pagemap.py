"""Which page shows which view: the same for a service and for a folder of files."""

from __future__ import annotations

from vcrgen.dataset.views import View
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.views import Views


def page_of(pages: Pages, views: Views, kind: str, *parts: str) -> str | None:
    """Make a page.

    Args:
        pages: Renders it.
        views: Knows what is on it.
        kind: The first of what :func:`vcrgen.leaderboard.site.names.parse_name` gives.
        parts: The rest of that.

    Returns:
        The HTML, or None if there is no such set, model or pair.
    """
    if kind == "model":
        model = views.model(*parts)
        return None if model is None else pages.model(model)
    if kind == "compare" and parts:
        pair = views.compare(*parts)
        return None if pair is None else pages.compare(pair)
    if kind in ("board", "index"):
        tracks = views.tracks()
        if kind == "board":
            wanted = (parts[0], parts[1], View(parts[2]))
            tracks = [track for track in tracks if (track.set, track.mode, track.view) == wanted]
            return pages.board(views.table(tracks[0])) if tracks else None
        return pages.board(views.table(tracks[0])) if tracks else pages.empty()
    simple = {
        "gap": lambda: pages.gap(views.gaps()),
        "history": lambda: pages.history(views.events()),
        "quoted": lambda: pages.quoted(views.quoted()),
        "about": pages.about,
        "compare": pages.choose,
    }
    return simple[kind]()
