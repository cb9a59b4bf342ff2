"""``python -m vcrgen``."""

from vcrgen.cli import main

if __name__ == "__main__":
    main()
