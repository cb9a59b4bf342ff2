"""From the store to what people see. Everything passes ``disclosure.py`` here, whatever shows it later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

from sqlalchemy import Connection

from vcrgen.dataset.key import FEEDBACK, FINAL, HIDDEN_MODE
from vcrgen.dataset.views import View
from vcrgen.leaderboard import records
from vcrgen.leaderboard.board import MAINTAINER, Board, data_of
from vcrgen.leaderboard.disclosure import disclose, disclose_difference, disclose_people, step_on
from vcrgen.leaderboard.facts import lookalikes
from vcrgen.leaderboard.intake import quota
from vcrgen.leaderboard.records import Figure, Figures, RankedModel, State, Submission, TestSet, Track
from vcrgen.leaderboard.scoring import NO_MODE
from vcrgen.leaderboard.store import people, quotes, results, submissions
from vcrgen.leaderboard.store.log import last_event, now, read_log
from vcrgen.leaderboard.store.schema import AnyRow
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.published.people import PeopleScore
from vcrgen.published.quoted import Quoted
from vcrgen.records import NAMED_MODES
from vcrgen.scorer.comparison import conclude
from vcrgen.scorer.records import UNSTATED
from vcrgen.stats.intervals import difference_interval, spreads
from vcrgen.stats.paired import Paired, discordant, mcnemar, paired
from vcrgen.stats.ranking import rank_range
from vcrgen.tasks.task import ScoredTask

VIEWS = list(View)
EVENTS = 1000  # lines of the log that are shown; `vcrgen leaderboard log` has all


class Views:
    """What is on a board, in the one state of its database that a reading connection sees."""

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

    def site(self, *, live: bool, compared: Collection[tuple[str, str]] = ()) -> records.Site:
        """What stands on every page."""
        models = {
            one.facts.entry: one.facts
            for each in self.sets.values()
            if each.phase.climbs
            for one in submissions.public_on(self._connection, each.name)
        }
        models |= {row.entry: as_facts(row) for row in sorted(self._rows, key=lambda row: row.received)}
        return records.Site(
            settings=self._board.settings.model_copy(update={"database": ""}),  # which may hold a password
            sets=tuple(self.sets.values()), tracks=tuple(self.tracks()), live=live, compared=frozenset(compared),
            models=tuple(sorted(models.values(), key=lambda facts: (facts.model.casefold(), facts.team.casefold()))),
            alike=lookalikes(models.values()), updated=last_event(self._connection)[1],
        )  # fmt: skip

    def tracks(self) -> list[Track]:
        """All tables: those with models, and VI+TEI of every mode of a set without."""
        tracks = []
        for one in self.sets.values():
            modes = one.modes or (NO_MODE,)
            names = {(mode, one.phase.view.value) for mode in modes}
            names |= {(mode, view) for name, mode, view in [*self._cells, *self._people] if name == one.name}
            # Last the modes of scores from before the set was changed.
            order = list(dict.fromkeys([*modes, NO_MODE, *sorted(mode for mode, _ in names)]))
            for mode, view in sorted(names, key=lambda name: (order.index(name[0]), VIEWS.index(View(name[1])))):
                tracks.append(self._track(one.name, mode, view))
        return tracks

    def table(self, track: Track) -> records.BoardTable:
        """The models of a track, ranked within each signature."""
        by_signature: dict[str, list[AnyRow]] = defaultdict(list)
        for cell in self._cells.get((track.set, track.mode, track.view.value), ()):
            by_signature[cell.short].append(cell)
        newest = sorted(by_signature, key=lambda short: self._signatures[short][1], reverse=True)
        language = track.mode if track.task.axis == "lang" else track.language
        return records.BoardTable(
            track=track,
            rankings=tuple(self._ranking(track, short, by_signature[short]) for short in newest),
            climbers=tuple(self._climbers(track.set)) if track.phase.climbs else (),
            quoted=tuple(self._quoted.get((language, track.mode, track.view), {}).values()),
            people=tuple(self._people.get((track.set, track.mode, track.view.value), ())),
        )

    def tables(self) -> list[records.BoardTable]:
        """All tables."""
        return [self.table(track) for track in self.tracks()]

    def quoted(self) -> Sequence[Quoted]:
        """All quoted rows."""
        return quotes.all_quoted(self._connection)

    @cached_property
    def _quoted(self) -> Mapping[tuple[str, str, View], Mapping[Any, Quoted]]:
        """Quoted rows by table, one a model and data: papers print some rows in several tables."""
        by_table: dict[tuple[str, str, View], dict[Any, Quoted]] = defaultdict(dict)
        for row in self.quoted():
            same = (row.data, row.items, row.model, row.size, *(getattr(row, metric) for metric in row.task.shown))
            by_table[row.language, row.mode, row.view].setdefault(same, row)
        return by_table

    @cached_property
    def _people(self) -> Mapping[tuple[str, str, str], Sequence[PeopleScore]]:
        """Scores of people by set, mode and view; of data that a set does not have any more, none."""
        found: dict[tuple[str, str, str], list[PeopleScore]] = defaultdict(list)
        for name, data, score in people.all_people(self._connection):
            if name in self.sets and data_of(self.sets[name]) == data:
                mode = NO_MODE if score.mode == UNSTATED else score.mode
                shown = disclose_people(score, hidden=self.sets[name].hidden)
                found[name, mode, score.view.value].append(shown)
        return found

    def model(self, entry: str) -> records.ModelPage | None:
        """Everything that was scored for a model, or None."""
        # What is known of a final part before its set is closed is nobody's to see.
        rows = [row for row in results.runs_of(self._connection, entry) if not self._is_sealed(row)]
        if not rows:
            return None
        return records.ModelPage(facts=as_facts(rows[0]), runs=tuple(self._model_run(row) for row in rows))

    def compare(self, a: str, b: str) -> records.ComparePage | None:
        """Two models wherever both are ranked in one ranking; None if one is not on the board."""
        facts = {row.entry: as_facts(row) for row in self._rows if row.entry in (a, b)}
        if a == b or len(facts) < 2:
            return None
        ours, theirs = self._evidence(a), self._evidence(b)
        common = [key for key in ours if key in theirs]
        common.sort(key=lambda key: (list(self.sets).index(key.set), key.mode, VIEWS.index(View(key.view))))
        parts = [self._versus(key, ours[key], theirs[key], facts[a].model, facts[b].model) for key in common]
        return records.ComparePage(a=facts[a], b=facts[b], parts=tuple(parts))

    def told(self, submission: Submission) -> records.Told | None:
        """What a team is told of a scored file on a ladder; None for other files."""
        one = self.sets[submission.set]
        if submission.state is not State.SCORED or not one.phase.climbs:
            return None
        best = submissions.best_of(self._connection, submission)
        return records.Told(task=one.task, view=one.phase.view, step=step_on(one), exact=submission.best, best=best)

    def team(self, name: str) -> records.TeamPage:
        """A team's files, private ones as well, and what is left to it: for the team alone."""
        moment, files = now(), submissions.of_team(self._connection, name)
        counting = {one.id for each in self.sets for one in submissions.counted(self._connection, each)}
        return records.TeamPage(
            team=name,
            files=tuple(
                records.TeamFile(
                    submission=one, counts=one.id in counting, told=self.told(one), cells=tuple(self.cells_of(one.id))
                )
                for one in reversed(files)
            ),
            quotas={
                one.name: quota(self._connection, self._board.settings, name, one, at=moment)
                for one in self.sets.values()
                if not one.phase.refusal(one.name, moment)
            },
        )

    def headline(self) -> list[records.Headline]:
        """Models with a figure on every set of the headline, the highest mean first; none if there is no headline."""
        names = self._board.settings.headline
        by_model: dict[str, dict[tuple[str, str], AnyRow]] = defaultdict(dict)
        for row in self._rows:
            if row.set in names and row.view == self.sets[row.set].phase.view.value:
                by_model[row.entry][row.set, row.mode] = row
        found = []
        for rows in by_model.values():
            by_set = {name: self._mean(name, rows) for name in names}
            known = {name: value for name, value in by_set.items() if value is not None}
            if len(known) == len(names):
                facts = as_facts(max(rows.values(), key=lambda row: row.received))
                found.append(records.Headline(facts=facts, exact=sum(known.values()) / len(known), by_set=known))
        return sorted(found, key=lambda each: (-each.exact, each.facts.model, each.facts.team))

    def _mean(self, set_name: str, rows: Mapping[tuple[str, str], AnyRow]) -> float | None:
        """The mean over the modes of a set, from figures that may be shown; None if one is missing."""
        one = self.sets[set_name]
        modes = one.modes or (NO_MODE,)
        if not all((set_name, mode) in rows for mode in modes):
            return None
        means = [_leading(one.task, _figures(rows[set_name, mode].figures, step_on(one))) for mode in modes]
        return sum(means) / len(means)

    def cells_of(self, submission_id: str) -> Sequence[records.ModelCell]:
        """The scores of a submission: ranked ones, or those of a private file; none where another file counts."""
        run = results.ranked_run(self._connection, submission_id)
        if run is not None:
            return [self._model_cell(cell, {}) for cell in self._rows if cell.run == run]
        one = submissions.find(self._connection, submission_id)
        if one is None or not one.private or self.sets[one.set].phase.climbs:
            return []
        last = results.last_run(self._connection, one.id, part=self.sets[one.set].phase.part)
        private = results.evidence(self._connection, last.id) if last is not None else {}
        return [self._private_cell(of.cell) for of in private.values()]

    def _private_cell(self, cell: AnyRow) -> records.ModelCell:
        track = self._track(cell.set, cell.mode, cell.view)
        return records.ModelCell(track=track, rank=0, lowest=0, models=0, figures=_figures(cell.figures, track.step))

    def events(self) -> Sequence[records.Event]:
        """The newest lines of the log, without the maintainers' accounts on the machine."""
        last, _ = last_event(self._connection)
        return list(map(as_shown, read_log(self._connection, after=last - EVENTS)))

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

    def gaps(self) -> list[records.Gap]:
        """Models on a public and on a hidden set of one language, the largest loss first."""
        stacked: dict[tuple[str, str], dict[str, AnyRow]] = defaultdict(dict)
        for row in self._rows:
            if row.view == View.STACKED.value:
                stacked[row.entry, row.set][row.mode] = row
        gaps = []
        for (entry, name), secrets in stacked.items():
            off = self.sets[name]
            for on in self.sets.values() if off.hidden else ():
                if on.hidden or on.language != off.language:
                    continue
                for mode, secret in secrets.items():
                    if alike := _alike(mode, stacked.get((entry, on.name), {})):
                        gaps.append(self._gap(alike, secret))
        return sorted(gaps, key=lambda gap: (gap.difference.value, gap.facts.model))

    def _climbers(self, set_name: str) -> list[records.Climber]:
        """The models of a set that still takes files, by the step that each has reached."""
        files = submissions.public_on(self._connection, set_name)
        lowest_first = sorted(files, key=lambda one: -1.0 if one.best is None else one.best)
        highest = {one.facts.entry: one for one in lowest_first}.values()
        climbers = [records.Climber(facts=one.facts, received=one.received, best=one.best) for one in highest]
        return sorted(climbers, key=lambda one: (-(one.best or -1.0), one.facts.model, one.facts.team))

    def _is_sealed(self, run: AnyRow) -> bool:
        return run.part == FINAL and self.sets[run.set].phase.climbs

    def _track(self, set_name: str, mode: str, view: View | str) -> Track:
        one = self.sets[set_name]
        language = mode if one.task.axis == "lang" else one.language
        return Track(
            set=one.name, hidden=one.hidden, language=language, mode=mode, view=View(view),
            questions=one.shown.questions, spans=one.shown.spans, step=step_on(one), phase=one.phase, task=one.task,
        )  # fmt: skip

    def _ranking(self, track: Track, short: str, cells: Sequence[AnyRow]) -> records.Ranking:
        rows = sorted((self._row(track, cell, len(cells)) for cell in cells), key=_by_rank)
        return records.Ranking(signature=self._signatures[short][0], short=short, rows=tuple(rows))

    def _row(self, track: Track, cell: AnyRow, models: int) -> RankedModel:
        views = self._views[cell.run, cell.mode]
        rank, lowest = rank_range(cell.better, cell.worse, models)
        scores = {View(view): _figures(other.figures, track.step) for view, other in views.items()}
        return RankedModel(
            facts=as_facts(cell), received=cell.received, rank=rank, lowest=lowest, scores=scores,
            difference=_difference(track.task, views, track.step),
        )  # fmt: skip

    def _model_run(self, row: AnyRow) -> records.ModelRun:
        cells = [cell for cell in self._rows if cell.run == row.run]
        one = self.sets[row.set]
        paired = {cell.mode: _difference(one.task, self._views[row.run, cell.mode], step_on(one)) for cell in cells}
        details = {(cell[one.task.axis], cell["view"]): cell for cell in row.result["scores"]} if cells else {}
        return records.ModelRun(
            set=row.set, facts=as_facts(row), received=row.received, file=row.file, bytes=row.bytes,
            signature=row.signature, current=bool(cells), part=row.part or "",
            best=row.best if row.part == FEEDBACK else None,
            removed=row.removed if row.state == State.REMOVED.value else "",
            cells=tuple(self._model_cell(cell, details) for cell in cells),
            differences={mode: figures for mode, figures in paired.items() if figures is not None},
            curves=row.result.get("curves", ()) if cells and not one.hidden else (),
        )  # fmt: skip

    def _model_cell(self, cell: AnyRow, details: Mapping[tuple[str, str], Any]) -> records.ModelCell:
        track = self._track(cell.set, cell.mode, cell.view)
        models = sum(other.short == cell.short for other in self._cells[cell.set, cell.mode, cell.view])
        rank, lowest = rank_range(cell.better, cell.worse, models)
        detail = {} if track.hidden else details.get(_scored_as(cell), {})
        return records.ModelCell(
            track=track, rank=rank, lowest=lowest, models=models, figures=_figures(cell.figures, track.step),
            outcomes={name: count for name, count in detail.get("outcomes", {}).items() if count},
            groups=tuple(_group(track.task, group) for group in detail.get("groups", ())),
        )  # fmt: skip

    def _evidence(self, entry: str) -> dict[results.CellKey, results.Evidence]:
        runs = {row.run for row in self._rows if row.entry == entry}
        return {key: row for run in runs for key, row in results.evidence(self._connection, run).items()}

    def _versus(
        self, key: results.CellKey, of_a: results.Evidence, of_b: results.Evidence, title_a: str, title_b: str
    ) -> records.Versus:
        import numpy as np

        track, a, b = self._track(key.set, key.mode, key.view), of_a.cell, of_b.cell
        ours, theirs = _figures(a.figures, track.step), _figures(b.figures, track.step)
        # First minus second, over the resamples that both share.
        apart = {
            metric: paired(of_a.means[metric], of_b.means[metric])
            for metric in track.task.shown
            if metric in of_a.means and metric in of_b.means
        }
        leading = next(iter(apart))
        figures = {metric: Figure(each.value, each.low, each.high) for metric, each in apart.items()}
        shown = partial(
            records.Versus, track=track, a=ours, b=theirs, difference=_disclosed(ours, theirs, figures, track.step)
        )
        if track.hidden:
            return shown(conclusion=_plain_conclusion(track.task, title_a, title_b, apart[leading]))
        # Both runs have one signature, so their bits stand for the same spans, whatever the set holds today.
        hits_a, hits_b = (np.unpackbits(np.frombuffer(cell.hits, np.uint8)).astype(bool) for cell in (a, b))
        only_a, only_b = discordant(hits_a, hits_b)
        p = mcnemar(only_a, only_b)
        # How many images were resampled is what the run says, as the set may have been changed since.
        task = track.task
        scores = {(score[task.axis], score["view"]): score for score in a.result["scores"]}
        clusters = int(scores[_scored_as(key)][task.clusters])
        sentence = conclude(task, leading, title_a, title_b, apart[leading], only_a + only_b, p, clusters)
        return shown(p=p, only_a=only_a, only_b=only_b, conclusion=sentence)

    def _gap(self, publics: Sequence[AnyRow], secret: AnyRow) -> records.Gap:
        import numpy as np

        tracks = tuple(self._track(row.set, row.mode, row.view) for row in publics)
        off = self._track(secret.set, secret.mode, secret.view)
        found = [results.evidence(self._connection, row.run) for row in publics]
        cells = [
            each[results.CellKey(row.set, row.mode, row.view, row.short)]
            for each, row in zip(found, publics, strict=True)
        ]
        metric = off.task.shown[0]
        modes = [cell.means[metric] for cell in cells]
        # All modes are scored on the same resamples of the same images.
        value, means = np.mean([mode.mean for mode in modes]), np.mean([mode.means for mode in modes], axis=0)
        (whole,) = spreads(np.array([value]), means[:, None], np.array([min(mode.groups for mode in modes)]))
        public = Figure(float(value), whole.low, whole.high)
        hidden = _figures(secret.figures, off.step)[metric]
        return records.Gap(
            facts=as_facts(secret), public=tracks, hidden=off, on_public=public, on_hidden=hidden,
            difference=Figure(hidden.value - public.value, *difference_interval(hidden, public)),
        )  # fmt: skip


def _alike(mode: str, public: Mapping[str, AnyRow]) -> list[AnyRow]:
    """The cells of a public set by mode whose mean is of the same covers as a hidden set's mode; none if it has none.

    A hidden set covers every other of its regions easily and the others hard, which is known to everybody.
    """
    wanted = [mode] if mode in public else list(NAMED_MODES) if mode in (HIDDEN_MODE, NO_MODE) else []
    return [public[each] for each in wanted] if all(each in public for each in wanted) else []


def as_shown(line: records.Event) -> records.Event:
    """A line of the log for everybody: without a maintainer's account on the machine."""
    return replace(line, actor=MAINTAINER) if line.actor.startswith(MAINTAINER) else line


def _scored_as(cell: AnyRow | results.CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view


def _by_rank(row: RankedModel) -> tuple[Any, ...]:
    best = -max(next(iter(figures.values())).value for figures in row.scores.values())
    return row.rank, row.lowest, best, row.facts.model, row.facts.team


def _figures(values: Mapping[str, Sequence[float]], step: float) -> Figures:
    return {metric: disclose(Figure(*triple), step) for metric, triple in values.items()}


def _leading(task: ScoredTask, figures: Figures) -> float:
    """The mean of the metric that ranks; 0 where a model was not asked for it."""
    return figures[task.shown[0]].value if task.shown[0] in figures else 0.0


def _difference(task: ScoredTask, views: Mapping[str, AnyRow], step: float) -> Figures | None:
    """The difference of the two views that are compared, if a run has both."""
    first, second = (views.get(view.value) for view in task.view_contrast)
    if first is None or second is None or first.difference is None:
        return None
    paired = {metric: Figure(*triple) for metric, triple in first.difference.items()}
    return _disclosed(_figures(first.figures, step), _figures(second.figures, step), paired, step)


def _disclosed(a: Figures, b: Figures, paired: Figures, step: float) -> Figures:
    """Differences of disclosed figures, by metric."""
    return {metric: disclose_difference(a[metric], b[metric], figure, step) for metric, figure in paired.items()}


def _group(task: ScoredTask, values: Mapping[str, Any]) -> records.Group:
    figures = {}
    for metric in task.shown:
        if (estimate := values["metrics"].get(metric)) is None:
            continue
        value = estimate["value"] or 0.0
        low, high = (value if estimate[end] is None else estimate[end] for end in ("low", "high"))
        figures[metric] = Figure(value, low, high)
    return records.Group(by=values["by"], label=values["label"], spans=values[task.units], figures=figures)


def _plain_conclusion(task: ScoredTask, a: str, b: str, right: Paired) -> str:
    """What may be said of two models on a hidden set: no counts."""
    if right.low > 0 or right.high < 0:
        better, worse = (a, b) if right.low > 0 else (b, a)
        return f"{better} {task.does} than {worse} on this set (95 % interval of the paired difference)."
    return f"No difference between {a} and {b} is shown on this set."
