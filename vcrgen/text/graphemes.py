"""Grapheme clusters (UAX #29): sequences of characters that a reader takes for one.

``"कि"`` is one cluster of two characters, ``"é"`` may be one of two, a flag is one of two, a family emoji one of five.
No span, no line and no box begins or ends inside a cluster.
"""

import re
from functools import lru_cache
from itertools import pairwise

import regex

_CLUSTER = regex.compile(r"\X")
# Texts in which every character is a cluster: Latin, Han and kana without marks, and their punctuation. Most captions
# are of this kind, and matching this once is thirty times quicker than finding each cluster. Left out are characters
# that join a neighbour: \r (before \n), marks, joiners, the tone and voicing marks of U+302A and U+3099.
_SINGLE_CHARACTERS = re.compile(
    "[\n\x20-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u3000-\u3029\u3031-\u3098\u309b-\u30ff\u3400-\u9fff\uff01-\uff9d]*"
)


@lru_cache(maxsize=8)  # the stages of a build ask one after the other about the same caption
def boundaries(text: str) -> tuple[int, ...]:
    """The positions between clusters, ascending, with 0 and ``len(text)``: ``"\u0915\u093f\u0915"`` has 0, 2, 3.

    A text of length 0 has the one position 0.
    """
    if _SINGLE_CHARACTERS.fullmatch(text):
        return tuple(range(len(text) + 1))
    return (0, *(cluster.end() for cluster in _CLUSTER.finditer(text)))


def clusters(text: str) -> list[tuple[int, int]]:
    """The start and end of each cluster, in the order of the text."""
    return list(pairwise(boundaries(text)))
