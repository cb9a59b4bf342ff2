"""Measure the leak of an eligibility pipeline on annotated text.

    python scripts/measure_eligibility.py --lang en --annotated FILE.jsonl [--spacy-model en_core_web_sm]
    python scripts/measure_eligibility.py --lang hi --frequent 2000

Each line of FILE.jsonl is ``{"text": str, "entities": [[start, end, label], ...]}`` with character offsets
and the labels PERSON, ORG, PLACE (and FAC, GPE, LOC, which count as places); other labels are read and not
counted. Two figures are printed:

* leak: the share of eligible n-grams that overlap a person, an organisation or a place;
* kept: the share of texts with at least one eligible n-gram.

Without ``--spacy-model`` the built-in pipeline of the language is measured. ``--split`` takes one half of the
texts by a hash of the text, so that rules can be written on ``dev`` and judged on ``test``.

``--cut-words`` prints how many of the spans that a build masks begin or end inside of a word of Sudachi's longest
units; it needs Japanese and ``pip install sudachidict-core``.

``--frequent N`` lists those of the N most frequent words of wordfreq that alone are ineligible, by reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vcrgen.builder.masking import plan_mask
from vcrgen.builder.options import BuildConfig
from vcrgen.core.rng import rng_for
from vcrgen.text.eligibility import ineligible_reason, selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

NAME_LABELS = frozenset({"PERSON", "ORG", "PLACE", "FAC", "GPE", "LOC"})


@dataclass(frozen=True)
class AnnotatedText:
    """A text with the character offsets and the label of each entity."""

    text: str
    entities: tuple[tuple[int, int, str], ...]

    @property
    def split(self) -> str:
        """``"dev"`` or ``"test"``, from the text alone: the same for every file and every run."""
        return ("dev", "test")[hashlib.sha256(self.text.encode()).digest()[0] % 2]

    def leaks(self, span: Span) -> list[str]:
        """Labels of the named entities that share a character with the span."""
        return [
            label
            for start, end, label in self.entities
            if label in NAME_LABELS and start < span.end_char and end > span.start_char
        ]


@dataclass
class EligibilityCounts:
    """Counts over the texts of one corpus."""

    texts: int = 0
    texts_kept: int = 0
    ngrams: int = 0
    ngrams_leaking: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    leaking: list[tuple[str, str]] = field(default_factory=list)
    unkept: list[str] = field(default_factory=list)

    @property
    def leak(self) -> float:
        """Share of the eligible n-grams that overlap a name."""
        return self.ngrams_leaking / self.ngrams if self.ngrams else 0.0

    @property
    def kept(self) -> float:
        """Share of the texts with at least one eligible n-gram."""
        return self.texts_kept / self.texts if self.texts else 0.0


def read_annotated(path: Path) -> Iterator[AnnotatedText]:
    """Read one annotated text per line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            entities = tuple((int(start), int(end), str(label)) for start, end, label in row["entities"])
            if any(not 0 <= start < end <= len(row["text"]) for start, end, _ in entities):
                raise SystemExit(f"{path}:{number}: an entity lies outside the text; its offsets count characters")
            yield AnnotatedText(row["text"], entities)


def measure(nlp: Language, corpus: Iterable[AnnotatedText], n: int) -> EligibilityCounts:
    """Count eligible and leaking n-grams and kept texts."""
    result = EligibilityCounts()
    for item in corpus:
        spans = selectable_ngrams(nlp(item.text), n)
        result.texts += 1
        result.texts_kept += bool(spans)
        result.ngrams += len(spans)
        if not spans:
            result.unkept.append(item.text)
        for span in spans:
            labels = item.leaks(span)
            result.labels.update(set(labels))
            if labels:
                result.ngrams_leaking += 1
                result.leaking.append((span.text, ",".join(sorted(set(labels)))))
    return result


def ineligible_words(nlp: Language, words: Iterable[str]) -> dict[str, list[str]]:
    """Return the words of which a token is ineligible if nothing else is in the text, by the first such reason."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        reason = next(filter(None, map(ineligible_reason, nlp(word))), None)
        if reason:
            found[reason].append(word)
    return dict(found)


def cut_words(nlp: Language, texts: Iterable[str]) -> tuple[int, int]:
    """Return the number of spans of a build's mask, and of those that cut a word."""
    from sudachipy import Dictionary, SplitMode

    tokenizer = Dictionary(dict="core").tokenizer(SplitMode.C)
    spans, cut = 0, 0
    for number, text in enumerate(texts):
        rng = rng_for(0, "measure-eligibility", str(number))
        starts = {morpheme.begin() for morpheme in tokenizer.tokenize(text)} | {len(text)}
        for span in plan_mask(nlp(text), rng, BuildConfig(lang="ja"), word_boundaries=False):
            spans += 1
            cut += not {span.start, span.end} <= starts
    return spans, cut


def main() -> None:
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", choices=list(LANGUAGES), required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--annotated", type=Path, metavar="FILE.jsonl")
    source.add_argument("--frequent", type=int, metavar="N", help="list the frequent words that are ineligible")
    parser.add_argument("--spacy-model", help="a trained spaCy pipeline instead of the built-in one")
    parser.add_argument("--ngram-size", type=int, default=5, help="tokens per n-gram (default 5)")
    parser.add_argument("--split", choices=("all", "dev", "test"), default="all", help="half of the texts, by hash")
    parser.add_argument("--show", action="store_true", help="list leaking n-grams and texts without an n-gram")
    parser.add_argument("--cut-words", action="store_true", help="count the spans that cut a Japanese word")
    arguments = parser.parse_args()

    nlp = load_pipeline(arguments.lang, arguments.spacy_model).nlp
    if arguments.frequent:
        import wordfreq

        words = wordfreq.top_n_list(arguments.lang, arguments.frequent)
        for reason, found in sorted(ineligible_words(nlp, words).items()):
            print(f"{reason}  {len(found)} of {len(words)}  {' '.join(found)}")
        return
    corpus = [item for item in read_annotated(arguments.annotated) if arguments.split in ("all", item.split)]
    if arguments.cut_words:
        spans, cut = cut_words(nlp, [item.text for item in corpus])
        print(f"cut   {cut / max(spans, 1):7.2%}  {cut} of {spans} spans")
    result = measure(nlp, corpus, arguments.ngram_size)
    if arguments.show:
        for text, labels in result.leaking:
            print(f"leak\t{labels}\t{text}")
        for text in result.unkept:
            print(f"none\t{text}")
    print(
        f"leak  {result.leak:7.2%}  {result.ngrams_leaking} of {result.ngrams} eligible {arguments.ngram_size}-grams"
        f"  {dict(sorted(result.labels.items()))}"
    )
    print(f"kept  {result.kept:7.2%}  {result.texts_kept} of {result.texts} texts")


if __name__ == "__main__":
    main()
