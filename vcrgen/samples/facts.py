"""What is in each picture: one record of facts per kind of scene, and how it is sampled.

A record holds everything a caption may mention and nothing about how it is drawn. The drawing must show
what the record says; the captions see nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Self, TypeAlias

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

TINTS: tuple[Tint, ...] = ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "white")
BRIGHT: tuple[Tint, ...] = TINTS[:-1]
DAYTIMES: tuple[Daytime, ...] = ("dawn", "day", "dusk", "night")
PHASES: tuple[Phase, ...] = ("full", "half", "crescent")
SEASONS: tuple[Season, ...] = ("spring", "summer", "autumn", "winter")


def _tints(rng: Random, low: int, high: int, among: Sequence[Tint] = BRIGHT) -> tuple[Tint, ...]:
    """Sample the colours of low..high things: all alike, or all different where the colours suffice."""
    count = rng.randint(low, high)
    if rng.random() < 0.35:
        return (rng.choice(among),) * count
    return tuple(rng.sample(among, count))


def _different(rng: Random, count: int, among: Sequence[Tint]) -> list[Tint]:
    """Sample colours that can be told apart."""
    return rng.sample(among, count)


def _maybe(rng: Random, share: float = 0.5) -> bool:
    return rng.random() < share


@dataclass(frozen=True, slots=True, kw_only=True)
class Harbour:
    """Fishing boats before a striped lighthouse; its beam is on at night."""

    daytime: Daytime
    boats: tuple[Tint, ...]
    stripe: Tint
    gulls: int

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        daytime = rng.choice(DAYTIMES)
        return cls(
            daytime=daytime,
            boats=_tints(rng, 1, 4),
            stripe=rng.choice(("red", "blue", "green")),
            gulls=0 if daytime == "night" else rng.randint(0, 4),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MountainLake:
    """Snow-capped peaks mirrored in a lake with fir trees, or golden ones in autumn, and maybe a canoe."""

    daytime: Daytime
    peaks: int
    autumn: bool
    canoe: Tint | None

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            daytime=rng.choice(("dawn", "day", "dusk")),
            peaks=rng.randint(2, 4),
            autumn=_maybe(rng),
            canoe=rng.choice(("red", "yellow", "orange", "white")) if _maybe(rng, 0.65) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Regatta:
    """Yachts with coloured sails racing past a buoy."""

    sails: tuple[Tint, ...]
    buoy: Tint
    cloudy: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(sails=_tints(rng, 3, 6, TINTS), buoy=rng.choice(("red", "orange", "yellow")), cloudy=_maybe(rng))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beach:
    """Umbrellas on the sand, maybe with a ball, a palm and a sail far out."""

    daytime: Daytime
    umbrellas: tuple[Tint, ...]
    ball: bool
    palm: bool
    sail: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            daytime=rng.choice(("day", "day", "dusk")),
            umbrellas=_tints(rng, 2, 4),
            ball=_maybe(rng),
            palm=_maybe(rng),
            sail=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Aquarium:
    """Two shoals of fish of different colours, weeds, and maybe a turtle or jellyfish."""

    big: Tint
    big_count: int
    small: Tint
    small_count: int
    turtle: bool
    jellyfish: int

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        big, small = _different(rng, 2, ("red", "orange", "yellow", "pink", "white"))
        turtle = _maybe(rng, 0.4)
        return cls(
            big=big,
            big_count=rng.randint(1, 3),
            small=small,
            small_count=rng.randint(4, 8),
            turtle=turtle,
            jellyfish=0 if turtle else rng.randint(0, 3),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterTown:
    """A canal at nightfall between white houses: lanterns over it, a stone bridge, maybe a small boat."""

    lanterns: int
    arches: int
    boat: bool
    phase: Phase

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            lanterns=rng.randint(3, 8), arches=rng.choice((1, 3)), boat=_maybe(rng, 0.7), phase=rng.choice(PHASES)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Viaduct:
    """A train on a stone viaduct in one of three seasons."""

    season: Season
    arches: int
    coaches: int
    train: Tint
    steam: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            season=rng.choice(("summer", "autumn", "winter")),
            arches=rng.randint(4, 8),
            coaches=rng.randint(2, 4),
            train=rng.choice(("red", "green", "blue", "yellow")),
            steam=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnowyVillage:
    """Painted houses under snow, maybe with a church, a snowman and falling flakes."""

    daytime: Daytime
    houses: tuple[Tint, ...]
    church: bool
    snowing: bool
    snowman: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            daytime=rng.choice(DAYTIMES),
            houses=_tints(rng, 3, 5),
            church=_maybe(rng),
            snowing=_maybe(rng),
            snowman=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Castle:
    """A castle on a hill with flags on its towers."""

    daytime: Daytime
    season: Season
    towers: int
    flag: Tint

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            daytime=rng.choice(DAYTIMES),
            season=rng.choice(SEASONS),
            towers=rng.randint(2, 5),
            flag=rng.choice(("red", "blue", "yellow", "purple", "green")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindFarm:
    """Wind turbines over a field, maybe with sheep."""

    daytime: Daytime
    turbines: int
    crop: Crop
    sheep: int

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        crop: Crop = rng.choice(("rapeseed", "wheat", "grass", "lavender"))
        return cls(
            daytime=rng.choice(("dawn", "day", "dusk")),
            turbines=rng.randint(3, 7),
            crop=crop,
            sheep=rng.randint(2, 6) if crop == "grass" else 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Balloons:
    """Hot-air balloons over a valley, maybe with a river."""

    daytime: Daytime
    balloons: tuple[Tint, ...]
    striped: bool
    river: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            daytime=rng.choice(("dawn", "day", "dusk")),
            balloons=_tints(rng, 2, 6),
            striped=_maybe(rng),
            river=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Desert:
    """Dunes under a starry sky with the moon or the Plough, maybe with camels; otherwise with cacti."""

    phase: Phase | None
    camels: int
    cacti: int
    tent: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        camels = rng.choice((0, 2, 3, 4, 5))
        return cls(
            phase=rng.choice(PHASES) if _maybe(rng, 0.6) else None,
            camels=camels,
            cacti=0 if camels else rng.randint(2, 5),
            tent=_maybe(rng) if camels else False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Campsite:
    """Tents at the edge of a forest by night, maybe around a fire."""

    tents: tuple[Tint, ...]
    fire: bool
    phase: Phase
    lake: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(tents=_tints(rng, 1, 3), fire=_maybe(rng, 0.7), phase=rng.choice(PHASES), lake=_maybe(rng))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sunflowers:
    """Sunflowers in front of a farmhouse, under a blue or a clouded sky, maybe with a scarecrow."""

    flowers: int
    farmhouse: Tint
    cloudy: bool
    scarecrow: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            flowers=rng.randint(3, 7),
            farmhouse=rng.choice(("red", "white", "blue", "green")),
            cloudy=_maybe(rng),
            scarecrow=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CityNight:
    """A street at night: lit towers, street lamps, a taxi, rain or the moon."""

    taxi: Tint
    lamps: int
    raining: bool
    phase: Phase | None

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        raining = _maybe(rng)
        return cls(
            taxi=rng.choice(("yellow", "red", "green", "white", "blue")),
            lamps=rng.randint(2, 4),
            raining=raining,
            phase=None if raining else rng.choice(PHASES),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """A stall with a striped awning and crates of fruit."""

    awning: Tint
    crates: tuple[Fruit, ...]
    scales: bool
    bulbs: int

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        fruit: tuple[Fruit, ...] = ("apple", "orange", "lemon", "pear", "watermelon", "grape", "aubergine")
        return cls(
            awning=rng.choice(BRIGHT),
            crates=tuple(rng.sample(fruit, rng.randint(3, 5))),
            scales=_maybe(rng),
            bulbs=rng.choice((0, 3, 4, 5)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTower:
    """A tower whose clock shows a time (24 hours) that fits the light, and pigeons."""

    hour: int
    minute: int
    daytime: Daytime
    roof: Tint
    pigeons: int

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        hour = rng.choice((5, *range(9, 17), 19, 21, 22, 23))
        daytime: Daytime = "dawn" if hour == 5 else "day" if hour < 17 else "dusk" if hour == 19 else "night"
        return cls(
            hour=hour,
            minute=rng.randrange(0, 60, 5),
            daytime=daytime,
            roof=rng.choice(("red", "green", "blue", "teal")),
            pigeons=rng.randint(0, 5),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Airport:
    """Airliners parked before a control tower, maybe with one more in the air."""

    daytime: Daytime
    tails: tuple[Tint, ...]
    takeoff: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(daytime=rng.choice(DAYTIMES), tails=_tints(rng, 1, 3), takeoff=_maybe(rng))


@dataclass(frozen=True, slots=True, kw_only=True)
class Football:
    """Two teams in front of a goal, by day or under floodlights."""

    attackers: Tint
    attacker_count: int
    defenders: Tint
    defender_count: int
    floodlit: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        attackers, defenders = _different(rng, 2, ("red", "blue", "yellow", "white", "purple", "orange"))
        return cls(
            attackers=attackers,
            attacker_count=rng.randint(2, 4),
            defenders=defenders,
            defender_count=rng.randint(2, 4),
            floodlit=_maybe(rng),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bicycle:
    """A bicycle leaning against a painted wall beside a door."""

    frame: Tint
    wall: Tint
    door: Tint
    basket: Basket

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        wall, frame, door = _different(rng, 3, ("white", "yellow", "blue", "pink", "green", "red"))
        return cls(frame=frame, wall=wall, door=door, basket=rng.choice(("flowers", "bread", "empty")))


@dataclass(frozen=True, slots=True, kw_only=True)
class StillLife:
    """A bowl of fruit, a teapot and cups on a kitchen table by a window."""

    fruit: Fruit
    fruit_count: int
    teapot: Tint
    cups: int
    outside: Daytime

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            fruit=rng.choice(("apple", "orange", "lemon", "pear")),
            fruit_count=rng.randint(3, 6),
            teapot=rng.choice(BRIGHT),
            cups=rng.randint(1, 3),
            outside=rng.choice(DAYTIMES),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Shelves of books with a ladder, a reading lamp or a globe, and sometimes a sleeping cat."""

    shelves: int
    ladder: bool
    lamp: Tint
    globe: bool
    cat: Coat | None

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            shelves=rng.randint(3, 5),
            ladder=_maybe(rng),
            lamp=rng.choice(("green", "red", "yellow", "blue")),
            globe=_maybe(rng),
            cat=rng.choice(("ginger", "black", "grey", "white")) if _maybe(rng) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCat:
    """A cat on a windowsill between flower pots and curtains."""

    coat: Coat
    curtains: Tint
    pots: int
    bloom: Tint
    outside: Outside

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        return cls(
            coat=rng.choice(("ginger", "black", "grey", "white")),
            curtains=rng.choice(BRIGHT),
            pots=rng.randint(1, 3),
            bloom=rng.choice(("red", "pink", "yellow", "purple")),
            outside=rng.choice(("sun", "rain", "snow")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Birds:
    """Small birds on a branch that bears blossom, berries, snow or leaves."""

    breasts: tuple[Tint, ...]
    branch: Branch

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        breast: Tint = rng.choice(("red", "orange", "yellow", "blue"))
        return cls(breasts=(breast,) * rng.randint(1, 3), branch=rng.choice(("blossom", "berries", "snow", "leaves")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A bar chart on an easel.

    Attributes:
        bars: Heights in twentieths, all different.
        tint: Of the bars.
        plant: Whether a potted plant stands beside the easel.
    """

    bars: tuple[int, ...]
    tint: Tint
    plant: bool

    @classmethod
    def sample(cls, rng: Random) -> Self:
        """Sample the facts of one picture."""
        heights = sorted(rng.sample(range(5, 20), rng.randint(4, 7)))
        order = rng.choice(("rising", "falling", "mixed"))
        if order == "falling":
            heights.reverse()
        elif order == "mixed":
            rng.shuffle(heights)
        return cls(
            bars=tuple(heights),
            tint=rng.choice(("red", "orange", "green", "teal", "blue", "purple")),
            plant=_maybe(rng),
        )
