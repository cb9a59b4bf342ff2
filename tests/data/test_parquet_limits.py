"""Small Parquet files that decode to gigabytes: commands that read them take little memory and say why they stop."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.core.storage import open_folder
from vcrgen.data import arrow_files
from vcrgen.data.arrow_files import ParquetReader, checked_rows

MIB = 1 << 20
MAX_PEAK = 700  # MiB of a process; all rows of a file below are 3 to 7 GB
PROGRAM = """
import json, re, sys
from vcrgen.cli import app

for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments)
    except SystemExit as end:
        print("ended", end.code, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) >> 10)
"""


def repeated(megabytes: int, rows: int) -> pa.Array:
    """The same text in many rows: a dictionary page holds it once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * (megabytes * MIB)]))


def write(file: Path, captions: pa.Array, **options: Any) -> Path:
    """A file that is a dataset, a source and a table of scores by its columns."""
    rows = len(captions)
    columns = {"question_id": [f"{number:032x}" for number in range(rows)], "image": [b"no picture"] * rows}
    spans = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), captions)
    table = pa.table({"model": captions, "caption": captions, "crossed_text": spans, "stacked_image": columns["image"]})
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    pq.write_table(table, file, compression="zstd", store_schema=False, **options)
    assert file.stat().st_size < 40_000
    return file


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the peak of a process's memory")
def test_a_value_that_repeats_fills_no_memory(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a.parquet", repeated(40, 60)), write(tmp_path / "b.parquet", repeated(8, 150))
    commands = [
        ["inspect", str(one)],
        ["inspect", str(other)],
        ["analyze", "prune", str(one)],
        ["build", str(one), "--out", str(tmp_path / "out"), "--workers", "1"],
    ]
    done = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(commands)], capture_output=True, text=True)
    ended = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ended ")]
    assert [code for code, _ in ended] == ["2"] * len(commands), done.stderr
    assert int(ended[-1][1]) < MAX_PEAK
    assert "Traceback" not in done.stderr and done.stderr.count("Error: ") == len(commands), done.stderr


def test_texts_that_begin_alike_are_decoded_few_at_a_time(tmp_path: Path) -> None:
    """Of texts that begin as the one before, DELTA_BYTE_ARRAY stores the ends alone."""
    texts = pa.array(["x" * (24 * MIB) + str(number) for number in range(4)])
    encoding = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    pq.write_table(pa.table({"caption": texts}), tmp_path / "a.parquet", compression="zstd", **encoding)
    reader = ParquetReader(open_folder(tmp_path), "a.parquet")
    assert [batch.num_rows for batch in reader.batches(0, ["caption"], 1024)] == [2, 2]
    reader.close()


def test_lists_of_very_many_nulls_are_refused(tmp_path: Path) -> None:
    """A list of 20 million nulls takes some hundred bytes."""
    nulls = pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), pa.nulls(20_000_000, pa.string()))
    pq.write_table(pa.table({"crossed_text": nulls, "n": [1]}), tmp_path / "a.parquet", compression="zstd")
    reader = ParquetReader(open_folder(tmp_path), "a.parquet")
    assert next(reader.batches(0, ["n"], 1024)).num_rows == 1
    with pytest.raises(pa.ArrowInvalid, match=r"crossed_text.* has 20,000,000 values in lists"):
        next(reader.batches(0, ["crossed_text"], 1024))
    reader.close()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda texts: texts,
        lambda texts: pa.StructArray.from_arrays([texts], ["text"]),
        lambda texts: pa.ListArray.from_arrays(pa.array(range(len(texts) + 1), pa.int32()), texts),
        lambda texts: pa.MapArray.from_arrays(
            pa.array(range(len(texts) + 1), pa.int32()), pa.array([""] * len(texts)), texts
        ),
    ],
)
def test_long_texts_are_found_wherever_they_stand(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of one dictionary entry that many rows name; rows with the usual ones pass."""
    monkeypatch.setattr(arrow_files, "MAX_TEXT_BYTES", 100)
    monkeypatch.setattr(arrow_files, "_MAX_TEXTS_BYTES", 1000)
    for texts, message in (
        (["x" * 100] * 10, ""),
        (["x" * 101, "", None], "a text of c has 0 MiB"),
        (["x" * 100] * 11, "11 rows have texts of"),
    ):
        for array in (pa.array(texts), pa.array(texts).dictionary_encode()):
            batch = pa.record_batch({"c": wrap(array)})
            if message:
                with pytest.raises(pa.ArrowInvalid, match=message):
                    checked_rows(batch)
            else:
                assert len(checked_rows(batch)) == 10
