"""The command ``vcrgen``, and ``python -m vcrgen``."""

import gc
import os
import sys

GARBAGE = 20_000  # objects that are made before some are looked at: a command makes hundreds of thousands by imports


def main() -> None:
    """Run the command line."""
    # Matrices are small here: where other processes use the cores, threads of numpy mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(GARBAGE)
    try:
        from vcrgen.cli import app
    except KeyboardInterrupt:  # what is there to take interruptions is not loaded yet
        sys.exit(130)
    try:
        app()
    finally:
        gc.freeze()  # the system takes all memory back: Python need not look through what is loaded once more


if __name__ == "__main__":
    main()
