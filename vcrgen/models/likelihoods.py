"""Log-probabilities of given answers, token by token: what is believed of them, whoever computes them.

A candidate opens the model's turn, right after the prompt, and exactly its tokens count: not the prompt's, and not the
end of the turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from vcrgen.models.base import RequestProblem, TokenLogprobs

NO_LIKELIHOODS, BOUNDARY, OTHER_TEXT, NO_TOKENS = "no_likelihoods", "token_boundary", "other_text", "no_tokens"
SAME_START = "same_start"
NOT_BELIEVED = {NO_LIKELIHOODS, BOUNDARY, OTHER_TEXT}  # what says something of who computes them, not of an answer
# No model writes this. One that gives it the same log-probability as another answer does not compute any.
ABSURD = "qzx jvwk 7%% zqj"
LOWEST = -9999.0  # stands for a probability of 0, whose logarithm JSON cannot say; vLLM writes the same
_ROUNDING = 1e-3  # so far above 0 may a sum of rounded figures be
_UNKNOWN = "\ufffd"  # in place of a character of which a token holds a part


def candidate_start(prompt: Sequence[int], whole: Sequence[int]) -> int:
    """Where a candidate's tokens begin in those of the prompt and the candidate.

    Raises:
        RequestProblem: The candidate has no tokens, or the prompt's last token is another one with a candidate behind
            it, so that nobody can say which tokens are the candidate's.
    """
    if list(whole[: len(prompt)]) != list(prompt):
        raise RequestProblem(
            BOUNDARY, "the prompt's tokens change when an answer follows, so an answer has none of its own"
        )
    if len(whole) == len(prompt):
        raise RequestProblem(NO_TOKENS, "an answer of zero tokens has no log-probability")
    return len(prompt)


def checked_tokens(tokens: Iterable[tuple[str, object]], text: str) -> TokenLogprobs:
    """The tokens of a candidate with their log-probabilities, if they can be.

    Args:
        tokens: Each with the natural logarithm of its probability.
        text: The candidate, which they have to spell. Spaces do not count, as some tokenizers keep them elsewhere; line
            ends do, and no token holds a part of two lines.

    Raises:
        RequestProblem: They spell another text, or the figures are not logarithms of probabilities.
    """
    found = tuple((token, _logprob(value)) for token, value in tokens)
    spelt = "".join(token for token, _ in found)
    if not _spells(spelt, text):
        raise RequestProblem(OTHER_TEXT, "the tokens whose log-probabilities came do not spell the answer")
    if any(token.rpartition("\n")[2].strip() for token, _ in found if "\n" in token):
        raise RequestProblem(BOUNDARY, "one token holds the end of a line and the beginning of the next")
    return found


def checked_labels(first: Iterable[tuple[str, object]], labels: Sequence[str]) -> tuple[float | None, ...]:
    """The log-probabilities of labels out of those of the likeliest first tokens of a turn.

    Args:
        first: Tokens, each with the natural logarithm of its probability.
        labels: What is looked for; a space around a token does not count, and the likelier of two tokens is taken.

    Returns:
        For each label its log-probability, or None where it is not among the tokens.

    Raises:
        RequestProblem: The figures are not logarithms of probabilities, or these add up to more than 1.
    """
    found = [(token.strip(), _logprob(value)) for token, value in first]
    if math.fsum(math.exp(value) for _, value in found) > 1 + _ROUNDING * max(len(found), 1):
        raise RequestProblem(NO_LIKELIHOODS, "the probabilities of the first token add up to more than 1")
    return tuple(max((value for token, value in found if token == label), default=None) for label in labels)


def tell_apart(likely: TokenLogprobs, absurd: TokenLogprobs) -> None:
    """See that a candidate and an absurd text have different log-probabilities a token.

    Raises:
        RequestProblem: They are the same: figures, but no measurement.
    """
    means = [math.fsum(value for _, value in tokens) / len(tokens) for tokens in (likely, absurd)]
    if math.isclose(*means, rel_tol=1e-6, abs_tol=1e-9):
        raise RequestProblem(NO_LIKELIHOODS, "an absurd answer gets the same log-probability as the right one")


def lines_of(tokens: TokenLogprobs) -> tuple[TokenLogprobs, ...]:
    """The tokens of each line of a candidate; those that are nothing but the end of a line belong to none."""
    lines: list[list[tuple[str, float]]] = [[]]
    for token, value in tokens:
        if token.strip("\n") or "\n" not in token:
            lines[-1].append((token, value))
        lines += ([] for _ in range(token.count("\n")))
    return tuple(map(tuple, lines))


def _logprob(value: object) -> float:
    # Compared before it is made a float, for which a whole number may be too large; NaN is not equal to itself.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value > _ROUNDING:
        raise RequestProblem(NO_LIKELIHOODS, "what came are not logarithms of probabilities")
    return float(min(max(value, LOWEST), 0.0))


def _spells(spelt: str, text: str) -> bool:
    """Whether tokens spell a text; a token that holds a part of a character is trusted with any text in its place."""
    if spelt.count("\n") != text.count("\n"):
        return False
    parts = ["".join(part.split()) for part in spelt.split(_UNKNOWN)]
    left = "".join(text.split())
    if len(parts) == 1:
        return parts[0] == left
    if not (left.startswith(parts[0]) and left.endswith(parts[-1]) and len(left) > len(parts[0]) + len(parts[-1])):
        return False
    left = left[len(parts[0]) : len(left) - len(parts[-1])]
    for part in parts[1:-1]:
        _, found, left = left.partition(part) if part else ("", True, left)
        if not found:
            return False
    return True
