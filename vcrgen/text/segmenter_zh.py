"""Chinese tokens: the words of spaCy's Chinese tokenizer with jieba, by the same rule, without spaCy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version

from vcrgen.text.jieba_zh import load_jieba
from vcrgen.text.segmenters import Segmenter
from vcrgen.text.words_zh import BLOCK

# A text can be cut without changing its tokens outside of what jieba calls a block, but not before white space: one
# space after a word is no token, and what else there is of it is one.
_BOUNDARY = re.compile(rf"[^{BLOCK}](?!\s)")


def jieba() -> Segmenter:
    """Jieba with its packaged dictionary, which takes about a second to load."""
    cut = load_jieba().cutter.cut

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        return _with_white_space(zip(*cut(text), strict=True), text)

    return Segmenter(f"spacy-{version('spacy')}-zh-jieba-{version('jieba')}", tokenize, _BOUNDARY)


def _with_white_space(words: Iterable[tuple[str, int]], text: str) -> tuple[list[str], list[int]]:
    """Words and offsets; the white space between two is a token, but for one space after a word (as in spaCy)."""
    texts: list[str] = []
    starts: list[int] = []
    position = 0
    for word, start in words:
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
