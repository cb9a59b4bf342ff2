"""The rank of this process in a distributed training, and its worker in a data loader."""

import os
import sys
from typing import Any

from vcrgen.core.errors import ConfigError


def find_rank(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Find the rank of this process and the number of ranks.

    Args:
        rank: From 0; by default from torch.distributed, then from the environment (``RANK``).
        world_size: The number of ranks, likewise (``WORLD_SIZE``); by default 1.

    Raises:
        ConfigError: Only one of them is set, or they are invalid.
    """
    if (rank is None) != (world_size is None):
        raise ConfigError("`rank` and `world_size` belong together; give both or neither.")
    if rank is not None and world_size is not None:
        values: tuple[Any, Any] = (rank, world_size)
    else:
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        values = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    try:
        index, size = map(int, values)
    except (TypeError, ValueError):
        index, size = -1, 0
    if not 0 <= index < size:
        raise ConfigError(f"Rank {values[0]} of {values[1]} is no rank; give one from 0 to below `world_size`.")
    return index, size


def find_worker() -> tuple[int, int] | None:
    """The number of this worker of a torch data loader, and the number of workers; None elsewhere."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data else None
    return (info.id, info.num_workers) if info else None
