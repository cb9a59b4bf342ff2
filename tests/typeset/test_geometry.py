"""The public strips of VCR-WIKI, to the pixel row: line breaks, sizes and covers in all 160 cases."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vcrgen.core.records import NAMED_MODES, Mode, Span
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.style import make_style

WHITE = 250  # the public strips are JPEG-free, but their covers are drawn on anti-aliased text
TOLERANCE = 3  # px


@pytest.mark.parametrize("mode", list(NAMED_MODES))
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_strips_are_those_of_vcr_wiki(lang: str, mode: Mode, wiki_dir: Path) -> None:
    row = LANGUAGES[lang]
    chain = default_chain(row.fonts, size=20)
    style = make_style(row, chain, width=300, max_height=900)
    rule = style.calibrations[mode].rule
    cases = json.loads((wiki_dir / f"strips_{lang}.json").read_text("utf-8"))
    assert len(cases) == 40
    for case in cases:
        text = row.joiner.join(case["lines"])
        layout = layout_caption(text, style.shaper, width=case["width"], max_lines=5, break_unit=row.wiki_break_unit)
        assert [text[line.start : line.end] for line in layout.lines] == case["lines"], case["id"]

        public = np.asarray(Image.open(wiki_dir / "strips" / f"{case['id']}-{mode}.png").convert("L"))
        strip = render_strip(layout)
        assert strip.shape == public.shape == (layout.height, layout.width), case["id"]

        spans = [Span(start=text.index(a), end=text.index(a) + len(a), text=a, tokens=()) for a in case["answers"]]
        covers = [rule.cover(cell) for span in spans for cell in span_cells(span, layout)]
        covered = cover_strip(strip, covers)
        for box in (cover.box for cover in covers):
            ours, theirs = covered[box.y0 : box.y1], public[box.y0 : box.y1]
            assert (ours[:, box.x0 : box.x1] == 255).all(), case["id"]
            assert (theirs[:, box.x0 + TOLERANCE : box.x1 - TOLERANCE] >= WHITE).all(), case["id"]
            # The rows next to the cover are not covered in the public strip either: the band is neither more nor less.
            for y in (box.y0 - 1, box.y1):
                assert (public[y, box.x0 : box.x1] < WHITE).any(), case["id"]
            if lang == "en":  # same metrics, so the ink on either side of the cover is where it is in the public strip
                for side in (_white_run(ours, box.x0, box.x1), _white_run(theirs, box.x0, box.x1)):
                    assert side[0] <= box.x0 + TOLERANCE and side[1] >= box.x1 - TOLERANCE, case["id"]
                assert abs(_white_run(ours, box.x0, box.x1)[0] - _white_run(theirs, box.x0, box.x1)[0]) <= TOLERANCE


def _white_run(rows: np.ndarray, x0: int, x1: int) -> tuple[int, int]:
    """The white columns around the middle of a cover."""
    white = (rows >= WHITE).all(axis=0)
    left = right = (x0 + x1) // 2
    while left > 0 and white[left - 1]:
        left -= 1
    while right < len(white) and white[right]:
        right += 1
    return left, right
