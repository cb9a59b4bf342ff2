"""Which page shows which view: the same for a service and for a folder of files."""

from __future__ import annotations

from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.views import Views


def page_of(pages: Pages, views: Views, kind: str, *parts: str) -> str | None:
    """The HTML of a page, or None if there is no such set, model or pair.

    ``kind`` and ``parts`` are what :func:`vcrgen.leaderboard.site.names.parse_name` makes of the page's name.
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
            tracks = [track for track in tracks if (track.set, track.mode, track.view.value) == parts]
            return pages.board(views.table(tracks[0])) if tracks else None
        return pages.board(views.table(tracks[0])) if tracks else pages.empty()
    if kind == "headline" and not pages.has_headline:
        return None
    simple = {
        "headline": lambda: pages.headline(views.headline()),
        "gap": lambda: pages.gap(views.gaps()), "history": lambda: pages.history(views.events()),
        "quoted": lambda: pages.quoted(views.quoted()), "about": pages.about, "compare": pages.choose,
    }  # fmt: skip
    return simple[kind]()
