"""Check that the pixels of every span, without covers, show its label: built-in pairs are set and compared.

    python scripts/measure_reading.py --lang ja ko --pairs 500
    python scripts/measure_reading.py --lang ja --ocr PP-OCRv6_rec_small.onnx

Without --ocr the oracle is Pillow: the label's part of each line, drawn alone in the first font of the chain, must have
the pixels of the span. With --ocr a text recogniser in ONNX format reads each part; its file has the characters in its
metadata (that of the package rapidocr 3.10 on PyPI has kana and Chinese characters, and no Hangul). The output has for
each language spans, parts, parts equal to their label, and the others. The exit code is 1 if Pillow draws any part
otherwise.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item, Reject
from vcrgen.samples.pairs import sample_pair
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.render import Gray, render_strip
from vcrgen.typeset.style import Style

Reader = Callable[[str, Gray, Style], str]
SHOWN = 10
NEIGHBOURS = 2  # maximal pixels of neighbouring letters in the place of a span
CLEAR = 3  # pixels of white around the input of a recogniser


def parts(pipeline: Pipeline, lang: str, pairs: int) -> Iterator[list[tuple[str, Gray]]]:
    """Yield for each span the texts of its parts, one a line, and their pixels in the height of a line."""
    items = (
        Item(source_id=str(at), image=pair.image, caption=pair.caption)
        for at in range(pairs)
        for pair in [sample_pair(lang, at)]
    )
    for planned in pipeline.plan_items(items):
        if isinstance(planned, Reject):
            continue
        prepared, spans = planned
        layout, strip = prepared.layout, render_strip(prepared.layout)
        for span in spans:
            lines = [line for line in layout.lines if line.start < span.end and span.start < line.end]
            texts = [layout.text[max(line.start, span.start) : min(line.end, span.end)] for line in lines]
            cells = span_cells(span, layout)
            found = []
            for text, cell in zip(texts, cells, strict=True):
                found.append((text, strip[cell.line_box.area]))
            yield found


def by_pillow(text: str, pixels: Gray, style: Style) -> str:
    """Return the text if Pillow draws it as these pixels; otherwise a description of the difference."""
    chain = style.shaper.chain
    image = Image.new("L", pixels.shape[::-1], 255)
    ImageDraw.Draw(image).text((0, chain.baseline), text, font=chain.faces[0].font, fill=0, anchor="ls")
    rows = slice(1, -1)  # in the first and the last, letters of the lines above and below may end
    different = int((np.abs(np.asarray(image, dtype=int)[rows] - pixels[rows]) > 128).sum())
    return text if different <= NEIGHBOURS else f"{different} pixels of {text}"


def recogniser(file: str) -> Reader:
    """Return the reader of a text recogniser: one character a step, without repeated and empty ones."""
    import onnxruntime

    session = onnxruntime.InferenceSession(file)
    letters = ["", *session.get_modelmeta().custom_metadata_map["character"].split("\n"), " "]
    name = session.get_inputs()[0].name

    def read(_text: str, pixels: Gray, _style: Style) -> str:
        image = Image.fromarray(np.pad(pixels, CLEAR, constant_values=255)).convert("RGB")
        image = image.resize((max(48, round(image.width * 48 / image.height)), 48), Image.Resampling.BICUBIC)
        values = (np.asarray(image, dtype=np.float32) / 255 - 0.5) / 0.5
        steps: Any = session.run(None, {name: values.transpose(2, 0, 1)[None]})[0][0].argmax(axis=1)
        kept = [step for at, step in enumerate(steps) if step and (not at or step != steps[at - 1])]
        return "".join(letters[step] for step in kept)

    return read


def plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", nargs="+", default=["ja", "ko"])
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--ocr", metavar="MODEL", help="a text recogniser in ONNX's format")
    args = parser.parse_args()
    read: Reader = recogniser(args.ocr) if args.ocr else by_pillow
    wrong = 0
    for lang in args.lang:
        pipeline = Pipeline(BuildConfig(source="samples", lang=lang))
        spans = list(parts(pipeline, lang, args.pairs))
        pairs = [(text, read(text, pixels, pipeline.style)) for span in spans for text, pixels in span]
        missed = [(text, found) for text, found in pairs if plain(text) != plain(found)]
        letters = sum(len(plain(text)) for text, _ in pairs)
        right = len(pairs) - len(missed)
        print(f"{lang}: {len(spans)} spans, {len(pairs)} parts of {letters} characters; {right} as labelled")
        for text, found in missed[:SHOWN]:
            print(f"  {text} : {found}")
        wrong += len(missed)
    sys.exit(1 if wrong and not args.ocr else 0)


if __name__ == "__main__":
    main()
