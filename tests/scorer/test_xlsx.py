"""Excel tables: read as other programs read them, and bounded before they are unpacked, whatever is in them."""

import contextlib
import io
import itertools
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import PredictionError
from vcrgen.scorer.predictions import xlsx
from vcrgen.scorer.predictions.xlsx import read_xlsx

RELATION = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
BOOK = {
    "xl/workbook.xml": f'<workbook {RELATION}><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="rId1" Target="worksheets/a.xml"/></Relationships>',
}
HEAD = "<row><c t='inlineStr'><is><t>index</t></is></c><c t='inlineStr'><is><t>prediction</t></is></c></row>"
MIB = 1 << 20


def write(
    file: Path, parts: Iterable[str | bytes], shared: Iterable[str | bytes] = ("<sst/>",), **options: Any
) -> Path:
    """A workbook whose sheet and shared texts are made of these parts."""
    with zipfile.ZipFile(file, "w", **({"compression": zipfile.ZIP_DEFLATED} | options)) as archive:
        for name, text in BOOK.items():
            archive.writestr(name, text)
        for name, pieces in (("xl/worksheets/a.xml", parts), ("xl/sharedStrings.xml", shared)):
            with archive.open(name, "w", force_zip64=True) as handle:
                for piece in pieces:
                    handle.write(piece.encode() if isinstance(piece, str) else piece)
    return file


def sheet(*rows: str) -> list[str]:
    return ["<worksheet><sheetData>", HEAD, *rows, "</sheetData></worksheet>"]


def texts(*texts: str) -> list[str]:
    return ["<sst>", *(f"<si><t>{text}</t></si>" for text in texts), "</sst>"]


def row(index: int, cell: str) -> str:
    return f"<row><c><v>{index}</v></c>{cell}</row>"


def outputs(file: Path) -> list[str | None]:
    return [prediction.output for prediction in read_xlsx(file)]


CELLS = {
    "a text in place": ("<c t='inlineStr'><is><t>a b</t></is></c>", "a b"),
    "a shared text": ("<c t='s'><v>1</v></c>", "two parts"),
    "a shared text with its reading": ("<c t='s'><v>2</v></c>", "\u6f22\u5b57"),
    "the text of a formula": ("<c t='str'><f>A1&amp;B1</f><v>x</v></c>", "x"),
    "a formula that nothing has computed": ("<c><f>5 &lt; 6</f><v></v></c>", "=5 < 6"),
    "a formula without a value": ("<c><f>a_x000D_\nb</f></c>", "=a\r\nb"),
    "a formula that is none": ("<c t='e'><f>the sign</f><v>#NAME?</v></c>", "=the sign"),
    "a computed formula": ("<c><f>1-1</f><v>0</v></c>", "0"),
    "a whole number": ("<c><v>12</v></c>", "12"),
    "a number": ("<c><v>1.5E3</v></c>", "1500.0"),
    "no value": ("<c/>", None),
    "no cell": ("", None),
    "an empty text": ("<c t='s'><v>0</v></c>", None),
    "an error": ("<c t='e'><v>#N/A</v></c>", None),
    "a prefix": ("<x:c t='inlineStr'><x:is><x:t>a</x:t></x:is></x:c>", "a"),
    "named by its column": ("<c r='D2' t='str'><v>no</v></c><c r='B2' t='str'><v>yes</v></c>", "yes"),
    "a line break": ("<c t='str'><v>a_x000D_\nb</v></c>", "a\r\nb"),
    "an escaped escape": ("<c t='str'><v>_x005F_x000D_</v></c>", "_x000D_"),
    "no escape": ("<c t='str'><v>_x00D_ _x000G_ x000D_</v></c>", "_x00D_ _x000G_ x000D_"),
    "two escapes of one character": ("<c t='str'><v>_xD83C__xDF89_</v></c>", "\U0001f389"),
    "an escape in a shared text": ("<c t='s'><v>3</v></c>", "a\tb"),
}


@pytest.mark.parametrize(("cell", "output"), CELLS.values(), ids=CELLS.keys())
def test_cells(tmp_path: Path, cell: str, output: str | None) -> None:
    reading = "<si><t>\u6f22\u5b57</t><rPh sb='0' eb='2'><t>kanji</t></rPh></si>"
    shared = [
        "<sst><si><t/></si><si><r><t>two </t></r><r><t>parts</t></r></si>",
        reading,
        "<si><t>a_x0009_b</t></si></sst>",
    ]
    assert outputs(write(tmp_path / "t.xlsx", sheet(row(7, cell)), shared)) == [output]


def test_what_openpyxl_writes(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [
        ("index", "prediction", "answer"),
        (0, "a < b & c\nd", "['x']"),
        (1, None, None),
        (2, "\u4f4d\u4e8e", ""),
        (3, 5, ""),
        (4, "=2 or more\nof them", ""),
    ]
    for cells in rows:
        book.active.append(cells)
    book.create_sheet("another").append(["index", "no"])
    book.save(tmp_path / "t.xlsx")
    found = list(read_xlsx(tmp_path / "t.xlsx"))
    assert [(p.row, p.output, p.answers) for p in found] == [
        (0, "a < b & c\nd", ("x",)),
        (1, None, None),
        (2, "\u4f4d\u4e8e", None),
        (3, "5", None),
        (4, "=2 or more\nof them", None),
    ]


def test_what_xlsxwriter_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stores 0 for every formula, and a mark that nothing was computed."""
    marked = BOOK["xl/workbook.xml"].replace("</workbook>", '<calcPr calcId="124519" fullCalcOnLoad="1"/></workbook>')
    monkeypatch.setitem(BOOK, "xl/workbook.xml", marked)
    cells = ("<c><f>2 or more</f><v>0</v></c>", "<c><f>1+1</f><v>2</v></c>", "<c><v>0</v></c>")
    file = write(tmp_path / "t.xlsx", sheet(*(row(number, cell) for number, cell in enumerate(cells))))
    assert outputs(file) == ["=2 or more", "2", "0"]


def test_empty_rows_are_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "t.xlsx", sheet("<row/>", row(0, "<c t='str'><v>x</v></c>"), "<row r='900000000'/>"))
    assert outputs(file) == ["x"]


def many(text: str, size: int = 16 * MIB) -> Iterator[str]:
    piece = text * (MIB // len(text))
    return itertools.repeat(piece, size // len(piece))


HOSTILE = {
    "rows": (sheet(*many("<row/>")), {}, "more than 1,048,576 rows"),
    "cells in a row": (sheet("<row>", *many("<c/>"), "</row>"), {}, "row 1: the sheet has more than 1,000 columns"),
    "a column far away": (sheet("<row><c r='XFD1'/></row>"), {}, "more than 1,000 columns"),
    "a column that is none": (sheet("<row><c r='AAAAAAAAA1'/></row>"), {}, "damaged: a cell in column"),
    "cells": (sheet(*many("<row>" + "<c/>" * 100 + "</row>")), {"MAX_CELLS": 10_000}, "10,000 cells"),
    "a text": (
        sheet("<row><c t='str'><v>", *many("a", 80 * MIB)),
        {"FREE_BYTES": 1 << 30},
        "a row of more than 64 MiB",
    ),
    "a ratio": (sheet(*many("<row>a</row>", 80 * MIB)), {}, "unpacks to 79 MiB"),
    "a sheet": (sheet(*many("<row>a</row>")), {"MAX_SHEET": MIB}, "unpacks to 16 MiB"),
    "elements": (sheet(*many("<a/>")), {"MAX_ELEMENTS": 10_000}, "holds XML that no program writes"),
    "tags inside of tags": (sheet(*many("<a>")), {}, "holds XML that no program writes"),
    "a tag without an end": (sheet("<row a='", *many("a")), {}, "holds XML that no program writes"),
    "names": (sheet(*(f"<a{n}/>" for n in range(100_000))), {}, "holds XML that no program writes"),
    "entities": (["<!DOCTYPE x [<!ENTITY a 'b'>]>", *sheet()], {}, "declares XML entities"),
}


@pytest.mark.parametrize(("parts", "limits", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_sheet_made_to_do_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[str], limits: dict[str, int], message: str
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(xlsx, name, value)
    file = write(tmp_path / "t.xlsx", parts)
    assert file.stat().st_size < MIB
    with pytest.raises(PredictionError, match=message) as caught:
        outputs(file)
    assert str(caught.value).startswith(str(file)) and "\n" not in str(caught.value)


SHARED = {
    "in all": (["<sst>", *many(" ", 300 * MIB)], {}, "unpacks to 300 MiB"),
    "very many": (["<sst>", *many("<si/>")], {"MAX_CELLS": 1000}, "more than 1,000 texts"),
}


@pytest.mark.parametrize(("shared", "limits", "message"), SHARED.values(), ids=SHARED.keys())
def test_shared_texts_made_to_do_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: list[str], limits: dict[str, int], message: str
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(xlsx, name, value)
    with pytest.raises(PredictionError, match=message):
        outputs(write(tmp_path / "t.xlsx", sheet(row(0, "<c t='s'><v>0</v></c>")), shared))


def test_an_archive_of_very_many_files(tmp_path: Path) -> None:
    file = tmp_path / "t.xlsx"
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(25_000):
            archive.writestr(str(number), "")
    with pytest.raises(PredictionError, match="too many files"):
        outputs(file)


@pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_to_pack(tmp_path: Path, kind: int) -> None:
    with pytest.raises(PredictionError, match="damaged: it is packed in a way that Excel does not know"):
        outputs(write(tmp_path / "t.xlsx", sheet(), compression=kind))


BROKEN = {
    "a number of no text": ([*sheet(row(0, "<c t='s'><v>9</v></c>"))], "names a text that is not there"),
    "a negative number of a text": ([*sheet(row(0, "<c t='s'><v>-1</v></c>"))], "names a text that is not there"),
    "no number": ([*sheet(row(0, "<c><v>one</v></c>"))], "damaged"),
    "a number too long": ([*sheet(row(0, f"<c><v>{'1' * 9999}</v></c>"))], "damaged"),
    "cut off": (sheet(row(0, "<c><v>1</v></c>"))[:-1], "damaged: no element found"),
    "no XML": (["hello"], "damaged: syntax error"),
    "not its encoding": ([b"<?xml version='1.0' encoding='utf-16'?><a/>"], "damaged"),
}


@pytest.mark.parametrize(("parts", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_damaged_sheet_is_a_sentence(tmp_path: Path, parts: list[str | bytes], message: str) -> None:
    with pytest.raises(PredictionError, match=message) as caught:
        outputs(write(tmp_path / "t.xlsx", parts, texts("a")))
    assert "\n" not in str(caught.value)


@pytest.mark.sweep
def test_any_changed_byte_is_read_or_refused(tmp_path: Path) -> None:
    """One byte of two ended in a traceback of zlib's."""
    file = write(tmp_path / "t.xlsx", sheet(row(0, "<c t='s'><v>0</v></c>"), row(1, "<c/>")), texts("one text"))
    whole = file.read_bytes()
    refused = 0
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        try:
            outputs(file)
        except PredictionError as problem:
            refused += 1
            assert "\n" not in str(problem)
    assert refused > len(whole) / 2
    for size in range(0, len(whole), 7):
        file.write_bytes(whole[:size])
        with contextlib.suppress(PredictionError):
            outputs(file)


@pytest.mark.sweep
def test_texts_that_cells_share_take_little_more_than_their_size(tmp_path: Path) -> None:
    import tracemalloc

    count = 20_000
    file = write(tmp_path / "t.xlsx", sheet(), texts(*(f"{number:08}" for number in range(count))))
    book = xlsx._Workbook(file, zipfile.ZipFile(io.BytesIO(file.read_bytes())))
    tracemalloc.start()
    found = book.shared_texts()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[count - 1] == "00019999" and held < 3 * 8 * count
