"""Eligibility: the tokens that may be masked, by one rule for built-in and trained spaCy pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from vcrgen.text.ambiguous import is_ambiguous
from vcrgen.text.markup import is_markup

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# OntoNotes labels that require knowledge rather than reading, and NAME: any name (built-in pipelines).
INELIGIBLE_LABELS = frozenset(
    ["PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "CARDINAL", "NAME"]
)

_WORD_PARTS, _TEXT, _ELIGIBLE = "word_parts", "text", "eligible"  # of a document's own data


def set_entities(doc: Doc, labels: Sequence[str]) -> None:
    """Set a document's entities: adjacent tokens of one label are one entity; tokens labelled "" are in none."""
    from spacy.tokens import Span

    entities, start = [], 0
    for label, run in groupby(labels):
        end = start + sum(1 for _ in run)
        if label:
            entities.append(Span(doc, start, end, label=label))
        start = end
    doc.ents = tuple(entities)


def set_word_parts(doc: Doc, tokens: Iterable[int]) -> None:
    """Set the tokens that go on with the word of the token before them, in languages that do not write words apart."""
    doc.user_data[_WORD_PARTS] = frozenset(tokens)


def cuts_word(span: Span) -> bool:
    """Return true if a span begins or ends inside of a word of several tokens."""
    parts = span.doc.user_data.get(_WORD_PARTS, ())
    return span.start in parts or span.end in parts


def ineligible_reason(token: Token) -> str | None:
    """The reason why a token may not be masked.

    Args:
        token: A token of a document whose entities are set.

    Returns:
        ``"space"``, ``"punct"``, ``"number"``, ``"markup"``, ``"ambiguous"`` (drawn as another text is),
        ``"entity:LABEL"``, or None for an eligible token.
    """
    if token.is_space:
        return "space"
    if not any(char.isalnum() for char in token.text):  # punctuation, symbols, currency signs, emoji
        return "punct"
    if token.like_num or any(char.isdigit() for char in token.text):
        return "number"
    if is_markup(_text_of(token.doc), token.idx, token.idx + len(token)):
        return "markup"
    if is_ambiguous(token.text, token.lang_):
        return "ambiguous"
    if token.ent_type_ in INELIGIBLE_LABELS:
        return f"entity:{token.ent_type_}"
    return None


def _text_of(doc: Doc) -> str:
    """The text of a document, which spaCy joins of its tokens whenever it is asked for."""
    if _TEXT not in doc.user_data:
        doc.user_data[_TEXT] = doc.text
    text: str = doc.user_data[_TEXT]
    return text


def eligible_tokens(sentence: Span) -> frozenset[int]:
    """Positions in the document of a sentence's tokens that may be masked, found once for each document."""
    sentences = sentence.doc.user_data.setdefault(_ELIGIBLE, {})
    if (ends := (sentence.start, sentence.end)) not in sentences:
        sentences[ends] = frozenset(token.i for token in sentence if ineligible_reason(token) is None)
    eligible: frozenset[int] = sentences[ends]
    return eligible


def ngram_starts(eligible: frozenset[int], n: int) -> list[int]:
    """The starts of runs of n consecutive eligible tokens, ascending; the runs may overlap.

    Args:
        eligible: Positions in the document of one sentence's tokens.
        n: Tokens per n-gram, at least 1.
    """
    return [start for start in sorted(eligible) if all(start + offset in eligible for offset in range(1, n))]


def selectable_ngrams(doc: Doc, n: int) -> list[Span]:
    """The n-grams of eligible tokens of all sentences that cut no word, in reading order."""
    starts = (start for sentence in doc.sents for start in ngram_starts(eligible_tokens(sentence), n))
    return [span for start in starts if not cuts_word(span := doc[start : start + n])]
