"""Pairs of an earlier hidden set are refused, whether its public part, its key or both are there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.hidden.conftest import samples_of, write_pairs
from vcrgen.builder.images import difference_hash
from vcrgen.core.errors import HiddenSetError, NoPairsError
from vcrgen.hidden import HiddenResult
from vcrgen.hidden.earlier import find_earlier_sets, picture_inside
from vcrgen.hidden.near import MAX_DISTANCE
from vcrgen.hidden.public import read_pixels

Make = Callable[..., HiddenResult]
Answers = Callable[[Path], list[dict[str, Any]]]
VIEWS = ("stacked_image", "only_it_image")


def views(folder: Path, question_id: str) -> list[np.ndarray]:
    return [read_pixels(folder / "public" / view / f"{question_id}.png") for view in VIEWS]


def test_the_picture_is_found_without_the_key(small: Path, answers: Answers) -> None:
    for answer in answers(small):
        stacked, only_it = views(small, answer["question_id"])
        high = answer["strip_height"]
        expected = stacked[high + 1 :] if answer["strip"] == "above" else stacked[: -high - 1]
        found = picture_inside(stacked, only_it)
        assert abs(len(found) - len(expected)) <= 1  # the white row beside the strip may count to either
        distance = difference_hash(Image.fromarray(found)) ^ np.frombuffer(bytes.fromhex(answer["picture"]), np.uint8)
        assert np.unpackbits(distance).sum() <= MAX_DISTANCE // 2


def test_views_of_two_questions_have_no_picture(finished: Path, answers: Answers) -> None:
    one, other = (answer["question_id"] for answer in answers(finished)[:2])
    stacked, only_it = views(finished, one)
    white = np.full_like(only_it, 255)
    for wrong in (views(finished, other)[1], white, only_it[::-1], only_it[:-2]):
        with pytest.raises(ValueError, match="view"):
            picture_inside(stacked, wrong)


@pytest.mark.parametrize("part", ["", "public", "key"])
def test_pairs_of_an_earlier_set_are_refused(
    make: Make, answers: Answers, small: Path, other_secret_file: Path, tmp_path: Path, part: str
) -> None:
    numbers = sorted(int(answer["source_id"].removeprefix("en-")) for answer in answers(small))
    rows = samples_of((*numbers, 50, 51))
    source = write_pairs(tmp_path / "pairs.parquet", rows)
    options = {"source": source, "secret": other_secret_file, "not_in": (str(small / part),), "fonts": ("open-sans",)}
    report = make(tmp_path / "out", items=2, **options).report
    assert {answer["caption"] for answer in answers(tmp_path / "out")} == {caption for _, caption in rows[-2:]}
    with pytest.raises(NoPairsError, match=r"2 usable pairs, and 3 .*in_reference 3"):
        make(tmp_path / "none", items=3, **options)
    assert set(report["set_aside"]) <= {"in_reference"}


def test_all_forms_count(finished_other_pairs: Path, finished: Path, tmp_path: Path) -> None:
    forms = [finished_other_pairs / f"form-{form}" for form in (1, 2, 3)]
    assert find_earlier_sets(str(finished_other_pairs)) == [one / part for one in forms for part in ("public", "key")]
    assert find_earlier_sets(str(finished / "key")) == [finished / "key"]
    assert (
        find_earlier_sets(str(tmp_path))
        == find_earlier_sets("samples:9")
        == find_earlier_sets(str(tmp_path / "none"))
        == []
    )


def no_view(folder: Path) -> None:
    next((folder / "public" / "only_it_image").iterdir()).unlink()


def cut_image(folder: Path) -> None:
    file = next((folder / "public" / "stacked_image").iterdir())
    file.write_bytes(file.read_bytes()[:1000])


def caption_for_lines(folder: Path) -> None:
    (folder / "key" / "answers.jsonl").write_text('"A secret caption"\n')


def caption_for_hash(folder: Path) -> None:
    (folder / "key" / "answers.jsonl").write_text(json.dumps({"caption": "A secret caption", "picture": "A secret"}))


@pytest.mark.parametrize("damage", [no_view, cut_image, caption_for_lines, caption_for_hash])
def test_a_damaged_set_is_one_sentence_without_a_caption(
    make: Make, hidden_set: Path, other_secret_file: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(hidden_set)
    with pytest.raises(HiddenSetError, match=r"^[^\n]*(cannot be compared with|not an item of a key)") as caught:
        make(tmp_path / "out", secret=other_secret_file, not_in=(str(hidden_set),))
    assert "secret caption" not in str(caught.value)
    assert [path.name for path in (tmp_path / "out").glob("*")] in ([], [".vcrgen-hidden"])
