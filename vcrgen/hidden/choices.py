"""What is drawn for each item: from the secret alone, and in balance over the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from vcrgen.hidden.secret import Secret
from vcrgen.records import NAMED_MODES, Mode
from vcrgen.rng import shuffled

LEAST_WIDTH, MOST_WIDTH = 600, 1000  # px
# Width over font size, so that a line holds about fifty letters or twenty-five Han characters in any width.
EMS = 25

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What one item of one form looks like."""

    width: int  # of the images, in pixels
    font: str  # name of the face
    font_size: int  # in pixels
    strip_first: bool  # the strip stands above VI, not below it


def slot_for(secret: Secret, number: int, form: int, fonts: Sequence[str]) -> Slot:
    """The slot of an item.

    Fonts and places come in shuffled rounds, so that each is used as often as any other; another form of the same
    item has the next font of the round and the other place. ``number`` is the item's number in the set.
    """
    share = secret.random("width", f"{form}/{number}").random()
    width = LEAST_WIDTH + int(share * (MOST_WIDTH - LEAST_WIDTH + 1))
    font = balanced(secret, "font", range(len(fonts)), number)
    place = balanced(secret, "strip", range(2), number)
    face = fonts[(font + form) % len(fonts)]
    return Slot(width=width, font=face, font_size=round(width / EMS), strip_first=(place + form) % 2 == 1)


def cover_modes(secret: Secret, form: int, before: int, count: int) -> list[Mode]:
    """Easy or hard for each of an item's ``count`` spans; the items before it have ``before`` spans."""
    return [balanced(secret, f"cover/{form}", NAMED_MODES, before + number) for number in range(count)]


def balanced(secret: Secret, stage: str, values: Sequence[T], number: int) -> T:
    """The value of a number: in each round every value comes once, in an order that nobody can foresee."""
    turn, place = divmod(number, len(values))
    return shuffled(secret.random(stage, str(turn)), values)[place]
