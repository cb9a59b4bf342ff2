"""Tables of a board's pages: rows, their cells, and links to the other tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from vcrgen.core.plurals import pluralize
from vcrgen.data.views import View
from vcrgen.leaderboard.page_records import BoardTable, Estimate, Estimates, RankedModel, Ranking, Site, Track
from vcrgen.leaderboard.records import Event, ModelFacts
from vcrgen.leaderboard.site.listing import MAX_WORDS, Listing, RowTraits, TableRequest, list_rows
from vcrgen.leaderboard.site.names import PAGE_ROWS, board_name, model_name
from vcrgen.leaderboard.site.texts import (
    decimals_of,
    estimate_texts,
    language_name,
    measured_on,
    mode_name,
    reported_setting,
    web_address,
)
from vcrgen.leaderboard.times import day
from vcrgen.report.charts import interval_bar, scatter
from vcrgen.report.published.fields import Access, show_size
from vcrgen.report.published.results import ReportedResult
from vcrgen.report.table import DASH, percent

MAX_FOUND = 20  # models that a reader chooses from


class ModelTexts(NamedTuple):
    """Texts of a model beside its scores in a table; unknown ones are empty."""

    entry: str
    name: str
    team: str
    page: str
    link: str
    access: str
    size: str
    billions: str
    released: str


def describe(model: ModelFacts | ReportedResult) -> ModelTexts:
    """A model of the board with the link to its page, or one of a publication."""
    facts = model if isinstance(model, ModelFacts) else None
    return ModelTexts(
        entry=facts.entry if facts else "",
        name=model.model,
        team=facts.team if facts else "",
        page=model_name(facts.entry) if facts else "",
        link=web_address(facts.link) if facts else "",
        access="" if model.access == Access.UNKNOWN else model.access.value,
        size=show_size(model.size),
        billions="" if model.size is None else f"{model.size:g}",
        released=model.released.isoformat() if model.released else "",
    )


class FigureColumn(NamedTuple):
    """A column of figures."""

    key: str  # by which an address names it
    label: str  # of the metric
    note: str  # of the view
    drawn: bool  # whether a drawing stands before it
    value: Callable[[RankedModel], float | None]


def columns_of(table: BoardTable) -> Iterator[FigureColumn]:
    """The columns of figures: of the view that ranks, then those of the other views, then the difference."""
    task = table.track.task
    for view in table.views:
        for metric in task.main_metrics:
            drawn = view == table.track.view and metric == task.main_metrics[0]
            value = partial(_score, view, metric)
            yield FigureColumn(f"{metric}-{view.value}", task.metrics[metric].label, view.label, drawn, value)
    if table.has_differences:
        value = partial(_difference, task.main_metrics[0])
        yield FigureColumn("difference", "Difference", task.contrast_label, False, value)


def _score(view: View, metric: str, row: RankedModel) -> float | None:
    estimate = row.scores.get(view, {}).get(metric)
    return None if estimate is None else estimate.value


def _difference(metric: str, row: RankedModel) -> float | None:
    estimate = (row.difference or {}).get(metric)
    return None if estimate is None else estimate.value


def list_models(rows: Sequence[Any], asked: TableRequest, keys: Mapping[str, Callable[[Any], Any]]) -> Listing:
    """The models of a table that a page shows, each with ``facts`` and perhaps the time when it was ``received``."""

    def traits(row: Any) -> RowTraits:
        model = describe(row.facts)
        received = day(row.received) if hasattr(row, "received") else ""
        return RowTraits(f"{model.name} {model.team}", model.access, model.billions, model.released, received)

    return list_rows(rows, asked, traits=traits, keys={"model": lambda row: row.facts.model.casefold(), **keys})


def list_ranking(table: BoardTable, ranking: Ranking, asked: TableRequest) -> Listing:
    """The models of a ranking that a page shows, each with its cells."""
    keys: dict[str, Callable[[RankedModel], Any]] = {column.key: column.value for column in columns_of(table)}
    keys |= {"rank": lambda row: row.rank, "files": lambda row: row.files, "received": lambda row: row.received}
    listing = list_models(ranking.rows, asked, keys)
    return replace(listing, rows=list(cells_of(table, listing.rows)))


def list_ladder(table: BoardTable, asked: TableRequest) -> Listing:
    """The models of a set that is still open."""
    keys = {"best": lambda row: row.best, "files": lambda row: row.files, "received": lambda row: row.received}
    return list_models(table.ladder_rows, asked, keys)


def list_reported(rows: Sequence[ReportedResult], asked: TableRequest) -> Listing:
    """Results of publications."""

    def traits(row: ReportedResult) -> RowTraits:
        model = describe(row)
        text = " ".join((row.model, measured_on(row), row.source, row.note, reported_setting(row)))
        return RowTraits(text, model.access, model.billions, model.released)

    metrics = {metric for row in rows for metric in row.task.main_metrics}
    keys: dict[str, Callable[[ReportedResult], Any]] = {name: partial(_reported_share, name) for name in metrics}
    keys |= {
        "model": lambda row: row.model.casefold(),
        "setting": reported_setting,
        "data": measured_on,
        "source": lambda row: row.source,
    }
    return list_rows(rows, asked, traits=traits, keys=keys)


def _reported_share(metric: str, row: ReportedResult) -> float | None:
    return row.score(metric)[0] if metric in row.task.main_metrics else None


def list_events(rows: Sequence[Event], asked: TableRequest, models: Mapping[str, ModelFacts]) -> Listing:
    """Lines of the history, the newest first."""

    def traits(line: Event) -> RowTraits:
        facts = models.get(line.subject)
        said = (line.what, facts.model if facts else line.subject, line.actor, line.chain, *line.facts.values())
        return RowTraits(" ".join(said), received=day(line.at))

    return list_rows(list(reversed(rows)), asked, traits=traits)


def cells_of(table: BoardTable, rows: Iterable[RankedModel]) -> Iterator[tuple[RankedModel, Markup]]:
    """Models, each with its cells under the columns of the whole page.

    The cells are made here and not by the template, as there are thousands on a page of a hundred models.
    """
    decimals, views, differences = decimals_of(table.track), table.views, table.has_differences
    metrics = table.track.task.main_metrics
    for row in rows:
        cells = [
            _cell(row.scores.get(view), metric, decimals, drawn=view == table.track.view and metric == metrics[0])
            for view in views
            for metric in metrics
        ]
        if differences:
            cells.append(_cell(row.difference, metrics[0], decimals, sign=True))
        yield row, Markup("".join(cells))  # noqa: S704 - see _cell


def _cell(estimates: Estimates | None, metric: str, decimals: int, *, sign: bool = False, drawn: bool = False) -> str:
    """The cell of one figure, and before it one of its drawing if it has one. They hold nothing but numbers."""
    estimate = estimates.get(metric) if estimates else None
    if estimate is None:
        return f'{"<td></td>" if drawn else ""}<td class="n">{DASH}</td>'
    texts = estimate_texts(estimate, decimals, sign=sign)
    bar = f'<td class="c">{interval_bar(estimate.value, estimate.low, estimate.high)}</td>' if drawn else ""
    return f'{bar}<td class="n" data-v="{texts.key}"><b>{texts.value}</b><small>{texts.interval}</small></td>'


MAX_TICK_GAPS = 5  # between the labels below a chart: more would touch each other on a narrow screen


class ChartedModel(NamedTuple):
    """A model on a chart."""

    place: float  # on the horizontal axis
    facts: ModelFacts
    estimate: Estimate


def charts_of(ranking: Ranking, track: Track) -> list[tuple[str, Markup]]:
    """Charts of the leading metric over release date and size, each with its title, from two models on.

    Of a long ranking its best models stand there, so that a page does not grow with it.
    """
    metric = track.task.main_metrics[0]
    label = track.task.metrics[metric].label
    figures = [(row.facts, row.scores.get(track.view, {}).get(metric)) for row in ranking.rows]
    scored = [(facts, estimate) for facts, estimate in figures if estimate is not None]
    by_date = [
        ChartedModel(float(facts.released.toordinal()), facts, estimate) for facts, estimate in scored if facts.released
    ]
    by_size = [ChartedModel(math.log10(facts.size), facts, estimate) for facts, estimate in scored if facts.size]
    powers = [(float(power), show_size(10.0**power)) for power in range(-3, 6)]
    years = [(float(date(year, 1, 1).toordinal()), str(year)) for year in range(1950, 2100)]
    charts = []
    for title, models, ticks in (
        (f"{label} by date of release", by_date, years),
        (f"{label} by parameters", by_size, powers),
    ):
        if len(models) > PAGE_ROWS:
            title += f", {pluralize(PAGE_ROWS, 'model')} of {len(models):,}"
        if (drawing := _scatter(models[:PAGE_ROWS], ticks, title, frontier=models)) is not None:
            charts.append((title, drawing))
    return charts


def _scatter(
    models: Sequence[ChartedModel], ticks: Sequence[tuple[float, str]], title: str, *, frontier: Sequence[ChartedModel]
) -> Markup | None:
    """A drawing from the last tick before the first model to the first one after the last; what it shows is in words.

    A broken line leads along the best of all models up to each place.
    """
    places = sorted({model.place for model in models})
    if len(places) < 2:
        return None
    first = max((tick for tick, _ in ticks if tick <= places[0]), default=places[0])
    last = min((tick for tick, _ in ticks if tick >= places[-1]), default=places[-1])
    steps: list[tuple[float, float]] = []
    for model in sorted(frontier, key=lambda model: (model.place, model.estimate.value)):
        value = model.estimate.value
        height = steps[-1][1] if steps else value
        if value > height or not steps:
            across = (model.place - first) / (last - first)
            steps += [(across, height), (across, value)]
    steps.append(((places[-1] - first) / (last - first), steps[-1][1]))
    labels = [((tick - first) / (last - first), text) for tick, text in ticks if first <= tick <= last]
    lowest, highest = min(models, key=_height), max(models, key=_height)
    return scatter(
        [
            ((place - first) / (last - first), value.value, value.low, value.high, f"{facts.model} ({facts.team})")
            for place, facts, value in models
        ],
        labels[:: max(1, math.ceil((len(labels) - 1) / MAX_TICK_GAPS))],
        other=steps,
        text=f"{title}: {pluralize(len(models), 'model')}, from {percent(_height(lowest))} % ({lowest.facts.model}) to "
        f"{percent(_height(highest))} % ({highest.facts.model}). The table has every score.",
    )


def _height(model: ChartedModel) -> float:
    return model.estimate.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One of the two models that a reader wants compared, as far as the request names it."""

    field: str  # of the words that it is searched by
    entry_field: str
    text: str
    entry: str  # of the model that is meant; empty as long as several could be
    matches: Sequence[ModelFacts]  # models that have the words, the first ones
    total: int  # number of all that have them

    @classmethod
    def of(cls, site: Site, field: str, entry_field: str, asked: Mapping[str, str]) -> ComparedSide:
        """Read one side of a request."""
        text, entry = asked.get(field, "").strip()[:MAX_WORDS], asked.get(entry_field, "")
        words = text.casefold().split()
        model = site.models_by_entry.get(entry)
        names = {facts: f"{facts.model} {facts.team}".casefold() for facts in site.models}
        matches = [facts for facts, name in names.items() if all(word in name for word in words)] if words else []
        if model is not None and (not words or model in matches):
            return cls(
                field=field, entry_field=entry_field, text=text or model.model, entry=entry, matches=[model], total=1
            )
        exact = [facts for facts in matches if facts.model.casefold() == text.casefold()]
        if len(exact) == 1:
            matches = exact
        entry = matches[0].entry if len(matches) == 1 else ""
        return cls(
            field=field,
            entry_field=entry_field,
            text=text,
            entry=entry,
            matches=matches[:MAX_FOUND],
            total=len(matches),
        )


def compared_sides(site: Site, asked: Mapping[str, str]) -> tuple[ComparedSide, ComparedSide]:
    """Both sides of a request for a comparison."""
    return ComparedSide.of(site, "first", "a", asked), ComparedSide.of(site, "second", "b", asked)


class TableLink(NamedTuple):
    """A link to another table."""

    text: str
    page: str
    is_here: bool  # whether it is the table of this page
    is_hidden: bool  # whether its set has secret answers; of the choice of a set only
    models: int  # how many stand in it


def navigation(site: Site, track: Track) -> list[tuple[str, list[TableLink]]]:
    """Links to the other tables by language, set, mode and view; a choice of one thing only is left out, but the set.

    Each leads to a table with models if there is one, and of those to the one that differs least from this one.
    """
    sets = [other for other in site.tracks if other.language == track.language]
    modes = [other for other in site.tracks if other.set == track.set]
    views = [other for other in modes if other.mode == track.mode]
    groups = {"Language": site.tracks, "Set": sets, "Mode": modes, "View": views}
    if track.task.axis != "mode":  # its languages are there already
        del groups["Mode"]
    links = {name: _choices(site, tracks, track, name.lower()) for name, tracks in groups.items()}
    return [(name, choices) for name, choices in links.items() if len(choices) > 1 or name == "Set"]


def _choices(site: Site, tracks: Sequence[Track], here: Track, by: str) -> list[TableLink]:
    choices = []
    for value in dict.fromkeys(getattr(track, by) for track in tracks):
        candidates = [track for track in tracks if getattr(track, by) == value]
        # What is the same counts in this order; of equal tables it is the first.
        nearest = max(
            candidates,
            key=lambda track: (
                track.set == here.set,
                site.models_by_track.get(track, 0) > 0,
                track.mode == here.mode,
                track.view == here.view,
            ),
        )
        labels = {
            "language": language_name(nearest.language),
            "set": site.title_of(nearest.set),
            "mode": mode_name(nearest.mode),
        }
        is_hidden = by == "set" and nearest.lifecycle.has_secret(hidden=nearest.hidden)
        label = labels.get(by, nearest.view.label)
        is_here = value == getattr(here, by)
        leads_to = here if is_here else nearest
        models = site.models_by_track.get(leads_to, 0)
        choices.append(TableLink(label, board_name(leads_to), is_here, is_hidden, models))
    return choices
