"""Types of arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.uint8]
Bits: TypeAlias = NDArray[np.bool_]
Records: TypeAlias = NDArray[Any]
"""Rows with named columns: ``records["name"]`` is a column."""
