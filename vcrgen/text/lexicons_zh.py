"""The Chinese word lists under ``vcrgen/text/zh/lexicons``, each with its source and meaning in its header."""

import functools
from dataclasses import dataclass

from vcrgen.text.lexicons import read_fields, read_lexicon


@dataclass(eq=False)
class ChineseLists:
    """The sets of words of the rules."""

    aliases: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    clubs: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    eras: frozenset[str] = frozenset()
    function: frozenset[str] = frozenset()
    norp: frozenset[str] = frozenset()
    org_suffixes: frozenset[str] = frozenset()
    peoples: frozenset[str] = frozenset()
    persons: frozenset[str] = frozenset()
    place_suffixes: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    region_heads: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    surnames: frozenset[str] = frozenset()
    surnames_common: frozenset[str] = frozenset()
    surnames_long: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    traditional: frozenset[str] = frozenset()
    transliteration: frozenset[str] = frozenset()


class Lexicons(ChineseLists):
    """The Chinese word lists, and tables derived from them."""

    def __init__(self) -> None:
        super().__init__(**read_fields(ChineseLists, "zh", by_words=True))
        # A word of no dictionary that has one of these characters looks like a name.
        kinds = {word for word in self.org_suffixes | self.place_suffixes if len(word) == 1}
        self.name_chars = (self.transliteration | self.surnames | self.regions | kinds) - self.function
        self.simplified = {ord(pair[0]): pair[1] for pair in self.traditional}  # as `str.translate` takes them
        # Of words that are in several of these lists, the last one counts.
        lists = {"ORG": self.bodies, "PERSON": self.persons, "GPE": self.places, "NORP": self.norp, "DATE": self.eras}
        self.label_of = {word: label for label, words in lists.items() for word in words}
        self.label_of_unit: dict[str, str] = {}
        label = ""
        for line in read_lexicon("zh", "units"):
            if line.startswith("="):
                label = line[1:].strip()
            else:
                self.label_of_unit |= dict.fromkeys(line.split(), label)


@functools.cache
def load_lexicons() -> Lexicons:
    """Read the lexicons, once a process."""
    return Lexicons()
