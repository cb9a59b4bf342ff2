"""Which part of the work is this process's: ranks of a distributed training, workers of a data loader."""

import os
import sys
from typing import Any

from vcrgen.errors import ConfigError


def find_rank(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Find the rank of this process and the number of ranks.

    Args:
        rank: From 0, if the user gives it; else torch.distributed is asked, then the environment (``RANK``).
        world_size: The number of ranks, given with the rank or found like it (``WORLD_SIZE``); 1 where nobody says.

    Raises:
        ConfigError: Only one of them is given, or they are no such numbers.
    """
    if (rank is None) != (world_size is None):
        raise ConfigError("`rank` and `world_size` belong together; give both or neither.")
    if rank is not None and world_size is not None:
        found: tuple[Any, Any] = (rank, world_size)
    else:
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        found = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    try:
        index, size = map(int, found)
    except (TypeError, ValueError):
        index, size = -1, 0
    if not 0 <= index < size:
        raise ConfigError(f"Rank {found[0]} of {found[1]} is no rank; give one from 0 to below `world_size`.")
    return index, size


def find_worker() -> tuple[int, int] | None:
    """Number of this worker of a torch data loader and how many it has; None in any other process."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data else None
    return (info.id, info.num_workers) if info else None
