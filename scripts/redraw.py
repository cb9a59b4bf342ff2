"""Redraw what follows from a new row of a table: the images in docs/gallery, and the golden values that list the row.

python scripts/redraw.py marble     # a cover, a paper, a degradation or the code of a language

The values that change are printed, as by update_golden.py: look at them, and at the images.
"""

import subprocess
import sys
from pathlib import Path

from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover_kinds import COVER_KINDS
from vcrgen.typeset.degradation_kinds import DEGRADATIONS
from vcrgen.typeset.paper_kinds import PAPER_KINDS


def golden_names(row: str) -> list[str]:
    """Return the names of the golden files that list a row; papers and degradations are in none."""
    if row in COVER_KINDS:
        return ["cover-patterns"]
    if row in LANGUAGES:
        return [f"language-{row}", "fonts", "text-only"]
    if row in PAPER_KINDS or row in DEGRADATIONS:
        return []
    raise SystemExit(f"{row} is no cover, paper, degradation or language; name the row that was added.")


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python scripts/redraw.py ROW")
    names = golden_names(sys.argv[1])
    scripts = Path(__file__).parent
    subprocess.run([sys.executable, scripts / "draw_gallery.py"], check=True)
    if names:
        subprocess.run([sys.executable, scripts / "update_golden.py", *names], check=True)


if __name__ == "__main__":
    main()
