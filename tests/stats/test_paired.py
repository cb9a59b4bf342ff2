"""Two systems on the same items."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.stats.bootstrap import BootstrapMean, StoredGroupSums, bootstrap_means
from vcrgen.stats.paired import discordant, holm, mcnemar, paired_difference


def test_discordant_items() -> None:
    ours, theirs = np.array([1, 1, 1, 0, 0], bool), np.array([1, 0, 0, 1, 0], bool)
    assert discordant(ours, theirs) == (2, 1)
    assert discordant(ours, ours) == (0, 0)


def test_a_system_and_itself() -> None:
    """Nothing tells them apart; that two systems did the same on 100 groups does not say that they always do."""
    one = BootstrapMean(100, 0.3, np.linspace(0.2, 0.4, 50))
    value, sd, low, high = paired_difference(one, one)
    assert (value, sd) == (0.0, 0.0)
    assert -0.03 < low == -high < -0.01
    larger = one._replace(groups=1000)
    assert paired_difference(larger, larger).high < 0.003


def test_what_two_systems_share_does_not_widen_their_difference() -> None:
    hard = np.random.default_rng(1).random(400)  # what makes an item hard for both
    scores = np.stack([hard < 0.6, hard < 0.5], axis=1).astype(float)
    means = bootstrap_means(StoredGroupSums(scores, np.ones((400, 1)), [0, 0]), seed=0, unit="item")
    ours, theirs = (BootstrapMean(400, scores[:, n].mean(), means[:, n]) for n in range(2))
    value, sd, low, high = paired_difference(ours, theirs)
    assert 0 < low < value < high
    assert sd < 0.7 * math.hypot(means[:, 0].std(), means[:, 1].std())
    assert paired_difference(theirs, ours) == (-value, sd, -high, -low)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9, 0.8]) == [1.0, 1.0, 1.0]
    assert holm([0.02]) == [0.02] and holm([]) == []


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial(only_ours: int, only_theirs: int) -> None:
    n, k = only_ours + only_theirs, min(only_ours, only_theirs)
    exact = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)
    assert mcnemar(only_ours, only_theirs) == pytest.approx(exact)


def test_more_evidence_lowers_p() -> None:
    assert all(a > b for a, b in pairwise(mcnemar(2, n) for n in range(4, 30)))
