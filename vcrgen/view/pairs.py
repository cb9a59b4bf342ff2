"""Pairs of VCR datasets as JSON for the page: chosen by row, checked, and read from the dataset a page at a time."""

import base64
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from PIL import Image

from vcrgen.core.errors import DatasetError
from vcrgen.core.media import media_type
from vcrgen.core.records import is_mode
from vcrgen.data.key import HIDDEN_MODE
from vcrgen.data.manifest import Manifest
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.vcr import image_size, vcr_statistics
from vcrgen.data.views import IMAGE_VIEWS, View
from vcrgen.report.escape import script_json
from vcrgen.view.index import IndexedItem, IndexedRow

VIEW_COLUMNS = ("question_id", "only_it_image_small", "strip_y", "strip_height", "caption", "spans")
PAIR_COLUMNS = ("image", "source_id", "language", "question")
# Of datasets that vcrgen did not build: their geometry is measured in the images, and their covers are unknown.
FOREIGN_COLUMNS = ("question_id", *(view.column for view in IMAGE_VIEWS), "caption", "crossed_text")
OPTIONAL_COLUMNS = ("pixel_bits",)

# Limits beyond which no build writes, or no browser shows the page.
MAX_IMAGE_BYTES = 32 << 20
MAX_SIDE = 1 << 15
MAX_PIXELS = 1 << 25  # of an image that has to be decoded
MAX_CHARACTERS = 1 << 18
MAX_BOXES = 1 << 12

Json = dict[str, Any]


class HiddenPairs:
    """The pairs of the public part of a hidden set: pictures of two views, and no texts."""

    task = "vcr"
    modes = (HIDDEN_MODE,)
    is_public_part = True

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def items(self) -> Iterator[IndexedItem]:
        """The pairs for the index."""
        for _, row in self.data.rows(("question_id",), optional=("language",)):
            if isinstance(question_id := row["question_id"], str):
                yield IndexedItem(question_id, row.get("language") or "", "", 0, 0, question_id)

    def rows(self, limit: int | None = None) -> Iterator[IndexedRow]:
        """The first rows for the index."""
        for number, (_, row) in enumerate(islice(self.data.rows(("question_id",)), limit)):
            if isinstance(row["question_id"], str):
                yield IndexedRow(row["question_id"], HIDDEN_MODE, number, None)

    def cards(self, rows: Mapping[str, Mapping[str, int]]) -> dict[str, Json]:
        """The two pictures of some pairs by id; ``rows`` has the row of each."""
        views = (View.STACKED.column, View.TEI.column)
        numbers = list(rows.get(HIDDEN_MODE, {}).values())
        shown = self.data.rows(("question_id", *views), optional=("question",), positions=numbers) if numbers else ()
        cards: dict[str, Json] = {}
        for _, row in shown:
            try:
                whole, alone = (image_json(row[view]) for view in views)
            except ValueError:
                continue
            question = {"question": _text(row.get("question") or "")}
            views_of_pair = {HIDDEN_MODE: {"whole": whole, "wholeAlone": alone}}
            cards[row["question_id"]] = {"id": row["question_id"], "sourceId": "", **question, "views": views_of_pair}
        return cards

    def about(self) -> Json:
        """What the head of the page says: nothing is known."""
        return {"source": None, "signature": None, "leftOut": 0}


class Pairs:
    """The pairs of a dataset; those of its first mode, in its order.

    Args:
        data: A dataset whose files state their modes; its rows of several modes are joined by id.
    """

    task = "vcr"
    is_public_part = False

    def __init__(self, data: Dataset) -> None:
        data.check(*([] if data.manifest else [FOREIGN_COLUMNS]))
        self.data = data
        self.modes = tuple(sorted(filter(is_mode, data.modes)))
        self.left_out = 0  # rows whose texts no build writes

    def items(self) -> Iterator[IndexedItem]:
        """The pairs for the index; those whose texts no build writes are left out and counted."""
        self.left_out = 0
        columns, optional = ("question_id", "caption", "crossed_text"), ("source_id", "language")
        for split, _, row in self._rows(self.modes[0], columns, optional) if self.modes else ():
            try:
                answers = [_text(text) for text in row["crossed_text"]]
                caption, question_id = _text(row["caption"]), _text(row["question_id"])
                source, lang = _text(row.get("source_id") or ""), _text(row["language"])
            except (KeyError, TypeError, ValueError):
                self.left_out += 1
                continue
            text = "\n".join((question_id, source, caption, *answers))
            yield IndexedItem(question_id, lang, split, len(caption), len(answers), text)

    def rows(self, limit: int | None = None) -> Iterator[IndexedRow]:
        """The first rows of every mode for the index."""
        for mode in self.modes:
            for _, number, row in islice(self._rows(mode, ("question_id",), ("pixel_bits",)), limit):
                bits = row.get("pixel_bits")
                finite = [value for value in bits or () if isinstance(value, float) and math.isfinite(value)]
                if isinstance(row["question_id"], str):
                    yield IndexedRow(row["question_id"], mode, number, min(finite, default=None))

    def cards(self, rows: Mapping[str, Mapping[str, int]]) -> dict[str, Json]:
        """Pictures, captions and spans of some pairs by id.

        Args:
            rows: Of each mode the number of the row of each pair.

        Returns:
            Of each pair a card; one whose images no browser shows, or whose geometry does not fit, has a ``problem``.
        """
        cards: dict[str, Json] = {}
        for mode in self.modes:
            numbers = rows.get(mode, {})
            for row in self._shown_rows(mode, list(numbers.values()), first=mode == self.modes[0]):
                if (question_id := row["question_id"]) not in numbers:
                    continue  # its row is that of another pair with this id
                try:
                    if question_id not in cards:
                        cards[question_id] = _pair(row)
                    cards[question_id]["views"][mode] = _view(row, cards[question_id]["image"])
                except (KeyError, TypeError, ValueError):
                    continue
        return {question_id: card for question_id, card in cards.items() if card["views"]}

    def about(self) -> Json:
        """What the head of the page says of the dataset.

        Raises:
            DatasetError: A file is damaged, or has values that no build writes.
        """
        manifest = self.data.manifest
        try:
            figures = vcr_statistics(self.data).items()
            statistics = [{"mode": _text(mode), "split": _text(split)} | asdict(row) for (mode, split), row in figures]
            script_json(statistics)  # a ValueError for figures that are not finite
            return {
                "source": _text(manifest.source) if manifest else None,
                "signature": _signature(manifest) if manifest else None,
                "read": int(manifest.read) if manifest else None,
                "rejected": manifest and [[_text(reason), int(count)] for reason, count in manifest.rejected.items()],
                "statistics": statistics,
                "leftOut": self.left_out,
            }
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
            # Values are checked where they decide something; any other odd value was not written by a build.
            raise DatasetError(
                f"{self.data} is damaged (values that no build writes); build the dataset again."
            ) from None

    def _rows(
        self, mode: str, columns: Sequence[str], optional: Sequence[str]
    ) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        """The rows of a mode with their splits, numbered from 0."""
        number = 0
        for file in self.data.select(mode=mode).files:
            # What a file states of all its rows it states where the column is asked for by name.
            names = (*columns, *(name for name in optional if name in file.constants))
            for _, row in replace(self.data, files=(file,)).rows(names, optional=optional):
                yield file.split or "", number, row
                number += 1

    def _shown_rows(self, mode: str, numbers: Sequence[int], *, first: bool) -> Iterator[Mapping[str, Any]]:
        """The rows of some numbers with all that a card shows; those of the first mode with what modes share."""
        columns = VIEW_COLUMNS if self.data.manifest else FOREIGN_COLUMNS
        if self.data.manifest and {"distractors", "degrade"} & self.data.manifest.config.keys():
            columns = (*columns, View.STACKED.column)  # VI is another one in it
        columns = (*columns, *PAIR_COLUMNS) if first else columns
        if numbers:
            rows = self.data.select(mode=mode).rows(columns, optional=OPTIONAL_COLUMNS, positions=numbers)
            yield from (row for _, row in rows)


def _signature(manifest: Manifest) -> Json:
    return {"short": manifest.signature.short, "facts": list(manifest.signature.facts.items())}


def _pair(row: Mapping[str, Any]) -> Json:
    """Values that all modes of a pair share."""
    columns = {"id": "question_id", "sourceId": "source_id", "language": "language", "question": "question"}
    texts = {name: _text(row[column]) for name, column in columns.items()}
    return {**texts, "image": image_json(row["image"]), "views": {}}


def _view(row: Mapping[str, Any], image: Json) -> Json:
    """Return one mode of a pair: the strip, its place, and its masked spans."""
    strip = image_json(row[View.STRIP.column])
    built = "strip_y" in row
    row = row if built else {**row, **_measure_geometry(row)}
    stacked = row["strip_y"]
    fits = strip["width"] == image["width"] and strip["height"] == row["strip_height"]
    if not (fits and image["height"] <= stacked <= MAX_SIDE):
        raise ValueError("the strip does not fit the image")
    spans = [_span(span, strip) for span in row["spans"]]
    if bits := row.get("pixel_bits"):
        spans = [span | {"bits": _bits(left)} for span, left in zip(spans, bits, strict=True)]
    if sum(len(span["boxes"]) for span in spans) > MAX_BOXES:
        raise ValueError("too many boxes")
    caption = _caption_parts(_text(row["caption"]), row["spans"])
    view = {"strip": strip, "y": stacked, "spans": spans, "caption": caption}
    if built and View.STACKED.column in row:
        view["image"] = _rows(row[View.STACKED.column], 0, image["height"])
        view["strip"] = _rows(row[View.STACKED.column], stacked, stacked + strip["height"])
    return view


def _rows(value: Mapping[str, Any], top: int, bottom: int) -> Json:
    """Rows of an image from ``top`` to ``bottom``, encoded for the page."""
    with _open_image(value) as image:
        data = io.BytesIO()
        image.crop((0, top, image.width, bottom)).save(data, "PNG")
    return image_json({"bytes": data.getvalue(), "path": None})


def _measure_geometry(row: Mapping[str, Any]) -> Json:
    """Measure what a row that vcrgen did not build lacks: the places of the strip and of the answers in the caption.

    The strip is at the bottom of the stacked image.
    """
    strip_height = image_size(row[View.STRIP.column])[1]
    done, spans = 0, []
    for text in map(_text, row["crossed_text"]):
        start = row["caption"].find(text, done)
        if start >= 0:
            done = start + len(text)
            spans.append({"start": start, "end": done, "text": text, "boxes": []})
    return {
        "strip_height": strip_height,
        "strip_y": image_size(row[View.STACKED.column])[1] - strip_height,
        "spans": spans,
    }


def _open_image(value: Mapping[str, Any]) -> Image.Image:
    """Open an image whose pixels may be decoded; a ValueError for one that is too large."""
    width, height = image_size(value)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE) or width * height > MAX_PIXELS:
        raise ValueError("too large an image")
    return Image.open(io.BytesIO(image_bytes(value) or b""))


def _span(span: Mapping[str, Any], strip: Json) -> Json:
    boxes = [[box["x0"], box["y0"], box["x1"], box["y1"]] for box in span["boxes"]]
    for x0, y0, x1, y1 in boxes:
        if not (0 <= x0 <= x1 <= strip["width"] and 0 <= y0 <= y1 <= strip["height"]):
            raise ValueError("a box outside of the strip")
    if "visible_ink" not in span:
        return {"text": _text(span["text"]), "boxes": boxes}
    if not 0 <= span["visible_ink"] <= 1:  # false for NaN too, which JSON does not have
        raise ValueError("visible ink is not a share")
    ink, above, below = round(span["visible_ink"], 4), int(span["rows_above"]), int(span["rows_below"])
    return {"text": _text(span["text"]), "boxes": boxes, "ink": ink, "above": above, "below": below}


def _bits(value: Any) -> float:
    if not 0 <= value < math.inf:
        raise ValueError("no bits")
    return round(float(value), 2)


def _caption_parts(caption: str, spans: Sequence[Mapping[str, Any]]) -> list[tuple[str, bool]]:
    """Cut the caption at the spans: (text, is masked). JavaScript counts characters in another way."""
    parts, done = [], 0
    for span in spans:
        start, end = span["start"], span["end"]
        if not done <= start <= end <= len(caption):
            raise ValueError("spans that do not follow each other in the caption")
        parts += [(caption[done:start], False), (caption[start:end], True)]
        done = end
    return [part for part in [*parts, (caption[done:], False)] if part[0]]


def image_json(value: Any) -> Json:
    """Return an image's unchanged bytes, if its header is that of a format of pixels that browsers show."""
    data = image_bytes(value) or b""
    kind = (media_type(data) or "").removeprefix("image/")
    width, height = image_size(value)
    if len(data) > MAX_IMAGE_BYTES or not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise ValueError("too large an image")
    return {"kind": kind, "width": width, "height": height, "data": base64.b64encode(data).decode()}


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise ValueError("not a text, or too long a one")
    return value
