"""The figures of a study: marks in, numbers out. Nothing here reads a file.

The published human scores (VCR, Table 3) are means over passes and standard deviations over raters. A pass is one
answer to each item: with three raters an item there are three. The deviation is that of a sample: of the scores of
single raters, divided by one less than their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import mean, median, quantiles, stdev
from typing import NamedTuple, TypeVar

from rapidfuzz.distance import Levenshtein

from vcrgen.stats.agreement import ac1, alpha, same_pairs
from vcrgen.stats.crossed import CrossedMean, crossed_difference, crossed_mean
from vcrgen.study.design import Kind
from vcrgen.study.marks import answered, typed_form
from vcrgen.study.records import Mark, RaterStep

Key = TypeVar("Key")
Right = Callable[[Mark], bool]
FEW = 4  # raters below whose number none can be told to be odd


def strict(mark: Mark) -> bool:
    """Right as a model's output would be."""
    return mark.strict


def filtered(mark: Mark) -> bool:
    """The same, with errors in names and dates not counted as such; the denominator stays."""
    return mark.strict or mark.excused


def typed(mark: Mark) -> bool:
    """Right but for case, quotes, width and spaces."""
    return mark.tolerant


class Human(NamedTuple):
    """The scores of people in one condition, as shares."""

    spans: int  # different ones
    raters: int
    mean: float  # over passes
    sd: float | None  # over raters; None of a single one
    interval: CrossedMean  # over pictures and raters


def human(marks: Sequence[Mark], right: Right, *, seed: int) -> Human:
    """The mean, deviation and interval of marks of one condition, of which there is at least one."""
    raters = [_share(of_one, right) for of_one in _grouped(marks, lambda mark: mark.rater).values()]
    passes = [_share(of_one, right) for of_one in _grouped(marks, lambda mark: mark.turn).values()]
    return Human(
        spans=len({(mark.item, mark.place) for mark in marks}),
        raters=len(raters),
        mean=mean(passes),
        sd=stdev(raters) if len(raters) > 1 else None,
        interval=crossed_mean(
            [float(right(mark)) for mark in marks],
            [mark.cluster for mark in marks],
            [mark.rater for mark in marks],
            seed=seed,
        ),
    )


def against(marks: Sequence[Mark], model: Mapping[tuple[int, int], bool], *, seed: int) -> CrossedMean | None:
    """People minus a model, paired: each mark against what the model made of the same covered text.

    Args:
        marks: Of one condition.
        model: By item and place, whether the model has it right; what it lacks is left out.
        seed: Of the resamples.
    """
    both = [mark for mark in marks if (mark.item, mark.place) in model]
    if not both:
        return None
    return crossed_difference(
        [float(mark.strict) - float(model[mark.item, mark.place]) for mark in both],
        [mark.cluster for mark in both],
        [mark.rater for mark in both],
        seed=seed,
    )


class ViewDifference(NamedTuple):
    """What people restored in one view and in another, over the covered texts that were seen in both."""

    spans: int  # different ones
    means: tuple[float, float]  # in the first view and in the second
    difference: CrossedMean  # first minus second; its interval is over pictures and raters


def view_difference(first: Sequence[Mark], second: Sequence[Mark], *, seed: int) -> ViewDifference | None:
    """One view minus another, paired: each covered text against itself, as nobody sees an item in both views.

    Example: of a text that two of three raters restored in the first view and none of three in the second, the
    difference is 2/3. The mean of these differences is what is reported. Pictures are resampled with what belongs to
    both views, and so are raters, who have seen some pictures in the one and some in the other.

    Args:
        first: Marks of the one view.
        second: Marks of the other, in the same mode and language.
        seed: Of the resamples.

    Returns:
        The difference, or None where no text was seen in both views.
    """
    seen = [_grouped(marks, lambda mark: (mark.item, mark.place)) for marks in (first, second)]
    both = seen[0].keys() & seen[1].keys()
    if not both:
        return None
    means = [mean(_share(of_view[text], strict) for text in sorted(both)) for of_view in seen]
    paired = [[mark for mark in marks if (mark.item, mark.place) in both] for marks in (first, second)]
    count = sum(map(len, paired))
    # Each mark stands for its part of the difference, so that their mean is the difference. It is taken about the mean
    # of its view: a rater who happens to have more items in one view is not one to whom the picture means more.
    values = [
        means[0] - means[1] + sign * (mark.strict - middle) * count / (len(both) * len(of_view[mark.item, mark.place]))
        for sign, of_view, middle, marks in zip((1, -1), seen, means, paired, strict=True)
        for mark in marks
    ]
    clusters, raters = ([getattr(mark, name) for marks in paired for mark in marks] for name in ("cluster", "rater"))
    difference = crossed_difference(values, clusters, raters, seed=seed)
    return ViewDifference(len(both), (means[0], means[1]), difference)


class Agreement(NamedTuple):
    """How much raters agree in one condition."""

    same: int  # pairs that typed the same but for case, quotes, width and spaces
    pairs: int
    nominal: float | None  # Krippendorff's alpha of the typed texts
    edit: float | None  # the same, where near texts are nearer: by edit distance over the longer one's length
    right: float | None  # alpha of right and wrong
    ac1: float | None  # Gwet's AC1 of right and wrong


def agreement(marks: Sequence[Mark]) -> Agreement:
    """How much the raters of some marks agree."""
    units = _grouped(marks, lambda mark: (mark.item, mark.condition, mark.place)).values()
    texts = [[typed_form(mark.typed) for mark in unit] for unit in units]
    rights = [[mark.strict for mark in unit] for unit in units]
    edit = alpha(texts, lambda a, b: Levenshtein.normalized_distance(a, b))
    return Agreement(*same_pairs(texts), alpha(texts), edit, alpha(rights), ac1(rights))


class OneRater(NamedTuple):
    """The figures of one rater, over all conditions."""

    rater: int
    items: int
    spans: int
    strict: float
    typed: float
    unread: int  # covered texts that the rater could not read
    seconds: float  # median on an item
    checks: tuple[int, int]  # right, and how many were done
    repeats: tuple[int, int]  # covered texts typed as the first time, and how many came twice
    same: tuple[int, int]  # pairs with others that typed the same, and how many pairs
    odd: bool = False  # agrees much less with others than most do
    left_out: bool = False  # by the rule of the study


def each_rater(marks: Sequence[Mark], places: Iterable[RaterStep], options: Mapping[str, float]) -> list[OneRater]:
    """The figures of every rater who finished an item; odd ones are marked, and those whom the rule leaves out.

    A rater is odd whose share of pairs that typed the same is below the lower quartile of all by more than one and a
    half times the distance of the quartiles (Tukey's fence); among fewer than four, nobody is.
    """
    everything = list(places)
    by_rater = _grouped(marks, lambda mark: mark.rater)
    pairs = _pairs(marks)
    found = []
    for rater, mine in sorted(by_rater.items()):
        own = [place for place in everything if place.rater == rater]
        checks, repeats = _checks(own), _repeats(own)
        done = answered(own)
        found.append(
            OneRater(
                rater=rater, items=len(done), spans=len(mine), strict=_share(mine, strict), typed=_share(mine, typed),
                unread=sum(mark.unread for mark in mine),
                seconds=median(place.response.seconds for place in done if place.response),
                checks=checks, repeats=repeats, same=pairs[rater],
                left_out=_below(checks, options["min_checks"]) or _below(repeats, options["min_repeats"]),
            )
        )  # fmt: skip
    shares = [same / count for same, count in (one.same for one in found) if count]
    if len(shares) < FEW:
        return found
    low, _, high = quantiles(shares, method="inclusive")
    fence = low - 1.5 * (high - low)
    return [one._replace(odd=bool(one.same[1]) and one.same[0] / one.same[1] < fence) for one in found]


class OddKey(NamedTuple):
    """A covered text whose answer may be wrong."""

    item: int
    place: int
    raters: int
    agreed: str  # the text that all of them typed instead, or empty where nobody restored it
    typed: tuple[str, ...]  # what they typed, the most common first


def odd_keys(marks: Sequence[Mark]) -> list[OddKey]:
    """Covered texts that nobody restored in any condition, tolerantly read; with what all agree on, if they do.

    Only those that two raters or more saw.
    """
    found = []
    for (item, place), unit in sorted(_grouped(marks, lambda mark: (mark.item, mark.place)).items()):
        if len(unit) < 2 or any(mark.strict or mark.tolerant for mark in unit):
            continue
        forms = defaultdict(list)
        for mark in unit:
            forms[typed_form(mark.typed)].append(mark.typed)
        ordered = sorted(forms.values(), key=lambda texts: (-len(texts), texts[0]))
        all_same = len(ordered) == 1 and typed_form(ordered[0][0])
        found.append(
            OddKey(item, place, len(unit), ordered[0][0] if all_same else "", tuple(texts[0] for texts in ordered))
        )
    return found


def _pairs(marks: Sequence[Mark]) -> dict[int, tuple[int, int]]:
    """Of each rater, how many pairs with others typed the same, and how many there are."""
    same: dict[int, int] = defaultdict(int)
    count: dict[int, int] = defaultdict(int)
    for unit in _grouped(marks, lambda mark: (mark.item, mark.condition, mark.place)).values():
        for mark in unit:
            for other in unit:
                if other.rater != mark.rater:
                    count[mark.rater] += 1
                    same[mark.rater] += typed_form(mark.typed) == typed_form(other.typed)
    return {mark.rater: (same[mark.rater], count[mark.rater]) for mark in marks}


def _checks(places: Sequence[RaterStep]) -> tuple[int, int]:
    done = answered(places, Kind.CHECK)
    right = (place.response and typed_form(place.response.texts[0]) == place.step.word for place in done)
    return sum(map(bool, right)), len(done)


def _repeats(places: Sequence[RaterStep]) -> tuple[int, int]:
    first = {place.step.item: place.response for place in answered(places)}
    pairs = [
        (typed_form(a), typed_form(b))
        for place in answered(places, Kind.REPEAT)
        if (before := first.get(place.step.item)) and place.response
        for a, b in zip(before.texts, place.response.texts, strict=True)
    ]
    return sum(a == b for a, b in pairs), len(pairs)


def _below(counts: tuple[int, int], least: float) -> bool:
    return counts[1] > 0 and counts[0] / counts[1] < least


def _share(marks: Collection[Mark], right: Right) -> float:
    return sum(map(right, marks)) / len(marks)


def _grouped(marks: Iterable[Mark], key: Callable[[Mark], Key]) -> dict[Key, list[Mark]]:
    groups: dict[Key, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(key(mark), []).append(mark)
    return groups
