"""What a ledger keeps, and what it drops after a kill."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.work.ledger import Ledger

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


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
    file.write_bytes(file.read_bytes() + b'{"key": "a", "value": 3}\n')
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
        lambda data: data + b'{"key": "d", "value": 1}',
        lambda data: data + b"\0" * 4096,
        lambda data: data + b"\0" * 4096 + b"\n",
        lambda data: data + b"[1]\n",
        lambda data: data + b'{"key": "d"}\n',
        lambda data: data + b'{"value": "d"}\n',
        lambda data: data + b'{"key": 4, "value": "d"}\n',
        lambda data: data + b'{"key": "d", "value": "d"}\xff\n',
        lambda data: data + b"[" * 10**5 + b"\n",
        lambda data: data + b"\n" + b'{"key": "after", "value": 1}\n',
        lambda data: b"",
    ],
)
def test_a_torn_line_and_what_follows_is_dropped(file: Path, damage: Callable[[bytes], bytes]) -> None:
    with Ledger(file) as ledger:
        for key in "abc":
            ledger.add(key, key.upper())
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    kept = "abc"[: damage(whole)[: len(whole)].count(b"\n")]
    with Ledger(file) as ledger:
        assert "".join(key for key in "abc" if key in ledger) == kept and len(ledger) == len(kept)
        for key in "abc":
            ledger.add(key, key.upper())
        assert [ledger[key] for key in "abc"] == ["A", "B", "C"]
    assert file.read_bytes() == whole


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
