"""Chinese tokens: the words of spaCy's Chinese tokenizer with jieba, by the same rule, without spaCy."""

import re
from collections.abc import Sequence
from importlib.metadata import version

from vcrgen.text.jieba_zh import load_jieba
from vcrgen.text.segmenters import LONGEST_RUN, Segmenter

# A text can be cut without changing its tokens outside of what jieba calls a block.
_BOUNDARY = re.compile(r"[^\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]")
_RUN = re.compile(rf"[\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]{{{LONGEST_RUN + 1}}}")


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
