"""Images of a few questions, as encoded bytes from the dataset's Parquet. Nothing is decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vcrgen.dataset.views import View

MAX_BYTES = 4 << 20
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def read_images(files: Sequence[str], wanted: Mapping[str, set[View]]) -> dict[tuple[str, View], bytes]:
    """The images of some questions.

    Args:
        files: Parquet files of one mode.
        wanted: Question id to the views that are wanted of it.

    Returns:
        Question id and view to the file's bytes; what is not there, too large, or cannot be read is left out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: dict[tuple[str, View], bytes] = {}
    for file in files:
        try:
            with pq.ParquetFile(file) as parquet:
                for group in range(parquet.num_row_groups):
                    ids = [str(v) for v in parquet.read_row_group(group, ["question_id"]).column(0).to_pylist()]
                    rows = [row for row, question_id in enumerate(ids) if question_id in wanted]
                    for view in {view for row in rows for view in wanted[ids[row]]}:
                        found.update(_of_group(parquet, group, view, {row: ids[row] for row in rows}, wanted))
        except (pa.ArrowException, OSError, KeyError):
            continue  # a report without a picture is still a report
    return found


def media_type(data: bytes) -> str | None:
    """The media type of an encoded image, told by its first bytes; None for what a page should not show."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def _of_group(
    parquet: object, group: int, view: View, rows: Mapping[int, str], wanted: Mapping[str, set[View]]
) -> dict[tuple[str, View], bytes]:
    column = view.column
    if column not in parquet.schema_arrow.names:  # type: ignore[attr-defined]
        return {}
    images = parquet.read_row_group(group, [column]).column(0)  # type: ignore[attr-defined]
    found = {}
    for row, question_id in rows.items():
        value = images[row].as_py()
        data = value.get("bytes") if isinstance(value, dict) else value
        if view in wanted[question_id] and isinstance(data, bytes) and len(data) <= MAX_BYTES:
            found[question_id, view] = data
    return found
