"""How captions of a language are set and covered: its shaper, and covers that are calibrated for the fonts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vcrgen.records import NAMED_MODES, Mode
from vcrgen.text.languages import LanguageRow
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import Calibration, calibrate
from vcrgen.typeset.cover import ROWS
from vcrgen.typeset.fonts import FontChain
from vcrgen.typeset.joined import JoinedShaper
from vcrgen.typeset.shaping import Shaper

SHAPERS: Mapping[str, type[Shaper]] = {"basic": BasicShaper, "joined": JoinedShaper}
"""What the row of a language calls a shaper, and its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a pair is set and covered."""

    width: int  # of all images, in pixels
    max_height: int  # of the stacked image, in pixels
    shaper: Shaper  # sets text in the fonts, at their size
    covers: Mapping[Mode, Calibration]  # what each mode hides in these fonts


def make_style(
    language: LanguageRow,
    chain: FontChain,
    *,
    width: int,
    max_height: int,
    cover: str = ROWS,
    modes: Iterable[Mode] = NAMED_MODES,
) -> Style:
    """The style of a language in some fonts, under a kind of cover.

    Raises:
        FontError: The first font lacks letters of the language, or covers of this kind cannot leave so much of it.
    """
    shaper = make_shaper(language, chain)
    return Style(
        width=width,
        max_height=max_height,
        shaper=shaper,
        covers=calibrate(shaper, language, calibration_sample(language.code), cover, modes),
    )


def make_shaper(language: LanguageRow, chain: FontChain) -> Shaper:
    """The shaper that a language's row names."""
    return SHAPERS[language.shaper](chain, language.direction)
