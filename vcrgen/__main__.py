"""``python -m vcrgen``."""

from vcrgen.cli import app

if __name__ == "__main__":
    app()
