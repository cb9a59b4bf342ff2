"""Provenance: what a dataset or a score can be compared with, in one line."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from vcrgen.files import canonical_json


@dataclass(frozen=True, slots=True)
class Signature:
    """Named facts in a fixed order, printed as ``key:value`` joined by ``|``, after sacrebleu's example.

    Attributes:
        facts: Key to value; a value holds no ``|``.
    """

    facts: Mapping[str, str]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.facts.items())

    @property
    def short(self) -> str:
        """Eight hex digits that stand for the whole."""
        return hashlib.sha256(canonical_json(dict(self.facts)).encode()).hexdigest()[:8]
