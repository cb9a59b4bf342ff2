"""What a page of the board shows: its rows, their cells, and the way to the other tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from vcrgen.leaderboard.model_facts import ModelFacts
from vcrgen.leaderboard.records import BoardTable, Estimate, Estimates, RankedModel, Ranking, Site, Track
from vcrgen.leaderboard.site.names import board_name, model_name
from vcrgen.leaderboard.site.texts import decimals_of, estimate_texts, language_name, mode_name, web_address
from vcrgen.report.charts import interval_bar, scatter
from vcrgen.report.table import DASH
from vcrgen.reported_results.fields import Access, show_size
from vcrgen.reported_results.results import ReportedResult


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


def describe(of: ModelFacts | ReportedResult) -> ModelTexts:
    """A model of the board with the link to its page, or one of a publication."""
    facts = of if isinstance(of, ModelFacts) else None
    return ModelTexts(
        entry=facts.entry if facts else "", name=of.model, team=facts.team if facts else "",
        page=model_name(facts.entry) if facts else "", link=web_address(facts.link) if facts else "",
        access="" if of.access == Access.UNKNOWN else of.access.value,
        size=show_size(of.size), billions="" if of.size is None else f"{of.size:g}",
        released=of.released.isoformat() if of.released else "",
    )  # fmt: skip


def columns_of(table: BoardTable) -> Iterator[tuple[str, str, bool]]:
    """Metric and view of each column of figures, and whether a drawing stands before it.

    Both metrics of the view that ranks come first, then those of the other views, then the difference.
    """
    task = table.track.task
    for view in table.views:
        for metric in task.main_metrics:
            yield task.metrics[metric].label, view.label, view == table.track.view and metric == task.main_metrics[0]
    if table.has_differences:
        yield "Difference", task.contrast_label, False


def rows_of(table: BoardTable, ranking: Ranking) -> Iterator[tuple[RankedModel, Markup]]:
    """The models of one ranking, each with its cells under the columns of the whole page.

    The cells are made here and not by the template, as there are thousands on a page of 500 models.
    """
    decimals, views, differences = decimals_of(table.track), table.views, table.has_differences
    metrics = table.track.task.main_metrics
    for row in ranking.rows:
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
    of = estimate_texts(estimate, decimals, sign=sign)
    bar = f'<td class="c">{interval_bar(estimate.value, estimate.low, estimate.high)}</td>' if drawn else ""
    return f'{bar}<td class="n" data-v="{of.key}"><b>{of.value}</b><small>{of.interval}</small></td>'


def charts_of(ranking: Ranking, track: Track) -> list[tuple[str, Markup]]:
    """Return charts of the leading metric over release date and size, of models with both, from two models on."""
    metric = track.task.main_metrics[0]
    shown = [(row.facts, row.scores.get(track.view, {}).get(metric)) for row in ranking.rows]
    estimates = [(facts, of) for facts, of in shown if of is not None]
    label = track.task.metrics[metric].label
    dated = [(float(facts.released.toordinal()), facts, of) for facts, of in estimates if facts.released]
    sized = [(math.log10(facts.size), facts, of) for facts, of in estimates if facts.size]
    powers = [(float(power), show_size(10.0**power)) for power in range(-3, 6)]
    years = [(float(date(year, 1, 1).toordinal()), str(year)) for year in range(1950, 2100)]
    found = ((f"{label} by date of release", _scatter(dated, years)), (f"{label} by size", _scatter(sized, powers)))
    return [(title, drawing) for title, drawing in found if drawing is not None]


def _scatter(models: Sequence[tuple[float, ModelFacts, Estimate]], ticks: Sequence[tuple[float, str]]) -> Markup | None:
    """A drawing that begins at the last tick before the first model and ends at the first one after the last."""
    places = sorted({place for place, _, _ in models})
    if len(places) < 2:
        return None
    first = max((tick for tick, _ in ticks if tick <= places[0]), default=places[0])
    last = min((tick for tick, _ in ticks if tick >= places[-1]), default=places[-1])
    return scatter(
        [
            ((place - first) / (last - first), of.value, of.low, of.high, f"{facts.model} ({facts.team})")
            for place, facts, of in models
        ],
        [((tick - first) / (last - first), text) for tick, text in ticks if first <= tick <= last],
    )


def navigation(site: Site, track: Track) -> list[tuple[str, list[tuple[str, str, bool, bool]]]]:
    """Links to the other tables by language, set, mode and view; a choice of one thing only is left out, but the set.

    Each leads to the table that differs least from this one in the rest.

    Returns:
        For each of the four its links: text, page, whether this is where one is, and whether it is a hidden set.
    """
    sets = [each for each in site.tracks if each.language == track.language]
    modes = [each for each in site.tracks if each.set == track.set]
    views = [each for each in modes if each.mode == track.mode]
    groups = {"Language": site.tracks, "Set": sets, "Mode": modes, "View": views}
    if track.task.axis != "mode":  # its languages are there already
        del groups["Mode"]
    links = {name: _choices(tracks, track, name.lower()) for name, tracks in groups.items()}
    return [(name, choices) for name, choices in links.items() if len(choices) > 1 or name == "Set"]


def _choices(tracks: Sequence[Track], here: Track, by: str) -> list[tuple[str, str, bool, bool]]:
    choices = []
    for value in dict.fromkeys(getattr(each, by) for each in tracks):
        candidates = [each for each in tracks if getattr(each, by) == value]
        # What is the same counts in this order; of equal tables it is the first.
        nearest = max(
            candidates, key=lambda each: (each.set == here.set, each.mode == here.mode, each.view == here.view)
        )
        labels = {"language": language_name(nearest.language), "set": nearest.set, "mode": mode_name(nearest.mode)}
        label = labels.get(by, nearest.view.label)
        choices.append((label, board_name(nearest), value == getattr(here, by), by == "set" and nearest.hidden))
    return choices
