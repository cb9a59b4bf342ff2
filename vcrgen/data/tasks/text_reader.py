"""A reader of MCQ benchmarks that sees only texts: an n-gram classifier of questions and their options.

    for figure in read_without_pictures(items, training=items_of_other_seeds):
        print(figure.lang, figure.category, figure.right, figure.chance, figure.is_shortcut)

It is a conditional logit model. The option with the highest score is its answer, and options with the same score share
it. It learns from other items: those of other seeds where a generator has any, else from the other pictures of the set
(cross-validation). In a good set it is right as often as a random guess.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from vcrgen.data.tasks.bloom import ChoiceItem, ChoiceQuestion

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
READER = "n-gram classifier"
MARGIN = 0.03  # it may be above chance by so much
CONFIDENCE = 0.01  # chance of calling any figure of a fair set a shortcut
MIN_ITEMS = 100  # of a set in a language; from fewer nothing is learned
MIN_CATEGORY = 40  # items of a figure that can show a shortcut, and of a category with one of its own
_FOLDS = 5
_BITS = 18  # of a hashed feature
_RARE_WORDS = 10  # of a question, that are crossed with the words of an option
_STEPS, _RATE, _DECAY = 60, 0.1, 0.02  # of the fit
_WORD = re.compile(r"\w+")


class ReaderFigure(NamedTuple):
    """The accuracy of the reader on a set in one language, or on one category of it."""

    lang: str
    category: str  # "" for the whole set
    items: int
    right: float  # share; of k options between which the reader cannot choose, each counts 1/k
    chance: float  # mean of one by the number of options
    error: float  # standard error of `right`, clustered by picture
    tests: int  # figures of the set, for which the limit is corrected

    @property
    def limit(self) -> float:
        """The share from which the reader is above chance by more than luck, over all figures of the set."""
        from statistics import NormalDist

        return self.chance + NormalDist().inv_cdf(1 - CONFIDENCE / max(self.tests, 1)) * self.error

    @property
    def is_shortcut(self) -> bool:
        """True above chance by more than the margin and by more than luck, of 40 items or more."""
        return self.items >= MIN_CATEGORY and self.right > max(self.chance + MARGIN, self.limit)


def words_of(text: str) -> list[str]:
    """Words of a text, folded for comparison."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def highest(scores: Sequence[float]) -> set[int]:
    """Numbers of the options that share the highest score."""
    return {number for number, value in enumerate(scores) if value == max(scores)}


def credit(scores: Sequence[float], answer: int | None) -> float:
    """Share of the right option among those with the highest score; 0 if it is none of them."""
    best = highest(scores)
    return (answer in best) / len(best)


def read_without_pictures(
    items: Sequence[ChoiceItem], *, training: Sequence[ChoiceItem] | None = None
) -> list[ReaderFigure]:
    """Measure the reader on a set, in every language with 100 items or more, as a whole and by category.

    Args:
        items: With their keys; ``picture`` is equal for the items of one picture.
        training: Items of the same generator from other seeds; without them the reader learns from the other pictures
            of the set.
    """
    groups: list[tuple[str, str, list[tuple[ChoiceItem, float]]]] = []
    for lang in dict.fromkeys(lang for item in items for lang in item.questions):
        asked = [item for item in items if lang in item.questions]
        if len(asked) < MIN_ITEMS:
            continue
        rows: dict[str, list[tuple[ChoiceItem, float]]] = defaultdict(list)
        for item, value in zip(asked, read_texts(asked, training, lang), strict=True):
            for path in ("", item.path):
                rows[path].append((item, value))
        groups += [(lang, path, group) for path, group in rows.items() if not path or len(group) >= MIN_CATEGORY]
    return [_figure(*group, tests=len(groups)) for group in groups]


def _figure(lang: str, category: str, pairs: Sequence[tuple[ChoiceItem, float]], tests: int) -> ReaderFigure:
    """Return a figure; its error is that of a fair set or the observed one, whichever is larger."""
    chances = [1 / len(item.questions[lang].options) for item, _ in pairs]
    right, chance = (math.fsum(values) / len(pairs) for values in ((value for _, value in pairs), chances))
    residuals: dict[str, float] = defaultdict(float)
    for item, value in pairs:
        residuals[item.picture or item.question_id] += value - right
    observed = math.fsum(value * value for value in residuals.values())
    fair = math.fsum(probability * (1 - probability) for probability in chances)
    error = math.sqrt(max(observed, fair)) / len(pairs)
    return ReaderFigure(lang, category, len(pairs), right, chance, error, tests)


def read_texts(items: Sequence[ChoiceItem], training: Sequence[ChoiceItem] | None, lang: str) -> list[float]:
    """Return of each item the share of the right answer that the reader gives; all are complete in the language."""
    asked = _hashed(items, lang)
    if training:
        return _credits(asked, fit(_hashed([item for item in training if lang in item.questions], lang)))
    folds = [crc32((item.picture or item.question_id).encode()) % _FOLDS for item in items]
    credits = [0.0] * len(items)
    for fold in sorted(set(folds)):
        held = [place for place, item_fold in enumerate(folds) if item_fold == fold]
        weights = fit(asked.subset([place for place, item_fold in enumerate(folds) if item_fold != fold]))
        for place, value in zip(held, _credits(asked.subset(held), weights), strict=True):
            credits[place] = value
    return credits


class Options(NamedTuple):
    """The options of several questions as hashed features."""

    features: Ints  # of all options, one after another
    rows: Ints  # the option of each feature
    starts: Ints  # the first option of each question
    sizes: Ints  # the options of each question
    answers: Ints  # number of the right one, from 0

    def subset(self, numbers: Sequence[int]) -> Options:
        """Select questions; their features keep their ascending order."""
        selected = np.zeros(len(self.sizes), bool)
        selected[list(numbers)] = True
        of_options = np.repeat(selected, self.sizes)
        places = np.cumsum(of_options) - 1
        of_selected = of_options[self.rows]
        sizes = self.sizes[selected]
        return Options(
            self.features[of_selected],
            places[self.rows[of_selected]],
            np.cumsum(sizes) - sizes,
            sizes,
            self.answers[selected],
        )


def fit(options: Options) -> Floats:
    """Fit a conditional logit model: the weight of each feature, by full-batch steps of Adam with decay.

    A feature counts from its second option on.
    """
    used = (np.bincount(options.features, minlength=1 << _BITS) > 1)[options.features]
    used_features, features = np.unique(options.features[used], return_inverse=True)
    rows, size, total = options.rows[used], len(used_features), int(options.sizes.sum())
    right = np.zeros(total)
    right[options.starts + options.answers] = 1
    weights, first, second = (np.zeros(size) for _ in range(3))
    for step in range(1, _STEPS + 1):
        scores = np.bincount(rows, weights[features], minlength=total)
        scores = np.exp(scores - np.repeat(np.maximum.reduceat(scores, options.starts), options.sizes))
        chances = scores / np.repeat(np.add.reduceat(scores, options.starts), options.sizes)
        slope = np.bincount(features, (chances - right)[rows], minlength=size) + _DECAY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope * slope
        moved = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights -= _RATE * moved
    all_weights = np.zeros(1 << _BITS)
    all_weights[used_features] = weights
    return all_weights


def _credits(options: Options, weights: Floats) -> list[float]:
    scores = np.bincount(options.rows, weights[options.features], minlength=int(options.sizes.sum()))
    ends = options.starts + options.sizes
    return [
        credit([round(value, 6) for value in scores[start:end].tolist()], answer)
        for start, end, answer in zip(options.starts.tolist(), ends.tolist(), options.answers.tolist(), strict=True)
    ]


class _QuestionWords(NamedTuple):
    path: str
    stem: Sequence[str]
    options: Sequence[Sequence[str]]
    own: Sequence[frozenset[str]]  # of each option, the words that not all options have

    @classmethod
    def of(cls, path: str, question: ChoiceQuestion) -> _QuestionWords:
        options = [words_of(option) for option in question.options]
        shared = frozenset.intersection(*map(frozenset, options))
        own = [frozenset(option) - shared or frozenset(option) for option in options]
        return cls(path, words_of(question.text), options, own)


def _hashed(items: Sequence[ChoiceItem], lang: str) -> Options:
    read = [_QuestionWords.of(item.path, item.questions[lang]) for item in items]
    frequency = Counter(word for words in read for word in set(words.stem))
    features: list[int] = []
    rows: list[int] = []
    row = 0
    for words in read:
        rare = sorted(set(words.stem), key=lambda word: (frequency[word], word))[:_RARE_WORDS]
        for option in range(len(words.options)):
            hashes = list(map(_hash, _names(words, option, rare)))
            features += hashes
            rows += [row] * len(hashes)
            row += 1
    sizes = np.array([len(words.options) for words in read], np.int64)
    answers = np.array([item.answer or 0 for item in items], np.int64)
    return Options(np.array(features, np.int64), np.array(rows, np.int64), np.cumsum(sizes) - sizes, sizes, answers)


def _names(question: _QuestionWords, option: int, rare: Iterable[str]) -> Iterator[str]:
    """Yield the features of an option: n-grams, crosses with the question, its form."""
    words, path = question.options[option], question.path
    yield f"all {path} {' '.join(words)}"
    in_stem = Counter(question.stem)
    for word, following in zip(words, [*words[1:], "."], strict=True):
        shared = sum(word in other for other in question.options) - 1
        yield f"word {word}"
        yield f"path {path} {word}"
        yield f"shared {path} {word} {shared}"
        yield f"stem {path} {word} {min(in_stem[word], 3)}"
        yield f"pair {word} {following}"
    for word in question.own[option]:
        for asked in rare:
            yield f"cross {path} {asked} {word}"
    yield from _form_names(question, option)


def _form_names(question: _QuestionWords, option: int) -> Iterator[str]:
    """Yield features of the form of an option beside the others, and of what stands behind it in the question."""
    path = question.path
    sizes = [sum(map(len, words)) for words in question.options]
    rank = sum(size < sizes[option] for size in sizes), sum(size == sizes[option] for size in sizes)
    yield f"length {path} {rank}"
    yield f"length {rank}"
    own = question.own[option]
    alike = [len(own & other) for number, other in enumerate(question.own) if number != option]
    yield f"alike {path} {sorted(alike)}"
    numbers = [int(words[0]) if len(words) == 1 and words[0].isdecimal() else None for words in question.options]
    if None not in numbers:
        yield f"number {path} {sorted(numbers).index(numbers[option])}"  # type: ignore[type-var]
    words = list(question.options[option])
    for at in range(len(question.stem) - len(words)):
        if list(question.stem[at : at + len(words)]) == words:
            behind = question.stem[at + len(words)]
            yield f"behind {path} {question.stem.count(behind) > 1}"


def _hash(name: str) -> int:
    return crc32(name.encode()) & ((1 << _BITS) - 1)
