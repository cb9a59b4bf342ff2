"""The keys of JSON are those of the schema, which says what each is; of both tasks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.bloom.conftest import made_set
from tests.scorer.mcq.test_session import items, key_of, lines
from vcrgen import scorer
from vcrgen.scorer import RunResult, compare, render, score
from vcrgen.scorer.results import SCHEMA
from vcrgen.scorer.saved import as_saved

TEXT = json.loads((Path(scorer.__file__).parent / "scores.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(TEXT)


@pytest.fixture(params=["vcr", "bloom"])
def runs(request: pytest.FixtureRequest, key: Path, perfect: Path, tmp_path: Path) -> list[RunResult]:
    """A whole run and one that lacks outputs, in two views or languages."""
    files, data = [tmp_path / f"{name}.jsonl" for name in ("whole", "half")], key
    if request.param == "vcr":
        outputs = map(json.loads, perfect.read_text("utf-8").splitlines())
        rows = [output | {"view": view} for output in outputs for view in ("stacked", "tei")]
    else:
        rows = lines(items(), key_of, logprobs=[[-1.0], [-2.0], [-3.0], [-4.0]])
        data = made_set(tmp_path / "set", items())
    for file, count in zip(files, (len(rows), len(rows) - 2), strict=True):
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows[:count]), "utf-8")
    return [score(file, data=data) for file in files]


def test_what_is_written_fits_the_schema(runs: list[RunResult]) -> None:
    report = json.loads(render(runs, "json", compare(runs)))
    VALIDATOR.validate(report)
    for run in runs:
        for secret in (False, True):
            VALIDATOR.validate(as_saved(run, secret=secret))
    report["runs"][0]["scores"][0]["another"] = 1
    with pytest.raises(ValidationError):
        VALIDATOR.validate(report)


def described(value: Any) -> Iterator[tuple[str, str]]:
    """The keys of a schema and what it says of them."""
    for name, part in value.get("properties", {}).items():
        yield name, part.get("description", "")
        yield from described(part)


def test_the_schema_is_of_this_version_and_says_what_each_key_is() -> None:
    Draft202012Validator.check_schema(TEXT)
    assert TEXT["$defs"]["run"]["properties"]["schema"]["const"] == SCHEMA
    keys = [pair for definition in TEXT["$defs"].values() for pair in described(definition)]
    assert len(keys) > 60 and not [name for name, text in keys if not text]
