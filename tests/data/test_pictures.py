"""Selection and order of pictures, and errors of hostile datasets."""

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.data import tables
from vcrgen.data.manifest import read_manifest, write_manifest
from vcrgen.data.pictures import Pictures, PictureSelection
from vcrgen.data.pictures import open_pictures as open_selection
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import View
from vcrgen.text.languages import LANGUAGES

BOTH = (View.STACKED, View.TEI)
FIRST = "0" * 32


def open_pictures(place: Path, choice: PictureSelection) -> Pictures:
    return open_selection(open_dataset(place, VCR), choice)


def test_a_built_dataset_is_read_mode_by_mode_in_the_order_of_its_rows(dataset: Path) -> None:
    pictures = open_pictures(dataset, PictureSelection(views=BOTH))
    read = list(pictures.stream())
    assert pictures.total == len(read) == 24
    assert pictures.dataset.splits == read_manifest(dataset).splits
    rows = [
        (row["question_id"], view, mode, row[view.column]["bytes"])
        for mode in ("easy", "hard")
        for file in read_manifest(dataset).files
        if file.mode == mode
        for row in pq.read_table(dataset / file.path).to_pylist()
        for view in BOTH
    ]
    assert [(p.question_id, p.view, p.mode, p.data) for p in read] == rows
    assert {p.lang for p in read} == {"en"}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (PictureSelection(), 12),
        (PictureSelection(mode="hard"), 6),
        (PictureSelection(split="test"), 4),
        (PictureSelection(mode="easy", split="train", views=BOTH), 8),
        (PictureSelection(limit=1, views=BOTH), 4),
        (PictureSelection(limit=99), 12),
    ],
)
def test_choosing(dataset: Path, choice: PictureSelection, expected: int) -> None:
    pictures = open_pictures(dataset, choice)
    assert pictures.total == len(list(pictures.stream())) == expected


def test_places_sort_the_pictures_of_any_choice(dataset: Path) -> None:
    whole = {p.place: p for p in open_pictures(dataset, PictureSelection(views=BOTH)).stream()}
    assert list(whole) == sorted(whole) and len(whole) == 24
    for choice in (
        PictureSelection(mode="hard"),
        PictureSelection(split="test", views=(View.TEI,)),
        PictureSelection(limit=3, mode="easy"),
    ):
        some = list(open_pictures(dataset, choice).stream())
        assert some and all(whole[picture.place] == picture for picture in some)


@pytest.mark.parametrize(
    ("one", "other", "held"),
    [
        (PictureSelection(), PictureSelection(), True),
        (PictureSelection(), PictureSelection(mode="easy", split="test", limit=3), True),
        (PictureSelection(mode="easy"), PictureSelection(), False),
        (PictureSelection(mode="easy"), PictureSelection(mode="hard"), False),
        (PictureSelection(views=BOTH), PictureSelection(views=(View.TEI,)), True),
        (PictureSelection(views=(View.TEI,)), PictureSelection(views=BOTH), False),
        (PictureSelection(limit=3), PictureSelection(limit=2), True),
        (PictureSelection(limit=3), PictureSelection(limit=4), False),
        (PictureSelection(limit=3), PictureSelection(), False),
        (
            PictureSelection(limit=3),
            PictureSelection(limit=2, split="test"),
            False,
        ),  # the first of the split may not be the first of all
    ],
)
def test_a_choice_holds_another(one: PictureSelection, other: PictureSelection, held: bool) -> None:
    assert one.includes(other) == held


def test_the_question_is_the_datasets_own_or_its_languages(
    dataset: Path, hidden: Callable[..., Path], tampered: Callable[..., Path]
) -> None:
    def ask(mode: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"question": f"What, {mode}?"} for row in rows]

    assert {p.question for p in open_pictures(dataset, PictureSelection()).stream()} == {LANGUAGES["en"].question}
    assert {p.question for p in open_pictures(tampered(ask), PictureSelection()).stream()} == {
        "What, easy?",
        "What, hard?",
    }
    without = hidden(lambda rows: [row.pop("question") for row in rows])
    assert {p.question for p in open_pictures(without, PictureSelection()).stream()} == {LANGUAGES["en"].question}


def test_a_question_that_is_too_long(hidden: Callable[..., Path]) -> None:
    public = hidden(lambda rows: rows[1].update(question="x" * 10_001))
    with pytest.raises(DatasetError, match="`question` is no text of at most 10,000 characters"):
        list(open_pictures(public, PictureSelection()).stream())


def test_a_hidden_set_is_read_in_the_order_of_its_metadata(hidden: Callable[..., Path]) -> None:
    public = hidden()
    pictures = open_pictures(public, PictureSelection(views=BOTH, limit=2))
    read = list(pictures.stream())
    assert [(int(p.question_id, 16), p.view, p.mode) for p in read] == [(n, v, None) for n in (0, 1) for v in BOTH]
    assert pictures.total == 4 and pictures.dataset.is_hidden
    assert read[0].data == (public / "stacked_image" / f"{FIRST}.png").read_bytes()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (PictureSelection(mode="medium"), "nothing of mode 'medium'; it has easy/"),
        (PictureSelection(split="dev"), "nothing of split 'dev'"),
        (PictureSelection(mode="easy", split="dev"), "nothing of mode 'easy' and split 'dev'"),
    ],
)
def test_what_a_built_dataset_does_not_have(dataset: Path, choice: PictureSelection, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_pictures(dataset, choice)


@pytest.mark.parametrize("choice", [PictureSelection(mode="easy"), PictureSelection(split="test")])
def test_a_hidden_set_has_no_parts(hidden: Callable[..., Path], choice: PictureSelection) -> None:
    with pytest.raises(ConfigError, match="no modes and no splits"):
        open_pictures(hidden(), choice)


def change(name: str, value: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[1].update({name: value})


@pytest.mark.parametrize(
    "name",
    [
        "../../secret.png",
        "/etc/passwd",
        f"stacked_image/../{FIRST}.png",
        f"only_it_image/{FIRST}.png",
        f"stacked_image\\{FIRST}.png",
        f"stacked_image/{FIRST}.png\n",
        f"stacked_image/{FIRST}.PNG",
        f"stacked_image/{FIRST}.png/x",
        f"STACKED_IMAGE/{FIRST}.png",
        "stacked_image/" + "g" * 32 + ".png",
        "stacked_image/\u0660" + "0" * 31 + ".png",
        "",
        None,
        7,
        ["x"],
        {"a": 1},
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(hidden: Callable[..., Path], name: Any) -> None:
    with pytest.raises(DatasetError, match=r"line 2: `stacked_image_file_name` is not stacked_image/ID\.png"):
        open_pictures(hidden(change("stacked_image_file_name", name)), PictureSelection())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (change("question_id", None), "line 2: no `question_id`"),
        (change("question_id", 17), "line 2: no `question_id`"),
        (change("question_id", ""), "line 2: no `question_id`"),
        (change("question_id", "a\nb"), "line 2: no `question_id`"),
        (change("question_id", "\ud800"), "line 2: no `question_id`"),
        (change("question_id", "x" * 1000), "line 2: no `question_id`"),
        (change("question_id", FIRST), "line 2: the id '0{32}' stands there twice"),
        (change("language", "xx"), "line 2: no `language` that is known; known: en, zh"),
        (change("language", ["en"]), "line 2: no `language`"),
        (lambda rows: rows.insert(1, [1]), "line 2: not a JSON object but a list"),
    ],
)
def test_metadata_of_wrong_types(hidden: Callable[..., Path], changed: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        open_pictures(hidden(changed), PictureSelection())


@pytest.mark.parametrize(
    ("content", "message"), [(b"{nonsense\n", "not JSON"), (b"\xff\xfe{", "UTF-16"), (b"[" * 10**5, "nested|not JSON")]
)
def test_metadata_that_is_rubbish(hidden: Callable[..., Path], content: bytes, message: str) -> None:
    public = hidden()
    (public / "metadata.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        open_pictures(public, PictureSelection())


def test_metadata_that_would_fill_the_memory(hidden: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_METADATA_BYTES", 100)
    with pytest.raises(DatasetError, match="so it is not a test set's"):
        open_pictures(hidden(), PictureSelection())


def test_files_that_cannot_be_read_are_told(hidden: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    public = hidden()
    folder = public / "stacked_image"
    files = sorted(folder.iterdir())
    files[0].unlink()
    files[1].unlink()
    os.mkfifo(files[1])  # to open it would be to wait for ever
    monkeypatch.setattr(tables, "MAX_IMAGE_BYTES", 50)
    read = list(open_pictures(public, PictureSelection()).stream())
    assert [p.data is None for p in read] == [True, True, False]
    assert read[0].problem == f"the file {FIRST}.png is missing or cannot be read"
    assert len(read[2].data or b"") == 51  # no more than it takes to see that it is too much


def test_a_manifest_with_another_mode(dataset: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dataset, tmp_path / "copy")
    manifest = read_manifest(copy)
    file = dataclasses.replace(manifest.files[0], mode="mid", path="mid/x.parquet")
    write_manifest(copy, dataclasses.replace(manifest, files=(file,)))
    with pytest.raises(DatasetError, match="names a mode that vcrgen does not build"):
        open_pictures(copy, PictureSelection())


def hard_table(dataset: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in sorted((dataset / "hard").iterdir())])


def test_pictures_of_a_saved_dataset(dataset: Path, tmp_path: Path) -> None:
    import datasets

    files = sorted(map(str, (dataset / "hard").iterdir()))
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"), split="train")
    loaded.save_to_disk(tmp_path / "saved")  # type: ignore[union-attr]
    pictures = open_pictures(tmp_path / "saved", PictureSelection(views=BOTH))
    assert pictures.total == 12 and pictures.dataset.splits == ()
    expected = list(open_pictures(dataset, PictureSelection(views=BOTH, mode="hard")).stream())
    assert list(pictures.stream()) == expected  # the mode is that of the rows
    with pytest.raises(ConfigError, match="has nothing of mode 'hard'; it has no modes and no splits"):
        open_pictures(tmp_path / "saved", PictureSelection(mode="hard"))


@pytest.mark.parametrize(("answer", "lang"), [("a dog", "en"), ("一只狗", "zh")])
def test_pictures_of_files_that_name_no_language(dataset: Path, tmp_path: Path, answer: str, lang: str) -> None:
    table = hard_table(dataset).select(["question_id", "stacked_image", "crossed_text"])
    answers = pa.array([[answer]] * len(table))
    pq.write_table(table.set_column(2, "crossed_text", answers), tmp_path / "test-00000-of-00001.parquet")
    (first, *_) = open_pictures(tmp_path, PictureSelection(split="test", limit=1)).stream()
    assert (first.lang, first.mode, first.question_id) == (lang, None, table["question_id"][0].as_py())
    with pytest.raises(DatasetError, match="has no column `only_it_image` as it is needed"):
        open_pictures(tmp_path, PictureSelection(views=BOTH))


def test_pictures_in_a_store(dataset: Path, hidden: Callable[..., Path], store: Any) -> None:
    public = hidden()
    for folder, choice in ((dataset, PictureSelection(split="test")), (public, PictureSelection(views=BOTH))):
        bucket = store.bucket()
        for file in folder.rglob("*"):
            if file.is_file():
                store.put(bucket, f"x/{file.relative_to(folder).as_posix()}", file.read_bytes())
        here, there = (open_pictures(place, choice) for place in (folder, Path(f"s3://{bucket}/x")))
        assert list(there.stream()) == list(here.stream())
        assert (there.total, there.identity) == (here.total, here.identity)
