"""Draw docs/vcr.png: one built-in pair with white rows, and with bars that leave four bits open.

python scripts/draw_readme_picture.py
"""

from draw_gallery import DOCS, images_of, side_by_side

PANELS = ({"mode": "easy"}, {"mode": "bits=4", "cover": "bars"})
COLOURS = 192


def main() -> None:
    panels = [images_of(font_size=26, width=560, **options)["stacked_image"] for options in PANELS]
    side_by_side(panels, gap=16).quantize(COLOURS).save(DOCS / "vcr.png", optimize=True)


if __name__ == "__main__":
    main()
