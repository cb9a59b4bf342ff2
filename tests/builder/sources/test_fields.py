"""Columns, nested paths, conditions and ids."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.sources.conftest import items_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import items_at, iter_captions, limit_partitions, open_source
from vcrgen.builder.sources.fields import matching_rows
from vcrgen.core.errors import SourceError

IMAGE = {"bytes": b"png", "path": None}
CAPTION = "wit_features.caption_reference_description"

FEATURES: list[list[dict[str, str | None]]] = [
    [{"language": "en", CAPTION[13:]: "a cat"}, {"language": "zh", CAPTION[13:]: "一只猫"}],
    [{"language": "en", CAPTION[13:]: "a dog"}],
    [
        {"language": "zh", CAPTION[13:]: None},
        {"language": "en", CAPTION[13:]: "a hen"},
        {"language": "zh", CAPTION[13:]: "一只鸡"},
    ],
    [{"language": "zh", CAPTION[13:]: ""}, {"language": "de", CAPTION[13:]: "eine Kuh"}],
    [],
    [{"language": "zh", CAPTION[13:]: "一匹马"}],
]


@pytest.fixture(params=["list of structs", "struct of lists"])
def wit(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Rows as `wikimedia/wit_base` has them, in both layouts that its files have had."""
    fields = pa.struct([("language", pa.string()), (CAPTION[13:], pa.string())])
    kind, features = pa.list_(fields), FEATURES
    if request.param == "struct of lists":
        kind = pa.struct([(field.name, pa.list_(field.type)) for field in fields])
        features = [{f.name: [e[f.name] for e in row] for f in fields} for row in FEATURES]  # type: ignore[misc]
    images = pa.array([IMAGE] * 6, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    pq.write_table(pa.table({"image": images, "wit_features": pa.array(features, kind)}), tmp_path / "wit.parquet")
    return str(tmp_path / "wit.parquet")


def write_jsonl(folder: Path, rows: list[Any]) -> str:
    import json

    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / "x.jsonl")


def test_captions_without_images_are_those_of_the_items(wit: str, tmp_path: Path) -> None:
    """The number of a row leads back to it; a row that cannot be read, or meets no condition, has none."""
    rows = [
        {"id": f"n{number}", "image": "missing.png", "caption": None if number == 2 else "a"} for number in range(4)
    ]
    jsonl = Path(write_jsonl(tmp_path, rows))
    jsonl.write_text(jsonl.read_text() + "torn\n")
    configs = (
        BuildConfig(source=wit, caption_column=CAPTION, where=("language=zh",)),
        BuildConfig(source=str(jsonl)),
    )
    for config in configs:
        source = open_source(config)
        stop = source.partitions()[0].rows
        found = {row.number: (row.source_id, row.caption) for row in iter_captions(source, config, 0, stop)}
        items = enumerate(items_at(source, config, 0, range(stop)))
        expected = {
            at: (item.source_id, item.caption or "") for at, item in items if item and "#4" not in item.source_id
        }
        assert found == expected and len(found) in (3, 4)


@pytest.mark.parametrize("condition", ["wit_features.language=zh", "language=zh", "lang=zh"])
@pytest.mark.parametrize("caption", [CAPTION, CAPTION[13:]])
def test_the_caption_is_of_the_element_that_matches(wit: str, condition: str, caption: str) -> None:
    config = BuildConfig(source=wit, caption_column=caption, where=(condition,))
    found = [(item.source_id, item.caption) for item in items_of(config)]
    assert found == [
        ("wit.parquet#0", "一只猫"),
        ("wit.parquet#2", "一只鸡"),
        ("wit.parquet#3", None),
        ("wit.parquet#5", "一匹马"),
    ]


def test_without_a_condition_the_first_caption_that_is_not_empty(wit: str) -> None:
    captions = [item.caption for item in items_of(BuildConfig(source=wit, caption_column=CAPTION))]
    assert captions == ["a cat", "a dog", "a hen", "eine Kuh", None, "一匹马"]


@pytest.mark.parametrize(("limit", "rows"), [(1, 1), (2, 3), (3, 4), (4, 6), (5, 6)])
def test_a_limit_counts_matching_rows(wit: str, limit: int, rows: int) -> None:
    config = BuildConfig(source=wit, caption_column=CAPTION, where=("language=zh",), limit=limit)
    source = open_source(config)
    (cut,) = limit_partitions(source, config)
    assert cut.rows == rows
    assert list(matching_rows(source, config, 0)) == [0, 2, 3, 5]


def test_all_conditions_hold_for_the_same_element(tmp_path: Path) -> None:
    rows = [
        {"image": "", "list": [{"a": 1, "b": 1, "caption": "no"}, {"a": 2, "b": 2, "caption": "no"}]},
        {"image": "", "list": [{"a": 1, "b": 1, "caption": "no"}, {"a": 1, "b": 2, "caption": "yes"}]},
    ]
    path = write_jsonl(tmp_path, rows)
    config = BuildConfig(source=path, caption_column="list.caption", where=("list.a=1", "list.b=2"))
    assert [item.caption for item in items_of(config)] == ["yes"]


def test_a_scalar_beside_a_list_does_not_undo_its_condition(tmp_path: Path) -> None:
    rows = [{"image": "", "x": {"kind": "k", "e": [{"l": "a", "caption": "no"}, {"l": "b", "caption": "yes"}]}}]
    path = write_jsonl(tmp_path, rows)
    for where in (("x.e.l=b", "x.kind=k"), ("x.kind=k", "x.e.l=b")):
        config = BuildConfig(source=path, caption_column="x.e.caption", where=where)
        assert [item.caption for item in items_of(config)] == ["yes"]


def test_conditions_on_scalars_compare_as_text(tmp_path: Path) -> None:
    rows = [{"image": "", "caption": str(n), "n": n, "ok": n > 1, "no": None} for n in range(4)]
    path = write_jsonl(tmp_path, rows)
    for where, expected in ((("n=2",), ["2"]), (("ok=True", "n=3"), ["3"]), (("no=None",), [])):
        assert [item.caption for item in items_of(BuildConfig(source=path, where=where))] == expected


def test_a_key_with_dots_is_a_column(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "a.b": "dotted", "a": {"b": "nested"}}])
    assert items_of(BuildConfig(source=path, caption_column="a.b"))[0].caption == "dotted"


def test_a_short_name_with_two_meanings_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "a": {"text": "x"}, "b": {"text": "y"}}])
    with pytest.raises(SourceError, match=r"not clear; write a\.text or b\.text"):
        items_of(BuildConfig(source=path, caption_column="text"))


@pytest.mark.parametrize(
    ("row", "config", "expected"),
    [
        ({"question_id": 7, "item_id": "z"}, {}, "7"),
        ({"id": "", "question_id": "q"}, {}, "x.jsonl#0"),
        ({"meta": {"key": "k\x00\n\u202e1"}}, {"id_column": "meta.key"}, "k1"),
        ({"id": "\ud800"}, {}, "x.jsonl#0"),
        ({"id": {"a": 1}}, {}, "x.jsonl#0"),
        ({"id": "x" * 500}, {}, "x" * 200),
    ],
)
def test_ids(tmp_path: Path, row: Any, config: Any, expected: str) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "caption": "c", **row}])
    assert items_of(BuildConfig(source=path, **config))[0].source_id == expected


@pytest.mark.parametrize(
    ("caption", "expected", "problem"),
    [
        ("as given ", "as given ", ""),
        ("  ", None, ""),
        (None, None, ""),
        (12, "12", ""),
        (["", "second"], "second", ""),
        ({"a": 1}, None, "the caption column holds a value of type dict"),
        ("\ud800", None, "the caption is not valid Unicode text"),
    ],
)
def test_captions(tmp_path: Path, caption: Any, expected: str | None, problem: str) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "caption": caption}])
    (item,) = items_of(BuildConfig(source=path))
    assert (item.caption, item.problem) == (expected, problem)
