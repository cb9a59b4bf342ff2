"""Files of other makers: the forms that are read, and what is done with bad ones."""

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.bloom.conftest import png
from vcrgen.bloom.filtering import write_filtered_set
from vcrgen.bloom.importing import import_questions
from vcrgen.bloom.options import BloomImportOptions
from vcrgen.bloom.rejects import RejectLog
from vcrgen.core.errors import ConfigError, NoPairsError, SourceError
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import ChoiceItem, read_items
from vcrgen.data.tasks.opening import open_task_dataset

ARABIC = ["قارب", "طائر", "جبل", "بيت"]
ENGLISH = ["boat", "bird", "hill", "house"]


def published(number: int, **changes: Any) -> dict[str, Any]:
    """An item in the form of BloomBench's JSON."""
    inner: dict[str, Any] = {"question_en": "What is in the middle?", "question_ar": "ماذا في الوسط؟", "answer": "B"}
    for letter, english, arabic in zip("ABCD", ENGLISH, ARABIC, strict=True):
        inner |= {f"choice_{letter}_en": english, f"choice_{letter}_ar": arabic}
    inner |= {name: changes.pop(name) for name in list(changes) if name in inner}
    item = {
        "question_id": f"q{number}",
        "image_id": f"{number:032x}",
        "source_image_file": "red.png",
        "hierarchy": {"lvl1": " Create -> Creative generation ", "leaf": " Poem"},
        "question_en": "Open?",
        "answer_en": "bird",
        "multiple_choice_qa": inner,
    }
    return item | changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for colour in ("red", "green"):
        (tmp_path / f"{colour}.png").write_bytes(png(colour))
    return tmp_path


def read(folder: Path, name: str, **options: Any) -> tuple[list[ChoiceItem], dict[str, int]]:
    out = folder / f"set-{name}"
    manifest = import_questions(folder / name, BloomImportOptions(**options), out)
    return list(read_items(open_task_dataset(out))), dict(manifest.rejected)


def write_json(folder: Path, items: Sequence[Any], name: str = "b.json") -> str:
    (folder / name).write_text(json.dumps(items), "utf-8")
    return name


def write_table(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    with (folder / name).open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), delimiter="\t" if name.endswith("tsv") else ",")
        writer.writeheader()
        writer.writerows(rows)
    return name


def table_row(number: int, **changes: Any) -> dict[str, Any]:
    row = {"index": number, "image": "red.png", "question": "What is in the middle?"}
    row |= dict(zip("ABCD", ENGLISH, strict=True))
    return row | {"answer": "B", "category": "create/creative generation/poem"} | changes


def test_the_published_form(folder: Path) -> None:
    items, drops = read(folder, write_json(folder, [published(0), published(1, source_image_file="green.png")]))
    assert drops == {} and [item.question_id for item in items] == ["q0", "q1"]
    assert items[0].path == "create/creative generation/poem" and items[0].answer == 1 and items[0].trap is None
    assert items[0].questions["en"].text == "What is in the middle?"
    assert items[0].questions["ar"].options == tuple(ARABIC) and items[0].picture != items[1].picture


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": "E"}, "bad_key"),
        ({"choice_A_en": {"x": 1}}, "not_an_item"),
        ({"choice_A_en": "", "choice_A_ar": ""}, "incomplete"),
        ({"hierarchy": {"lvl1": "Create", "leaf": "nothing"}}, "unknown_category"),
        (
            {"hierarchy": {"lvl1": "Evaluate -> Quality", "leaf": "Poem"}},
            "unknown_category",
        ),  # it is one of another level
        ({"source_image_file": "../../../etc/passwd"}, "no_picture"),
        ({"source_image_file": "https://example.org/a.png"}, "no_picture"),
        ({"source_image_file": "b.json"}, "bad_picture"),
        ({"question_id": "q0"}, "duplicate_id"),
        ({"question_id": "a\u202eb"}, "not_an_item"),
        ({f"field {number}": 1 for number in range(200)}, "not_an_item"),
    ],
)
def test_what_cannot_be_used_is_counted(folder: Path, changes: dict[str, Any], reason: str) -> None:
    items, drops = read(folder, write_json(folder, [published(0), published(1, **changes), published(2)]))
    assert drops == {reason: 1} and [item.question_id for item in items] == ["q0", "q2"]
    (line,) = (folder / "set-b.json" / "rejects.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["reason"] == reason


def test_what_is_no_object_is_counted(folder: Path) -> None:
    _, drops = read(folder, write_json(folder, [published(0), 5, None, [published(1)]]))
    assert drops == {"not_an_item": 3}


def test_an_item_that_lacks_a_language_is_kept_in_the_other(folder: Path) -> None:
    items, drops = read(folder, write_json(folder, [published(0), published(1, question_ar="")]))
    assert drops == {} and [list(item.questions) for item in items] == [["en", "ar"], ["en"]]


def test_points_at_options_may_be_kept(folder: Path) -> None:
    name = write_json(folder, [published(0), published(1, question_en="Which of the following is there?")])
    assert read(folder, name)[1] == {"points_at_options": 1}
    (folder / f"set-{name}").rename(folder / "first")
    assert read(folder, name, keep=("points_at_options",))[1] == {}
    with pytest.raises(ConfigError, match="none of numbers_differ, points_at_options, untranslated, wrong_script"):
        read(folder, name, keep=("bad_key",))


@pytest.mark.parametrize("ending", ["tsv", "csv"])
def test_tables_of_vlmevalkit(folder: Path, ending: str) -> None:
    picture = base64.b64encode(png("red")).decode()
    rows = [
        table_row(7, image=picture, hint="", **{"l2-category": "create"}),
        table_row(8, image=picture, category="poem", hint="Look at the sea.", **{"l2-category": "nan"}),
        table_row(9, image=picture, category="Create > poem", hint="nan", D="", **{"l2-category": ""}),
        table_row(10, image=picture, C=""),
    ]
    items, drops = read(folder, write_table(folder, f"t.{ending}", rows))
    assert drops == {"incomplete": 1} and [item.question_id for item in items] == ["7", "8", "9"]
    assert [item.options for item in items] == [4, 4, 3], "an empty cell at the end is no option"
    assert items[1].questions["en"].text == "Look at the sea.\nWhat is in the middle?"
    assert {item.path for item in items} == {"create/creative generation/poem"}


def test_rows_of_vlmevalkit_that_share_a_picture(folder: Path) -> None:
    """The picture stands once; later rows hold the index of its row, also where that row itself is rejected."""
    red, green = (base64.b64encode(png(colour)).decode() for colour in ("red", "green"))
    rows = [
        table_row(1, index="1", image=red),
        table_row(2, index="2", image="1"),
        table_row(3, index="3", image=green, answer="E"),
        table_row(4, index="4", image="3"),
        table_row(5, index="5", image="9"),
    ]
    items, drops = read(folder, write_table(folder, "shared.tsv", rows))
    assert drops == {"bad_key": 1, "no_picture": 1} and len({item.picture for item in items}) == 2
    assert [item.picture for item in items[:2]] == [items[0].picture] * 2 and len(items) == 3


def test_options_may_be_a_list_as_python_writes_it(folder: Path) -> None:
    good = {"id": 1, "image": "red.png", "question": "What is there?", "answer": "A", "category": "poem"}
    formula = r"['$\pi$', 'a', 'b', 'c']"
    texts = [
        repr(ENGLISH),
        json.dumps(ENGLISH),
        formula,
        "print(1)",
        "[" * 9_000,
        "['a', 'b'",
        repr(ENGLISH) + " " * 20_000,
    ]
    rows = [good | {"id": number, "options": text} for number, text in enumerate(texts)]
    items, drops = read(folder, write_table(folder, "python.csv", rows))
    assert [item.questions["en"].options for item in items] == [tuple(ENGLISH)] * 2 + [(r"$\pi$", "a", "b", "c")]
    assert drops == {"not_an_item": 4}


def test_a_table_with_five_options_and_one_of_another_language(folder: Path) -> None:
    rows = [table_row(1, E=""), table_row(2, E="boathouse")]
    items, drops = read(folder, write_table(folder, "five.csv", rows))
    assert [item.options for item in items] == [4, 5] and drops == {}
    rows = [table_row(1, question="ماذا في الوسط؟", **dict(zip("ABCD", ARABIC, strict=True)))]
    items, _ = read(folder, write_table(folder, "arabic.csv", rows), lang="ar")
    assert list(items[0].questions) == ["ar"]


def test_rows_as_lmms_eval_reads_them(folder: Path) -> None:
    rows = [
        {"id": 1, "image": {"bytes": png("red"), "path": None}, "question": "What is there?", "options": ENGLISH}
        | {"answer": "C", "category": "poem"},
        {"id": 2, "image": {"bytes": png("red"), "path": None}, "question": "What is it?", "options": ENGLISH[:3]}
        | {"answer": "C", "category": "poem"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "l.parquet")
    items, drops = read(folder, "l.parquet")
    assert drops == {} and [(item.options, item.answer) for item in items] == [(4, 2), (3, 2)]
    lines = [table_row(1, options=json.dumps(ENGLISH)), table_row(2, options=ENGLISH), table_row(3, options="[")]
    (folder / "l.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + "[]\n", "utf-8")
    items, drops = read(folder, "l.jsonl")
    assert drops == {"not_an_item": 2} and items[0].questions == items[1].questions


def test_a_column_that_the_user_names_and_a_taxonomy_of_the_users(folder: Path) -> None:
    (folder / "mine.csv").write_text("level,subcategory,leaf\nsee,far,hills\n", "utf-8")
    name = write_table(folder, "t.csv", [table_row(1, photo="green.png", image="nothing.png", category="Hills")])
    items, _ = read(folder, name, image_column="photo", taxonomy=folder / "mine.csv")
    assert items[0].path == "see/far/hills"
    assert (folder / "set-t.csv" / "taxonomy.csv").read_text("utf-8") == "level,subcategory,leaf\nsee,far,hills\n"


def test_a_picture_of_another_format_becomes_png(folder: Path) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "blue").save(buffer, "GIF")
    (folder / "blue.gif").write_bytes(buffer.getvalue())
    (folder / "tiny.png").write_bytes(png()[:60])
    rows = [table_row(1, image="blue.gif"), table_row(2, image="tiny.png")]
    items, drops = read(folder, write_table(folder, "t.csv", rows))
    assert drops == {"bad_picture": 1} and len(items) == 1
    ((_, row),) = open_task_dataset(folder / "set-t.csv").rows(["image"])
    data = image_bytes(row["image"]) or b""
    assert data[:4] == b"\x89PNG" and Image.open(io.BytesIO(data)).size == (40, 30)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", b"[", "not JSON"),
        ("a.json", b'[{"a": 1}]', "no column or field `question`"),
        ("a.json", b"[]", "no column or field `question`"),
        ("a.csv", b"a,b\n1,2\n", "no column or field `question`"),
        ("a.txt", b"x", "no form that MCQ benchmarks have"),
        ("a.json", b"[" * 3_000, "nested too deep"),
    ],
)
def test_a_file_of_another_kind_is_a_sentence(folder: Path, name: str, content: bytes, problem: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(SourceError, match=problem):
        read(folder, name)
    assert not (folder / f"set-{name}").exists()


def test_200_mb_of_json_are_refused_before_they_are_read(folder: Path) -> None:
    with (folder / "big.json").open("wb") as handle:
        handle.write(b"[")
        handle.truncate(200_000_000)
    with pytest.raises(SourceError, match="more than 128 MiB"):
        read(folder, "big.json")


def test_a_folder_of_pictures_that_is_not_there(folder: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        read(folder, write_json(folder, [published(0)]), images=folder / "none")


def test_a_file_without_a_usable_item_says_why(folder: Path) -> None:
    name = write_json(folder, [published(0, answer="E"), published(1, answer="F"), published(2, choice_A_en="bird")])
    with pytest.raises(NoPairsError, match=r"bad_key 2, equal_options 1; such as 'q0', bad_key: the key is none of"):
        read(folder, name)


def test_what_a_file_holds_reaches_no_terminal_as_it_is() -> None:
    rejects = RejectLog()
    rejects.add("a\u202eb", "not_an_item", "no text but \x1b[31m")
    assert rejects.summary == r"not_an_item 1; such as 'a\u202eb', not_an_item: no text but  [31m"


def test_a_json_object_is_read_as_its_list_its_items_by_id_or_one_item(folder: Path) -> None:
    one, two = published(0), published(1)
    forms: dict[str, Any] = {
        "data": {"data": [one, two], "version": 3, "authors": [{"name": "A"}]},
        "other": {"version": "1", "samples": [one, two]},
        "by-id": {"first": one | {"question_id": "first"}, "second": {**two, "question_id": "second"}},
        "alone": one,
    }
    for name, value in forms.items():
        items, drops = read(folder, write_json(folder, value, f"{name}.json"))
        assert len(items) == (1 if name == "alone" else 2) and not drops, name
    by_id = {
        name: {key: value for key, value in item.items() if key != "question_id"}
        for name, item in forms["by-id"].items()
    }
    items, _ = read(folder, write_json(folder, by_id, "ids.json"))
    assert [item.question_id for item in items] == ["first", "second"]
    lines = "\n".join(json.dumps(item) for item in (one, two))
    (folder / "lines.json").write_text(lines, "utf-8")
    assert len(read(folder, "lines.json")[0]) == 2
    for bad in ({"a": [one], "b": [two]}, {"a": 1}, {}):
        with pytest.raises(SourceError):
            read(folder, write_json(folder, bad, "bad.json"))


def test_a_category_with_its_second_level_is_found(folder: Path) -> None:
    rows = [
        table_row(0, **{"category": "animals", "l2-category": "Core Object Recognition"}),
        table_row(1, **{"category": "animals", "l2-category": "compositional core object recognition"}),
        table_row(2, **{"category": "texture", "l2-category": "atypical attribute identification"}),
        table_row(3, **{"category": "poem", "l2-category": "logical_reasoning"}),
        table_row(4, **{"category": "animals", "l2-category": "nature"}),
    ]
    items, drops = read(folder, write_table(folder, "levels.tsv", rows))
    assert [item.path.partition("/")[0] for item in items] == ["remember", "understand", "analyze", "create"]
    assert drops == {"unknown_category": 1}


@pytest.mark.parametrize("count", [3, 4])
def test_circular_copies_are_one_item(folder: Path, count: int) -> None:
    """As of MMBench's circular tables; a copy whose key is another option is at fault, an item like it is none."""
    options, rows = ENGLISH[:count], []
    for turn in range(count):
        shown = [*options[turn:], *options[:turn], *[""] * (4 - count)]
        key = "ABCD"[shown.index("bird")]
        rows.append(table_row(1_000_000 * turn + 7, **dict(zip("ABCD", shown, strict=True)), answer=key))
    rows[1]["image"] = "red.png"
    rows.append(rows[-1] | {"index": 9_000_007, "answer": "ABC"["ABC".index(rows[-1]["answer"]) - 1]})
    rows.append(table_row(8, question="What is at the left?"))
    items, drops = read(folder, write_table(folder, f"circular-{count}.tsv", rows))
    assert drops["circular_copy"] == count - 1 and drops["bad_key"] == 1
    assert [item.question_id for item in items] == ["7", "8"]
    assert items[0].questions["en"].options[items[0].answer or 0] == "bird"


def test_a_lost_character_is_a_fault_and_a_dialect_is_kept(folder: Path) -> None:
    rows = [published(0, dialect="Gulf Arabic"), published(1), published(2, question_en="What is in the m\ufffdddle?")]
    items, drops = read(folder, write_json(folder, rows))
    assert len(items) == 2 and drops == {"replacement_character": 1}
    data = open_task_dataset(folder / "set-b.json")
    assert [row["dialect"] for _, row in data.rows()] == ["Gulf Arabic", ""]
    assert "| `dialect` |" in (folder / "set-b.json/README.md").read_text()
    (folder / "ids.txt").write_text("q1\n")
    write_filtered_set(data, folder / "ids.txt", folder / "less")
    assert [row["dialect"] for _, row in open_task_dataset(folder / "less").rows()] == ["Gulf Arabic"]
    write_json(folder, [published(3)])
    import_questions(folder / "b.json", BloomImportOptions(), folder / "plain")
    assert "dialect" not in next(row for _, row in open_task_dataset(folder / "plain").rows())
