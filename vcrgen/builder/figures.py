"""The figures of the card, counted in each file of a build, so that nobody has to hold those of all rows."""

from pathlib import Path
from typing import BinaryIO

import pyarrow.compute as pc
import pyarrow.parquet as pq

from vcrgen.data.tasks.vcr import VCR, Figures


def count_figures(file: Path | BinaryIO) -> Figures:
    """The figures of the rows of a Parquet file that a build has written; an OSError if it cannot be read."""
    columns = ["strip_y", "strip_height", "caption", VCR.answers, "spans.list.element.visible_ink", "pixel_bits"]
    figures = Figures()
    with pq.ParquetFile(file, pre_buffer=False) as parquet:
        for group in range(parquet.num_row_groups):
            table = parquet.read_row_group(group, columns=columns, use_threads=False)
            spans = table["spans"].combine_chunks().flatten()
            values = {
                "heights": pc.add(table["strip_y"], table["strip_height"]),
                "lengths": pc.utf8_length(table["caption"]),
                "spans": pc.list_value_length(table[VCR.answers]),
                "ink": spans.field("visible_ink"),
            }
            if "pixel_bits" in table.column_names:
                bits = pc.list_flatten(table["pixel_bits"])
                values["bits"] = bits.filter(pc.invert(pc.is_nan(bits)))
            for name, column in values.items():
                getattr(figures, name).update(column.to_pylist())
    return figures
