"""The style of a language's captions: its shaper, and covers that are calibrated for the fonts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vcrgen.core.records import NAMED_MODES, Mode
from vcrgen.text.languages import LanguageRow
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import Calibration, calibrate
from vcrgen.typeset.cover_kinds import ROWS
from vcrgen.typeset.fonts import FontChain
from vcrgen.typeset.harfbuzz import HarfBuzzShaper
from vcrgen.typeset.shaping import Shaper

SHAPERS: Mapping[str, type[Shaper]] = {"basic": BasicShaper, "harfbuzz": HarfBuzzShaper}
"""Shapers by their names in the table of languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The layout and covers of a pair."""

    width: int  # of all images, in pixels
    max_height: int  # of the stacked image, in pixels
    shaper: Shaper  # sets text in the fonts, at their size
    cover: str  # the kind of covers
    calibrations: Mapping[Mode, Calibration]  # the cover of each mode in these fonts


def make_style(
    language: LanguageRow,
    chain: FontChain,
    *,
    width: int,
    max_height: int,
    cover: str = ROWS,
    modes: Iterable[Mode] = NAMED_MODES,
) -> Style:
    """Calibrate the style of a language in a font chain, under a kind of cover.

    Raises:
        FontError: The first font lacks letters of the language, or the targets cannot be reached.
    """
    shaper = make_shaper(language, chain)
    return Style(
        width=width,
        max_height=max_height,
        shaper=shaper,
        cover=cover,
        calibrations=calibrate(shaper, language, calibration_sample(language.code), cover, modes),
    )


def make_shaper(language: LanguageRow, chain: FontChain) -> Shaper:
    """Make the shaper that the row of a language names."""
    return SHAPERS[language.shaper](chain, language.direction)
