"""rng, files, signature, records and plurals."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import ConfigError
from vcrgen.core.files import atomic_path, write_json
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import check_file_size
from vcrgen.core.records import Span
from vcrgen.core.rng import array_rng_for, rng_for, shuffled
from vcrgen.core.signature import Signature

KEYS = st.text(st.characters(codec="utf-8", exclude_characters=":|"), min_size=1)
FACTS = st.dictionaries(KEYS, st.text(st.characters(codec="utf-8", exclude_characters="|")), min_size=1)


def test_a_generator_depends_on_seed_stage_and_item() -> None:
    def first(*key: object) -> float:
        return rng_for(*key).random()  # type: ignore[arg-type]

    assert first(0, "mask", "a") == first(0, "mask", "a")
    assert len({first(0, "mask", "a"), first(1, "mask", "a"), first(0, "font", "a"), first(0, "mask", "b")}) == 4


def test_a_generator_of_arrays_is_told_by_the_same_three() -> None:
    drawn = array_rng_for(0, "people", "resamples").random(3)
    assert (drawn == array_rng_for(0, "people", "resamples").random(3)).all()
    assert (drawn == np.random.default_rng(rng_for(0, "people", "resamples").getrandbits(128)).random(3)).all()
    assert (drawn != array_rng_for(1, "people", "resamples").random(3)).any()


def test_golden_random_order() -> None:
    """A change here changes every dataset that will be built."""
    assert shuffled(rng_for(7, "mask", "item"), list(range(8))) == GOLDEN_ORDER


GOLDEN_ORDER = [1, 4, 5, 3, 0, 2, 7, 6]


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    with pytest.raises(ConfigError, match=r"ids.txt cannot be read: No such file"):
        check_file_size(file, 1 << 20, "it is no list", ConfigError)
    file.write_bytes(b"x" * (1 << 20))
    check_file_size(file, 1 << 20, "it is no list", ConfigError)
    file.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(ConfigError, match=r"ids.txt is larger than 1 MiB, so it is no list\.$"):
        check_file_size(file, 1 << 20, "it is no list", ConfigError)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


@given(FACTS)
def test_a_signature_is_read_back(facts: dict[str, str]) -> None:
    signature = Signature(facts)
    assert Signature.parse(str(signature)).facts == facts
    assert len(signature.short) == 8


@pytest.mark.parametrize("text", ["", "a", "a:b|", "a:1|a:2", ":x"])
def test_not_a_signature(text: str) -> None:
    with pytest.raises(ValueError, match="not a signature"):
        Signature.parse(text)


def test_span_invariant() -> None:
    span = Span(start=2, end=4, text="ab", tokens=("ab",))
    for change in ({"start": 5}, {"end": 9}, {"text": ""}, {"start": -1}):
        with pytest.raises(ValueError, match="span"):
            replace(span, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("module", ["vcrgen", "vcrgen.cli"])
def test_importing_is_light(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ), timeout=300
    )
    heavy = {"spacy", "jieba", "datasets", "pyarrow", "PIL", "numpy", "pandas", "torch"}
    assert not heavy & set(run.stdout.split())


def test_json_is_canonical(tmp_path: Path) -> None:
    write_json(tmp_path / "a", {"b": 1, "a": "é"})
    write_json(tmp_path / "b", {"a": "é", "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_text("utf-8")) == {"a": "é", "b": 1}


def test_how_many_there_are_of_something() -> None:
    assert [pluralize(number, "item") for number in (0, 1, 2, 12345)] == [
        "0 items",
        "1 item",
        "2 items",
        "12,345 items",
    ]
    assert [pluralize(number, "leaf", "leaves") for number in (1, 2)] == ["1 leaf", "2 leaves"]
