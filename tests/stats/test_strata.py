"""Samples of parts: how many of each, and whether intervals hold the mean of the whole."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from vcrgen.stats.intervals import wilson_interval
from vcrgen.stats.strata import Stratum, allocate, stratified_mean

COUNTS = Path(__file__).resolve().parents[2].parent / "shared/data/papers/bloom_taxonomy.csv"


@pytest.fixture(scope="module")
def sizes() -> list[int]:
    """Items of the 106 categories of BloomBench."""
    if not COUNTS.exists():
        pytest.skip("needs shared/data/papers/bloom_taxonomy.csv")
    with COUNTS.open(encoding="utf-8") as file:
        return [int(row["count"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("sizes", "total", "least", "counts"),
    [
        ([10, 10], 6, 2, [3, 3]),
        ([30, 10], 8, 2, [6, 2]),
        ([30, 10, 1], 8, 2, [5, 2, 1]),  # a part of one item gives it
        ([5, 5], 2, 4, [4, 4]),  # the least of each part comes first
        ([3, 2], 99, 1, [3, 2]),  # never more than there are
        ([], 5, 1, []),
    ],
)
def test_allocate(sizes: list[int], total: int, least: int, counts: list[int]) -> None:
    assert allocate(sizes, total, least) == counts


def test_each_part_counts_by_its_size() -> None:
    found = stratified_mean([Stratum(90, [1, 1, 1, 0]), Stratum(10, [0, 0])])
    assert found and found.value == pytest.approx(0.675) and found.drawn == 6 and 0 < found.low < 0.675 < found.high < 1


def test_parts_without_a_member_are_left_out_and_nothing_is_none() -> None:
    assert stratified_mean([Stratum(90, []), Stratum(10, [1.0])]) == stratified_mean([Stratum(10, [1.0])])
    assert stratified_mean([Stratum(9, [])]) is None and stratified_mean([]) is None


def test_a_part_of_one_drawn_member_varies_as_all_do() -> None:
    one = stratified_mean([Stratum(50, [1.0]), Stratum(50, [0.0, 1.0])])
    assert one and one.value == 0.75 and one.low < 0.5


def test_wilson_of_the_published_audit() -> None:
    assert wilson_interval(0.9845, 969) == pytest.approx((0.9746, 0.9906), abs=5e-5)
    assert wilson_interval(1.0, 10)[1] == 1.0 and wilson_interval(0.0, 10)[0] == 0.0


def test_the_interval_holds_the_true_rate(sizes: list[int]) -> None:
    """950 approvals of 969; 400 sets here, 2,000 in ``scripts/measure_audit.py``."""
    rng, rate, held, sets = np.random.default_rng(5), 950 / 969, 0, 400
    counts = allocate(sizes, 969, 4)
    for _ in range(sets):
        whole = [rng.random(size) < rate for size in sizes]
        strata = [
            Stratum(len(items), items[:count].astype(float).tolist())
            for items, count in zip(whole, counts, strict=True)
        ]
        found = stratified_mean(strata)
        assert found
        held += found.low <= np.concatenate(whole).mean() <= found.high
    slack = 3 * math.sqrt(0.95 * 0.05 / sets)
    assert 0.93 - slack / 2 <= held / sets <= 0.97 + slack / 2


def test_what_was_drawn_as_a_whole_is_known_exactly() -> None:
    whole = [1.0] * 18 + [0.0] * 2
    assert stratified_mean([Stratum(20, whole)]) == (0.9, 0.9, 0.9, 20)
    nearly, part = stratified_mean([Stratum(20, whole[1:])]), stratified_mean([Stratum(200, whole)])
    assert nearly and part and nearly.high - nearly.low < (part.high - part.low) / 2
