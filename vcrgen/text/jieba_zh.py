"""jieba, loaded from its packaged dictionary alone, and Chinese tokens by the rule of spaCy's tokenizer, without spaCy.

jieba's own start-up reads ``jieba.cache`` in the temporary folder if that file exists: anybody who can write there
decides how text is cut, and with ``marshal`` more than that. It also writes that file and logs to stderr. So the
packaged dictionary is read here (``words_zh.py``): no cache, no log line, and words that others add to jieba's global
dictionary do not change the data. It takes about 1 s.

``jieba.posseg`` is not used: it cuts differently from ``jieba.cut``, and takes 2 ms a caption to guess flags for words
of no dictionary, which the rules in ``name_rules_zh`` judge by their characters.
"""

import functools
import re
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version

from vcrgen.text.morphemes import with_white_space
from vcrgen.text.segmenters import Segmenter
from vcrgen.text.words_zh import BLOCK, WordCutter

UNKNOWN_TAG = "x"
LATIN_TAG = "eng"
NUMBER_TAG = "m"
# A text can be cut without changing its tokens outside of jieba's blocks, but not before white space: one space after a
# word is no token, and any other white space is one.
_BOUNDARY = re.compile(rf"[^{BLOCK}](?!\s)")


@dataclass(frozen=True)
class Jieba:
    """jieba's tokenizer and its dictionary of part-of-speech flags."""

    cutter: WordCutter  # gives the words that ``jieba.cut`` gives without a user's dictionary
    flags: dict[str, str]  # word -> flag, for each word of the dictionary

    def cut(self, text: str, cut_all: bool = False) -> list[str]:
        """Cut a text into words; spaCy's ChineseTokenizer calls this as if we were the module."""
        return self.cutter.cut(text)[0]

    def flag(self, word: str) -> str:
        """A word's flag; that of a word of no dictionary is ``eng``, ``m`` or ``x``, as in jieba."""
        flag = self.flags.get(word)
        if flag is not None:
            return flag
        if any(char.isdigit() for char in word):
            return NUMBER_TAG
        if any(char.isalpha() for char in word) and unicodedata.normalize("NFKC", word).isascii():  # Ａ as well as A
            return LATIN_TAG
        return UNKNOWN_TAG


@functools.cache
def load_jieba() -> Jieba:
    """Read jieba's packaged dictionary, once a process.

    Returns:
        The words and the flags. Nothing is read from or written to the temporary folder.
    """
    with warnings.catch_warnings():
        # jieba 0.42.1 has unescaped backslashes in patterns (SyntaxWarning from Python 3.12 on) and asks
        # setuptools for its files (a deprecation warning of pkg_resources).
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*", category=UserWarning)
        from jieba import Tokenizer  # type: ignore[import-untyped, unused-ignore]
        from jieba.finalseg.prob_emit import P as EMITS  # type: ignore[import-untyped, unused-ignore]
        from jieba.finalseg.prob_start import P as START  # type: ignore[import-untyped, unused-ignore]
        from jieba.finalseg.prob_trans import P as MOVES  # type: ignore[import-untyped, unused-ignore]

    flags: dict[str, str] = {}

    def frequencies(lines: Iterable[bytes]) -> Iterator[tuple[str, int]]:
        for line in lines:
            word, frequency, flag = line.decode("utf-8").split()
            flags[word] = sys.intern(flag)  # few flags for 350,000 words
            yield word, int(frequency)

    with Tokenizer().get_dict_file() as lines:
        return Jieba(WordCutter(frequencies(lines), START, MOVES, EMITS), flags)


def jieba() -> Segmenter:
    """Jieba with its packaged dictionary, which takes about a second to load."""
    cut = load_jieba().cutter.cut

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        return with_white_space(zip(*cut(text), strict=True), text)

    return Segmenter(f"spacy-{version('spacy')}-zh-jieba-{version('jieba')}", tokenize, _BOUNDARY)
