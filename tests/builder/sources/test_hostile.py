"""Damaged and malicious files: one sentence or one problem row, no traceback, no hang, no full memory."""

import json
import random
import tarfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.sources import conftest
from tests.making import add_member, tar_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import iter_items, open_source, tabular, tar
from vcrgen.core.errors import SourceError
from vcrgen.core.records import Item


def items_of(path: Path, **options: Any) -> list[Item]:
    return conftest.items_of(BuildConfig(source=str(path), **options))


def problems(path: Path) -> list[str]:
    return [item.problem for item in items_of(path)]


def make_tar(file: Path, members: list[tuple[str, bytes]]) -> Path:
    file.write_bytes(tar_of(members))
    return file


@pytest.mark.parametrize("suffix", [".parquet", ".tar", ".csv", ".tsv", ".jsonl", ".json"])
@pytest.mark.parametrize("seed", range(2))
def test_random_bytes(tmp_path: Path, suffix: str, seed: int) -> None:
    file = tmp_path / f"x{suffix}"
    file.write_bytes(random.Random(seed).randbytes(20_000))
    with pytest.raises(SourceError) as error:
        items_of(file)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1500


def test_random_bytes_as_arrow(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "x.arrow"}]}')
    (tmp_path / "x.arrow").write_bytes(random.Random(0).randbytes(5000))
    with pytest.raises(SourceError, match="cannot be read"):
        items_of(tmp_path)
    for state in (
        "[]",
        "{",
        '{"_data_files": [{"filename": "../x.arrow"}]}',
        '{"_data_files": 3}',
        "[" * 9999,
    ):
        (tmp_path / "state.json").write_text(state)
        with pytest.raises(SourceError):
            items_of(tmp_path)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    pq.write_table(pa.table({"image": [b"x" * 999] * 50, "caption": ["c"] * 50}), tmp_path / "x.parquet")
    make_tar(tmp_path / "x.tar", [(f"{n}.{e}", b"x" * 900) for n in range(20) for e in ("png", "txt")])
    for name in ("x.parquet", "x.tar"):
        data = (tmp_path / name).read_bytes()
        end = int(len(data) * share)
        if name == "x.tar":
            # Up to the trailing zero blocks, where nothing is lost; and into a member, not between two.
            end = int((20 * 2 * 1536) * share) // 1536 * 1536 + 700
        (tmp_path / name).write_bytes(data[:end])
        with pytest.raises(SourceError, match=name):
            items_of(tmp_path / name)


def test_a_damaged_page_costs_the_rest_of_its_row_group(tmp_path: Path) -> None:
    rng = random.Random(0)
    images = [rng.randbytes(2000) for _ in range(200)]
    table = pa.table({"image": images, "caption": ["c"] * 200})
    pq.write_table(
        table,
        tmp_path / "x.parquet",
        row_group_size=100,
        use_dictionary=False,
        write_page_checksum=True,
        data_page_size=8000,
    )
    data = bytearray((tmp_path / "x.parquet").read_bytes())
    at = data.find(images[70])
    data[at - 40 : at + 400] = bytes(440)
    (tmp_path / "x.parquet").write_bytes(data)
    found = items_of(tmp_path / "x.parquet")
    assert len(found) == 200
    bad = [number for number, item in enumerate(found) if item.problem]
    assert bad and bad[-1] == 99 and bad == list(range(bad[0], 100))
    config = BuildConfig(source=str(tmp_path / "x.parquet"))
    assert list(iter_items(open_source(config), config, 0, 90, 110)) == found[90:110]


def test_text_that_is_not_utf8_costs_one_row(tmp_path: Path) -> None:
    captions = pa.array([b"ok", b"\xff\xfe", b"ok"]).view(pa.string())
    pq.write_table(pa.table({"image": [b"x"] * 3, "caption": captions}), tmp_path / "x.parquet")
    assert [bool(text) for text in problems(tmp_path / "x.parquet")] == [False, True, False]


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        b'{"image": "", "caption": "ok"}',
        b"",
        b"[" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"not json",
        b"[1]",
        b'{"image": "", "caption": "caf\xe9"}',
        b"\x00\x00",
        b'{"n": ' + b"9" * 9000 + b"}",
        b'{"image": "", "caption": "one", "caption": "two"}',
        b'{"image": "", "caption": "ok"}',
    ]
    (tmp_path / "x.jsonl").write_bytes(b"\r\n".join(lines))
    assert problems(tmp_path / "x.jsonl") == [
        "",
        "line 3: JSON nested too deeply",
        "line 4: JSON nested too deeply",
        "line 5: not JSON",
        "line 6: not a JSON object",
        "line 7: not UTF-8 text; save the file as UTF-8",
        "line 8: not JSON",
        "line 9: not JSON",
        "line 10: the key 'caption' comes twice",
        "",
    ]


def test_a_json_array_is_explained(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([{"image": "", "caption": "c"}], indent=1))
    with pytest.raises(SourceError, match="one JSON array; write one object a line"):
        items_of(tmp_path / "x.json")


def test_csv(tmp_path: Path) -> None:
    lines = [
        b"image,caption",
        b",ok",
        b",too,many",
        b"few",
        b",caf\xe9",
        b",n\x00l",
        b',"two',
        b'lines"',
        b"",
        b',"quoted" and not',
        b',5" wide',
        b"  ",
        b',"never closed',
        b",ok",
    ]
    (tmp_path / "x.csv").write_bytes(b"\n".join(lines[:-2]))
    assert problems(tmp_path / "x.csv") == [
        "",
        "line 3: 3 fields where the header has 2",
        "line 4: 1 fields where the header has 2",
        "line 5: not UTF-8 text; save the file as UTF-8",
        "line 6: a NUL byte",
        "",
        "line 10: ',' expected after '\"'",
        "",
        "line 12: 1 fields where the header has 2",
    ]
    (tmp_path / "x.csv").write_bytes(b"\n".join(lines))
    with pytest.raises(SourceError, match=r"x\.csv cannot be read: line 13 opens a quote that is not closed"):
        items_of(tmp_path / "x.csv")


@pytest.mark.parametrize("header", [b"a,a", b"caf\xe9", b"a\x00", b",".join(b"%d" % n for n in range(2000)), b","])
def test_csv_headers(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(header + b"\n1\n")
    with pytest.raises(SourceError, match="no usable header"):
        items_of(tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl"])
@pytest.mark.parametrize("mark", ["le", "be"])
def test_utf_16_is_named(tmp_path: Path, name: str, mark: str) -> None:
    """The module csv said "do you need to open the file in universal-newline mode?"."""
    (tmp_path / name).write_bytes("\ufeffimage,caption\n,ok\n".encode(f"utf-16-{mark}"))
    with pytest.raises(SourceError, match=f"{name} is UTF-16 text; save the file as UTF-8"):
        items_of(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "ok"), [("x.csv", ",ok\n"), ("x.tsv", "\tok\n"), ("x.jsonl", '{"image": "", "caption": "ok"}\n')]
)
def test_huge_lines_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ok: str) -> None:
    monkeypatch.setattr(tabular, "MAX_TEXT_BYTES", 1000)
    monkeypatch.setattr(tabular, "_SKIP_BYTES", 64)
    header = "" if name == "x.jsonl" else f"image{ok[0]}caption\n"
    (tmp_path / name).write_text(header + ok + "x" * 5000 + "\n" + ok)
    found = problems(tmp_path / name)
    assert found[0] == "" == found[2] and len(found) == 3
    assert "longer than" in found[1]


@pytest.mark.parametrize(("limit", "text"), [(1000, 'x,"' + "y" * 5000 + "\n"), (100, ',"' + "y\n" * 60)])
def test_a_quote_that_is_not_closed_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, text: str
) -> None:
    monkeypatch.setattr(tabular, "MAX_TEXT_BYTES", limit)
    monkeypatch.setattr(tabular, "_SKIP_BYTES", 64)
    (tmp_path / "x.csv").write_text(f"image,caption\n,ok\n{text},ok\n")
    with pytest.raises(SourceError, match="line 3 opens a quote that is not closed"):
        items_of(tmp_path / "x.csv")


def test_tar_members_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar, "MAX_IMAGE_BYTES", 2000)
    monkeypatch.setattr(tar, "_MAX_MEMBERS", 3)
    members = [
        ("1.png", b"png"),
        ("1.txt", b"ok"),
        ("2.png", b"x" * 2001),
        ("2.txt", b"ok"),
        ("3.png", b"png"),
        ("3.png", b"png"),
        ("4.png", b"png"),
        ("4.json", b"[" * 9999),
        ("5.png", b"png"),
        ("5.txt", b"\xff"),
        *((f"6.{n}", b"") for n in range(9)),
        ("7.cls", b"1"),
        ("__meta__", b""),
        ("noextension", b""),
        (".hidden", b""),
        ("d/8.webp", b"webp"),
        ("d/8.json", b'{"caption": "deep"}'),
    ]
    found = items_of(make_tar(tmp_path / "x.tar", members))
    assert [item.source_id for item in found] == [
        "1",
        "x.tar#1",
        "x.tar#2",
        "x.tar#3",
        "5",
        "x.tar#5",
        "7",
        "d/8",
    ]
    assert [item.problem for item in found] == [
        "",
        "the .png member is larger than 0 MiB",
        "two .png members with the key '3'",
        "the .json member: JSON nested too deeply",
        "the caption is not valid Unicode text",
        "more than 3 members with the key '6'",
        "",
        "",
    ]
    assert (found[-1].image, found[-1].caption) == (b"webp", "deep")


def test_a_tar_without_captions_says_what_it_has(tmp_path: Path) -> None:
    file = make_tar(tmp_path / "x.tar", [("1.png", b"png"), ("1.json", b'{"text": "a"}'), ("1.cls", b"1")])
    with pytest.raises(SourceError, match=r"'caption' is not in .*Known: __key__, json, cls, image, json\.text"):
        items_of(file)
    assert items_of(file, caption_column="text")[0].caption == "a"


def test_tar_entries_that_are_no_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("1.png")
            info.type, info.linkname = kind, "/etc/hostname"
            archive.addfile(info)
        add_member(archive, "1.txt", b"ok")
        add_member(archive, "2.png", b"png")
    found = items_of(tmp_path / "x.tar")
    assert [(item.image, item.caption) for item in found] == [(None, "ok"), (b"png", None)]


@pytest.mark.parametrize("size", [-1, 1 << 70])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_forged_tar_sizes(tmp_path: Path, size: int, kind: bytes) -> None:
    first = tarfile.TarInfo("0.txt")
    info = tarfile.TarInfo("1.png")
    info.type = kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = (b"\xff" if size < 0 else b"\x80") + (size % (1 << 88)).to_bytes(11, "big")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    (tmp_path / "x.tar").write_bytes(first.tobuf() + block + bytes(2048))
    with pytest.raises(SourceError, match=r"x\.tar is not a complete"):
        items_of(tmp_path / "x.tar")


def test_a_compressed_tar_is_explained(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"\x1f\x8b" + zlib.compress(bytes(9999)))
    with pytest.raises(SourceError, match="uncompressed tar file"):
        items_of(tmp_path / "x.tar")
