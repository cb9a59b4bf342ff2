"""Draw the two pictures of docs/pixels.md: the same text under white rows and under bars, and the words that fit.

python scripts/draw_pixels.py

Below each covered word stand the words of the lexicon that fit its visible pixels best, with their probabilities; the
place and width of each word are known.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vcrgen.builder.compose import draw_parts
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item, Mode, Reject
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import lower_bound, unit_posteriors, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.samples import sample_pair
from vcrgen.typeset.cover import cell_texts, draw_covers, draw_layers, mark_hidden
from vcrgen.typeset.fonts import resolve_font
from vcrgen.typeset.render import cover_strip

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pixels"
INDEX = 51
SHOWN = 3  # words that fit
COLUMN, LINE, MARGIN, SCALE = 150, 20, 12, 2
COLORS = 16


def draw(name: str, cover: str, mode: str) -> None:
    """Draw the strip of a pair under a cover, with the words that fit."""
    pipeline = Pipeline(BuildConfig(cover=cover, mode=mode, width=420, font_size=24))
    pair = sample_pair("en", INDEX)
    (outcome,) = pipeline.plan_items([Item(source_id="a", image=pair.image, caption=pair.caption)])
    assert not isinstance(outcome, Reject)
    prepared, spans = outcome
    rule = prepared.style.calibrations[Mode(pipeline.config.modes[0])].rule
    accepted = pipeline.accept(
        prepared,
        spans,
        [pipeline.threshold(rule, Mode(pipeline.config.modes[0]))],
        pipeline.choices(prepared.keys.pair),
    )
    assert not isinstance(accepted, Reject)
    span, chosen = next(iter(accepted.items()))
    parts = draw_parts(prepared, (span,))
    form = pipeline.choices(prepared.keys.pair).span_rule(rule, span, chosen.draw)
    layers = parts.layers or draw_layers(prepared.layout, parts.cells[span])
    covers = draw_covers(form, parts.cells[span], layers, np.zeros(parts.strip.shape, dtype=bool))
    hidden = np.zeros(parts.strip.shape, dtype=bool)
    mark_hidden(hidden, covers)
    templates = Templates(prepared.style.shaper.chain.glyph, load_lexicon("en"))
    cells = visible_cells(templates, parts.strip, hidden, parts.cells[span], layers, prepared.layout.baseline)
    texts = cell_texts(span, prepared.layout)
    columns = [
        [f"{templates.lexicon.units[units[place]]}  {weights[place]:.2f}" for place in np.argsort(-weights)[:SHOWN]]
        for cell, text in zip(cells, texts, strict=True)
        for units, weights in unit_posteriors(templates, cell, text)
    ]
    strip = Image.fromarray(cover_strip(parts.strip, covers)).convert("L")
    strip = strip.resize((SCALE * strip.width, SCALE * strip.height), Image.Resampling.NEAREST)
    bits = lower_bound(templates, cells, texts)
    save(name, strip, columns, f"{cover}: {bits:.1f} bits are left. Words that fit, with their probabilities:")


def save(name: str, strip: Image.Image, columns: list[list[str]], head: str) -> None:
    width = max(strip.width, COLUMN * len(columns)) + 2 * MARGIN
    sheet = Image.new("L", (width, strip.height + (SHOWN + 2) * LINE + 3 * MARGIN), 255)
    sheet.paste(strip, (MARGIN, MARGIN))
    pen, font = ImageDraw.Draw(sheet), ImageFont.truetype(resolve_font("liberation-sans")[0], 16)
    top = strip.height + 2 * MARGIN
    pen.text((MARGIN, top), head, fill=90, font=font)
    for number, words in enumerate(columns):
        for row, text in enumerate(words, start=1):
            pen.text((MARGIN + number * COLUMN, top + row * LINE + 4), text, fill=0 if row == 1 else 110, font=font)
    FOLDER.mkdir(exist_ok=True)
    sheet.quantize(COLORS).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    draw("rows", "rows", "hard")
    draw("bars", "bars", "bits=8")


if __name__ == "__main__":
    main()
