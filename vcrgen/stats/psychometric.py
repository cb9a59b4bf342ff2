"""Psychometric functions: the share of correct answers by visibility, with its threshold at one half.

Example: 100 images with texts that are partly hidden, each shown with 5 to 70 % of its ink. A model reads 10 % of the
texts at the lowest level and 95 % at the highest. The fitted curve is

    share = guess + (1 - guess - lapse) / (1 + exp(-(x - middle) / scale))

``guess`` is what is right with nothing to see (from the words around a text), ``lapse`` what is wrong with all to see.
Its *threshold* is where the curve crosses one half; its *slope* is how steep it is there.

The fit is by maximum likelihood, with guess and lapse from 0 to one half, for many sets of counts at once: those of all
answers and those of resamples of the images, whose thresholds give the intervals. A threshold outside of what was
measured is known to be above or below, and nothing else is said of it.

Where the answers turn from wrong to right between two places, any threshold between these fits as well. So such a fit
stands for all of them, and its interval has the places for ends. Few images have no interval. Answers that fall, or
fall and rise, are no such curve: a test compares them with the fitted one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vcrgen.errors import ScoreError
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import RESAMPLES, StoredGroupSums, bootstrap_means
from vcrgen.stats.intervals import LEVEL

HALF = 0.5
LEAST_PLACES = 3
DIGITS = 2  # of x: answers at nearer places are counted together
MOST = 0.5  # of guess, and of lapse
# Limits of guess, lapse, middle and the logarithm of scale, which is from nearly a step to nearly a line.
_LIMITS = np.array([[0.0, 0.0, -1.0, np.log(0.005)], [MOST, MOST, 2.0, np.log(1.0)]])
_ROUNDS = 200
_SIDES = ("below", "inside", "above")  # what files call the sides of what was measured
_PLAIN = ("guess", "lapse", "middle", "scale", "slope", "slope_low", "slope_high")  # fields that are numbers
LEAST_IMAGES = 10  # with fewer, intervals hold the true threshold too rarely (docs/validation/curve.md)
_EDGE = 0.02  # share of the rise, within which of either end a place says nothing of where the curve rises
_NOTHING = 0.01  # of Pearson's statistic: what the least scale leaves of a step
_CLOSE = 1e-7  # log-likelihood that a round has to gain


class Parameters(NamedTuple):
    """Of one curve or, as arrays, of several."""

    guess: Floats
    lapse: Floats
    middle: Floats
    scale: Floats

    def share(self, x: Floats) -> Floats:
        """The share of right answers at places ``x``, which broadcast against the parameters."""
        return _share(self, x)[0]

    @property
    def threshold(self) -> Floats:
        """The place where the share is one half; minus infinity if it is above everywhere, infinity if below."""
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (HALF - self.guess) / (1 - self.guess - self.lapse)
            where = self.middle + self.scale * np.log(part / (1 - part))
        # One half is the most that guess and lapse can be: there the curve comes near to one half and never crosses it.
        where = np.where(self.lapse >= MOST, np.inf, np.where(self.guess >= MOST, -np.inf, where))
        return np.asarray(where, np.float64)

    @property
    def slope(self) -> Floats:
        """The slope at the threshold, in shares of correct answers per share of ink; 0 without a threshold."""
        at = np.where(np.isfinite(self.threshold), self.threshold, 0.0)
        _, part = _share(self, at)
        steep = (1 - self.guess - self.lapse) * part * (1 - part) / self.scale
        return np.where(np.isfinite(self.threshold), steep, 0.0)


class AnswerCounts(NamedTuple):
    """Counts of answers, to which a curve is fitted."""

    x: Floats  # the places, rising; all answers that are counted there
    right: Floats  # images x places
    asked: Floats  # images x places


class Bound(NamedTuple):
    """A threshold or one end of its interval."""

    value: float  # inside of what was measured, and its nearest end otherwise
    side: int  # 0 inside; -1: it is below all that was measured, 1: above


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A fitted curve."""

    low_x: float  # the lowest place that was measured
    high_x: float  # the highest one
    guess: float
    lapse: float
    middle: float
    scale: float
    threshold: Bound
    low: Bound  # lower end of the 95 % interval of the threshold
    high: Bound
    slope: float | None  # at the threshold; None where that is outside
    slope_low: float | None
    slope_high: float | None
    # of each resample, cut to what was measured
    thresholds: Floats = field(repr=False, compare=False)
    images: int = 0  # with fewer than `LEAST_IMAGES` the interval is all that was measured, and beyond
    between: tuple[float, float] | None = None  # places between which any threshold fits as well; None where one does
    fit_p: float | None = None  # of the test that the answers follow such a curve; None with few images

    def as_json(self) -> dict[str, Any]:
        """JSON values of all but the resamples; a bound is ``inside``, ``below`` or ``above`` the measured range."""
        bounds = {"threshold": self.threshold, "low": self.low, "high": self.high}
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            **{name: {"value": bound.value, "is": _SIDES[bound.side + 1]} for name, bound in bounds.items()},
            "measured": [self.low_x, self.high_x],
            **({"images": self.images} if self.images else {}),
            **({"between": list(self.between)} if self.between else {}),
            **({} if self.fit_p is None else {"fit_p": self.fit_p}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Curve:
        """The inverse of :meth:`as_json`, without resamples."""
        low_x, high_x = values["measured"]
        threshold, low, high = (
            Bound(values[name]["value"], _SIDES.index(values[name]["is"]) - 1) for name in ("threshold", "low", "high")
        )
        return cls(
            low_x=low_x,
            high_x=high_x,
            threshold=threshold,
            low=low,
            high=high,
            thresholds=np.empty(0),
            images=values.get("images", 0),
            between=tuple(values["between"]) if values.get("between") else None,
            fit_p=values.get("fit_p"),
            **{name: values[name] for name in _PLAIN},
        )

    def share(self, x: float) -> float:
        """The share of right answers at a place."""
        values = (np.array(value) for value in (self.guess, self.lapse, self.middle, self.scale))
        return float(Parameters(*values).share(np.array(x)))


class ThresholdDifference(NamedTuple):
    """The threshold of one curve minus that of another, over the same questions."""

    value: float
    low: float
    high: float
    p: float  # two-sided: how rarely resamples give the other sign, doubled


def count_answers(x: Floats, right: Bits, image: Ints, images: int) -> AnswerCounts:
    """Count answers by image and place.

    Args:
        x: Where each answer was given, from 0 to 1; NaN leaves it out.
        right: Which of them are right.
        image: The number of the image that each is about.
        images: How many images there are.
    """
    known = ~np.isnan(x)
    places, place = np.unique(np.round(x[known], DIGITS), return_inverse=True)
    where, shape = image[known] * len(places) + place, (images, len(places))
    asked: Floats = np.bincount(where, minlength=images * len(places)).reshape(shape).astype(np.float64)
    good: Floats = np.bincount(where, right[known], images * len(places)).reshape(shape).astype(np.float64)
    return AnswerCounts(places, good, asked)


def fit_curve(answers: AnswerCounts, *, seed: int, measured: tuple[float, float] | None = None) -> Curve:
    """Fit a curve, with intervals by resampling images.

    Args:
        answers: At three places or more.
        seed: Of the resamples. Two curves over the same images have the same ones, so that they can be compared.
        measured: From where to where a threshold is inside of what was measured; by default from the first place to
            the last. Where single texts of a level lie apart, that is the means of the lowest and the highest level.

    Raises:
        ScoreError: There are no answers, or fewer than three places.
    """
    images = int((answers.asked.sum(axis=1) > 0).sum())
    if images == 0 or len(answers.x) < LEAST_PLACES:
        raise ScoreError(
            f"A curve needs answers at {LEAST_PLACES} levels of ink or more, and has them at "
            f"{len(answers.x) if images else 0}; answer questions at more levels."
        )
    sums = np.hstack([answers.right, answers.asked])
    # Of each resample the totals: the mean over images, whose number does not change, times their number.
    of_images = StoredGroupSums(sums, np.ones((len(sums), 1)), [0] * sums.shape[1])
    drawn = bootstrap_means(of_images, seed=seed, unit="image") * len(sums)
    counts = np.vstack([sums.sum(axis=0), drawn])
    fitted = fit_parameters(answers.x, *np.hsplit(counts, 2))
    low_x, high_x = measured or (float(answers.x[0]), float(answers.x[-1]))
    thresholds, slopes = np.clip(fitted.threshold, low_x, high_x), fitted.slope
    left, right = _between(fitted, answers.x)
    low = _bound(float(np.quantile(np.clip(left[1:], low_x, high_x), (1 - LEVEL) / 2)), low_x, high_x)
    high = _bound(float(np.quantile(np.clip(right[1:], low_x, high_x), (1 + LEVEL) / 2)), low_x, high_x)
    enough = images >= LEAST_IMAGES
    if not enough:
        low, high = Bound(low_x, -1), Bound(high_x, 1)
    threshold = _bound(float(fitted.threshold[0]), low_x, high_x)
    steep = np.quantile(slopes[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    sloped = threshold.side == 0 and left[0] == right[0]
    return Curve(
        low_x=low_x,
        high_x=high_x,
        **{name: float(part[0]) for name, part in fitted._asdict().items()},
        threshold=threshold,
        low=low,
        high=high,
        slope=float(slopes[0]) if sloped else None,
        slope_low=steep[0] if sloped and enough else None,
        slope_high=steep[1] if sloped and enough else None,
        thresholds=thresholds[1:],
        images=images,
        between=(float(left[0]), float(right[0])) if threshold.side == 0 and left[0] < right[0] else None,
        fit_p=_fit_p(fitted, answers.x, counts) if enough else None,
    )


def _between(fitted: Parameters, x: Floats) -> tuple[Floats, Floats]:
    """Return for each set the ends between which any threshold fits as well: the threshold itself where one does.

    One place within the rise, or none, cannot say where the curve rises and how steeply at once.
    """
    columns = Parameters(*(part[:, None] for part in fitted))
    rise = _share(columns, x)[1]
    determined = ((rise > _EDGE) & (rise < 1 - _EDGE)).sum(axis=1) > 1
    threshold = fitted.threshold
    place = np.clip(np.searchsorted(x, threshold), 1, len(x) - 1)
    outside = (threshold <= x[0]) | (threshold >= x[-1])
    left = np.where(determined | outside, threshold, x[place - 1])
    return left, np.where(determined | outside, threshold, x[place])


def _fit_p(fitted: Parameters, x: Floats, counts: Floats) -> float:
    """Return the p-value of the test that answers follow the fitted curve, for counts of all and of resamples.

    The statistic is Pearson's: the squares of right answers less those expected, by their variances. Answers of one
    image are correlated, so it is compared with those of the resamples, whose residuals are taken about the residuals
    of all answers.
    """
    right, asked = np.hsplit(counts, 2)
    share = _share(Parameters(*(part[:, None] for part in fitted)), x)[0]
    residuals = right - asked * share
    least = 0.5 / np.maximum(asked[0], 1)
    expected = np.clip(share[0], least, 1 - least)
    weights = 1 / np.maximum(asked[0] * expected * (1 - expected), _CLOSE)
    found = float((residuals[0] ** 2 * weights).sum())
    drawn = ((residuals[1:] - residuals[0]) ** 2 * weights).sum(axis=1)
    return float((1 + (drawn > found - _NOTHING).sum()) / (1 + len(drawn)))


def threshold_difference(ours: Curve, theirs: Curve) -> ThresholdDifference | None:
    """The first threshold minus the second; None where one is outside of what was measured, or of few images.

    Where one is only known to be between two places, so is the difference.
    """
    if ours.threshold.side or theirs.threshold.side or min(ours.images, theirs.images) < LEAST_IMAGES:
        return None
    differences = ours.thresholds - theirs.thresholds
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    rarer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return ThresholdDifference(
        ours.threshold.value - theirs.threshold.value, low, high, min(1.0, 2 * (rarer + 1) / (RESAMPLES + 1))
    )


def fit_parameters(x: Floats, right: Floats, asked: Floats) -> Parameters:
    """The curves of maximum likelihood for several sets of counts at the same places.

    Args:
        x: The places.
        right: Right answers, sets x places.
        asked: All answers, sets x places.

    Fisher scoring with damping, from three beginnings for each set; the best end counts. A parameter at its limit that
    would go beyond stays there for the round.
    """
    total = np.maximum(asked.sum(axis=1), 1)
    mean_x = (asked @ x) / total
    best, best_likelihood = None, np.full(len(right), -np.inf)
    for guess, spread in ((0.02, 0.15), (0.2, 0.05), (0.05, 0.4)):
        start = np.stack(
            [
                np.full(len(right), guess),
                np.full(len(right), 0.05),
                mean_x,
                np.full(len(right), np.log(spread * (x[-1] - x[0]) + 1e-3)),
            ],
            axis=1,
        )
        values, likelihood = _maximise(_within(start), x, right, asked)
        if best is None:
            best = values
        better = likelihood > best_likelihood + _CLOSE
        best, best_likelihood = np.where(better[:, None], values, best), np.maximum(likelihood, best_likelihood)
    assert best is not None
    guess_, lapse, middle, scale = best.T
    return Parameters(guess_, lapse, middle, np.exp(scale))


def _bound(value: float, low: float, high: float) -> Bound:
    """A place within what was measured; one at its very ends counts as outside, as that is where others are cut to."""
    if value <= low:
        return Bound(low, -1)
    return Bound(high, 1) if value >= high else Bound(value, 0)


def _share(values: Parameters, x: Floats) -> tuple[Floats, Floats]:
    """The share of right answers, and the part of them that comes from what is seen."""
    part = 0.5 * (1 + np.tanh((x - values.middle) / values.scale / 2))
    return values.guess + (1 - values.guess - values.lapse) * part, part


def _within(values: Floats) -> Floats:
    inside: Floats = np.clip(values, *_LIMITS)
    return inside


def _maximise(values: Floats, x: Floats, right: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """Maximise the likelihood of each set by Fisher scoring; return the parameters and the log-likelihood."""
    likelihood = _likelihood(values, x, right, asked)
    damping = np.full(len(values), 1e-3)
    going = np.arange(len(values))
    for _ in range(_ROUNDS):
        now = values[going]
        gradient, information = _derivatives(now, x, right[going], asked[going])
        beyond = (now + np.sign(gradient) * 1e-9 != _within(now + np.sign(gradient) * 1e-9)) & (gradient != 0)
        gradient = np.where(beyond, 0.0, gradient)
        information = np.where(beyond[:, :, None] | beyond[:, None, :], 0.0, information)
        own = np.einsum("bii->bi", information)  # a view of the diagonals
        own += np.where(beyond, 1.0, damping[going, None] * (own + 1e-6) + 1e-9)
        tried = _within(now + np.linalg.solve(information, gradient[:, :, None])[:, :, 0])
        new = _likelihood(tried, x, right[going], asked[going])
        gain = new - likelihood[going]
        better = gain > 0
        values[going[better]], likelihood[going[better]] = tried[better], new[better]
        damping[going] = np.where(better, damping[going] / 5, damping[going] * 10)
        going = going[(gain > _CLOSE) | (~better & (damping[going] < 1e6))]
        if not len(going):
            break
    return values, likelihood


def _likelihood(values: Floats, x: Floats, right: Floats, asked: Floats) -> Floats:
    guess, lapse, middle = values.T[:3, :, None]
    share = np.clip(_share(Parameters(guess, lapse, middle, np.exp(values[:, 3:])), x)[0], 1e-12, 1 - 1e-12)
    found: Floats = (right * np.log(share) + (asked - right) * np.log1p(-share)).sum(axis=1)
    return found


def _derivatives(values: Floats, x: Floats, right: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """The gradient of the log-likelihood and its expected information, for guess, lapse, middle and log of scale."""
    guess, lapse, middle = values.T[:3, :, None]
    scale = np.exp(values[:, 3:])
    share, part = _share(Parameters(guess, lapse, middle, scale), x)
    share = np.clip(share, 1e-12, 1 - 1e-12)
    rise = (1 - guess - lapse) * part * (1 - part) / scale
    by = np.stack([1 - part, -part, -rise, -rise * (x - middle)], axis=1)  # sets x parameters x places
    weight = asked / (share * (1 - share))
    gradient = np.einsum("bpx,bx->bp", by, weight * (right / np.maximum(asked, 1e-300) - share))
    return gradient, np.einsum("bpx,bx,bqx->bpq", by, weight, by)
