"""Subsets of items: the reported error of held-out models is that of fresh models."""

import math

import numpy as np
import pytest

from vcrgen.analysis.items.classical import generator
from vcrgen.analysis.items.example import example_items, made_items, named
from vcrgen.analysis.items.shorten import METHODS, SelectionContext, _choose_all, _Full, default_sizes, shorten
from vcrgen.errors import AnalysisError
from vcrgen.stats.full_score import logistic

pytestmark = pytest.mark.usefixtures("rough")


def test_the_reported_error_is_that_of_fresh_models() -> None:
    """A smaller run of what ``scripts/measure_items.py`` measures."""
    made = made_items(300, seed=3, image=0.5)
    table, _ = made.ask(60, images=150)
    full = _Full(made.ask(1000, sample=1, images=150)[0])
    found = shorten(table, [20, 60], seed=0, repeats=40)
    chosen = [_choose_all(table, [20, 60], seed, "again") for seed in range(8)]
    for each in found.results:
        name = each.method, each.size
        fresh = [full.fit(np.arange(1000), choices[name]) for choices in chosen]
        error, agreement, decisions = np.mean([fit for fit, _ in fresh], axis=0)
        covered = np.mean([(errors <= each.within).mean() for _, errors in fresh])
        assert abs(covered - 0.95) < 0.05, name
        assert abs(each.error.value - error) < 0.2 * error, name
        assert abs(each.decisions.value - decisions) < 0.03, name
        assert each.error.low < error < each.error.high
        assert agreement > 0.9


def test_item_response_models_of_many_models_are_nearer_than_chance() -> None:
    table, _ = made_items(600, seed=3).ask(150)
    shortened = shorten(table, [20], seed=0, repeats=12)
    found = {each.method: each for each in shortened.results}
    assert found["metabench"].less_error.low > 0 and shortened.kind == "2PL"
    assert found["random"].less_error == (0, 0, 0)
    errors = {name: each.error.value for name, each in found.items()}
    assert errors["metabench"] < errors["pirt"] < errors["stratified"] < errors["random"]
    assert errors["anchors-pirt"] < errors["anchors"]


def test_estimators_of_one_selection_have_the_same_units() -> None:
    chosen = shorten(example_items(), [20], seed=0, repeats=10).chosen
    for one, other in (("stratified", "pirt"), ("anchors", "anchors-pirt")):
        assert np.array_equal(chosen[one, 20].units, chosen[other, 20].units)


def test_anchor_points_stand_for_their_clusters() -> None:
    """Three kinds of items that are alike inside give one anchor each, weighted by how many there are."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], [10, 30, 60])
    answers = rng.random((40, 3)) < 0.5
    scores = answers[:, kinds].astype(float)
    choice = _choose_all(named(scores, source="x"), [3], 0, "x")["anchors", 3]
    assert sorted(kinds[choice.units]) == [0, 1, 2]
    weights = dict(zip(kinds[choice.items].tolist(), choice.estimator.weights.tolist(), strict=True))
    assert weights == pytest.approx({0: 0.1, 1: 0.3, 2: 0.6})
    assert np.allclose(choice.estimator.estimate(scores[:, choice.items]), scores.mean(axis=1))


def test_items_that_do_not_vary_are_expected_as_they_are() -> None:
    made, _ = made_items(40, seed=2).ask(30)
    scores = made.scores.copy()
    scores[:, 5], scores[:, 6], scores[:, 7] = 1.0, 0.0, 0.25
    slope, intercept = SelectionContext(named(scores, source="x")).curves
    assert (slope[5:8] == 0).all() and np.allclose(logistic(intercept[5:8]), [1, 0, 0.25])


def test_choices_are_of_the_size_and_of_the_units() -> None:
    table = example_items()
    found = shorten(table, [7, 149], seed=0, repeats=10)
    for (_, size), (units, items, _) in found.chosen.items():
        assert len(set(units.tolist())) == size and set(table.groups[items].tolist()) == set(units.tolist())
    assert {method for method, _ in found.chosen} == set(METHODS)
    assert (found.units, found.held_out, found.repeats, found.kind) == (150, 12, 10, "Rasch")


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    table = example_items()
    one, two, other = (shorten(table, [30], seed=seed, repeats=10) for seed in (4, 4, 5))
    units = [[choice.units.tolist() for choice in each.chosen.values()] for each in (one, two, other)]
    assert one.results == two.results and units[0] == units[1] != units[2]


def test_every_unit_is_as_likely_to_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random or a stratified choice is no choice of easy or hard units, whatever the size."""
    table, _ = made_items(90, seed=1).ask(20)
    methods = {name: METHODS[name] for name in ("random", "stratified")}
    monkeypatch.setattr("vcrgen.analysis.items.shorten.METHODS", methods)
    for size in (60, 80):
        kept = {method: np.zeros(90) for method in methods}
        for seed in range(100):
            for (method, _), units in _choose_all(table, [size], seed, "x").items():
                kept[method][units.units] += 1
        p = table.scores.mean(axis=0)
        for method, counts in kept.items():
            assert abs((counts @ p) / counts.sum() - p.mean()) < 0.012, (method, size)


def test_held_out_models_have_no_part_in_the_choice() -> None:
    table = example_items()
    order = generator(0, "held out 0").permutation(60)
    scores = table.scores.copy()
    scores[order[:12]] = 1 - scores[order[:12]]
    others = np.sort(order[12:])
    ours, theirs = (
        _choose_all(t.select_models(others), [40], 0, "x") for t in (table, named(scores, table.groups, source="x"))
    )
    assert all(np.array_equal(ours[name].units, theirs[name].units) for name in ours)
    assert all(np.array_equal(ours[name].estimator.slope, theirs[name].estimator.slope) for name in ours)


def test_limits_are_met_surely_perhaps_or_not() -> None:
    found = shorten(example_items(), [10, 30, 60, 100, 140], seed=0, repeats=20)
    size, unsure = found.smallest("stratified", error=0.03, agreement=None)
    by_size = {each.size: each for each in found.results if each.method == "stratified"}
    assert size is not None and by_size[size].error.high <= 0.03
    assert all(by_size[each].error.low <= 0.03 < by_size[each].error.high for each in unsure)
    assert found.smallest("random", error=1e-9, agreement=None) == (None, [])
    strict, _ = found.smallest("stratified", error=0.03, agreement=0.99)
    assert strict is None or strict >= size


def test_too_few_models_and_sizes_that_are_none() -> None:
    table = example_items()
    with pytest.raises(AnalysisError, match=r"needs at least 10 models, .* has 9"):
        shorten(table.select_models(range(9)), [10], seed=0, repeats=10)
    for sizes in ([0], [1], [150], [10, 500]):
        with pytest.raises(AnalysisError, match="of 150 cannot be kept; give sizes from 2 to 149"):
            shorten(table, sizes, seed=0, repeats=10)
    small, _ = made_items(8, seed=0).ask(20)
    with pytest.raises(AnalysisError, match="has only 8 units"):
        shorten(small, default_sizes(8), seed=0, repeats=10)
    assert default_sizes(160) == [10, 15, 20, 30, 50, 70, 100, 150] and default_sizes(99_999)[-1] == 1000


def test_a_model_that_lacks_what_is_kept_is_left_out_of_the_comparison() -> None:
    scores = made_items(40, seed=2).ask(15)[0].scores.copy()
    scores[3, 5:] = np.nan  # has five items only
    scores[:, 39] = np.nan
    scores[4, 39] = 1  # nobody else has it
    found = shorten(named(scores, source="x"), [4, 20], seed=0, repeats=12)
    assert all(math.isfinite(each.error.value) for each in found.results)
