"""Tests, in the order of the package."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as commands have it; set before numpy is loaded
