"""Comparisons on shared bootstrap replicates: two models on one set, one model on a public and a hidden set."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import combinations

from vcrgen.core.plurals import pluralize
from vcrgen.core.records import Mode, is_mode
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.tasks.vcr import WHITE_ROWS
from vcrgen.leaderboard.disclosure import disclose_differences
from vcrgen.leaderboard.page_records import BoardCell, ComparePage, Estimate, PairwiseComparison, PublicHiddenGap
from vcrgen.leaderboard.records import TestSet
from vcrgen.leaderboard.store import ranks, results
from vcrgen.leaderboard.store.ranks import CellKey
from vcrgen.leaderboard.store.reader import VIEWS, BoardReader, board_cells
from vcrgen.leaderboard.store.results import Evidence, key_of_cell
from vcrgen.scorer.comparison import conclude, correction_doubt
from vcrgen.stats.intervals import difference_interval, sd_and_intervals
from vcrgen.stats.paired import PairedDifference, discordant, paired_difference
from vcrgen.stats.sign_flips import ALPHA
from vcrgen.text.languages import LANGUAGES


def compare_models(reader: BoardReader, a: str, b: str) -> ComparePage | None:
    """Two models wherever both are ranked in one ranking; None if one is not on the board."""
    cells = board_cells(reader.connection, entries=(a, b))
    facts = {cell.facts.entry: cell.facts for cell in cells}
    if a == b or len(facts) < 2:
        return None
    cells_a, cells_b = ({key_of_cell(cell): cell for cell in cells if cell.facts.entry == entry} for entry in (a, b))
    common = [key for key in cells_a if key in cells_b]
    common.sort(key=lambda key: (list(reader.sets).index(key.set), key.mode, VIEWS.index(cells_a[key].view)))
    by_run = {run: results.evidence(reader.connection, run) for run in {cell.run for cell in cells}}
    comparisons = [
        _pairwise(reader, cells_a[key], cells_b[key], by_run[cells_a[key].run][key], by_run[cells_b[key].run][key])
        for key in common
    ]
    return ComparePage(a=facts[a], b=facts[b], comparisons=tuple(comparisons))


def model_pairs(reader: BoardReader) -> list[tuple[str, str]]:
    """Pairs of models that are in one ranking, each with its entries in order; the highest ranks first."""
    rankings: dict[CellKey, dict[str, int]] = defaultdict(dict)
    for cell in reader.cells:
        key = key_of_cell(cell)
        rankings[key][cell.facts.entry] = reader.ranks(key)[cell.run].rank
    best: dict[tuple[str, str], int] = {}
    for by_entry in rankings.values():
        for a, b in combinations(sorted(by_entry), 2):
            best[a, b] = min(best.get((a, b), by_entry[a] + by_entry[b]), by_entry[a] + by_entry[b])
    return sorted(best, key=lambda pair: (best[pair], pair))


def public_hidden_gaps(reader: BoardReader) -> list[PublicHiddenGap]:
    """Models on a public and on a hidden set of one task and language, the largest loss first."""
    with_image: dict[tuple[str, str], dict[str, BoardCell]] = defaultdict(dict)  # by entry and set, then by mode
    for cell in reader.cells:
        if cell.view == reader.sets[cell.set].task.image_views[0]:
            with_image[cell.facts.entry, cell.set][cell.mode] = cell
    gaps = []
    for (entry, name), hidden_cells in with_image.items():
        hidden_set = reader.sets[name]
        for public_set in reader.sets.values() if hidden_set.hidden else ():
            if public_set.hidden or public_set.task is not hidden_set.task:
                continue
            # The modes of a multiple-choice benchmark are its languages.
            if hidden_set.task.axis == "mode" and public_set.language != hidden_set.language:
                continue
            for mode, hidden_cell in hidden_cells.items():
                by_mode = with_image.get((entry, public_set.name), {})
                if public_cells := [by_mode[name] for name in _same_modes(mode, hidden_set, public_set, by_mode)]:
                    gaps.append(_gap(reader, public_cells, hidden_cell))
    return sorted(gaps, key=lambda gap: (gap.difference.value, gap.facts.model))


def _pairwise(
    reader: BoardReader, a: BoardCell, b: BoardCell, evidence_a: Evidence, evidence_b: Evidence
) -> PairwiseComparison:
    track = reader.track(a.set, a.mode, a.view)
    task = track.task
    # First minus second, over the resamples that both share.
    apart = {
        metric: paired_difference(evidence_a.means[metric], evidence_b.means[metric])
        for metric in task.main_metrics
        if metric in evidence_a.means and metric in evidence_b.means
    }
    leading = next(iter(apart))
    key = key_of_cell(a)
    p, p_corrected = ranks.pair_p(reader.connection, key, a.run, b.run)
    doubt = correction_doubt(p, p_corrected, f"the {pluralize(len(reader.ranks(key)), 'model')} of its table")
    paired = {metric: Estimate(gap.value, gap.low, gap.high) for metric, gap in apart.items()}
    difference = disclose_differences(a.estimates, b.estimates, paired, track.step)
    models = a.facts.model, b.facts.model
    if track.hidden:  # no counts, and no p that would tell them
        sentence = _plain_conclusion(task, leading, *models, apart[leading], p, p_corrected)
        return PairwiseComparison(track=track, a=a.estimates, b=b.estimates, difference=difference, conclusion=sentence)
    only_a, only_b = _discordant(evidence_a, evidence_b)
    # How many images were resampled is what the run says, as the set may have been changed since.
    scores = {(score[task.axis], score["view"]): score for score in evidence_a.result["scores"]}
    clusters = int(scores[results.scorer_cell(a)][task.clusters])
    sentence = conclude(task, leading, *models, apart[leading], p, only_a + only_b, clusters)
    return PairwiseComparison(
        track=track,
        a=a.estimates,
        b=b.estimates,
        difference=difference,
        p=p,
        p_corrected=p_corrected,
        only_a=only_a,
        only_b=only_b,
        conclusion=sentence + doubt,
    )


def _discordant(a: Evidence, b: Evidence) -> tuple[int, int]:
    """How many spans only the first recovered, and only the second.

    Both runs have one signature, so their bits stand for the same spans, whatever the set holds today.
    """
    import numpy as np

    hits_a, hits_b = (np.unpackbits(np.frombuffer(side.hits, np.uint8)).astype(bool) for side in (a, b))
    return discordant(hits_a, hits_b)


def _gap(reader: BoardReader, public_cells: Sequence[BoardCell], hidden_cell: BoardCell) -> PublicHiddenGap:
    import numpy as np

    hidden_track = reader.track(hidden_cell.set, hidden_cell.mode, hidden_cell.view)
    metric = hidden_track.task.main_metrics[0]
    modes = [results.bootstrap_mean(reader.connection, cell, metric) for cell in public_cells]
    # All modes are scored on the same bootstrap replicates of the same images.
    value, means = np.mean([mode.mean for mode in modes]), np.mean([mode.means for mode in modes], axis=0)
    (whole,) = sd_and_intervals(np.array([value]), means[:, None], np.array([min(mode.groups for mode in modes)]))
    public = Estimate(float(value), whole.low, whole.high)
    hidden = hidden_cell.estimates[metric]
    return PublicHiddenGap(
        facts=hidden_cell.facts,
        public=tuple(reader.track(cell.set, cell.mode, cell.view) for cell in public_cells),
        hidden=hidden_track,
        public_score=public,
        hidden_score=hidden,
        difference=Estimate(hidden.value - public.value, *difference_interval(hidden, public)),
    )


def _same_modes(mode: str, hidden_set: TestSet, public_set: TestSet, scored: Collection[str]) -> list[str]:
    """Modes of a public set whose mean is like the score in a hidden set's mode; none if one of them is not scored.

    A hidden set covers its spans in its modes in turn, which is known to everybody. Covers are alike by their kind and
    by what they leave: easy white rows are no easy stains, but an ink level may be what another set calls easy.
    """
    if hidden_set.task.axis != "mode":
        return [mode] if mode in scored else []
    by_cover = {_cover(public_set, name): name for name in sorted(scored, reverse=True)}
    by_cover.pop(None, None)
    modes = [by_cover.get(_cover(hidden_set, name), "") for name in hidden_set.covers]
    return modes if all(modes) else []


def _cover(test_set: TestSet, mode: str) -> tuple[str, float] | None:
    """The kind of a mode's covers, with the bits or the share of ink that they leave; None where nobody knows."""
    if not is_mode(mode):
        return None
    level, language = Mode(mode), LANGUAGES[test_set.language]
    # Without a signature of ours the data is VCR-WIKI's.
    kind = test_set.covers.get(mode, "") if test_set.covers else WHITE_ROWS
    return (kind, level.bits or language.cover_target(level).visible) if kind else None


def _plain_conclusion(
    task: ScoredTask, metric: str, a: str, b: str, apart: PairedDifference, p: float, p_corrected: float
) -> str:
    """A conclusion about two models on a hidden set, without counts and p-values."""
    if p >= ALPHA:
        return f"No difference of {task.metrics[metric].in_text} between {a} and {b} is shown on this set."
    better, worse = (a, b) if apart.value > 0 else (b, a)
    doubt = " Among all pairs of its table chance may give as much." if p_corrected >= ALPHA else ""
    return f"{better} {task.verb_better} than {worse} on this set (sign flips of {task.clusters}, p below 0.05).{doubt}"
