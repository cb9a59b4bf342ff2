"""Difficulty of training examples: modes or shares of visible ink, constant or by a schedule."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from vcrgen.errors import ConfigError
from vcrgen.records import MAX_INK, MIN_INK, NAMED_MODES, Mode

Values = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """The distribution of covers at each step."""

    # The two numbers of a point: with ``mode`` the shares of easy and of hard, which add up to 1; with ``ink`` the
    # lowest and the highest share of ink that stays visible.
    kind: Literal["mode", "ink"]
    # Steps in rising order; the numbers change linearly between points, and stay before the first and after the last.
    points: tuple[tuple[int, Values], ...]

    def at(self, step: int) -> Values:
        """Return the two numbers at a step, interpolated linearly."""
        after = bisect_right(self.points, step, key=lambda point: point[0])
        if after == 0 or after == len(self.points):
            return self.points[min(after, len(self.points) - 1)][1]
        (first, start), (last, end) = self.points[after - 1 : after + 1]
        share = (step - first) / (last - first)
        return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

    def draw(self, step: int, rng: Random) -> Mode | float:
        """Draw the mode or the share of visible ink of one pair."""
        first, second = self.at(step)
        chance = rng.random()
        if self.kind == "mode":
            return Mode.EASY if chance < first else Mode.HARD
        return first + chance * (second - first)


def read_difficulty(mode: Any = None, ink: Any = None, schedule: Any = None) -> Difficulty:
    """Validate the difficulty; by default, easy and hard with equal weights.

    Args:
        mode: ``"easy"``, ``"hard"``, ``"both"``, several of them, or a mapping of them to weights.
        ink: A share, or the lowest and the highest one.
        schedule: Pairs of a step and either of the two.

    Raises:
        ConfigError: A value is invalid, or more than one is set.
    """
    if sum(value is not None for value in (mode, ink, schedule)) > 1:
        raise ConfigError("`mode`, `ink` and `schedule` exclude one another; give one of them.")
    if schedule is not None:
        return _read_schedule(schedule)
    if ink is not None:
        return Difficulty(kind="ink", points=((0, _read_ink(ink)),))
    return Difficulty(kind="mode", points=((0, _read_mix("both" if mode is None else mode)),))


def _read_schedule(value: Any) -> Difficulty:
    points: list[tuple[int, Values]] = []
    kinds: list[Literal["mode", "ink"]] = []
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise ConfigError('`schedule` is a list of steps and values, as in [(0, "easy"), (50000, "hard")].')
    for point in value:
        if not isinstance(point, Sequence) or len(point) != 2 or type(point[0]) is not int or point[0] < 0:
            hint = "give a step (a count of pairs) and a mode, weights or a share"
            raise ConfigError(f"{point!r} is no point of a schedule; {hint}.")
        step, level = point
        if points and step <= points[-1][0]:
            raise ConfigError(f"The steps of a schedule rise; {step} comes after {points[-1][0]}.")
        numbers = _is_number(level) or (isinstance(level, Sequence) and all(map(_is_number, level)))
        kinds.append("ink" if numbers else "mode")
        points.append((step, _read_ink(level) if numbers else _read_mix(level)))
    if len(set(kinds)) > 1:
        raise ConfigError(
            "A schedule goes from modes to modes or from shares of ink to shares of ink, not between them."
        )
    return Difficulty(kind=kinds[0], points=tuple(points))


def _read_mix(value: Any) -> Values:
    """Return normalised weights of easy and hard."""
    names = tuple(map(str, NAMED_MODES))
    weights = value
    if isinstance(value, str):
        weights = dict.fromkeys(names if value == "both" else (str(value),), 1)
    elif isinstance(value, Sequence):
        weights = {name: 1 for name in map(str, value) if value.count(name) == 1}
    if not isinstance(weights, Mapping) or not weights or not set(weights) <= set(names):
        valid = '"easy", "hard", "both", or weights such as {"easy": 0.7, "hard": 0.3}'
        levels = "; a level of ink is a number, as in ink=0.2 or schedule=[(0, 0.5), (1000, 0.2)]"
        raise ConfigError(f"{value!r} is no mode; give {valid}{levels if 'ink' in str(value) else ''}.")
    easy, hard = (weights.get(name, 0) for name in names)
    if not (_is_number(easy) and _is_number(hard) and easy >= 0 and hard >= 0 and 0 < easy + hard < math.inf):
        raise ConfigError(f"The weights {value!r} have to be numbers of at least 0, not all of them 0.")
    return easy / (easy + hard), hard / (easy + hard)


def _read_ink(value: Any) -> Values:
    """Return the lowest and the highest share."""
    ends = (value, value) if _is_number(value) else tuple(value) if isinstance(value, Sequence) else ()
    if len(ends) != 2 or not all(map(_is_number, ends)) or not MIN_INK <= ends[0] <= ends[1] <= MAX_INK:
        valid = f"a number from {MIN_INK} to {MAX_INK}, or the lowest and the highest one"
        raise ConfigError(f"{value!r} is no share of visible ink; give {valid}.")
    return float(ends[0]), float(ends[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
