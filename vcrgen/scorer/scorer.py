"""One output against its spans: clean, tokenise, match, measure. Knows no files and no statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from rapidfuzz.distance import Levenshtein

from vcrgen.core.errors import PipelineError, ScoreError
from vcrgen.scorer.clean import LONGEST_OUTPUT, REFUSALS, Cleaned, clean, is_refusal
from vcrgen.scorer.listed import list_answers, within_budget, without_outer_marks
from vcrgen.scorer.match import Nearest, NGrams, SpanTokens
from vcrgen.scorer.metrics import character_similarity, overlap, rouge1
from vcrgen.scorer.normalise import NONE, NORMALISERS, normalised
from vcrgen.scorer.protocols import Protocol, find_protocol
from vcrgen.scorer.reader import plain_characters, read_output
from vcrgen.scorer.records import Outcome, Scores, SpanMatch
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.segmenters import Segmenter, Tokens, load_segmenter

MAX_PREPARED = 1 << 15  # spans whose tokens are kept: about 20 MB


class ScoredOutput(NamedTuple):
    """The scores of one output."""

    matches: tuple[SpanMatch, ...]  # one for each span
    # `failed`, `empty`, `refused` (it holds a word of refusal), or None for an answer
    outcome: Outcome | None
    steps: tuple[str, ...] = ()  # the steps of the reader that changed it
    listed: bool = False  # whether it lists one answer for each span
    over_tokens: bool = False  # whether tokens beyond the limit were not read
    over_characters: bool = False  # whether characters beyond `LONGEST_OUTPUT` were not read
    length: int = 0  # characters of the text that is the answer, before any cut


class _Searched(NamedTuple):
    """The part of an output that is compared: a text that is searched for all spans, or one answer of a list."""

    text: str
    tokens: Tokens
    start: int  # where the text begins in the cleaned output


class _Output(NamedTuple):
    """An output on its way."""

    cleaned: Cleaned
    parts: Sequence[_Searched]  # the answers, one for each span; or the text alone
    listed: bool  # whether the parts are answers
    nothing: bool = False  # whether it scores 0 on every span, whatever is in it
    outcome: Outcome | None = None  # of the spans without an exact match, or None where they are `short` or `wrong`

    @property
    def over_tokens(self) -> bool:
        """Whether tokens beyond a limit were not read."""
        return any(part.tokens.beyond_limit for part in self.parts)


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
    thinking_tags: tuple[str, str] | None = None  # of thought, besides those that the reader knows
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
        if self.protocol.one_guess:
            facts["budget"] = "x+min-1"
        if self.thinking_tags:
            facts["think"] += f"+{quote('..'.join(self.thinking_tags), safe='<>[]/: ')}"
        return facts if self.refusals == REFUSALS else {**facts, "refuse": ",".join(self.refusals) or "nothing"}

    def prepare(self, text: str) -> SpanTokens:
        """A span's tokens; the last ones are kept, as most datasets ask for a span once a view and mode."""
        span = self._spans.get(text)
        if span is None:
            if len(self._spans) >= MAX_PREPARED:
                self._spans.clear()
            plain = plain_characters(Cleaned(text)) if self.protocol.reader else Cleaned(text)
            normal = normalised(plain, self.normalisation, limit=LONGEST_OUTPUT).text
            tokens = tuple(self.segmenter(normal, spaces=self.protocol.white_space).texts)
            span = SpanTokens(normal, tokens, LANGUAGES[self.lang].joiner.join(tokens), frozenset(tokens))
            self._spans[text] = span
        return span

    def __call__(self, answers: Sequence[str], output: str, *, failed: bool = False) -> ScoredOutput:
        """Score an output, as the model gave it, against the texts of its image's spans.

        ``failed`` says that a tool wrote it because its call to the model failed.
        """
        if failed and not self.protocol.failure_is_text:
            return ScoredOutput(unanswered(answers, Outcome.FAILED), Outcome.FAILED, length=len(output))
        cleaned = self.answer_part(output)
        read = self._ready(answers, cleaned, failed=failed)
        spans = [self.prepare(answer) for answer in answers]
        if read.listed:
            matches = [self._compare(span, part, read) for span, part in zip(spans, read.parts, strict=True)]
        else:
            ngrams = NGrams(read.parts[0].tokens, read.parts[0].text, LANGUAGES[self.lang].joiner)
            matches = [self._match(span, ngrams, read) for span in spans]
        return ScoredOutput(
            matches=tuple([match._replace(answer=answer) for match, answer in zip(matches, answers, strict=True)]),
            outcome=None if read.outcome is Outcome.BEYOND_LIMIT else read.outcome,
            steps=read.cleaned.steps,
            listed=read.listed,
            over_tokens=read.over_tokens,
            over_characters=_is_long(cleaned, read),
            length=cleaned.length,
        )

    def failure(self, answers: Sequence[str], output: str, *, failed: bool = False) -> Outcome:
        """What scoring an output calls those of its spans that are not exact; of short ones `Outcome.WRONG`, too."""
        if failed:
            return Outcome.FAILED
        return self._ready(answers, self.answer_part(output)).outcome or Outcome.WRONG

    def _ready(self, answers: Sequence[str], cleaned: Cleaned, *, failed: bool = False) -> _Output:
        """The parts of an output, with the outcome of spans that are not exact."""
        refused = is_refusal(cleaned.text, self.refusals)
        unread = refused and self.protocol.refusal_is_zero
        read = self._read(answers, cleaned, unread=unread)
        empty = not cleaned.text.strip()
        outcome = Outcome.FAILED if failed else Outcome.EMPTY if empty else Outcome.REFUSED if refused else None
        beyond = Outcome.BEYOND_LIMIT if read.over_tokens or _is_long(cleaned, read) else None
        return read._replace(nothing=empty or unread, outcome=outcome or beyond)

    def answer_part(self, output: str) -> Cleaned:
        """The answer in an output: what the reader leaves, or what the published code does."""
        if self.protocol.reader:
            return read_output(output, strip_thinking=self.strip_thinking, thinking_tags=self.thinking_tags)
        return clean(output, strip_thinking=self.strip_thinking, cut_prefix=self.protocol.cut_prefix)

    def searched_text(self, answers: Sequence[str], output: str) -> str:
        """The part of an output that is compared with the texts of its image's spans."""
        return "\n".join(part.text for part in self._read(answers, self.answer_part(output)).parts)

    def _read(self, answers: Sequence[str], cleaned: Cleaned, *, unread: bool = False) -> _Output:
        """The parts of an output that are compared, up to the last token that is read; none of one that is unread."""
        cleaned = normalised(cleaned, self.normalisation, limit=LONGEST_OUTPUT)
        if unread:
            return _Output(cleaned, [_Searched(cleaned.text[:LONGEST_OUTPUT], Tokens([], []), 0)], listed=False)
        if not self.protocol.one_guess:
            return _Output(cleaned, [self._searched(cleaned.text[:LONGEST_OUTPUT], 0)], listed=False)
        listed = list_answers(cleaned, len(answers))
        text = listed.text.text
        if listed.places:
            places = listed.places
            return _Output(listed.text, [self._searched(text[start:end], start) for start, end in places], listed=True)
        whole = self._searched(text[listed.start :], listed.start)
        tokens = within_budget(whole.tokens, [len(self.prepare(answer).tokens) for answer in answers])
        return _Output(listed.text, [_cut(whole._replace(tokens=tokens))], listed=False)

    def _searched(self, text: str, start: int) -> _Searched:
        """A text up to the last token that is read."""
        tokens = self.segmenter(text, limit=self.max_tokens, spaces=self.protocol.white_space)
        return _cut(_Searched(text, tokens, start))

    def _compare(self, span: SpanTokens, part: _Searched, output: _Output) -> SpanMatch:
        """A span against the answer that an output gives for it, which is compared as a whole."""
        tokens = without_outer_marks(part.tokens)
        if not (tokens.texts and span.tokens):
            return SpanMatch(answer=span.text, outcome=output.outcome or Outcome.SHORT)
        string = LANGUAGES[self.lang].joiner.join(tokens.texts)
        distance = Levenshtein.distance(span.joined, string)
        nearest = Nearest(0, string, 1 - distance / max(len(span.joined), len(string)), distance)
        character = character_similarity(span.text, string)
        return self._measured(span, nearest, part._replace(tokens=tokens), len(tokens), character, output)

    def _match(self, span: SpanTokens, ngrams: NGrams, output: _Output) -> SpanMatch:
        """A span against the n-gram of an output that is nearest to it."""
        (part,) = output.parts
        verbatim = bool(span.text) and span.text in part.text
        if output.nothing and output.outcome:
            return SpanMatch(answer=span.text, outcome=output.outcome, verbatim=verbatim)
        character = character_similarity(span.text, part.text)
        nearest = self.protocol.nearest(span, ngrams)
        if nearest is None:
            outcome = output.outcome or Outcome.SHORT
            return SpanMatch(span.text, outcome, scores=Scores(character=character), verbatim=verbatim)
        match = self._measured(span, nearest, part, len(span.tokens), character, output)
        return match._replace(verbatim=verbatim)

    def _measured(
        self, span: SpanTokens, nearest: Nearest, part: _Searched, n: int, character: float, output: _Output
    ) -> SpanMatch:
        """The metrics of a span and the n tokens that are compared with it."""
        tokens, origin = part.tokens, output.cleaned.origin
        last = nearest.position + n - 1
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
        outcome = Outcome.EXACT if exact else output.outcome or Outcome.WRONG
        start, end = tokens.starts[nearest.position], tokens.starts[last] + len(tokens.texts[last])
        place = origin(part.start + start), origin(part.start + end - 1) + 1
        return SpanMatch(span.text, outcome, nearest.string, *place, nearest.distance, scores)

    def _rouge(self, span: SpanTokens, ngram: Sequence[str], string: str, f1: float | None) -> float:
        """ROUGE-1; equal to F1 over sets where no token is repeated, which ``f1`` is then."""
        if self.protocol.rouge_retokenises:
            return rouge1(span.tokens, self.segmenter(string, spaces=True).texts)
        if f1 is not None and len(span.unique) == len(span.tokens):
            return f1
        return rouge1(span.tokens, ngram)


def _is_long(cleaned: Cleaned, read: _Output) -> bool:
    """Whether characters beyond `LONGEST_OUTPUT` were not read, and no limit of tokens came before."""
    return cleaned.length > LONGEST_OUTPUT and not read.over_tokens


def _cut(part: _Searched) -> _Searched:
    """The text up to its last token, where a limit was reached."""
    texts, starts = part.tokens.texts, part.tokens.starts
    return part._replace(text=part.text[: starts[-1] + len(texts[-1])]) if part.tokens.beyond_limit and texts else part


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
    thinking_tags: tuple[str, str] | None = None,
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
        thinking_tags: An opening and a closing tag of thought besides those that the reader of outputs knows.

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
    if thinking_tags is not None and not (rules.reader and _are_tags(thinking_tags)):
        raise ScoreError("--thinking-tags takes an opening and a closing tag, under the protocol vcrgen only.")
    limit = rules.max_tokens if max_output_tokens is None else max_output_tokens or None
    return Scorer(
        protocol=rules,
        lang=lang,
        segmenter=_segmenter(rules, lang, segmenter),
        strip_thinking=rules.strip_thinking if strip_thinking is None else strip_thinking,
        max_tokens=limit,
        refusals=words,
        normalisation=normalise,
        thinking_tags=thinking_tags,
    )


def _are_tags(tags: tuple[str, str]) -> bool:
    """Whether these are two tags; a caller in Python may give one text, whose letters would be taken for tags."""
    return not isinstance(tags, str) and len(tags) == 2 and all(tag.strip() == tag != "" for tag in tags)


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
