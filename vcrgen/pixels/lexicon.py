"""Lexicons: the units that a span may consist of, and their prior probabilities.

Units are words, or characters in languages that write no spaces between words. In Korean they are syllables and the
space, as particles make more written words than a list has. Frequencies are those of the package ``wordfreq`` (Robyn
Speer; data CC BY-SA 4.0), or of a list of the user.
"""

import gzip
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vcrgen.core.errors import ConfigError
from vcrgen.text.languages import language_row
from vcrgen.text.sample import calibration_sample

WORDS = 50_000  # most frequent words of a lexicon
CHARACTERS = 7_000  # most frequent characters
# Prior of a word's three forms. A form that another word has already (German "Morgen") adds to it.
FORMS = {"lower": 0.84, "title": 0.15, "upper": 0.01}
MAX_PAIRED = 500  # characters of an alphabet in which any two may be adjacent
MAX_LETTERS = 24  # of a word; longer ones are rarer than one in a million
MAX_LIST_BYTES = 64 << 20
_INSIDE = str.maketrans("", "", "'’-")  # what words have beside letters
_SPACE_SHARE = 0.25  # of a Korean text's characters

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes of a prefix tree at one depth, in the order of their parents."""

    code: Ints  # the character, an index into ``Lexicon.alphabet``
    first: Ints  # first child in the next level; children of a node are adjacent, and end at ``first[node + 1]``
    unit: Ints  # the unit that ends here, or -1


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Units with their prior.

    Attributes:
        name: Source, size and hash, for signatures.
        units: The units, in code point order.
        log_prior: Natural logarithm of each one's probability.
        separator: Between two units: a space, or nothing.
    """

    name: str
    lang: str
    units: tuple[str, ...]
    log_prior: npt.NDArray[np.float64]
    separator: str

    @property
    def line_end(self) -> str:
        """The space for which the end of a line stands, as lines end between words; or nothing."""
        return language_row(self.lang).joiner

    @cached_property
    def alphabet(self) -> tuple[str, ...]:
        """The characters of all units, in code point order."""
        return tuple(sorted(set("".join(self.units))))

    @cached_property
    def code_of(self) -> Mapping[str, int]:
        """The index of each character in the alphabet."""
        return {character: code for code, character in enumerate(self.alphabet)}

    @cached_property
    def _bits(self) -> Mapping[str, float]:
        return dict(zip(self.units, (-self.log_prior / math.log(2)).tolist(), strict=True))

    @cached_property
    def _most_bits(self) -> float:
        return max(self._bits.values())

    @cached_property
    def mean_bits(self) -> float:
        """Bits of a unit that is drawn by frequency: the entropy of the prior."""
        return math.fsum(math.exp(log) * -log for log in self.log_prior.tolist()) / math.log(2)

    def bits_a_unit(self, text: str) -> float:
        """Mean bits of a text's units by their frequencies alone; one that is not here is as rare as the rarest."""
        units = text.split() if self.separator else list("".join(text.split()))
        return math.fsum(self._bits.get(unit, self._most_bits) for unit in units) / max(1, len(units))

    @cached_property
    def codes(self) -> npt.NDArray[np.int16]:
        """The characters of each unit as indices into the alphabet, shape (units, longest unit), -1 after the end."""
        points = np.array(self.units)[:, None].view(np.uint32)  # code points, 0 after the end
        known = [ord(character) for character in self.alphabet]
        code_of_point = np.full(known[-1] + 1, -1, dtype=np.int16)
        code_of_point[known] = np.arange(len(known))
        return code_of_point[points]

    @cached_property
    def pairs(self) -> npt.NDArray[np.int64]:
        """The pairs of adjacent characters, shape (2, pairs); any two, if units are characters of a small alphabet."""
        count = len(self.alphabet)
        if self.codes.shape[1] == 1:
            pair_codes = np.arange(count * count if count <= MAX_PAIRED else 0)
        else:
            inside = self.codes[:, 1:] >= 0
            is_pair = np.zeros(count * count, dtype=bool)
            is_pair[self.codes[:, :-1][inside].astype(np.int64) * count + self.codes[:, 1:][inside]] = True
            pair_codes = np.flatnonzero(is_pair)
        return np.stack(np.divmod(pair_codes, count))

    @cached_property
    def tree(self) -> tuple[Level, ...]:
        """The prefix tree of the units, from the first character on."""
        codes, levels = self.codes, []
        # Units are in code point order, as codes are, so units with a common prefix are adjacent.
        differs = np.ones(codes.shape, dtype=bool)
        differs[1:] = np.logical_or.accumulate(codes[1:] != codes[:-1], axis=1)
        for depth in range(codes.shape[1]):
            begins = np.flatnonzero(differs[:, depth] & (codes[:, depth] >= 0))
            ends_here = (codes[begins, depth + 1] < 0) if depth + 1 < codes.shape[1] else np.ones(len(begins), bool)
            below = (
                np.flatnonzero(differs[:, depth + 1] & (codes[:, depth + 1] >= 0))
                if depth + 1 < codes.shape[1]
                else begins[:0]
            )
            levels.append(
                Level(
                    code=codes[begins, depth].astype(np.intp),
                    first=np.append(np.searchsorted(below, begins), len(below)),
                    unit=np.where(ends_here, begins, -1),
                )
            )
        return tuple(levels)


def make_lexicon(name: str, lang: str, weights: Mapping[str, float], separator: str) -> Lexicon:
    """Make a lexicon of units with their weights, which need not sum to 1."""
    units = sorted(unit for unit, weight in weights.items() if unit and weight > 0)
    values = np.array([weights[unit] for unit in units])
    digest = sha256("\n".join(units).encode()).hexdigest()[:8]
    if not units:
        raise ConfigError(f"The word list of {name} has no words.")
    total = math.fsum(values)
    return Lexicon(f"{name}-{len(units)}#{digest}", lang, tuple(units), np.log(values / total), separator)


@lru_cache(maxsize=16)
def load_lexicon(lang: str, *, size: int | None = None, file: Path | None = None) -> Lexicon:
    """Load the lexicon of a language from ``wordfreq`` or a word list.

    Args:
        size: The number of words or characters, the most frequent ones; None for the usual number.
        file: A word list instead of ``wordfreq``: a word a line, and after a tab its frequency (1 if not given).

    Raises:
        ConfigError: The language is unknown or its letters are not drawn one by one, or the file has no words.
    """
    row = language_row(lang)
    if row.shaper != "basic":
        raise ConfigError(
            f"Letters of {row.name} change their forms with their neighbours, so its words have no templates: the bits "
            "of its spans are unknown."
        )
    words = _word_list(file) if file else _word_frequencies(lang)
    source = f"list-{lang}" if file else f"wordfreq-{version('wordfreq')}-{lang}"
    if not row.joiner or row.particles:  # words are not delimited, or are too many to be listed
        return make_lexicon(source, lang, _character_weights(lang, words, size or CHARACTERS), "")
    return make_lexicon(source, lang, _word_weights(words, size or WORDS, row.script), " ")


def _word_frequencies(lang: str) -> Iterable[tuple[str, float]]:
    """The words of a language with their frequencies, the most frequent ones first."""
    import wordfreq

    words: Iterable[tuple[str, float]] = (
        (word, frequency)
        for centibels, equally_frequent in enumerate(wordfreq.get_frequency_list(lang))
        for frequency in [wordfreq.cB_to_freq(-centibels)]
        for word in equally_frequent  # in alphabetical order
    )
    for letter in sorted(set().union(*calibration_sample(lang))):
        if len(letter.casefold()) > 1:  # wordfreq folds it, so a word may have either
            words = _ranked(dict(_spelt(words, letter.casefold(), letter)))
    return words


def _spelt(words: Iterable[tuple[str, float]], folded: str, letter: str) -> Iterator[tuple[str, float]]:
    """Yield words as they are, and with a letter in each place that has its folded form; all equally frequent."""
    for word, count in words:
        if folded not in word:
            yield word, count
            continue
        places = [match.start() for match in re.finditer(folded, word)]
        spellings = [word, *(word[:at] + letter + word[at + len(folded) :] for at in places)]
        yield from ((spelling, count / len(spellings)) for spelling in spellings)


def _word_list(file: Path) -> Iterable[tuple[str, float]]:
    """Read a word list of the user, gzipped or not: its words with their frequencies, the most frequent ones first."""
    try:
        if file.stat().st_size > MAX_LIST_BYTES:
            raise ConfigError(f"The word list {file} is larger than {MAX_LIST_BYTES >> 20} MiB.")
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"The word list {file} cannot be read: {error}.") from None
    counts: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        word, _, count = line.partition("\t")
        counts[unicodedata.normalize("NFC", word.strip())] = _frequency(count or "1", f"{file}, line {number}")
    return _ranked(counts)


def _frequency(text: str, place: str) -> float:
    try:
        frequency = float(text)
    except ValueError:
        frequency = math.nan
    if not 0 <= frequency < math.inf:
        raise ConfigError(f"{place}: {text!r} is no frequency; write a word, a tab, a number.")
    return frequency


def _ranked(counts: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def _word_weights(words: Iterable[tuple[str, float]], size: int, script: str) -> dict[str, float]:
    """Weights of the most frequent words of letters, each in its `FORMS`."""
    weights: defaultdict[str, float] = defaultdict(float)
    for word, count in islice((entry for entry in words if _is_word(entry[0], script)), size):
        weights[word] += FORMS["lower"] * count
        weights[word[0].upper() + word[1:]] += FORMS["title"] * count
        weights[word.upper()] += FORMS["upper"] * count
    return weights


def _is_word(word: str, script: str) -> bool:
    letters = word.translate(_INSIDE)
    if letters.isascii():  # most words, quickly
        return letters.isalpha() and len(word) <= MAX_LETTERS and script == "LATIN"
    own = all(unicodedata.name(letter, "").startswith(script) and letter.isalpha() for letter in letters)
    return len(word) <= MAX_LETTERS and own


def _character_weights(lang: str, words: Iterable[tuple[str, float]], size: int) -> dict[str, float]:
    """Weights of the most frequent characters of the language's scripts; with the space, where its texts have some."""
    row = language_row(lang)
    scripts = tuple({row.script, *row.other_scripts})
    scripts += ("IDEOGRAPHIC ITERATION MARK",) if "HIRAGANA" in scripts else ()
    characters: defaultdict[str, float] = defaultdict(float)
    for word, count in words:
        for character in word:
            characters[character] += count
    own = (entry for entry in _ranked(characters) if unicodedata.name(entry[0], "").startswith(scripts))
    weights = dict(islice(own, size))
    if row.joiner == " ":
        weights[" "] = _SPACE_SHARE * math.fsum(weights.values())
    return weights
