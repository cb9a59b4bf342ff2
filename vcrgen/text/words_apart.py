"""spaCy's tokens of texts whose words are written apart, with the tokens of words remembered.

spaCy cuts a text at its spaces, and each piece by rules. Then it looks for its special cases, as ":)" or "a.m.", among
the tokens of the whole text. So the tokens of a piece depend on its neighbours only where a special case could reach
over the space between them: where the tokens on both sides of the space are parts of special cases. A word of letters
that is no such part ("river", but not "a", which is one of "a.m.") has the same tokens in every text, and so has what
stands between two such words ("(U.S.),"). Both are asked of spaCy once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, count
from operator import add
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# spaCy keeps every string that it has seen; beyond this many a fresh tokenizer is made, so that a stream stays flat.
MOST_STRINGS = 200_000
LONGEST_REMEMBERED = 50  # characters of a piece that is remembered; longer ones hardly come again

Cut = tuple[list[str], list[int]]
"""Tokens, and the character offset of each."""


def texts_and_starts(doc: Doc) -> Cut:
    """Read from the document's arrays: a third faster than a ``Token`` object for each token."""
    from spacy.attrs import IDX, ORTH

    text_of = doc.vocab.strings.__getitem__
    hashes, starts = doc.to_array([ORTH, IDX]).T.tolist()
    return list(map(text_of, hashes)), starts


class WordTokenizer:
    """Gives what a blank spaCy pipeline's tokenizer gives, tokens of white space included, in a quarter of its time."""

    def __init__(self, make: Callable[[], Language]) -> None:
        self._make = make
        self._renew()

    def _renew(self) -> None:
        self._nlp = self._make()
        self._most = len(self._nlp.vocab.strings) + MOST_STRINGS
        self._parts = _parts_of_special_cases(self._nlp)
        self._words: set[str] = set()  # words of letters that are one token in every text
        self._between: dict[str, Cut] = {}  # what stood between two of them, and its tokens

    def __call__(self, text: str) -> Cut:
        """The tokens of a text."""
        if len(self._nlp.vocab.strings) > self._most:
            self._renew()
        pieces = text.split(" ")
        is_word = bytes(map(self._words.__contains__, pieces))
        offsets = list(map(add, accumulate(map(len, pieces), initial=0), count()))
        texts: list[str] = []
        starts: list[int] = []
        done = 0
        while (first := is_word.find(0, done)) >= 0:
            last = is_word.find(1, first)
            end = last if last >= 0 else len(pieces)
            stretch, at = " ".join(pieces[first:end]), offsets[first]
            cut = self._between.get(stretch) or self._ask(stretch)
            if cut is None:
                return texts_and_starts(self._nlp.tokenizer(text))
            texts += pieces[done:first]
            texts += cut[0]
            starts += offsets[done:first]
            starts += [at + start for start in cut[1]]
            done = end
        return texts + pieces[done:], starts + offsets[done : len(pieces)]

    def _ask(self, stretch: str) -> Cut | None:
        """The tokens of what stands between two words; learns the words in it that were not known.

        None for white space that is no single space between two pieces: spaCy makes tokens of it, which depend on what
        is beside it.
        """
        pieces = stretch.split(" ")
        if any(not piece or piece[0].isspace() or piece[-1].isspace() for piece in pieces):
            return None
        texts, starts = texts_and_starts(self._nlp.tokenizer(stretch))
        tokens, at, learned = dict(zip(starts, texts, strict=True)), 0, False
        for piece in pieces:
            if piece.isalpha() and tokens.get(at) == piece and piece not in self._parts:
                self._words.add(piece)
                learned = True
            at += len(piece) + 1
        if len(pieces) == 1 and not learned and len(stretch) <= LONGEST_REMEMBERED:  # several hardly come again
            if len(self._between) >= MOST_STRINGS:
                self._between.clear()
            self._between[stretch] = texts, starts
        return texts, starts


def _parts_of_special_cases(nlp: Language) -> frozenset[str]:
    """The tokens of which the special cases consist that spaCy looks for among the tokens of a whole text.

    These are the ones that its other rules would cut, or that hold a space.
    """
    own: Any = nlp.tokenizer
    rules = {name: getattr(own, name) for name in ("prefix_search", "suffix_search", "infix_finditer")}
    plain = type(own)(nlp.vocab, None, **rules, token_match=own.token_match, url_match=own.url_match)
    cut_by_rule = (own.find_prefix, own.find_infix, own.find_suffix)
    cases = [case for case in own.rules if " " in case or any(find(case) for find in cut_by_rule)]
    return frozenset(token.text for case in cases for token in plain(case))
