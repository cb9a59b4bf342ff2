"""Every row of a source is counted: by the parser, and beside it."""

import csv
import io
import json
import subprocess
import tarfile
from itertools import product
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builder.sources.conftest import items_of, table
from tests.making import tar_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import iter_items, open_source, tabular
from vcrgen.builder.sources.tabular import RowCounter
from vcrgen.core.errors import SourceError
from vcrgen.data.arrow_files import ParquetReader


def captions_in(file: Path, text: str | bytes) -> list[str | None]:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    items = items_of(BuildConfig(source=str(file)))
    return [item.problem if item.caption is None else item.caption for item in items]


@pytest.mark.parametrize(
    "caption",
    ['"an old boat', 'an "old" boat', 'an old boat"', '"an" old boat', "'an old boat", '"', '""old" boat', 'a ""'],
)
def test_quotes_join_no_lines_of_a_tsv(tmp_path: Path, caption: str) -> None:
    rows = ["image\tcaption", f"0.jpg\t{caption}", "1.jpg\ta tall lighthouse", f"2.jpg\t{caption}", "3.jpg\tb"]
    for start, end, last in product(("", "\ufeff"), ("\n", "\r\n"), (True, False)):
        text = start + end.join(rows) + (end if last else "")
        assert captions_in(tmp_path / "x.tsv", text) == [caption, "a tall lighthouse", caption, "b"]


def test_a_tsv_with_odd_lines(tmp_path: Path) -> None:
    rows = [
        "image\tcaption",
        "0.jpg\tone",
        "",
        "1.jpg",
        "2.jpg\ttwo\tthree",
        "3.jpg\tn\0l",
        "\t",
        '4.jpg\t"all ""5"" in"',
    ]
    odd = "fields where the header has 2; a field of a TSV has no tab and no line break, which CSV and JSON Lines can "
    odd += "hold"
    assert captions_in(tmp_path / "x.tsv", "\n".join(rows)) == [
        "one",
        f"line 4: 1 {odd}",
        f"line 5: 3 {odd}",
        "line 6: a NUL byte",
        "",
        'all "5" in',
    ]


def test_a_line_break_in_a_tsv_of_another_program_is_refused(tmp_path: Path) -> None:
    """Else half of the caption would be drawn, and the other half be a row."""
    table = pd.DataFrame({"image": ["0.jpg", "1.jpg"], "caption": ["one\n\nof two lines", 'a "b" c']})
    table.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    with pytest.raises(
        SourceError, match=r"x\.tsv cannot be read: the quoted field that line 2 opens goes on in line 4"
    ):
        items_of(BuildConfig(source=str(tmp_path / "x.tsv")))
    table[1:].to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    assert [item.caption for item in items_of(BuildConfig(source=str(tmp_path / "x.tsv")))] == ['a "b" c']
    table.to_csv(tmp_path / "x.csv", index=False)
    assert [item.caption for item in items_of(BuildConfig(source=str(tmp_path / "x.csv")))] == [*table["caption"]]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (['0.jpg,"an old boat', "1.jpg,b"], 2),
        (["0.jpg,a", '1.jpg,"an old boat'], 3),
        (['0.jpg,"an old boat', "1.jpg,b", '2.jpg,"a tall tower'], 2),
        (["0.jpg,a", '1.jpg,"an old boat', '2.jpg,a "tall" tower'], 3),
        (['"0.jpg', '1.jpg,a "b"', "2.jpg,c"], 2),
    ],
)
def test_a_quote_of_a_csv_that_is_not_closed_is_refused(tmp_path: Path, lines: list[str], line: int) -> None:
    for end in ("\n", "\r\n"):
        with pytest.raises(SourceError, match=f"x.csv cannot be read: line {line} opens a quote that is not closed"):
            captions_in(tmp_path / "x.csv", end.join(["image,caption", *lines]))


FIELD = st.text(st.sampled_from('ab"",;\n\r\t '), max_size=6)


@given(
    rows=st.lists(st.tuples(FIELD, FIELD), max_size=6), mark=st.sampled_from(",;\t"), quoting=st.sampled_from([0, 1])
)
def test_line_ends_outside_of_quotes_are_as_many_as_the_rows(
    rows: list[tuple[str, str]], mark: str, quoting: int
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    counter = RowCounter(blank=b"\r\n", delimiter=mark)
    for line in text.getvalue().encode().split(b"\n"):
        counter.feed(line + b"\n")
    assert (counter.rows, counter.in_quotes) == (len(rows), False)


def test_a_parser_that_loses_rows_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "_tsv_fields", lambda line: [] if b"c" in line[:1] else line.decode().split("\t"))
    with pytest.raises(SourceError, match=r"x\.tsv cannot be read: its lines hold 4 rows, but 3 were read"):
        captions_in(tmp_path / "x.tsv", "image\tcaption\na\tb\nc\td\ne\tf\ng\th\n")


def tars() -> list[bytes]:
    return [tar_of([(f"{key}.png", b"png"), (f"{key}.txt", b"words")]) for key in "ab"]


def test_a_tar_that_is_cut_between_two_members_is_refused(tmp_path: Path) -> None:
    data, _ = tars()
    (tmp_path / "x.tar").write_bytes(data[: 4 * 512])  # all of both members
    with pytest.raises(SourceError, match="ends without an end mark"):
        items_of(BuildConfig(source=str(tmp_path / "x.tar")))
    (tmp_path / "x.tar").write_bytes(data[: 5 * 512])  # GNU tar takes half of the mark for one, too
    assert len(items_of(BuildConfig(source=str(tmp_path / "x.tar")))) == 1


def test_tars_that_were_joined_are_refused(tmp_path: Path) -> None:
    """`cat a.tar b.tar`: what is behind the first end mark would be lost."""
    (tmp_path / "x.tar").write_bytes(b"".join(tars()))
    with pytest.raises(SourceError, match="goes on after its end mark; split files that were joined into one"):
        items_of(BuildConfig(source=str(tmp_path / "x.tar")))


def test_tars_of_python_and_of_tar_have_their_mark(tmp_path: Path) -> None:
    (tmp_path / "0.png").write_bytes(b"png")
    (tmp_path / "0.txt").write_text("words")
    subprocess.run(["tar", "-cf", "x.tar", "0.png", "0.txt"], cwd=tmp_path, check=True)
    with tarfile.open(tmp_path / "y.tar", "w") as archive:
        archive.add(tmp_path / "0.png", "0.png")
        archive.add(tmp_path / "0.txt", "0.txt")
    for name in "xy":
        assert [item.caption for item in items_of(BuildConfig(source=f"{tmp_path}/{name}.tar"))] == ["words"]


def test_an_arrow_stream_that_is_cut_between_two_batches_is_refused(tmp_path: Path) -> None:
    content = table([(str(n), b"png", "words") for n in range(6)])
    ends = []
    with (tmp_path / "x.arrow").open("wb") as handle, pa.ipc.new_stream(handle, content.schema) as stream:
        for batch in content.to_batches(max_chunksize=2):
            stream.write_batch(batch)
            ends.append(handle.tell())
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "x.arrow"}]}))
    (tmp_path / "dataset_info.json").write_text("{}")
    assert len(items_of(BuildConfig(source=str(tmp_path)))) == 6
    data = (tmp_path / "x.arrow").read_bytes()
    (tmp_path / "x.arrow").write_bytes(data[: ends[1]])
    with pytest.raises(SourceError, match=r"x\.arrow cannot be read: it is cut short"):
        items_of(BuildConfig(source=str(tmp_path)))


def test_a_parquet_file_whose_footer_says_other_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"image": [b"x"] * 9, "caption": ["c"] * 9}), tmp_path / "x.parquet", row_group_size=4)
    monkeypatch.setattr(ParquetReader, "group_sizes", [4, 4])
    with pytest.raises(SourceError, match="its row groups have 8 rows, and the file says 9"):
        items_of(BuildConfig(source=str(tmp_path / "x.parquet")))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_a_file_that_changes_after_its_rows_were_counted(tmp_path: Path, suffix: str) -> None:
    lines = {"csv": ["image,caption", *[",a"] * 9], "tsv": ["image\tcaption", *["\ta"] * 9]}
    lines["jsonl"] = ['{"image": "", "caption": "a"}'] * 9
    file = tmp_path / f"x.{suffix}"
    file.write_text("\n".join(lines[suffix]))
    config = BuildConfig(source=str(file))
    source = open_source(config)
    assert source.partitions()[0].rows == 9
    file.write_text("\n".join(lines[suffix][:5] + lines[suffix]))
    with pytest.raises(SourceError, match=r"had \d+ bytes when its rows were counted and has \d+ now"):
        list(iter_items(source, config, 0, 0, 9))
