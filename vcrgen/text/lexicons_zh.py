"""The Chinese word lists under ``vcrgen/text/zh/lexicons``, each with its source and meaning in its header."""

import functools

from vcrgen.text.lexicons import WordLists, read_lexicon


class Lexicons(WordLists):
    """The Chinese word lists, and tables derived from them."""

    def __init__(self) -> None:
        super().__init__("zh", by_words=True)
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
