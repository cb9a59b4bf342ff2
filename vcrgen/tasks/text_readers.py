"""Readers of MCQ benchmarks that see only texts: hand rules, a learned classifier, a joint reader of a picture's items.

    for figure in read_without_pictures(items, training=items_of_other_seeds):
        print(figure.reader, figure.lang, figure.category, figure.right, figure.chance, figure.is_shortcut)

A reader scores the options of a question; the highest score is its answer, and options with the same score share it.
In a good set every reader is right as often as a random guess.

- *Hand rules* look at the form of the options.
- *The classifier* is a conditional logit model of n-grams of question and options. It learns from other items: those of
  other seeds where a generator has any, else from the other pictures of the set (cross-validation).
- *The joint reader* is the same model, which also reads the other items about the same picture. It is measured on the
  pictures that have several.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from vcrgen.tasks.bloom import ChoiceItem, ChoiceQuestion

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MARGIN = 0.03  # a reader may be above chance by so much
CONFIDENCE = 0.01  # chance of calling any reader of a fair set a shortcut
MIN_LEARNED = 100  # items of a set for a learned reader
MIN_CATEGORY = 40  # items of a figure that can show a shortcut, and of a category with one of its own
CLASSIFIER, JOINT = "n-gram classifier", "joint reader of a picture"
_FOLDS = 5
_BITS = 18  # of a hashed feature
_RARE_WORDS = 10  # of a question, that are crossed with the words of an option
_OTHERS = 6  # items of a picture that are read beside an item
_STEPS, _RATE, _DECAY = 60, 0.1, 0.02  # of the fit
_WORD = re.compile(r"\w+")

Reader = Callable[[ChoiceQuestion], Sequence[float]]
Credits = list[tuple[int, float]]  # numbers of items, and the share of the right answer that a reader gives


class ReaderFigure(NamedTuple):
    """The accuracy of one reader on a set, or on one category of it."""

    reader: str
    lang: str
    category: str  # "" for the whole set
    items: int
    right: float  # share; of k options between which a reader cannot choose, each counts 1/k
    chance: float  # mean of one by the number of options
    error: float  # standard error of `right`, clustered by picture
    tests: int  # figures of the set, for which the limit is corrected

    @property
    def limit(self) -> float:
        """The share from which a reader is above chance by more than luck, over all figures of the set."""
        from statistics import NormalDist

        return self.chance + NormalDist().inv_cdf(1 - CONFIDENCE / max(self.tests, 1)) * self.error

    @property
    def is_shortcut(self) -> bool:
        """True for a reader above chance by more than the margin and by more than luck, of 40 items or more."""
        return self.items >= MIN_CATEGORY and self.right > max(self.chance + MARGIN, self.limit)


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded for comparison."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _overlap(question: ChoiceQuestion) -> list[float]:
    asked = set(words_of(question.text))
    return [float(len(asked & set(words_of(option)))) for option in question.options]


def _alike(question: ChoiceQuestion) -> list[float]:
    words = [set(words_of(option)) for option in question.options]
    return [float(sum(len(own & other) for other in words)) for own in words]


HAND_RULES: Mapping[str, Reader] = {
    "longest option": lambda question: [float(len(option)) for option in question.options],
    "shortest option": lambda question: [-float(len(option)) for option in question.options],
    "most words of the question": _overlap,
    "most like the other options": _alike,
    "least like the other options": lambda question: [-value for value in _alike(question)],
}


def highest(scores: Sequence[float]) -> set[int]:
    """Return the numbers of the options with the highest score."""
    return {number for number, value in enumerate(scores) if value == max(scores)}


def credit(scores: Sequence[float], answer: int | None) -> float:
    """Return the share of the right option among those with the highest score."""
    best = highest(scores)
    return (answer in best) / len(best)


def read_without_pictures(
    items: Sequence[ChoiceItem], *, training: Sequence[ChoiceItem] | None = None
) -> list[ReaderFigure]:
    """Measure all readers on a set, in every language, as a whole and by category.

    Args:
        items: With their keys; ``picture`` is equal for the items of one picture.
        training: Items of the same generator from other seeds; without them the learned readers learn from the
            other pictures of the set. They are left out of a set of fewer than 100 items.
    """
    found: list[tuple[str, str, str, list[tuple[ChoiceItem, float]]]] = []
    for lang in dict.fromkeys(lang for item in items for lang in item.questions):
        asked = [item for item in items if lang in item.questions]
        for name, credits in readings(asked, training, lang):
            rows: dict[str, list[tuple[ChoiceItem, float]]] = defaultdict(list)
            for number, value in credits:
                for path in ("", asked[number].path):
                    rows[path].append((asked[number], value))
            found += [(name, lang, path, of) for path, of in rows.items() if not path or len(of) >= MIN_CATEGORY]
    return [_figure(*each, tests=len(found)) for each in found]


def readings(
    items: Sequence[ChoiceItem], training: Sequence[ChoiceItem] | None, lang: str
) -> Iterator[tuple[str, Credits]]:
    """Yield the name of each reader, and its credits for the items that it reads; all are complete in the language."""
    most = max(len(item.questions[lang].options) for item in items)
    for option in range(most):
        yield f"always {chr(ord('A') + option)}", [(at, float(item.answer == option)) for at, item in enumerate(items)]
    for name, rule in HAND_RULES.items():
        yield name, [(at, credit(rule(item.questions[lang]), item.answer)) for at, item in enumerate(items)]
    if len(items) < MIN_LEARNED:
        return
    alone, joint = _learned(items, training, lang)
    yield CLASSIFIER, list(enumerate(alone))
    pictures = Counter(item.picture for item in items)
    shared = [(at, value) for at, value in enumerate(joint) if items[at].picture and pictures[items[at].picture] > 1]
    if len(shared) >= MIN_CATEGORY:
        yield JOINT, shared


def _figure(
    reader: str, lang: str, category: str, pairs: Sequence[tuple[ChoiceItem, float]], tests: int
) -> ReaderFigure:
    """Return a figure; its error is that of a fair set or the observed one, whichever is larger."""
    chances = [1 / len(item.questions[lang].options) for item, _ in pairs]
    right, chance = (math.fsum(each) / len(pairs) for each in ((value for _, value in pairs), chances))
    residuals: dict[str, float] = defaultdict(float)
    for item, value in pairs:
        residuals[item.picture or item.question_id] += value - right
    observed = math.fsum(value * value for value in residuals.values())
    fair = math.fsum(each * (1 - each) for each in chances)
    error = math.sqrt(max(observed, fair)) / len(pairs)
    return ReaderFigure(reader, lang, category, len(pairs), right, chance, error, tests)


def _learned(
    items: Sequence[ChoiceItem], training: Sequence[ChoiceItem] | None, lang: str
) -> tuple[list[float], list[float]]:
    """Return the credits of the classifier and of the joint reader, item by item."""
    folds = [crc32((item.picture or item.question_id).encode()) % _FOLDS for item in items]
    known = _hashed([item for item in training if lang in item.questions], lang) if training else None
    found = []
    for number, asked in enumerate(_hashed(items, lang)):
        credits = [0.0] * len(items)
        if known is not None:
            credits = _credits(asked, fit(known[number]))
        else:
            for fold in sorted(set(folds)):
                held = [place for place, of in enumerate(folds) if of == fold]
                weights = fit(asked.subset([place for place, of in enumerate(folds) if of != fold]))
                for place, value in zip(held, _credits(asked.subset(held), weights), strict=True):
                    credits[place] = value
        found.append(credits)
    return found[0], found[1]


class Options(NamedTuple):
    """The options of several questions as hashed features."""

    features: Ints  # of all options, one after another
    rows: Ints  # the option of each feature
    starts: Ints  # the first option of each question
    sizes: Ints  # the options of each question
    answers: Ints  # number of the right one, from 0

    def subset(self, numbers: Sequence[int]) -> Options:
        """Return the options of some questions, in ascending order."""
        kept = np.zeros(len(self.sizes), bool)
        kept[list(numbers)] = True
        of_options = np.repeat(kept, self.sizes)
        places = np.cumsum(of_options) - 1
        chosen = of_options[self.rows]
        sizes = self.sizes[kept]
        return Options(
            self.features[chosen], places[self.rows[chosen]], np.cumsum(sizes) - sizes, sizes, self.answers[kept]
        )


def fit(options: Options) -> Floats:
    """Fit a conditional logit model: the weight of each feature, by full-batch steps of Adam with decay.

    A feature counts from its second option on.
    """
    used = (np.bincount(options.features, minlength=1 << _BITS) > 1)[options.features]
    known, features = np.unique(options.features[used], return_inverse=True)
    rows, size, total = options.rows[used], len(known), int(options.sizes.sum())
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
    found = np.zeros(1 << _BITS)
    found[known] = weights
    return found


def _credits(options: Options, weights: Floats) -> list[float]:
    scores = np.bincount(options.rows, weights[options.features], minlength=int(options.sizes.sum()))
    ends = options.starts + options.sizes
    return [
        credit([round(value, 6) for value in scores[start:end].tolist()], answer)
        for start, end, answer in zip(options.starts.tolist(), ends.tolist(), options.answers.tolist(), strict=True)
    ]


class _QuestionWords(NamedTuple):
    """The words of a question."""

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


def _hashed(items: Sequence[ChoiceItem], lang: str) -> tuple[Options, Options]:
    """Return the options of items with the features of the classifier, and with those of the joint reader."""
    read = [_QuestionWords.of(item.path, item.questions[lang]) for item in items]
    frequency = Counter(word for each in read for word in set(each.stem))
    rare = [sorted(set(each.stem), key=lambda word: (frequency[word], word))[:_RARE_WORDS] for each in read]
    of_picture: dict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        of_picture[item.picture or item.question_id].append(number)
    found: tuple[list[int], list[int]] = [], []  # alone, beside other items
    rows: tuple[list[int], list[int]] = [], []
    row = 0
    for number, (item, one) in enumerate(zip(items, read, strict=True)):
        others = [other for other in of_picture[item.picture or item.question_id] if other != number][:_OTHERS]
        for option in range(len(one.options)):
            names: tuple[list[str], list[str]] = list(_names(one, option, rare[number])), []
            for other in others:
                names[1].extend(_joint_names(one, option, read[other], rare[other]))
            for at in range(2):
                found[at].extend(map(_hash, names[at]))
                rows[at].extend([row] * len(names[at]))
            row += 1
    sizes = np.array([len(one.options) for one in read], np.int64)
    rest = np.cumsum(sizes) - sizes, sizes, np.array([item.answer or 0 for item in items], np.int64)
    arrays = [(np.array(found[at], np.int64), np.array(rows[at], np.int64)) for at in range(2)]
    features, of_rows = (np.concatenate(pair) for pair in zip(*arrays, strict=True))
    return Options(*arrays[0], *rest), Options(features, of_rows, *rest)


def _names(one: _QuestionWords, option: int, rare: Iterable[str]) -> Iterator[str]:
    """Yield the features of an option: n-grams, crosses with the question, its form."""
    words, path = one.options[option], one.path
    yield f"all {path} {' '.join(words)}"
    in_stem = Counter(one.stem)
    for word, following in zip(words, [*words[1:], "."], strict=True):
        shared = sum(word in other for other in one.options) - 1
        yield f"word {word}"
        yield f"path {path} {word}"
        yield f"shared {path} {word} {shared}"
        yield f"stem {path} {word} {min(in_stem[word], 3)}"
        yield f"pair {word} {following}"
    for word in one.own[option]:
        for asked in rare:
            yield f"cross {path} {asked} {word}"
    yield from _form_names(one, option)


def _form_names(one: _QuestionWords, option: int) -> Iterator[str]:
    """Yield features of the form of an option beside the others, and of what stands behind it in the question."""
    path = one.path
    sizes = [sum(map(len, words)) for words in one.options]
    rank = sum(size < sizes[option] for size in sizes), sum(size == sizes[option] for size in sizes)
    yield f"length {path} {rank}"
    yield f"length {rank}"
    own = one.own[option]
    alike = [len(own & other) for number, other in enumerate(one.own) if number != option]
    yield f"alike {path} {sorted(alike)}"
    numbers = [int(words[0]) if len(words) == 1 and words[0].isdecimal() else None for words in one.options]
    if None not in numbers:
        yield f"number {path} {sorted(numbers).index(numbers[option])}"  # type: ignore[type-var]
    words = list(one.options[option])
    for at in range(len(one.stem) - len(words)):
        if list(one.stem[at : at + len(words)]) == words:
            behind = one.stem[at + len(words)]
            yield f"behind {path} {one.stem.count(behind) > 1}"


def _joint_names(one: _QuestionWords, option: int, other: _QuestionWords, rare: Sequence[str]) -> Iterator[str]:
    """Yield features of an option and another item about the same picture."""
    own, both = one.own[option], f"{one.path} {other.path}"
    in_stem = sum(word in other.stem for word in own)
    in_options = [sum(word in words for word in own) for words in other.options]
    whole = sum(count == len(own) for count in in_options)
    for name in (
        f"stem {in_stem and (2 if in_stem == len(own) else 1)}",
        f"options {whole}",
        f"options {max(in_options) and 1}",
        f"pairs {min(len(_pairs(one.options[option]) & _pairs_of(other)), 2)}",
    ):
        yield f"beside {both} {name}"
        yield f"beside {name}"
    pairs, there = _pairs(one.options[option]), [_pairs(words) for words in other.options]
    for first, second in pairs:
        yield f"beside asked {first in other.stem} {sum(second in words for words in other.options)}"
        yield f"beside said {sum((first, second) in each for each in there)}"
    for word in own:
        count = sum(word in words for words in other.options)
        yield f"beside {both} {word} {count} {word in other.stem}"
        yield f"beside word {count} {word in other.stem}"
        told = [sum((label, word) in each for each in there) for label in one.stem[-6:]]
        yield f"beside told {max(told, default=0)}"
        yield f"beside told {both} {max(told, default=0)}"
        for asked in rare:
            yield f"beside {one.path} {asked} {word}"


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(words))


def _pairs_of(other: _QuestionWords) -> set[tuple[str, str]]:
    return _pairs(other.stem).union(*map(_pairs, other.options))


def _hash(name: str) -> int:
    return crc32(name.encode()) & ((1 << _BITS) - 1)
