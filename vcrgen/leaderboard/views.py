"""From the store to what people see. Everything passes ``disclosure.py`` here, whatever shows it later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

from sqlalchemy import Connection

from vcrgen.dataset.views import View
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.disclosure import disclose, disclose_difference, step_of
from vcrgen.leaderboard.records import (
    SHOWN_METRICS,
    BoardTable,
    ComparePage,
    Event,
    Figure,
    Figures,
    Gap,
    Group,
    Limits,
    ModelCell,
    ModelPage,
    ModelRun,
    Ranking,
    Site,
    State,
    TestSet,
    Track,
    Versus,
)
from vcrgen.leaderboard.records import Row as BoardRow
from vcrgen.leaderboard.scoring import NO_MODE
from vcrgen.leaderboard.store import quotes, results
from vcrgen.leaderboard.store.log import last_event, read_log
from vcrgen.leaderboard.store.schema import AnyRow
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.published.quoted import Quoted
from vcrgen.scorer.comparison import conclude
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.results import Estimate
from vcrgen.stats.paired import discordant, mcnemar, paired_spread
from vcrgen.stats.ranking import rank_range

VIEWS = list(View)
EVENTS = 1000  # lines of the log that are shown; `vcrgen leaderboard log` has all
Cells = Sequence[AnyRow]


class Views:
    """What is on a board, in one state of its database.

    Args:
        board: The board.
        connection: A reading one.
    """

    def __init__(self, board: Board, connection: Connection) -> None:
        self._board = board
        self._connection = connection
        self.sets: Mapping[str, TestSet] = {one.name: one for one in all_sets(connection)}
        self._rows = results.board_rows(connection)
        self._cells: dict[tuple[str, str, str], list[AnyRow]] = defaultdict(list)
        self._views: dict[tuple[int, str], dict[str, AnyRow]] = defaultdict(dict)
        for row in self._rows:
            self._cells[row.set, row.mode, row.view].append(row)
            self._views[row.run, row.mode][row.view] = row
        self._signatures = results.signatures(connection)

    def site(self, *, live: bool, compared: Collection[tuple[str, str]] = ()) -> Site:
        """What stands on every page."""
        settings = self._board.settings
        models = {row.entry: as_facts(row) for row in sorted(self._rows, key=lambda row: row.received)}
        return Site(
            title=settings.title,
            intro=settings.intro,
            contact=settings.contact,
            sets=tuple(self.sets.values()),
            tracks=tuple(self.tracks()),
            models=tuple(sorted(models.values(), key=lambda facts: (facts.model.casefold(), facts.team.casefold()))),
            live=live,
            compared=frozenset(compared),
            limits=Limits(
                file_mb=settings.file_mb,
                scored_a_day=settings.scored_a_day,
                scored_hidden_a_day=settings.scored_hidden_a_day,
                scored_hidden_in_all=settings.scored_hidden_in_all,
                failed_a_day=settings.failed_a_day,
            ),
            updated=last_event(self._connection)[1],
        )

    def tracks(self) -> list[Track]:
        """All tables: those with models, and VI+TEI of every mode of a set without."""
        tracks = []
        for one in self.sets.values():
            modes = one.modes or (NO_MODE,)
            names = {(mode, View.STACKED.value) for mode in modes}
            names |= {(mode, view) for name, mode, view in self._cells if name == one.name}
            # Last the modes of scores from before the set was changed.
            order = list(dict.fromkeys([*modes, NO_MODE, *sorted(mode for mode, _ in names)]))
            for mode, view in sorted(names, key=lambda name: (order.index(name[0]), VIEWS.index(View(name[1])))):
                tracks.append(self._track(one, mode, View(view)))
        return tracks

    def table(self, track: Track) -> BoardTable:
        """The models of a track, ranked within each signature."""
        by_signature: dict[str, list[AnyRow]] = defaultdict(list)
        for cell in self._cells.get((track.set, track.mode, track.view.value), ()):
            by_signature[cell.short].append(cell)
        newest = sorted(by_signature, key=lambda short: self._signatures[short][1], reverse=True)
        return BoardTable(
            track=track,
            rankings=tuple(self._ranking(track, short, by_signature[short]) for short in newest),
            quoted=_without_repeats(self._quoted.get((track.language, track.mode, track.view), ())),
        )

    def quoted(self) -> Sequence[Quoted]:
        """All quoted rows."""
        return quotes.all_quoted(self._connection)

    @cached_property
    def _quoted(self) -> Mapping[tuple[str, str, View], Sequence[Quoted]]:
        by_table: dict[tuple[str, str, View], list[Quoted]] = defaultdict(list)
        for quoted in self.quoted():
            by_table[quoted.language, quoted.mode, quoted.view].append(quoted)
        return by_table

    def model(self, entry: str) -> ModelPage | None:
        """Everything that was scored for a model, or None."""
        rows = results.runs_of(self._connection, entry)
        if not rows:
            return None
        return ModelPage(facts=as_facts(rows[0]), runs=tuple(self._model_run(row) for row in rows))

    def compare(self, a: str, b: str) -> ComparePage | None:
        """Two models wherever both are ranked in one ranking; None if one is not on the board."""
        facts = {row.entry: as_facts(row) for row in self._rows if row.entry in (a, b)}
        if a == b or len(facts) < 2:
            return None
        ours, theirs = self._evidence(a), self._evidence(b)
        common = [key for key in ours if key in theirs]
        common.sort(key=lambda key: (list(self.sets).index(key.set), key.mode, VIEWS.index(View(key.view))))
        parts = [self._versus(key, ours[key], theirs[key], facts[a].model, facts[b].model) for key in common]
        return ComparePage(a=facts[a], b=facts[b], parts=tuple(parts))

    def cells_of(self, submission_id: str) -> Sequence[ModelCell]:
        """The ranked scores of a submission; none where a later file of the model is shown."""
        run = results.ranked_run(self._connection, submission_id)
        return [self._model_cell(cell, {}) for cell in self._rows if cell.run == run]

    def events(self) -> Sequence[Event]:
        """The newest lines of the log."""
        last, _ = last_event(self._connection)
        return list(read_log(self._connection, after=last - EVENTS))

    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of models that are in one ranking, each with its entries in order; the highest ranks first."""
        rankings: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        for row in self._rows:
            rankings[row.set, row.mode, row.view, row.short][row.entry] = row.better
        best: dict[tuple[str, str], int] = {}
        for ranks in rankings.values():
            for a, b in combinations(sorted(ranks), 2):
                best[a, b] = min(best.get((a, b), len(self._rows)), ranks[a] + ranks[b])
        return sorted(best, key=lambda pair: (best[pair], pair))

    def gaps(self) -> list[Gap]:
        """Models on a public and on a hidden set of one language, the largest loss first."""
        stacked: dict[str, list[AnyRow]] = defaultdict(list)
        for row in self._rows:
            if row.view == View.STACKED.value:
                stacked[row.entry].append(row)
        gaps = []
        for rows in stacked.values():
            for public in rows:
                for secret in rows:
                    on, off = self.sets[public.set], self.sets[secret.set]
                    if off.hidden and not on.hidden and on.language == off.language:
                        gaps.append(self._gap(public, secret))
        return sorted(gaps, key=lambda gap: (gap.on_hidden.value - gap.on_public.value, gap.facts.model))

    def _track(self, one: TestSet, mode: str, view: View) -> Track:
        return Track(
            set=one.name,
            hidden=one.hidden,
            language=one.language,
            mode=mode,
            view=view,
            questions=one.questions,
            spans=one.spans,
            step=step_of(hidden=one.hidden, spans=one.spans),
        )

    def _ranking(self, track: Track, short: str, cells: Cells) -> Ranking:
        rows = sorted((self._row(track, cell, len(cells)) for cell in cells), key=_by_rank)
        return Ranking(signature=self._signatures[short][0], short=short, rows=tuple(rows))

    def _row(self, track: Track, cell: AnyRow, models: int) -> BoardRow:
        views = self._views[cell.run, cell.mode]
        rank, lowest = rank_range(cell.better, cell.worse, models)
        scores = {View(view): _figures(other.figures, track.step) for view, other in views.items()}
        return BoardRow(
            facts=as_facts(cell),
            received=cell.received,
            rank=rank,
            lowest=lowest,
            scores=scores,
            difference=_difference(views, track.step),
        )

    def _model_run(self, row: AnyRow) -> ModelRun:
        cells = [cell for cell in self._rows if cell.run == row.run]
        one = self.sets[row.set]
        step = step_of(hidden=one.hidden, spans=one.spans)
        modes = dict.fromkeys(cell.mode for cell in cells)
        paired = {mode: _difference(self._views[row.run, mode], step) for mode in modes}
        details = {(cell["mode"], cell["view"]): cell for cell in row.result["scores"]} if cells else {}
        return ModelRun(
            set=row.set,
            facts=as_facts(row),
            received=row.received,
            file=row.file,
            bytes=row.bytes,
            signature=row.signature,
            current=bool(cells),
            removed=row.removed if row.state == State.REMOVED.value else "",
            cells=tuple(self._model_cell(cell, details) for cell in cells),
            differences={mode: figures for mode, figures in paired.items() if figures is not None},
        )

    def _model_cell(self, cell: AnyRow, details: Mapping[tuple[str, str], Any]) -> ModelCell:
        one = self.sets[cell.set]
        track = self._track(one, cell.mode, View(cell.view))
        models = sum(other.short == cell.short for other in self._cells[cell.set, cell.mode, cell.view])
        rank, lowest = rank_range(cell.better, cell.worse, models)
        detail = {} if one.hidden else details.get(_scored_as(cell), {})
        return ModelCell(
            track=track,
            rank=rank,
            lowest=lowest,
            models=models,
            figures=_figures(cell.figures, track.step),
            outcomes={name: count for name, count in detail.get("outcomes", {}).items() if count},
            groups=tuple(_group(group) for group in detail.get("groups", ())),
        )

    def _evidence(self, entry: str) -> dict[results.CellKey, AnyRow]:
        runs = {row.run for row in self._rows if row.entry == entry}
        return {key: row for run in runs for key, row in results.evidence(self._connection, run).items()}

    def _versus(self, key: results.CellKey, a: AnyRow, b: AnyRow, title_a: str, title_b: str) -> Versus:
        import numpy as np

        one = self.sets[key.set]
        track = self._track(one, key.mode, View(key.view))
        ours, theirs = _figures(a.figures, track.step), _figures(b.figures, track.step)
        paired = {metric: _paired(a, b, metric) for metric in SHOWN_METRICS}
        difference = {
            metric: disclose_difference(ours[metric], theirs[metric], _figure(paired[metric]), track.step)
            for metric in SHOWN_METRICS
        }
        if one.hidden:
            sentence = _plain_conclusion(title_a, title_b, paired["exact"])
            return Versus(
                track=track, a=ours, b=theirs, difference=difference, p=None, only_a=None, only_b=None,
                conclusion=sentence,
            )  # fmt: skip
        # Both runs have one signature, so their bits stand for the same spans, whatever the set holds today.
        hits_a, hits_b = (np.unpackbits(np.frombuffer(cell.hits, np.uint8)).astype(bool) for cell in (a, b))
        only_a, only_b = discordant(hits_a, hits_b)
        p = mcnemar(only_a, only_b)
        sentence = conclude(title_a, title_b, paired["exact"], only_a + only_b, p, _images(a, key))
        return Versus(
            track=track, a=ours, b=theirs, difference=difference, p=p, only_a=only_a, only_b=only_b,
            conclusion=sentence,
        )  # fmt: skip

    def _gap(self, public: AnyRow, secret: AnyRow) -> Gap:
        on, off = (self._track(self.sets[row.set], row.mode, View.STACKED) for row in (public, secret))
        return Gap(
            facts=as_facts(secret),
            public=on,
            hidden=off,
            on_public=_figures(public.figures, on.step)["exact"],
            on_hidden=_figures(secret.figures, off.step)["exact"],
        )


def _images(cell: AnyRow, key: results.CellKey) -> int:
    """How many images were resampled for a score: what its run says, as the set may have been changed since."""
    scores = cell.result["scores"]
    return int(next(score["images"] for score in scores if (score["mode"], score["view"]) == _scored_as(key)))


def _scored_as(cell: AnyRow | results.CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view


def _without_repeats(rows: Iterable[Quoted]) -> tuple[Quoted, ...]:
    """One row a model and data: papers print some rows in several tables."""
    first: dict[tuple[Any, ...], Quoted] = {}
    for row in rows:
        first.setdefault((row.data, row.items, row.model, row.size, row.exact, row.jaccard), row)
    return tuple(first.values())


def _by_rank(row: BoardRow) -> tuple[Any, ...]:
    best = -max(figures["exact"].value for figures in row.scores.values())
    return row.rank, row.lowest, best, row.facts.model, row.facts.team


def _figures(values: Mapping[str, Sequence[float]], step: float) -> Figures:
    return {metric: disclose(Figure(*values[metric]), step) for metric in SHOWN_METRICS}


def _difference(views: Mapping[str, AnyRow], step: float) -> Figures | None:
    """VI+TEI minus TEI, if a run has both."""
    stacked, tei = views.get(View.STACKED.value), views.get(View.TEI.value)
    if stacked is None or tei is None or stacked.difference is None:
        return None
    ours, theirs = _figures(stacked.figures, step), _figures(tei.figures, step)
    return {
        metric: disclose_difference(ours[metric], theirs[metric], Figure(*stacked.difference[metric]), step)
        for metric in SHOWN_METRICS
    }


def _group(values: Mapping[str, Any]) -> Group:
    figures = {}
    for metric in SHOWN_METRICS:
        estimate = values["metrics"][metric]
        value = estimate["value"] or 0.0
        low, high = (value if estimate[end] is None else estimate[end] for end in ("low", "high"))
        figures[metric] = Figure(value, low, high)
    return Group(by=values["by"], label=values["label"], spans=values["spans"], figures=figures)


def _paired(a: AnyRow, b: AnyRow, metric: str) -> Estimate:
    """First minus second, over the resamples that both share."""
    import numpy as np

    column = f"{metric}_means"
    ours, theirs = (np.frombuffer(getattr(row, column), "<f8") for row in (a, b))
    sd, low, high = paired_spread(ours, theirs)
    return Estimate(value=a.figures[metric][0] - b.figures[metric][0], sd_spans=None, sd_images=sd, low=low, high=high)


def _figure(estimate: Estimate) -> Figure:
    return Figure(estimate.value, estimate.low, estimate.high)


def _plain_conclusion(a: str, b: str, exact: Estimate) -> str:
    """What may be said of two models on a hidden set: no counts."""
    if exact.low > 0 or exact.high < 0:
        better, worse = (a, b) if exact.low > 0 else (b, a)
        return f"{better} restores more than {worse} on this set (95 % interval of the paired difference)."
    return f"No difference between {a} and {b} is shown on this set."
