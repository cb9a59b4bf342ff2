"""Comparisons on shared bootstrap replicates: two models on one set, one model on a public and a hidden set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

from vcrgen.core.records import NAMED_MODES
from vcrgen.data.key import HIDDEN_MODE
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.leaderboard import records
from vcrgen.leaderboard.disclosure import disclose_differences
from vcrgen.leaderboard.queries.state import VIEWS, BoardState, scorer_cell
from vcrgen.leaderboard.records import NO_MODE, BoardCell, Estimate
from vcrgen.leaderboard.store import results
from vcrgen.scorer.comparison import conclude
from vcrgen.stats.intervals import difference_interval, sd_and_intervals
from vcrgen.stats.paired import PairedDifference, discordant, mcnemar, paired_difference


class ComparisonQueries(BoardState):
    """Pairs of models, and gaps between public and hidden sets."""

    def compare(self, a: str, b: str) -> records.ComparePage | None:
        """Two models wherever both are ranked in one ranking; None if one is not on the board."""
        rows = results.board_cells(self.connection, entries=(a, b))
        facts = {row.facts.entry: row.facts for row in rows}
        if a == b or len(facts) < 2:
            return None
        ours, theirs = ({_key(row): row for row in rows if row.facts.entry == entry} for entry in (a, b))
        common = [key for key in ours if key in theirs]
        common.sort(key=lambda key: (list(self.sets).index(key.set), key.mode, VIEWS.index(View(key.view))))
        of_runs = {run: results.evidence(self.connection, run) for run in {row.run for row in rows}}
        comparisons = [
            self._pairwise(one, other, of_runs[one.run][key], of_runs[other.run][key])
            for key, one, other in ((key, ours[key], theirs[key]) for key in common)
        ]
        return records.ComparePage(a=facts[a], b=facts[b], comparisons=tuple(comparisons))

    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of models that are in one ranking, each with its entries in order; the highest ranks first."""
        rankings: dict[results.CellKey, dict[str, int]] = defaultdict(dict)
        for row in self.rows:
            assert row.better is not None  # as it is ranked
            rankings[_key(row)][row.facts.entry] = row.better
        best: dict[tuple[str, str], int] = {}
        for ranks in rankings.values():
            for a, b in combinations(sorted(ranks), 2):
                best[a, b] = min(best.get((a, b), ranks[a] + ranks[b]), ranks[a] + ranks[b])
        return sorted(best, key=lambda pair: (best[pair], pair))

    def public_hidden_gaps(self) -> list[records.PublicHiddenGap]:
        """Models on a public and on a hidden set of one task and language, the largest loss first."""
        stacked: dict[tuple[str, str], dict[str, BoardCell]] = defaultdict(dict)
        for row in self.rows:
            if row.view == self.sets[row.set].task.image_views[0]:
                stacked[row.facts.entry, row.set][row.mode] = row
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

    def _pairwise(
        self, a: BoardCell, b: BoardCell, of_a: results.Evidence, of_b: results.Evidence
    ) -> records.PairwiseComparison:
        import numpy as np

        track = self.track(a.set, a.mode, a.view)
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
            a=a.estimates,
            b=b.estimates,
            difference=disclose_differences(a.estimates, b.estimates, estimates, track.step),
        )
        if track.hidden:
            return shown(conclusion=_plain_conclusion(track.task, a.facts.model, b.facts.model, apart[leading]))
        # Both runs have one signature, so their bits stand for the same spans, whatever the set holds today.
        hits_a, hits_b = (np.unpackbits(np.frombuffer(of.hits, np.uint8)).astype(bool) for of in (of_a, of_b))
        only_a, only_b = discordant(hits_a, hits_b)
        # How many images were resampled is what the run says, as the set may have been changed since.
        task = track.task
        scores = {(score[task.axis], score["view"]): score for score in of_a.result["scores"]}
        clusters = int(scores[scorer_cell(a)][task.clusters])
        sentence = conclude(task, leading, a.facts.model, b.facts.model, apart[leading], only_a + only_b, clusters)
        return shown(p=mcnemar(only_a, only_b), only_a=only_a, only_b=only_b, conclusion=sentence)

    def _gap(self, publics: Sequence[BoardCell], secret: BoardCell) -> records.PublicHiddenGap:
        import numpy as np

        tracks = tuple(self.track(row.set, row.mode, row.view) for row in publics)
        off = self.track(secret.set, secret.mode, secret.view)
        metric = off.task.main_metrics[0]
        modes = [results.evidence(self.connection, row.run)[_key(row)].means[metric] for row in publics]
        # All modes are scored on the same bootstrap replicates of the same images.
        value, means = np.mean([mode.mean for mode in modes]), np.mean([mode.means for mode in modes], axis=0)
        (whole,) = sd_and_intervals(np.array([value]), means[:, None], np.array([min(mode.groups for mode in modes)]))
        public = Estimate(float(value), whole.low, whole.high)
        hidden = secret.estimates[metric]
        return records.PublicHiddenGap(
            facts=secret.facts,
            public=tracks,
            hidden=off,
            public_score=public,
            hidden_score=hidden,
            difference=Estimate(hidden.value - public.value, *difference_interval(hidden, public)),
        )


def _key(cell: BoardCell) -> results.CellKey:
    return results.CellKey(cell.set, cell.mode, cell.view, cell.short)


def _alike(mode: str, public: Mapping[str, BoardCell]) -> list[BoardCell]:
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
