"""Cut the shipped faces of Noto Sans Arabic and Devanagari out of variable fonts of packages.

    pip download --no-deps -d DIR fontpkg-noto-sans-arabic==2.12 fontpkg-noto-sans-devanagari==2.7
    python scripts/cut_fonts.py DIR OUT

The regular and the bold weight of each family are written to OUT. The hashes in fonts/fonts.toml are those of files of
fontTools 4.68; another version may write other bytes of the same outlines.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from pathlib import Path

from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

WEIGHTS = {"Regular": 400, "Bold": 700}


def cut(package: Path, out: Path) -> list[Path]:
    """Write the weights of the variable font in a package, and return the files."""
    with zipfile.ZipFile(package) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith("[wdth,wght].ttf"))
        variable = archive.read(member)
    written = []
    for style, weight in WEIGHTS.items():
        font = TTFont(io.BytesIO(variable), recalcTimestamp=False)
        face = instantiateVariableFont(font, {"wght": weight, "wdth": 100}, updateFontNames=True)
        face.recalcTimestamp = False
        written.append(out / f"{Path(member).name.partition('[')[0]}-{style}.ttf")
        face.save(written[-1])
    return written


def main() -> int:
    """Cut every package of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("packages", type=Path, help="Folder with the packages.")
    parser.add_argument("out", type=Path, help="Folder for the faces.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for package in sorted(options.packages.glob("fontpkg_noto_sans_*.whl")):
        for file in cut(package, options.out):
            print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
