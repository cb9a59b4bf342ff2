"""Matrix products on one thread of BLAS, whoever loaded numpy and with however many threads."""

import os
import threading
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

Number = TypeVar("Number", bound=np.floating)

# The number of threads belongs to the process: without a lock, two threads here would restore each other's numbers.
_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def product(left: npt.NDArray[Number], right: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Multiply two matrices, two stacks of matrices, or a matrix and a vector.

    Matrices are small here: further threads would mostly wait for each other, and where other processes use the cores,
    a product takes many times as long.
    """
    with _LOCK, _libraries().limit(limits=1):
        result: npt.NDArray[Number] = left @ right
    return result


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The BLAS libraries in this process; looking for them takes 10 ms."""
    return ThreadpoolController().select(user_api="blas")
