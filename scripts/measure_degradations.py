"""Measure the legibility of text under each level of each degradation and on each paper, by OCR: docs/validation.md.

    python scripts/measure_degradations.py ../shared/data/wiki/pairs_en.parquet [--pairs 40] [--lang en]

The strip of each pair is drawn without covers, degraded as by `vcrgen build --degrade`, and read by RapidOCR (extra
`ocr`). Figures are the recall in percent, of the caption's words (in Chinese, of its characters), counted with
repetitions.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from measure_ocr import units
from PIL import Image

from vcrgen.builder.bands import stack_bands
from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PreparedItem
from vcrgen.core.records import Item, Reject
from vcrgen.models.ocr import OcrModel, reading_order
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.paper_kinds import BLACK, PAPER_KINDS

INKS = (BLACK, "1f3a6e", "7a1f1f")
LEVELS = {
    "jpeg": (80, 40, 20, 10, 5),
    "blur": (0.5, 1, 1.5, 2, 3),
    "lowres": (0.8, 0.6, 0.5, 0.4, 0.3),
    "camera": (0.1, 0.3, 0.5, 0.7, 1),
    "skew": (1, 2, 3, 5, 10),
    "perspective": (0.05, 0.1, 0.2, 0.3, 0.4),
}


def items(source: Path, pairs: int) -> Iterator[Item]:
    """Yield the first pairs of a file."""
    for number, row in enumerate(pq.read_table(source).slice(0, pairs).to_pylist()):
        yield Item(source_id=str(number), image=row["image"]["bytes"], caption=row["caption"])


def recall(model: OcrModel, source: list[Item], lang: str, **options: str) -> float:
    """Return the recall of the captions' units in strips that were built with options, in percent."""
    pipeline = Pipeline(load_build_config(None, {"lang": lang, "mode": "easy", **options}))
    language = LANGUAGES[lang]
    wanted = found = 0
    for item in source:
        prepared = pipeline.prepare(item, pipeline.style)
        if isinstance(prepared, Reject):
            continue
        strip = strip_of(pipeline, prepared)
        text = reading_order(model.fragments(strip), language.joiner, language.direction)
        there, read = units(prepared.layout.caption, lang), units(text, lang)
        wanted, found = wanted + there.total(), found + (there & read).total()
    return 100 * found / wanted


def strip_of(pipeline: Pipeline, prepared: PreparedItem) -> Image.Image:
    """Return the strip without covers, degraded as by a build."""
    (rule,) = (cover.rule for mode, cover in prepared.style.calibrations.items() if mode in pipeline.config.modes)
    composed = pipeline.compose(
        prepared, pipeline.draw_parts(prepared, ()), rule, tuple, {}, pipeline.choices(prepared.keys.pair)
    )
    assert not isinstance(composed, Reject)
    return Image.fromarray(stack_bands(composed.only_it_small))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Parquet file with the columns image and caption")
    parser.add_argument("--pairs", type=int, default=40, help="number of its pairs")
    parser.add_argument("--lang", default="en", help="language of the captions")
    arguments = parser.parse_args()
    model, source = OcrModel(), list(items(arguments.source, arguments.pairs))
    print(f"{arguments.lang}, {len(source)} pairs, not degraded: {recall(model, source, arguments.lang):.1f} %\n")
    print("| degradation | amount: recall, % |\n|---|---|")
    for name, amounts in LEVELS.items():
        cells = (
            f"{amount:g}: {recall(model, source, arguments.lang, degrade=f'{name}={amount}'):.1f}" for amount in amounts
        )
        print(f"| `{name}` | {', '.join(cells)} |", flush=True)
    for paper in PAPER_KINDS:
        shares = (f"{recall(model, source, arguments.lang, paper=paper, ink_colour=ink):.1f} ({ink})" for ink in INKS)
        print(f"| paper `{paper}` | {', '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
