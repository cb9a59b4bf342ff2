"""The command ``vcrgen``, and ``python -m vcrgen``."""

import os
import sys


def main() -> None:
    """Run the command line."""
    # Matrices are small here: where other processes use the cores, threads of numpy mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from vcrgen.cli import app
    except KeyboardInterrupt:  # what is there to take interruptions is not loaded yet
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
