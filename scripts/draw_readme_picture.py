"""Draw docs/vcr.png: one built-in pair in easy and hard in English, and in easy in three other scripts.

python scripts/draw_readme_picture.py
"""

from draw_gallery import DOCS, images_of, side_by_side

PANELS = (("en", "easy"), ("en", "hard"), ("zh", "easy"), ("ja", "easy"), ("ar", "easy"))


def main() -> None:
    panels = [images_of(lang, mode=mode)["stacked_image"] for lang, mode in PANELS]
    side_by_side(panels, gap=16).save(DOCS / "vcr.png", optimize=True)


if __name__ == "__main__":
    main()
