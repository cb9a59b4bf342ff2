"""Pairs of an earlier hidden set are refused, whether its public part, its key or both are there."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vcrgen.errors import HiddenSetError, NoPairsError
from vcrgen.hidden import HiddenResult
from vcrgen.hidden.earlier import earlier_parts, picture_inside
from vcrgen.hidden.near import NEAR
from vcrgen.hidden.public import read_pixels
from vcrgen.hidden.reference import difference_hash

Make = Callable[..., HiddenResult]
Answers = Callable[[Path], list[dict[str, Any]]]
VIEWS = ("stacked_image", "only_it_image")


def views(folder: Path, question_id: str) -> list[np.ndarray]:
    return [read_pixels(folder / "public" / view / f"{question_id}.png") for view in VIEWS]


@pytest.mark.parametrize("name", ["finished", "finished_chinese"])
def test_the_picture_is_found_without_the_key(request: pytest.FixtureRequest, name: str, answers: Answers) -> None:
    folder = request.getfixturevalue(name)
    for answer in answers(folder):
        stacked, only_it = views(folder, answer["question_id"])
        high = answer["strip_height"]
        expected = stacked[high + 1 :] if answer["strip"] == "above" else stacked[: -high - 1]
        found = picture_inside(stacked, only_it)
        assert abs(len(found) - len(expected)) <= 1  # the white row beside the strip may count to either
        distance = difference_hash(Image.fromarray(found)) ^ np.frombuffer(bytes.fromhex(answer["picture"]), np.uint8)
        assert np.unpackbits(distance).sum() <= NEAR // 2


def test_views_of_two_questions_have_no_picture(finished: Path, answers: Answers) -> None:
    one, other = (answer["question_id"] for answer in answers(finished)[:2])
    stacked, only_it = views(finished, one)
    white = np.full_like(only_it, 255)
    for wrong in (views(finished, other)[1], white, only_it[::-1], only_it[:-2]):
        with pytest.raises(ValueError, match="view"):
            picture_inside(stacked, wrong)


@pytest.mark.parametrize("part", ["", "public", "key"])
def test_pairs_of_an_earlier_set_are_refused(
    make: Make, answers: Answers, finished: Path, other_secret_file: Path, tmp_path: Path, part: str
) -> None:
    earlier = {answer["source_id"] for answer in answers(finished)}
    report = make(tmp_path / "out", items=33, secret=other_secret_file, not_in=(str(finished / part),)).report
    assert not earlier & {answer["source_id"] for answer in answers(tmp_path / "out")}
    assert report["set_aside"]["in_reference"] >= len(earlier)
    with pytest.raises(NoPairsError, match=r"in_reference \d"):
        make(tmp_path / "none", items=35, secret=other_secret_file, not_in=(str(finished / part),))


def test_all_forms_count(finished_other_pairs: Path, finished: Path, tmp_path: Path) -> None:
    forms = [finished_other_pairs / f"form-{form}" for form in (1, 2, 3)]
    assert earlier_parts(str(finished_other_pairs)) == [one / part for one in forms for part in ("public", "key")]
    assert earlier_parts(str(finished / "key")) == [finished / "key"]
    assert earlier_parts(str(tmp_path)) == earlier_parts("samples:9") == earlier_parts(str(tmp_path / "none")) == []


def test_a_key_of_an_earlier_version_counts_by_its_captions(
    make: Make, answers: Answers, finished: Path, other_secret_file: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished / "key", tmp_path / "key")
    lines = [{k: v for k, v in answer.items() if k not in ("picture", "part")} for answer in answers(finished)]
    (tmp_path / "key/answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    make(tmp_path / "out", items=10, secret=other_secret_file, not_in=(str(tmp_path / "key"),))
    earlier = {answer["source_id"] for answer in answers(finished)}
    assert not earlier & {answer["source_id"] for answer in answers(tmp_path / "out")}


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
