"""The command ``vcrgen``, and ``python -m vcrgen``."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from vcrgen.cli import app
    except KeyboardInterrupt:  # what is there to take interruptions is not loaded yet
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
