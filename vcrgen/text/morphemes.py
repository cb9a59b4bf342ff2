"""Morphological analysis by a dictionary: the common part of the segmenters and pipelines of Japanese and Korean.

An analyser finds the most probable path through its dictionary, with the part of speech of each morpheme. It only adds
integers, so the words are the same on every machine.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

Role = Literal["person", "place", "name", "unknown", "number", "counter", "noun", "affix", "other"]
"""The role of a part of speech in the rules of names. An affix is written beside a noun and belongs to it."""

# Maximal characters of one analysis: the programs refuse long texts. No sentence of a caption is as long.
MAX_PART = 1000
# Sentences are analysed one by one, so that a long text can be cut after each without changing its words.
SENTENCE_END = re.compile(r"(?:[。！？!?\n]|\.(?=\s))\s*")
_SPACE = re.compile(r"\s")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Morpheme(NamedTuple):
    """A morpheme in a text."""

    text: str
    start: int  # offset of its first character in the text
    tag: str  # its part of speech in the dictionary


@dataclass(frozen=True, slots=True)
class Analyser:
    """Cuts texts into morphemes."""

    name: str  # program and dictionary with their versions, as in signatures
    analyse: Callable[[str], Iterable[tuple[str, str]]]  # of a short text without line breaks: surfaces and tags
    role: Callable[[str], Role]  # of a tag
    continues: Callable[[str, str], bool]  # of neighbouring tags: true if the second goes on with the first's word
    lock: threading.Lock  # held while a text is analysed: the programs work on one at a time

    def __call__(self, text: str) -> list[Morpheme]:
        """The morphemes of a text, in its order, without white space."""
        # Each character is replaced by one, so that offsets stay.
        plain = _UNREADABLE.sub("\ufffd", _SPACE.sub(" ", text))
        morphemes: list[Morpheme] = []
        for start, end in _parts(text):
            with self.lock:
                analysed = list(self.analyse(plain[start:end]))
            for surface, tag in analysed:
                if surface and not surface.isspace():
                    start = plain.index(surface, start, end)
                    morphemes.append(Morpheme(text[start : start + len(surface)], start, tag))
                    start += len(surface)
        return morphemes


def _parts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*(match.end() for match in SENTENCE_END.finditer(text)), len(text)):
        while start < end:
            stop = min(end, start + MAX_PART)
            yield start, stop
            start = stop


class MorphemeTokenizer:
    """A tokenizer for spaCy that sets each token's tag."""

    def __init__(self, vocab: Vocab, analyser: Analyser) -> None:
        self._vocab, self._analyser = vocab, analyser
        self.signature = analyser.name

    def __call__(self, text: str) -> Doc:
        """The tokens of a text; white space other than one space after a word is a token without a tag."""
        from spacy.tokens import Doc

        morphemes = self._analyser(text)
        words, starts = with_white_space(((word, start) for word, start, _ in morphemes), text)
        spaces = [text.startswith(" ", start + len(word)) for word, start in zip(words, starts, strict=True)]
        tags = {start: tag for _, start, tag in morphemes}
        return Doc(self._vocab, words=words, spaces=spaces, tags=[tags.get(start, "") for start in starts])


def with_white_space(words: Iterable[tuple[str, int]], text: str) -> tuple[list[str], list[int]]:
    """Words and offsets; white space is a token, except one space after a word (as in spaCy)."""
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
