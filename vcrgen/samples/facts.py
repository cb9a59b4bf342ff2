"""Facts of pictures: one record per kind of scene, with the distribution of each fact.

A record holds everything a caption may mention, and nothing about the drawing. The drawing must show the facts;
captions see nothing else. Facts are sampled in the order of their list, so one may depend on those before it:

    class Harbour(Facts):
        daytime: Daytime = among(*DAYTIMES)
        gulls: int = sampled(lambda rng, f: 0 if f.daytime == "night" else rng.randint(0, 4))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, dataclass_transform, get_args

Tint: TypeAlias = Literal["red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "white"]
Daytime: TypeAlias = Literal["dawn", "day", "dusk", "night"]
Season: TypeAlias = Literal["spring", "summer", "autumn", "winter"]
Phase: TypeAlias = Literal["full", "half", "crescent"]
Fruit: TypeAlias = Literal["apple", "orange", "lemon", "pear", "watermelon", "grape", "aubergine"]
Crop: TypeAlias = Literal["rapeseed", "wheat", "grass", "lavender"]
Coat: TypeAlias = Literal["ginger", "black", "grey", "white"]
Outside: TypeAlias = Literal["sun", "rain", "snow"]
Branch: TypeAlias = Literal["blossom", "berries", "snow", "leaves"]
Basket: TypeAlias = Literal["flowers", "bread", "empty"]
Trend: TypeAlias = Literal["rising", "falling", "mixed"]

TINTS: tuple[Tint, ...] = get_args(Tint)
BRIGHT: tuple[Tint, ...] = TINTS[:-1]
DAYTIMES: tuple[Daytime, ...] = get_args(Daytime)
SUNLIT: tuple[Daytime, ...] = DAYTIMES[:-1]
SEASONS: tuple[Season, ...] = get_args(Season)
PHASES: tuple[Phase, ...] = get_args(Phase)
FRUITS: tuple[Fruit, ...] = get_args(Fruit)
COATS: tuple[Coat, ...] = get_args(Coat)

T = TypeVar("T")


def sampled(sample: Callable[[Random, Any], T]) -> T:
    """Declare a fact that a function samples from a generator and the facts that are listed before it."""
    return field(metadata={"sample": sample})  # type: ignore[no-any-return]


def among(*values: T) -> T:
    """Declare a fact with one of the values."""
    return sampled(lambda rng, f: rng.choice(values))


def between(low: int, high: int) -> int:
    """Declare a number from low to high."""
    return sampled(lambda rng, f: rng.randint(low, high))


def chance(share: float = 0.5) -> bool:
    """Declare a fact that is true with a chance of `share`."""
    return sampled(lambda rng, f: rng.random() < share)


def tints(low: int, high: int, values: Sequence[Tint] = BRIGHT) -> tuple[Tint, ...]:
    """Declare the colours of low..high things: all alike, or all different."""

    def sample(rng: Random, f: Any) -> tuple[Tint, ...]:
        count = rng.randint(low, high)
        return (rng.choice(values),) * count if rng.random() < 0.35 else tuple(rng.sample(values, count))

    return sampled(sample)


def first_of(count: int, *values: Tint) -> Tint:
    """Declare the first of several different colours; each other one is `another()`."""

    def sample(rng: Random, f: Any) -> Tint:
        first, *f.others = rng.sample(values, count)
        return first

    return sampled(sample)


def another() -> Tint:
    """Declare a colour that differs from that of `first_of` before it."""
    return sampled(lambda rng, f: f.others.pop(0))


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(sampled, among, between, chance, tints, first_of, another),
)
class Facts:
    """The facts of one picture.

    Some kinds have two more facts, which follow from the kind or its other facts: `season`, and `earliest`, the first
    year in which its things exist.
    """

    def __init_subclass__(cls) -> None:
        """Make the kind a dataclass."""
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    @cache
    def names(cls) -> list[str]:
        """Names of all facts, including those that follow from others."""
        others = [name for name in dir(cls) if not name.startswith("_") and not callable(getattr(cls, name))]
        return [fact.name for fact in fields(cls)] + others  # type: ignore[arg-type]

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        earlier, facts = SimpleNamespace(), fields(cls)  # type: ignore[arg-type]
        for fact in facts:
            setattr(earlier, fact.name, fact.metadata["sample"](rng, earlier))
        return cls(**{fact.name: getattr(earlier, fact.name) for fact in facts})


class Harbour(Facts):
    """Fishing boats before a striped lighthouse; its beam is on at night."""

    daytime: Daytime = among(*DAYTIMES)
    boats: tuple[Tint, ...] = tints(1, 4)
    stripe: Tint = among("red", "blue", "green")
    gulls: int = sampled(lambda rng, f: 0 if f.daytime == "night" else rng.randint(0, 4))


class MountainLake(Facts):
    """Snow-capped peaks mirrored in a lake with fir trees, or golden ones in autumn, and maybe a canoe."""

    daytime: Daytime = among(*SUNLIT)
    peaks: int = between(2, 4)
    autumn: bool = chance()
    canoe: Tint | None = sampled(
        lambda rng, f: rng.choice(("red", "yellow", "orange", "white")) if rng.random() < 0.65 else None
    )

    @property
    def season(self) -> Season | None:
        """Autumn, where the trees say so."""
        return "autumn" if self.autumn else None


class Regatta(Facts):
    """Yachts with coloured sails racing past a buoy."""

    season: ClassVar[Season] = "summer"
    sails: tuple[Tint, ...] = tints(3, 6, TINTS)
    buoy: Tint = among("red", "orange", "yellow")
    cloudy: bool = chance()


class Beach(Facts):
    """Umbrellas on the sand, maybe with a ball, a palm and a sail far out."""

    season: ClassVar[Season] = "summer"
    daytime: Daytime = among("day", "day", "dusk")
    umbrellas: tuple[Tint, ...] = tints(2, 4)
    ball: bool = chance()
    palm: bool = chance()
    sail: bool = chance()


class Aquarium(Facts):
    """Two shoals of fish of different colours, weeds, and maybe a turtle or jellyfish."""

    big: Tint = first_of(2, "red", "orange", "yellow", "pink", "white")
    small: Tint = another()
    turtle: bool = chance(0.4)
    big_count: int = between(1, 3)
    small_count: int = between(4, 8)
    jellyfish: int = sampled(lambda rng, f: 0 if f.turtle else rng.randint(0, 3))


class WaterTown(Facts):
    """A canal at nightfall between white houses: lanterns over it, a stone bridge, maybe a small boat."""

    lanterns: int = between(3, 8)
    arches: int = among(1, 3)
    boat: bool = chance(0.7)
    phase: Phase = among(*PHASES)


class Viaduct(Facts):
    """A train on a stone viaduct in one of three seasons."""

    season: Season = among("summer", "autumn", "winter")
    arches: int = between(4, 8)
    coaches: int = between(2, 4)
    train: Tint = among("red", "green", "blue", "yellow")
    steam: bool = chance()


class SnowyVillage(Facts):
    """Painted houses under snow, maybe with a church, a snowman and falling flakes."""

    season: ClassVar[Season] = "winter"
    daytime: Daytime = among(*DAYTIMES)
    houses: tuple[Tint, ...] = tints(3, 5)
    church: bool = chance()
    snowing: bool = chance()
    snowman: bool = chance()


class Castle(Facts):
    """A castle on a hill with flags on its towers."""

    daytime: Daytime = among(*DAYTIMES)
    season: Season = among(*SEASONS)
    towers: int = between(2, 5)
    flag: Tint = among("red", "blue", "yellow", "purple", "green")


class WindFarm(Facts):
    """Wind turbines over a field, maybe with sheep."""

    season: ClassVar[Season] = "summer"
    earliest: ClassVar[int] = 1995
    crop: Crop = among("rapeseed", "wheat", "grass", "lavender")
    daytime: Daytime = among(*SUNLIT)
    turbines: int = between(3, 7)
    sheep: int = sampled(lambda rng, f: rng.randint(2, 6) if f.crop == "grass" else 0)


class Balloons(Facts):
    """Hot-air balloons over a valley, maybe with a river."""

    season: ClassVar[Season] = "summer"
    daytime: Daytime = among(*SUNLIT)
    balloons: tuple[Tint, ...] = tints(2, 6)
    striped: bool = chance()
    river: bool = chance()


class Desert(Facts):
    """Dunes under a starry sky with the moon or the Plough, maybe with camels; otherwise with cacti."""

    camels: int = among(0, 2, 3, 4, 5)
    phase: Phase | None = sampled(lambda rng, f: rng.choice(PHASES) if rng.random() < 0.6 else None)
    cacti: int = sampled(lambda rng, f: 0 if f.camels else rng.randint(2, 5))
    tent: bool = sampled(lambda rng, f: rng.random() < 0.5 if f.camels else False)


class Campsite(Facts):
    """Tents at the edge of a forest by night, maybe around a fire."""

    season: ClassVar[Season] = "summer"
    tents: tuple[Tint, ...] = tints(1, 3)
    fire: bool = chance(0.7)
    phase: Phase = among(*PHASES)
    lake: bool = chance()


class Sunflowers(Facts):
    """Sunflowers in front of a farmhouse, under a blue or a clouded sky, maybe with a scarecrow."""

    season: ClassVar[Season] = "summer"
    flowers: int = between(3, 7)
    farmhouse: Tint = among("red", "white", "blue", "green")
    cloudy: bool = chance()
    scarecrow: bool = chance()


class CityNight(Facts):
    """A street at night: lit towers, street lamps, a taxi, rain or the moon."""

    raining: bool = chance()
    taxi: Tint = among("yellow", "red", "green", "white", "blue")
    lamps: int = between(2, 4)
    phase: Phase | None = sampled(lambda rng, f: None if f.raining else rng.choice(PHASES))


class Market(Facts):
    """A stall with a striped awning and crates of fruit."""

    awning: Tint = among(*BRIGHT)
    crates: tuple[Fruit, ...] = sampled(lambda rng, f: tuple(rng.sample(FRUITS, rng.randint(3, 5))))
    scales: bool = chance()
    bulbs: int = among(0, 3, 4, 5)


class ClockTower(Facts):
    """A tower whose clock shows a time (24 hours) that fits the light, and pigeons."""

    hour: int = among(5, *range(9, 17), 19, 21, 22, 23)
    minute: int = among(*range(0, 60, 5))
    daytime: Daytime = sampled(
        lambda rng, f: "dawn" if f.hour == 5 else "day" if f.hour < 17 else "dusk" if f.hour == 19 else "night"
    )
    roof: Tint = among("red", "green", "blue", "teal")
    pigeons: int = between(0, 5)

    @property
    def twelve(self) -> int:
        """The hour as the dial shows it, 1 to 12."""
        return self.hour % 12 or 12

    @property
    def following(self) -> int:
        """The next hour on the dial."""
        return self.hour % 12 + 1


class Airport(Facts):
    """Airliners parked before a control tower, maybe with one more in the air."""

    daytime: Daytime = among(*DAYTIMES)
    tails: tuple[Tint, ...] = tints(1, 3)
    takeoff: bool = chance()


class Football(Facts):
    """Two teams in front of a goal, by day or under floodlights."""

    attackers: Tint = first_of(2, "red", "blue", "yellow", "white", "purple", "orange")
    defenders: Tint = another()
    attacker_count: int = between(2, 4)
    defender_count: int = between(2, 4)
    floodlit: bool = chance()


class Bicycle(Facts):
    """A bicycle leaning against a painted wall beside a door."""

    wall: Tint = first_of(3, "white", "yellow", "blue", "pink", "green", "red")
    frame: Tint = another()
    door: Tint = another()
    basket: Basket = among("flowers", "bread", "empty")


class StillLife(Facts):
    """A bowl of fruit, a teapot and cups on a kitchen table by a window."""

    fruit: Fruit = among("apple", "orange", "lemon", "pear")
    fruit_count: int = between(3, 6)
    teapot: Tint = among(*BRIGHT)
    cups: int = between(1, 3)
    outside: Daytime = among(*DAYTIMES)


class Library(Facts):
    """Shelves of books with a ladder, a reading lamp or a globe, and sometimes a sleeping cat."""

    shelves: int = between(3, 5)
    ladder: bool = chance()
    lamp: Tint = among("green", "red", "yellow", "blue")
    globe: bool = chance()
    cat: Coat | None = sampled(lambda rng, f: rng.choice(COATS) if rng.random() < 0.5 else None)


class WindowCat(Facts):
    """A cat on a windowsill between flower pots and curtains."""

    coat: Coat = among(*COATS)
    curtains: Tint = among(*BRIGHT)
    pots: int = between(1, 3)
    bloom: Tint = among("red", "pink", "yellow", "purple")
    outside: Outside = among("sun", "rain", "snow")

    @property
    def season(self) -> Season | None:
        """The season of the weather; none for rain."""
        seasons: dict[Outside, Season] = {"sun": "summer", "snow": "winter"}
        return seasons.get(self.outside)


class Birds(Facts):
    """Small birds on a branch that bears blossom, berries, snow or leaves."""

    breasts: tuple[Tint, ...] = sampled(
        lambda rng, f: (rng.choice(("red", "orange", "yellow", "blue")),) * rng.randint(1, 3)
    )
    branch: Branch = among("blossom", "berries", "snow", "leaves")

    @property
    def season(self) -> Season:
        """The season of such a branch."""
        seasons: dict[Branch, Season] = {"blossom": "spring", "leaves": "summer", "berries": "autumn", "snow": "winter"}
        return seasons[self.branch]


def _heights(rng: Random, f: Any) -> tuple[int, ...]:
    heights = sorted(rng.sample(range(5, 20), rng.randint(4, 7)))
    trend = rng.choice(("rising", "falling", "mixed"))
    if trend == "falling":
        heights.reverse()
    elif trend == "mixed":
        rng.shuffle(heights)
    return tuple(heights)


class Chart(Facts):
    """A bar chart on an easel, maybe beside a potted plant."""

    bars: tuple[int, ...] = sampled(_heights)  # in twentieths, all different
    tint: Tint = among("red", "orange", "green", "teal", "blue", "purple")
    plant: bool = chance()

    @property
    def tallest(self) -> int:
        """The place of the tallest bar, counted from 1 at the left."""
        return self.bars.index(max(self.bars)) + 1

    @property
    def shortest(self) -> int:
        """The place of the shortest bar, likewise."""
        return self.bars.index(min(self.bars)) + 1

    @property
    def trend(self) -> Trend:
        """The direction of the bars from left to right."""
        rises = {a < b for a, b in pairwise(self.bars)}
        return "mixed" if len(rises) > 1 else "rising" if True in rises else "falling"
