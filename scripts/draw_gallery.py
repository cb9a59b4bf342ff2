"""Draw the images in docs/gallery of every kind of cover, paper and language, distractors, and degradations.

python scripts/draw_gallery.py

docs/covers.md and docs/languages.md show them. Covers, papers and languages come from their tables. A language whose
font is not installed (`vcrgen fonts fetch`) keeps its image.
"""

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
FOLDER = DOCS / "gallery"
INDEX = 51
GAP, BACKGROUND = 8, "#d8dee6"
COLORS = 128  # of an image: flat drawings look the same, and take a third of the bytes
MAX_BYTES = 600_000


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


def save(sheet: Image.Image, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    sheet.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        FOLDER / f"{name}.png", optimize=True
    )


def draw_covers() -> None:
    """Draw each cover, easy and hard, beside the mask of the hard one; and distractors."""
    for name in COVER_KINDS:
        easy, hard = (images_of(mode=mode, cover=name) for mode in ("easy", "hard"))
        strips = [easy["only_it_image_small"], hard["only_it_image_small"]]
        if "cover_mask" in hard:
            mask = hard["cover_mask"]
            strips.append(mask.crop((0, mask.height - strips[0].height, mask.width, mask.height)))
        save(side_by_side(strips), name)
    example = images_of(mode="hard", cover="stain", distractors=4)
    save(side_by_side([example["stacked_image"], example["cover_mask"]]), "distractors")


def draw_papers() -> None:
    """Draw each paper in black and in blue."""
    for name in PAPER_KINDS:
        images = [images_of(cover="bars", paper=name, ink_colour=ink) for ink in (BLACK, "1f3a6e")]
        save(side_by_side([image["only_it_image_small"] for image in images]), f"paper-{name}")


def draw_degradations() -> None:
    images = [images_of(mode="easy", degrade=f"{row.name}={row.example:g}") for row in DEGRADATIONS.values()]
    save(side_by_side([image["only_it_image_small"] for image in images]), "degraded")


def boxes_of(lang: str) -> Image.Image:
    """Return the strip of the built-in pair with the box of every glyph."""
    pair = sample_pair(lang, INDEX)
    row = VCRTransform(lang=lang, glyph_boxes=True)({"image": pair.image, "caption": pair.caption})
    strip = row["only_it_image_small"].convert("RGB")
    for glyph in row["glyph_boxes"]:
        sides = (glyph["x0"], glyph["y0"], glyph["x1"] - 1, glyph["y1"] - 1)
        ImageDraw.Draw(strip).rectangle(sides, outline="#c0392b")
    return strip


def draw_languages() -> None:
    """Draw easy and hard rows of each language."""
    for code in LANGUAGES:
        try:
            strips = [images_of(code, mode=mode)["only_it_image_small"] for mode in ("easy", "hard")]
        except FontError as error:
            print(f"{code} keeps its image: {error}")
        else:
            save(side_by_side(strips), code)


def main() -> None:
    draw_covers()
    draw_papers()
    draw_degradations()
    save(side_by_side([boxes_of(lang) for lang in ("en", "ar", "hi")]), "glyph-boxes")
    draw_languages()
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    print(f"{len(sizes)} images, {sum(sizes):,} bytes; at most {MAX_BYTES:,}")


if __name__ == "__main__":
    main()
