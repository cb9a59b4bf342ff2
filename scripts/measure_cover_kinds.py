"""Measure how differently kinds of covers act at equal ink.

    python scripts/measure_cover_kinds.py ../shared/data/wiki/pairs_en.parquet stripes dropout [--ink 0.6] [--pairs 40]

Where the template attack settles all spans alike, OCR (extra `ocr`) still tells kinds apart. All kinds cover the same
spans, one at a time, and RapidOCR reads the strip. Of each kind: the share of spans that are read, and the mean share
of a span's characters that are read in order. Of every two kinds: the correlation of these shares over the spans, and
their mean absolute difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

import numpy as np
from measure_acceptance import planned, read_items
from PIL import Image

from vcrgen.builder.compose import draw_parts
from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PreparedItem
from vcrgen.core.records import Item, Span
from vcrgen.models.ocr import OcrModel, reading_order
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import CoverRule, cover_spans
from vcrgen.typeset.render import cover_strip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet file of pairs, named *_LANG.parquet; or LANG, for built-in pairs")
    parser.add_argument("kinds", nargs="+", metavar="KIND", help="kinds of covers, as of --cover")
    parser.add_argument("--ink", type=float, default=0.6, help="share of ink that covers leave")
    parser.add_argument("--pairs", type=int, default=40)
    arguments = parser.parse_args()
    lang = Path(arguments.source).stem.rpartition("_")[2]
    items, ocr, found = list(read_items(arguments.source, 0, arguments.pairs)), OcrModel(), {}
    print("| cover | spans | read | characters read |\n|---|---|---|---|")
    for kind in arguments.kinds:
        options = {"lang": lang, "cover": kind, "mode": f"ink={arguments.ink:.2f}"}
        found[kind] = read = np.array(list(measure(Pipeline(load_build_config(None, options)), items, ocr)))
        print(f"| {kind} | {len(read)} | {np.mean(read == 1):.1%} | {read.mean():.1%} |", flush=True)
    print("\n| covers | correlation | mean difference |\n|---|---|---|")
    for one, other in combinations(found, 2):
        apart = np.abs(found[one] - found[other]).mean()
        print(f"| {one}, {other} | {np.corrcoef(found[one], found[other])[0, 1]:.2f} | {apart:.1%} |")


def measure(pipeline: Pipeline, items: list[Item], ocr: OcrModel) -> Iterator[float]:
    """Yield for each span the share of its characters that OCR reads."""
    rule = pipeline.style.calibrations[pipeline.config.modes[0]].rule
    for _, prepared, spans in planned([pipeline], items):
        for span in spans:
            form = pipeline.choices(prepared.keys.pair).span_rule(rule, span, 0)
            yield share_read(ocr, prepared, span, form, pipeline.config.lang)


def share_read(ocr: OcrModel, prepared: PreparedItem, span: Span, form: CoverRule, lang: str) -> float:
    """Return the share of a span's characters that OCR reads in order, up to spaces and case."""
    parts = draw_parts(prepared, (span,))
    (covered,) = cover_spans({span: form}, parts.cells, parts.strip, parts.layers)
    strip = Image.fromarray(cover_strip(parts.strip, covered.covers)).convert("RGB")
    language = LANGUAGES[lang]
    text = reading_order(ocr.fragments(strip), language.joiner, language.direction)
    wanted, read = ("".join(part.split()).casefold() for part in (span.text, text))
    if wanted in read:
        return 1.0
    # The rest of the caption is read, too; of it, letters would match by chance.
    place = prepared.layout.caption.find(span.text)
    before = "".join(prepared.layout.caption[:place].split()).casefold()
    expected = before + wanted + "".join(prepared.layout.caption[place + len(span.text) :].split()).casefold()
    blocks = SequenceMatcher(None, expected, read, autojunk=False).get_matching_blocks()
    first, last = len(before), len(before) + len(wanted)
    return sum(max(0, min(b.a + b.size, last) - max(b.a, first)) for b in blocks) / len(wanted)


if __name__ == "__main__":
    main()
