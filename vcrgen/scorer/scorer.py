"""One output against its spans: clean, tokenise, match, measure. Knows no files and no statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vcrgen.core.errors import PipelineError, ScoreError
from vcrgen.scorer.clean import LONGEST_OUTPUT, REFUSALS, Cleaned, clean, is_refusal
from vcrgen.scorer.match import NGrams, SpanTokens
from vcrgen.scorer.metrics import character_similarity, overlap, rouge1
from vcrgen.scorer.normalise import NONE, NORMALISERS, normalised
from vcrgen.scorer.protocols import Protocol, find_protocol
from vcrgen.scorer.records import Outcome, Scores, SpanMatch
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.segmenters import Segmenter, Tokens, load_segmenter

MAX_PREPARED = 1 << 15  # spans whose tokens are kept: about 20 MB


class ScoredOutput(NamedTuple):
    """The scores of one output."""

    matches: tuple[SpanMatch, ...]  # one for each span
    # `failed`, `empty`, `refused` (it holds a word of refusal), or None for an answer
    outcome: Outcome | None
    thinking: bool  # whether a thinking block was taken out
    over_tokens: bool  # whether tokens beyond the limit were not read
    over_characters: bool  # whether characters beyond `LONGEST_OUTPUT` were not read
    length: int  # characters of the text that is the answer, before any cut


class _Output(NamedTuple):
    """An output on its way: the text that is read, its tokens and n-grams."""

    cleaned: Cleaned
    text: str
    tokens: Tokens
    ngrams: NGrams
    nothing: bool  # whether it scores 0 on every span, whatever is in it
    outcome: Outcome | None  # of the spans without an exact match, or None where they are `short` or `wrong`


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """A protocol, bound to a language and its options."""

    protocol: Protocol
    lang: str
    segmenter: Segmenter
    strip_thinking: bool  # whether thinking blocks are taken out
    max_tokens: int | None  # tokens of an output that are read, or None for all
    refusals: tuple[str, ...] = REFUSALS  # the words by which an output is known to be a refusal
    normalisation: str = NONE  # of answers and outputs, before they are cut into tokens
    _spans: dict[str, SpanTokens] = field(default_factory=dict, repr=False)

    @property
    def facts(self) -> dict[str, str]:
        """Facts of a signature about this scorer."""
        facts = {
            "protocol": self.protocol.name,
            "lang": self.lang,
            "seg": self.segmenter.name,
            "match": self.protocol.matcher,
            "norm": self.normalisation,
            "think": "strip" if self.strip_thinking else "keep",
            "max": str(self.max_tokens) if self.max_tokens is not None else "all",
            "chunk": self.segmenter.longest_run,
        }
        if budget := self.protocol.budget:
            facts["budget"] = f"{budget.factor}x+{budget.extra}"
        return facts if self.refusals == REFUSALS else {**facts, "refuse": ",".join(self.refusals) or "nothing"}

    def prepare(self, text: str) -> SpanTokens:
        """A span's tokens; the last ones are kept, as most datasets ask for a span once a view and mode."""
        span = self._spans.get(text)
        if span is None:
            if len(self._spans) >= MAX_PREPARED:
                self._spans.clear()
            normal = normalised(Cleaned(text), self.normalisation, limit=LONGEST_OUTPUT).text
            tokens = tuple(self.segmenter(normal, spaces=self.protocol.white_space).texts)
            span = SpanTokens(normal, tokens, LANGUAGES[self.lang].joiner.join(tokens), frozenset(tokens))
            self._spans[text] = span
        return span

    def __call__(self, answers: Sequence[str], output: str, *, failed: bool = False) -> ScoredOutput:
        """Score an output, as the model gave it, against the texts of its image's spans.

        ``failed`` says that a tool wrote it because its call to the model failed.
        """
        protocol = self.protocol
        if failed and not protocol.failure_is_text:
            return ScoredOutput(unanswered(answers, Outcome.FAILED), Outcome.FAILED, False, False, False, len(output))
        cleaned = self.answer_part(output)
        refused = is_refusal(cleaned.text, self.refusals)
        read = normalised(cleaned, self.normalisation, limit=LONGEST_OUTPUT)
        text, tokens = read.text[:LONGEST_OUTPUT], Tokens([], [])
        if not (refused and protocol.refusal_is_zero):
            text, tokens = self._searched(answers, text)
        empty, long = not cleaned.text.strip(), len(cleaned.text) > LONGEST_OUTPUT and not tokens.beyond_limit
        outcome = Outcome.FAILED if failed else Outcome.EMPTY if empty else Outcome.REFUSED if refused else None
        prepared = _Output(
            cleaned=read,
            text=text,
            tokens=tokens,
            ngrams=NGrams(tokens, text, LANGUAGES[self.lang].joiner),
            nothing=empty or (refused and protocol.refusal_is_zero),
            outcome=outcome or (Outcome.BEYOND_LIMIT if tokens.beyond_limit or long else None),
        )
        return ScoredOutput(
            matches=tuple([self._match(answer, self.prepare(answer), prepared) for answer in answers]),
            outcome=outcome,
            thinking=cleaned.thinking,
            over_tokens=tokens.beyond_limit,
            over_characters=long,
            length=len(cleaned.text),
        )

    def answer_part(self, output: str) -> Cleaned:
        """Clean an output: no thinking blocks and no prompt before the answer, as the protocol says."""
        return clean(output, strip_thinking=self.strip_thinking, cut_prefix=self.protocol.cut_prefix)

    def searched_text(self, answers: Sequence[str], output: str) -> str:
        """Part of an output in which the texts of its image's spans are searched, normalised and cut at the limit."""
        read = normalised(self.answer_part(output), self.normalisation, limit=LONGEST_OUTPUT)
        return self._searched(answers, read.text[:LONGEST_OUTPUT])[0]

    def _searched(self, answers: Sequence[str], text: str) -> tuple[str, Tokens]:
        """Text up to the last token that is searched, and its tokens."""
        tokens = self.segmenter(text, limit=self._limit(answers), spaces=self.protocol.white_space)
        if tokens.beyond_limit:
            text = text[: tokens.starts[-1] + len(tokens.texts[-1])]
        return text, tokens

    def _limit(self, answers: Sequence[str]) -> int | None:
        """Number of tokens that are searched for the spans of an image; None for all."""
        if self.protocol.budget is None:
            return self.max_tokens
        budget = self.protocol.budget.tokens(sum(len(self.prepare(answer).tokens) for answer in answers))
        return budget if self.max_tokens is None else min(budget, self.max_tokens)

    def _match(self, answer: str, span: SpanTokens, output: _Output) -> SpanMatch:
        verbatim, outcome = bool(span.text) and span.text in output.text, output.outcome
        if output.nothing and outcome:
            return SpanMatch(answer=answer, outcome=outcome, verbatim=verbatim)
        character = character_similarity(span.text, output.text)
        nearest = self.protocol.nearest(span, output.ngrams)
        if nearest is None:
            scores = Scores(character=character)
            return SpanMatch(answer=answer, outcome=outcome or Outcome.SHORT, scores=scores, verbatim=verbatim)
        tokens, origin = output.tokens, output.cleaned.origin
        last = nearest.position + len(span.tokens) - 1
        ngram = tokens.texts[nearest.position : last + 1]
        same = tuple(ngram) == span.tokens
        exact = same or (nearest.distance == 0 and not self.protocol.exact_by_tokens)
        if same and (nearest.string == span.text or not self.protocol.rouge_retokenises):
            scores = Scores(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, nearest.similarity, character)
        else:
            unique = frozenset(ngram)
            sets = overlap(span.unique, unique)
            rouge = self._rouge(span, ngram, nearest.string, sets.f1 if len(unique) == len(ngram) else None)
            scores = Scores(float(exact), *sets, rouge, nearest.similarity, character)
        outcome = Outcome.EXACT if exact else outcome or Outcome.WRONG
        start, end = tokens.starts[nearest.position], tokens.starts[last] + len(tokens.texts[last])
        place = origin(start), origin(end - 1) + 1
        return SpanMatch(answer, outcome, nearest.string, *place, nearest.distance, scores, verbatim)

    def _rouge(self, span: SpanTokens, ngram: Sequence[str], string: str, f1: float | None) -> float:
        """ROUGE-1; equal to F1 over sets where no token is repeated, which ``f1`` is then."""
        if self.protocol.rouge_retokenises:
            return rouge1(span.tokens, self.segmenter(string, spaces=True).texts)
        if f1 is not None and len(span.unique) == len(span.tokens):
            return f1
        return rouge1(span.tokens, ngram)


def unanswered(answers: Sequence[str], outcome: Outcome) -> tuple[SpanMatch, ...]:
    """The matches of spans that have no output."""
    return tuple(SpanMatch(answer=answer, outcome=outcome) for answer in answers)


def make_scorer(
    lang: str,
    *,
    protocol: str = "vcrgen",
    segmenter: str | None = None,
    strip_thinking: bool | None = None,
    max_output_tokens: int | None = None,
    refusals: str | None = None,
    normalise: str = NONE,
) -> Scorer:
    """A scorer for a language.

    Args:
        lang: A code of the language table.
        protocol: ``vcrgen``, ``paper``, ``vlmevalkit`` or ``lmms-eval``, with or without its version.
        segmenter: ``builtin``, or a trained spaCy pipeline whose tokens are used; None for the protocol's.
        strip_thinking: Take out thinking blocks; None for the protocol's default.
        max_output_tokens: Tokens of an output that are read; 0 for all, None for the protocol's default. A length
            budget of the protocol holds all the same.
        refusals: The words of refusal, with commas between them, as "I can't,sorry"; None for those of the published
            programs. Their case counts, but for that of "sorry".
        normalise: ``none``, ``nfkc`` or ``arabic``.

    Raises:
        ScoreError: The protocol is unknown, a number is negative, a word of refusal cannot stand in a signature, or the
            protocol's segmenter is not installed.
        PipelineError: The language or the segmenter named is not known or not installed.
    """
    rules = find_protocol(protocol)
    if normalise not in (NONE, *NORMALISERS):
        raise ScoreError(f"Unknown normalisation {normalise!r}; known: {', '.join((NONE, *NORMALISERS))}.")
    if max_output_tokens is not None and max_output_tokens < 0:
        raise ScoreError("The number of output tokens to read is 0 (all) or more.")
    words = REFUSALS if refusals is None else tuple(sorted(set(map(str.strip, refusals.split(","))) - {""}))
    if any("|" in word or not word.isprintable() for word in words):
        raise ScoreError("A word of refusal holds neither | nor characters that cannot be printed; leave them out.")
    limit = rules.max_tokens if max_output_tokens is None else max_output_tokens or None
    return Scorer(
        protocol=rules,
        lang=lang,
        segmenter=_segmenter(rules, lang, segmenter),
        strip_thinking=rules.strip_thinking if strip_thinking is None else strip_thinking,
        max_tokens=limit,
        refusals=words,
        normalisation=normalise,
    )


def _segmenter(rules: Protocol, lang: str, name: str | None) -> Segmenter:
    own = rules.segmenters.get(lang)
    if name is not None or own is None:
        return load_segmenter(lang, name)
    try:
        return load_segmenter(lang, own)
    except PipelineError as problem:
        raise ScoreError(
            f"Protocol {rules.name} cuts {lang} with {own}, which cannot be used here ({problem}) "
            "Or name another segmenter with --segmenter builtin; the signature will say so, and the numbers are then "
            "not those of the published code."
        ) from None
