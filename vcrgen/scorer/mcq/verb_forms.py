"""Verbs by whose form a capital A or I in an output is told from the article and from who speaks.

A describes it, I fits best      # letters: nobody says "describes" of himself, and it is no noun
A dog, I described it            # words
"""

from __future__ import annotations

from vcrgen.scorer.mcq.tokens import Token

_LOOK_LIKE_VERBS = frozenset(
    [
        "always",
        "perhaps",
        "sometimes",
        "besides",
        "afterwards",
        "lens",
        "series",
        "species",
        "sports",
        "news",
        "means",
        "woods",
        "customs",
        "sales",
        "savings",
        "was",
    ]
)
_OF_OTHERS = frozenset(("is", "has", "isn't", "doesn't", "hasn't"))
_OF_SELF = frozenset(
    [
        "am",
        "was",
        "have",
        "had",
        "do",
        "did",
        "will",
        "would",
        "shall",
        "can",
        "could",
        "may",
        "might",
        "must",
        "should",
        "cannot",
        "need",
        "want",
        "see",
        "saw",
        "look",
        "looked",
        "think",
        "thought",
        "find",
        "found",
        "feel",
        "felt",
        "know",
        "knew",
        "believe",
        "consider",
        "considered",
        "prefer",
        "like",
        "give",
        "gave",
        "make",
        "made",
        "get",
        "got",
        "take",
        "took",
        "mean",
        "meant",
        "reach",
        "reached",
        "trust",
        "favour",
        "favor",
        "support",
        "recommend",
        "said",
        "also",
        "still",
        "always",
    ]
)


def is_third_person(word: str) -> bool:
    """Tell whether a word is a verb that speaks of another one, as "fits", by its form; nouns as "glass" are not."""
    if word in _OF_OTHERS:
        return True
    return (
        len(word) > 3
        and word.isalpha()
        and word.endswith("s")
        and word[-2] not in "sui"
        and word not in _LOOK_LIKE_VERBS
    )


def is_first_person(token: Token) -> bool:
    """Tell whether a token behind "I" is a verb that one says of oneself, as "think" or "don't"."""
    word = token.word.lower()
    return word.partition(" ")[0] in _OF_SELF or word.endswith("n't") or token.kind == "answer"
