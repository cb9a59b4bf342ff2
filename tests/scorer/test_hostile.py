"""Bad input: one sentence with file and line, never a traceback, never harm."""

import contextlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vcrgen.core import reading
from vcrgen.core.errors import AnswerError, DatasetError, PredictionError, VcrgenError
from vcrgen.scorer import ScoreOptions, Session, score
from vcrgen.scorer.predictions import recognise
from vcrgen.scorer.saved import as_saved

GOOD = '{"question_id": "a", "output": "x"}'
LINES = {
    "not JSON on line 17": ([GOOD] * 16 + ["{nonsense"], r"line 17: not JSON"),
    "not an object": ([GOOD, "[1]"], r"line 2: not a JSON object but a list"),
    "nested 10,000 deep": ([GOOD, "[" * 10_000], r"line 2: nested too deep|line 2: not JSON"),
    "nested in the output": (
        [GOOD, '{"question_id": "a", "output": ' + "[" * 10_000 + "]" * 10_000 + "}"],
        r"line 2: ",
    ),
    "a number too long": ([GOOD, '{"question_id": 1' + "0" * 5000 + ', "output": "x"}'], r"line 2: holds a number"),
    "no id": ([GOOD, '{"output": "x"}'], r"line 2: no `question_id`"),
    "an id that is none": ([GOOD, '{"question_id": {}, "output": "x"}'], r"line 2: no `question_id`"),
    "no output": ([GOOD, '{"question_id": "a"}'], r"line 2: no `output`"),
    "an object as output": ([GOOD, '{"question_id": "a", "output": {}}'], r"line 2: the output is an object"),
    "two outputs": ([GOOD, '{"question_id": "a", "output": ["x", "y"]}'], r"line 2: the output is a list"),
    "unknown view": ([GOOD, '{"question_id": "a", "output": "x", "view": "up"}'], r"line 2: unknown view 'up'"),
    "unknown mode": ([GOOD, '{"question_id": "a", "output": "x", "mode": "mid"}'], r"line 2: unknown mode 'mid'"),
    "two models": (
        ['{"question_id": "a", "output": "x", "model": "M"}', '{"question_id": "b", "output": "x", "model": "N"}'],
        r"line 2: holds outputs of 'M' and 'N'",
    ),
    "no known form": (['{"a": 1}', '{"a": 2}'], r"line 1: no `question_id`"),
    "an array of texts": (['["x", "y"]'], r"JSON, but of no known form"),
    "an array with a text in it": ([f"[{GOOD},", '"x"]'], r"object 2: not an object but a string"),
    "an array without ids": ([f"[{GOOD},", '{"output": "x"}]'], r"object 2: no `question_id`"),
    "a broken array": ([f"[{GOOD},", GOOD], r"p\.jsonl: not JSON \(line 3\)"),
    "a dictionary of numbers": (['{"a": 0.5, "b": 0.7}'], r"JSON, but of no known form"),
    "a dictionary of lists": (['{"predictions": [{"question_id": "a", "output": "x"}]}'], r"of no known form"),
    "a dictionary with another id": (['{"a": {"question_id": "b", "output": "x"}}'], r"key 'a': its `question_id` is"),
    "a dictionary by position": (['{"0": "x", "1": "y"}'], r"of 2 outputs none fits"),
    "semicolons of something else": (["a;b", "1;2"], r"needs the columns question_id or index, and output or"),
    "prose": (["hello there"], r"line 1: not JSON and not a table"),
    "a table of something else": (["a,b", "1,2"], r"needs the columns question_id or index, and output or"),
    "a row too short": (["index,prediction", "1"], r"line 2: 1 cell under 2 column names"),
    "empty": ([], r"is empty"),
    "nothing fits": (
        ['{"question_id": "zz", "output": "x"}'],
        r"of 1 output none fits .*: 'zz'; it has ids such as 'a'\. Is the file of",
    ),
}


@pytest.mark.parametrize(("lines", "message"), LINES.values(), ids=LINES.keys())
def test_a_sentence_with_file_and_line(lines: list[str], message: str, key: Path, write_lines: Any) -> None:
    file = write_lines("p.jsonl", lines)
    with pytest.raises(PredictionError, match=message) as caught:
        score(file, data=key)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def test_saved_scores_are_no_outputs(key: Path, perfect: Path, tmp_path: Path) -> None:
    saved = as_saved(score(perfect, data=key), secret=False)
    (tmp_path / "p.scores.json").write_text(json.dumps(saved))
    with pytest.raises(
        PredictionError, match=r"p\.scores\.json holds saved scores, not outputs; `vcrgen compare` takes"
    ):
        score(tmp_path / "p.scores.json", data=key)


@pytest.mark.parametrize("encoding", ["utf-32", "gb18030", "latin-1"])
def test_wrong_encoding(key: Path, tmp_path: Path, encoding: str) -> None:
    text = "é" if encoding == "latin-1" else "位于"
    file = tmp_path / "p.jsonl"
    file.write_bytes((json.dumps({"question_id": "a", "output": text}, ensure_ascii=False) + "\n").encode(encoding))
    with pytest.raises(PredictionError, match=r"line 1: not UTF-8"):
        score(file, data=key)


def test_a_byte_order_mark_is_no_problem(key: Path, perfect: Path) -> None:
    perfect.write_bytes(b"\xef\xbb\xbf" + perfect.read_bytes())
    assert score(perfect, data=key).cell().metrics["exact"].value == 1.0


def test_a_line_too_long_is_not_read(key: Path, write_lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 1000)
    file = write_lines("p.jsonl", [GOOD, json.dumps({"question_id": "a", "output": "x" * 2000})])
    with pytest.raises(PredictionError, match="line 2: the line is longer"):
        score(file, data=key)


MANY = {
    "JSON": (
        "p.jsonl",
        lambda f: f.write(GOOD + '\n{"question_id": "b", "output": [' + "[]," * 2_000_000),
        "line 2: holds",
    ),
    "cells": ("p.csv", lambda f: f.write("index,prediction\n0,x\n" + "," * 2_000_000), "line 3: the row has more than"),
    "lines of a row": ("p.csv", lambda f: f.write("index,prediction\n" + '"\n",' * 2_000_000), "the row has more than"),
    "a row": (
        "p.csv",
        lambda f: f.write('index,prediction\n0,"' + f"{'x' * 999}\n" * 70_000),
        "the row is longer than 64 MiB",
    ),
}


def test_one_json_value_of_very_many(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, recognise):
        monkeypatch.setattr(module, "MAX_JSON_VALUES", 1000)
    file = tmp_path / "p.json"
    for text in ('{"0": [' + "[]," * 1000 + "0]}", '{\n"0": [' + "[]," * 1000 + "0]}"):
        file.write_text(text)
        with pytest.raises(PredictionError, match="holds more than 1,000 values"):
            score(file, data=key)


@pytest.mark.parametrize(("name", "write", "message"), MANY.values(), ids=MANY.keys())
def test_values_without_end_are_refused_before_they_are_made(
    key: Path, tmp_path: Path, name: str, write: Callable[[IO[str]], int], message: str
) -> None:
    with (tmp_path / name).open("w") as file:
        write(file)
    with pytest.raises(PredictionError, match=message):
        score(tmp_path / name, data=key, view="stacked")


@pytest.mark.parametrize("protocol", ["paper", "vlmevalkit", "lmms-eval"])
def test_an_answer_is_read_to_a_limit_and_that_is_said(key: Path, write_lines: Any, protocol: str) -> None:
    """One of 60 MB took 3.8 GB: every token of it was kept."""
    rows = [{"question_id": i, "output": "x " * 50_000 + text} for i, text in (("b", "is a town in the"), ("a", ""))]
    result = score(write_lines("p.jsonl", rows), data=key, protocol=protocol, max_output_tokens=0)
    assert result.cell().metrics["exact"].value == 0
    assert result.cell().counts["long"] == 1 and "1 output is longer than 100,000 characters" in " ".join(result.notes)


def test_what_is_cut_after_512_tokens_is_not_said_to_be_long_too(key: Path, write_lines: Any) -> None:
    result = score(write_lines("p.jsonl", [{"question_id": "b", "output": "x " * 60_000}]), data=key)
    assert result.cell().counts["beyond_limit"] == 1 and "long" not in result.cell().counts


def test_thinking_does_not_count_as_long(key: Path, write_lines: Any) -> None:
    rows = [{"question_id": "b", "output": f"<think>{'x ' * 100_000}</think>is a town in the"}]
    result = score(write_lines("p.jsonl", rows), data=key)
    assert result.cell().outcomes["exact"] == 1 and "long" not in result.cell().counts


@pytest.mark.parametrize("name", ["p.pkl", "p.json"])
def test_pickles_are_refused(key: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(PredictionError, match="is a pickle"):
        score(file, data=key)


def test_an_answer_column_is_never_run(key: Path, tmp_path: Path) -> None:
    target = tmp_path / "harm"
    file = tmp_path / "p.csv"
    file.write_text(f"index,answer,prediction\n0,\"[open({str(target)!r}, 'w')]\",x\n", "utf-8")
    score(file, data=key, view="stacked")
    assert not target.exists()


@pytest.mark.parametrize("content", [b"PK\x03\x04garbage", b"PAR1xxxx", b"\x1f\x8bxxxx"])
def test_broken_binaries(key: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "p.xlsx"
    file.write_bytes(content)
    with pytest.raises(PredictionError, match=r"p\.xlsx"):
        score(file, data=key)


def test_answers_that_cannot_be_read(tmp_path: Path, perfect: Path, write_lines: Any) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    for data, message in (
        (tmp_path / "none", "does not exist"),
        (folder, "holds no Parquet file"),
        (write_lines("k1.jsonl", [{"question_id": "a"}]), "line 1: no list of texts"),
        (write_lines("k2.jsonl", [{"crossed_text": ["a"]}]), "line 1: no `question_id`"),
        (write_lines("k3.jsonl", [{"id": "a", "answers": ["x"]}] * 2), "line 2: the id 'a' stands for two"),
        (write_lines("k4.jsonl", [{"id": "a", "answers": []}]), "no answers"),
        (write_lines("k5.jsonl", [{"id": "a", "answers": ["x"], "language": "xx"}]), "language 'xx'"),
    ):
        with pytest.raises((AnswerError, DatasetError), match=message):
            score(perfect, data=data)
    (folder / "manifest.json").write_text("{", "utf-8")
    with pytest.raises(DatasetError, match="damaged"):
        score(perfect, data=folder)


def test_a_dataset_of_another_language(perfect: Path, write_lines: Any) -> None:
    key = write_lines("k.jsonl", [{"id": "a", "answers": ["位于"], "language": "zh"}])
    with pytest.raises(AnswerError, match="is a dataset of language 'zh', not 'en'"):
        Session(key, ScoreOptions(lang="en"))
    with pytest.raises(VcrgenError, match="mixes the languages en, zh"):
        Session(
            write_lines("m.jsonl", [{"id": i, "answers": ["x"], "language": i} for i in ("en", "zh")]), ScoreOptions()
        )


@pytest.mark.parametrize(
    ("protocol", "output"),
    [
        ("paper", "the " * 50_000),
        ("paper", "a" * 200_000),
        ("paper", "(" * 200_000),
        ("paper", "<think>" * 30_000),
        ("paper", "x</think>" * 20_000),
        ("vlmevalkit", "the " * 50_000),
        ("vlmevalkit", "a" * 200_000),
    ],
)
def test_long_outputs_are_scored(key: Path, write_lines: Any, output: str, protocol: str) -> None:
    # Not a clock: these never ended when something was quadratic.
    file = write_lines("p.jsonl", [{"question_id": "b", "output": output}])
    assert score(file, data=key, protocol=protocol).cell().metrics["exact"].value == 0.0


def test_half_characters_break_no_file(key: Path, write_lines: Any, tmp_path: Path) -> None:
    rows = [
        '{"question_id": "a", "output": "x\\ud83d", "model": "M\\ud800"}',
        '{"question_id": "\\udfff", "output": "x"}',
    ]
    result = score(write_lines("p.jsonl", rows), data=key, spans=tmp_path / "s.parquet")
    json.dumps(result.as_json(), ensure_ascii=False).encode("utf-8")
    assert result.problems["surrogates"][0] == 1
    with pytest.raises(AnswerError, match="line 1: holds half a character"):
        Session(write_lines("k.jsonl", ['{"id": "a", "answers": ["x\\ud83d"]}']), ScoreOptions())


@pytest.mark.sweep
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text('{}[]",:index,prdcto\tq_u0\n', max_size=80).map(str.encode))
def test_any_bytes_are_scored_or_refused(key: Path, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "fuzz.bin"
    file.write_bytes(data)
    with contextlib.suppress(VcrgenError):
        score(file, data=key)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = [
    "question_id",
    "output",
    "view",
    "mode",
    "model",
    "doc_id",
    "resps",
    "target",
    "logs",
    "index",
    "prediction",
    "0",
]
KEYS += ["answer", "res_stacked_image", "doc", "filtered_resps"]


@pytest.mark.sweep
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.dictionaries(st.sampled_from(KEYS), VALUES | st.just("a") | st.just(0), max_size=6), wrap=st.booleans())
def test_any_json_is_scored_or_refused(key: Path, tmp_path: Path, value: dict[str, Any], wrap: bool) -> None:
    file = tmp_path / "fuzz.json"
    file.write_text(json.dumps([value] if wrap else value), "utf-8")
    with contextlib.suppress(VcrgenError):
        score(file, data=key)
