"""Figures of marks that were made up, and the published ones."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loading import load_script
from vcrgen.data.views import View
from vcrgen.study.options import StudyOptions
from vcrgen.study.records import Condition, GradedResponse, StudyDesign, StudyItem
from vcrgen.study.report_tables import human_table
from vcrgen.study.scoring import (
    agreement,
    exact_match,
    filtered_match,
    human_minus_model,
    human_scores,
    lenient_match,
    rater_statistics,
    suspect_keys,
    view_difference,
)

# Table 3 of the paper: N, the decoded numbers of restored texts of three raters, and of those that count when errors
# with names and dates do not; then the mean and the deviation of both, as printed.
TABLE_3 = [
    ("en", "easy", 169, (163, 163, 164), (166, 167, 167), "96.65", "0.34", "98.62", "0.34"),
    ("en", "hard", 169, (152, 154, 156), (161, 166, 168), "91.12", "1.18", "97.63", "2.13"),
    ("zh", "easy", 188, (185, 185, 186), (187, 187, 187), "98.58", "0.31", "99.47", "0.00"),
    ("zh", "hard", 188, (171, 173, 174), (180, 181, 184), "91.84", "0.81", "96.63", "1.11"),
]


def marks_of(spans: int, right: tuple[int, ...], counting: tuple[int, ...]) -> list[GradedResponse]:
    """One pass a rater over all spans, two an item."""
    return [
        GradedResponse(
            rater=rater + 1,
            item=span // 2,
            condition=0,
            turn=rater,
            place=span % 2,
            typed="x",
            unread=False,
            exact_match=span < all_right,
            lenient_match=span < all_right,
            excused=all_right <= span < not_counted,
        )
        for rater, (all_right, not_counted) in enumerate(zip(right, counting, strict=True))
        for span in range(spans)
    ]


def study_design(lang: str = "en", conditions: tuple[Condition, ...] = (), spans: int = 1) -> StudyDesign:
    return StudyDesign(
        data="",
        lang=lang,
        hidden=False,
        signature="",
        conditions=conditions,
        items=100,
        training=0,
        spans=spans,
        options=StudyOptions(max_blank=1, max_fast=1).model_dump(),
    )


@pytest.mark.parametrize(("lang", "other"), [("en", ()), ("zh", ()), ("en", (162, 164, 169))])
def test_the_report_has_the_published_figures(lang: str, other: tuple[int, ...]) -> None:
    """Of the filtered hard English texts, 162, 164 and 169 give the same figures as 161, 166 and 168."""
    published = [row for row in TABLE_3 if row[0] == lang]
    if other:
        published[1] = (*published[1][:4], other, *published[1][5:])
    graded = []
    for condition, (_, _, spans, right, counting, *_) in enumerate(published):
        graded += [one._replace(condition=condition) for one in marks_of(spans, right, counting)]
    conditions = tuple(Condition(mode, View.STACKED) for _, mode, *_ in published)
    rows = human_table(study_design(lang, conditions, spans=published[0][2]), graded).texts()
    for row, (_, mode, spans, _, _, *figures) in zip(rows, published, strict=True):
        assert row[:4] == [lang, f"{mode}, VI+TEI", str(spans), "3"]
        assert [row[4], row[5], row[7], row[8]] == figures
        low, high = map(float, row[6].split(" to "))
        assert low < float(row[4]) < high


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 6), st.integers(0, 2), *[st.booleans()] * 4),
        min_size=1,
        max_size=40,
        unique_by=lambda response: response[:3],
    )
)
def test_every_value_lies_in_its_interval(responses: list[tuple[int, int, int, bool, bool, bool, bool]]) -> None:
    """In studies in which anybody lacks anything; a pass of one response counted as much as a whole one."""
    graded = [
        GradedResponse(
            rater=rater,
            item=item,
            condition=0,
            turn=turn,
            place=0,
            typed="x",
            unread=False,
            exact_match=right,
            lenient_match=lenient,
            excused=excused,
        )
        for rater, item, turn, right, lenient, excused, _ in responses
    ]
    for is_right in (exact_match, filtered_match, lenient_match):
        found = human_scores(graded, is_right, seed=0).mean
        assert found.value == pytest.approx(sum(map(is_right, graded)) / len(graded))
        assert 0 <= found.low <= found.value <= found.high <= 1
    model = {(one.item, one.place): other for one, (*_, other) in zip(graded, responses, strict=True)}
    first, second = graded[::2], graded[1::2]
    differences = [human_minus_model(graded, model, seed=0)]
    differences += [found.difference for found in [view_difference(first, second, seed=0)] if found]
    for each in differences:
        assert each is not None and -1 <= each.low <= each.value <= each.high <= 1


def test_a_response_counts_as_one_however_few_its_pass_has() -> None:
    """The newcomer's single item had as much weight as the hundred of each pass that was whole."""
    graded = marks_of(100, (80, 80), (80, 80))
    graded.append(graded[0]._replace(rater=3, turn=2, exact_match=False))
    assert human_scores(graded, exact_match, seed=0).mean.value == pytest.approx(160 / 201)


def mark(rater: int, item: int, typed: str, *, right: bool = False, place: int = 0) -> GradedResponse:
    return GradedResponse(rater, item, 0, rater, place, typed, not typed, right, right)


def test_agreement_of_typed_texts_takes_no_notice_of_slips() -> None:
    found = agreement([mark(1, 0, "Red Fox", right=True), mark(2, 0, "red  fox", right=True), mark(3, 0, "rod fox")])
    assert (found.same, found.pairs) == (1, 3)
    assert found.edit is not None and found.nominal is not None and found.edit == pytest.approx(found.nominal)


def test_a_rater_who_agrees_with_nobody_is_shown_and_not_left_out() -> None:
    graded = [mark(rater, item, "right", right=True) for rater in range(1, 8) for item in range(20)]
    graded += [mark(8, item, f"wrong {item}") for item in range(20)]
    assert [(one.rater, one.is_outlier, one.is_excluded) for one in _raters(graded) if one.is_outlier] == [
        (8, True, False)
    ]
    assert {one.seconds for one in _raters(graded)} == {4.0}  # by the service's clock, not as browsers say
    assert not any(one.is_outlier for one in _raters([m for m in graded if m.rater in (6, 7, 8)]))  # too few to tell


def _raters(graded: list[GradedResponse]):  # type: ignore[no-untyped-def]
    from vcrgen.study.assignment import Step, StepKind
    from vcrgen.study.records import RaterStep, Response

    places = [
        RaterStep(
            m.rater, m.item, Step(StepKind.ITEM, m.item, 0, 0), Response((m.typed,), (False,), 3.0, True, 1), took=4.0
        )
        for m in graded
    ]
    items = [StudyItem(number=item, question_id=str(item), fields=1) for item in range(20)]
    return rater_statistics(graded, places, study_design(), items)


def test_keys_that_may_be_wrong() -> None:
    graded = [mark(1, 0, "a fox"), mark(2, 0, "A fox"), mark(1, 1, "x"), mark(2, 1, "y"), mark(1, 2, "z")]
    graded += [
        mark(1, 3, "x"),
        mark(2, 3, "right", right=True),
        mark(1, 4, ""),
        mark(2, 4, ""),
    ]
    found = {key.item: key for key in suspect_keys(graded)}
    assert sorted(found) == [0, 1, 4]  # 2 was seen by one rater, 3 was restored
    assert found[0].consensus == "A fox" or found[0].consensus == "a fox"
    assert found[1].consensus == found[4].consensus == "" and set(found[1].typed) == {"x", "y"}


@pytest.mark.sweep
def test_intervals_hold_the_mean_of_raters_of_known_skill() -> None:
    """A small run of scripts/measure_study.py: skills are drawn evenly from 75 to 99 %."""
    measure = load_script("measure_study")
    held = float(measure.coverage(60, measure.evenly, 0.87).split()[0])
    assert 88 <= held <= 99.2


def views_of(shares: Mapping[int, tuple[int, int]]) -> tuple[list[GradedResponse], list[GradedResponse]]:
    """Marks of items in two views, by three of six raters each: how many are right in the one and in the other."""
    rng, first, second = random.Random(0), [], []
    for item, (one, other) in shares.items():
        people = rng.sample(range(1, 7), 6)
        first += [mark(people[place], item, "x", right=place < one) for place in range(3)]
        second += [mark(people[place + 3], item, "x", right=place < other) for place in range(3)]
    return first, second


def test_one_view_minus_the_other_is_paired_by_item() -> None:
    """The mean over items of the differences of their shares: 1/3, 3/3 and 1/3, and of no item seen in one view."""
    first, second = views_of({0: (2, 1), 1: (3, 0), 2: (3, 2)})
    first.append(mark(1, 9, "x", right=True))
    found = view_difference(first, second, seed=0)
    assert found is not None and found.spans == 3
    assert found.means == pytest.approx((8 / 9, 3 / 9)) and found.difference.value == pytest.approx(5 / 9)
    assert -1 <= found.difference.low < 5 / 9 < found.difference.high <= 1
    assert view_difference(first, [], seed=0) is None and view_difference(first[:3], second[3:], seed=0) is None


def test_who_has_more_items_in_one_view_does_not_widen_the_difference() -> None:
    """Raters 1 to 3 have the picture and the others have none; all of a view do the same."""
    first = [mark(rater, item, "x", right=True) for item in range(40) for rater in (1, 2, 3)]
    second = [mark(rater, item, "x", right=item % 2 == 0) for item in range(40) for rater in (4, 5, 6)]
    found = view_difference(first, second, seed=0)
    assert found is not None and found.difference.value == 0.5
    assert found.difference.high - found.difference.low < 0.45  # with raters who differ, it were twice as wide


@pytest.mark.sweep
def test_intervals_of_differences_hold_the_true_one() -> None:
    """A small run of scripts/measure_study.py: raters of any skill, and a view in which they do just as well."""
    measure = load_script("measure_study")
    measure.OTHER_VIEW_MEAN = 0.87
    held = float(measure.coverage_of_differences(40, measure.evenly, 0.87).split()[0])
    assert held >= 88


def test_intervals_beside_a_model_hold_the_true_difference() -> None:
    """A small run of scripts/measure_study.py: three raters of different skill, and a model that is as good."""
    held, width = load_script("measure_study").coverage_beside_model(40, (3, 50), (0.6, 1.0), (0.75, 0.75)).split()
    assert float(held) >= 88 and float(width.strip("()")) < 50


def test_a_model_is_set_beside_people_on_what_both_have() -> None:
    graded = [mark(rater, item, "x", right=item < 15) for rater in range(1, 6) for item in range(20)]
    same = human_minus_model(graded, {(item, 0): item < 15 for item in range(20)}, seed=0)
    worse = human_minus_model(graded, {(item, 0): item < 5 for item in range(10)}, seed=0)
    assert same is not None and same.value == 0 and same.low < 0 < same.high
    assert worse is not None and worse.value == 0.5 and 0 < worse.low < 0.5 < worse.high
    assert human_minus_model(graded, {}, seed=0) is None
