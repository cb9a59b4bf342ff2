"""Small files of rows that decode to gigabytes: commands that read them take little memory and say why they stop."""

import hashlib
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from vcrgen.core.storage import open_folder
from vcrgen.data import arrow_files, parquet_pages
from vcrgen.data.arrow_files import ParquetReader, checked_rows, open_stream

MIB = 1 << 20
MAX_PEAK = 700  # MiB of a process; all rows of a file below are 1.2 to 7 GB
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


def restate(file: Path, old: int, new: int) -> Path:
    """State another number in the footer, as long as the old one, so that all else stays where it is."""
    data = file.read_bytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    footer, before, after = data[-8 - size :], varint(old), bytearray(varint(new))
    after += b"\0" * (len(before) - len(after))
    after[:-1] = bytes(byte | 128 for byte in after[:-1])
    assert before in footer
    file.write_bytes(data[: -8 - size] + footer.replace(before, after))
    return file


def varint(number: int) -> bytes:
    """A number that is not negative in Thrift's compact form."""
    groups = [number * 2 >> shift & 127 for shift in range(0, max(1, (number * 2).bit_length()), 7)]
    return bytes(group | 128 for group in groups[:-1]) + bytes(groups[-1:])


def lying(file: Path) -> Path:
    """A file whose footer states a kilobyte for each column, where pages unpack to 3 MiB."""
    write(file, repeated(3, 1000))
    group = pq.read_metadata(file).row_group(0)
    for size in {group.column(number).total_uncompressed_size for number in range(group.num_columns)}:
        if size > MIB:
            restate(file, size, 1000)
    return file


def saved(folder: Path, batch: pa.RecordBatch, compression: str | None = None) -> Path:
    """A folder as `datasets` saves it, of one batch."""
    folder.mkdir()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(folder / "data.arrow", batch.schema, options=options) as stream:
        stream.write_batch(batch)
    (folder / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}], "_split": null}', "utf-8")
    (folder / "dataset_info.json").write_text("{}", "utf-8")
    return folder


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the peak of a process's memory")
def test_a_value_that_repeats_fills_no_memory(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a.parquet", repeated(40, 60)), write(tmp_path / "b.parquet", repeated(8, 150))
    false = lying(tmp_path / "c.parquet")
    texts = pa.repeat("x" * (3 * MIB), 200)
    packed = saved(tmp_path / "packed", pa.record_batch({"image": texts, "caption": texts}), "zstd")
    assert (packed / "data.arrow").stat().st_size < 300_000
    del texts
    commands = [
        ["inspect", str(one)],
        ["inspect", str(other)],
        ["analyze", "prune", str(one)],
        *(["inspect", str(file)] for file in (false, packed)),
        *(["build", str(file), "--out", str(tmp_path / "out"), "--workers", "1"] for file in (one, false, packed)),
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


@pytest.mark.parametrize("column", [0, 1])
def test_pages_are_held_to_what_the_footer_states(column: int, tmp_path: Path) -> None:
    """To its bytes, and to its values in lists."""
    words = pa.array([["word", str(number)] for number in range(5000)])
    pq.write_table(pa.table({"words": words, "text": pc.list_element(words, 1)}), tmp_path / "a.parquet")
    facts = pq.read_metadata(tmp_path / "a.parquet").row_group(0).column(column)
    honest = (tmp_path / "a.parquet").read_bytes()
    for stated in (facts.total_uncompressed_size, facts.num_values):
        (tmp_path / "a.parquet").write_bytes(honest)
        restate(tmp_path / "a.parquet", stated, stated // 2)
        reader = ParquetReader(open_folder(tmp_path), "a.parquet")
        with pytest.raises(pa.ArrowInvalid, match="unpack to more than the footer states"):
            sum(batch.num_rows for batch in reader.batches(0, reader.leaves, 1024))
        reader.close()


def test_a_column_is_not_larger_than_its_file(tmp_path: Path) -> None:
    """How far a column may unpack goes by its packed bytes, so the footer may not state more of them than there are."""
    file = tmp_path / "a.parquet"
    ends = [hashlib.sha256(bytes([number])).hexdigest() * 4 for number in range(100)]
    texts = pa.array(["x" * MIB + end for end in ends])
    pq.write_table(pa.table({"text": texts}), file, compression="zstd", use_dictionary=False)
    packed = pq.read_metadata(file).row_group(0).column(0).total_compressed_size
    for stated, sentence in ((packed, "more than its packed size allows"), (1_000_000, "more than the file has there")):
        restate(file, packed, stated)
        reader = ParquetReader(open_folder(tmp_path), "a.parquet")
        with pytest.raises(pa.ArrowInvalid, match=sentence):
            next(reader.batches(0, ["text"], 1024))
        reader.close()


def test_columns_without_rows_are_read(tmp_path: Path) -> None:
    """Their pages are said to begin at byte 0."""
    pq.write_table(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.list_(pa.string()))}), tmp_path / "a")
    reader = ParquetReader(open_folder(tmp_path), "a")
    assert sum(batch.num_rows for batch in reader.batches(0, ["a", "b"], 1024)) == 0
    reader.close()


def test_two_columns_do_not_share_their_bytes(tmp_path: Path) -> None:
    """The second would be held to the limits of the first."""
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x" * 200], "b": ["y" * 200]}), file, use_dictionary=False)
    group = pq.read_metadata(file).row_group(0)
    first, second = (group.column(number).data_page_offset for number in (0, 1))
    assert len(varint(first)) <= len(varint(second))
    restate(file, second, first)
    reader = ParquetReader(open_folder(tmp_path), "a.parquet")
    with pytest.raises(pa.ArrowInvalid, match="begin at the same byte"):
        next(reader.batches(0, ["a", "b"], 1024))
    reader.close()


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd", "snappy", "lz4"])
def test_pages_of_any_form_are_read(
    version: str, compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers and dictionaries end anywhere in what is read at a time."""
    monkeypatch.setattr(arrow_files, "_DISK_BUFFER", 97)
    texts = [None if number % 7 == 3 else f"text {number % 400}" for number in range(2000)]
    lists = [[text, "again"] * (number % 3) for number, text in enumerate(texts)]
    table = pa.table({"text": texts, "lists": lists, "number": range(2000)})
    form = {"data_page_version": version, "compression": compression, "write_page_checksum": True}
    pq.write_table(table, tmp_path / "a.parquet", data_page_size=512, row_group_size=900, **form)
    reader = ParquetReader(open_folder(tmp_path), "a.parquet")
    groups = range(len(reader.group_sizes))
    rows = [
        row for group in groups for batch in reader.batches(group, reader.leaves, 64) for row in checked_rows(batch)
    ]
    reader.close()
    assert rows == table.to_pylist()


@pytest.mark.parametrize("compression", ["none", "zstd", "lz4"])
@pytest.mark.parametrize("has_dictionary", [True, False])
def test_texts_that_repeat_in_one_list_are_refused(
    has_dictionary: bool, compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest entry of a dictionary counts; of texts that begin as the one before, the whole page."""
    monkeypatch.setattr(parquet_pages, "_MAX_LISTED_BYTES", MIB)
    options: Any = {} if has_dictionary else {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    honest = (1000, 1000) if has_dictionary else (100, 1000)
    for length, count, is_refused in ((*honest, False), (1000, 1100, True), (10, 90_000, not has_dictionary)):
        texts = ["x" * length] * count
        pq.write_table(pa.table({"c": [texts]}), tmp_path / "a.parquet", compression=compression, **options)
        reader = ParquetReader(open_folder(tmp_path), "a.parquet")
        if is_refused:
            with pytest.raises(pa.ArrowInvalid, match="of repeated texts in lists"):
                next(reader.batches(0, ["c"], 1))
        else:
            assert next(reader.batches(0, ["c"], 1)).to_pylist() == [{"c": texts}]
        reader.close()


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_packed_streams_are_refused_before_they_are_unpacked(compression: str, tmp_path: Path) -> None:
    texts = pa.array(["x" * 100] * 100)
    for number, batch in enumerate((pa.record_batch({"c": texts}), pa.record_batch({"c": texts.dictionary_encode()}))):
        folder = saved(tmp_path / str(number), batch, compression if number == 0 else None)
        with open_stream(open_folder(folder), "data.arrow") as stream:
            assert stream.schema == batch.schema
            before = pa.total_allocated_bytes()
            with pytest.raises(pa.ArrowInvalid, match="compressed or has dictionaries"):
                next(stream.batches())
            assert pa.total_allocated_bytes() == before
    with open_stream(open_folder(saved(tmp_path / "plain", pa.record_batch({"c": texts}))), "data.arrow") as stream:
        assert next(stream.batches()).num_rows == 100


def views(length: int, rows: int) -> pa.Array:
    """Views of one text."""
    each = struct.pack("<i4sii", length, b"xxxx", 0, 0)
    return pa.Array.from_buffers(pa.string_view(), rows, [None, pa.py_buffer(each * rows), pa.py_buffer(b"x" * length)])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (views(100, 60), "string_view, which no dataset has"),
        (pa.RunEndEncodedArray.from_arrays(pa.array([60], pa.int32()), pa.array(["x"])), "run_end_encoded"),
        (pa.ListArray.from_arrays(pa.array([0, 60], pa.int32()), views(100, 60)), "string_view"),
        (pa.ListViewArray.from_arrays([0, 0], [2, 2], pa.array([1, 2])), "list_view"),
        (pa.array([b"x" * 100] * 60).dictionary_encode(), "60 rows have texts and bytes of"),
        (pa.ListArray.from_arrays(pa.array([0, 60], pa.int32()), pa.array([b"x" * 100] * 60)), "1 rows have texts and"),
        (pa.FixedSizeListArray.from_arrays(pa.nulls(202), 101), "2 rows have more than 200 values in their lists"),
        (pa.nulls(1000), ""),
        (pa.array([[None] * 200, [None] * 200])[:1], ""),
    ],
)
def test_values_that_take_no_bytes_of_their_own(
    values: pa.Array, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "_MAX_DECODED_BYTES", 5000)
    monkeypatch.setattr(arrow_files, "_MAX_VALUES", 200)
    batch = pa.record_batch({"c": values})
    if not message:
        assert len(checked_rows(batch)) == len(values)
        return
    with pytest.raises(pa.ArrowInvalid, match=message):
        checked_rows(batch)


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
    monkeypatch.setattr(arrow_files, "_MAX_DECODED_BYTES", 1000)
    for texts, message in (
        (["x" * 100] * 10, ""),
        (["x" * 101, "", None], "a text of c has 0 MiB"),
        (["x" * 100] * 11, "11 rows have texts and bytes of"),
    ):
        for array in (pa.array(texts), pa.array(texts).dictionary_encode()):
            batch = pa.record_batch({"c": wrap(array)})
            if message:
                with pytest.raises(pa.ArrowInvalid, match=message):
                    checked_rows(batch)
            else:
                assert len(checked_rows(batch)) == 10
