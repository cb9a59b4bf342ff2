"""The kinds of paper that a strip is printed on, one row each: option texts, messages, images of docs and tests follow.

To add a kind: a function in `vcrgen.typeset.papers`, its row here, and its lines in ``docs/covers.md``; then
``scripts/redraw.py NAME``. The command line reads this module for its help, so it imports nothing heavy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LEAST_CONTRAST = 4.5  # of print on paper: the least that WCAG 2 (1.4.3) asks for text
BLACK = "000000"
PLAIN = "white"  # the paper of VCR-WIKI, and the default


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperKind:
    """A kind of paper."""

    name: str  # as ``--paper`` and signatures give it
    description: str  # a sentence for docs/covers.md
    colour: str = "ffffff"  # RRGGBB, of its lightest pixel
    draw: str = ""  # ``module:function`` of its texture, (generator, height, width) -> darkness; empty for an even one


_ROWS = (
    PaperKind(name=PLAIN, description="White, as in VCR-WIKI: the default."),
    PaperKind(name="cream", colour="f6eedc", description="Even and yellowish, as of novels."),
    PaperKind(
        name="newsprint",
        colour="e6e2d8",
        draw="vcrgen.typeset.papers:newsprint",
        description="Gray, with grain and clouds.",
    ),
    PaperKind(
        name="laid",
        colour="efe2c6",
        draw="vcrgen.typeset.papers:laid",
        description="Old and stained, with the lines of the mould.",
    ),
)
PAPER_KINDS: Mapping[str, PaperKind] = MappingProxyType({kind.name: kind for kind in _ROWS})


def read_colour(text: str) -> tuple[int, int, int]:
    """Read red, green and blue of a colour as ``#1f3a6e`` or ``1f3a6e``; a ValueError if it is none."""
    if not re.fullmatch(r"#?[0-9A-Fa-f]{6}", text):
        raise ValueError(f"{text[:20]!r} is no colour; give red, green and blue in hex, as 1f3a6e")
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, from 1 to 21 (WCAG 2)."""
    darker, lighter = sorted(map(_luminance, (first, second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = (value / 255 for value in read_colour(colour))
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
