"""Categories that differ: which profiles are paired, and that Benjamini and Hochberg's rule holds what it promises."""

import numpy as np
import pytest

from vcrgen.analysis.profile.differences import NAMED, category_differences, pairs_by
from vcrgen.analysis.profile.profiles import Category, ModelProfile, Profiles, gap, profile_of
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.intervals import difference_interval


def made(
    model: str, lang: str, shares: list[float], *, items: int = 75, metric: str = "rae", view: str = "image"
) -> ModelProfile:
    categories = {Category(f"l{n % 6}", "s", f"{n}"): (share, items) for n, share in enumerate(shares)}
    return profile_of(model, lang, metric, categories, view=view)


def test_pairs_differ_in_one_thing() -> None:
    profiles = [
        made(model, lang, [0.5], metric=metric, view=view)
        for model in ("a", "b")
        for lang in ("en", "ar", "es")
        for metric in ("rae", "lbs")
        for view in ("image", "text-only")
    ]
    for what, number in (("model", 6), ("lang", 12), ("metric", 6), ("view", 12)):
        pairs = pairs_by(profiles, what)
        assert len(pairs) == number
        for one, other in pairs:
            differ = [a != b for a, b in zip(one.key, other.key, strict=True)]
            assert differ == [name == what for name in ("model", "lang", "view", "metric")]
            assert one.view == "image"
    assert [(a.lang, b.lang) for a, b in pairs_by(profiles, "lang")[:3]] == [("en", "ar"), ("en", "es"), ("ar", "es")]


def test_adjusted_p_values_are_scipys(published: Profiles) -> None:
    from scipy.stats import false_discovery_control

    found = category_differences(pairs_by(published.profiles, "lang"))
    assert len(found) == 11 * 106
    expected = false_discovery_control([each.p for each in found])
    assert [each.adjusted for each in found] == pytest.approx(expected.tolist(), abs=1e-12)
    below = [each for each in found if each.p < 0.05]
    assert all((each.low > 0 or each.high < 0) == (each.p < 0.05) for each in found)
    assert 0 < sum(each.adjusted < NAMED for each in found) < len(below)


def test_a_difference_worked_by_hand() -> None:
    first, second = made("a", "en", [0.9], items=100), made("b", "en", [0.6], items=100)
    (found,) = category_differences([(first, second)])
    assert found.value == pytest.approx(0.3)
    category = Category("l0", "s", "0")
    assert (found.low, found.high) == difference_interval(first.categories[category], second.categories[category])
    assert found.p < 1e-5 and found.adjusted == found.p


def test_only_categories_of_both_are_compared() -> None:
    first, second = made("a", "en", [0.9, 0.5]), made("b", "en", [0.6])
    assert [each.category.name for each in category_differences([(first, second)])] == ["0"]
    assert category_differences([]) == []


def test_models_that_are_alike_are_hardly_ever_told_apart() -> None:
    """Of 106 categories without a difference none is named in most pages; ``scripts/measure_profile.py`` has more."""
    rng = np.random.default_rng(5)
    named = 0
    for _ in range(60):
        true = rng.beta(8, 2, 106)
        a, b = (made(model, "en", list(rng.binomial(75, true) / 75)) for model in ("a", "b"))
        named += any(each.adjusted < NAMED for each in category_differences([(a, b)]))
    assert named <= 6


def test_a_gap_is_paired_where_both_were_resampled_alike() -> None:
    from dataclasses import replace

    hard = np.random.default_rng(0).normal(0, 0.02, 400)
    one, other = made("a", "en", [0.8]), made("a", "ar", [0.7])
    whole = gap(one, other)
    both = [
        replace(each, resampled=BootstrapMean(300, each.micro.value, each.micro.value + hard)) for each in (one, other)
    ]
    found = gap(*both)
    assert not whole.paired and found.paired and found.value == pytest.approx(0.1) == whole.value
    assert found.high - found.low < (whole.high - whole.low) / 2
    fewer = replace(both[1], resampled=BootstrapMean(299, 0.7, 0.7 + hard))
    assert not gap(both[0], fewer).paired
