"""An item's scores: what was asked and is missing is wrong; what nobody asked for is no number."""

import math

from vcrgen.scorer.choices.grammar import PUBLISHED, Reading, ReadingKind
from vcrgen.scorer.choices.item import Asked, ItemScores, Said, score_item
from vcrgen.scorer.choices.likelihood import OTHER_COUNTS, TIED
from vcrgen.tasks.bloom import shown_option

OPTIONS = ("a cat", "a dog", "a horse", "a cow")
LIKELY = ((-1.0, -1.0), (-0.1,), (-2.0,), (-3.0,))
OUTPUTS = Asked(outputs=True)


def known(scores: ItemScores) -> dict[str, float]:
    return {name: value for name, value in scores._asdict().items() if not math.isnan(value)}


def test_names_and_order_of_the_metrics() -> None:
    names = "rae circular trap lbs lbs_sum lbs_byte lbs_char lbs_pmi letter confidence brier"
    assert ItemScores._fields == tuple(names.split())


def test_right_wrong_trap() -> None:
    right = score_item(OPTIONS, 1, [Said("B")], asked=OUTPUTS, trap=2)
    assert known(right.scores) == {"rae": 1.0} and right.reading == Reading(1, ReadingKind.CHOSEN)
    assert known(score_item(OPTIONS, 1, [Said("C")], asked=OUTPUTS, trap=2).scores) == {"rae": 0.0, "trap": 1.0}
    assert known(score_item(OPTIONS, 1, [Said("A")], asked=OUTPUTS, trap=2).scores) == {"rae": 0.0, "trap": 0.0}
    assert known(score_item(OPTIONS, 1, [Said("A")], asked=OUTPUTS).scores) == {"rae": 0.0}
    assert known(score_item(OPTIONS, 1, [Said("A or C")], asked=OUTPUTS, trap=2).scores) == {"rae": 0.0}


def test_missing_is_wrong_where_it_was_asked_and_nothing_where_not() -> None:
    asked = Asked(outputs=True, rotations=True, logprobs=True, blind=True, letters=True)
    missing = score_item(OPTIONS, 1, [], asked=asked, trap=2)
    wrong = ("rae", "circular", "lbs", "lbs_sum", "lbs_byte", "lbs_char", "lbs_pmi", "letter")
    assert known(missing.scores) == dict.fromkeys(wrong, 0.0) and missing.reading is None and not missing.problems
    assert known(score_item(OPTIONS, 1, [Said("B", logprobs=LIKELY)], asked=Asked()).scores) == {}


def test_circular_is_right_in_all_four_orders() -> None:
    asked = Asked(outputs=True, rotations=True)
    labels = {shown_option(label, rotation): label for rotation in range(1) for label in range(4)}
    assert labels == {0: 0, 1: 1, 2: 2, 3: 3}
    said = [Said("ABCD"[(1 - rotation) % 4], rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 1, said, asked=asked).scores) == {"rae": 1.0, "circular": 1.0}
    assert known(score_item(OPTIONS, 1, said[:3], asked=asked).scores) == {"rae": 1.0, "circular": 0.0}
    assert known(score_item(OPTIONS, 1, said[1:], asked=asked).scores) == {"rae": 0.0, "circular": 0.0}
    always_a = [Said("A", rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 0, always_a, asked=asked).scores) == {"rae": 1.0, "circular": 0.0}
    by_text = [Said("a dog", rotation) for rotation in range(4)]
    assert known(score_item(OPTIONS, 1, by_text, asked=asked).scores) == {"rae": 1.0, "circular": 1.0}


def test_likelihoods_with_and_without_the_picture() -> None:
    asked = Asked(logprobs=True)
    found = score_item(OPTIONS, 1, [Said(logprobs=LIKELY)], asked=asked)
    assert found.scores.lbs == found.scores.lbs_sum == 1.0 and math.isnan(found.scores.lbs_pmi + found.scores.rae)
    # The picture makes the cat much likelier than it was, and the dog no likelier.
    blind = ((-5.0, -5.0), (-0.1,), (-2.0,), (-3.0,))
    both = score_item(OPTIONS, 1, [Said(logprobs=LIKELY)], asked=asked._replace(blind=True), blind=blind)
    assert (both.scores.lbs, both.scores.lbs_pmi) == (1.0, 0.0)
    assert score_item(OPTIONS, 0, [Said(logprobs=LIKELY)], asked=asked, blind=blind).scores.lbs_pmi == 1.0


def test_counts_of_tokens_that_differ_are_a_problem_and_no_score() -> None:
    other = ((-1.0,), *LIKELY[1:])
    asked = Asked(outputs=True, logprobs=True)
    for said, blind in (([Said("B", 0, LIKELY), Said("A", 1, other)], None), ([Said("B", 0, LIKELY)], other)):
        found = score_item(OPTIONS, 1, said, asked=asked, blind=blind)
        assert found.problems == (OTHER_COUNTS,) and found.scores.lbs == 0.0 and math.isnan(found.scores.brier)
        assert found.scores.rae == 1.0


def test_a_tie_is_wrong_and_counted() -> None:
    found = score_item(OPTIONS, 0, [Said(logprobs=((0.0,),) * 4)], asked=Asked(logprobs=True))
    assert found.scores.lbs == 0.0 and found.problems == (TIED,)
    letters = score_item(OPTIONS, 0, [Said(letters=(-1.0, -1.0, -2.0, -3.0))], asked=Asked(letters=True))
    assert known(letters.scores) == {"letter": 0.0}


def test_letters_are_those_of_the_datasets_order() -> None:
    said = [Said(letters=(-3.0, -0.1, -3.0, -3.0)), Said(rotation=1, letters=(-0.1, -3.0, -3.0, -3.0))]
    assert known(score_item(OPTIONS, 1, said, asked=Asked(letters=True)).scores) == {"letter": 1.0}


def test_the_published_reading() -> None:
    found = score_item(OPTIONS, 1, [Said("Option 2")], asked=OUTPUTS, protocol=PUBLISHED)
    assert known(found.scores) == {"rae": 1.0}
    assert known(score_item(OPTIONS, 1, [Said("B")], asked=OUTPUTS, protocol=PUBLISHED).scores) == {"rae": 0.0}
