"""Draw docs/gallery.md and its pictures: every kind of cover, every language, distractors, and degradations.

python scripts/draw_gallery.py

Covers and languages are those that there are. A language whose font is not on this machine (scripts/fetch_fonts.py)
keeps the picture that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from vcrgen import VCRTransform
from vcrgen.errors import FontError
from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import COVERS

DOCS = Path(__file__).resolve().parents[1] / "docs"
INDEX = 51
GAP, GROUND = 8, "#d8dee6"
COLORS = 128  # of a picture: flat drawings look the same, and take a third of the bytes
MOST_BYTES = 600_000
WHAT = {
    "rows": "White rows, as in VCR-WIKI: the default.",
    "stripes": "Dark slanted bars.",
    "blinds": "Slats from side to side.",
    "stain": "Drops of ink that have run, with soft edges.",
    "scribble": "A pen that goes up and down along the line.",
    "fold": "Creases across the lines, where the print has flaked off.",
    "dropout": "Print that has rubbed off, in specks and patches.",
    "leaf": "Leaves laid over the line.",
}
DEGRADATIONS = ("jpeg=10", "blur=1.5", "lowres=0.5", "camera=0.5", "skew=3")
HEAD = """# Gallery

What `vcrgen build` can make of a pair, drawn by `python scripts/draw_gallery.py` from the built-in pairs. How covers
are made and measured is told in [covers.md](covers.md).
"""


def shown(lang: str = "en", **options: Any) -> dict[str, Image.Image]:
    """The images of the built-in pair."""
    pair = sample_pair(lang, INDEX)
    row = VCRTransform(lang=lang, **options)({"image": pair.image, "caption": pair.caption})
    return {name: value.convert("RGB") for name, value in row.items() if isinstance(value, Image.Image)}


def beside(images: Sequence[Image.Image]) -> Image.Image:
    """Images beside each other, on a ground."""
    width = sum(image.width + GAP for image in images) + GAP
    sheet = Image.new("RGB", (width, max(image.height for image in images) + 2 * GAP), GROUND)
    x = GAP
    for image in images:
        sheet.paste(image, (x, GAP))
        x += image.width + GAP
    return sheet


def save(sheet: Image.Image, folder: Path, name: str) -> str:
    """Write a picture and give the Markdown that shows it."""
    folder.mkdir(exist_ok=True)
    sheet.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        folder / f"{name}.png", optimize=True
    )
    return f"![{name}]({folder.name}/{name}.png)\n"


def main() -> None:
    folder = DOCS / "gallery"
    parts = [HEAD, "## Covers\n", "Each with easy and hard covers, and the mask of the hard ones.\n"]
    for kind in COVERS:
        easy, hard = (shown(mode=mode, cover=kind) for mode in ("easy", "hard"))
        strips = [easy["only_it_image_small"], hard["only_it_image_small"]]
        if "cover_mask" in hard:
            mask = hard["cover_mask"]
            strips.append(mask.crop((0, mask.height - strips[0].height, mask.width, mask.height)))
        parts += [f"### `--cover {kind}`\n", f"{WHAT[kind]}\n", save(beside(strips), folder, kind)]
    parts += ["## Covers where no text is\n", "`--cover stain --distractors 4`, and the mask:\n"]
    more = shown(mode="hard", cover="stain", distractors=4)
    parts.append(save(beside([more["stacked_image"], more["cover_mask"]]), folder, "distractors"))
    parts += ["## Degraded images\n", f"`--degrade` with {', '.join(f'`{text}`' for text in DEGRADATIONS)}:\n"]
    worse = [shown(mode="easy", degrade=text)["only_it_image_small"] for text in DEGRADATIONS]
    parts.append(save(beside(worse), folder, "degraded"))
    parts += ["## Languages\n", "Easy and hard rows.\n"]
    for code, language in LANGUAGES.items():
        try:
            strips = [shown(code, mode=mode)["only_it_image_small"] for mode in ("easy", "hard")]
        except FontError as error:
            print(f"{code} keeps its picture: {error}")
            if not (folder / f"{code}.png").exists():
                continue
            picture = f"![{code}]({folder.name}/{code}.png)\n"
        else:
            picture = save(beside(strips), folder, code)
        parts += [f"### {language.name} (`--lang {code}`)\n", picture]
    (DOCS / "gallery.md").write_text("\n".join(parts), "utf-8")
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len(list(folder.iterdir()))} pictures, {size:,} bytes; at most {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
