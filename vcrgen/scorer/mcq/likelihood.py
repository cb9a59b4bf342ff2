"""The likeliest of the options, by several normalisations of the same option log-probabilities.

    logprobs = [[-0.1, -0.2], [-1.5], [-0.9, -2.0, -0.4], [-3.0]]     # of each option's tokens
    found = likelihood_scores(logprobs, answer=0, texts=("a cat", "dog", "a horse", "cow"))
    found.scores["lbs"]                                               # 1.0: option 0 has the highest mean

Figures of a file are checked before they are used; those that can be no log-probabilities have a name by which they are
counted.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_TOKENS = 4096  # of one option
ROUNDING = 1e-3  # so far above 0 may a logarithm of a probability be that was rounded
_LOWEST = -1e9  # below this, a figure is none that a model computes; "a probability of 0" is often -9999
# What may be wrong with likelihoods, by name. Such likelihoods are not used.
NOT_USED = NOT_THE_OPTIONS, NOT_LOGARITHMS, NO_TOKENS = "not_four", "not_logarithms", "no_tokens"
OTHER_COUNTS = "token_counts"  # other ones than in another line; the item is scored as wrong
TIED = "tied"  # scored as wrong; many say that whoever computed them gave no real likelihoods
Logprobs = tuple[tuple[float, ...], ...]


class Likelihoods(NamedTuple):
    """Scores of an item by its option log-probabilities.

    Attributes:
        scores: By name, 1 where the right option is the single likeliest one: ``lbs`` by the mean log-probability of
            a token, ``lbs_sum`` by the sum, ``lbs_byte`` and ``lbs_char`` by the sum over the bytes (UTF-8) and the
            characters of the option's text, and ``lbs_pmi`` by the sum minus the sum without the picture. Then
            ``confidence``, the probability of the likeliest option by a softmax of the means, and ``brier``, the sum
            of the squared differences of the probabilities from 1 for the right option and 0 for the others.
        tied: True where two options have the highest mean, which is no choice.
    """

    scores: dict[str, float]
    tied: bool


def likelihood_scores(
    logprobs: Sequence[Sequence[float]],
    *,
    answer: int,
    texts: Sequence[str],
    text_only: Sequence[Sequence[float]] | None = None,
) -> Likelihoods:
    """Score an item by the log-probabilities of its options.

    Args:
        logprobs: Of each option, in the dataset's order, the natural logarithms of its tokens' probabilities, as
            `parse_logprobs` gives them.
        answer: The right option, from 0.
        text_only: The same log-probabilities without the picture; without them ``lbs_pmi`` is left out.
    """
    sums = [math.fsum(tokens) for tokens in logprobs]
    means = [total / len(tokens) for total, tokens in zip(sums, logprobs, strict=True)]
    measures = {
        "lbs": means,
        "lbs_sum": sums,
        "lbs_byte": [
            total / len(text.encode("utf-8", "surrogatepass")) for total, text in zip(sums, texts, strict=True)
        ],
        "lbs_char": [total / len(text) for total, text in zip(sums, texts, strict=True)],
    }
    if text_only is not None:
        measures["lbs_pmi"] = [total - math.fsum(tokens) for total, tokens in zip(sums, text_only, strict=True)]
    choices = {name: likeliest(values) for name, values in measures.items()}
    shares = softmax(means)
    scores = {name: float(choice == answer) for name, choice in choices.items()}
    scores["confidence"] = max(shares)
    scores["brier"] = math.fsum((share - (number == answer)) ** 2 for number, share in enumerate(shares))
    return Likelihoods(scores, choices["lbs"] is None)


def likeliest(values: Sequence[float]) -> int | None:
    """The place of the highest value, from 0; None where two are equally high, as a tie is no choice."""
    highest = max(values)
    return None if values.count(highest) > 1 else values.index(highest)


def softmax(values: Sequence[float]) -> list[float]:
    """Probabilities in proportion to e to the power of each value."""
    highest = max(values)
    weights = [math.exp(value - highest) for value in values]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def parse_logprobs(value: Any, options: int) -> Logprobs | str:
    """Log-probabilities as a file gives them, for each option a list of figures, or the name of what is wrong."""
    if not isinstance(value, list) or len(value) != options:
        return NOT_THE_OPTIONS
    logprobs = []
    for tokens in value:
        if not isinstance(tokens, list) or len(tokens) > MAX_TOKENS:
            return NOT_LOGARITHMS
        if not tokens:
            return NO_TOKENS
        if not _are_logarithms(tokens):
            return NOT_LOGARITHMS
        logprobs.append(tuple(tokens) if max(tokens) <= 0 else tuple([min(figure, 0.0) for figure in tokens]))
    return tuple(logprobs)


def parse_label_logprobs(value: Any, options: int) -> tuple[float, ...] | str:
    """The log-probabilities of the labels of so many options, or the name of what is wrong with them.

    A label that a server does not tell, as it is not among its likeliest tokens, is null: less likely than all others.
    """
    if not isinstance(value, list) or len(value) != options:
        return NOT_THE_OPTIONS
    figures = [figure for figure in value if figure is not None]
    if not figures or not _are_logarithms(figures):
        return NOT_LOGARITHMS
    return tuple([-math.inf if figure is None else min(figure, 0.0) for figure in value])


def same_counts(several: Sequence[Sequence[Sequence[float]]]) -> bool:
    """Compare the numbers of tokens of each option in several lists of its log-probabilities.

    Neither the order of the options nor the picture is part of an option's text. Other counts are another tokenizer's.
    """
    return len({tuple(map(len, logprobs)) for logprobs in several}) <= 1


def _are_logarithms(figures: list[Any]) -> bool:
    """Check that figures may be the logarithms of probabilities above 0."""
    # Types first, as true and false count as numbers; bounds before any sum, for which a whole number may be too large.
    if not set(map(type, figures)) <= {float, int} or not (max(figures) <= ROUNDING and min(figures) > _LOWEST):
        return False
    return not math.isnan(sum(figures))  # of NaN, which compares with nothing, only a first one was found above
