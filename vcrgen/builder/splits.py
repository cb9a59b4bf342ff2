"""Deduplication and splits: no picture, no copy of one in another file, and no caption is in two splits."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vcrgen.builder.records import PICTURE_BYTES
from vcrgen.core.errors import ConfigError
from vcrgen.core.plurals import pluralize

Keys = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint8]  # difference hashes, shape (number, 32)

RULE = "copies-1"  # name and version of what decides which split a pair is in, for fingerprints
# Near copies agree in one of so many bands of their hashes, into which neighbouring cells go in turn.
BANDS = 10
# Bits in which near copies differ at most: JPEG of quality 30 changes 14 of real photos, and other photos differ in 44.
MAX_DISTANCE = 16
# Bits that are set in a hash at least: flatter pictures are alike whatever they show.
LEAST_BITS = 16
MAX_GROUP = 50  # pictures that can be copies of one another; larger groups look alike for another reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The assignment of all built pairs to splits."""

    splits: dict[str, Rows]  # split name to the numbers of its rows, ascending, in the order of `--splits`
    duplicates: Rows  # numbers of the rows that repeat an earlier pair
    refused: int = 0  # groups of more than `MAX_GROUP` pictures that look alike, which were not joined


@dataclass(frozen=True, slots=True)
class _Edges:
    """Pairs of nodes that belong together, by number."""

    left: Rows
    right: Rows


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Pictures that may be copies of one another, and those that are too many to be compared."""

    near: _Edges
    crowded: _Edges


def assign(keys: Keys, sizes: Mapping[str, int | float | None], *, seed: int, near_copies: bool = True) -> Assignment:
    """Assign rows to splits by the hash of their content, never by their order in the source.

    A pair repeats an earlier one if it has the same caption and the same picture (VI) or a near copy of it. Pairs that
    share a picture or a caption, directly or by way of other pairs, stay together. Such groups are taken in the order
    of a hash; a group that no longer fits into a split of a given size is left for the next one.

    Args:
        keys: A record of `KEY_DTYPE` for each row.
        sizes: What `parse_splits` reads.
        seed: Of the order of groups.
        near_copies: Near copies count as the same picture; without them only pictures of equal pixels. They are looked
            for where a split other than ``train`` is asked for.

    Raises:
        ConfigError: There are too few pairs, or their groups are too large, for the sizes asked for.
    """
    pixels, first, picture = np.unique(keys["pixels"], return_index=True, return_inverse=True)
    captions, caption = np.unique(keys["caption"], return_inverse=True)
    refused = 0
    if near_copies and set(sizes) != {"train"}:
        copies, refused = _number_copies(keys["difference"][first])
        picture = copies[picture]
    unique = np.sort(np.unique(picture * len(captions) + caption, return_index=True)[1]).astype(np.int64)
    duplicates = np.setdiff1d(np.arange(len(keys)), unique, assume_unique=True)
    if len(sizes) == 1:
        return Assignment(splits=dict.fromkeys(sizes, unique), duplicates=duplicates, refused=refused)

    group = _components(len(pixels) + len(captions), _Edges(picture, len(pixels) + caption))[picture]
    splits = _fill_splits(group, _ranked(group, keys["pair"], seed), unique, sizes)
    return Assignment(splits=splits, duplicates=duplicates, refused=refused)


def _fill_splits(
    group: Rows, ranked: list[int], unique: Rows, sizes: Mapping[str, int | float | None]
) -> dict[str, Rows]:
    """Rows of each split, by its name; ascending.

    Args:
        group: The number of each row's group.
        ranked: The numbers of the groups in the order in which they are taken.
        unique: The rows that are in a split.
        sizes: What `parse_splits` reads.
    """
    members = np.bincount(group[unique], minlength=int(group.max(initial=0)) + 1).tolist()
    names = list(sizes)
    rest = next(number for number, size in enumerate(sizes.values()) if size is None)
    split_of = np.full(len(members), rest)
    for number, (name, size) in enumerate(sizes.items()):
        if size is None:
            continue
        quota = size if isinstance(size, int) else round(size * len(unique))
        taken = 0
        postponed: list[int] = []
        for candidate in ranked:
            if taken + members[candidate] <= quota:
                taken += members[candidate]
                split_of[candidate] = number
            else:
                postponed.append(candidate)
        ranked = postponed
        if isinstance(size, int) and taken < size:
            raise ConfigError(
                f"--splits asks for {pluralize(size, 'pair')} in {name!r}, but of "
                f"{pluralize(len(unique), 'usable pair')} only {taken} can go there; ask for fewer, or build "
                "from more pairs."
            )
    split_of_row = split_of[group[unique]]
    return {name: unique[split_of_row == number] for number, name in enumerate(names)}


def _ranked(group: Rows, pairs: Keys, seed: int) -> list[int]:
    """The numbers of the groups, ordered by a hash of the least pair of each."""
    order = np.lexsort((pairs, group))
    numbers, first = np.unique(group[order], return_index=True)
    least = pairs[order[first]].tolist()
    ranks = [hashlib.blake2b(b"%d/split/%b" % (seed, pair), digest_size=16).digest() for pair in least]
    ranked: list[int] = numbers[sorted(range(len(ranks)), key=ranks.__getitem__)].tolist()
    return ranked


def _number_copies(hashes: Hashes) -> tuple[Rows, int]:
    """Number pictures so that near copies have one number; also return how many groups were refused.

    Groups are refused whether their hashes agree in a band or form a chain. Those that overlap count once.
    """
    candidates = _find_candidates(hashes)
    copies = _components(len(hashes), candidates.near)
    chained = np.flatnonzero(np.bincount(copies, minlength=len(hashes))[copies] > MAX_GROUP)
    left = np.concatenate((candidates.crowded.left, copies[chained]))
    right = np.concatenate((candidates.crowded.right, chained))
    refused = len(np.unique(_components(len(hashes), _Edges(left, right))[right]))
    copies[chained] = chained
    return copies, refused


def _find_candidates(hashes: Hashes) -> _Candidates:
    """Find the pictures whose hashes agree in a band and differ in few bits altogether."""
    set_bits = np.unpackbits(hashes, axis=1).sum(axis=1, dtype=np.int64)
    telling = np.flatnonzero(set_bits >= LEAST_BITS)
    near, crowded = [np.empty((0, 2), np.int64)], [np.empty((0, 2), np.int64)]
    for band in range(BANDS):
        values = _band_values(hashes, band)[telling]
        order = np.argsort(values, kind="stable")
        values, pictures = values[order], telling[order]
        _, first, run, lengths = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
        compared, refused = (lengths[run] > 1) & (lengths[run] <= MAX_GROUP), lengths[run] > MAX_GROUP
        near += _near_in_runs(pictures[compared], run[compared], hashes, set_bits)
        crowded.append(np.stack((pictures[first[run[refused]]], pictures[refused]), axis=1))
    return _Candidates(_Edges(*np.concatenate(near).T), _Edges(*np.concatenate(crowded).T))


def _near_in_runs(pictures: Rows, run: Rows, hashes: Hashes, set_bits: Rows) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the near copies within runs of candidates, shape (number, 2)."""
    for shift in range(1, MAX_GROUP):
        at = np.flatnonzero(run[shift:] == run[:-shift])
        if not len(at):
            return
        left, right = pictures[at], pictures[at + shift]
        distance = np.unpackbits(hashes[left] ^ hashes[right], axis=1).sum(axis=1, dtype=np.int64)
        near = distance <= np.minimum(MAX_DISTANCE, np.minimum(set_bits[left], set_bits[right]) // 2)
        yield np.stack((left[near], right[near]), axis=1)


def _band_values(hashes: Hashes, band: int) -> npt.NDArray[np.int64]:
    """The value of one band of each hash: every tenth bit."""
    values = np.zeros(len(hashes), np.int64)
    for bit in range(band, 8 * PICTURE_BYTES, BANDS):
        values = values << 1 | hashes[:, bit >> 3] >> (7 - bit & 7) & 1
    return values


def _components(nodes: int, edges: _Edges) -> Rows:
    """For each node, the least node that edges, directly or by way of others, connect with it."""
    label = np.arange(nodes)
    left, right = edges.left, edges.right
    while True:
        low, high = np.minimum(label[left], label[right]), np.maximum(label[left], label[right])
        apart = low != high
        if not apart.any():
            return label
        left, right = left[apart], right[apart]
        np.minimum.at(label, high[apart], low[apart])
        while not np.array_equal(label, further := label[label]):
            label = further
