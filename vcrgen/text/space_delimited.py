"""spaCy's tokens of space-delimited texts, with the tokens of each piece cached.

spaCy cuts a text at its spaces, and each piece by rules. Then it looks for its special cases, as ":)" or "a.m.", among
the tokens of the whole text. So the tokens of a piece ("(U.S.),") depend on its neighbours only where a special case
could reach over the space between them: where the last token before the space and the first one after it stand side by
side in a special case, as "a" and "." do in "a.m.". A text without such a place has the tokens of its pieces; any other
one is given to spaCy whole.

The cache holds for each piece if such a place may be before or after it, and its tokens if they are several. So spaCy
tokenises it once, unless it is longer than ``MAX_CACHED_LENGTH`` characters, or occurs again after the cache was
cleared at ``MAX_STRINGS`` pieces or strings of spaCy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from vcrgen.text.pipelines import import_spacy

if TYPE_CHECKING:
    from spacy.tokens import Doc

# spaCy keeps every string; beyond this number a new tokenizer is made, so that the memory of a stream stays flat.
MAX_STRINGS = 200_000
LONGEST_SUFFIX = 16  # characters; spaCy's have five at most, but for a run of dots
MAX_CACHED_LENGTH = 50  # characters of a cached piece; longer ones hardly repeat

# Of blank pipelines: spaCy's tokenizer by rules, as its own one of some languages needs a package, such as Pyvi.
BY_RULES = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}

Cut = tuple[list[str], list[int]]
"""Tokens, and the character offset of each."""

# Properties of a piece, as bits of a byte: it has several tokens; a special case may begin with its last token and
# go on after the space; one that began before the space may go on with its first token. And a byte for white space that
# is no single space between two pieces: spaCy makes tokens of it, which depend on its neighbours.
_SEVERAL, _BEGINS, _GOES_ON, _WHITE = 1, 2, 4, 8
_SEVERAL_TOKENS = re.compile(b"[\x01\x03\x05\x07]")
_NOT_APART = re.compile(b"[\x02\x03\x06\x07][\x04-\x07]|\x08")


def texts_and_starts(doc: Doc) -> Cut:
    """Read from the document's arrays: a third faster than a ``Token`` object for each token."""
    from spacy.attrs import IDX, ORTH

    text_of = doc.vocab.strings.__getitem__
    hashes, starts = doc.to_array([ORTH, IDX]).T.tolist()
    return list(map(text_of, hashes)), starts


class WordTokenizer:
    """Equals the tokenizer of a language's blank spaCy pipeline, tokens of white space included, but is faster.

    Texts of plain words take about half of its time, short captions with their punctuation three quarters.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self._renew()

    def _renew(self) -> None:
        self._tokenizer = _rule_tokenizer(self._code)
        self._strings = self._tokenizer.vocab.strings
        self._most = len(self._strings) + MAX_STRINGS
        self._pieces = _Pieces(self._tokenizer)

    def __call__(self, text: str) -> Cut:
        """Tokens as spaCy's tokenizer gives them, and their starts."""
        if len(self._strings) > self._most:
            self._renew()
        texts = text.split(" ")
        if len(texts) == 1 and len(text) > MAX_CACHED_LENGTH:  # it has no neighbours
            return texts_and_starts(self._tokenizer(text))
        kinds = bytes(map(self._pieces.__getitem__, texts))
        if _NOT_APART.search(kinds):
            return texts_and_starts(self._tokenizer(text))
        starts = list(accumulate([len(piece) + 1 for piece in texts[:-1]], initial=0))
        for place in reversed([several.start() for several in _SEVERAL_TOKENS.finditer(kinds)]):
            at = starts[place]
            tokens, offsets = self._pieces.cut(texts[place])
            texts[place : place + 1] = tokens
            starts[place : place + 1] = [at + offset for offset in offsets]
        return texts, starts


class _Pieces(dict[str, int]):
    """Properties of the pieces between single spaces; a new piece is tokenised by spaCy."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._plain = _without_special_cases(tokenizer)
        pairs = _pairs_of_special_cases(tokenizer, self._plain)
        self._begin, self._go_on = {first for first, _ in pairs}, {second for _, second in pairs}
        self._cuts: dict[str, Cut] = {}  # of pieces of several tokens

    def __missing__(self, piece: str) -> int:
        if not piece or piece[0].isspace() or piece[-1].isspace():
            return _WHITE
        cut = texts_and_starts(self._tokenizer(piece))
        # Special cases are looked for among tokens of which some may be special cases already.
        texts, plain = cut[0], [token.text for token in self._plain(piece)]
        kind = _SEVERAL * (len(texts) > 1)
        kind |= _BEGINS * (not self._begin.isdisjoint((texts[-1], plain[-1])))
        kind |= _GOES_ON * (not self._go_on.isdisjoint((texts[0], plain[0])))
        if len(piece) <= MAX_CACHED_LENGTH:
            if len(self) >= MAX_STRINGS:
                self.clear()
                self._cuts.clear()
            self[piece] = kind
            if kind & _SEVERAL:
                self._cuts[piece] = cut
        return kind

    def cut(self, piece: str) -> Cut:
        """Tokens and starts of a piece, as if it were a whole text; kept for pieces of several tokens."""
        return self._cuts.get(piece) or texts_and_starts(self._tokenizer(piece))


def _rule_tokenizer(code: str) -> Any:
    """SpaCy's tokenizer by the rules of a language, without the pipeline around it, which takes as long to make."""
    import_spacy()
    from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found] # compiled, and without stubs
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, get_lang_class
    from spacy.vocab import create_vocab

    language = get_lang_class(code).Defaults
    assert language.prefixes and language.suffixes and language.infixes
    return Tokenizer(
        create_vocab(code, language),
        rules=language.tokenizer_exceptions,
        prefix_search=compile_prefix_regex(language.prefixes).search,
        suffix_search=_near_the_end(compile_suffix_regex(language.suffixes).search),
        infix_finditer=compile_infix_regex(language.infixes).finditer,
        token_match=language.token_match,
        url_match=language.url_match,
    )


def _near_the_end(search: Callable[..., re.Match[str] | None]) -> Callable[[str], re.Match[str] | None]:
    """SpaCy's search for a suffix, without its tries at places that no suffix begins at.

    A run of a mark loses one mark after another, and the search would try every place of what is left each time.
    """

    def find(text: str) -> re.Match[str] | None:
        start = len(text) - LONGEST_SUFFIX
        if start > 0:
            match = search(text, start)
            if match is None or match.start() > start:
                return match  # a longer run of dots would match from the first of these places on
        return search(text)

    return find


def _without_special_cases(tokenizer: Any) -> Any:
    """A tokenizer of spaCy with the same rules and no special case."""
    rules = {name: getattr(tokenizer, name) for name in ("prefix_search", "suffix_search", "infix_finditer")}
    same = {name: getattr(tokenizer, name) for name in ("token_match", "url_match")}
    return type(tokenizer)(tokenizer.vocab, None, **rules, **same)


def _pairs_of_special_cases(tokenizer: Any, plain: Any) -> set[tuple[str, str]]:
    """Pairs of adjacent tokens in the special cases that spaCy looks for among the tokens of a whole text.

    These are the ones that its other rules would cut, or that hold a space.
    """
    cut_by_rule = (tokenizer.find_prefix, tokenizer.find_infix, tokenizer.find_suffix)
    cases = [case for case in tokenizer.rules if " " in case or any(find(case) for find in cut_by_rule)]
    return {pair for case in cases for pair in pairwise(token.text for token in plain(case))}
