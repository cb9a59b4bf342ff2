"""Intervals over pictures and raters."""

import numpy as np
import pytest

from vcrgen.stats.two_way import two_way_bootstrap_difference, two_way_bootstrap_mean


def study(pictures: int, raters: int, *, by_rater: float, seed: int = 0) -> tuple[list[float], list[int], list[int]]:
    """Everybody sees everything; skills are spread evenly about 0.8."""
    rng = np.random.default_rng(seed)
    skills = 0.8 + by_rater * np.linspace(-1, 1, raters)
    cells = [(picture, rater) for picture in range(pictures) for rater in range(raters)]
    return [float(rng.random() < skills[rater]) for _, rater in cells], *map(list, zip(*cells, strict=True))  # type: ignore[return-value]


def test_raters_who_differ_make_an_interval_wide_however_many_pictures_there_are() -> None:
    alike, apart = (two_way_bootstrap_mean(*study(300, 6, by_rater=spread), seed=1) for spread in (0.0, 0.15))
    assert alike.high - alike.low < 0.06 < 0.15 < apart.high - apart.low
    assert alike.low < 0.8 < alike.high and apart.low < 0.8 < apart.high


def test_raters_make_a_difference_as_wide_as_they_differ() -> None:
    """Three alike leave it nearly as narrow as the pictures alone do; three who differ tell little of others."""
    widths = []
    for spread in (0.0, 0.15):
        scores, rows, columns = study(200, 3, by_rater=spread)
        found = two_way_bootstrap_difference(
            [score - (row % 2) for score, row in zip(scores, rows, strict=True)], rows, columns, seed=1
        )
        assert found.low < 0.3 < found.high
        widths.append(found.high - found.low)
    of_pictures = 2 * 1.96 * (0.25 / 200 + 0.8 * 0.2 / 600) ** 0.5
    assert of_pictures < widths[0] < 1.3 * of_pictures
    assert 4 * of_pictures < widths[1] < 7 * of_pictures


def test_many_raters_of_few_pictures_count() -> None:
    """Beside a model that has all right: what varies is as much of the raters as of the pictures."""
    scores, rows, columns = study(8, 10, by_rater=0.0)
    found = two_way_bootstrap_difference([score - 1 for score in scores], rows, columns, seed=1)
    assert found.low < -0.2 < found.high and found.high - found.low < 0.4


def test_ends_stay_on_the_scale_and_have_width() -> None:
    found = two_way_bootstrap_mean([1.0] * 30, [n // 3 for n in range(30)], [n % 3 for n in range(30)], seed=1)
    assert found.value == found.high == 1 and 0.3 < found.low < 1


def test_a_single_rater_says_nothing_of_others() -> None:
    found = two_way_bootstrap_mean([1.0, 0.0, 1.0], [0, 1, 2], [7, 7, 7], seed=1)
    assert (found.low, found.high) == (0, 1)
    difference = two_way_bootstrap_difference([1.0, 0.0, 1.0], [0, 1, 2], [7, 7, 7], seed=1)
    assert (difference.low, difference.high) == (-1, 1)


def test_numbers_of_pictures_and_raters_are_names() -> None:
    values, rows, columns = study(40, 4, by_rater=0.1)
    plain = two_way_bootstrap_mean(values, rows, columns, seed=1)
    named = two_way_bootstrap_mean(values, [900 + row for row in rows], [3 * column for column in columns], seed=1)
    assert plain == named and plain != two_way_bootstrap_mean(values, rows, columns, seed=2)


def test_a_difference_of_nothing_has_width() -> None:
    found = two_way_bootstrap_difference([0.0] * 30, [n // 3 for n in range(30)], [n % 3 for n in range(30)], seed=1)
    assert found.value == pytest.approx(0) and found.low < 0 < found.high
