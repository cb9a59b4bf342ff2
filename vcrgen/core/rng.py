"""The only place that makes a random generator."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


def rng_for(seed: int, stage: str, item_id: str) -> random.Random:
    """Return a generator that depends only on its arguments, not on workers, batches, order or interruptions.

    Args:
        seed: The seed of the run.
        stage: The name of the stage that chooses, so that two stages never share a stream.
        item_id: The id of the item that is chosen for.
    """
    key = f"{seed}\x1f{stage}\x1f{item_id}".encode()
    return random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "big"))


def array_rng_for(seed: int, stage: str, item_id: str) -> np.random.Generator:
    """Return NumPy's generator for the arguments of `rng_for`."""
    import numpy as np

    return np.random.default_rng(rng_for(seed, stage, item_id).getrandbits(128))


def secret_rng(secret: bytes, stage: str, item_id: str) -> random.Random:
    """Return a generator that depends on a secret of the maintainer.

    Args:
        secret: 16 to 64 bytes.
        stage: The name of the stage that chooses.
        item_id: The id of the item that is chosen for.
    """
    text = f"{stage}\x1f{item_id}".encode()
    return random.Random(int.from_bytes(hashlib.blake2b(text, key=secret, digest_size=32).digest(), "big"))


def shuffled(rng: random.Random, values: Sequence[T]) -> list[T]:
    """Shuffle by ``random()``, the only method that is stable over versions of Python; the input stays as it is."""
    keys = [rng.random() for _ in values]
    return [values[i] for i in sorted(range(len(values)), key=keys.__getitem__)]
