"""jieba, loaded from its packaged dictionary alone, and Chinese tokens by the rule of spaCy's tokenizer, without spaCy.

jieba's own start-up reads ``jieba.cache`` in the temporary folder when there is such a file: anybody who can
write there decides how our text is cut, and with ``marshal`` more than that. It also writes that file and
logs to stderr. So we read the packaged dictionary ourselves, into a tokenizer of our own: no cache, no log
line, and words that others add to jieba's global dictionary do not change the data. About 1 s.

``jieba.posseg`` stays out: it cuts differently from ``jieba.cut``, and it costs 2 ms a caption to guess
flags for words of no dictionary, which the rules in ``name_rules_zh`` judge by their characters.
"""

import functools
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from vcrgen.text.segmenters import LONGEST_RUN, Segmenter

UNKNOWN_TAG = "x"
LATIN_TAG = "eng"
NUMBER_TAG = "m"
# A text can be cut without changing its tokens outside of what jieba calls a block.
_BOUNDARY = re.compile(r"[^\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]")
_RUN = re.compile(rf"[\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]{{{LONGEST_RUN + 1}}}")


@dataclass(frozen=True)
class Jieba:
    """jieba's tokenizer and its dictionary of part-of-speech flags."""

    tokenizer: Any  # a ``jieba.Tokenizer``; ``cut`` gives what ``jieba.cut`` gives without a user's dictionary
    flags: dict[str, str]  # word -> flag, for each word of the dictionary

    def cut(self, text: str, cut_all: bool = False) -> Iterator[str]:
        """Cut a text into words; spaCy's ChineseTokenizer calls this as if we were the module."""
        words: Iterator[str] = self.tokenizer.cut(text, cut_all=cut_all)
        return words

    def flag(self, word: str) -> str:
        """Return a word's flag; what is not in the dictionary is ``eng``, ``m`` or ``x``, as in jieba."""
        known = self.flags.get(word)
        if known is not None:
            return known
        if any(char.isdigit() for char in word):
            return NUMBER_TAG
        if any(char.isalpha() for char in word) and unicodedata.normalize("NFKC", word).isascii():  # Ａ as well as A
            return LATIN_TAG
        return UNKNOWN_TAG


@functools.cache
def load_jieba() -> Jieba:
    """Read jieba's packaged dictionary, once a process.

    Returns:
        The tokenizer and the flags. Nothing is read from or written to the temporary folder.
    """
    with warnings.catch_warnings():
        # jieba 0.42.1 has unescaped backslashes in patterns (SyntaxWarning from Python 3.12 on) and asks
        # setuptools for its files (a deprecation warning of pkg_resources).
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*", category=UserWarning)
        import jieba  # type: ignore[import-untyped, unused-ignore]

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    flags = {}
    with tokenizer.get_dict_file() as lines:
        for line in lines:
            word, _, flag = line.decode("utf-8").split()
            flags[word] = flag
    return Jieba(tokenizer, flags)


def jieba() -> Segmenter:
    """Jieba with its packaged dictionary, which takes about a second to load."""
    cut = load_jieba().cut

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        return _align([word for word in cut(text) if word and not word.isspace()], text)

    return Segmenter(f"spacy-{version('spacy')}-zh-jieba-{version('jieba')}", tokenize, _BOUNDARY, _RUN)


def _align(words: Sequence[str], text: str) -> tuple[list[str], list[int]]:
    """Offsets of words; the white space between two is a token, but for one space after a word (as in spaCy)."""
    texts: list[str] = []
    starts: list[int] = []
    position = 0
    for word in words:
        start = text.index(word, position)
        if start > position:
            texts.append(text[position:start])
            starts.append(position)
        texts.append(word)
        starts.append(start)
        position = start + len(word)
        position += text.startswith(" ", position)
    if position < len(text):
        texts.append(text[position:])
        starts.append(position)
    return texts, starts
