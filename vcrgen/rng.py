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
    """A generator that depends on nothing but its three arguments.

    So a choice is the same for any worker count, batch, order or interruption.

    Args:
        seed: The seed of the run.
        stage: The name of the stage that chooses, so that two stages never share a stream.
        item_id: The id of the item that is chosen for.
    """
    key = f"{seed}\x1f{stage}\x1f{item_id}".encode()
    return random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "big"))


def array_rng_for(seed: int, stage: str, item_id: str) -> np.random.Generator:
    """As :func:`rng_for`, with arguments as there: NumPy's, for arrays of numbers."""
    import numpy as np

    return np.random.default_rng(rng_for(seed, stage, item_id).getrandbits(128))


def secret_rng(secret: bytes, stage: str, item_id: str) -> random.Random:
    """As :func:`rng_for`, from a secret: whoever does not know it cannot repeat the choices.

    Args:
        secret: 16 to 64 bytes.
        stage: The name of the stage that chooses.
        item_id: The id of the item that is chosen for.
    """
    text = f"{stage}\x1f{item_id}".encode()
    return random.Random(int.from_bytes(hashlib.blake2b(text, key=secret, digest_size=32).digest(), "big"))


def shuffled(rng: random.Random, values: Sequence[T]) -> list[T]:
    """The values in random order.

    Sorting by ``random()`` and not ``shuffle``: only ``random()`` is promised to give the same sequence in every
    version of Python.
    """
    keys = [rng.random() for _ in values]
    return [values[i] for i in sorted(range(len(values)), key=keys.__getitem__)]
