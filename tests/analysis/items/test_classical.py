"""Classical figures against plain loops over their formulas, with and without missing cells."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.analysis.items.classical import item_statistics, near_duplicates, reliability, score_intervals
from vcrgen.analysis.items.example import made_items, named
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.stats.paired import benjamini_hochberg

NEAR = 1e-12


def table_of(
    seed: int, *, missing: float = 0.0, models: int = 30, items: int = 24, images: int | None = 10
) -> ItemTable:
    table, _ = made_items(items, seed=seed, image=0.7).ask(models, images=images)
    scores = table.scores.copy()
    rng = np.random.default_rng(seed)
    scores[rng.random(scores.shape) < missing] = np.nan
    return named(scores, table.groups, source="made items")


def pearson(x: list[float], y: list[float]) -> float:
    return statistics.correlation(x, y) if len(x) >= 3 and len(set(x)) > 1 and len(set(y)) > 1 else math.nan


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= NEAR


def alpha(rows: list[list[float]]) -> float:
    """Cronbach's formula as it stands in textbooks."""
    items = list(zip(*rows, strict=True))
    total = statistics.variance([sum(row) for row in rows])
    return len(items) / (len(items) - 1) * (1 - sum(map(statistics.variance, items)) / total)


@pytest.mark.parametrize("missing", [0.0, 0.03, 0.3])
def test_figures_of_items_are_those_of_plain_loops(missing: float) -> None:
    table = table_of(1, missing=missing)
    found = item_statistics(table)
    rows = [[None if math.isnan(x) else x for x in row] for row in table.scores.tolist()]
    for item in range(len(table.items)):
        own, rest = [], []
        for row in rows:
            others = [x for place, x in enumerate(row) if place != item and x is not None]
            if row[item] is not None and others:
                own.append(row[item])
                rest.append(statistics.fmean(others))
        known = [row[item] for row in rows if row[item] is not None]
        assert found.models[item] == len(known)
        assert same(found.p[item], statistics.fmean(known))
        assert same(found.item_rest[item], pearson(own, rest))
        if abs(found.item_rest[item]) < 1:
            z = math.atanh(found.item_rest[item])
            assert same(found.low[item], math.tanh(z - 1.959963984540054 / math.sqrt(len(known) - 3)))


@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_alpha_and_alpha_without_an_item(missing: float) -> None:
    table = table_of(3, missing=missing)
    whole = table.scores[table.complete_models]
    found = reliability(table, seed=0, resamples=200)
    assert found is not None and found.models == len(whole) and (missing == 0) == (len(whole) == 30)
    assert same(found.alpha.value, alpha(whole.tolist()))
    without = item_statistics(table).alpha_dropped
    for item in range(len(table.items)):
        assert abs(without[item] - alpha(np.delete(whole, item, axis=1).tolist())) < 1e-11


def test_alpha_has_an_interval_over_resamples_of_models() -> None:
    table = table_of(4)
    found = reliability(table, seed=5, resamples=400)
    assert found is not None
    from vcrgen.stats.bootstrap import bootstrap_weights

    drawn = [
        alpha(np.repeat(table.scores, weights, axis=0).tolist())
        for block in bootstrap_weights(30, seed=5, unit="model", draws=400)
        for weights in block
    ]
    assert np.allclose(np.quantile(drawn, (0.025, 0.975)), (found.alpha.low, found.alpha.high), atol=1e-9)
    assert found.failed == 0
    again = reliability(table, seed=5, resamples=400)
    assert again == found != reliability(table, seed=6, resamples=400)


def test_parts_of_the_variance_are_those_the_scores_were_drawn_with() -> None:
    """Normal scores with known parts; images of 1 to 5 items, as in real sets."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), rng.integers(1, 6, 150))
    parts = []
    for _ in range(20):
        models, images = rng.normal(0, 0.3, (60, 1)), rng.normal(0, 0.2, (60, 150))[:, groups]
        scores = models + images + rng.normal(0, 0.5, len(groups)) + rng.normal(0, 0.4, (60, len(groups)))
        found = reliability(named(scores, groups, source="x"), seed=0, resamples=100)
        assert found is not None
        error = 0.2**2 * sum(np.bincount(groups) ** 2) / len(groups) ** 2 + 0.4**2 / len(groups)
        assert abs(found.error - math.sqrt(error)) < 0.03 * math.sqrt(error)
        parts.append((found.between_models, found.models_by_images, found.rest))
    assert np.allclose(np.mean(parts, axis=0), (0.09, 0.04, 0.16), rtol=0.08)


def test_images_that_hang_together_make_alpha_too_high() -> None:
    table = table_of(6, models=80, items=200, images=20)
    found = reliability(table, seed=0, resamples=100)
    assert found is not None and found.generalisability < found.alpha.value - 0.005
    assert abs(found.halves.value - found.generalisability) < 0.02  # halves keep images whole
    needed = found.needed(0.95)
    assert needed is not None and found.at(needed) >= 0.95 > found.at(needed - 1)


def test_scores_have_the_error_of_images() -> None:
    """The standard error is that of means of whole images, resampled."""
    table = table_of(7, models=6, items=120, images=40, missing=0.05)
    means, errors, low, high = score_intervals(table)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(40, np.full(40, 1 / 40), 4000)
    sums, counts = table.sums()
    for model in range(6):
        resampled = (drawn @ sums[model]) / (drawn @ counts[model])
        assert abs(errors[model] - resampled.std()) < 0.06 * errors[model]
        assert low[model] < means[model] < high[model]
    assert np.allclose(means, np.nanmean(table.scores, axis=1))


def test_a_wrong_key_is_found_and_few_others_are() -> None:
    flagged, told = [], 0
    for seed in range(10):
        table = table_of(seed, models=60, items=100, images=None)
        scores = table.scores.copy()
        scores[:, 3] = 1 - scores[:, 3]
        found = item_statistics(named(scores, source="x"))
        told += 3 in found.negative.tolist()
        assert 3 in found.negative.tolist() or found.item_rest[3] > -0.5
        flagged.append(len(found.negative) - (3 in found.negative.tolist()))
    assert sum(flagged) == 0 and told >= 3


def test_items_that_nobody_or_everybody_solves() -> None:
    scores = table_of(8, images=None).scores.copy()
    scores[:, 2], scores[:, 9] = 0, 1
    scores[:5, 9] = np.nan
    found = item_statistics(named(scores, source="x"))
    assert (found.unsolved.tolist(), found.solved_by_all.tolist()) == ([2], [9])
    assert math.isnan(found.item_rest[2]) and math.isnan(found.adjusted[9])


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_copies_are_found_and_chance_is_not(missing: float) -> None:
    table = table_of(9, models=50, items=150, images=None, missing=missing)
    scores = table.scores.copy()
    scores[:, 140] = scores[:, 16]  # which half of the models solve
    found = near_duplicates(named(scores, source="x"))
    assert [(a, b) for a, b, _ in found.pairs] == [(16, 140)] and found.found == 1 and found.is_testable
    assert found.pairs[0][2] == pytest.approx(1.0)


def test_items_that_one_model_solves_are_no_copies() -> None:
    scores = table_of(12, models=50, items=60, images=None).scores.copy()
    scores[:, 20:] = 0
    scores[3, 20:] = 1
    found = near_duplicates(named(scores, source="x"))
    assert found.pairs == [] and found.is_testable


def test_few_models_cannot_tell_copies_from_chance() -> None:
    found = near_duplicates(table_of(10, models=8, items=100, images=None))
    assert not found.is_testable and found.pairs == []


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_what_does_not_vary_has_no_figure_and_no_fault(score: float) -> None:
    table = named(np.full((6, 4), score), source="x")
    with np.errstate(all="raise"):
        items, copies, found = item_statistics(table), near_duplicates(table), reliability(table, seed=0, resamples=100)
    assert items.p.tolist() == [score] * 4 and np.isnan(items.item_rest).all() and np.isnan(items.alpha_dropped).all()
    assert copies.pairs == []
    assert found is not None and math.isnan(found.alpha.value) and found.failed == 100 and found.error == 0


def test_no_interval_of_alpha_where_many_resamples_have_none() -> None:
    scores = np.zeros((6, 4))
    scores[0] = (1, 1, 0, 1)
    found = reliability(named(scores, source="x"), seed=0, resamples=500)
    assert found is not None and found.failed > 25 and math.isnan(found.alpha.low)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=50)
def test_adjusted_p_values_are_those_of_the_plain_rule(p: list[float]) -> None:
    found = benjamini_hochberg(np.array([*p, math.nan]))
    assert math.isnan(found[-1])
    ordered = sorted(p)
    for value, adjusted in zip(p, found, strict=False):
        first = ordered.index(value)
        expected = min(min(1.0, ordered[k] * len(p) / (k + 1)) for k in range(first, len(p)) if ordered[k] >= value)
        assert adjusted == pytest.approx(expected, abs=1e-12)
