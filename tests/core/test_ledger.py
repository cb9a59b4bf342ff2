"""A ledger keeps whole lines, and drops a torn one after a kill."""

import json
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import OutputError
from vcrgen.core.ledger import Ledger, ledger_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def with_checksum(text: bytes) -> bytes:
    return text + b', "crc32": "%08x"}\n' % zlib.crc32(text)


def write_abc(file: Path) -> bytes:
    with Ledger(file) as ledger:
        for key in "abc":
            ledger.add(key, key.upper())
    return file.read_bytes()


def fail(text: str) -> None:
    raise AssertionError(text)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


@given(st.dictionaries(st.text(), JSON, max_size=8))
def test_everything_is_read_back(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    file = tmp_path_factory.mktemp("ledger") / "a.jsonl"
    with Ledger(file) as ledger:
        for key, value in values.items():
            assert key not in ledger
            ledger.add(key, value)
            assert key in ledger and ledger[key] == value
        assert len(ledger) == len(values)
    with Ledger(file) as again:
        assert {key: again[key] for key in values} == values and len(again) == len(values)


def test_all_of_it_in_order_and_forgetting_it(file: Path) -> None:
    with Ledger(file) as ledger:
        for key in "bca":
            ledger.add(key, key.upper())
        assert list(ledger.items()) == [("b", "B"), ("c", "C"), ("a", "A")]
        ledger.clear()
        assert len(ledger) == 0 and "a" not in ledger and file.read_bytes() == b""
        ledger.add("d", 1)
    with Ledger(file) as ledger:
        assert dict(ledger.items()) == {"d": 1}
        ledger.clear()
    assert not file.exists()


def test_half_a_surrogate_pair_is_kept(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.add("\ud83d", "\ude00")
        assert ledger["\ud83d"] == "\ude00"


def test_a_result_counts_once_it_is_written(file: Path) -> None:
    """Another process that reads the file finds the line as soon as the key is known."""
    with Ledger(file) as ledger:
        for number in range(3):
            ledger.add(str(number), number)
            assert [json.loads(line)["value"] for line in file.read_bytes().splitlines()] == list(range(number + 1))


def test_the_first_result_of_a_key_counts(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.add("a", 1)
        ledger.add("a", 2)
        assert ledger["a"] == 1 and len(ledger) == 1
    file.write_bytes(file.read_bytes() + ledger_line("a", 3))
    with Ledger(file) as ledger:
        assert ledger["a"] == 1 and len(ledger) == 1


def test_a_ledger_without_a_line_leaves_no_file(file: Path) -> None:
    with Ledger(file):
        assert file.exists()
    assert not file.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data,
        lambda data: data[:-1],
        lambda data: data[:-12],
        lambda data: data + b'{"key": "000',
        lambda data: data + ledger_line("d", 1)[:-1],
        lambda data: data + b"\0" * 4096,
        lambda data: data[:5],
        lambda data: b"",
    ],
)
def test_a_torn_last_line_is_cut(file: Path, damage: Callable[[bytes], bytes]) -> None:
    whole = write_abc(file)
    file.write_bytes(damage(whole))
    kept = "abc"[: damage(whole)[: len(whole)].count(b"\n")]
    with Ledger(file, fail) as ledger:
        assert "".join(ledger) == kept and len(ledger) == len(kept)
        for key in "abc":
            ledger.add(key, key.upper())
        assert [ledger[key] for key in "abc"] == ["A", "B", "C"]
    assert file.read_bytes() == whole and list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    "line",
    [
        b"\0" * 4096 + b"\n",
        b"\n",
        b"[1]\n",
        b'{"key": "d", "value": 1}\n',
        ledger_line("d", 1).replace(b"d", b"e", 1),
        b'{"key": "d", "value": "d"}\xff\n',
        b"[" * 10**5 + b"\n",
        with_checksum(b'{"value": 1'),
        with_checksum(b'{"key": 4, "value": 1'),
        with_checksum(b'{"key": "d", "value": '),
    ],
)
def test_a_damaged_line_is_left_out_and_kept_elsewhere(file: Path, line: bytes) -> None:
    """Wherever it is but in the first place; what follows is not lost, and neither is the file as it was."""
    a, b, c = write_abc(file).splitlines(keepends=True)
    file.write_bytes(damaged := b"".join([a, line, b, line, c, b'{"key": "torn']))
    warnings: list[str] = []
    with Ledger(file, warnings.append) as ledger:
        assert dict(ledger.items()) == {"a": "A", "b": "B", "c": "C"} and ledger.damaged == [2, 4]
        ledger.add("d", 1)
    assert file.read_bytes() == a + b + c + ledger_line("d", 1)
    copy = file.with_name("ledger.jsonl.damaged")
    assert copy.read_bytes() == damaged
    assert warnings == [
        f"{file}: 2 lines are damaged and left out (line 2, 4); the file as it was is kept as {copy.name}."
    ]
    file.write_bytes(damaged + b"\n")
    with Ledger(file):
        pass
    assert copy.read_bytes() == damaged and file.with_name(f"{copy.name}-2").read_bytes() == damaged + b"\n"


def test_every_changed_byte_is_noticed(file: Path) -> None:
    """Of a line in the midst: no change of one byte gives another result, and none costs another line."""
    a, b, c = write_abc(file).splitlines(keepends=True)
    for place in range(len(b)):
        changed = bytearray(b)
        changed[place] ^= 1 << (place % 8)
        file.write_bytes(a + changed + c)
        warnings: list[str] = []
        with Ledger(file, warnings.append, read_only=True) as ledger:
            found = dict(ledger.items())
        assert found.items() <= {"a": "A", "c": "C"}.items() and len(warnings) == 1
        assert len(found) == (1 if place == len(b) - 1 else 2)  # without its line feed the line takes the next along


@pytest.mark.parametrize(
    "content",
    [b"mine", b"\0" * 100, b"mine\n", b'{"key": "a", "value": 1}\n', ledger_line("a", 1).replace(b"a", b"b", 1)],
)
def test_what_does_not_begin_as_a_ledger_is_left_alone(file: Path, content: bytes) -> None:
    file.write_bytes(content + ledger_line("b", 2) * content.endswith(b"\n"))
    before = file.read_bytes()
    with pytest.raises(OutputError, match="is not the ledger of a run"):
        Ledger(file)
    assert file.read_bytes() == before and list(file.parent.iterdir()) == [file]


def test_reading_only_changes_nothing(file: Path) -> None:
    whole = write_abc(file)
    file.write_bytes(whole + b'{"key": "torn')
    with Ledger(file, fail, read_only=True) as ledger:
        assert "".join(ledger) == "abc"
    assert file.read_bytes() == whole + b'{"key": "torn'


def test_threads_may_add_and_read_at_once(file: Path) -> None:
    with Ledger(file) as ledger:

        def work(name: str) -> None:
            for number in range(200):
                ledger.add(f"{name}{number}", {"text": name * number})
                assert ledger[f"{name}{number}"] == {"text": name * number}

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ledger) == 800
    with Ledger(file) as ledger:
        assert all(ledger[f"{name}{number}"] == {"text": name * number} for name in "abcd" for number in range(200))
