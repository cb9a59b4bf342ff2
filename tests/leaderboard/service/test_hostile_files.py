"""Files made to do harm: rejected before they are kept, or failed with sentences, and the worker lives on."""

import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.making import tar_of
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.store.submissions import list_submissions
from vcrgen.scorer.answer_key import AnswerKey


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("preds.jsonl", b"\0" * (5 << 20))
    return out.getvalue()


def workbook() -> bytes:
    out = io.BytesIO()
    openpyxl = pytest.importorskip("openpyxl", reason='needs pip install ".[dev]"')
    book = openpyxl.Workbook()
    book.active.append(["index", "prediction"])
    book.save(out)
    return out.getvalue()


def tar() -> bytes:
    return tar_of([("../../preds.jsonl", b"")])


PACKED: dict[str, tuple[Callable[[], bytes], str]] = {
    "preds.zip": (zip_bomb, "a zip archive"),
    "preds.xlsx": (workbook, "a zip archive or an xlsx table"),
    "preds.jsonl": (lambda: gzip.compress(b"{}" * 1000), "compressed with gzip"),
    "preds.tar": (tar, "a tar archive"),
    "preds.tgz": (lambda: gzip.compress(tar()), "compressed with gzip"),
    "preds.parquet": (lambda: b"PAR1" + b"\0" * 100, "a Parquet file"),
    "preds.json": (lambda: pickle.dumps({"question_id": "x", "output": "y"}), "a pickle"),
    "preds.pkl": (lambda: pickle.dumps([1], protocol=4), "a pickle"),
    "preds.bz2": (lambda: b"BZh91AY&SY", "compressed with bzip2"),
    "preds.xz": (lambda: b"\xfd7zXZ\0", "compressed with xz"),
    "preds.zst": (lambda: b"\x28\xb5\x2f\xfd\0", "compressed with zstd"),
    "preds.7z": (lambda: b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    "preds.rar": (lambda: b"Rar!\x1a\x07", "a rar archive"),
    "preds.xls": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel table"),
    "empty.jsonl": (lambda: b"", "empty"),
}


def test_what_is_packed_is_refused_at_the_door(desk: Any) -> None:
    for name, (make, kind) in PACKED.items():
        body = make()
        for way in (desk.api, desk.form):
            answer = way(body, name)
            assert answer.status_code == 400, name
            assert f"The file is {kind}" in answer.text, (name, answer.text)
    files = desk.board.folder / "files"
    assert not [file for file in files.rglob("*") if file.is_file()]


def line(**values: Any) -> bytes:
    return json.dumps({"question_id": "x", **values}).encode()


def many(*lines: Any) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in lines)


def tables() -> dict[str, tuple[bytes, str]]:
    """Content of CSV and TSV files, and a part of the sentence, by name."""
    header = b"index,question_id,prediction\n"
    return {
        "CSV with too many cells": (header + b"1,2,3,4\n", "4 cells under 3 column names"),
        "CSV with an open quote": (header + b'1,x,"' + b"a\n" * 10_000, "Ids|fits|not a table"),
        "CSV with NUL": (header + b"1,\0,\0\n", "fits"),
        "CSV with a carriage return": (b"index,prediction\r1,a\r2,b\r", "needs the columns|Questions without"),
        "CSV with a code as answer": (
            b"index,prediction,answer\n999,x,\"[__import__('os').system('touch /tmp/owned')]\"\n",
            "fits",
        ),
        "CSV with a deep answer": (b"index,prediction,answer\n999,x," + b"[" * 90_000 + b"\n", "fits|deep"),
        "CSV with formulas": (header + b"1,=cmd()|A1,=1+1\n", "Questions without|fits"),
        "CSV with an empty index": (header + b",x,y\n", "`index` is empty"),
        "CSV of nothing but its head": (header, "holds no outputs"),
        "CSV with a wide head": (header[:-1] + b",a" * 100_000 + b"\n1,2,3\n", "keep one"),
        "TSV with a long cell": (
            b"index\tview\tprediction\n1\ttei\t" + b"a" * (1 << 20) + b"\n",
            "Questions without|fits",
        ),
        "TSV without a view": (b"index\tprediction\n1\ta\n", "neither a column `view` nor"),
        "TSV with other columns": (b"index\tanswer\n1\t2\n", "needs the columns"),
    }


def cases(key: AnswerKey) -> dict[str, tuple[bytes, str]]:
    """Content and a part of the sentence, by name."""
    one = key.questions[0].question_id
    good = {"question_id": one, "output": "nothing"}
    return {
        "100,000 brackets": (b'{"question_id": "x", "output": ' + b"[" * 100_000, "nested too deep"),
        "100,000 brackets, closed": (
            b'{"question_id": "x", "output": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "nested too deep",
        ),
        "100,000 braces": (b'{"a":' * 100_000, "nested too deep"),
        "a deep value over lines": (b"[\n" * 100_000, "nested too deep"),
        "800 brackets": (b'{"question_id": "x", "output": ' + b"[" * 800 + b"1" + b"]" * 800 + b"}", "Ids|fits"),
        "a huge integer as id": (b'{"question_id": ' + b"9" * 10_000 + b', "output": ""}', "too long"),
        "a huge integer as output": (b'{"question_id": "x", "output": ' + b"9" * 10_000 + b"}", "too long"),
        "a huge exponent": (b'{"question_id": 1e999, "output": "x"}', "no `question_id`"),
        "NaN as id": (b'{"question_id": NaN, "output": "x"}', "no `question_id`"),
        "NaN as output": (f'{{"question_id": "{one}", "output": NaN}}'.encode(), "No value"),
        "Infinity as output": (f'{{"question_id": "{one}", "output": -Infinity}}'.encode(), "Questions without"),
        "an object as output": (line(output={"a": 1}), "the output is an object"),
        "true as output": (line(output=True), "the output is true or false"),
        "lone surrogates": (json.dumps({**good, "output": "\ud800\udfff"}).encode(), "Questions without"),
        "lone surrogates as id": (b'{"question_id": "\\ud800", "output": "x"}', "fits|fit"),
        "lone surrogates as view": (line(output="x", view="\ud800"), "unknown view"),
        "lone surrogates as mode": (line(output="x", mode="\udfff"), "unknown mode"),
        "lone surrogates as model": (line(output="x", model="\udfff"), "fits"),
        "lone surrogates as key": (b'{"question_id": "x", "\\ud800": "x"}', "no `output`"),
        "NUL bytes": (b"\0" * 1000, "not JSON and not a table"),
        "NUL bytes in JSON": (b'{"question_id": "x\0", "output": ""}', "not JSON"),
        "NUL characters": (b'{"question_id": "x\\u0000", "output": "\\u0000"}', "fits"),
        "Latin-1": ('{"question_id": "é", "output": "é"}'.encode("latin-1"), "not UTF-8"),
        "10 MB in one line": (line(output="a " * (5 << 20)), "fits"),
        "a long line without an end": (b'{"question_id": "x", "output": "' + b"a" * (1 << 20), "not JSON"),
        "a long line of nothing": (b"a" * (1 << 20), "not JSON and not a table"),
        "a million line ends": (b"\n" * (1 << 20), "is empty"),
        "a long id": (line(question_id="a" * (1 << 20), output="x"), "fits"),
        "100,000 keys": (many({"question_id": "x", **dict.fromkeys(map(str, range(100_000)))}), "no `output`"),
        "duplicates": (many(*[good] * 10), "Further outputs for a question that had the same one: 9"),
        "unknown ids": (many(good, {**good, "question_id": "x"}), "Ids that the dataset does not have: 1"),
        "two models": (many({**good, "model": "a"}, {**good, "model": "b"}), "holds outputs of 'a' and 'b'"),
        "a list": (b"[1, 2, 3]", "no known form"),
        "null": (b"null", "not JSON and not a table"),
        "an empty object": (b"{}", "no known form|no `question_id`"),
        "the repository's form, out of range": (b'{"999999999999": {"res_stacked_image": "x"}}', "fits"),
        "the repository's form, no number": (b'{"x": {"res_stacked_image": "x"}}', "not a row number"),
        "columns of several lengths": (b'{"index": [1], "prediction": []}', "not lists of one length"),
        "a log of nothing": (b'{"logs": [null]}', "sample 1: not an object"),
        **tables(),
    }


@pytest.mark.process
def test_the_worker_outlives_every_file(make_board: Any, open_desk: Any, public_key: AnswerKey) -> None:
    board = make_board(files_per_day=1000, failed_files_per_day=1000, requests_per_minute=10_000, seconds=60)
    desk = open_desk(board)
    table = cases(public_key)
    sent = {name: desk.api(content, model=name) for name, (content, _) in table.items()}
    assert {name: answer.status_code for name, answer in sent.items() if answer.status_code != 202} == {}
    assert score_waiting(board) == len(table)
    wrong = []
    for name, answer in sent.items():
        found = desk.status(answer)
        told = " ".join(found.get("problems", ()))
        fine = found.get("status") == "failed" and any(part in told for part in table[name][1].split("|"))
        fine = fine and len(told) < 2000 and "Traceback" not in told and str(board.folder) not in told
        if not fine or "broke off" in told:
            wrong.append((name, told[:300]))
        page = desk.client.get(answer.json()["page"])
        if page.status_code != 200 or "<h1>Not scored</h1>" not in page.text:
            wrong.append((name, page.text[:100]))
    assert wrong == []
    for path in ("/", "/history.html", "/board.csv", "/board.json"):
        assert desk.client.get(path).status_code == 200
    with board.reading() as connection:
        assert len(list_submissions(connection, SubmissionStatus.FAILED)) == len(table)
    board.engine.dispose()


def test_time_and_memory_are_limited(make_board: Any, open_desk: Any, hand: Any, public_key: AnswerKey) -> None:
    board = make_board(memory_mb=64)
    desk = open_desk(board)
    text = '"' + "a" * 20 + "\N{GRINNING FACE}" + '",'  # four bytes a character once it is read
    # About 300 MB once it is read: a process forked from one with many tests behind it has memory that lies free.
    fat = desk.api(('{"question_id": "x", "output": [' + text * 1_800_000 + "0]}").encode(), model="fat")
    assert score_waiting(board) == 1
    assert desk.status(fat)["problems"] == ["Scoring this file takes more memory than this board gives."]
    small = desk.api(hand(public_key), model="after it")
    assert score_waiting(board) == 1
    assert desk.status(small)["status"] == "scored"
    hurried = replace(board, settings=board.settings.model_copy(update={"seconds": 0.001}))
    slow = desk.api(hand(public_key), model="slow")
    assert score_waiting(hurried) == 1
    assert desk.status(slow)["problems"] == ["Scoring took longer than 0.001 seconds, the most this board gives."]
    board.engine.dispose()
