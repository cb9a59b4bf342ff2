"""One HTML file that shows what is in some datasets, for a browser that is offline.

In the folder ``templates``, ``preview.html`` is the page, ``preview.css`` its look and ``preview.js`` what it does.
Here the pairs are chosen and checked and put into the page as JSON; the script sets them as text and as ``data:`` URIs
and nothing else. What the page may load is said in :mod:`vcrgen.report.pages`.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

from vcrgen.dataset.manifest import Manifest
from vcrgen.dataset.reader import Dataset, open_dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.dataset.views import IMAGE_VIEWS, View
from vcrgen.errors import ConfigError, DatasetError, OutputError
from vcrgen.files import output_errors, write_text
from vcrgen.media import media_type
from vcrgen.records import is_mode
from vcrgen.report.escape import script_json
from vcrgen.report.pages import Templates
from vcrgen.storage import open_folder
from vcrgen.tasks.vcr import VCR, described, image_size, vcr_statistics

VIEW_COLUMNS = ("question_id", "only_it_image_small", "strip_y", "strip_height", "only_it_strip_y", "caption", "spans")
PAIR_COLUMNS = ("image", "source_id", "language", "question")
# Of datasets that vcrgen did not build: the geometry is measured in the images, and the covers are not known.
FOREIGN_COLUMNS = ("question_id", *(view.column for view in IMAGE_VIEWS), "caption", "crossed_text")

# What no build writes, and what would make a page that no browser shows.
MAX_IMAGE_BYTES = 32 << 20
MAX_SIDE = 1 << 15
MAX_PIXELS = 1 << 25  # of an image that has to be decoded
MAX_CHARACTERS = 1 << 18
MAX_BOXES = 1 << 12

Json = dict[str, Any]


def write_preview(datasets: Sequence[Path], out: Path, *, limit: int = 48, mode: str | None = None) -> int:
    """Write a page that shows pairs of some datasets, in all modes.

    Args:
        datasets: Datasets of any kind that :func:`vcrgen.dataset.reader.open_dataset` knows.
        out: A new HTML file.
        limit: Pairs of each dataset, at most; they are spread evenly over it.
        mode: The mode of files that do not say theirs, of datasets that vcrgen did not build.

    Returns:
        Pairs on the page. A pair whose images are neither PNG nor WebP, or whose geometry does not fit them, is left
        out, and the page says how many were.

    Raises:
        VcrgenError: ``limit`` is not positive, ``out`` cannot be written, or a dataset is not one or is damaged.
    """
    if limit < 1:
        raise ConfigError(f"The limit of the preview is {limit}; it has to be 1 or more.")
    if out.exists():
        raise OutputError(f"{out} exists; choose another file, or remove that one.")
    shown = [_describe(dataset, limit, mode) for dataset in datasets]
    with output_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, page(shown))
    return sum(len(dataset["pairs"]) for dataset in shown)


def page(datasets: Sequence[Json]) -> str:
    """The page's HTML, with everything it needs inside."""
    templates = Templates("vcrgen.publish", style="preview.css", script="preview.js")
    return templates.render("preview.html", title="Visual Caption Restoration", data=datasets)


def _describe(dataset: Path, limit: int, mode: str | None) -> Json:
    """All that the page shows of one dataset."""
    folder = open_folder(dataset)
    data = open_dataset(dataset, VCR)
    manifest = data.manifest
    if manifest is None:
        data = described(data, mode=mode)
    data.check(*([] if manifest else [FOREIGN_COLUMNS]))
    try:
        pairs, left_out = _choose_pairs(data, limit)
        figures = vcr_statistics(data).items()
        statistics = [{"mode": _text(mode), "split": _text(split)} | asdict(row) for (mode, split), row in figures]
        script_json(statistics)  # a ValueError for figures that are not finite
        return {
            "name": folder.disk.resolve().name if folder.disk else dataset.name,
            "source": _text(manifest.source) if manifest else None,
            "signature": _signature(manifest) if manifest else None,
            "read": int(manifest.read) if manifest else None,
            "drops": [[_text(reason), int(count)] for reason, count in manifest.drops.items()] if manifest else None,
            "total": manifest.pairs if manifest else max(data.select(mode=one).count() for one in data.modes),
            "statistics": statistics,
            "pairs": pairs,
            "leftOut": left_out,
        }
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
        # Values are checked where they decide something; whatever else is odd has not been written by a build.
        raise DatasetError(f"{dataset} is damaged (values that no build writes); build the dataset again.") from None


def _signature(manifest: Manifest) -> Json:
    return {"short": manifest.signature.short, "facts": list(manifest.signature.facts.items())}


def _choose_pairs(data: Dataset, limit: int) -> tuple[list[Json], int]:
    """Pairs spread evenly over the first mode's rows with their views in every mode, and how many were left out."""
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
    for _, row in first.rows((*view_columns, *PAIR_COLUMNS), positions=positions):
        try:
            pairs[row["question_id"]] = _pair(row)
        except (TypeError, ValueError):
            continue  # counted below
        _add_view(pairs, row, modes[0])
    for mode in modes[1:]:
        other = data.select(mode=mode)
        ids = enumerate(other.rows(["question_id"]))
        places = [number for number, (_, row) in ids if row["question_id"] in pairs]
        for _, row in other.rows(view_columns, positions=places):
            _add_view(pairs, row, mode)
    shown = [pair for pair in pairs.values() if pair["views"]]
    return shown, count - len(shown)


def _pair(row: Mapping[str, Any]) -> Json:
    """What all modes of a pair share."""
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
    """One mode of a pair: the strip, where it stands, and what is covered in it."""
    strip = _image(row[View.STRIP.column])
    built = "strip_y" in row
    row = row if built else {**row, **_measured(row)}
    stacked, alone = row["strip_y"], row["only_it_strip_y"]
    fits = strip["width"] == image["width"] and strip["height"] == row["strip_height"]
    if not (fits and image["height"] <= stacked <= MAX_SIDE and 0 <= alone <= stacked):
        raise ValueError("the strip does not fit the image")
    spans = [_span(span, strip) for span in row["spans"]]
    if sum(len(span["boxes"]) for span in spans) > MAX_BOXES:
        raise ValueError("too many boxes")
    caption = _caption_parts(_text(row["caption"]), row["spans"])
    view = {"strip": strip, "y": stacked, "yAlone": alone, "spans": spans, "caption": caption}
    if built and View.STACKED.column in row:
        view["image"] = _rows(row[View.STACKED.column], 0, image["height"])
        view["strip"] = _rows(row[View.STACKED.column], stacked, stacked + strip["height"])
    return view


def _rows(value: Mapping[str, Any], top: int, bottom: int) -> Json:
    """Some rows of an image."""
    with _opened(value) as image:
        data = io.BytesIO()
        image.crop((0, top, image.width, bottom)).save(data, "PNG")
    return _image({"bytes": data.getvalue(), "path": None})


def _measured(row: Mapping[str, Any]) -> Json:
    """What a row that vcrgen did not build does not say: where the strip is, and where the answers are in the caption.

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
    """The first row of an image that is not white; 0 for a white image."""
    with _opened(value) as image:
        box = ImageOps.invert(image.convert("L")).getbbox()
    return box[1] if box else 0


def _opened(value: Mapping[str, Any]) -> Image.Image:
    """An image whose pixels may be decoded; a ValueError for one that is too large."""
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


def _caption_parts(caption: str, spans: Sequence[Mapping[str, Any]]) -> list[tuple[str, bool]]:
    """The caption cut at the spans: text and whether it is covered. JavaScript counts characters in another way."""
    parts, done = [], 0
    for span in spans:
        start, end = span["start"], span["end"]
        if not done <= start <= end <= len(caption):
            raise ValueError("spans that do not follow each other in the caption")
        parts += [(caption[done:start], False), (caption[start:end], True)]
        done = end
    return [part for part in [*parts, (caption[done:], False)] if part[0]]


def _image(value: Mapping[str, Any]) -> Json:
    """An image's bytes as they are, once its header says that a browser shows pixels of it and nothing else."""
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
