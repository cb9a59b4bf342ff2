"""The kinds of masks, one row each: option texts, messages and signatures follow from this table.

To add a kind: a function in `vcrgen.builder.masking` and its row here. The command line reads this module for its
help, so it imports nothing heavy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskKind:
    """A kind of text that is masked."""

    name: str  # as ``--mask`` gives it
    choose: str  # ``module:function`` that chooses the spans
    signature: str = "{mask}"  # in signatures, with the options of the build filled in


_MASKING = "vcrgen.builder.masking"
_ROWS = (
    MaskKind(name="ngram", choose=f"{_MASKING}:ngrams", signature="ngram-{ngram_size}"),
    MaskKind(name="nouns", choose=f"{_MASKING}:nouns"),
    MaskKind(name="sentence", choose=f"{_MASKING}:one_sentence"),
    MaskKind(name="percentage", choose=f"{_MASKING}:single_tokens", signature="percentage-{percentage:g}"),
)

MASK_KINDS: Mapping[str, MaskKind] = MappingProxyType({row.name: row for row in _ROWS})
