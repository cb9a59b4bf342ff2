"""Classical statistics of items, and how reliable the scores of models are.

Example: 50 models, 200 items. An item that 40 models solve has p = 0.8. Its item-rest r is the correlation of its
scores with the models' means over all other items: near 0 the item does not discriminate, below 0 perhaps its key
is wrong.

Missing cells stay missing: what is about one item uses the models that have it; alpha, split halves and variance
components use the models that have every item, and say how many those are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.items.item_table import ItemTable, model_scores
from vcrgen.rng import array_rng_for
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import bootstrap_weights
from vcrgen.stats.intervals import NORMAL_QUANTILE, mean_interval
from vcrgen.stats.paired import benjamini_hochberg
from vcrgen.stats.ranking import ascending

SPLITS = 200  # random halves
NEAR_DUPLICATE = 0.95  # the least correlation of near-duplicates
RARE = 0.05  # adjusted p-values below this are no accident
FEWEST_CHOICES = 5  # models that chose some option, for a test of distractors
MOST_PAIRS = 200  # of near-duplicates that are listed
_BLOCK, _DRAWS = 1024, 100  # items, and resamples, at a time


class IntervalEstimate(NamedTuple):
    """An estimate with the ends of its 95 % interval, which are NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStatistics:
    """Classical figures of each item; NaN where one cannot be had."""

    models: Ints  # how many models have the item
    p: Floats  # mean score: the share of models that solve it
    item_rest: Floats  # item-rest correlation
    low: Floats  # ends of its 95 % interval
    high: Floats
    adjusted: Floats  # the p-value of its being below 0 (one-sided), adjusted by Benjamini and Hochberg
    alpha_dropped: Floats  # alpha of the other items

    @property
    def unsolved(self) -> Ints:
        """Items that no model solves at all."""
        return np.flatnonzero(self.p == 0)

    @property
    def solved_by_all(self) -> Ints:
        """Items that every model solves."""
        return np.flatnonzero(self.p == 1)

    @property
    def negative(self) -> Ints:
        """Items that better models solve less, beyond chance: perhaps their key is wrong. The worst comes first."""
        found = np.flatnonzero(self.adjusted < RARE)
        return found[ascending(self.item_rest[found])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Reliability of the models' scores over items of this kind."""

    models: int  # that have every item, of which all of this is computed
    alpha: IntervalEstimate  # Cronbach's, with an interval over resamples of models
    failed: int  # resamples without an alpha: all models drawn have the same score
    halves: IntervalEstimate  # random halves of the images, corrected to full length; the range of 95 % of the splits
    generalisability: float  # share of the variance between models that is not due to the choice of images and items
    between_models: float  # parts of the variance of a single score: models
    models_by_images: float  # models with images
    rest: float  # models with items, and all else
    error: float  # standard error of a model's mean relative to the others, as a share
    images: int

    def at(self, images: float) -> float:
        """The generalisability with another number of images of this kind."""
        return self.between_models / (self.between_models + self.error**2 * self.images / images)

    def needed(self, reliability: float) -> int | None:
        """Return the number of images that gives a generalisability; None where models do not differ."""
        if self.between_models <= 0:
            return None
        share = reliability / (1 - reliability)
        return max(1, math.ceil(share * self.error**2 * self.images / self.between_models - 1e-9))


class PreferredOption(NamedTuple):
    """A distractor that better models choose than choose the key."""

    item: int
    option: int  # number of its name
    key: int  # that of the key's name, -1 where no model chose it
    r: float  # of the models' means over the other items with +1 for this option, -1 for the key, 0 for another
    adjusted: float  # p-value of its being above 0 (one-sided), adjusted for all distractors of all items


class NearDuplicates(NamedTuple):
    """Pairs of items that the same models solve."""

    pairs: list[tuple[int, int, float]]  # first item, second item, correlation; the highest first
    found: int  # how many there are, also those not listed
    is_testable: bool  # there are enough models for the test


def item_statistics(table: ItemTable) -> ItemStatistics:
    """The classical figures of each item."""
    from scipy.special import ndtr

    there, count = table.present, table.present.sum(axis=1)
    totals = np.nansum(table.scores, axis=1)
    models = there.sum(axis=0)
    p = np.nanmean(table.scores, axis=0)
    rest = np.full(len(p), np.nan)
    for part in _blocks(len(p)):
        inside = there[:, part] & (count > 1)[:, None]
        x = np.where(inside, table.scores[:, part], 0.0)
        others = np.where(inside, (totals[:, None] - x) / np.maximum(count - 1, 1)[:, None], 0.0)
        rest[part] = _correlations(x, others, inside)
    usable = models - 3
    with np.errstate(invalid="ignore", divide="ignore"):
        z, width = np.arctanh(rest), NORMAL_QUANTILE / np.sqrt(np.where(usable > 0, usable, np.nan))
        below = ndtr(z * NORMAL_QUANTILE / width)
    return ItemStatistics(
        models=models,
        p=p,
        item_rest=rest,
        low=np.tanh(z - width),
        high=np.tanh(z + width),
        adjusted=benjamini_hochberg(below),
        alpha_dropped=_alpha_dropped(table.scores[table.complete_models]),
    )


def preferred_options(table: ItemTable) -> list[PreferredOption] | None:
    """Distractors that better models choose than choose the key, beyond chance; None without chosen options.

    A wrong key has such a distractor: the true answer. Where the key is right, better models choose it more often, and
    every distractor less, so the correlation is negative.
    """
    from scipy.special import ndtr

    if table.choices is None:
        return None
    there, count = table.present, table.present.sum(axis=1)
    totals = np.nansum(table.scores, axis=1)
    found: list[tuple[int, int, int, float, float]] = []
    for item, chosen in enumerate(table.choices.T):
        rows = there[:, item] & (chosen >= 0) & (count > 1)
        if rows.sum() < FEWEST_CHOICES:
            continue
        codes, scores = chosen[rows], table.scores[rows, item]
        solved = codes[scores == 1]
        key = int(np.bincount(solved).argmax()) if len(solved) else -1
        rest = (totals[rows] - scores) / (count[rows] - 1)
        options = np.array([code for code in np.unique(codes) if code != key], np.int64)
        x = (codes[:, None] == options).astype(np.float64) - (codes == key)[:, None]
        r = _correlations(x, np.repeat(rest[:, None], len(options), axis=1), np.ones(x.shape, bool))
        with np.errstate(divide="ignore"):
            below = ndtr(-np.arctanh(r) * math.sqrt(len(codes) - 3))
        found += [(item, int(code), key, float(a), float(b)) for code, a, b in zip(options, r, below, strict=True)]
    adjusted = benjamini_hochberg(np.array([each[4] for each in found]))
    listed = [
        PreferredOption(item, option, key, r, float(p))
        for (item, option, key, r, _), p in zip(found, adjusted, strict=True)
        if p < RARE
    ]
    return sorted(listed, key=lambda each: (-round(each.r, 12), each.item, each.option))


def reliability(table: ItemTable, *, seed: int, resamples: int) -> Reliability | None:
    """Estimate the reliability of the models' scores; None with fewer than three models that have every item."""
    rows = table.complete_models
    if len(rows) < 3:
        return None
    whole = table.select_models(rows)
    alpha, draws = _alpha(whole.scores), _resampled_alphas(whole.scores, seed=seed, resamples=resamples)
    known = draws[~np.isnan(draws)]
    failed = resamples - len(known)
    low, high = np.quantile(known, (0.025, 0.975)) if failed <= 0.05 * resamples else (math.nan, math.nan)
    models, images, rest, error = _components(whole)
    share = models / (models + error**2) if models + error**2 > 0 else math.nan
    return Reliability(
        models=len(rows),
        alpha=IntervalEstimate(alpha, float(low), float(high)),
        failed=failed,
        halves=_halves(whole, seed),
        generalisability=share,
        between_models=models,
        models_by_images=images,
        rest=rest,
        error=error,
        images=len(table.group_names),
    )


def score_intervals(table: ItemTable) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each model its mean score, its standard error over images, and the ends of its 95 % interval.

    As in ``vcrgen score``: images are the pieces of evidence, and the interval is Wilson's for as many answers as vary.
    """
    sums, counts = table.sums()
    means, total, groups = model_scores(table), counts.sum(axis=1), (counts > 0).sum(axis=1)
    sd = np.sqrt(((sums - means[:, None] * counts) ** 2).sum(axis=1)) / total
    low, high = mean_interval(means, sd, groups)
    return means, sd * np.sqrt(groups / np.maximum(groups - 1, 1)), low, high


def near_duplicates(table: ItemTable) -> NearDuplicates:
    """Pairs of items whose scores go together in nearly all models, and not by chance.

    A pair counts where r is :data:`NEAR_DUPLICATE` or more over the models that have both, and so many models agree
    that among all pairs not one in 20 tables would have such a pair if items had nothing in common.
    """
    varied = table.varying_items
    possible = len(varied) * (len(varied) - 1) / 2
    models = len(table.models)
    if possible == 0:
        return NearDuplicates([], 0, True)
    rare = math.log(RARE / possible)
    if _log_chance(models, models // 2) >= rare:
        return NearDuplicates([], 0, False)
    # Items that few models solve, or nearly all, may be solved by the same ones by chance: no pair of them counts.
    asked, solved = table.present.sum(axis=0), (table.scores >= 0.5).sum(axis=0)
    varied = np.array([item for item in varied if _log_chance(int(asked[item]), int(solved[item])) < rare], np.int64)
    scores, there = table.scores[:, varied], table.present[:, varied]
    found: list[tuple[int, int, float]] = []
    for first, second, r in _alike(scores, there):
        both = there[:, first] & there[:, second]
        x, y = scores[both, first] >= 0.5, scores[both, second] >= 0.5
        if _hypergeometric(len(x), int(x.sum()), int(y.sum()), int((x & y).sum())) < RARE / possible:
            found.append((int(varied[first]), int(varied[second]), r))
        if len(found) > 100 * MOST_PAIRS:
            break
    found.sort(key=lambda pair: (-round(pair[2], 12), pair[0], pair[1]))
    return NearDuplicates(found[:MOST_PAIRS], len(found), True)


def _blocks(items: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, items, _BLOCK))


def _correlations(x: Floats, y: Floats, inside: Bits) -> Floats:
    """The correlation of each column of ``x`` with that of ``y``, over the rows that are inside; else both hold 0."""
    n = inside.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx = np.where(inside, x - x.sum(axis=0) / n, 0.0)
        dy = np.where(inside, y - y.sum(axis=0) / n, 0.0)
        xx, yy = (dx**2).sum(axis=0), (dy**2).sum(axis=0)
        r = (dx * dy).sum(axis=0) / np.sqrt(xx * yy)
    values: Floats = np.where((n >= 3) & (xx > 1e-20 * n) & (yy > 1e-20 * n), np.clip(r, -1, 1), np.nan)
    return values


def _alpha(scores: Floats) -> float:
    items = scores.shape[1]
    total = float(scores.sum(axis=1).var(ddof=1))
    return items / (items - 1) * (1 - float(scores.var(axis=0, ddof=1).sum()) / total) if total > 0 else math.nan


def _alpha_dropped(scores: Floats) -> Floats:
    models, items = scores.shape
    if models < 3 or items < 3:
        return np.full(items, np.nan)
    total = scores.sum(axis=1)
    variances = scores.var(axis=0, ddof=1)
    shared = (total - total.mean()) @ (scores - scores.mean(axis=0)) / (models - 1)
    left = total.var(ddof=1) + variances - 2 * shared
    with np.errstate(invalid="ignore", divide="ignore"):
        values = (items - 1) / (items - 2) * (1 - (variances.sum() - variances) / left)
    dropped: Floats = np.where(left > 1e-15, values, np.nan)
    return dropped


def _resampled_alphas(scores: Floats, *, seed: int, resamples: int) -> Floats:
    """Alpha of resamples of models; NaN where all models drawn have the same score."""
    models, items = scores.shape
    total, squares = scores.sum(axis=1), scores**2
    alphas: list[Floats] = []
    for block in bootstrap_weights(models, seed=seed, unit="model", draws=resamples):
        for start in range(0, len(block), _DRAWS):
            drawn = block[start : start + _DRAWS] / models
            variances = (drawn @ squares - (drawn @ scores) ** 2).sum(axis=1)
            whole = drawn @ total**2 - (drawn @ total) ** 2
            with np.errstate(invalid="ignore", divide="ignore"):
                alphas.append(np.where(whole > 1e-12, items / (items - 1) * (1 - variances / whole), np.nan))
    return np.concatenate(alphas)


def _halves(table: ItemTable, seed: int) -> IntervalEstimate:
    """The split-half reliability over random halves of the groups, by Spearman and Brown to full length."""
    groups = len(table.group_names)
    if groups < 2:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    sums, counts = table.sums()
    order = generator(seed, "halves").permuted(np.tile(np.arange(groups), (SPLITS, 1)), axis=1)
    first = (order < groups // 2).astype(np.float64)
    one, two = ((sums @ half.T) / (counts[:1] @ half.T) for half in (first, 1 - first))
    r = _correlations(one, two, np.ones(one.shape, bool))
    r = r[~np.isnan(r) & (r > -1)]
    if not len(r):
        return IntervalEstimate(math.nan, math.nan, math.nan)
    corrected = 2 * r / (1 + r)
    return IntervalEstimate(float(np.median(corrected)), *map(float, np.quantile(corrected, (0.025, 0.975))))


def _components(table: ItemTable) -> tuple[float, float, float, float]:
    """The parts of the variance of a score, and the relative standard error of a model's mean.

    Models cross with items, which are nested in images. The items' own means are taken out; what is left is, of each
    model, one-way data with images as groups of unequal size, whose mean squares are set equal to what is expected of
    them. A part that comes out negative counts as 0.
    """
    models, items = table.scores.shape
    centred = table.scores - table.scores.mean(axis=0)
    sizes = np.bincount(table.groups).astype(np.float64)
    by_group = np.zeros((models, len(sizes)))
    np.add.at(by_group.T, table.groups, centred.T)
    means = centred.mean(axis=1)
    between = float((((by_group / sizes - means[:, None]) ** 2) * sizes).sum()) / (models - 1)
    within = float((centred**2).sum()) / (models - 1) - float((by_group**2 / sizes).sum()) / (models - 1)
    groups = len(sizes)
    if groups == items:  # one item an image: the two components are not identified
        rest, images = between / (items - 1), 0.0
    else:
        rest = max(within, 0.0) / (items - groups)
        expected = items - float((sizes**2).sum()) / items
        images = max((between - (groups - 1) * rest) / expected, 0.0) if groups > 1 else 0.0
    error = images * float((sizes**2).sum()) / items**2 + rest / items
    observed = float((means**2).sum()) / (models - 1)
    return max(observed - error, 0.0), images, rest, math.sqrt(error)


def _alike(scores: Floats, there: Bits) -> Iterator[tuple[int, int, float]]:
    """Pairs of columns, the first before the second, whose correlation over rows that have both is a copy's."""
    complete = bool(there.all())
    filled = np.where(there, scores - np.nanmean(scores, axis=0), 0.0)
    scale = np.sqrt((filled**2).sum(axis=0))
    narrow = (filled / scale).astype(np.float32)
    items = scores.shape[1]
    for part in _blocks(items):
        for other in _blocks(items):
            if other.start < part.start:
                continue
            # With missing cells the product is no correlation, only near it: so what is near is looked at as well.
            near = narrow[:, part].T @ narrow[:, other] >= (
                NEAR_DUPLICATE - 1e-4 if complete else NEAR_DUPLICATE - 0.25
            )
            first, second = np.nonzero(near)
            first, second = first + part.start, second + other.start
            keep = first < second
            first, second = first[keep], second[keep]
            for few in (slice(start, start + _BLOCK) for start in range(0, len(first), _BLOCK)):
                a, b = first[few], second[few]
                both = there[:, a] & there[:, b]
                x, y = (np.where(both, scores[:, chosen], 0.0) for chosen in (a, b))
                r = _correlations(x, y, both)
                for place in np.flatnonzero(r >= NEAR_DUPLICATE):
                    yield int(a[place]), int(b[place]), float(r[place])


def _log_chance(models: int, solved: int) -> float:
    """The logarithm of how likely two items that so many models solve are solved by the same ones by chance."""
    return math.lgamma(solved + 1) + math.lgamma(models - solved + 1) - math.lgamma(models + 1)


def _hypergeometric(models: int, first: int, second: int, both: int) -> float:
    """Return the p-value of Fisher's exact test that so many models or more solve both of two items."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(both - 1, models, first, second))


def generator(seed: int, stage: str) -> np.random.Generator:
    """A generator of numbers for a stage of the analysis of items."""
    return array_rng_for(seed, "items", stage)
