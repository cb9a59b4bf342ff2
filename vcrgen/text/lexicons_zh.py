"""The Chinese word lists under ``vcrgen/text/zh/lexicons``, each with its source and meaning in its header."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from vcrgen.text.lexicons import read_lexicon


def _words(name: str) -> frozenset[str]:
    return frozenset(word for line in read_lexicon("zh", name) for word in line.split())


def _units() -> dict[str, str]:
    units, label = {}, ""
    for line in read_lexicon("zh", "units"):
        if line.startswith("="):
            label = line[1:].strip()
        else:
            units.update(dict.fromkeys(line.split(), label))
    return units


@dataclass(frozen=True)
class Lexicons:
    """The word lists under ``vcrgen/text/zh/lexicons``; see each file's header."""

    common: frozenset[str] = field(default_factory=lambda: _words("common"))
    function: frozenset[str] = field(default_factory=lambda: _words("function"))
    transliteration: frozenset[str] = field(default_factory=lambda: _words("transliteration"))
    surnames: frozenset[str] = field(default_factory=lambda: _words("surnames"))
    surnames_long: frozenset[str] = field(default_factory=lambda: _words("surnames_long"))
    surnames_common: frozenset[str] = field(default_factory=lambda: _words("surnames_common"))
    titles: frozenset[str] = field(default_factory=lambda: _words("titles"))
    bodies: frozenset[str] = field(default_factory=lambda: _words("bodies"))
    region_heads: frozenset[str] = field(default_factory=lambda: _words("region_heads"))
    organisations: frozenset[str] = field(default_factory=lambda: _words("org_suffixes"))
    clubs: frozenset[str] = field(default_factory=lambda: _words("clubs"))
    places: frozenset[str] = field(default_factory=lambda: _words("place_suffixes"))
    peoples: frozenset[str] = field(default_factory=lambda: _words("peoples"))
    regions: frozenset[str] = field(default_factory=lambda: _words("regions"))
    places_of_note: frozenset[str] = field(default_factory=lambda: _words("places"))
    persons: frozenset[str] = field(default_factory=lambda: _words("persons"))
    eras: frozenset[str] = field(default_factory=lambda: _words("eras"))
    norp: frozenset[str] = field(default_factory=lambda: _words("norp"))
    aliases: frozenset[str] = field(default_factory=lambda: _words("aliases"))
    units: dict[str, str] = field(default_factory=_units)
    name_chars: frozenset[str] = field(init=False)
    simplified: dict[int, str] = field(
        default_factory=lambda: {ord(word[0]): word[1] for word in _words("traditional")}
    )

    def __post_init__(self) -> None:
        """Collect the characters that make a word of no dictionary look like a name."""
        kinds = {word for word in self.organisations | self.places if len(word) == 1}
        chars = self.transliteration | self.surnames | self.regions | kinds
        object.__setattr__(self, "name_chars", chars - self.function)


@functools.cache
def load_lexicons() -> Lexicons:
    """Read the lexicons, once a process."""
    return Lexicons()
