"""Scores of people: graded responses in, numbers out. Nothing here reads a file.

A mean is that of all responses, and so is its interval. The published human scores (VCR, Table 3) are means over
passes, with one response to each item, and standard deviations of a sample of raters. In a study in which every item
has all its responses, both means are the same. In others each response counts alike, however few a pass has.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import mean, median, quantiles, stdev
from typing import NamedTuple, TypeVar

from rapidfuzz.distance import Levenshtein

from vcrgen.data.tasks.task import TASKS
from vcrgen.stats.agreement import count_equal_pairs, gwet_ac1, krippendorff_alpha
from vcrgen.stats.two_way import TwoWayMean, two_way_bootstrap_difference, two_way_bootstrap_mean
from vcrgen.study.exclusion import Conduct, broken_limits, rater_conduct
from vcrgen.study.grading import finished_steps, typed_form
from vcrgen.study.records import Condition, GradedResponse, RaterStep, StudyDesign, StudyItem

Key = TypeVar("Key")
One = TypeVar("One")
IsRight = Callable[[GradedResponse], bool]
MIN_RATERS_FOR_OUTLIERS = 4
exact_match, filtered_match, lenient_match = map(attrgetter, ("exact_match", "filtered_match", "lenient_match"))


def by_condition(
    design: StudyDesign, graded: Sequence[GradedResponse]
) -> Iterator[tuple[Condition, list[GradedResponse]]]:
    """Yield each condition that has responses, with these."""
    for number, condition in enumerate(design.conditions):
        if own := [response for response in graded if response.condition == number]:
            yield condition, own


class HumanScores(NamedTuple):
    """The scores of people in one condition, as shares."""

    spans: int  # different ones
    raters: int
    mean: TwoWayMean  # over responses, with its interval over images and raters
    sd: float | None  # over raters; None of a single one


def human_scores(graded: Sequence[GradedResponse], is_right: IsRight, *, seed: int) -> HumanScores:
    """Mean, interval and deviation of the responses in one condition, of which there is at least one."""
    raters = [_share(own, is_right) for own in _grouped(graded, lambda response: response.rater).values()]
    return HumanScores(
        spans=len({(response.item, response.place) for response in graded}),
        raters=len(raters),
        mean=two_way_bootstrap_mean(
            [float(is_right(response)) for response in graded],
            [response.cluster for response in graded],
            [response.rater for response in graded],
            seed=seed,
        ),
        sd=stdev(raters) if len(raters) > 1 else None,
    )


def human_minus_model(
    graded: Sequence[GradedResponse], model: Mapping[tuple[int, int], bool], *, seed: int
) -> TwoWayMean | None:
    """The paired difference of people and a model; None where they have no span in common.

    Args:
        model: True for the spans that the model recovers, by item and place; spans that it lacks are left out.
    """
    shared = [response for response in graded if (response.item, response.place) in model]
    if not shared:
        return None
    return two_way_bootstrap_difference(
        [float(response.exact_match) - float(model[response.item, response.place]) for response in shared],
        [response.cluster for response in shared],
        [response.rater for response in shared],
        seed=seed,
    )


class ViewDifference(NamedTuple):
    """The scores of people in two views, over the spans that were seen in both."""

    spans: int  # different ones
    means: tuple[float, float]  # in the first view and in the second
    difference: TwoWayMean  # first minus second; its interval is over images and raters


def view_difference(
    first: Sequence[GradedResponse], second: Sequence[GradedResponse], *, seed: int
) -> ViewDifference | None:
    """The paired difference of two views: the mean over spans of the difference of their shares.

    Example: of a span that two of three raters recovered in the first view and none of three in the second, the
    difference is 2/3. The bootstrap is over images, with the responses in both views, and over raters.

    Args:
        first: Responses in the one view.
        second: Responses in the other, in the same mode and language.

    Returns:
        The difference, or None where no span was seen in both views.
    """
    seen = [_grouped(graded, lambda response: (response.item, response.place)) for graded in (first, second)]
    both = seen[0].keys() & seen[1].keys()
    if not both:
        return None
    means = [mean(_share(of_view[span], exact_match) for span in sorted(both)) for of_view in seen]
    paired = [
        [response for response in graded if (response.item, response.place) in both] for graded in (first, second)
    ]
    count = sum(map(len, paired))
    # Each response has its part of the difference, so that their mean is the difference. It is taken about the mean
    # of its view: a rater who happens to have more items in one view is not one to whom the picture means more.
    values = [
        means[0]
        - means[1]
        + sign * (response.exact_match - middle) * count / (len(both) * len(of_view[response.item, response.place]))
        for sign, of_view, middle, graded in zip((1, -1), seen, means, paired, strict=True)
        for response in graded
    ]
    clusters, raters = (
        [getattr(response, name) for graded in paired for response in graded] for name in ("cluster", "rater")
    )
    difference = two_way_bootstrap_difference(values, clusters, raters, seed=seed)
    return ViewDifference(len(both), (means[0], means[1]), difference)


def view_differences(design: StudyDesign, graded: Sequence[GradedResponse]) -> Iterator[tuple[str, ViewDifference]]:
    """Yield the difference of the task's two views for each mode or language that was seen in both."""
    views = TASKS[design.task].view_contrast
    for mode in dict.fromkeys(condition.mode for condition in design.conditions):
        first, second = (
            [response for response in graded if design.conditions[response.condition] == Condition(mode, view)]
            for view in views
        )
        if difference := view_difference(first, second, seed=design.seed):
            yield mode, difference


class Agreement(NamedTuple):
    """Agreement of raters in one condition."""

    same: int  # pairs that typed the same but for case, quotes, width and spaces
    pairs: int
    nominal: float | None  # Krippendorff's alpha of the typed texts
    edit: float | None  # the same, where near texts are nearer: by edit distance over the longer one's length
    right: float | None  # alpha of right and wrong
    ac1: float | None  # Gwet's AC1 of right and wrong


def agreement(graded: Sequence[GradedResponse]) -> Agreement:
    """Agreement of the raters over some responses."""
    units = _grouped(graded, lambda response: (response.item, response.condition, response.place)).values()
    texts = [[typed_form(response.typed) for response in unit] for unit in units]
    rights = [[response.exact_match for response in unit] for unit in units]
    edit = krippendorff_alpha(texts, lambda a, b: Levenshtein.normalized_distance(a, b))
    return Agreement(
        *count_equal_pairs(texts), krippendorff_alpha(texts), edit, krippendorff_alpha(rights), gwet_ac1(rights)
    )


class RaterStatistics(NamedTuple):
    """Statistics of one rater, over all conditions."""

    rater: int
    items: int
    spans: int
    exact_match: float
    lenient_match: float
    unread: int  # spans that the rater could not read
    seconds: float | None  # median on an item by the service's clock; None if unknown of all
    conduct: Conduct
    same: tuple[int, int]  # pairs with others that typed the same, and all
    is_outlier: bool = False  # agrees much less with others
    is_excluded: bool = False  # by the rule of the study


def rater_statistics(
    graded: Sequence[GradedResponse], steps: Iterable[RaterStep], design: StudyDesign, items: Sequence[StudyItem]
) -> list[RaterStatistics]:
    """The statistics of every rater who finished an item, with outliers and excluded raters marked.

    A rater is an outlier whose share of pairs that typed the same is below the lower quartile of all by more than one
    and a half times the interquartile range (Tukey's fence); among fewer than four, nobody is.
    """
    by_rater, own_steps = _grouped(graded, lambda response: response.rater), _grouped(steps, lambda step: step.rater)
    pairs = _pairs(graded)
    statistics = []
    for rater, mine in sorted(by_rater.items()):
        own = own_steps.get(rater, [])
        conduct = rater_conduct(design, items, own)
        done = finished_steps(own)
        times = [step.took for step in done if step.took is not None]
        statistics.append(
            RaterStatistics(
                rater=rater,
                items=len(done),
                spans=len(mine),
                exact_match=_share(mine, exact_match),
                lenient_match=_share(mine, lenient_match),
                unread=sum(response.unread for response in mine),
                seconds=median(times) if times else None,
                conduct=conduct,
                same=pairs[rater],
                is_excluded=bool(broken_limits(design, conduct)),
            )
        )
    shares = [same / count for same, count in (rater.same for rater in statistics) if count]
    if len(shares) < MIN_RATERS_FOR_OUTLIERS:
        return statistics
    low, _, high = quantiles(shares, method="inclusive")
    fence = low - 1.5 * (high - low)
    return [
        rater._replace(is_outlier=bool(rater.same[1]) and rater.same[0] / rater.same[1] < fence) for rater in statistics
    ]


class SuspectKey(NamedTuple):
    """A span whose answer may be wrong."""

    item: int
    place: int
    raters: int
    consensus: str  # the text that all of them typed instead, or empty where nobody recovered it
    typed: tuple[str, ...]  # the most common first


def suspect_keys(graded: Sequence[GradedResponse]) -> list[SuspectKey]:
    """Spans that two raters or more saw and nobody recovered in any condition, by lenient match."""
    suspects = []
    for (item, place), responses in sorted(_grouped(graded, lambda response: (response.item, response.place)).items()):
        if len(responses) < 2 or any(response.exact_match or response.lenient_match for response in responses):
            continue
        forms = defaultdict(list)
        for response in responses:
            forms[typed_form(response.typed)].append(response.typed)
        ordered = sorted(forms.values(), key=lambda texts: (-len(texts), texts[0]))
        all_same = len(ordered) == 1 and typed_form(ordered[0][0])
        consensus = ordered[0][0] if all_same else ""
        suspects.append(SuspectKey(item, place, len(responses), consensus, tuple(texts[0] for texts in ordered)))
    return suspects


def _pairs(graded: Sequence[GradedResponse]) -> dict[int, tuple[int, int]]:
    """Count the pairs with others that typed the same, and all pairs, of each rater."""
    same: dict[int, int] = defaultdict(int)
    count: dict[int, int] = defaultdict(int)
    for unit in _grouped(graded, lambda response: (response.item, response.condition, response.place)).values():
        typed = [(response.rater, typed_form(response.typed)) for response in unit]
        of_rater, of_form = Counter(rater for rater, _ in typed), Counter(form for _, form in typed)
        for (rater, form), own in Counter(typed).items():
            count[rater] += own * (len(typed) - of_rater[rater])
            same[rater] += own * (of_form[form] - own)
    return {response.rater: (same[response.rater], count[response.rater]) for response in graded}


def _share(graded: Collection[GradedResponse], is_right: IsRight) -> float:
    return sum(map(is_right, graded)) / len(graded)


def _grouped(values: Iterable[One], key: Callable[[One], Key]) -> dict[Key, list[One]]:
    groups: dict[Key, list[One]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups
