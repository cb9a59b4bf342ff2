"""Which tokens a mask may cover: one rule for the built-in and for trained spaCy pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# OntoNotes labels that ask for knowledge rather than for reading, and NAME: some name (built-in pipelines).
INELIGIBLE_LABELS = frozenset(
    {
        "PERSON",
        "NORP",
        "FAC",
        "ORG",
        "GPE",
        "LOC",
        "DATE",
        "TIME",
        "PERCENT",
        "MONEY",
        "QUANTITY",
        "CARDINAL",
        "NAME",
    }
)


def ineligible_reason(token: Token) -> str | None:
    """Say why a token may not be covered.

    Args:
        token: a token of a document whose entities are set.

    Returns:
        ``"space"``, ``"punct"``, ``"number"``, ``"entity:LABEL"``, or None for an eligible token.
    """
    if token.is_space:
        return "space"
    if not any(char.isalnum() for char in token.text):  # punctuation, symbols, currency signs, emoji
        return "punct"
    if token.like_num or any(char.isdigit() for char in token.text):
        return "number"
    if token.ent_type_ in INELIGIBLE_LABELS:
        return f"entity:{token.ent_type_}"
    return None


def sentence_ngrams(sentence: Span, n: int) -> list[Span]:
    """List every run of n consecutive eligible tokens of one sentence.

    Args:
        sentence: a sentence of a document whose entities are set.
        n: tokens per n-gram, at least 1.

    Returns:
        Overlapping spans in reading order.
    """
    doc, spans, run = sentence.doc, [], 0
    for token in sentence:
        run = 0 if ineligible_reason(token) else run + 1
        if run >= n:
            spans.append(doc[token.i - n + 1 : token.i + 1])
    return spans


def selectable_ngrams(doc: Doc, n: int) -> list[Span]:
    """List the n-grams of eligible tokens of all sentences, in reading order."""
    return [span for sentence in doc.sents for span in sentence_ngrams(sentence, n)]
