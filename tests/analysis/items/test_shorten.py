"""Subsets of items: the reported error of held-out models is that of fresh models."""

import math

import numpy as np
import pytest

from vcrgen.analysis.items.classical import generator
from vcrgen.analysis.items.example import example_items, made_items, named
from vcrgen.analysis.items.shorten import METHODS, _choose_all, _Full, default_sizes, shorten
from vcrgen.errors import AnalysisError


def test_the_reported_error_is_that_of_fresh_models() -> None:
    """A smaller run of what ``scripts/measure_items.py`` measures."""
    made = made_items(300, seed=3, image=0.5)
    table, _ = made.ask(60, images=150)
    full = _Full(made.ask(1000, sample=1, images=150)[0])
    found = shorten(table, [20, 60], seed=0, repeats=40)
    for each in found.results:
        name = each.method, each.size
        fresh = [full.fit(np.arange(1000), _choose_all(table, [each.size], seed, "again")[name]) for seed in range(8)]
        error, agreement, decisions = np.mean(fresh, axis=0)
        assert abs(each.error.value - error) < 0.2 * error, name
        assert abs(each.decisions.value - decisions) < 0.03, name
        assert each.error.low < error < each.error.high
        assert agreement > 0.9


def test_information_of_a_2pl_keeps_more_decisions_than_chance() -> None:
    table, _ = made_items(600, seed=3).ask(150)
    shortened = shorten(table, [20], seed=0, repeats=12)
    found = {each.method: each for each in shortened.results}
    assert found["information"].more_decisions.low > 0 and shortened.kind == "2PL"
    assert found["random"].less_error == (0, 0, 0)


def test_choices_are_of_the_size_and_of_the_units() -> None:
    table = example_items()
    found = shorten(table, [7, 149], seed=0, repeats=10)
    for (_, size), names in found.chosen.items():
        assert len(set(names)) == size and set(names) <= set(table.group_names)
    assert {method for method, _ in found.chosen} == set(METHODS)
    assert (found.units, found.held_out, found.repeats, found.kind) == (150, 12, 10, "Rasch")


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    table = example_items()
    one, two, other = (shorten(table, [30], seed=seed, repeats=10) for seed in (4, 4, 5))
    assert one == two and one.chosen != other.chosen


def test_every_unit_is_as_likely_to_be_kept() -> None:
    """A random or a stratified choice is no choice of easy or hard units, whatever the size."""
    table, _ = made_items(90, seed=1).ask(20)
    for size in (60, 80):
        kept = {method: np.zeros(90) for method in ("random", "stratified", "clustered")}
        for seed in range(100):
            for (method, _), units in _choose_all(table, [size], seed, "x").items():
                if method in kept:
                    kept[method][units] += 1
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
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


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
    assert default_sizes(160) == [10, 15, 20, 30, 50, 70, 100, 150]


def test_a_model_that_lacks_what_is_kept_is_left_out_of_the_comparison() -> None:
    scores = made_items(40, seed=2).ask(15)[0].scores.copy()
    scores[3, 5:] = np.nan  # has five items only
    scores[:, 39] = np.nan
    scores[4, 39] = 1  # nobody else has it
    found = shorten(named(scores, source="x"), [4, 20], seed=0, repeats=12)
    assert all(math.isfinite(each.error.value) for each in found.results)
