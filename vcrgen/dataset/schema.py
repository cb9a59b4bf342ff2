"""The columns of a built dataset, for Parquet and for ``datasets``.

The first eight names are those of VCR-WIKI, so that loaders written for it work unchanged.
"""

import json
from typing import Any

import pyarrow as pa

IMAGE_COLUMNS = ("image", "stacked_image", "only_it_image", "only_it_image_small")

_STRING = {"dtype": "string", "_type": "Value"}
_INT = {"dtype": "int32", "_type": "Value"}
_FLOAT = {"dtype": "float32", "_type": "Value"}
_IMAGE = {"_type": "Image"}
_BOX = {"x0": _INT, "y0": _INT, "x1": _INT, "y1": _INT}
_SPAN = {
    "start": _INT,
    "end": _INT,
    "text": _STRING,
    "tokens": [_STRING],
    "boxes": [_BOX],
    "visible_ink": _FLOAT,
    "rows_above": _INT,
    "rows_below": _INT,
}
# Lists in brackets: a notation that every version of `datasets` reads.
FEATURES: dict[str, Any] = {
    "question_id": _STRING,
    "image": _IMAGE,
    "caption": _STRING,
    "stacked_image": _IMAGE,
    "only_it_image": _IMAGE,
    "only_it_image_small": _IMAGE,
    "crossed_text": [_STRING],
    "question": _STRING,
    "language": _STRING,
    "mode": _STRING,
    "spans": [_SPAN],
    "strip_height": _INT,
    "strip_y": _INT,
    "only_it_strip_y": _INT,
    "source_id": _STRING,
}
COLUMN_NOTES = {
    "question_id": "hash of the source image's bytes and the caption; the same pair has the same id in every build",
    "image": "VI, resized to the width",
    "caption": "the text shown in the strip",
    "stacked_image": "VI+TEI: VI with the covered strip below it",
    "only_it_image": "TEI only: the covered strip on white, same size as `stacked_image`",
    "only_it_image_small": "the covered strip",
    "crossed_text": "texts of the spans, in reading order: the answers",
    "question": "ST, the question put to the model",
    "language": "language code",
    "mode": "`easy` or `hard`",
    "spans": "per span: offsets into `caption`, text, tokens, boxes of the cover in the strip (px), share of the ink "
    "that stays visible, rows of ink visible above and below the cover",
    "strip_height": "height of the strip (px)",
    "strip_y": "top row of the strip in `stacked_image` (px)",
    "only_it_strip_y": "top row of the strip in `only_it_image` (px)",
    "source_id": "id of the pair in the source",
}


def _arrow_type(feature: Any) -> pa.DataType:
    if isinstance(feature, list):
        return pa.list_(_arrow_type(feature[0]))
    kind = feature.get("_type")
    if kind == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if kind == "Value":
        return pa.type_for_alias(feature["dtype"])
    return pa.struct([(name, _arrow_type(value)) for name, value in feature.items()])


def arrow_schema() -> pa.Schema:
    """The Arrow schema, with the features as ``datasets`` stores them in Parquet metadata."""
    metadata = {"huggingface": json.dumps({"info": {"features": FEATURES}})}
    return pa.schema([(name, _arrow_type(feature)) for name, feature in FEATURES.items()], metadata=metadata)


def parquet_options() -> dict[str, Any]:
    """Options of ``pyarrow.parquet.ParquetWriter``.

    Images are compressed already and the rest is small; a dictionary of image bytes would cost more time than drawing
    the images.
    """
    return {
        "compression": "none",
        "use_dictionary": ["question", "language", "mode"],
        "write_statistics": ["question_id", "source_id"],
    }
