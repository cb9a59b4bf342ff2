"""jieba, loaded from its packaged dictionary alone.

jieba's own start-up reads ``jieba.cache`` in the temporary folder when there is such a file: anybody who can
write there decides how our text is cut, and with ``marshal`` more than that. It also writes that file and
logs to stderr. So we read the packaged dictionary ourselves, into a tokenizer of our own: no cache, no log
line, and words that others add to jieba's global dictionary do not change the data. About 1 s.

``jieba.posseg`` stays out: it cuts differently from ``jieba.cut``, and it costs 2 ms a caption to guess
flags for words of no dictionary, which the rules in ``name_rules_zh`` judge by their characters.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

UNKNOWN_TAG = "x"
LATIN_TAG = "eng"
NUMBER_TAG = "m"

# As in jieba: what is cut into words together, and the white space between.
_BLOCK = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]+)")
_SPACE = re.compile(r"(\r\n|\s)")
LONGEST_REMEMBERED = 8  # characters; longer runs of single characters hardly come again


@dataclass(frozen=True)
class Jieba:
    """jieba's dictionary, and texts cut by it.

    ``cut`` gives the words of ``jieba.Tokenizer.cut``, three times as fast: the same sums of the same logarithms in the
    same order, but each logarithm is taken once, and what the hidden Markov model says of a short run is remembered.
    """

    weights: dict[str, float | None]  # word -> logarithm of its share of all words; None for the beginning of one
    unknown: float  # the same of a character that is no word
    flags: dict[str, str]  # word -> its part of speech, for each word of the dictionary

    def cut(self, text: str, cut_all: bool = False) -> Iterator[str]:
        """Cut a text into words; spaCy's ChineseTokenizer calls this as if we were the module."""
        for number, block in enumerate(_BLOCK.split(text)):
            if number % 2:
                yield from self._words(block)
            elif block:
                for other, part in enumerate(_SPACE.split(block)):
                    yield from (part,) if other % 2 else part

    def _words(self, block: str) -> Iterator[str]:
        """The likeliest words of a block; what is left of single characters between them goes to the model."""
        ends, start, single = self._ends(block), 0, 0
        while start < len(block):
            end = ends[start]
            if end - start > 1:
                if single < start:
                    yield from self._characters(block[single:start])
                yield block[start:end]
                single = end
            start = end
        if single < start:
            yield from self._characters(block[single:])

    def _ends(self, block: str) -> list[int]:
        """For each character, where the word that begins with it ends if the rest of the block is cut best."""
        find, length = self.weights.get, len(block)
        sums = [0.0] * (length + 1)
        ends = [0] * length
        for start in range(length - 1, -1, -1):
            end = best_end = start + 1
            part = block[start]
            best = -math.inf
            while (weight := find(part, 0.0)) != 0.0:  # no word has all of the share
                if weight is not None and weight + sums[end] >= best:  # of two that are equal, the longer word
                    best, best_end = weight + sums[end], end
                end += 1
                if end > length:
                    break
                part = block[start:end]
            sums[start] = best if best > -math.inf else self.unknown + sums[best_end]
            ends[start] = best_end
        return ends

    def _characters(self, run: str) -> Sequence[str]:
        """The words of a run of characters that the dictionary leaves single."""
        if len(run) == 1 or self.weights.get(run):
            return run
        return _remembered(run) if len(run) <= LONGEST_REMEMBERED else _by_model(run)

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
        The dictionary. Nothing is read from or written to the temporary folder.
    """
    with warnings.catch_warnings():
        # jieba 0.42.1 has unescaped backslashes in patterns (SyntaxWarning from Python 3.12 on) and asks
        # setuptools for its files (a deprecation warning of pkg_resources).
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*", category=UserWarning)
        import jieba  # type: ignore[import-untyped, unused-ignore]

    tokenizer = jieba.Tokenizer()
    counts, total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    unknown = -math.log(total)
    weights = {word: math.log(count) + unknown if count else None for word, count in counts.items()}
    flags = {}
    with tokenizer.get_dict_file() as lines:
        for line in lines:
            word, _, flag = line.decode("utf-8").split()
            flags[word] = flag
    return Jieba(weights, unknown, flags)


def _by_model(run: str) -> tuple[str, ...]:
    from jieba import finalseg

    return tuple(finalseg.cut(run))


_remembered = functools.lru_cache(maxsize=1 << 16)(_by_model)
