"""Comparisons on shared bootstrap replicates: two models on one set, one model on a public and a hidden set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import combinations

from vcrgen.database.schema import AnyRow
from vcrgen.dataset.key import HIDDEN_MODE
from vcrgen.dataset.views import View
from vcrgen.leaderboard import records
from vcrgen.leaderboard.queries.state import VIEWS, BoardState, disclosed_differences, disclosed_estimates, scorer_cell
from vcrgen.leaderboard.records import Estimate
from vcrgen.leaderboard.scoring import NO_MODE
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.records import NAMED_MODES
from vcrgen.scorer.comparison import conclude
from vcrgen.stats.intervals import difference_interval, sd_and_intervals
from vcrgen.stats.paired import PairedDifference, discordant, mcnemar, paired_difference
from vcrgen.tasks.task import ScoredTask


class ComparisonQueries(BoardState):
    """Pairs of models, and gaps between public and hidden sets."""

    def compare(self, a: str, b: str) -> records.ComparePage | None:
        """Two models wherever both are ranked in one ranking; None if one is not on the board."""
        rows = results.board_rows(self.connection, entries=(a, b))
        facts = {row.entry: as_facts(row) for row in rows}
        if a == b or len(facts) < 2:
            return None
        ours, theirs = (self._evidence({row.run for row in rows if row.entry == entry}) for entry in (a, b))
        common = [key for key in ours if key in theirs]
        common.sort(key=lambda key: (list(self.sets).index(key.set), key.mode, VIEWS.index(View(key.view))))
        comparisons = [self._pairwise(key, ours[key], theirs[key], facts[a].model, facts[b].model) for key in common]
        return records.ComparePage(a=facts[a], b=facts[b], comparisons=tuple(comparisons))

    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of models that are in one ranking, each with its entries in order; the highest ranks first."""
        rankings: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        for row in self.rows:
            rankings[row.set, row.mode, row.view, row.short][row.entry] = row.better
        best: dict[tuple[str, str], int] = {}
        for ranks in rankings.values():
            for a, b in combinations(sorted(ranks), 2):
                best[a, b] = min(best.get((a, b), ranks[a] + ranks[b]), ranks[a] + ranks[b])
        return sorted(best, key=lambda pair: (best[pair], pair))

    def public_hidden_gaps(self) -> list[records.PublicHiddenGap]:
        """Models on a public and on a hidden set of one task and language, the largest loss first."""
        stacked: dict[tuple[str, str], dict[str, AnyRow]] = defaultdict(dict)
        for row in self.rows:
            if row.view == self.sets[row.set].task.image_views[0].value:
                stacked[row.entry, row.set][row.mode] = row
        gaps = []
        for (entry, name), secrets in stacked.items():
            off = self.sets[name]
            for on in self.sets.values() if off.hidden else ():
                # The modes of a multiple-choice benchmark are its languages.
                if on.hidden or on.task is not off.task or (off.task.axis == "mode" and on.language != off.language):
                    continue
                for mode, secret in secrets.items():
                    if alike := _alike(mode, stacked.get((entry, on.name), {})):
                        gaps.append(self._gap(alike, secret))
        return sorted(gaps, key=lambda gap: (gap.difference.value, gap.facts.model))

    def _evidence(self, runs: Collection[int]) -> dict[results.CellKey, results.Evidence]:
        return {key: row for run in runs for key, row in results.evidence(self.connection, run).items()}

    def _pairwise(
        self, key: results.CellKey, of_a: results.Evidence, of_b: results.Evidence, title_a: str, title_b: str
    ) -> records.PairwiseComparison:
        import numpy as np

        track, a, b = self.track(key.set, key.mode, key.view), of_a.cell, of_b.cell
        ours, theirs = disclosed_estimates(a.estimates, track.step), disclosed_estimates(b.estimates, track.step)
        # First minus second, over the resamples that both share.
        apart = {
            metric: paired_difference(of_a.means[metric], of_b.means[metric])
            for metric in track.task.main_metrics
            if metric in of_a.means and metric in of_b.means
        }
        leading = next(iter(apart))
        estimates = {metric: Estimate(each.value, each.low, each.high) for metric, each in apart.items()}
        shown = partial(
            records.PairwiseComparison,
            track=track,
            a=ours,
            b=theirs,
            difference=disclosed_differences(ours, theirs, estimates, track.step),
        )
        if track.hidden:
            return shown(conclusion=_plain_conclusion(track.task, title_a, title_b, apart[leading]))
        # Both runs have one signature, so their bits stand for the same spans, whatever the set holds today.
        hits_a, hits_b = (np.unpackbits(np.frombuffer(cell.hits, np.uint8)).astype(bool) for cell in (a, b))
        only_a, only_b = discordant(hits_a, hits_b)
        # How many images were resampled is what the run says, as the set may have been changed since.
        task = track.task
        scores = {(score[task.axis], score["view"]): score for score in a.result["scores"]}
        clusters = int(scores[scorer_cell(key)][task.clusters])
        sentence = conclude(task, leading, title_a, title_b, apart[leading], only_a + only_b, clusters)
        return shown(p=mcnemar(only_a, only_b), only_a=only_a, only_b=only_b, conclusion=sentence)

    def _gap(self, publics: Sequence[AnyRow], secret: AnyRow) -> records.PublicHiddenGap:
        import numpy as np

        tracks = tuple(self.track(row.set, row.mode, row.view) for row in publics)
        off = self.track(secret.set, secret.mode, secret.view)
        found = [results.evidence(self.connection, row.run) for row in publics]
        cells = [
            each[results.CellKey(row.set, row.mode, row.view, row.short)]
            for each, row in zip(found, publics, strict=True)
        ]
        metric = off.task.main_metrics[0]
        modes = [cell.means[metric] for cell in cells]
        # All modes are scored on the same bootstrap replicates of the same images.
        value, means = np.mean([mode.mean for mode in modes]), np.mean([mode.means for mode in modes], axis=0)
        (whole,) = sd_and_intervals(np.array([value]), means[:, None], np.array([min(mode.groups for mode in modes)]))
        public = Estimate(float(value), whole.low, whole.high)
        hidden = disclosed_estimates(secret.estimates, off.step)[metric]
        return records.PublicHiddenGap(
            facts=as_facts(secret),
            public=tracks,
            hidden=off,
            public_score=public,
            hidden_score=hidden,
            difference=Estimate(hidden.value - public.value, *difference_interval(hidden, public)),
        )


def _alike(mode: str, public: Mapping[str, AnyRow]) -> list[AnyRow]:
    """The cells of a public set by mode whose mean is of the same covers as a hidden set's mode; none if it has none.

    A hidden set covers every other of its regions easily and the others hard, which is known to everybody.
    """
    wanted = [mode] if mode in public else list(NAMED_MODES) if mode in (HIDDEN_MODE, NO_MODE) else []
    return [public[each] for each in wanted] if all(each in public for each in wanted) else []


def _plain_conclusion(task: ScoredTask, a: str, b: str, right: PairedDifference) -> str:
    """Return a conclusion about two models on a hidden set, without counts."""
    if right.low > 0 or right.high < 0:
        better, worse = (a, b) if right.low > 0 else (b, a)
        return f"{better} {task.verb_better} than {worse} on this set (95 % interval of the paired difference)."
    return f"No difference between {a} and {b} is shown on this set."
