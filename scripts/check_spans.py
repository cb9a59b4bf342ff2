"""Check that the glyphs of every masked span of joined scripts are those of its label.

    python scripts/check_spans.py [--pairs 500] [--lang ar --lang hi]

For each span of the built-in pairs of a language the glyphs that stand for it in its caption are compared, face, number
and order, with the glyphs of its label shaped alone. Exit code 1 if one differs.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice

from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.core.records import Item, Mode
from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.harfbuzz import HarfBuzzShaper


def glyphs(shaper: HarfBuzzShaper, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Face and number of each glyph of some characters of a text, as its line shows them from left to right."""
    return [(one.face, one.glyph_id) for _, run in shaper.runs(text, start, end) for one in run.glyphs]


def check(lang: str, count: int) -> tuple[int, list[str]]:
    """The number of spans of so many pairs, and the labels that are drawn otherwise."""
    pipeline = Pipeline(load_build_config(None, {"lang": lang}))
    shaper = pipeline.style.shaper
    assert isinstance(shaper, HarfBuzzShaper)
    made = (sample_pair(lang, index) for index in range(2 * count))
    items = (Item(source_id=str(index), image=pair.image, caption=pair.caption) for index, pair in enumerate(made))
    spans, wrong = 0, []
    for pair in islice((outcome for outcome in pipeline.pairs(items) if isinstance(outcome, Pair)), count):
        for span in (covered.span for covered in pair.images[Mode.EASY].spans):
            spans += 1
            if glyphs(shaper, pair.caption, span.start, span.end) != glyphs(shaper, span.text, 0, len(span.text)):
                wrong.append(span.text)
    return spans, wrong


def main() -> int:
    """Check the languages, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=500)
    joined = [code for code, row in LANGUAGES.items() if row.shaper == "harfbuzz"]
    parser.add_argument("--lang", action="append", choices=joined)
    options = parser.parse_args()
    found = 0
    for lang in options.lang or joined:
        spans, wrong = check(lang, options.pairs)
        print(f"{lang}: {spans} spans of {options.pairs} pairs, {len(wrong)} drawn otherwise than their labels")
        found += len(wrong)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
