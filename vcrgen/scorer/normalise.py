"""Normalisation of answers and outputs before they are cut into tokens: none, unless somebody asks for it by name.

Example: with ``nfkc`` an output of ``ＶＣＲ`` in full-width letters matches ``VCR``; with ``arabic`` one without the
hamza on an alef, or with a tatweel that only makes a word longer, matches what is written with and without them.
"""

import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

from vcrgen.scorer.clean import Cleaned
from vcrgen.text.graphemes import clusters

NONE = "none"
# Characters that are put in order together. That takes quadratic time on marks that follow one another, of which no
# writing has so many; a longer run is cut.
_PIECE = 256
# Alef with madda, with hamza above and below, and wasla are an alef; a tatweel is nothing.
_ARABIC = str.maketrans({"\u0622": "\u0627", "\u0623": "\u0627", "\u0625": "\u0627", "\u0671": "\u0627", "\u0640": ""})


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _arabic(text: str) -> str:
    return _nfkc(text).translate(_ARABIC)


NORMALISERS: Mapping[str, Callable[[str], str]] = MappingProxyType({"nfkc": _nfkc, "arabic": _arabic})
"""Normalisations of a grapheme cluster, by their names in a signature."""


def normalised(cleaned: Cleaned, name: str, *, limit: int) -> Cleaned:
    """A text cluster by cluster in its normal form, that still knows where its characters were.

    Args:
        name: A key of `NORMALISERS`, or `NONE`.
        limit: Characters of the text that are read, and that the normal form has at most.
    """
    if name == NONE:
        return cleaned
    normalise, source = NORMALISERS[name], cleaned.text[:limit]
    pieces, origins = list[str](), list[int]()
    for first, last in clusters(source):
        for start in range(first, last, _PIECE):
            piece = source[start : min(start + _PIECE, last)]
            normal = piece if piece.isascii() else normalise(piece)
            pieces.append(normal)
            # Each character of a piece that is written otherwise now stands for its beginning.
            origins += range(start, start + len(piece)) if normal == piece else [start] * len(normal)
    parts = tuple(enumerate(map(cleaned.origin, origins[:limit])))
    return cleaned._replace(text="".join(pieces)[:limit], parts=parts or ((0, 0),))
