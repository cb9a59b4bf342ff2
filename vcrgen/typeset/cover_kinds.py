"""The kinds of covers, one row each: option texts, messages, images of docs and tests follow from this table.

To add a kind: a function in `vcrgen.typeset.patterns`, its row here, and its lines in ``docs/covers.md``; then
``scripts/redraw.py NAME``. The command line reads this module for its help, so it imports nothing heavy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

REACH = 0.15  # of covers that do not end at the edge of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverKind:
    """A kind of cover."""

    name: str  # as ``--cover`` and signatures give it
    description: str  # a sentence for docs/covers.md
    # ``module:class`` that finds covers of a share of ink: (name, shaper, ink sample) -> Calibrator
    calibrator: str = "vcrgen.typeset.calibrate:PatternCalibrator"
    draw: str = ""  # ``module:function`` that draws it, Canvas -> Pattern; empty for white rows, which have no pattern
    reach: float = 0.0  # distance that it extends beyond the text's place, in line heights
    whole_letters: bool = False  # it hides whole letters one after the other, and not a part of every letter


_PATTERNS = "vcrgen.typeset.patterns"
_ROWS = (
    CoverKind(
        name="rows",
        description="White rows, as in VCR-WIKI: the default.",
        calibrator="vcrgen.typeset.calibrate:RowCalibrator",
    ),
    CoverKind(name="stripes", description="Dark slanted bars.", draw=f"{_PATTERNS}:stripes"),
    CoverKind(
        name="stain", description="Drops of ink that have run, with soft edges.", draw=f"{_PATTERNS}:stain", reach=REACH
    ),
    CoverKind(
        name="fold",
        description="Creases across the lines, where the print has flaked off.",
        draw=f"{_PATTERNS}:fold",
    ),
    CoverKind(
        name="dropout", description="Print that has rubbed off, in specks and patches.", draw=f"{_PATTERNS}:dropout"
    ),
    CoverKind(name="leaf", description="Leaves laid over the line.", draw=f"{_PATTERNS}:leaf", reach=REACH),
    CoverKind(
        name="bars", description="Gray bars that hide whole letters.", draw=f"{_PATTERNS}:bars", whole_letters=True
    ),
    CoverKind(
        name="blots",
        description="Round blots that hide whole letters.",
        draw=f"{_PATTERNS}:blots",
        reach=REACH,
        whole_letters=True,
    ),
)

COVER_KINDS: Mapping[str, CoverKind] = MappingProxyType({kind.name: kind for kind in _ROWS})
ROWS = "rows"  # the kind of VCR-WIKI, and the default
PATTERN_RULES = "patterns-2"  # name and version, for signatures, of what covers but rows hide and how ink is measured
PATTERN_KINDS = tuple(name for name, kind in COVER_KINDS.items() if kind.draw)
