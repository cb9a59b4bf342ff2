"""Tokens without a pipeline: a language's tokenizer alone, for texts of any length.

Captions are short; outputs of models may be long. spaCy's tokenizer of space-delimited words takes quadratic time on a
run of characters without white space ("((((…"), so such a run is cut every `LONGEST_RUN` characters before it is
tokenised. Longer texts are read in pieces, cut where the tokens cannot change.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from vcrgen.core.errors import PipelineError
from vcrgen.core.resources import load_object
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.morphemes import SENTENCE_END, Analyser, with_white_space
from vcrgen.text.pipelines import load_trained, packages_of, segmenter_version
from vcrgen.text.space_delimited import WordTokenizer, texts_and_starts

# Characters; no word, number or URL that a caption shows comes near it.
LONGEST_RUN = 1000
PIECE = 4096

# Where a text of space-delimited words can be cut without changing its tokens: before a word.
_WORD_BOUNDARY = re.compile(r"\s(?=\S)")
_WORD_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1}}}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text."""

    texts: list[str]  # the tokens
    starts: list[int]  # the character offset of each in the text
    beyond_limit: bool = False  # the text continues after the last token, because a limit was reached

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class Segmenter:
    """A tokenizer and its name in signatures."""

    name: str  # the tokenizer and its version, as datasets' signatures give it
    tokenize: Callable[[str], tuple[list[str], list[int]]]  # of a short text: tokens, maybe of white space, and offsets
    boundary: re.Pattern[str]  # matches places where a text can be cut without changing its tokens
    # matches a run of characters that has to be cut, although its tokens may change; None if there are none
    long_run: re.Pattern[str] | None = None

    @property
    def longest_run(self) -> str:
        """The length at which long runs are cut, for a score's signature."""
        return str(LONGEST_RUN) if self.long_run else "whole"

    def __call__(self, text: str, *, limit: int | None = None, spaces: bool = False) -> Tokens:
        """The tokens of a text, in time linear in its length.

        Args:
            limit: Maximal number of tokens.
            spaces: Keep the tokens of white space that spaCy makes of all but single spaces.
        """
        texts: list[str] = []
        starts: list[int] = []
        for offset, piece in self._pieces(text):
            if not spaces and piece.isspace():  # which spaCy makes long tokens of
                continue
            tokens, at = self.tokenize(piece)
            if not spaces and any(map(str.isspace, tokens)):
                at = [start for token, start in zip(tokens, at, strict=True) if not token.isspace()]
                tokens = [token for token in tokens if not token.isspace()]
            texts += tokens
            starts += [offset + start for start in at] if offset else at
            if limit is not None and len(texts) > limit:
                return Tokens(texts[:limit], starts[:limit], beyond_limit=True)
        return Tokens(texts, starts)

    def _pieces(self, text: str) -> Iterator[tuple[int, str]]:
        start = 0
        while start < len(text):
            boundary = self.boundary.search(text, start + PIECE) if len(text) - start > PIECE else None
            end = boundary.end() if boundary else len(text)
            while self.long_run and (run := self.long_run.search(text, start, end)) is not None:
                middle = run.start() + LONGEST_RUN
                yield start, text[start:middle]
                start = middle
            yield start, text[start:end]
            start = end


@cache
def load_segmenter(lang: str, name: str | None = None) -> Segmenter:
    """Load the segmenter of a language, once a process.

    Args:
        lang: A code of the language table.
        name: A trained spaCy pipeline whose tokenizer is used, or None (or ``"builtin"``, or its own name, such as
            ``"jieba"``) for the language's own.

    Raises:
        PipelineError: The language is unknown, the pipeline or a package of the language's extra is not installed, or
            the pipeline is for another language.
    """
    if lang not in LANGUAGES:
        raise PipelineError(f"Unknown language {lang!r}; known: {', '.join(LANGUAGES)}.")
    language = LANGUAGES[lang]
    module, _, function = language.segmenter.rpartition(":")
    if name not in (None, "builtin", function):
        return _trained(lang, str(name))
    with packages_of(language):
        segmenter: Segmenter = load_object(language.segmenter)() if module else _blank(lang)
    return segmenter


def _blank(code: str) -> Segmenter:
    return Segmenter(f"spacy-{version('spacy')}-{code}", WordTokenizer(code), _WORD_BOUNDARY, _WORD_RUN)


def of_morphemes(analyser: Analyser) -> Segmenter:
    """A segmenter whose tokens are morphemes."""

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        return with_white_space(((word, start) for word, start, _ in analyser(text)), text)

    return Segmenter(analyser.name, tokenize, SENTENCE_END)


def _trained(lang: str, name: str) -> Segmenter:
    nlp, full_name = load_trained(name, lang, called="segmenter")
    tokenizer: Any = nlp.tokenizer
    own = load_segmenter(lang)
    rules = (own.boundary, own.long_run)
    if str(getattr(tokenizer, "segmenter", "jieba")) != "jieba":  # pkuseg and single characters: words of white space
        rules = (_WORD_BOUNDARY, None)
    name = f"{segmenter_version(nlp)}@{full_name}"
    return Segmenter(name, lambda text: texts_and_starts(tokenizer(text)), *rules)
