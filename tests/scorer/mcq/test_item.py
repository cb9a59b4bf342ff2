"""An item's scores: what was asked and is missing is wrong; what nobody asked for is no number."""

import math

import pytest

from vcrgen.scorer.mcq.choices import PUBLISHED, RULES
from vcrgen.scorer.mcq.item import ItemResponse, ItemScores, RequestedMetrics, score_item
from vcrgen.scorer.mcq.likelihood import OTHER_COUNTS, TIED

OPTIONS = ("a cat", "a dog", "a horse", "a cow")
LIKELY = ((-1.0, -1.0), (-0.1,), (-2.0,), (-3.0,))
OUTPUTS = RequestedMetrics(outputs=True)


def known(scores: ItemScores) -> dict[str, float]:
    return {name: value for name, value in scores._asdict().items() if not math.isnan(value)}


@pytest.mark.parametrize(
    ("output", "trap", "protocol", "expected"),
    [
        ("B", 2, RULES, {"rae": 1.0}),
        ("C", 2, RULES, {"rae": 0.0, "trap": 1.0}),
        ("A", 2, RULES, {"rae": 0.0, "trap": 0.0}),
        ("A", None, RULES, {"rae": 0.0}),
        ("A or C", 2, RULES, {"rae": 0.0}),
        ("Option 2", None, PUBLISHED, {"rae": 1.0}),
        ("B", None, PUBLISHED, {"rae": 0.0}),
    ],
)
def test_right_wrong_trap(output: str, trap: int | None, protocol: str, expected: dict[str, float]) -> None:
    found = score_item(OPTIONS, 1, [ItemResponse(output)], requested=OUTPUTS, trap=trap, protocol=protocol)
    assert known(found.scores) == expected and found.reading is not None
    assert found.reading.choice == {"A": 0, "C": 2, "A or C": None}.get(output, 1 if expected["rae"] else None)


def test_missing_is_wrong_where_it_was_asked_and_nothing_where_not() -> None:
    asked = RequestedMetrics(outputs=True, rotations=True, logprobs=True, text_only=True, label_logprobs=True)
    missing = score_item(OPTIONS, 1, [], requested=asked, trap=2)
    wrong = ("rae", "circular", "lbs", "lbs_sum", "lbs_byte", "lbs_char", "lbs_pmi", "letter")
    assert known(missing.scores) == dict.fromkeys(wrong, 0.0) and missing.reading is None and not missing.problems
    assert (
        known(score_item(OPTIONS, 1, [ItemResponse("B", logprobs=LIKELY)], requested=RequestedMetrics()).scores) == {}
    )


def test_circular_is_right_in_all_four_orders() -> None:
    asked = RequestedMetrics(outputs=True, rotations=True)
    said = [ItemResponse("ABCD"[(1 - rotation) % 4], rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 1, said, requested=asked).scores) == {"rae": 1.0, "circular": 1.0}
    assert known(score_item(OPTIONS, 1, said[:3], requested=asked).scores) == {"rae": 1.0, "circular": 0.0}
    assert known(score_item(OPTIONS, 1, said[1:], requested=asked).scores) == {"rae": 0.0, "circular": 0.0}
    always_a = [ItemResponse("A", rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 0, always_a, requested=asked).scores) == {"rae": 1.0, "circular": 0.0}
    by_text = [ItemResponse("a dog", rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 1, by_text, requested=asked).scores) == {"rae": 1.0, "circular": 1.0}


def test_likelihoods_with_and_without_the_picture() -> None:
    asked = RequestedMetrics(logprobs=True)
    found = score_item(OPTIONS, 1, [ItemResponse(logprobs=LIKELY)], requested=asked)
    assert found.scores.lbs == found.scores.lbs_sum == 1.0 and math.isnan(found.scores.lbs_pmi + found.scores.rae)
    # The picture makes the cat much likelier than it was, and the dog no likelier.
    blind = ((-5.0, -5.0), (-0.1,), (-2.0,), (-3.0,))
    both = score_item(
        OPTIONS, 1, [ItemResponse(logprobs=LIKELY)], requested=asked._replace(text_only=True), text_only=blind
    )
    assert (both.scores.lbs, both.scores.lbs_pmi) == (1.0, 0.0)
    assert (
        score_item(OPTIONS, 0, [ItemResponse(logprobs=LIKELY)], requested=asked, text_only=blind).scores.lbs_pmi == 1.0
    )


def test_counts_of_tokens_that_differ_are_a_problem_and_no_score() -> None:
    other = ((-1.0,), *LIKELY[1:])
    asked = RequestedMetrics(outputs=True, logprobs=True)
    for said, blind in (
        ([ItemResponse("B", 0, LIKELY), ItemResponse("A", 1, other)], None),
        ([ItemResponse("B", 0, LIKELY)], other),
    ):
        found = score_item(OPTIONS, 1, said, requested=asked, text_only=blind)
        assert found.problems == (OTHER_COUNTS,) and found.scores.lbs == 0.0 and math.isnan(found.scores.brier)
        assert found.scores.rae == 1.0


def test_a_tie_is_wrong_and_counted() -> None:
    found = score_item(OPTIONS, 0, [ItemResponse(logprobs=((0.0,),) * 4)], requested=RequestedMetrics(logprobs=True))
    assert found.scores.lbs == 0.0 and found.problems == (TIED,)
    letters = score_item(
        OPTIONS,
        0,
        [ItemResponse(label_logprobs=(-1.0, -1.0, -2.0, -3.0))],
        requested=RequestedMetrics(label_logprobs=True),
    )
    assert known(letters.scores) == {"letter": 0.0}


def test_letters_are_those_of_the_datasets_order() -> None:
    said = [
        ItemResponse(label_logprobs=(-3.0, -0.1, -3.0, -3.0)),
        ItemResponse(rotation=1, label_logprobs=(-0.1, -3.0, -3.0, -3.0)),
    ]
    assert known(score_item(OPTIONS, 1, said, requested=RequestedMetrics(label_logprobs=True)).scores) == {
        "letter": 1.0
    }
