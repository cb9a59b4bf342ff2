"""Covariates of masked spans: of the text alone and, with the dataset, of caption, boxes and visible ink."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vcrgen.analysis.items.difficulty_model import Covariate
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.dataset.reader import open_dataset
from vcrgen.errors import AnalysisError
from vcrgen.tasks.pixel_bits import PixelBits
from vcrgen.tasks.vcr import VCR

# Letters of Latin script with a part above the small letters, and below the line.
_ASCENDERS, _DESCENDERS = frozenset("bdfhklt"), frozenset("gjpqy")
_COLUMNS = ("question_id", "caption", "crossed_text")
_DETAILS = ("spans.start", "spans.tokens", "spans.boxes", "spans.visible_ink", "spans.rows_above", "spans.rows_below")
_BITS = "pixel_bits"  # a column of datasets whose covers were accepted by bits
# What the easy and the hard mode of a dataset differ in: the field of a span, and what it is multiplied by.
_OF_MODE = {"ink": ("visible_ink", 10.0), "above": ("rows_above", 1.0), "below": ("rows_below", 1.0)}


def span_covariates(table: ItemTable, data: Path | None = None, pixels: PixelBits | None = None) -> list[Covariate]:
    """The covariates of a table's spans.

    Args:
        table: Scores of spans.
        data: The dataset that they are of.
        pixels: The bits that the visible pixels of the spans leave, where the dataset does not say them.

    Raises:
        AnalysisError: The table has no masked spans, or the dataset is not the one they are of.
    """
    if not table.spans:
        raise AnalysisError(f"{table.source} is no evidence with answers, so its spans have no covariates.")
    rows = [{"length": len(span.text) / 10, "order": float(span.number), **_letters(span.text)} for span in table.spans]
    if pixels is not None:
        counts = Counter(span.question_id for span in table.spans)
        for row, span in zip(rows, table.spans, strict=True):
            bits = pixels.of_question(span.question_id, table.mode, counts[span.question_id])[span.number]
            row |= {} if math.isnan(bits) else {"bits": bits}
    if data is not None:
        for row, more in zip(rows, _from_dataset(table, data), strict=True):
            row |= more
    return [
        Covariate(name, unit, np.array([row[key] for row in rows], np.float64))
        for key, (name, unit) in _COVARIATES.items()
        if all(key in row for row in rows)
    ]


_COVARIATES: Mapping[str, tuple[str, str]] = {
    "ink": ("Visible ink", "10 points of its share"),
    "bits": ("Bits that its pixels leave", "1 bit"),
    "above": ("Rows above the cover", "one row of pixels"),
    "below": ("Rows below the cover", "one row of pixels"),
    "ascenders": ("Letters with ascenders", "10 points of their share"),
    "descenders": ("Letters with descenders", "10 points of their share"),
    "length": ("Length", "10 characters"),
    "frequency": ("Frequency of its words", "10 times as frequent"),
    "break": ("Line break inside", "yes"),
    "order": ("Number in the image", "one further"),
    "place": ("Place in the caption", "10 points of its length"),
    "caption": ("Length of the caption", "100 characters"),
}


def _letters(text: str) -> dict[str, float]:
    """Shares of letters with ascenders and descenders, in tenths; accents do not matter."""
    letters = [c for c in unicodedata.normalize("NFD", text) if c.isalnum()]
    up = sum(c in _ASCENDERS or c.isupper() or c.isdigit() for c in letters)
    down = sum(c in _DESCENDERS for c in letters)
    return {"ascenders": 10 * up / max(len(letters), 1), "descenders": 10 * down / max(len(letters), 1)}


def _from_dataset(table: ItemTable, data: Path) -> list[dict[str, float]]:
    dataset = open_dataset(data, VCR)
    if dataset.is_hidden:
        raise AnalysisError(f"{data} is the public part of a hidden test set, which says nothing of its spans.")
    modes = dataset.modes
    if modes:
        dataset = dataset.select(mode=table.mode if table.mode in modes else modes[0])
    with_mode = table.mode in modes or len(modes) < 2
    places = {(span.question_id, span.number): item for item, span in enumerate(table.spans)}
    found: dict[int, dict[str, float]] = {}
    tokens: dict[int, list[str]] = {}
    frequency: Counter[str] = Counter()
    for place, row in dataset.rows(_COLUMNS, optional=(*_DETAILS, _BITS)):
        question_id, texts, spans = str(row["question_id"]), row["crossed_text"] or [], row.get("spans") or []
        if not isinstance(spans, list) or len(spans) != len(texts):
            spans = [{}] * len(texts)
        for span in spans:
            frequency.update(span.get("tokens") or ())
        for number, (text, span) in enumerate(zip(texts, spans, strict=True)):
            item = places.get((question_id, number))
            if item is not None:
                if table.spans[item].text != text:
                    raise AnalysisError(
                        f"{place}: a masked span of {question_id[:80]!r} is not the one that was scored; give the "
                        "dataset that the evidence is of (--data)."
                    )
                found[item] = _of_span(row["caption"] or "", span, with_mode=with_mode)
                if with_mode and isinstance(bits := row.get(_BITS), list) and len(bits) == len(texts):
                    found[item]["bits"] = float(bits[number])
                tokens[item] = span.get("tokens") or []
    if len(found) < len(table.items):
        raise AnalysisError(
            f"{data} lacks {len(table.items) - len(found)} of the {len(table.items)} spans; give the dataset that the "
            "evidence is of (--data)."
        )
    total = sum(frequency.values())
    for item, words in tokens.items():
        if words:
            found[item]["frequency"] = sum(math.log10(frequency[word] / total) for word in words) / len(words)
    return [found[item] for item in range(len(table.items))]


def _of_span(caption: str, span: Mapping[str, Any], *, with_mode: bool) -> dict[str, float]:
    found = {"caption": len(caption) / 100}
    if isinstance(start := span.get("start"), int) and caption:
        found["place"] = 10 * start / len(caption)
    if isinstance(boxes := span.get("boxes"), list) and boxes:  # of a warped image there are none
        found["break"] = float(len({box.get("y0") for box in boxes if isinstance(box, dict)}) > 1)
    for key, (name, times) in _OF_MODE.items() if with_mode else ():
        value = span.get(name)
        if isinstance(value, int | float) and math.isfinite(value):
            found[key] = times * value
    return found
