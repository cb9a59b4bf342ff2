"""Tables with a row a model: the board, the gap between public and hidden sets, rows from publications.

Everything is made into texts here; templates only put them between tags, so that a page of 500 models is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from vcrgen.leaderboard.facts import Access, ModelFacts, show_size
from vcrgen.leaderboard.quoted import Quoted
from vcrgen.leaderboard.records import SHOWN_METRICS, BoardTable, Figure, Figures, Gap, Ranking, Site, Track
from vcrgen.leaderboard.site.names import board_name, model_name
from vcrgen.leaderboard.site.texts import (
    Shown,
    day,
    decimals_of,
    language_name,
    mode_name,
    shown,
    web_address,
)
from vcrgen.report import charts
from vcrgen.report.table import DASH, percent
from vcrgen.scorer.tables import DIFFERENCE, METRIC_LABELS


class Model(NamedTuple):
    """What a table says of a model beside its scores."""

    name: str
    team: str
    page: str
    link: str
    access: str
    size: str
    billions: str
    released: str


class Column(NamedTuple):
    """The head of a column of figures: what is measured, of which view, and whether a drawing stands before it."""

    label: str
    view: str
    drawn: bool


class BoardRow(NamedTuple):
    """One model on the board; its cells of figures are made here, as there are thousands on a page."""

    model: Model
    rank: int
    places: str
    cells: Markup
    received: str


class BoardRanking(NamedTuple):
    """Models that can be compared."""

    short: str
    signature: str
    rows: list[BoardRow]


class QuotedRow(NamedTuple):
    """One row from a publication; the figures are None where none is printed."""

    model: Model
    source: str
    link: str
    setting: str
    data: str
    exact: str | None
    exact_sd: str
    jaccard: str | None
    jaccard_sd: str
    corrected: str
    note: str


class GapRow(NamedTuple):
    """One model on a public and on a hidden set."""

    model: Model
    public: str
    public_page: str
    hidden: str
    hidden_page: str
    on_public: Shown
    on_hidden: Shown
    gap: str
    key: str
    chart: Markup


class Choice(NamedTuple):
    """A link of the board's navigation."""

    label: str
    page: str
    current: bool
    hidden: bool


def describe(facts: ModelFacts) -> Model:
    """A model with the link to its page."""
    page, link = model_name(facts.entry), web_address(facts.link)
    return _model(facts, facts.model, team=facts.team, page=page, link=link)


def _model(of: ModelFacts | Quoted, name: str, *, team: str = "", page: str = "", link: str = "") -> Model:
    return Model(
        name=name,
        team=team,
        page=page,
        link=link,
        access="" if of.access == Access.UNKNOWN else of.access.value,
        size=show_size(of.size),
        billions="" if of.size is None else f"{of.size:g}",
        released=of.released.isoformat() if of.released else "",
    )


def columns_of(table: BoardTable) -> list[Column]:
    """Both metrics of the view that ranks, then of the views that some model has beside it, then the difference."""
    columns = [
        Column(METRIC_LABELS[metric], view.label, view == table.track.view and metric == "exact")
        for view in table.views
        for metric in SHOWN_METRICS
    ]
    return [*columns, Column("Difference", DIFFERENCE, False)] if table.has_differences else columns


def board_ranking(table: BoardTable, ranking: Ranking) -> BoardRanking:
    """The rows of one ranking under the columns of the whole page."""
    decimals = decimals_of(table.track)
    views, differences = table.views, table.has_differences
    rows = []
    for row in ranking.rows:
        cells = [
            _cell(row.scores.get(view), metric, decimals, drawn=view == table.track.view and metric == "exact")
            for view in views
            for metric in SHOWN_METRICS
        ]
        if differences:
            cells.append(_cell(row.difference, "exact", decimals, sign=True))
        places = f"{row.rank}{DASH}{row.lowest}" if row.lowest != row.rank else ""
        rows.append(BoardRow(describe(row.facts), row.rank, places, Markup("".join(cells)), day(row.received)))  # noqa: S704
    return BoardRanking(ranking.short, ranking.signature, rows)


def _cell(figures: Figures | None, metric: str, decimals: int, *, sign: bool = False, drawn: bool = False) -> str:
    """The cell of one figure, and before it one of its drawing if it has one. They hold nothing but numbers."""
    figure = figures.get(metric) if figures else None
    if figure is None:
        return f'{"<td></td>" if drawn else ""}<td class="n">{DASH}</td>'
    of = shown(figure, decimals, sign=sign)
    bar = f'<td class="c">{charts.interval_bar(figure)}</td>' if drawn else ""
    return f'{bar}<td class="n" data-v="{of.key}"><b>{of.value}</b><small>{of.interval}</small></td>'


def quoted_row(row: Quoted) -> QuotedRow:
    """One row from a publication as texts."""
    return QuotedRow(
        model=_model(row, row.model),
        source=row.source,
        link=web_address(row.url),
        setting=f"{language_name(row.language)}, {row.mode}, {row.view.label}",
        data=", ".join(filter(None, (row.data, f"{row.items:,} images" if row.items else ""))) or DASH,
        exact=None if row.exact is None else percent(row.exact),
        exact_sd="" if row.exact_sd is None else f"± {percent(row.exact_sd)}",
        jaccard=None if row.jaccard is None else percent(row.jaccard),
        jaccard_sd="" if row.jaccard_sd is None else f"± {percent(row.jaccard_sd)}",
        corrected=row.corrected,
        note=row.note,
    )


def gap_row(gap: Gap) -> GapRow:
    """One model on a public and a hidden set as texts; the gap is as coarse as the hidden figure."""
    decimals = decimals_of(gap.hidden)
    difference = gap.on_hidden.value - gap.on_public.value
    text = percent(difference, decimals, sign=True)
    return GapRow(
        model=describe(gap.facts),
        public=f"{gap.public.set}, {mode_name(gap.public.mode)}",
        public_page=board_name(gap.public),
        hidden=f"{gap.hidden.set}, {mode_name(gap.hidden.mode)}",
        hidden_page=board_name(gap.hidden),
        on_public=shown(gap.on_public, decimals_of(gap.public)),
        on_hidden=shown(gap.on_hidden, decimals),
        gap=text,
        key=shown(Figure(difference, 0, 0), decimals).key,
        chart=charts.dumbbell(gap.on_public.value, gap.on_hidden.value),
    )


def navigation(site: Site, track: Track) -> list[tuple[str, list[Choice]]]:
    """Links to the other tables by language, set, mode and view; a choice of one thing only is left out, but the set.

    Each leads to the table that differs least from this one in the rest.
    """
    sets = [each for each in site.tracks if each.language == track.language]
    modes = [each for each in site.tracks if each.set == track.set]
    views = [each for each in modes if each.mode == track.mode]
    groups = [
        ("Language", _choices(site.tracks, track, "language")),
        ("Set", _choices(sets, track, "set")),
        ("Mode", _choices(modes, track, "mode")),
        ("View", _choices(views, track, "view")),
    ]
    return [(name, choices) for name, choices in groups if len(choices) > 1 or name == "Set"]


def _choices(tracks: Sequence[Track], current: Track, by: str) -> list[Choice]:
    found: dict[str, list[Track]] = {}
    for each in tracks:
        found.setdefault(getattr(each, by), []).append(each)
    choices = []
    for value, candidates in found.items():
        nearest = max(candidates, key=lambda each: _likeness(each, current))  # the first of equals
        labels = {
            "language": language_name(nearest.language),
            "set": nearest.set,
            "mode": mode_name(nearest.mode),
            "view": nearest.view.label,
        }
        is_current = value == getattr(current, by)
        choices.append(Choice(labels[by], board_name(nearest), is_current, by == "set" and nearest.hidden))
    return choices


def _likeness(a: Track, b: Track) -> int:
    return 4 * (a.set == b.set) + 2 * (a.mode == b.mode) + (a.view == b.view)
