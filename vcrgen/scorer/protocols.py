"""The protocols: named, versioned rules of what is compared with what. A score is comparable under one of them only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from vcrgen.core.errors import ScoreError
from vcrgen.scorer.match import Nearest, NGrams, SpanTokens, nearest_by_difflib, nearest_by_levenshtein


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One protocol."""

    name: str  # name and version, as signatures give it
    matcher: str  # what a signature says of the nearest n-gram
    nearest: Callable[[SpanTokens, NGrams], Nearest | None]
    exact_by_tokens: bool = False  # exact match compares token lists; otherwise the joined strings
    cut_prefix: bool = False  # drop everything up to the last `Assistant: `
    refusal_is_zero: bool = False  # an output with a word of refusal scores 0 on every span
    failure_is_text: bool = False  # what a tool writes of a failed call is scored; otherwise it is no answer
    white_space: bool = False  # tokens of white space count
    rouge_retokenises: bool = False  # ROUGE-1 is taken of the joined strings, tokenised once more
    strip_thinking: bool = True  # take out thinking blocks, unless the caller says otherwise
    max_tokens: int | None = 512  # tokens of an output that are read, unless the caller says otherwise; None for all
    reader: bool = False  # outputs pass the reader of outputs
    one_guess: bool = False  # answers that an output lists are compared as wholes, any other text within a budget
    # language to the trained pipeline whose tokens the protocol asks for, where it is not the built-in segmenter
    segmenters: Mapping[str, str] = field(default_factory=dict)


PAPER = Protocol(name="paper-v2", matcher="levenshtein-ngram", nearest=nearest_by_levenshtein)
# As of the VCR repository's evaluation_metrics.py and VLMEvalKit's vlmeval/dataset/vcr.py. en_core_web_sm 3.8.0 has the
# rules of spaCy's blank English tokenizer, and no part of it retokenises, so the built-in segmenter gives its tokens.
VLMEVALKIT = Protocol(
    name="vlmevalkit-v2",
    matcher="difflib-shared-token",
    nearest=nearest_by_difflib,
    exact_by_tokens=True,
    cut_prefix=True,
    refusal_is_zero=True,
    failure_is_text=True,
    white_space=True,
    rouge_retokenises=True,
    strip_thinking=False,
    max_tokens=None,
    segmenters={"zh": "zh_core_web_sm"},
)
# As of lmms-eval's vcr_wiki/utils.py: a copy of the same code without the line that drops what a model echoes of its
# prompt, which so counts as output.
LMMS_EVAL = replace(VLMEVALKIT, name="lmms-eval-v2", cut_prefix=False)
# Our own: as the paper's, but what models wrap around their answers costs nothing, and a list of guesses does not win.
VCRGEN = replace(PAPER, name="vcrgen-v2", reader=True, one_guess=True)
_PROTOCOLS = (VCRGEN, PAPER, VLMEVALKIT, LMMS_EVAL)
_BY_NAME = {name: rules for rules in _PROTOCOLS for name in (rules.name.rpartition("-")[0], rules.name)}


def find_protocol(name: str) -> Protocol:
    """The protocol of a name, with or without its version."""
    if name not in _BY_NAME:
        raise ScoreError(f"Unknown protocol {name!r}; known: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
