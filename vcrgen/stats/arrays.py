"""Types of arrays, for annotations only: imported where ``TYPE_CHECKING`` holds, so that NumPy stays out of the way."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]
