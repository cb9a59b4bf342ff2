"""Tables that users give: cells by name, and one sentence for each thing that is wrong."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core import reading
from vcrgen.core.errors import ConfigError
from vcrgen.core.reading import parse_csv_cells, read_csv

ROWS = [(2, {"id": "a", "name": "x;y"}), (5, {"id": "b", "name": "two\nlines"})]


@pytest.mark.parametrize(
    ("text", "delimiters"),
    [
        ('\ufeffid, name\na,x;y\n\nb,"two\nlines"\n', ","),
        ('id\tname\r\na\tx;y\r\n\r\nb\t"two\nlines"\r\n', ",\t"),
        ('id;name\na;"x;y"\n\nb;"two\nlines"', ",;"),
    ],
)
def test_cells_by_name(tmp_path: Path, text: str, delimiters: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(text.encode())
    assert list(read_csv(file, ConfigError, delimiters=delimiters, required=("id",))) == ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t\.csv is empty; its first row names the columns id, name\."),
        (b"id,other\n", "has no column 'name' in its first row; it needs id, name"),
        (b"id,name,id\n", "has two columns 'id'; keep one"),
        (b"id,name\na\n", r"t\.csv, line 2: 1 cell under 2 column names"),
        (b'id,name\na,"b\n', r"t\.csv, line 2: not a table"),
        ("id,name\n".encode("utf-16"), "not UTF-8 text; it looks like UTF-16"),
        (b"id,name\n" + b"x" * 200 + b",y\n", r"line 2: the row is longer than"),
        (b"id,name\n" + b"," * 50 + b"\n", r"line 2: the row has more than 40 cells"),
    ],
)
def test_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 200)
    monkeypatch.setattr(reading, "MAX_LINE_VALUES", 40)
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        list(read_csv(file, ConfigError, required=("id", "name")))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.csv cannot be read"):
        list(read_csv(tmp_path / "none.csv", ConfigError))


@given(st.lists(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1), min_size=1))
def test_what_the_csv_module_writes_is_read_back(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    text.seek(0)
    assert [cells for _, cells in parse_csv_cells(text, "t", ConfigError)] == rows
