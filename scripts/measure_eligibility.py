"""Measure the leak of an eligibility pipeline on annotated text.

    python scripts/measure_eligibility.py --lang de --annotated FILE.jsonl [--show]

Each line of FILE.jsonl is ``{"text": str, "entities": [[start, end, label], ...]}`` with character offsets
and the labels PERSON, ORG, PLACE (and FAC, GPE, LOC, which count as places); other labels are read and not
counted. Two figures are printed:

* leak: the share of eligible 5-grams that overlap a person, an organisation or a place;
* kept: the share of texts with at least one eligible 5-gram.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vcrgen.text.eligibility import selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

NGRAM = 5  # tokens of a span
NAME_LABELS = frozenset({"PERSON", "ORG", "PLACE", "FAC", "GPE", "LOC"})


@dataclass(frozen=True)
class AnnotatedText:
    """A text with the character offsets and the label of each entity."""

    text: str
    entities: tuple[tuple[int, int, str], ...]

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


def measure(nlp: Language, corpus: Iterable[AnnotatedText]) -> EligibilityCounts:
    """Count eligible and leaking n-grams and kept texts."""
    result = EligibilityCounts()
    for item in corpus:
        spans = selectable_ngrams(nlp(item.text), NGRAM)
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


def main() -> None:
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", choices=list(LANGUAGES), required=True)
    parser.add_argument("--annotated", type=Path, metavar="FILE.jsonl", required=True)
    parser.add_argument("--show", action="store_true", help="list leaking n-grams and texts without an n-gram")
    arguments = parser.parse_args()

    result = measure(load_pipeline(arguments.lang).nlp, read_annotated(arguments.annotated))
    if arguments.show:
        for text, labels in result.leaking:
            print(f"leak\t{labels}\t{text}")
        for text in result.unkept:
            print(f"none\t{text}")
    print(
        f"leak  {result.leak:7.2%}  {result.ngrams_leaking} of {result.ngrams} eligible {NGRAM}-grams"
        f"  {dict(sorted(result.labels.items()))}"
    )
    print(f"kept  {result.kept:7.2%}  {result.texts_kept} of {result.texts} texts")


if __name__ == "__main__":
    main()
