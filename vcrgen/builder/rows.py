"""Rows of a dataset, and the serialized spans and covers in rows and keys of hidden sets."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vcrgen.builder.records import Pair
from vcrgen.core.records import Mode
from vcrgen.text.languages import LanguageRow
from vcrgen.typeset.records import WHITE, Box, Cover, MaskedSpan


def pair_row(pair: Pair, mode: Mode, *, language: LanguageRow, image_format: str) -> dict[str, Any]:
    """One row of a dataset, in the columns of `vcrgen.data.tasks.vcr.VCR`."""
    images = pair.images[mode]

    def image(data: bytes, name: str) -> dict[str, Any]:
        return {"bytes": data, "path": f"{pair.keys.pair}-{name}.{image_format}"}

    row = {
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
    if mode in pair.cover_masks:
        row["cover_mask"] = {"bytes": pair.cover_masks[mode], "path": f"{pair.keys.pair}-{mode}-cover-mask.png"}
    if images.pixel_bits:
        row["pixel_bits"] = [round(bits, 2) for bits in images.pixel_bits]
    if images.distractors:
        row["distractors"] = [box._asdict() for box in images.distractors]
    if pair.glyphs:
        row["glyph_boxes"] = [glyph.as_row() for glyph in pair.glyphs]
    return row


def span_row(covered: MaskedSpan) -> dict[str, Any]:
    """Serialize a span and its covers for datasets and keys.

    ``boxes`` are white rectangles. Other covers add two entries. ``fills`` has for each box a brightness, or one byte
    in hex for each covered pixel. ``masks`` has for each box the covered pixels as bits in hex, row by row, or an empty
    text where all are covered. Datasets store an image of all masks instead.
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
        shades = (cover.shade for cover in covered.covers)
        row["fills"] = [shade if isinstance(shade, int) else shade.tobytes().hex() for shade in shades]
        row["masks"] = ["" if c.mask is None else np.packbits(c.mask).tobytes().hex() for c in covered.covers]
    return row


def read_covers(row: Mapping[str, Any]) -> Iterator[Cover]:
    """Read the covers of a span that `span_row` has written.

    Raises:
        KeyError: An entry is missing.
        TypeError: A box has other sides than its four.
        ValueError: A mask does not fit its box, or brightnesses do not fit their mask.
    """
    boxes = [Box(**box) for box in row["boxes"]]
    fills, masks = row.get("fills", [WHITE] * len(boxes)), row.get("masks", [""] * len(boxes))
    for box, fill, mask in zip(boxes, fills, masks, strict=True):
        hidden = _read_mask(mask, box) if mask else None
        yield Cover(box=box, mask=hidden, fill=_read_fill(fill, hidden) if isinstance(fill, str) else fill)


def _read_mask(text: str, box: Box) -> npt.NDArray[np.bool_]:
    height, width = box.y1 - box.y0, box.x1 - box.x0
    data = bytes.fromhex(text)
    if len(data) != -(-height * width // 8):
        raise ValueError(f"a mask of {len(data)} bytes for a box of {width} x {height} pixels")
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=height * width)
    return bits.reshape(height, width).astype(bool)


def _read_fill(text: str, mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.uint8]:
    data = bytes.fromhex(text)
    if mask is None or len(data) != np.count_nonzero(mask):
        raise ValueError(f"{len(data)} brightnesses for a mask of other pixels")
    fill = np.zeros(mask.shape, dtype=np.uint8)
    fill[mask] = np.frombuffer(data, dtype=np.uint8)
    return fill
