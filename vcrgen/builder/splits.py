"""Deduplication and splits: no image and no caption is in two splits."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vcrgen.core.errors import ConfigError
from vcrgen.core.plurals import pluralize

Keys = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The assignment of all built pairs to splits."""

    splits: dict[str, Rows]  # split name to the numbers of its rows, ascending, in the order of `--splits`
    duplicates: Rows  # numbers of the rows that repeat an earlier pair


def assign(keys: Keys, sizes: dict[str, int | float | None], *, seed: int) -> Assignment:
    """Assign rows to splits by the hash of their content, never by their order in the source.

    Pairs that share an image or a caption, directly or by way of other pairs, stay together. Such groups are taken in
    the order of a hash; a group that no longer fits into a split of a given size is left for the next one.

    Raises:
        ConfigError: There are too few pairs, or their groups are too large, for the sizes asked for.
    """
    unique = np.sort(np.unique(keys["pair"], return_index=True)[1]).astype(np.int64)
    duplicates = np.setdiff1d(np.arange(len(keys)), unique, assume_unique=True)
    rest = next(name for name, size in sizes.items() if size is None)
    if len(sizes) == 1:
        return Assignment(splits={rest: unique}, duplicates=duplicates)

    waiting = _ranked_groups(keys[unique], seed)
    splits: dict[str, Rows] = {}
    for name, size in sizes.items():
        if size is not None:
            quota = size if isinstance(size, int) else round(size * len(unique))
            chosen: list[int] = []
            postponed: list[list[int]] = []
            for group in waiting:
                if len(chosen) + len(group) <= quota:
                    chosen += group
                else:
                    postponed.append(group)
            waiting = postponed
            if isinstance(size, int) and len(chosen) < size:
                raise ConfigError(
                    f"--splits asks for {pluralize(size, 'pair')} in {name!r}, but of "
                    f"{pluralize(len(unique), 'usable pair')} only {len(chosen)} can go there; ask for fewer, or build "
                    "from more pairs."
                )
            splits[name] = unique[sorted(chosen)]
    splits[rest] = unique[sorted(number for group in waiting for number in group)]
    return Assignment(splits={name: splits[name] for name in sizes}, duplicates=duplicates)


def _ranked_groups(keys: Keys, seed: int) -> list[list[int]]:
    """Return the connected components over shared images and captions, ordered by a hash of the least pair."""
    images, image_of = np.unique(keys["image"], return_inverse=True)
    captions, caption_of = np.unique(keys["caption"], return_inverse=True)
    parent = list(range(len(images) + len(captions)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for image, caption in zip(image_of.tolist(), caption_of.tolist(), strict=True):
        parent[root(image)] = root(len(images) + caption)
    groups: dict[int, list[int]] = {}
    for number, image in enumerate(image_of.tolist()):
        groups.setdefault(root(image), []).append(number)
    pairs = keys["pair"].tolist()

    def rank(group: list[int]) -> bytes:
        least = min(pairs[number] for number in group)
        return hashlib.blake2b(b"%d/split/%b" % (seed, least), digest_size=16).digest()

    return sorted(groups.values(), key=rank)
