"""Calibrate every text face in several sizes, for the table of docs/validation.md.

    python scripts/measure_calibration.py [--sizes 20 28 40] [--cover rows]

A cell has the covered rows of a line, or the share of ink that another cover hides, and the median visible ink of the
sample. `!` marks a cell further from its target than 0.05 below 28 px, or 0.03 from there on; the exit code is then 1.
Fetched faces that are on this machine are in the table, too.
"""

import argparse
import sys

from vcrgen.core.records import NAMED_MODES
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.calibrate import Calibration
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS
from vcrgen.typeset.fonts import default_chain, font_registry, resolve_font
from vcrgen.typeset.style import make_style

SMALL, TOLERANCE_SMALL, TOLERANCE = 28, 0.05, 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 28, 40], help="font sizes in pixels")
    parser.add_argument("--cover", choices=list(COVER_KINDS), default=ROWS, help="kind of cover")
    args = parser.parse_args()
    calibrations = [pair for lang in LANGUAGES for pair in table(lang, args.sizes, args.cover)]
    largest = max(abs(cover.visible - cover.target) for cover, _ in calibrations)
    print(f"\n{len(calibrations)} combinations; the largest distance from a target is {largest:.3f}")
    sys.exit(0 if all(is_near(cover, size) for cover, size in calibrations) else 1)


def table(lang: str, sizes: list[int], kind: str) -> list[tuple[Calibration, int]]:
    """Print the table of a language, and return its covers with their font sizes."""
    language = LANGUAGES[lang]
    targets = ", ".join(f"{mode} {target.visible:.2f}" for mode, target in language.cover_targets.items())
    print(f"\n{language.name}, targets: {targets}\n")
    heads = [f"{mode}, {size} px" for size in sizes for mode in NAMED_MODES]
    print(f"| face | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    calibrations: list[tuple[Calibration, int]] = []
    for name in (name for name, entry in font_registry().items() if lang in entry.text and entry.is_installed):
        row = []
        for size in sizes:
            chain = default_chain(language.fonts, size=size, first=resolve_font(name))
            covers = make_style(language, chain, width=300, max_height=900, cover=kind).calibrations
            row += [(covers[mode], size) for mode in NAMED_MODES]
        cells = [f"{cover.rule.name}: {cover.visible:.3f}{'' if is_near(cover, size) else '!'}" for cover, size in row]
        print(f"| {font_registry()[name].family} ({name}) | {' | '.join(cells)} |")
        calibrations += row
    return calibrations


def is_near(cover: Calibration, size: int) -> bool:
    return abs(cover.visible - cover.target) <= (TOLERANCE_SMALL if size < SMALL else TOLERANCE)


if __name__ == "__main__":
    main()
