"""The preview of VCR datasets: pairs are chosen and checked here, and put into the page as JSON.

The page is ``preview_vcr.html`` in the folder ``templates``. Its script sets them as text and as ``data:`` URIs and
nothing else. The page's policy is in `vcrgen.report.templating`.
"""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from PIL import Image, ImageOps

from vcrgen.core.errors import DatasetError
from vcrgen.core.media import media_type
from vcrgen.core.records import is_mode
from vcrgen.data.manifest import Manifest
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.vcr import fill_metadata, image_size, vcr_statistics
from vcrgen.data.views import IMAGE_VIEWS, View
from vcrgen.report.escape import script_json
from vcrgen.report.templating import Templates

VIEW_COLUMNS = ("question_id", "only_it_image_small", "strip_y", "strip_height", "only_it_strip_y", "caption", "spans")
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


def vcr_page(datasets: Sequence[Dataset], limit: int, mode: str | None) -> tuple[str, int]:
    """Render VCR datasets with everything the page needs inside, and count the pairs on it."""
    pages = [_describe(dataset, limit, mode) for dataset in datasets]
    return render_page(pages), sum(len(dataset["pairs"]) for dataset in pages)


def render_page(datasets: Sequence[Json]) -> str:
    """Fill the template with described datasets; style and script stand in the page."""
    templates = Templates("vcrgen.view", style="preview_vcr.css", script="preview_vcr.js")
    return templates.render("preview_vcr.html", title="Visual Caption Restoration", data=datasets)


def _describe(data: Dataset, limit: int, mode: str | None) -> Json:
    """Return all that the page shows of one dataset."""
    manifest = data.manifest
    if manifest is None:
        data = fill_metadata(data, mode=mode)
    data.check(*([] if manifest else [FOREIGN_COLUMNS]))
    try:
        pairs, left_out = _choose_pairs(data, limit)
        figures = vcr_statistics(data).items()
        statistics = [{"mode": _text(mode), "split": _text(split)} | asdict(row) for (mode, split), row in figures]
        script_json(statistics)  # a ValueError for figures that are not finite
        return {
            "name": data.folder.local_path.resolve().name if data.folder.local_path else data.name,
            "source": _text(manifest.source) if manifest else None,
            "signature": _signature(manifest) if manifest else None,
            "read": int(manifest.read) if manifest else None,
            "rejected": manifest and [[_text(reason), int(count)] for reason, count in manifest.rejected.items()],
            "total": manifest.pairs if manifest else max(data.select(mode=name).count() for name in data.modes),
            "statistics": statistics,
            "pairs": pairs,
            "leftOut": left_out,
        }
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
        # Values are checked where they decide something; any other odd value was not written by a build.
        raise DatasetError(f"{data} is damaged (values that no build writes); build the dataset again.") from None


def _signature(manifest: Manifest) -> Json:
    return {"short": manifest.signature.short, "facts": list(manifest.signature.facts.items())}


def _choose_pairs(data: Dataset, limit: int) -> tuple[list[Json], int]:
    """Return pairs spread evenly over the first mode's rows with views in every mode, and the number left out."""
    modes = sorted(filter(is_mode, data.modes))
    if not modes:
        return [], 0
    first = data.select(mode=modes[0])
    count = min(limit, total := first.count())
    positions = [index * total // count for index in range(count)]
    pairs: dict[str, Json] = {}
    view_columns = VIEW_COLUMNS if data.manifest else FOREIGN_COLUMNS
    if data.manifest and {"distractors", "degrade"} & data.manifest.config.keys():  # then VI is another one in it
        view_columns = (*view_columns, View.STACKED.column)
    for _, row in first.rows((*view_columns, *PAIR_COLUMNS), optional=OPTIONAL_COLUMNS, positions=positions):
        try:
            pairs[row["question_id"]] = _pair(row)
        except (TypeError, ValueError):
            continue  # counted below
        _add_view(pairs, row, modes[0])
    for mode in modes[1:]:
        other = data.select(mode=mode)
        ids = enumerate(other.rows(["question_id"]))
        places = [number for number, (_, row) in ids if row["question_id"] in pairs]
        for _, row in other.rows(view_columns, optional=OPTIONAL_COLUMNS, positions=places):
            _add_view(pairs, row, mode)
    visible = [pair for pair in pairs.values() if pair["views"]]
    return visible, count - len(visible)


def _pair(row: Mapping[str, Any]) -> Json:
    """Values that all modes of a pair share."""
    columns = {"id": "question_id", "sourceId": "source_id", "language": "language", "question": "question"}
    texts = {name: _text(row[column]) for name, column in columns.items()}
    return {**texts, "image": _image(row["image"]), "views": {}}


def _add_view(pairs: dict[str, Json], row: Mapping[str, Any], mode: str) -> None:
    """Add a row as its pair's view in a mode; a row that does not fit is not shown in that mode."""
    pair = pairs[row["question_id"]]
    try:
        pair["views"][mode] = _view(row, pair["image"])
    except (TypeError, ValueError):
        pair["views"].pop(mode, None)


def _view(row: Mapping[str, Any], image: Json) -> Json:
    """Return one mode of a pair: the strip, its place, and its masked spans."""
    strip = _image(row[View.STRIP.column])
    built = "strip_y" in row
    row = row if built else {**row, **_measure_geometry(row)}
    stacked, alone = row["strip_y"], row["only_it_strip_y"]
    fits = strip["width"] == image["width"] and strip["height"] == row["strip_height"]
    if not (fits and image["height"] <= stacked <= MAX_SIDE and 0 <= alone <= stacked):
        raise ValueError("the strip does not fit the image")
    spans = [_span(span, strip) for span in row["spans"]]
    if bits := row.get("pixel_bits"):
        spans = [span | {"bits": _bits(left)} for span, left in zip(spans, bits, strict=True)]
    if sum(len(span["boxes"]) for span in spans) > MAX_BOXES:
        raise ValueError("too many boxes")
    caption = _caption_parts(_text(row["caption"]), row["spans"])
    view = {"strip": strip, "y": stacked, "yAlone": alone, "spans": spans, "caption": caption}
    if built and View.STACKED.column in row:
        view["image"] = _rows(row[View.STACKED.column], 0, image["height"])
        view["strip"] = _rows(row[View.STACKED.column], stacked, stacked + strip["height"])
    return view


def _rows(value: Mapping[str, Any], top: int, bottom: int) -> Json:
    """Rows of an image from ``top`` to ``bottom``, encoded for the page."""
    with _open_image(value) as image:
        data = io.BytesIO()
        image.crop((0, top, image.width, bottom)).save(data, "PNG")
    return _image({"bytes": data.getvalue(), "path": None})


def _measure_geometry(row: Mapping[str, Any]) -> Json:
    """Measure what a row that vcrgen did not build lacks: the places of the strip and of the answers in the caption.

    The strip is at the bottom of the stacked image. In the image of the strip alone it may be anywhere: its first row
    with ink tells.
    """
    strip_height = image_size(row[View.STRIP.column])[1]
    first = {view: _first_ink(row[view.column]) for view in (View.STRIP, View.TEI)}
    done, spans = 0, []
    for text in map(_text, row["crossed_text"]):
        start = row["caption"].find(text, done)
        if start >= 0:
            done = start + len(text)
            spans.append({"start": start, "end": done, "text": text, "boxes": []})
    return {
        "strip_height": strip_height,
        "strip_y": image_size(row[View.STACKED.column])[1] - strip_height,
        "only_it_strip_y": first[View.TEI] - first[View.STRIP],
        "spans": spans,
    }


def _first_ink(value: Mapping[str, Any]) -> int:
    """First row of an image that is not white; 0 for a white image."""
    with _open_image(value) as image:
        box = ImageOps.invert(image.convert("L")).getbbox()
    return box[1] if box else 0


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


def _image(value: Mapping[str, Any]) -> Json:
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
