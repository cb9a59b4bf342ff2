"""Near-duplicate search for bit strings by Hamming distance, without all comparisons."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

BITS = 256
GROUPS = 17
# Bits that may differ between copies; other pictures differ in about half. 17 groups with two each would be 34.
MAX_DISTANCE = 32

Bits = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int32]

_BITS_OF_BYTE = np.array([bin(value).count("1") for value in range(256)], dtype=np.uint8)
# A value of a group, and all that differ from it in one bit.
_ONE_BIT_OR_NONE = np.array([0, *(1 << bit for bit in range(16))], dtype=np.int64)
_VALUES = 1 << 16  # of a group of 16 bits


class NearIndex:
    """An index of strings of 256 bits for search within a Hamming distance of 32.

    The bits of a string go into 17 groups of 15 or 16 bits. Two strings that differ in at most 32 bits differ in
    at most one bit of some group: with two or more in each of the 17 they would differ in 34. So it is enough to look
    at the strings that have, in some group, the same value or one that a single bit makes another: 17 values for each
    of 17 groups. Nothing is missed. Of 100,000 random strings some 800 are looked at; of photographs, whose bits are
    less random, one in 15. Each string is given as 32 bytes.
    """

    def __init__(self, strings: Sequence[bytes]) -> None:
        self._strings: Bits = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), BITS // 8)
        # Bit k belongs to group k mod 17: neighbours, which are often alike in a picture, come into different groups.
        values = _group_values(self._strings)
        self._rows = np.argsort(values, axis=0, kind="stable").astype(np.int32)
        ordered = np.take_along_axis(values, self._rows, axis=0)
        edges = np.arange(_VALUES + 1)
        # Where, in the order of a group, the strings of each value begin.
        self._starts = np.stack([np.searchsorted(ordered[:, group], edges) for group in range(GROUPS)])

    def candidates(self, string: Bits) -> Rows:
        """Numbers of the strings of which a group differs in one bit or none, possibly with repetitions."""
        groups = np.arange(GROUPS)[:, None]
        values = _group_values(string[None, :])[0][:, None] ^ _ONE_BIT_OR_NONE
        starts = self._starts[groups, values].ravel()
        counts = self._starts[groups, values + 1].ravel() - starts
        total = int(counts.sum())
        if total >= len(self._strings):  # many are alike: to look at each once is less
            return np.arange(len(self._strings), dtype=np.int32)
        # All positions of all stretches, one after another.
        positions = np.arange(total) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        rows: Rows = self._rows[positions, np.repeat(groups.repeat(values.shape[1]), counts)]
        return rows

    def contains_near(self, string: Bits) -> bool:
        """Return True if a string of the index differs from this one in at most 32 bits."""
        return has_near_duplicate(self._strings[self.candidates(string)], string)

    def near(self, string: Bits) -> list[int]:
        """Ascending numbers of the strings that differ from this one in at most 32 bits."""
        rows = self.candidates(string)
        numbers: list[int] = np.unique(rows[distances(self._strings[rows], string) <= MAX_DISTANCE]).tolist()
        return numbers


def has_near_duplicate(strings: Bits, string: Bits) -> bool:
    """Return True if one of some strings, shape (number, 32), differs from another in at most 32 bits."""
    return bool((distances(strings, string) <= MAX_DISTANCE).any())


def distances(strings: Bits, string: Bits) -> npt.NDArray[np.int64]:
    """Return in how many bits each of some strings, shape (number, 32), differs from another one."""
    differing: npt.NDArray[np.int64] = _BITS_OF_BYTE[strings ^ string].sum(axis=1, dtype=np.int64)
    return differing


def _group_values(strings: Bits) -> npt.NDArray[np.int64]:
    """Bits of each group as a number, shape (strings, groups)."""
    bits = np.zeros((len(strings), 16 * GROUPS), np.uint8)
    bits[:, :BITS] = np.unpackbits(strings, axis=1)
    by_group = bits.reshape(len(strings), 16, GROUPS).transpose(0, 2, 1)
    high_low = np.packbits(by_group, axis=2).astype(np.int64)
    return high_low[:, :, 0] << 8 | high_low[:, :, 1]
