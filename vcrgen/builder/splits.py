"""Deduplication and splits: no picture, no copy of one in another file, and no caption is in two splits."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vcrgen.builder.records import HASH_DTYPE, KEY_DTYPE, KEY_LENGTH, PICTURE_BYTES
from vcrgen.core.errors import ConfigError
from vcrgen.core.plurals import pluralize

Keys = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint8]  # difference hashes, shape (number, 32)
Counts = npt.NDArray[np.uint16]  # of the set bits of hashes

RULE = "copies-1"  # name and version of what decides which split a pair is in, for fingerprints
# Near copies agree in one of so many bands of their hashes, into which neighbouring cells go in turn.
BANDS = 10
# Bits in which near copies differ at most: JPEG of quality 30 changes 14 of real photos, and other photos differ in 44.
MAX_DISTANCE = 16
# Bits that are set in a hash at least: flatter pictures are alike whatever they show.
LEAST_BITS = 16
MAX_GROUP = 50  # pictures that can be copies of one another; larger groups look alike for another reason
AT_ONCE = 1 << 16  # hashes that a step takes at a time, for memory
SORTED_AT_ONCE = 1 << 20  # the same of hashes that are sorted by a band
BITS_SET = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1, dtype=np.uint8)  # of a byte


class KeyColumns:
    """The hashes of so many rows, each kind in an array of its own.

    They are most of what a large build holds, so each kind is given up once it has been used.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._columns: dict[str, Keys] = {name: np.empty(rows, KEY_DTYPE[name]) for name in KEY_DTYPE.names or ()}

    def put(self, start: int, keys: Keys) -> None:
        """Fill rows from ``start`` on with records of `KEY_DTYPE`."""
        for name, column in self._columns.items():
            column[start : start + len(keys)] = keys[name]

    def take(self, name: str) -> Keys:
        """A kind of hashes, which are no longer held here."""
        return self._columns.pop(name)


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


@dataclass(frozen=True, slots=True)
class _Numbering:
    """Numbers from 0 on, equal for equal hashes."""

    numbers: Rows  # of each row
    first: Rows  # the first row of each number


def assign(
    keys: KeyColumns, sizes: Mapping[str, int | float | None], *, seed: int, near_copies: bool = True
) -> Assignment:
    """Assign rows to splits by the hash of their content, never by their order in the source.

    A pair repeats an earlier one if it has the same caption and the same picture (VI) or a near copy of it. Pairs that
    share a picture or a caption, directly or by way of other pairs, stay together. Such groups are taken in the order
    of a hash; a group that no longer fits into a split of a given size is left for the next one.

    Args:
        keys: The hashes of all rows, which are taken.
        sizes: What `parse_splits` reads.
        seed: Of the order of groups.
        near_copies: Near copies count as the same picture; without them only pictures of equal pixels. They are looked
            for where a split other than ``train`` is asked for.

    Raises:
        ConfigError: There are too few pairs, or their groups are too large, for the sizes asked for.
    """
    picture, refused = _number_pictures(keys, near_copies=near_copies and set(sizes) != {"train"})
    caption = _number(keys.take("caption")).numbers
    rows = keys.rows
    is_first = np.zeros(rows, bool)
    is_first[np.unique(picture * rows + caption, return_index=True)[1]] = True
    unique, duplicates = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    if len(sizes) == 1:
        return Assignment(splits=dict.fromkeys(sizes, unique), duplicates=duplicates, refused=refused)

    group = _components(rows, _shared(caption, picture))[picture]
    del picture, caption
    members = np.bincount(group[unique], minlength=rows)
    split = _fill_splits(_ranked(group, keys.take("pair"), seed), members, sizes)[group[unique]]
    splits = {name: unique[split == number] for number, name in enumerate(sizes)}
    return Assignment(splits=splits, duplicates=duplicates, refused=refused)


def _number_pictures(keys: KeyColumns, *, near_copies: bool) -> tuple[Rows, int]:
    """Number the picture of each row; also return how many groups of pictures were refused."""
    pictures = _number(keys.take("pixels"))
    differences = keys.take("difference")
    if not near_copies:
        return pictures.numbers, 0
    candidates = _find_candidates(differences, pictures.first)
    del differences
    copies, refused = _join_copies(candidates, len(pictures.first))
    return copies[pictures.numbers], refused


def _number(hashes: Keys) -> _Numbering:
    """Number hashes, records of `HASH_DTYPE`."""
    high, low = hashes["high"].astype(np.uint64), hashes["low"].astype(np.uint16)
    del hashes
    order = np.lexsort((low, high))
    begins = _changes(high[order]) | _changes(low[order])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(begins) - 1
    return _Numbering(numbers=numbers, first=order[begins])


def _changes(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values differ from the one before; the first does."""
    changes = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _shared(caption: Rows, picture: Rows) -> _Edges:
    """The pictures of rows that share a caption, each with the next one."""
    order = np.argsort(caption, kind="stable")
    shared = ~_changes(caption[order])[1:]
    return _Edges(picture[order[:-1][shared]], picture[order[1:][shared]])


def _fill_splits(ranked: Rows, members: Rows, sizes: Mapping[str, int | float | None]) -> npt.NDArray[np.int8]:
    """The number of the split of each group.

    Args:
        ranked: The numbers of the groups in the order in which they are taken.
        members: How many rows of each group are in a split.
        sizes: What `parse_splits` reads.
    """
    pairs = int(members.sum())
    rest = next(number for number, size in enumerate(sizes.values()) if size is None)
    split_of = np.full(len(members), rest, np.int8)
    for number, (name, size) in enumerate(sizes.items()):
        if size is None:
            continue
        fits = _fitting(members[ranked], size if isinstance(size, int) else round(size * pairs))
        split_of[ranked[fits]] = number
        taken = int(members[ranked[fits]].sum())
        ranked = ranked[~fits]
        if isinstance(size, int) and taken < size:
            raise ConfigError(
                f"--splits asks for {pluralize(size, 'pair')} in {name!r}, but of "
                f"{pluralize(pairs, 'usable pair')} only {taken} can go there; ask for fewer, or build "
                "from more pairs."
            )
    return split_of


def _fitting(members: Rows, quota: int) -> npt.NDArray[np.bool_]:
    """Which groups, one after another, fit into what the groups before them leave of a quota."""
    fits = np.zeros(len(members), bool)
    later = np.arange(len(members))
    while len(later := later[members[later] <= quota]):
        totals = np.cumsum(members[later])
        run = int(np.searchsorted(totals, quota, side="right"))
        fits[later[:run]] = True
        quota -= int(totals[run - 1])
        later = later[run + 1 :]  # the one after the run is too large
    return fits


def _ranked(group: Rows, pairs: Keys, seed: int) -> Rows:
    """The numbers of the groups, ordered by a hash of the least pair of each."""
    order = np.lexsort((pairs["low"], pairs["high"], group))
    least = order[_changes(group[order])]
    ranks = np.empty(len(least), [("high", ">u8"), ("low", ">u8")])
    for chunk in _chunks(len(least)):
        names = pairs[least[chunk]].astype(HASH_DTYPE).tobytes().hex().encode()
        ranks[chunk] = np.frombuffer(
            b"".join(
                hashlib.blake2b(b"%d/split/%b" % (seed, names[at : at + KEY_LENGTH]), digest_size=16).digest()
                for at in range(0, len(names), KEY_LENGTH)
            ),
            ranks.dtype,
        )
    return group[least[np.lexsort((ranks["low"], ranks["high"]))]]


def _join_copies(candidates: _Candidates, pictures: int) -> tuple[Rows, int]:
    """Number so many pictures so that near copies have one number; also return how many groups were refused.

    Groups are refused whether their hashes agree in a band or form a chain. Those that overlap count once.
    """
    copies = _components(pictures, candidates.near)
    chained = np.flatnonzero(np.bincount(copies, minlength=pictures)[copies] > MAX_GROUP)
    left = np.concatenate((candidates.crowded.left, copies[chained]))
    right = np.concatenate((candidates.crowded.right, chained))
    refused = len(np.unique(_components(pictures, _Edges(left, right))[right]))
    copies[chained] = chained
    return copies, refused


def _find_candidates(hashes: Hashes, first: Rows) -> _Candidates:
    """Find the pictures whose hashes agree in a band and differ in few bits altogether.

    Args:
        hashes: Of each row.
        first: The first row of each picture.
    """
    set_bits = np.empty(len(first), np.uint16)
    for chunk in _chunks(len(first)):
        set_bits[chunk] = _count_bits(hashes[first[chunk]])
    telling = np.flatnonzero(set_bits >= LEAST_BITS)
    near, crowded = [np.empty((0, 2), np.int64)], [np.empty((0, 2), np.int64)]
    for band in range(BANDS):
        # Sorted with its value above it in one number, a picture takes half the memory and time.
        marked = np.empty(len(telling), np.int64)
        for chunk in _chunks(len(telling)):
            marked[chunk] = _band_values(hashes[first[telling[chunk]]], band) << 32 | telling[chunk]
        marked.sort()
        for part in _with_equal_values(marked):
            begins = _changes(part >> 32)
            part = part[~(begins & np.append(begins[1:], True))]  # most pictures are alone with their value
            pictures, begins = part & 0xFFFFFFFF, _changes(part >> 32)
            run, leaders = np.cumsum(begins) - 1, pictures[begins]
            lengths = np.bincount(run)[run]
            compared, refused = lengths <= MAX_GROUP, lengths > MAX_GROUP
            for edges in _same_run(pictures[compared], run[compared]):
                distance = _count_bits(hashes[first[edges.left]] ^ hashes[first[edges.right]])
                least = np.minimum(set_bits[edges.left], set_bits[edges.right])
                close = distance <= np.minimum(MAX_DISTANCE, least // 2)
                near.append(np.stack((edges.left[close], edges.right[close]), axis=1))
            crowded.append(np.stack((leaders[run[refused]], pictures[refused]), axis=1))
    return _Candidates(_Edges(*np.concatenate(near).T), _Edges(*np.concatenate(crowded).T))


def _with_equal_values(marked: Rows) -> Iterator[Rows]:
    """Parts of sorted numbers, each of about `SORTED_AT_ONCE`, that share no value above the lower 32 bits."""
    start = 0
    while start < len(marked):
        last = marked[min(start + SORTED_AT_ONCE, len(marked)) - 1]
        stop = int(np.searchsorted(marked, ((last >> 32) + 1) << 32))
        yield marked[start:stop]
        start = stop


def _same_run(pictures: Rows, run: Rows) -> Iterator[_Edges]:
    """Yield all pairs of pictures of each run, some at a time."""
    for shift in range(1, MAX_GROUP):
        pairs = np.flatnonzero(run[shift:] == run[:-shift])
        if not len(pairs):
            return
        for chunk in _chunks(len(pairs)):
            yield _Edges(pictures[pairs[chunk]], pictures[pairs[chunk] + shift])


def _chunks(number: int) -> Iterator[slice]:
    """Slices of `AT_ONCE` of so many."""
    return (slice(start, start + AT_ONCE) for start in range(0, number, AT_ONCE))


def _count_bits(hashes: Hashes) -> Counts:
    """The set bits of each hash."""
    counts: Counts = BITS_SET[hashes].sum(axis=1, dtype=np.uint16)
    return counts


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
    joined = np.zeros(nodes, bool)
    joined[left] = joined[right] = True
    linked = np.flatnonzero(joined)  # the others stay alone
    while True:
        low, high = np.minimum(label[left], label[right]), np.maximum(label[left], label[right])
        apart = low != high
        if not apart.any():
            return label
        left, right = left[apart], right[apart]
        np.minimum.at(label, high[apart], low[apart])
        while not np.array_equal(nearer := label[linked], further := label[nearer]):
            label[linked] = further
