"""Random design of the items: drawn from the secret and balanced over the set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from vcrgen.core.records import Mode
from vcrgen.core.rng import shuffled
from vcrgen.hidden.secret import Secret

MIN_WIDTH, MAX_WIDTH = 600, 1000  # px
# Least and most width over font size: a line holds 44 to 56 letters, or half as many Han characters, in any width.
MIN_EMS, MAX_EMS = 22, 28

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDesign:
    """The appearance of one item of one form."""

    width: int  # of the images, in pixels
    font: str  # name of the face
    font_size: int  # in pixels
    strip_first: bool  # the strip stands above VI, not below it


def draw_design(secret: Secret, number: int, form: int, fonts: Sequence[str]) -> ItemDesign:
    """Draw the design of an item; ``number`` is its number in the set.

    Fonts and places come in shuffled rounds, so they are balanced. Another form of the same item has the next font of
    the round and the other place.
    """
    share = secret.random("width", f"{form}/{number}").random()
    width = MIN_WIDTH + int(share * (MAX_WIDTH - MIN_WIDTH + 1))
    font = balanced(secret, "font", range(len(fonts)), number)
    place = balanced(secret, "strip", range(2), number)
    face = fonts[(font + form) % len(fonts)]
    ems = MIN_EMS + secret.random("size", f"{form}/{number}").random() * (MAX_EMS - MIN_EMS)
    return ItemDesign(width=width, font=face, font_size=round(width / ems), strip_first=(place + form) % 2 == 1)


def draw_cover_modes(secret: Secret, form: int, before: int, count: int, modes: Sequence[Mode]) -> list[Mode]:
    """Draw the mode of each of an item's ``count`` spans; the items before it have ``before`` spans."""
    return [balanced(secret, f"cover/{form}", modes, before + number) for number in range(count)]


def balanced(secret: Secret, stage: str, values: Sequence[T], number: int) -> T:
    """Value of a number: in each round every value occurs once, in secret order."""
    turn, place = divmod(number, len(values))
    return shuffled(secret.random(stage, str(turn)), values)[place]
