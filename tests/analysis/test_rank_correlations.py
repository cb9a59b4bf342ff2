"""Rank correlations as in Table VII: against scipy, within the ends of the ranking, with paired intervals."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import spearmanr

from vcrgen.analysis.rank_correlations import rank_correlations

RNG = np.random.default_rng(3)
ABILITY = RNG.standard_normal(165)
ORIGINAL, REFINED, HUMAN = (np.round(ABILITY + noise * RNG.standard_normal(165), 1) for noise in (0.3, 0.3, 0.8))


@pytest.mark.parametrize(
    ("models", "end"), [(165, 50), (40, 20)], ids=["fifty at an end", "of fewer than 100 models half"]
)
def test_correlations_are_those_of_scipy(models: int, end: int) -> None:
    original, refined, human = ORIGINAL[:models], REFINED[:models], HUMAN[:models]
    every, top, bottom = rank_correlations(original, refined, human, seed=0)
    order = np.sort(original)
    for found, rows in (
        (every, original == original),
        (top, original >= order[-end]),  # equal scores at the border are all taken
        (bottom, original <= order[end - 1]),
    ):
        assert found.models == rows.sum()
        before, after = (spearmanr(score[rows], human[rows]).statistic for score in (original, refined))
        assert found.refined.value == pytest.approx(spearmanr(original[rows], refined[rows]).statistic)
        assert found.original_anchor and found.refined_anchor and found.gain
        assert found.original_anchor.value == pytest.approx(before)
        assert found.refined_anchor.value == pytest.approx(after)
        assert found.gain.value == pytest.approx(after - before)
        for each in (found.refined, found.original_anchor, found.refined_anchor, found.gain):
            assert each.low < each.value < each.high
    assert [every.subset, top.subset, bottom.subset] == ["all", "top", "bottom"]


def test_a_gain_is_known_better_than_two_independent_correlations() -> None:
    every, *_ = rank_correlations(ORIGINAL, REFINED, HUMAN, seed=0)
    assert every.gain and every.original_anchor and every.refined_anchor
    before, after = (each.high - each.low for each in (every.original_anchor, every.refined_anchor))
    assert every.gain.high - every.gain.low < np.hypot(before, after) / 2


def test_models_of_one_family_are_drawn_together() -> None:
    families = np.arange(165) // 15
    alone, *_ = rank_correlations(ORIGINAL, REFINED, HUMAN, seed=0)
    of_families, *_ = rank_correlations(ORIGINAL, REFINED, families + 0.1 * HUMAN, seed=0, groups=families)
    assert alone.refined.value == of_families.refined.value and alone.refined != of_families.refined


def test_without_an_anchor_there_is_one_correlation() -> None:
    every, *_ = rank_correlations(ORIGINAL, REFINED, None, seed=0)
    assert every.refined.value > 0.8 and every.original_anchor is every.refined_anchor is every.gain is None


def test_the_published_table_stands_beside_it(run: Callable[..., tuple[int, str, str]]) -> None:
    code, text, _ = run("analyze", "prune", "--example", "gold-made", "--resamples", 20, "--loading-min", 0.8, "-fmd")
    assert code == 0 and "| BLINK | top 50 | 0.8395 | 0.4335 | 0.6138 |" in text and "| top | 50 |" in text
