"""Rows of a dataset, and the form in which rows and keys of hidden sets hold spans and covers."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vcrgen.builder.records import Pair
from vcrgen.records import Mode
from vcrgen.text.languages import LanguageRow
from vcrgen.typeset.records import WHITE, Box, Cover, CoveredSpan


def pair_row(pair: Pair, mode: Mode, *, language: LanguageRow, image_format: str) -> dict[str, Any]:
    """One row of a dataset, in the columns of :data:`vcrgen.tasks.vcr.VCR`."""
    images = pair.images[mode]

    def image(data: bytes, name: str) -> dict[str, Any]:
        return {"bytes": data, "path": f"{pair.keys.pair}-{name}.{image_format}"}

    return {
        "question_id": pair.keys.pair,
        "image": image(pair.photo, "image"),
        "caption": pair.caption,
        "stacked_image": image(images.stacked, f"{mode}-stacked"),
        "only_it_image": image(images.only_it, f"{mode}-only-it"),
        "only_it_image_small": image(images.only_it_small, f"{mode}-only-it-small"),
        "crossed_text": [covered.span.text for covered in images.spans],
        "question": language.question,
        "language": language.code,
        "mode": str(mode),
        "spans": [span_row(covered) for covered in images.spans],
        "strip_height": pair.strip_height,
        "strip_y": images.strip_y,
        "only_it_strip_y": images.only_it_strip_y,
        "source_id": pair.source_id,
    }


def span_row(covered: CoveredSpan) -> dict[str, Any]:
    """A span under its covers, as datasets and keys hold it.

    ``boxes`` are white rectangles. Covers of another kind have two further entries, which :func:`read_covers` reads:
    ``fills``, a brightness for each box, and ``masks``, for each box the hidden pixels as bits in hex, row after row,
    or an empty text where all are hidden. Datasets have no columns for them.
    """
    span = covered.span
    row = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "tokens": list(span.tokens),
        "boxes": [cover.box._asdict() for cover in covered.covers],
        "visible_ink": covered.visible_ink,
        "rows_above": covered.rows_above,
        "rows_below": covered.rows_below,
    }
    if any(cover.mask is not None or cover.fill != WHITE for cover in covered.covers):
        row["fills"] = [cover.fill for cover in covered.covers]
        row["masks"] = ["" if c.mask is None else np.packbits(c.mask).tobytes().hex() for c in covered.covers]
    return row


def read_covers(row: Mapping[str, Any]) -> Iterator[Cover]:
    """The covers of a span that :func:`span_row` has written.

    Raises:
        KeyError: An entry is missing.
        TypeError: A box has other sides than its four.
        ValueError: A mask does not fit its box.
    """
    boxes = [Box(**box) for box in row["boxes"]]
    fills, masks = row.get("fills", [WHITE] * len(boxes)), row.get("masks", [""] * len(boxes))
    for box, fill, mask in zip(boxes, fills, masks, strict=True):
        yield Cover(box=box, mask=_read_mask(mask, box) if mask else None, fill=fill)


def _read_mask(text: str, box: Box) -> npt.NDArray[np.bool_]:
    height, width = box.y1 - box.y0, box.x1 - box.x0
    data = bytes.fromhex(text)
    if len(data) != -(-height * width // 8):
        raise ValueError(f"a mask of {len(data)} bytes for a box of {width} x {height} pixels")
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=height * width)
    return bits.reshape(height, width).astype(bool)
