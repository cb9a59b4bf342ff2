"""Difficulty of training examples: modes or shares of visible ink, constant or by a schedule."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from vcrgen.core.errors import ConfigError
from vcrgen.core.records import MAX_INK, MIN_INK, NAMED_MODES, Mode, modes_text, read_modes

Values = tuple[float, float]
BITS_MODES = (Mode("bits-4"), Mode("bits-8"))
"""Modes whose covers leave so many bits at least: those that are calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """The distribution of covers at each step."""

    # The two numbers of a point: with ``mode`` the shares of two modes, which add up to 1; with ``ink`` the lowest and
    # the highest share of ink that stays visible.
    kind: Literal["mode", "ink"]
    # Steps in rising order; the numbers change linearly between points, and stay before the first and after the last.
    points: tuple[tuple[int, Values], ...]
    modes: tuple[Mode, Mode] = NAMED_MODES  # of the shares; or the two modes that go by bits

    @property
    def build_mode(self) -> str | None:
        """The option of a build that has the covers of these modes; None for easy, hard and shares of ink."""
        return modes_text(self.modes) if self.modes == BITS_MODES else None

    def at(self, step: int) -> Values:
        """The two numbers at a step, interpolated linearly."""
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
            return self.modes[chance >= first]
        return first + chance * (second - first)


def read_difficulty(mode: Any = None, ink: Any = None, schedule: Any = None) -> Difficulty:
    """Validate the difficulty; by default, easy and hard with equal weights.

    Args:
        mode: ``"easy"``, ``"hard"``, ``"both"``, ``"bits-4"``, ``"bits-8"``, several of them, or a mapping of them to
            weights; modes that go by bits do not mix with others.
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
    modes, mix = _read_mix("both" if mode is None else mode)
    return Difficulty(kind="mode", points=((0, mix),), modes=modes)


def _read_schedule(value: Any) -> Difficulty:
    points: list[tuple[int, Values]] = []
    kinds: list[tuple[Literal["mode", "ink"], tuple[Mode, Mode]]] = []
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
        modes, values = (NAMED_MODES, _read_ink(level)) if numbers else _read_mix(level)
        kinds.append(("ink" if numbers else "mode", modes))
        points.append((step, values))
    if len(set(kinds)) > 1:
        raise ConfigError(
            "A schedule goes from easy to hard, from bits to bits or from shares of ink to shares of ink, not between "
            "them."
        )
    (kind, modes), *_ = kinds
    return Difficulty(kind=kind, points=tuple(points), modes=modes)


def _read_mix(value: Any) -> tuple[tuple[Mode, Mode], Values]:
    """Two modes, easy and hard or those that go by bits, and their normalised weights."""
    weights = value
    if isinstance(value, str):
        weights = dict.fromkeys(_modes_named(value), 1)
    elif isinstance(value, Sequence):
        named = [name for text in map(str, value) for name in _modes_named(text)]
        weights = {name: 1 for name in named if named.count(name) == 1}
    elif isinstance(value, Mapping):
        weights = {name: weight for key, weight in value.items() for name in _modes_named(str(key))}
    pairs = [modes for modes in (NAMED_MODES, BITS_MODES) if isinstance(weights, Mapping) and set(weights) <= {*modes}]
    if not pairs or not weights:
        valid = '"easy", "hard", "both", "bits-4", "bits-8", or weights such as {"easy": 0.7, "hard": 0.3}'
        levels = "; a level of ink is a number, as in ink=0.2 or schedule=[(0, 0.5), (1000, 0.2)]"
        raise ConfigError(f"{value!r} is no mode; give {valid}{levels if 'ink' in str(value) else ''}.")
    first, second = (weights.get(name, 0) for name in pairs[0])
    if not (_is_number(first) and _is_number(second) and first >= 0 and second >= 0 and 0 < first + second < math.inf):
        raise ConfigError(f"The weights {value!r} have to be numbers of at least 0, not all of them 0.")
    return pairs[0], (first / (first + second), second / (first + second))


def _modes_named(text: str) -> Sequence[str]:
    """The modes that a text names, as ``bits-4`` or ``bits=4,8``; the text itself where it names none."""
    with suppress(ValueError):
        return read_modes(text)
    return [text]


def _read_ink(value: Any) -> Values:
    """The lowest and the highest share of visible ink.

    Raises:
        ConfigError: It is no share, or no pair of shares in ascending order.
    """
    ends = (value, value) if _is_number(value) else tuple(value) if isinstance(value, Sequence) else ()
    if len(ends) != 2 or not all(map(_is_number, ends)) or not MIN_INK <= ends[0] <= ends[1] <= MAX_INK:
        valid = f"a number from {MIN_INK} to {MAX_INK}, or the lowest and the highest one"
        raise ConfigError(f"{value!r} is no share of visible ink; give {valid}.")
    return float(ends[0]), float(ends[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
