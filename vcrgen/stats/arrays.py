"""Types of arrays, for annotations only: imported where ``TYPE_CHECKING`` holds, so that NumPy stays out of the way."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint8]
Bits: TypeAlias = NDArray[np.bool_]
Records: TypeAlias = NDArray[Any]
"""Rows with named columns: ``records["name"]`` is a column."""
