"""The scorer in one call: a pair, two lists, or files."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.scorer.records import Outcome, SpanMatch
from vcrgen.scorer.scorer import Scorer, make_scorer, unanswered

# A process that asks for more kinds of scorers than this makes them anew.
_scorer = lru_cache(maxsize=8)(make_scorer)


def match_span(answer: str, output: str | None, *, lang: str = "en", **options: Any) -> SpanMatch:
    """Score one output against one masked span: the nearest n-gram, its place and distance, scores from 0 to 1.

    An output of None is no output, which is not the same as the empty text. Options are those of `make_scorer`:
    ``protocol``, ``segmenter``, ``strip_thinking``, ``max_output_tokens``, ``refusals``.

    Raises:
        ScoreError: An option is wrong.
        PipelineError: The language is unknown.

    Examples:
        >>> match = match_span("is a town in", "I think it is a town near Paris.")
        >>> match.exact, match.ngram, round(match.jaccard, 2)
        (False, 'is a town near', 0.6)
    """
    return _match(_scorer(lang, **options), answer, output)


def match_spans(
    answers: Sequence[str], outputs: Sequence[str | None], *, lang: str = "en", **options: Any
) -> list[SpanMatch]:
    """Score outputs against masked spans, pair by pair, of two lists of one length; see `match_span`.

    Each pair is scored alone, so an output that stands beside several spans of its image has a budget for each of them.
    A board gives an output one budget for all, as `match_image` does.

    Examples:
        >>> [match.exact for match in match_spans(["an old bridge", "in spring"], ["an old bridge", None])]
        [True, False]
    """
    if isinstance(answers, str) or isinstance(outputs, str):
        raise ScoreError("match_spans takes two lists; for a single pair there is match_span.")
    if len(answers) != len(outputs):
        raise ScoreError(f"{pluralize(len(answers), 'answer')} and {pluralize(len(outputs), 'output')} are not pairs.")
    scorer = _scorer(lang, **options)
    return [_match(scorer, answer, output) for answer, output in zip(answers, outputs, strict=True)]


def match_image(
    answers: Sequence[str], output: str | None, *, lang: str = "en", **options: Any
) -> tuple[SpanMatch, ...]:
    r"""Score one output against all masked spans of its image, in reading order, as boards do; see `match_span`.

    Examples:
        >>> matches = match_image(["an old bridge", "in spring"], "an old bridge\nin autumn")
        >>> [str(match.outcome) for match in matches]
        ['exact', 'wrong']
    """
    if isinstance(answers, str):
        raise ScoreError("match_image takes a list of answers; for a single one there is match_span.")
    if output is None:
        return unanswered(answers, Outcome.NULL)
    return _scorer(lang, **options)(answers, output).matches


def _match(scorer: Scorer, answer: str, output: str | None) -> SpanMatch:
    if output is None:
        return unanswered((answer,), Outcome.NULL)[0]
    return scorer((answer,), output).matches[0]
