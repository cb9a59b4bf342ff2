"""Rankings by fewer tasks against SciPy and plain loops."""

import numpy as np
import pytest

from vcrgen.analysis.rank_preservation import rank_preservation, significantly_different


@pytest.fixture(scope="module")
def unit() -> np.ndarray:
    rng = np.random.default_rng(1)
    made = rng.standard_normal((15, 1)) + rng.standard_normal((15, 8))
    return (made - made.mean(axis=0)) / made.std(axis=0)


def test_the_figures_of_a_set(unit: np.ndarray) -> None:
    from scipy import stats

    sets = np.array([[1.0] * 8, [1, 1, 1, 0, 0, 0, 0, 0]])
    found = rank_preservation(unit, sets)
    assert (found.spearman[0], found.kendall[0], found.pairs[0], found.flips[0], found.largest[0], found.top[0]) == (
        pytest.approx(1),
        1,
        1,
        0,
        0,
        1,
    )
    whole, part = unit.mean(axis=1), unit[:, :3].mean(axis=1)
    assert found.spearman[1] == pytest.approx(stats.spearmanr(whole, part).statistic)
    assert found.kendall[1] == pytest.approx(stats.kendalltau(whole, part).statistic)
    apart = significantly_different(unit)
    pairs = [(i, j) for i in range(15) for j in range(i)]
    turned = [(i, j) for i, j in pairs if (whole[i] - whole[j]) * (part[i] - part[j]) < 0]
    assert found.pairs[1] == 1 - len(turned) / len(pairs)
    assert (
        found.flips[1] == sum(bool(apart[i, j]) for i, j in turned) and found.apart == apart[np.triu_indices(15)].sum()
    )
    assert found.largest[1] == np.abs(stats.rankdata(-whole) - stats.rankdata(-part)).max()
    assert found.top[1] == len(set(np.argsort(-whole)[:7]) & set(np.argsort(-part)[:7])) / 7


def test_models_are_told_apart_by_the_t_test_of_pairs(unit: np.ndarray) -> None:
    from scipy import stats

    apart = significantly_different(unit)
    for i, j in ((0, 1), (3, 9), (2, 14), (int(unit.mean(axis=1).argmax()), int(unit.mean(axis=1).argmin()))):
        assert apart[i, j] == apart[j, i] == (stats.ttest_rel(unit[i], unit[j]).pvalue < 0.05)
    assert not significantly_different(unit[:, :1]).any() and not apart.diagonal().any()
