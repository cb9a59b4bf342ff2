"""The public part: constant except for random ids, and loadable."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vcrgen.hidden.public import PAIR_FORMAT, TIME_STAMP, content_digest
from vcrgen.text.languages import LANGUAGES


def text_of(ids: list[str]) -> str:
    return PAIR_FORMAT.questions_text([{"question_id": one} for one in ids], {"language": "zh", "canary": "c"})


Answers = Callable[[Path], list[dict[str, Any]]]


def test_datasets_loads_both_images(finished: Path, answers: Answers, tmp_path: Path) -> None:
    import datasets

    data = datasets.load_dataset(
        "imagefolder", data_dir=str(finished / "public"), split="train", cache_dir=str(tmp_path)
    )
    assert set(data.column_names) == {
        *("question_id", "question", "language", "canary", "stacked_image", "only_it_image"),
    }
    by_id = {answer["question_id"]: answer for answer in answers(finished)}
    assert data["question_id"] == list(by_id)
    canary = json.loads((finished / "public" / "manifest.json").read_bytes())["canary"]
    for row in data:
        assert row["question"] == LANGUAGES["en"].question and row["canary"] == canary
        assert row["stacked_image"].size == row["only_it_image"].size
        assert row["stacked_image"].width == by_id[row["question_id"]]["width"]
        file = finished / "public" / "stacked_image" / f"{row['question_id']}.png"
        assert (np.asarray(row["stacked_image"]) == np.asarray(Image.open(file))).all()


def test_every_file_and_folder_has_the_time_stamp(finished: Path, finished_forms: Path) -> None:
    for public in (finished / "public", finished_forms / "form-3" / "public"):
        times = {path.stat().st_mtime_ns for path in [public, *public.rglob("*")]}
        assert times == {TIME_STAMP * 10**9}


def test_nothing_but_the_items_differs_between_two_sets(finished: Path, finished_forms: Path) -> None:
    """With random digits and the number of items blanked, the texts of two sets are the same."""

    def blank(public: Path) -> set[str]:
        texts = [(public / name).read_text("utf-8") for name in ("README.md", "manifest.json", "metadata.jsonl")]
        hidden = (re.sub(r"[0-9a-f]{32,64}", "#", text) for text in texts)
        return {re.sub(r"\b[64] images|\"items\": [64]", "#", line) for text in hidden for line in text.splitlines()}

    assert blank(finished / "public") == blank(finished_forms / "form-2" / "public")


def test_the_digest_depends_on_every_byte_and_name(hidden_set: Path) -> None:
    public = hidden_set / "public"
    digests = [content_digest(public)]
    image = next((public / "stacked_image").iterdir())
    image.rename(image.with_name("0" * 32 + ".png"))
    digests.append(content_digest(public))
    image = next((public / "only_it_image").iterdir())
    image.write_bytes(image.read_bytes() + b"\0")
    digests.append(content_digest(public))
    (public / "metadata.jsonl").write_text("")
    digests.append(content_digest(public))
    assert len(set(digests)) == 4


def test_the_rows_are_in_the_order_of_the_ids() -> None:
    ids = ["b" * 32, "a" * 32, "c" * 32]
    rows = [json.loads(line) for line in text_of(ids).splitlines()]
    assert [row["question_id"] for row in rows] == sorted(ids)
    assert {row["question"] for row in rows} == {LANGUAGES["zh"].question}
    assert text_of(ids) == text_of(ids[::-1])
