"""What people see of a board: tables and the record of every page, of scores that have passed ``disclosure.py``.

A `BoardReader` sees one state of the database. Pages and exports render the records that it hands out; they get nothing
else of the scores.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from vcrgen.data.tasks.wording import wording_of
from vcrgen.data.views import View
from vcrgen.leaderboard.disclosure import disclose_all, disclose_differences, set_rounding_step
from vcrgen.leaderboard.page_records import (
    BoardCell,
    BoardTable,
    Estimate,
    LadderRow,
    OverallScore,
    PixelScore,
    RankedModel,
    Ranking,
    Site,
    Track,
)
from vcrgen.leaderboard.records import NO_MODE, Event, ModelFacts, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import ranks, results, submissions
from vcrgen.leaderboard.store.log import MAINTAINER, last_event, log_head, read_log
from vcrgen.leaderboard.store.ranks import CellKey
from vcrgen.leaderboard.store.schema import cells, runs
from vcrgen.leaderboard.store.schema import submissions as files
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.leaderboard.store.teams import key_of
from vcrgen.report.published.human_baseline import HumanScore
from vcrgen.report.published.results import ReportedResult
from vcrgen.stats.ranking import RankRange
from vcrgen.web.database.schema import AnyRow

VIEWS = list(View)  # in the order of tables


def board_cells(
    connection: Connection,
    *,
    set_name: str | None = None,
    entries: Collection[str] | None = None,
    run: int | None = None,
) -> Sequence[BoardCell]:
    """Every ranked cell of one set or some models, or all cells of one run, as they may be shown."""
    of_cells = ("run", "set", "mode", "view", "short", "estimates", "difference")
    of_files = ("team", "model", "link", "access", "size", "released", "received")
    columns = [cells.c[name] for name in of_cells] + [files.c[name] for name in of_files]
    joined = cells.join(runs, runs.c.id == cells.c.run).join(files, files.c.id == runs.c.submission)
    query = select(*columns).select_from(joined)
    query = query.where(cells.c.ranked if run is None else cells.c.run == run)
    if set_name is not None:
        query = query.where(cells.c.set == set_name)
    if entries is not None:
        query = query.where(files.c.entry.in_(list(entries)))
    rows = connection.execute(query.order_by(cells.c.run, cells.c.mode, cells.c.view)).all()
    sets = {test_set.name: test_set for test_set in all_sets(connection)}
    views: dict[tuple[int, str], dict[str, AnyRow]] = defaultdict(dict)
    for row in rows:
        views[row.run, row.mode][row.view] = row
    return [_disclosed(row, sets[row.set], views[row.run, row.mode]) for row in rows]


def _disclosed(row: AnyRow, test_set: TestSet, views: Mapping[str, AnyRow]) -> BoardCell:
    """A cell as it may be shown; ``views`` has the rows of its run and mode by view, as it holds their difference."""
    step, difference = set_rounding_step(test_set), None
    first, second = (views.get(view.value) for view in test_set.task.view_contrast)
    if first is not None and second is not None and first.difference is not None:
        paired = {metric: Estimate(*triple) for metric, triple in first.difference.items()}
        a, b = disclose_all(first.estimates, step), disclose_all(second.estimates, step)
        difference = disclose_differences(a, b, paired, step)
    return BoardCell(
        run=row.run,
        set=row.set,
        mode=row.mode,
        view=View(row.view),
        short=row.short,
        facts=as_facts(row),
        received=row.received,
        estimates=disclose_all(row.estimates, step),
        difference=difference,
    )


class RankedSet:
    """The ranked cells of one set in one state of the database; also the tables made of them, each once."""

    def __init__(self, connection: Connection, test_set: TestSet) -> None:
        set_name = test_set.name
        self.cells = board_cells(connection, set_name=set_name)
        keys = dict.fromkeys(map(results.key_of_cell, self.cells))
        self.ranks: Mapping[CellKey, Mapping[int, RankRange]] = {key: ranks.ranges(connection, key) for key in keys}
        self.by_track: dict[tuple[str, View], list[BoardCell]] = defaultdict(list)
        self.views_of_run: dict[tuple[int, str], dict[View, BoardCell]] = defaultdict(dict)
        for cell in self.cells:
            self.by_track[cell.mode, cell.view].append(cell)
            self.views_of_run[cell.run, cell.mode][cell.view] = cell
        self.signatures = results.signatures(connection, set_name)
        self.team_files = submissions.scored_files(connection, set_name)
        ladder_open = test_set.lifecycle.ladder_open
        self.ladder_files = submissions.public_files(connection, set_name) if ladder_open else ()
        self.tables: dict[Track, BoardTable] = {}


class BoardReader:
    """One state of a board, as anybody may see it.

    Args:
        connection: Sees one state of its database.
        ranked_sets: By name, of this state; those that are missing are added when they are needed. Readers of one
            state share it, so that a page does not read again what another page was made of.
    """

    def __init__(
        self, settings: Settings, connection: Connection, ranked_sets: dict[str, RankedSet] | None = None
    ) -> None:
        self.settings = settings
        self.connection = connection
        self.sets: Mapping[str, TestSet] = {test_set.name: test_set for test_set in all_sets(connection)}
        self._ranked_sets = {} if ranked_sets is None else ranked_sets

    def ranked(self, set_name: str) -> RankedSet:
        """The ranked cells of a set, read once."""
        if set_name not in self._ranked_sets:
            self._ranked_sets[set_name] = RankedSet(self.connection, self.sets[set_name])
        return self._ranked_sets[set_name]

    @property
    def cells(self) -> Iterator[BoardCell]:
        """Every ranked cell, set by set."""
        return (cell for name in self.sets for cell in self.ranked(name).cells)

    def ranks(self, key: CellKey) -> Mapping[int, RankRange]:
        """The ranks of a ranking's runs."""
        return self.ranked(key.set).ranks.get(key, {})

    @cached_property
    def pixel_scores(self) -> Mapping[tuple[str, str], PixelScore]:
        """The template baseline by set and mode."""
        return results.pixel_scores(self.connection, self.sets)

    @cached_property
    def _human_scores(self) -> Mapping[tuple[str, str, View], Sequence[HumanScore]]:
        return results.human_scores(self.connection, self.sets)

    def track(self, set_name: str, mode: str, view: View | str) -> Track:
        """The track of a set, mode and view, with the step to which its scores are rounded."""
        test_set = self.sets[set_name]
        pixels = self.pixel_scores.get((set_name, mode))
        return Track(
            set=set_name,
            hidden=test_set.hidden,
            language=mode if test_set.task.axis == "lang" else test_set.language,
            mode=mode,
            view=View(view),
            questions=test_set.shown.questions,
            spans=test_set.shown.spans,
            step=set_rounding_step(test_set),
            lifecycle=test_set.lifecycle,
            task=test_set.task,
            pictures=test_set.pictures,
            settled_by_pixels=test_set.white_rows if pixels is None else pixels.settles,
        )

    def tracks(self) -> list[Track]:
        """All tables: those with models, and VI+TEI of every mode of a set without.

        Sets whose answers can be taken from public questions come last.
        """
        tracks = []
        for name, test_set in sorted(self.sets.items(), key=lambda entry: entry[1].is_copied):
            modes = test_set.modes or (NO_MODE,)
            places: set[tuple[str, View]] = {(mode, test_set.lifecycle.view) for mode in modes}
            places |= {*self.ranked(name).by_track}
            places |= {(mode, view) for set_name, mode, view in self._human_scores if set_name == name}
            # Last the modes of scores from before the set was changed.
            order = list(dict.fromkeys([*modes, NO_MODE, *sorted(mode for mode, _ in places)]))
            places_in_order = sorted(places, key=lambda place: (order.index(place[0]), VIEWS.index(place[1])))
            tracks += [self.track(name, mode, view) for mode, view in places_in_order]
        return tracks

    def front_track(self) -> Track | None:
        """The table of the board's index: the first one with models, or else the first one; None without sets."""
        tracks = self.tracks()
        return next((track for track in tracks if self.count_models(track)), next(iter(tracks), None))

    def count_models(self, track: Track) -> int:
        """How many models stand in a table, on a ladder, too."""
        ranked = self.ranked(track.set)
        on_ladder = {file.facts.entry for file in ranked.ladder_files}
        return len(ranked.by_track.get((track.mode, track.view), ())) + len(on_ladder)

    def table(self, track: Track) -> BoardTable:
        """The models of a track, ranked within each signature."""
        tables = self.ranked(track.set).tables
        if track not in tables:
            tables[track] = self._make_table(track)
        return tables[track]

    def _make_table(self, track: Track) -> BoardTable:
        ranked = self.ranked(track.set)
        by_signature: dict[str, list[BoardCell]] = defaultdict(list)
        for cell in ranked.by_track.get((track.mode, track.view), ()):
            by_signature[cell.short].append(cell)
        newest_first = sorted(by_signature, key=lambda short: ranked.signatures[short][1], reverse=True)
        language = track.mode if track.task.axis == "lang" else track.language
        return BoardTable(
            track=track,
            rankings=tuple(_ranking(ranked, short, by_signature[short]) for short in newest_first),
            ladder_rows=tuple(self._ladder_rows(track.set)) if track.lifecycle.ladder_open else (),
            reported=tuple(self._reported.get((language, track.mode, track.view), {}).values()),
            pixels=tuple(filter(None, [self.pixel_scores.get((track.set, track.mode))])),
            humans=tuple(self._human_scores.get((track.set, track.mode, track.view), ())),
        )

    def tables(self) -> list[BoardTable]:
        """A table for each set, mode and view that has a track, in the order of `tracks`."""
        return [self.table(track) for track in self.tracks()]

    def _ladder_rows(self, set_name: str) -> list[LadderRow]:
        """The models of a set that is still open, by the step that each has reached."""
        ladder_files = self.ranked(set_name).ladder_files
        lowest_first = sorted(ladder_files, key=lambda file: -1.0 if file.best is None else file.best)
        highest = {file.facts.entry: file for file in lowest_first}.values()
        team_files = self.ranked(set_name).team_files
        ladder_rows = [
            LadderRow(
                facts=file.facts, received=file.received, best=file.best, files=team_files[key_of(file.facts.team)]
            )
            for file in highest
        ]
        return sorted(ladder_rows, key=lambda row: (-(row.best or -1.0), row.facts.model, row.facts.team))

    def reported(self) -> Sequence[ReportedResult]:
        """All rows from publications."""
        return results.all_reported(self.connection)

    @cached_property
    def _reported(self) -> Mapping[tuple[str, str, View], Mapping[Any, ReportedResult]]:
        """Rows from publications by table, one per model and data: papers print some rows in several tables."""
        by_table: dict[tuple[str, str, View], dict[Any, ReportedResult]] = defaultdict(dict)
        for row in self.reported():
            figures = (getattr(row, metric) for metric in row.task.main_metrics)
            same = (row.data, row.items, row.model, row.size, *figures)
            by_table[row.language, row.mode, row.view].setdefault(same, row)
        return by_table

    def overall(self) -> list[OverallScore]:
        """Models with a figure on every set of the overall score, the highest mean first."""
        names = self.settings.overall
        by_model: dict[str, dict[tuple[str, str], BoardCell]] = defaultdict(dict)
        for cell in self.cells:
            if cell.set in names and cell.view == self.sets[cell.set].lifecycle.view:
                by_model[cell.facts.entry][cell.set, cell.mode] = cell
        scores = []
        for ranked in by_model.values():
            means = {name: mean for name in names if (mean := self._mean(name, ranked)) is not None}
            if len(means) == len(names):
                facts = max(ranked.values(), key=lambda cell: cell.received).facts
                scores.append(OverallScore(facts=facts, exact=sum(means.values()) / len(means), by_set=means))
        return sorted(scores, key=lambda score: (-score.exact, score.facts.model, score.facts.team))

    def _mean(self, set_name: str, ranked: Mapping[tuple[str, str], BoardCell]) -> float | None:
        """The mean over the modes of a set, from figures that may be shown; None if one is missing.

        Where a model was not asked for the metric that ranks, its figure is 0.
        """
        test_set = self.sets[set_name]
        modes = test_set.modes or (NO_MODE,)
        if not all((set_name, mode) in ranked for mode in modes):
            return None
        estimates = [ranked[set_name, mode].estimates.get(test_set.task.main_metrics[0]) for mode in modes]
        return sum(estimate.value if estimate else 0.0 for estimate in estimates) / len(modes)

    def site(self, *, live: bool, compared: Collection[tuple[str, str]] = ()) -> Site:
        """What every page shows; ``compared`` has the pairs of entries with a page where the board is not ``live``."""
        models: dict[str, ModelFacts] = {
            file.facts.entry: file.facts for name in self.sets for file in self.ranked(name).ladder_files
        }
        tracks = self.tracks()
        models |= {cell.facts.entry: cell.facts for cell in sorted(self.cells, key=lambda cell: cell.received)}
        return Site(
            settings=self._public_settings(),
            sets=tuple(self.sets.values()),
            titles={entry.name: entry.title for entry in self.settings.sets if entry.title},
            tracks=tuple(tracks),
            models_by_track={track: self.count_models(track) for track in tracks},
            live=live,
            compared=frozenset(compared),
            models=tuple(sorted(models.values(), key=lambda facts: (facts.model.casefold(), facts.team.casefold()))),
            updated=last_event(self.connection)[1],
            head=log_head(self.connection),
        )

    def _public_settings(self) -> Settings:
        """Settings without passwords, and with a title: the board's own, or else what its sets are."""
        providers = [
            provider.model_copy(update={"client_secret": "", "client_id": ""}) for provider in self.settings.oidc
        ]
        titles = list(dict.fromkeys(wording_of(test_set.task).title for test_set in self.sets.values()))
        title = self.settings.title or (titles[0] if len(titles) == 1 else "Leaderboard")
        return self.settings.model_copy(update={"database": "", "sets": (), "oidc": tuple(providers), "title": title})

    def events(self, *, after: int = 0, most: int | None = None) -> Sequence[Event]:
        """The lines of the log after a number, at most so many, without the maintainers' accounts on the machine."""
        lines = read_log(self.connection, after=after, most=most)
        return [replace(line, actor=MAINTAINER) if line.actor.startswith(MAINTAINER) else line for line in lines]


def _ranking(ranked: RankedSet, short: str, models: Sequence[BoardCell]) -> Ranking:
    """The models of one signature."""
    rows = sorted((_ranked_model(ranked, cell) for cell in models), key=_by_rank)
    return Ranking(signature=ranked.signatures[short][0], short=short, rows=tuple(rows))


def _ranked_model(ranked: RankedSet, cell: BoardCell) -> RankedModel:
    rank, worst_rank = ranked.ranks[results.key_of_cell(cell)][cell.run]
    views = ranked.views_of_run[cell.run, cell.mode]
    return RankedModel(
        facts=cell.facts,
        received=cell.received,
        rank=rank,
        worst_rank=worst_rank,
        scores={view: other.estimates for view, other in views.items()},
        difference=cell.difference,
        files=ranked.team_files[key_of(cell.facts.team)],
    )


def _by_rank(row: RankedModel) -> tuple[Any, ...]:
    best = -max(next(iter(estimates.values())).value for estimates in row.scores.values())
    return row.rank, row.worst_rank, best, row.facts.model, row.facts.team
