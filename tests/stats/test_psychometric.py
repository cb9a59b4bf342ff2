"""Psychometric functions against the truth, scipy's optimiser and psignifit."""

import math
from typing import Any

import numpy as np
import pytest

from vcrgen.errors import ScoreError
from vcrgen.stats.psychometric import (
    LEAST_IMAGES,
    MOST,
    AnswerCounts,
    Parameters,
    count_answers,
    fit_curve,
    fit_parameters,
    threshold_difference,
)

LEVELS = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])


def share(x: Any, guess: float, lapse: float, middle: float, scale: float) -> Any:
    return guess + (1 - guess - lapse) / (1 + np.exp(-(x - middle) / scale))


def observer(
    seed: int, images: int = 100, *, guess: float = 0.05, lapse: float = 0.05, middle: float = 0.25, scale: float = 0.05
) -> AnswerCounts:
    """One text an image at each level."""
    right = np.random.default_rng(seed).random((images, len(LEVELS))) < share(LEVELS, guess, lapse, middle, scale)
    return AnswerCounts(LEVELS, right.astype(float), np.ones_like(right, float))


def totals(answers: AnswerCounts) -> tuple[Any, Any]:
    return answers.right.sum(axis=0)[None], answers.asked.sum(axis=0)[None]


def test_the_threshold_is_where_the_curve_is_one_half() -> None:
    """With guesses and lapses that is not the middle of the rise."""
    values = Parameters(*map(np.array, (0.2, 0.05, 0.3, 0.1)))
    at = float(values.threshold)
    assert at == pytest.approx(0.3 + 0.1 * math.log(0.3 / 0.45))
    assert float(values.share(np.array(at))) == pytest.approx(0.5)
    rise = (values.share(np.array(at + 1e-6)) - values.share(np.array(at - 1e-6))) / 2e-6
    assert float(values.slope) == pytest.approx(float(rise), rel=1e-6)


@pytest.mark.parametrize(("guess", "lapse", "threshold"), [(MOST, 0.1, -math.inf), (0.1, MOST, math.inf)])
def test_curves_that_never_cross_one_half(guess: float, lapse: float, threshold: float) -> None:
    values = Parameters(*map(np.array, (guess, lapse, 0.3, 0.1)))
    assert float(values.threshold) == threshold and float(values.slope) == 0


@pytest.mark.parametrize("seed", range(4))
def test_no_other_parameters_have_a_higher_likelihood(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize", reason='needs pip install "vcrgen[dev]"')
    rng = np.random.default_rng(seed)
    answers = observer(seed, int(rng.integers(20, 300)), guess=rng.random() * 0.3, middle=0.1 + rng.random() * 0.5)
    right, asked = totals(answers)

    def loss(values: Any) -> float:
        p = np.clip(share(LEVELS, values[0], values[1], values[2], np.exp(values[3])), 1e-12, 1 - 1e-12)
        return float(-(right[0] * np.log(p) + (asked[0] - right[0]) * np.log1p(-p)).sum())

    bounds = [(0, MOST), (0, MOST), (-1, 2), (math.log(0.005), 0)]
    starts = [(0.05, 0.05, middle, math.log(scale)) for middle in (0.1, 0.3, 0.5) for scale in (0.02, 0.1)]
    best = min(optimize.minimize(loss, start, bounds=bounds, method="L-BFGS-B").fun for start in starts)
    ours = fit_parameters(LEVELS, right, asked)
    found = loss([float(ours.guess[0]), float(ours.lapse[0]), float(ours.middle[0]), math.log(float(ours.scale[0]))])
    assert found <= best + 1e-3


@pytest.mark.parametrize("seed", range(2))
def test_the_fit_is_near_to_that_of_psignifit(seed: int) -> None:
    """psignifit has weak priors, so with 300 images its middle is within 0.01 of ours, and its scale within 15 %."""
    psignifit = pytest.importorskip("psignifit", reason='needs pip install "vcrgen[dev]"')
    answers = observer(seed, 300)
    right, asked = totals(answers)
    ours = fit_parameters(LEVELS, right, asked)
    theirs = psignifit.psignifit(
        np.column_stack([LEVELS, right[0], asked[0]]),
        sigmoid="logistic",
        experiment_type="yes/no",
        fixed_parameters={"eta": 0.0},
    ).parameter_estimate_MAP
    assert float(ours.middle[0]) == pytest.approx(theirs["threshold"], abs=0.01)
    assert float(ours.scale[0]) == pytest.approx(theirs["width"] / (2 * math.log(19)), rel=0.15)
    assert float(ours.guess[0]) == pytest.approx(theirs["gamma"], abs=0.02)
    assert float(ours.lapse[0]) == pytest.approx(theirs["lambda"], abs=0.02)


def test_intervals_hold_the_true_threshold_and_answers_of_a_curve_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small run of ``scripts/measure_curve.py``: of 25 observers at least 22 intervals do.

    At most five are rejected in 998 of 1,000 such tests.
    """
    monkeypatch.setattr("vcrgen.stats.psychometric.RESAMPLES", 200)
    curves = [fit_curve(observer(seed, 60), seed=0) for seed in range(25)]
    assert sum(curve.low.value <= 0.25 <= curve.high.value for curve in curves) >= 22
    assert np.mean([curve.threshold.value for curve in curves]) == pytest.approx(0.25, abs=0.01)
    assert sum((curve.fit_p or 0) < 0.05 for curve in curves) <= 5


@pytest.mark.parametrize(("middle", "side", "end"), [(1.5, 1, 0.7), (-0.5, -1, 0.05)])
def test_a_threshold_outside_is_said_to_be_outside(middle: float, side: int, end: float) -> None:
    curve = fit_curve(observer(1, middle=middle, guess=0.02, lapse=0.02, scale=0.1), seed=0)
    assert curve.threshold == (end, side) and curve.slope is None
    assert (curve.high if side > 0 else curve.low) == (end, side)


@pytest.mark.parametrize(("right", "side"), [(0.0, 1), (1.0, -1)])
def test_nothing_right_or_all_right(right: float, side: int) -> None:
    answers = AnswerCounts(LEVELS, np.full((20, 6), right), np.ones((20, 6)))
    curve = fit_curve(answers, seed=0)
    assert curve.threshold.side == side and curve.low.side == side and curve.high.side == side


def stepped(images: int, shares: Any) -> AnswerCounts:
    """Of so many images the same shares at each level, the first images first."""
    right = (np.arange(images)[:, None] < np.round(np.array(shares) * images)).astype(float)
    return AnswerCounts(LEVELS, right, np.ones((images, 6)))


@pytest.mark.parametrize("ends", [(0.1, 0.2), (0.2, 0.3), (0.5, 0.7)])
def test_a_step_is_known_to_be_between_two_levels(ends: tuple[float, float]) -> None:
    """Its interval had no width."""
    curve = fit_curve(stepped(20, ends[0] < LEVELS), seed=0)
    assert curve.between == ends and (curve.low.value, curve.high.value) == ends and curve.slope is None
    assert ends[0] < curve.threshold.value < ends[1] and curve.fit_p is not None and curve.fit_p > 0.5


def test_one_place_on_the_rise_is_not_enough() -> None:
    """A share of 0.3 at a level can be of a steep curve or of a flat one."""
    curve = fit_curve(stepped(40, (0, 0, 0.3, 1, 1, 1)), seed=0)
    assert curve.between == (0.2, 0.3) and curve.low.value <= 0.2 and curve.high.value >= 0.3
    assert fit_curve(stepped(40, (0, 0.1, 0.3, 0.7, 1, 1)), seed=0).between is None


@pytest.mark.parametrize("images", [1, 2, LEAST_IMAGES - 1])
def test_few_images_have_no_interval(images: int) -> None:
    """One image had an interval without width."""
    curve = fit_curve(stepped(images, (0, 0.1, 0.3, 0.7, 1, 1)), seed=0)
    assert (curve.low, curve.high) == ((0.05, -1), (0.7, 1)) and curve.fit_p is None and curve.slope_low is None
    assert curve.images == images and threshold_difference(curve, curve) is None


def test_no_image_or_two_levels_are_refused() -> None:
    """The threshold was NaN."""
    with pytest.raises(ScoreError, match="at 3 levels of ink or more, and has them at 0"):
        fit_curve(AnswerCounts(LEVELS, np.zeros((0, 6)), np.zeros((0, 6))), seed=0)
    with pytest.raises(ScoreError, match="and has them at 2"):
        fit_curve(AnswerCounts(LEVELS[:2], np.ones((5, 2)), np.ones((5, 2))), seed=0)


@pytest.mark.parametrize(
    "shares",
    [(0.75, 0.7, 0.6, 0.5, 0.35, 0.2), (0.8, 0.5, 0.2, 0.2, 0.5, 0.8), (0.1, 0.9, 0.1, 0.9, 0.1, 0.9)],
)
def test_answers_of_another_shape_do_not_fit(shares: Any) -> None:
    """They passed without a word."""
    rng = np.random.default_rng(0)
    right = (rng.random((100, 6)) < np.array(shares)).astype(float)
    found = fit_curve(AnswerCounts(LEVELS, right, np.ones((100, 6))), seed=0).fit_p
    assert found is not None and found < 0.05


def test_the_statistic_of_fit_is_that_of_pearson() -> None:
    """Where nothing is correlated, its p-value is near to that of the chi-square distribution."""
    stats = pytest.importorskip("scipy.stats")
    answers = observer(3, 400, guess=0.2, lapse=0.2, scale=0.15)
    right, asked = totals(answers)
    fitted = fit_parameters(LEVELS, right, asked)
    expected = np.array([float(fitted.share(np.array(x))[0]) for x in LEVELS])
    chi = ((right[0] - asked[0] * expected) ** 2 / (asked[0] * expected * (1 - expected))).sum()
    assert fit_curve(answers, seed=0).fit_p == pytest.approx(stats.chi2.sf(chi, len(LEVELS) - 4), abs=0.2)


def test_answers_are_counted_by_image_and_place() -> None:
    x, right = np.array([0.101, 0.1, 0.3, np.nan, 0.3]), np.array([True, False, True, True, True])
    answers = count_answers(x, right, np.array([0, 0, 0, 1, 2]), 3)
    assert answers.x.tolist() == [0.1, 0.3]
    assert answers.asked.tolist() == [[2, 1], [0, 0], [0, 1]] and answers.right.tolist() == [[1, 1], [0, 0], [0, 1]]


def test_thresholds_of_two_curves_over_the_same_images_are_paired() -> None:
    rng = np.random.default_rng(4)
    luck, ease = rng.random((150, 6)), rng.normal(0, 0.1, (150, 1))
    ours, theirs = (
        fit_curve(
            AnswerCounts(LEVELS, (luck < share(LEVELS - ease, 0.02, 0.02, m, 0.05)).astype(float), np.ones((150, 6))),
            seed=0,
        )
        for m in (0.25, 0.29)
    )
    found = threshold_difference(ours, theirs)
    assert found is not None and found.high < 0 and found.p < 0.05 and found.value == pytest.approx(-0.04, abs=0.02)
    apart = math.hypot(ours.high.value - ours.low.value, theirs.high.value - theirs.low.value)
    assert found.high - found.low < 0.6 * apart
    same = threshold_difference(ours, ours)
    assert same is not None and same.value == 0 and same.p == 1
    outside = fit_curve(AnswerCounts(LEVELS, np.zeros((150, 6)), np.ones((150, 6))), seed=0)
    assert threshold_difference(ours, outside) is None
