"""The columns of a kind of datasets with their types, for Parquet and for `datasets`."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.data.arrays import record_batch

# Types in the notation of `datasets`. A list is written in brackets, which every version of it reads.
STRING = {"dtype": "string", "_type": "Value"}
INT = {"dtype": "int32", "_type": "Value"}
FLOAT = {"dtype": "float32", "_type": "Value"}
IMAGE = {"_type": "Image"}
# Rows after which Parquet looks if a page is full. Its default, 1,024, puts all images of a row group into one page: a
# row then takes nearly twice as long to write, and a reader of one image decodes all.
PAGE_ROWS = 8
GROUP_ROWS = 64  # rows in memory at a time, and in a row group


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetKind:
    """The columns of all datasets of one task; `vcrgen.data.tasks.vcr.VCR` is one."""

    # Type of each column: one of those above, ``[type]`` for a list, ``{name: type}`` for a record.
    features: Mapping[str, Any]
    descriptions: Mapping[str, str]  # of the columns, in Markdown
    identifier: str  # the column of row ids; whole numbers are read as texts
    answers: str  # the column of the right answers: a list of texts, or the letter of an option
    task: str | None = None  # the name in manifests; None for Visual Caption Restoration
    # Returns the text-only input of a row in a language; a ValueError if the row lacks it. None for tasks without one.
    text_context: Callable[[Mapping[str, Any], str], str] | None = None
    text_columns: tuple[str, ...] = ()  # required by `text_context`
    optional_text_columns: tuple[str, ...] = ()  # used by `text_context` if a dataset has them
    dictionary_columns: tuple[str, ...] = ()  # columns of few distinct values, which Parquet stores once
    # Columns that only some datasets have, with type and description.
    optional_features: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    indexed_columns: tuple[str, ...] = ()  # columns with statistics in Parquet files

    @property
    def images(self) -> tuple[str, ...]:
        """Names of the columns that hold images."""
        return tuple(name for name, feature in self.features.items() if feature == IMAGE)

    def schema(self, *columns: str) -> pa.Schema:
        """Arrow schema of some columns, by default all features, with the metadata of ``datasets``."""
        all_features = {**self.features, **{name: feature for name, (feature, _) in self.optional_features.items()}}
        features = {name: all_features[name] for name in columns or self.features}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        return pa.schema([(name, _arrow_type(feature)) for name, feature in features.items()], metadata=metadata)

    def parquet_options(self) -> dict[str, Any]:
        """Return options for ``pyarrow.parquet.ParquetWriter``."""
        # Images are compressed already and the rest is small; a dictionary of image bytes would cost more time than
        # drawing the images.
        dictionary, searched = list(self.dictionary_columns), list(self.indexed_columns)
        return {
            "compression": "none",
            "use_dictionary": dictionary,
            "write_statistics": searched,
            "write_batch_size": PAGE_ROWS,
        }

    def write(self, file: Path, rows: Iterator[Mapping[str, Any]], *columns: str) -> int:
        """Write some columns, by default all features, as a Parquet file; return the number of rows."""
        schema, count = self.schema(*columns), 0
        with pq.ParquetWriter(file, schema, **self.parquet_options()) as writer:
            while group := list(islice(rows, GROUP_ROWS)):
                writer.write_batch(record_batch(group, schema))
                count += len(group)
        return count


def _arrow_type(feature: Any) -> pa.DataType:
    if isinstance(feature, list):
        return pa.list_(_arrow_type(feature[0]))
    kind = feature.get("_type")
    if kind == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if kind == "Value":
        return pa.type_for_alias(feature["dtype"])
    return pa.struct([(name, _arrow_type(value)) for name, value in feature.items()])
