"""Columns, nested paths, conditions and ids."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.sources.conftest import items_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import (
    RowCounts,
    describe_unmatched,
    items_at,
    iter_captions,
    iter_items,
    limit_partitions,
    open_pairs,
    open_source,
)
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


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ((), ""),
        (("lang=zh",), "no row matches lang=zh; lang is 'en', 'de' or 'fr'"),
        (("lang=en", "n=2"), "no row matches lang=en and n=2"),  # each of them alone matches
        (("lang=en", "n=9"), "no row matches lang=en and n=9; n is '1', '2' or '3'"),
        (("id=x",), "no row matches id=x; id is 'id0', 'id1', 'id2', 'id3', 'id4', 'id5', 'id6', 'id7' or another"),
    ],
)
def test_what_is_there_instead_of_a_condition_s_value(where: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    """The most frequent values first; so say builds, streams and hidden sets of which no row matches."""
    facts = [("en", 1)] * 6 + [("de", 2)] * 4 + [("fr", 3), (None, None)]
    rows = [
        {"id": f"id{at}", "image": "x.png", "caption": "a", "lang": lang, "n": n} for at, (lang, n) in enumerate(facts)
    ]
    config = BuildConfig(source=write_jsonl(tmp_path, rows), where=where)
    assert describe_unmatched(open_source(config), config) == sentence


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


def refusal(config: BuildConfig) -> str:
    with pytest.raises(SourceError) as error:
        open_pairs(config)
    assert "\n" not in str(error.value)
    return str(error.value)


LISTS = {
    "images": [{"file_name": "0.jpg"}, {"file_name": "1.jpg"}],
    "annotations": [{"image_id": 1, "caption": "a"}, {"image_id": 0, "caption": "b"}],
}
LIST_OF = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))


@pytest.mark.parametrize(
    ("rows", "options", "lists"),
    [
        ([LISTS], {}, "images and captions in annotations"),
        ([{"data": LISTS}], {}, "data.images and captions in data.annotations"),
        ([{"a": [{"image": ""}], "b": [{"caption": "x"}]}], {}, "a and captions in b"),
        ([{"image": ["", ""], "caption": ["a", "b"]}], {}, "image and captions in caption"),
        ([{"x": {"image": ["", ""], "caption": ["a", "b", "c"]}}], {}, "x.image and captions in x.caption"),
        ([{"x": [{"image": ["0"], "y": [{"caption": "a"}]}]}], {}, "x.image and captions in x.y"),
    ],
)
def test_pictures_and_captions_in_different_lists_are_refused(
    tmp_path: Path, rows: list[Any], options: dict[str, Any], lists: str
) -> None:
    """The first picture was given the first caption, whosever it was."""
    config = BuildConfig(source=write_jsonl(tmp_path, rows), **options)
    assert f"pictures stand in the list {lists}, so nothing says which of them belong" in refusal(config)
    later = BuildConfig(source=write_jsonl(tmp_path, rows * 9))
    (first, *_) = items_of(later)
    assert first.image is None and first.caption is None and "so nothing says which" in first.problem


def test_two_lists_in_parquet_are_refused(tmp_path: Path) -> None:
    pictures = [{"bytes": b"x", "path": None}, {"bytes": b"y", "path": None}]
    both = pa.table({"images": pa.array([pictures] * 3, LIST_OF), "texts": [["a", "b"], ["b", "a"], ["c"]]})
    pq.write_table(both, tmp_path / "x.parquet")
    config = BuildConfig(source=str(tmp_path / "x.parquet"), image_column="images", caption_column="texts")
    assert refusal(config).startswith("In Parquet file x.parquet, pictures stand in the list images and captions in te")


@pytest.mark.parametrize(
    ("row", "first", "each"),
    [
        (
            {"x": [{"image": "0", "caption": "a"}, {"image": "1", "caption": "b"}]},
            [("0", "a")],
            [("0", "a"), ("1", "b")],
        ),
        ({"x": {"image": ["0", "1"], "caption": ["a", "b"]}}, [("0", "a")], [("0", "a"), ("1", "b")]),
        (
            {"x": [{"image": None, "caption": "a"}, {"image": "1", "caption": "b"}]},
            [("1", "b")],
            [("", "a"), ("1", "b")],
        ),
        (
            {"x": [{"image": "0", "s": [{"caption": "a"}, {"caption": "b"}]}, {"image": "1", "s": [{"caption": "c"}]}]},
            [("0", "a")],
            [("0", "a"), ("0", "b"), ("1", "c")],
        ),
        ({"image": ["0", "1"], "caption": "a"}, [("0", "a")], [("0", "a")]),
        ({"image": "1", "caption": ["", "a", None, "b"]}, [("1", "a")], [("1", "a"), ("1", "b")]),
        ({"image": "1", "caption": []}, [("1", None)], [("1", None)]),
    ],
)
def test_a_caption_goes_with_the_picture_of_its_element(tmp_path: Path, row: Any, first: Any, each: Any) -> None:
    for name in "01":
        (tmp_path / name).write_text(name)
    path = write_jsonl(tmp_path, [row])
    leaves = max(str(row).count("'a'") + str(row).count("'b'") + str(row).count("'c'"), len(each))
    for choice, expected in (("first", first), ("each", each)):
        config = BuildConfig(source=path, captions=choice)
        source, _ = open_pairs(config)
        counts = RowCounts()
        items = list(iter_items(source, config, 0, 0, 1, counts=counts))
        assert [((item.image or b"").decode(), item.caption) for item in items] == expected
        assert counts.captions - counts.left_out == len(expected) and counts.captions >= leaves
        assert len({item.source_id for item in items}) == len(items)


def test_the_longest_caption(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "caption": ["aa", "  ccc ", "bbb", "   d       "]}])
    assert [item.caption for item in items_of(BuildConfig(source=path, captions="longest"))] == ["  ccc "]


def test_a_row_of_very_many_captions(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, [{"image": "", "caption": ["a"] * 1001}, {"image": "", "caption": ["a"] * 1000}])
    items = items_of(BuildConfig(source=path, captions="each"))
    assert items[0].problem == "the row has more than 1000 captions or pictures" and len(items) == 1001


@pytest.mark.parametrize(
    ("rows", "options", "column"),
    [
        ([{"URL": "https://a/b.jpg", "TEXT": "a"}], {}, "URL --caption_col TEXT"),
        ([{"image_url": "https://a/b.jpg", "caption": "a"}], {}, "image_url --caption_col caption"),
        ([{"image": "https://a/b.jpg", "caption": "a"}, {"image": None, "caption": "a"}], {}, "image --caption_col"),
        (
            [{"u": "HTTP://a/b.jpg", "text": "a"}],
            {"image_column": "u", "caption_column": "text"},
            "u --caption_col text",
        ),
        ([{"image": {"bytes": None, "path": "https://a"}, "caption": "a"}], {}, "image --caption_col caption"),
    ],
)
def test_lists_of_urls_are_refused(tmp_path: Path, rows: Any, options: Any, column: str) -> None:
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    message = refusal(BuildConfig(source=str(tmp_path / "x.parquet"), **options))
    assert f"`img2dataset --url_list FILE --input_format parquet --url_col {column}" in message
    assert refusal(BuildConfig(source=write_jsonl(tmp_path, rows), **options)).count("img2dataset") == 1


def test_tables_of_conceptual_captions_are_refused(tmp_path: Path) -> None:
    """They have no header."""
    for row in ("a boat on the sand\thttps://a/b.jpg", "https://a/b.jpg\ta boat on the sand"):
        (tmp_path / "cc.tsv").write_text(f"{row}\n{row}\n")
        assert "its first line is a row with the address of a picture" in refusal(
            BuildConfig(source=str(tmp_path / "cc.tsv"))
        )


def test_some_addresses_among_pictures_are_rejects(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("0")
    rows = [{"image": "https://a/b.jpg", "url": "https://a", "caption": "a"}, {"image": "0", "caption": "b"}]
    config = BuildConfig(source=write_jsonl(tmp_path, rows))
    open_pairs(config)
    assert [bool(item.problem) for item in items_of(config)] == [True, False]
