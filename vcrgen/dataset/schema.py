"""What the rows of a kind of datasets consist of: columns with their types, for Parquet and for `datasets`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

# Types in the notation of `datasets`. A list is written in brackets, which every version of it reads.
STRING = {"dtype": "string", "_type": "Value"}
INT = {"dtype": "int32", "_type": "Value"}
FLOAT = {"dtype": "float32", "_type": "Value"}
IMAGE = {"_type": "Image"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetKind:
    """The columns of all datasets of one task; :data:`vcrgen.tasks.vcr.VCR` is one."""

    # Type of each column: one of those above, ``[type]`` for a list, ``{name: type}`` for a record.
    features: Mapping[str, Any]
    notes: Mapping[str, str]  # what each column holds, for people; in Markdown
    identifier: str  # the column with the id of a row; where it holds whole numbers, they are read as texts
    answers: str  # the column with what a model is to give: a list of texts, or the letter of an option
    task: str | None = None  # what manifests call it; None for the task that they do not name
    # What a model reads where no image is shown: of a row, with the columns below, in the language of a code. A
    # ValueError where the row does not hold it. None for a task that cannot be asked without images.
    words: Callable[[Mapping[str, Any], str], str] | None = None
    words_from: tuple[str, ...] = ()  # the columns that it needs
    words_better: tuple[str, ...] = ()  # the columns that it uses where a dataset has them
    repeated: tuple[str, ...] = ()  # columns in which many rows have the same value; Parquet stores each value once
    # Columns that only some datasets have, each with its type and what it holds.
    more: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    searched: tuple[str, ...] = ()  # columns of which a Parquet file states the smallest and the largest value

    @property
    def images(self) -> tuple[str, ...]:
        """The columns that hold an image."""
        return tuple(name for name, feature in self.features.items() if feature == IMAGE)

    def schema(self, *columns: str) -> pa.Schema:
        """The Arrow schema of some columns, with the features as ``datasets`` stores them in Parquet.

        Without names, of all columns that every dataset has.
        """
        known = {**self.features, **{name: feature for name, (feature, _) in self.more.items()}}
        features = {name: known[name] for name in columns or self.features}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        return pa.schema([(name, _arrow_type(feature)) for name, feature in features.items()], metadata=metadata)

    def parquet_options(self) -> dict[str, Any]:
        """Options of ``pyarrow.parquet.ParquetWriter``."""
        # Images are compressed already and the rest is small; a dictionary of image bytes would cost more time than
        # drawing the images.
        dictionary, searched = list(self.repeated), list(self.searched)
        return {"compression": "none", "use_dictionary": dictionary, "write_statistics": searched}


def _arrow_type(feature: Any) -> pa.DataType:
    if isinstance(feature, list):
        return pa.list_(_arrow_type(feature[0]))
    kind = feature.get("_type")
    if kind == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if kind == "Value":
        return pa.type_for_alias(feature["dtype"])
    return pa.struct([(name, _arrow_type(value)) for name, value in feature.items()])
