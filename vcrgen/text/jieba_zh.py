"""jieba's dictionary, read as far as texts need it, and Chinese tokens by the rule of spaCy's tokenizer, without spaCy.

jieba's own start-up reads ``jieba.cache`` in the temporary folder if that file exists: anybody who can write there
decides how text is cut, and with ``marshal`` more than that. It also writes that file and logs to stderr. So the files
of the package are read here: no cache, no log line, and words that others add to jieba's global dictionary do not
change the data. Reading all of its 349,046 words takes about 1 s, finding where those of each character stand 0.05 s.

``jieba.posseg`` is not used: it cuts differently from ``jieba.cut``, and takes 2 ms a caption to guess flags for words
of no dictionary, which the rules in ``name_rules_zh`` judge by their characters.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_loader
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from vcrgen.text.morphemes import with_white_space
from vcrgen.text.segmenters import Segmenter
from vcrgen.text.words_zh import BLOCK, WordCutter

UNKNOWN_TAG = "x"
LATIN_TAG = "eng"
NUMBER_TAG = "m"
# A text can be cut without changing its tokens outside of jieba's blocks, but not before white space: one space after a
# word is no token, and any other white space is one.
_BOUNDARY = re.compile(rf"[^{BLOCK}](?!\s)")
TOTAL = 60_101_967  # of the frequencies in the dictionary of jieba 0.42.1; a word that is listed twice counts twice


class Dictionary:
    """jieba's list of words, of which those are read that begin with a character that is asked for.

    Args:
        data: Lines of a word, its frequency and its flag, in UTF-8; each line ends with a line feed.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        codes = np.frombuffer(data + bytes(3), dtype=np.uint8)
        starts = np.append(0, np.flatnonzero(codes == ord("\n")) + 1)[:-1]
        # The first four bytes of a line are as good as its first character: where they change, one may begin.
        first = sum(codes[starts + place].astype(np.uint32) << 8 * place for place in range(4))
        lengths = np.array([1] * 12 + [2] * 2 + [3, 4])[codes[starts] >> 4]  # bytes of the character in UTF-8
        first &= (1 << 8 * lengths.astype(np.uint64)) - 1
        runs = [0, *(np.flatnonzero(np.diff(first)) + 1).tolist(), len(starts)]
        places = [*starts[runs[:-1]].tolist(), len(data)]
        self._sections: dict[str, list[slice]] = {}
        for run, (start, stop) in zip(runs, pairwise(places), strict=False):
            character = data[start : start + int(lengths[run])].decode("utf-8")
            self._sections.setdefault(character, []).append(slice(start, stop))
        self._flags = functools.cache(self._flags_of)

    def _lines(self, character: str) -> Iterator[list[str]]:
        for section in self._sections.get(character, ()):
            for line in self._data[section].decode("utf-8").splitlines():
                yield line.split()

    def frequencies(self, character: str) -> Iterator[tuple[str, int]]:
        """The words that begin with a character and their frequencies, in the order of the list."""
        return ((word, int(frequency)) for word, frequency, _ in self._lines(character))

    def flag(self, word: str) -> str | None:
        """The flag of a word's part of speech; None of a word that is not in the list."""
        return self._flags(word[0]).get(word) if word[:1] in self._sections else None

    def _flags_of(self, character: str) -> dict[str, str]:
        return {word: sys.intern(flag) for word, _, flag in self._lines(character)}


@dataclass(frozen=True)
class Jieba:
    """jieba's tokenizer and its dictionary of part-of-speech flags."""

    cutter: WordCutter  # gives the words that ``jieba.cut`` gives without a user's dictionary
    dictionary: Dictionary

    def cut(self, text: str, cut_all: bool = False) -> list[str]:
        """Cut a text into words; spaCy's ChineseTokenizer calls this as if we were the module."""
        return self.cutter.cut(text)[0]

    def flag(self, word: str) -> str:
        """A word's flag; that of a word of no dictionary is ``eng``, ``m`` or ``x``, as in jieba."""
        flag = self.dictionary.flag(word)
        if flag is not None:
            return flag
        if any(char.isdigit() for char in word):
            return NUMBER_TAG
        if any(char.isalpha() for char in word) and unicodedata.normalize("NFKC", word).isascii():  # Ａ as well as A
            return LATIN_TAG
        return UNKNOWN_TAG


@functools.cache
def load_jieba() -> Jieba:
    """Find the words in jieba's packaged dictionary, once a process; nothing of the temporary folder is touched."""
    # Not by an import of jieba, which loads pkg_resources.
    spec = find_spec("jieba")
    assert spec is not None and spec.submodule_search_locations, "jieba is a dependency"
    folder = Path(spec.submodule_search_locations[0])
    dictionary = Dictionary((folder / "dict.txt").read_bytes())
    start, moves, emits = (
        _probabilities(folder / "finalseg" / f"prob_{name}.py") for name in ("start", "trans", "emit")
    )
    return Jieba(WordCutter(dictionary.frequencies, TOTAL, start, moves, emits), dictionary)


def _probabilities(file: Path) -> Any:
    """The table that a module of jieba's model holds."""
    spec = spec_from_loader(file.stem, SourceFileLoader(file.stem, str(file)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.P


def jieba() -> Segmenter:
    """Jieba with its packaged dictionary."""
    cut = load_jieba().cutter.cut

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        return with_white_space(zip(*cut(text), strict=True), text)

    return Segmenter(f"spacy-{version('spacy')}-zh-jieba-{version('jieba')}", tokenize, _BOUNDARY)
