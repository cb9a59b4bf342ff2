"""Draw docs/gallery.md and its images: every kind of cover, paper and language, distractors, and degradations.

python scripts/draw_gallery.py

Covers and languages come from their tables. A language whose font is not installed (`vcrgen fonts fetch`) keeps its
image.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from vcrgen import VCRTransform
from vcrgen.core.errors import FontError
from vcrgen.samples import sample_pair
from vcrgen.samples.pairs import caption, has_captions, picture
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.cover_kinds import COVER_KINDS
from vcrgen.typeset.degradation_kinds import DEGRADATIONS
from vcrgen.typeset.paper_kinds import BLACK, PAPER_KINDS

DOCS = Path(__file__).resolve().parents[1] / "docs"
INDEX = 51
GAP, BACKGROUND = 8, "#d8dee6"
COLORS = 128  # of an image: flat drawings look the same, and take a third of the bytes
MAX_BYTES = 600_000
PRINT = (("cream", "1f3a6e"), ("newsprint", BLACK), ("laid", "5a2a12"))  # the picture of docs/images.md
HEAD = """# Gallery

![easy and hard rows](gallery/rows.png)

Every kind of cover, paper and language of `vcrgen build`, on a built-in pair. `python scripts/draw_gallery.py` draws
this page. [covers.md](covers.md) describes how covers are calibrated, [images.md](images.md) the other options.
"""


def images_of(lang: str = "en", **options: Any) -> dict[str, Image.Image]:
    """Return the images of the built-in pair; a language without built-in captions has a line of its sample."""
    text = caption(lang, INDEX) if has_captions(lang) else calibration_sample(lang)[INDEX]
    row = VCRTransform(lang=lang, **options)({"image": picture(INDEX), "caption": text})
    return {name: value.convert("RGB") for name, value in row.items() if isinstance(value, Image.Image)}


def side_by_side(images: Sequence[Image.Image], gap: int = GAP) -> Image.Image:
    """Return the images beside each other."""
    width = sum(image.width + gap for image in images) + gap
    sheet = Image.new("RGB", (width, max(image.height for image in images) + 2 * gap), BACKGROUND)
    x = gap
    for image in images:
        sheet.paste(image, (x, gap))
        x += image.width + gap
    return sheet


def save(sheet: Image.Image, folder: Path, name: str) -> str:
    """Write an image, and return the Markdown that shows it."""
    folder.mkdir(exist_ok=True)
    sheet.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        folder / f"{name}.png", optimize=True
    )
    return f"![{name}]({folder.name}/{name}.png)\n"


def paper_parts(folder: Path) -> list[str]:
    """Draw every paper in black and in blue, and the picture of docs/images.md."""
    parts = ["## Paper\n", "In black and in blue (`--ink-colour 1f3a6e`), under easy covers of the kind `bars`.\n"]
    for name, kind in PAPER_KINDS.items():
        inks = (BLACK, "1f3a6e")
        strips = [images_of(cover="bars", paper=name, ink_colour=ink)["only_it_image_small"] for ink in inks]
        parts += [
            f"### `--paper {name}`\n",
            f"{kind.description}\n",
            save(side_by_side(strips), folder, f"paper-{name}"),
        ]
    strips = [images_of(cover="bars", paper=paper, ink_colour=ink)["only_it_image_small"] for paper, ink in PRINT]
    save(side_by_side(strips), folder, "print")
    parts += ["## Boxes of glyphs\n", "`--glyph-boxes`, drawn into the strip:\n"]
    return [*parts, save(side_by_side([boxes_of(lang) for lang in ("en", "ar", "hi")]), folder, "glyph-boxes")]


def boxes_of(lang: str) -> Image.Image:
    """Return the strip of the built-in pair with the box of every glyph."""
    pair = sample_pair(lang, INDEX)
    row = VCRTransform(lang=lang, glyph_boxes=True)({"image": pair.image, "caption": pair.caption})
    strip = row["only_it_image_small"].convert("RGB")
    for glyph in row["glyph_boxes"]:
        sides = (glyph["x0"], glyph["y0"], glyph["x1"] - 1, glyph["y1"] - 1)
        ImageDraw.Draw(strip).rectangle(sides, outline="#c0392b")
    return strip


def main() -> None:
    folder = DOCS / "gallery"
    parts = [HEAD, "## Covers\n", "Each with easy and hard covers, and the mask of the hard ones.\n"]
    for name, kind in COVER_KINDS.items():
        easy, hard = (images_of(mode=mode, cover=name) for mode in ("easy", "hard"))
        strips = [easy["only_it_image_small"], hard["only_it_image_small"]]
        if "cover_mask" in hard:
            mask = hard["cover_mask"]
            strips.append(mask.crop((0, mask.height - strips[0].height, mask.width, mask.height)))
        parts += [f"### `--cover {name}`\n", f"{kind.description}\n", save(side_by_side(strips), folder, name)]
    parts += ["## Distractors\n", "`--cover stain --distractors 4`, and the mask:\n"]
    more = images_of(mode="hard", cover="stain", distractors=4)
    parts.append(save(side_by_side([more["stacked_image"], more["cover_mask"]]), folder, "distractors"))
    texts = [f"{row.name}={row.example:g}" for row in DEGRADATIONS.values()]
    parts += ["## Degraded images\n", f"`--degrade` with {', '.join(f'`{text}`' for text in texts)}:\n"]
    worse = [images_of(mode="easy", degrade=text)["only_it_image_small"] for text in texts]
    parts.append(save(side_by_side(worse), folder, "degraded"))
    parts += paper_parts(folder)
    parts += ["## Languages\n", "Easy and hard rows.\n"]
    for code, language in LANGUAGES.items():
        try:
            strips = [images_of(code, mode=mode)["only_it_image_small"] for mode in ("easy", "hard")]
        except FontError as error:
            print(f"{code} keeps its image: {error}")
            if not (folder / f"{code}.png").exists():
                continue
            picture = f"![{code}]({folder.name}/{code}.png)\n"
        else:
            picture = save(side_by_side(strips), folder, code)
        parts += [f"### {language.name} (`--lang {code}`)\n", picture]
    (DOCS / "gallery.md").write_text("\n".join(parts), "utf-8")
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len(list(folder.iterdir()))} images, {size:,} bytes; at most {MAX_BYTES:,}")


if __name__ == "__main__":
    main()
