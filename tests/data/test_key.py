"""The key of a hidden set: what was written is read, and anything else is one sentence without an answer."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import HiddenSetError
from vcrgen.data.key import (
    ANSWERS,
    KEY_FILE,
    MAX_KEY_BYTES,
    MAX_LINE_BYTES,
    REPORT,
    VERSION,
    KeyManifest,
    is_key,
    read_answers,
    read_key,
)

SECRET_TEXT = "the quick brown fox jumps"
ITEM = {"question_id": "a" * 32, "caption": f"Look: {SECRET_TEXT} over the dog.", "crossed_text": [SECRET_TEXT]}
Put = Callable[..., Path]


def manifest(folder: Path, **changes: Any) -> dict[str, Any]:
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (ANSWERS, REPORT)}
    values = {
        "version": VERSION,
        "language": "en",
        "items": 1,
        "canary": "c",
        "nonce": "0" * 32,
        "fingerprint": "f",
        "signature": "vcrgen:0|lang:en|pictures:compared",
        "files": hashes,
        "public": "0" * 64,
        "seal": "1" * 64,
    }
    return values | changes


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a key with the answers given and the description changed."""

    def write(answers: bytes | None = None, **changes: Any) -> Path:
        (tmp_path / ANSWERS).write_bytes(json.dumps(ITEM).encode() + b"\n" if answers is None else answers)
        (tmp_path / REPORT).write_text("{}")
        values = manifest(tmp_path, **changes)
        (tmp_path / KEY_FILE).write_text(json.dumps(values))
        return tmp_path

    return write


def test_what_was_written_is_read(put: Put) -> None:
    folder = put()
    assert is_key(folder) and not is_key(folder.parent)
    key = read_key(folder)
    assert key.values == manifest(folder)
    assert list(read_answers(folder)) == [ITEM]


def test_a_key_may_name_its_task(put: Put) -> None:
    assert read_key(put()).task is None and "task" not in read_key(put()).values
    key = read_key(put(task="bloom", language="en+ar"))
    assert key.task == "bloom" and b'"task":"bloom"' in key.sealed
    with pytest.raises(HiddenSetError, match="damaged"):
        read_key(put(task=["bloom"]))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(KeyManifest) if f.name not in ("version", "seal")])
def test_the_commitment_is_to_everything_but_the_seal(put: Put, name: str) -> None:
    values = manifest(put())
    other = {"files": {ANSWERS: "0" * 64, REPORT: "0" * 64}, "items": 2, "signature": "vcrgen:1|pictures:public"}.get(
        name, "other"
    )
    key, changed = KeyManifest(**values), KeyManifest(**values | {name: other})
    assert key.commitment != changed.commitment
    assert key.commitment == KeyManifest(**values | {"seal": "2" * 64}).commitment
    assert key.commitment == hashlib.sha256(key.sealed).hexdigest()
    assert b"1" * 64 not in key.sealed


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "vcrgen-hidden-1"},
        {"version": None},
        {"items": "1"},
        {"items": True},
        {"items": 1.5},
        {"language": None},
        {"language": {"en": SECRET_TEXT}},
        {"canary": ["c"]},
        {"nonce": 7},
        {"seal": None},
        {"public": "\ud800"},
        {"canary": "\udfff"},
        {"signature": "no signature"},
        {"signature": "vcrgen:0"},
        {"signature": "vcrgen:0|pictures:stolen"},
        {"signature": 5},
        {"signature": ["vcrgen:0"]},
        {"files": {}},
        {"files": [ANSWERS, REPORT]},
        {"files": ANSWERS},
        {"files": {ANSWERS: "0", REPORT: "0", "../secret.key": "0"}},
        {"more": SECRET_TEXT},
    ],
    ids=repr,
)
def test_a_description_of_another_form_is_refused(put: Put, changes: dict[str, Any]) -> None:
    folder = put(**changes)
    with pytest.raises(HiddenSetError, match="damaged, or of another version") as caught:
        read_key(folder)
    assert SECRET_TEXT not in str(caught.value) and str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"' + SECRET_TEXT.encode() + b'"',
        b"{",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"\xff\xfe{}",
        b"9" * 100_000,
        b'{"version": 1' + b"0" * 5000 + b"}",
        b'{"self": 1, "version": "' + VERSION.encode() + b'"}',
        b'{"": 1}',
    ],
    ids=lambda data: repr(data[:20]),
)
def test_a_description_that_is_no_description(put: Put, data: bytes) -> None:
    folder = put()
    (folder / KEY_FILE).write_bytes(data)
    with pytest.raises(HiddenSetError, match="damaged, or of another version") as caught:
        read_key(folder)
    assert SECRET_TEXT not in str(caught.value)


def test_a_huge_description_is_not_read(put: Put) -> None:
    folder = put()
    with (folder / KEY_FILE).open("ab") as file:
        file.write(b" " * MAX_KEY_BYTES)
    with pytest.raises(HiddenSetError, match="larger than 1 MiB"):
        read_key(folder)


def test_no_key(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert not is_key(folder)
        with pytest.raises(HiddenSetError, match="is not the key of a hidden set"):
            read_key(folder)


@pytest.mark.parametrize("name", [ANSWERS, REPORT])
@pytest.mark.parametrize("how", ["changed", "missing", "folder"])
def test_a_file_that_is_not_the_one_described(put: Put, name: str, how: str) -> None:
    folder = put()
    if how == "changed":
        (folder / name).write_text(SECRET_TEXT)
    else:
        (folder / name).unlink()
    if how == "folder":
        (folder / name).mkdir()
    with pytest.raises(HiddenSetError, match=f"{name} is missing or was changed") as caught:
        read_key(folder)
    assert SECRET_TEXT not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{" + SECRET_TEXT.encode(),
        b'"' + SECRET_TEXT.encode() + b'"',
        b"[" * 100_000,
        b'{"caption": "' + SECRET_TEXT.encode() + b"\xff" + b'"}',
        b'{"caption": "' + b"x" * MAX_LINE_BYTES + b'"}',
        b'{"n": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_line_that_is_no_item(put: Put, line: bytes) -> None:
    folder = put(json.dumps(ITEM).encode() + b"\n" + line + b"\n" + json.dumps(ITEM).encode())
    items = read_answers(folder)
    assert next(items) == ITEM
    with pytest.raises(HiddenSetError, match=r"line 2: not an item of a key\.$") as caught:
        next(items)
    assert SECRET_TEXT not in str(caught.value)


@given(st.lists(st.dictionaries(texts, st.none() | st.integers() | texts | st.lists(texts), max_size=3), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_items_survive_the_file(put: Put, items: list[dict[str, Any]]) -> None:
    folder = put("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode())
    assert list(read_answers(folder)) == items


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_items_or_one_error(put: Put, data: bytes) -> None:
    folder = put(data)
    read_key(folder)  # whose hashes agree
    try:
        assert all(isinstance(item, dict) for item in read_answers(folder))
    except HiddenSetError as error:
        assert str(error).endswith("not an item of a key.")
