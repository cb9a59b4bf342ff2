"""Signatures: the provenance of a dataset or a score in one line."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Signature:
    """Named facts in a fixed order, printed as ``key:value`` joined by ``|``, after sacrebleu's example."""

    facts: Mapping[str, str]  # key to value; a key holds neither ``:`` nor ``|``, a value no ``|``

    def __post_init__(self) -> None:
        if any("|" in key + value or ":" in key for key, value in self.facts.items()):
            raise ValueError(f"not facts of a signature: {dict(self.facts)}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text of a signature.

        Raises:
            ValueError: A part is not ``key:value``, or a key comes twice.
        """
        pairs = [part.partition(":") for part in text.split("|")]
        facts = {key: value for key, colon, value in pairs if colon and key}
        if len(facts) != len(pairs):
            raise ValueError(f"not a signature: {text[:200]!r}")
        return cls(facts)

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.facts.items())

    @property
    def short(self) -> str:
        """Return a hash of the signature, eight hex digits."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8]
