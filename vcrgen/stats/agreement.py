"""Agreement of raters: Krippendorff's alpha, Fleiss' kappa, Gwet's AC1, and the share of equal pairs.

Example: three raters typed what they read of two pictures, and the third saw the first one only. The units are then
``[["cat", "cat", "cut"], ["dog", "dog"]]``: of each picture what those typed who saw it, in any order. Of its four
pairs two are the same. A unit of a single value says nothing about agreement and is left out.

Alpha and kappa are low where nearly all raters are right, since they take what is common for what chance gives; AC1 is
not. So a report shows both: with 97 % right, alpha of right and wrong may be 0.37 while 97 % of the pairs agree.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)
Units = Sequence[Sequence[Value]]


def unequal(a: Hashable, b: Hashable) -> float:
    """The nominal distance: 0 of equal values, 1 of all others."""
    return float(a != b)


def krippendorff_alpha(units: Units[Value], distance: Callable[[Value, Value], float] = unequal) -> float | None:
    """Krippendorff's alpha: 1 for full agreement, 0 for what chance would give, less for systematic disagreement.

    Krippendorff, "Content Analysis", 4th edition (2018), chapter 12.

    Args:
        distance: Of two values: 0 where they are equal, and symmetric. It is used as it is: for Krippendorff's interval
            alpha, give the square of the difference.

    Returns:
        None where no unit has two values, or all values are equal, so that nothing could have differed.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    total = Counter(value for unit in pairable for value in unit)
    count = total.total()
    distances: dict[tuple[Value, Value], float] = {}

    def cached_distance(a: Value, b: Value) -> float:
        if (a, b) not in distances:
            distances[a, b] = distances[b, a] = distance(a, b)
        return distances[a, b]

    def between(values: Counter[Value]) -> float:
        """The sum of the distances of all ordered pairs."""
        different = list(values.items())
        return 2 * sum(
            m * n * cached_distance(a, b) for number, (a, m) in enumerate(different) for b, n in different[number + 1 :]
        )

    expected = between(total)
    if not expected:
        return None
    observed = sum(between(Counter(unit)) / (len(unit) - 1) for unit in pairable)
    return 1 - (count - 1) * observed / expected


def gwet_ac1(units: Units[Value]) -> float | None:
    """Gwet's AC1 for any number of raters, with gaps; None where no unit has two values.

    Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement", British Journal of
    Mathematical and Statistical Psychology 61 (2008). The categories are the values that occur, and at least two.
    """
    agreed, shares = _agreement(units), _shares(units)
    if agreed is None:
        return None
    chance = sum(share * (1 - share) for share in shares) / (max(len(shares), 2) - 1)
    return (agreed - chance) / (1 - chance)


def fleiss_kappa(units: Units[Value]) -> float | None:
    """Fleiss' kappa for any number of raters, with gaps; None where no unit has two values, or all values are equal.

    Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971); shares of values
    are taken over all units, as `gwet_ac1` takes them.
    """
    agreed, shares = _agreement(units), _shares(units)
    chance = sum(share**2 for share in shares)
    return None if agreed is None or len(shares) < 2 else (agreed - chance) / (1 - chance)


def count_equal_pairs(units: Units[Value]) -> tuple[int, int]:
    """Count the pairs of equal values within units, and all pairs within units."""
    counts = [Counter(unit) for unit in units]
    same = sum(times * (times - 1) // 2 for count in counts for times in count.values())
    return same, sum(len(unit) * (len(unit) - 1) // 2 for unit in units)


def _agreement(units: Units[Value]) -> float | None:
    """The mean, over units of two values or more, of the share of equal pairs."""
    shares = [same / pairs for same, pairs in (count_equal_pairs([unit]) for unit in units) if pairs]
    return sum(shares) / len(shares) if shares else None


def _shares(units: Units[Value]) -> list[float]:
    """The share of each value that occurs: the mean over units of its share in a unit."""
    rated = [unit for unit in units if unit]
    shares: dict[Value, float] = {}
    for unit in rated:
        for value, times in Counter(unit).items():
            shares[value] = shares.get(value, 0.0) + times / len(unit) / len(rated)
    return list(shares.values())
