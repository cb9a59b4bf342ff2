"""Validation of the log-probabilities of given answers, token by token.

A candidate opens the model's turn, right after the prompt, and exactly its tokens count: not the prompt's, and not the
end of the turn.
"""

import math
from collections.abc import Iterable, Sequence

from vcrgen.models.base import RequestProblem, TokenLogprobs

NO_LOGPROBS, BOUNDARY, OTHER_TEXT, NO_TOKENS = "no_logprobs", "token_boundary", "other_text", "no_tokens"
SAME_START = "same_start"
UNTRUSTED = {NO_LOGPROBS, BOUNDARY, OTHER_TEXT}  # what says something of who computes them, not of an answer
# No model writes this. One that gives it the same log-probability as another answer does not compute any.
ABSURD = "qzx jvwk 7%% zqj"
LOWEST = -9999.0  # stands for a probability of 0, whose logarithm JSON cannot say; vLLM writes the same
_ROUNDING = 1e-3  # so far above 0 may a sum of rounded figures be
_UNKNOWN = "\ufffd"  # in place of a character of which a token holds a part


def candidate_start(prompt: Sequence[int], whole: Sequence[int]) -> int:
    """Position of a candidate's first token after those of the prompt.

    Raises:
        RequestProblem: The candidate has no tokens, or the prompt's last token changes when the candidate follows.
    """
    if list(whole[: len(prompt)]) != list(prompt):
        raise RequestProblem(
            BOUNDARY, "the prompt's tokens change when an answer follows, so an answer has none of its own"
        )
    if len(whole) == len(prompt):
        raise RequestProblem(NO_TOKENS, "an answer of zero tokens has no log-probability")
    return len(prompt)


def validate_tokens(tokens: Iterable[tuple[str, object]], text: str) -> TokenLogprobs:
    """Validate the log-probabilities of a candidate's tokens.

    Args:
        tokens: Each with the natural logarithm of its probability.
        text: The candidate, which they have to spell but for spaces; no token may hold parts of two lines.

    Raises:
        RequestProblem: They spell another text, or the figures are not logarithms of probabilities.
    """
    logprobs = tuple((token, _logprob(value)) for token, value in tokens)
    spelt = "".join(token for token, _ in logprobs)
    if not _spells(spelt, text):
        raise RequestProblem(OTHER_TEXT, "the tokens whose log-probabilities came do not spell the answer")
    if any(token.rpartition("\n")[2].strip() for token, _ in logprobs if "\n" in token):
        raise RequestProblem(BOUNDARY, "one token holds the end of a line and the beginning of the next")
    return logprobs


def validate_labels(first: Iterable[tuple[str, object]], labels: Sequence[str]) -> tuple[float | None, ...]:
    """Find labels among the most probable first tokens.

    Args:
        first: Tokens, each with the natural logarithm of its probability.
        labels: The labels; spaces around a token do not count, and the more probable of two tokens is taken.

    Returns:
        The log-probability of each label; None if it is not among the tokens.

    Raises:
        RequestProblem: The figures are not logarithms of probabilities, or these add up to more than 1.
    """
    logprobs = [(token.strip(), _logprob(value)) for token, value in first]
    if math.fsum(math.exp(value) for _, value in logprobs) > 1 + _ROUNDING * max(len(logprobs), 1):
        raise RequestProblem(NO_LOGPROBS, "the probabilities of the first token add up to more than 1")
    return tuple(max((value for token, value in logprobs if token == label), default=None) for label in labels)


def require_different_logprobs(likely: TokenLogprobs, absurd: TokenLogprobs) -> None:
    """Require different mean log-probabilities of a candidate and an absurd text.

    Raises:
        RequestProblem: They are the same: figures, but no measurement.
    """
    means = [math.fsum(value for _, value in tokens) / len(tokens) for tokens in (likely, absurd)]
    if math.isclose(*means, rel_tol=1e-6, abs_tol=1e-9):
        raise RequestProblem(NO_LOGPROBS, "an absurd answer gets the same log-probability as the right one")


def split_at_line_ends(tokens: TokenLogprobs) -> tuple[TokenLogprobs, ...]:
    """Split the tokens of a candidate into lines, without tokens that are only a line end."""
    lines: list[list[tuple[str, float]]] = [[]]
    for token, value in tokens:
        if token.strip("\n") or "\n" not in token:
            lines[-1].append((token, value))
        lines += ([] for _ in range(token.count("\n")))
    return tuple(map(tuple, lines))


def _logprob(value: object) -> float:
    # Compared before it is made a float, for which a whole number may be too large; NaN is not equal to itself.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value > _ROUNDING:
        raise RequestProblem(NO_LOGPROBS, "what came are not logarithms of probabilities")
    return float(min(max(value, LOWEST), 0.0))


def _spells(spelt: str, text: str) -> bool:
    """Return whether tokens spell a text; a token with a part of a character matches any text."""
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
        _, separator, left = left.partition(part) if part else ("", True, left)
        if not separator:
            return False
    return True
