from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.builder.options import parse_splits
from vcrgen.builder.records import KEY_DTYPE
from vcrgen.builder.run import build
from vcrgen.builder.splits import assign
from vcrgen.core.errors import ConfigError
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR


def keys_of(pairs: list[tuple[int, int]]) -> np.ndarray:
    """Keys of pairs of image number and caption number."""
    return np.array([(f"p{i}-{c}", f"i{i}", f"c{c}") for i, c in pairs], dtype=KEY_DTYPE)


PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=120)


@given(PAIRS, st.integers(0, 3))
def test_every_pair_is_in_one_place_and_nothing_is_shared(pairs: list[tuple[int, int]], seed: int) -> None:
    result = assign(keys_of(pairs), parse_splits("train=...,validation=0.2,test=0.1"), seed=seed)
    placed = sorted([n for rows in result.splits.values() for n in rows.tolist()] + result.duplicates.tolist())
    assert placed == list(range(len(pairs)))
    seen: dict[tuple[str, int], str] = {}
    for split, rows in result.splits.items():
        assert rows.tolist() == sorted(rows.tolist())
        for image, caption in (pairs[n] for n in rows):
            assert seen.setdefault(("image", image), split) == split
            assert seen.setdefault(("caption", caption), split) == split
    assert all(pairs[n] in pairs[:n] for n in result.duplicates)


@given(st.permutations(range(40)))
def test_the_order_of_the_source_does_not_matter(order: list[int]) -> None:
    sizes = parse_splits("train=...,test=10")
    pairs = [(i, i % 13) for i in range(40)]

    def members(order: list[int]) -> set[tuple[int, int]]:
        chosen = [pairs[n] for n in order]
        return {chosen[n] for n in assign(keys_of(chosen), sizes, seed=3).splits["test"]}

    assert members(list(range(40))) == members(order)


def test_counts_are_exact() -> None:
    pairs = [(i, i) for i in range(500)]
    result = assign(keys_of(pairs), parse_splits("validation=50,train=...,test=70"), seed=0)
    assert {name: len(rows) for name, rows in result.splits.items()} == {"validation": 50, "train": 380, "test": 70}
    assert list(result.splits) == ["validation", "train", "test"]


def test_too_few_pairs() -> None:
    with pytest.raises(ConfigError, match="asks for 50 pairs in 'test'"):
        assign(keys_of([(i, i) for i in range(20)]), parse_splits("train=...,test=50"), seed=0)


def test_one_split_keeps_the_first_of_duplicates() -> None:
    result = assign(keys_of([(1, 1), (2, 2), (1, 1), (1, 1)]), parse_splits("train=..."), seed=0)
    assert result.splits["train"].tolist() == [0, 1]
    assert result.duplicates.tolist() == [2, 3]


def test_redrawn_spans_of_the_same_splits(tmp_path: Path) -> None:
    """Else a model's outputs on redrawn spans would be of other images than those on the test split."""
    found = []
    for seed, split_seed in ((0, None), (1, 0), (1, None)):
        out = tmp_path / f"{seed} {split_seed}"
        build("samples", out=out, limit=12, mode="hard", seed=seed, split_seed=split_seed, splits="train=...,test=5")
        rows = list(open_dataset(out, VCR).select(split="test").rows(["source_id", "crossed_text"]))
        found.append({row["source_id"]: row["crossed_text"] for _, row in rows})
    assert found[0].keys() == found[1].keys() != found[2].keys() and found[0] != found[1]
    assert [len(rows) for rows in found] == [5, 5, 5]
