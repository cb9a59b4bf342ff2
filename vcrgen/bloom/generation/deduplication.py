"""Checks of a whole set: near-duplicates, repeated facts and too many items of a picture, too many longest keys."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vcrgen.bloom.generation.item_records import GeneratedItem
from vcrgen.bloom.numbers import folded_words
from vcrgen.bloom.rejects import ItemRejectReason
from vcrgen.bloom.summary import right_by_length
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.hidden.near import NearIndex

NEAR = 0.8  # the least Jaccard index of near-duplicates
# Measured by scripts/measure_generation.py.
NEAR_RECALL = (
    "Of pairs of items that differ in one word this finds all, with two other words in the question 56 %, with a "
    "question that begins otherwise 85 %; of 182 different sentences of Wikipedia none"
)
GUESSES = 2_520  # a multiple of every number of options
_BITS = 62  # of a number that tells of which words a text is
Numbers = npt.NDArray[np.int64]


def near_duplicates(texts: Sequence[str], near: float = NEAR) -> dict[int, int]:
    """Find near-duplicates of earlier texts by the Jaccard index of their sets of words.

    Two texts with an index of ``near`` (at least 0.5) share two of the rarest words of each, or have one or two words.
    Only such pairs are compared, and none is missed (prefix filtering).

    Returns:
        The number of each near-duplicate, with that of the earlier text that is kept.
    """
    words, starts = _words_by_rarity(texts)
    if not len(words):
        return {}
    # A bit for each word of a text, though not one of its own: a bit that another text lacks is a word that it lacks.
    sizes: list[int] = np.diff(starts).tolist()
    filled = np.flatnonzero(np.diff(starts))
    bits = np.zeros(len(texts), np.int64)
    bits[filled] = np.bitwise_or.reduceat(1 << words % _BITS, starts[filled])
    signs: list[int] = bits.tolist()
    least = near / (1 + near)  # of the words of two near-duplicates, counted in each, those that are in both
    sets: dict[int, frozenset[int]] = {}  # of texts that came to be compared
    by_key: defaultdict[int, list[int]] = defaultdict(list)  # texts by key
    duplicates: dict[int, int] = {}

    def words_of(number: int) -> frozenset[int]:
        if number not in sets:
            sets[number] = frozenset(words[starts[number] : starts[number + 1]].tolist())
        return sets[number]

    for number, keys in _shared_keys(words, starts, near):
        sign, size = signs[number], sizes[number]
        lacked = size * (1 - least) + 1e-9  # and by the size of the other one, fewer
        others = {
            other
            for key in keys
            for other in by_key[key]
            if (sign & ~signs[other]).bit_count() <= lacked - least * sizes[other]
        }
        for other in sorted(others):
            both = len(words_of(number) & words_of(other))
            if both >= near * (size + sizes[other] - both):
                duplicates[number] = other
                break
        else:
            for key in keys:
                by_key[key].append(number)
    return duplicates


def _words_by_rarity(texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """The words of all texts as numbers, each once in a text, the rarest first; and the start of each text."""
    numbering: defaultdict[str, int] = defaultdict()
    numbering.default_factory = numbering.__len__
    numbers: list[int] = []
    starts = [0]
    for text in texts:
        numbers.extend(map(numbering.__getitem__, folded_words(text)))
        starts.append(len(numbers))
    words, kinds = np.array(numbers, np.int64), max(len(numbering), 1)
    ranks = np.empty(len(numbering), np.int64)
    # Of equally rare words any order will do, if it is the same for all texts.
    ranks[np.argsort(np.bincount(words, minlength=len(numbering)), kind="stable")] = np.arange(len(numbering))
    owners = np.repeat(np.arange(len(texts)), np.diff(starts))
    ordered = np.sort(owners * kinds + ranks[words])
    ordered = ordered[np.diff(ordered, prepend=-1) > 0]
    return ordered % kinds, np.searchsorted(ordered, np.arange(len(texts) + 1) * kinds)


def _shared_keys(words: Numbers, starts: Numbers, near: float) -> Iterator[tuple[int, list[int]]]:
    """Yield the texts that share a pair of their rarest words with another, in their order, with numbers of pairs."""
    sizes = np.diff(starts)
    base = int(words.max(initial=0)) + 1
    keys, owners = [], []
    for size in np.unique(sizes[sizes > 0]).tolist():
        rarest = min(size, size - math.ceil(near * size) + 2)
        first, second = np.triu_indices(rarest, 1 if size > 2 else 0)
        which = np.flatnonzero(sizes == size)
        rows = words[starts[which][:, None] + np.arange(rarest)]
        keys.append((rows[:, first] * base + rows[:, second]).ravel())
        owners.append(np.repeat(which, len(first)))
    _, groups, counts = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    several = counts[groups] > 1
    groups, texts = groups[several], np.concatenate(owners)[several]
    order = np.argsort(texts, kind="stable")
    groups, texts = groups[order], texts[order]
    edges = np.flatnonzero(np.diff(texts, prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(edges):
        yield int(texts[start]), groups[start:stop].tolist()


def repeated_facts(items: Sequence[GeneratedItem]) -> dict[str, str]:
    """Find the items that ask about a fact of their picture about which an earlier item asks.

    That is, two items of one picture have the right option in the same words, or their questions are near-duplicates,
    in the first language. Two facts with the same value, such as two red things, count as one.

    Returns:
        The name of each such item, with that of the earlier item that is kept.
    """
    by_picture: defaultdict[str, list[GeneratedItem]] = defaultdict(list)
    for item in items:
        by_picture[item.picture.digest].append(item)
    repeated: dict[str, str] = {}
    for of_picture in by_picture.values():
        questions = [next(iter(item.questions.values())) for item in of_picture]
        similar = near_duplicates([question.text for question in questions])
        by_answer: dict[tuple[str, ...], int] = {}
        for number, (item, question) in enumerate(zip(of_picture, questions, strict=True)):
            answer = question.options[item.answer]
            words = folded_words(answer) or (answer,)  # signs, such as "?" and "+", have no words
            if (earlier := by_answer.get(words, similar.get(number))) is None:
                by_answer[words] = number
            else:
                name = of_picture[earlier].slot.name
                repeated[item.slot.name] = repeated.get(name, name)
    return repeated


def surplus_of_pictures(items: Sequence[GeneratedItem], most: int, seed: int) -> dict[ItemRejectReason, dict[str, str]]:
    """Draw the items to reject, so that a picture has at most ``most`` items and no near-duplicate in the set.

    The draw follows the order of the items, so give them in the order of the set: that order does not depend on which
    of them finished first.

    Returns:
        By reason, the names of the items with a detail for people.
    """
    bits = {item.picture.digest: item.picture.bits for item in items}
    digests, index = list(bits), NearIndex(list(bits.values()))
    counts: Counter[str] = Counter()
    surplus: dict[str, str] = {}
    similar: dict[str, str] = {}
    for item in shuffled(rng_for(seed, "bloom/pictures", ""), items):
        digest = item.picture.digest
        if counts[digest] == most:
            surplus[item.slot.name] = f"its picture has {most} items already"
        elif counts[digest] or not any(
            counts[digests[other]] for other in index.near(np.frombuffer(item.picture.bits, np.uint8))
        ):
            counts[digest] += 1
        else:
            similar[item.slot.name] = "its picture is a near-duplicate of another item's"
    return {ItemRejectReason.NO_PICTURE_LEFT: surplus, ItemRejectReason.NEAR_DUPLICATE_PICTURE: similar}


def longest_keys(items: Sequence[GeneratedItem], seed: int) -> set[str]:
    """Draw the items to reject, so that the longest option is right in no more items than by chance, rounded up.

    The draw is among the items in which the longest option is right more often than a random one, in any language, in
    the order of the set. Removal for one language may leave too many in another one, so it is repeated until nothing
    changes.
    """
    removed: set[str] = set()
    before = -1
    while before < len(removed):
        before = len(removed)
        for lang in items[0].questions if items else ():
            left = {item.slot.name: right_of_guesses(item, lang) for item in items if item.slot.name not in removed}
            right, count, options = sum(left.values()), len(left), len(items[0].questions[lang].options)
            often = [name for name in left if left[name] * options > GUESSES]
            for name in shuffled(rng_for(seed, "bloom/longest", lang), often):
                if right <= GUESSES * math.ceil(count / options):
                    break
                removed.add(name)
                right, count = right - left[name], count - 1
    return removed


def right_of_guesses(item: GeneratedItem, lang: str) -> int:
    """Return how many of 2,520 guesses "the longest option" are right, where two to ten as long share them.

    Of so many, so that all of these are whole numbers, whose sums are exact.
    """
    return round(GUESSES * right_by_length([len(option) for option in item.questions[lang].options], item.answer))
