"""Agreement of raters."""

import random

import pytest
from rapidfuzz.distance import Levenshtein

from vcrgen.stats.agreement import count_equal_pairs, fleiss_kappa, gwet_ac1, krippendorff_alpha

WORDS = ["", "red", "red fox", "rod fox", "fox", "红色的狐狸", "红色狐狸", "Red Fox", "the red fox"]


def edit(a: str, b: str) -> float:
    return Levenshtein.normalized_distance(a, b)


def test_alpha_is_that_of_another_program_on_a_thousand_matrices_with_gaps() -> None:
    """krippendorff is GPL-3: an oracle here, and nowhere in the package."""
    krippendorff = pytest.importorskip("krippendorff", reason='needs pip install ".[dev]"')
    np = pytest.importorskip("numpy")
    distances = np.array([[edit(a, b) for b in WORDS] for a in WORDS])
    rng = random.Random(5)
    undefined = 0
    for _ in range(1000):
        units, kinds = rng.randrange(1, 25), rng.randrange(1, len(WORDS) + 1)
        counts = np.zeros((units, len(WORDS)))
        texts: list[list[str]] = []
        for unit in range(units):
            numbers = [rng.randrange(kinds) for _ in range(rng.randrange(0, 6))]
            for number in numbers:
                counts[unit, number] += 1
            texts.append([WORDS[number] for number in numbers])
        ours = krippendorff_alpha(texts), krippendorff_alpha(texts, edit)
        if ours[0] is None or ours[1] is None:
            undefined += 1
            assert len({text for unit in texts if len(unit) > 1 for text in unit}) <= 1
            continue

        def metric(v1, v2, i1, i2, n_v, dtype):  # type: ignore[no-untyped-def]
            return distances[i1, i2]

        theirs = [
            krippendorff.alpha(value_counts=counts, level_of_measurement=kind, value_domain=range(len(WORDS)))
            for kind in ("nominal", metric)
        ]
        assert ours == pytest.approx(theirs, abs=1e-9)
    assert undefined < 200


def test_ac1_by_hand() -> None:
    """Two raters: 118 + 2 of 125 agree; the categories have the shares 0.964 and 0.036."""
    units = [[1, 1]] * 118 + [[1, 0]] * 2 + [[0, 1]] * 3 + [[0, 0]] * 2
    share = (118 * 2 + 5) / 250
    chance = 2 * share * (1 - share)
    assert gwet_ac1(units) == pytest.approx((120 / 125 - chance) / (1 - chance))
    assert gwet_ac1(units) == pytest.approx(0.9570, abs=1e-4)


def test_ac1_of_three_categories_and_a_gap_by_hand() -> None:
    # Pairs that agree: 1/3, 1, and nothing of the single one. Shares: a 2/3, 1, 0; b 1/3, 0, 0; c 0, 0, 1.
    units = [["a", "a", "b"], ["a", "a"], ["c"]]
    shares = [(2 / 3 + 1) / 3, (1 / 3) / 3, 1 / 3]
    chance = sum(share * (1 - share) for share in shares) / 2
    assert gwet_ac1(units) == pytest.approx(((1 / 3 + 1) / 2 - chance) / (1 - chance))


def test_full_agreement_and_none() -> None:
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1 and gwet_ac1([["a", "a"], ["b", "b"]]) == 1
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]) == pytest.approx(-0.5)
    assert gwet_ac1([[True, True], [True, True]]) == 1 and krippendorff_alpha([[True, True], [True, True]]) is None
    assert (
        krippendorff_alpha([]) is None and gwet_ac1([["a"], []]) is None and krippendorff_alpha([["a"], ["b"]]) is None
    )


def test_pairs_that_are_the_same() -> None:
    assert count_equal_pairs([["cat", "cat", "cut"], ["dog", "dog"], ["owl"], []]) == (2, 4)


def test_kappa_of_the_example_of_fleiss() -> None:
    """Ten subjects, fourteen raters, five categories: 0.210."""
    table = [
        (0, 0, 0, 0, 14),
        (0, 2, 6, 4, 2),
        (0, 0, 3, 5, 6),
        (0, 3, 9, 2, 0),
        (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0),
        (3, 2, 6, 3, 0),
        (2, 5, 3, 2, 2),
        (6, 5, 2, 1, 0),
        (0, 2, 2, 3, 7),
    ]
    units = [[kind for kind, times in enumerate(row) for _ in range(times)] for row in table]
    assert fleiss_kappa(units) == pytest.approx(0.210, abs=5e-4)


def test_kappa_of_nothing_that_could_have_differed() -> None:
    assert fleiss_kappa([["a", "a"], ["a", "a"]]) is None
    assert fleiss_kappa([["a"], ["b"]]) is None and fleiss_kappa([]) is None
    assert fleiss_kappa([["a", "a"], ["b", "b"]]) == 1
