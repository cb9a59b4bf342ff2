"""Pairs of a known dataset are found by picture and by caption, whatever happened to them on the way."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from tests.hidden.conftest import samples_of, table_of, write_pairs
from vcrgen.builder.images import difference_hash
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.run import build
from vcrgen.builder.sources import open_source
from vcrgen.core.errors import NoPairsError, SourceError
from vcrgen.hidden import HiddenResult
from vcrgen.hidden.near import MAX_DISTANCE, has_near_duplicate
from vcrgen.hidden.reference import CAPTION_START, Reference, caption_start
from vcrgen.samples import sample_pair

Change = Callable[[Image.Image], Image.Image]
Make = Callable[..., HiddenResult]
Answers = Callable[[Path], list[dict[str, Any]]]
Pairs = list[tuple[bytes, str]]
COUNT = 12
LONG = "A grey heron stands on one leg in the shallow water, and waits for fish to come near."


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def picture(index: int) -> Image.Image:
    return Image.open(io.BytesIO(sample_pair("en", index).image)).convert("RGB")


def match(reference: Reference, image: bytes, caption: str) -> str | None:
    return reference.match(reference.hash(image), caption)


def distance(one: Image.Image, two: Image.Image) -> int:
    return int(np.unpackbits(difference_hash(one) ^ difference_hash(two)).sum())


def quarter(image: Image.Image) -> Image.Image:
    return image.resize((image.width // 4, image.height // 4))


@pytest.mark.parametrize(
    ("change", "known"),
    [
        (lambda image: image, True),
        (quarter, True),
        (lambda image: image.resize((3 * image.width, 3 * image.height)), True),
        (lambda image: image.resize((image.width, image.height * 9 // 10)), True),
        (lambda image: Image.open(io.BytesIO(encoded(image, "JPEG", quality=30))), True),
        (lambda image: Image.open(io.BytesIO(encoded(quarter(image), "JPEG", quality=50))), True),
        (lambda image: image.convert("L"), True),
        (lambda image: ImageEnhance.Brightness(image).enhance(0.8), True),
        (lambda image: ImageEnhance.Contrast(image).enhance(0.7), True),
        (lambda image: image.filter(ImageFilter.GaussianBlur(1)), True),
        (ImageOps.mirror, False),
        (ImageOps.flip, False),
        (ImageOps.invert, False),
        (lambda image: image.rotate(90, expand=True), False),
    ],
    ids=[
        *("same", "smaller", "larger", "squeezed", "jpeg", "small-jpeg", "gray", "darker", "paler", "blurred"),
        *("mirrored", "flipped", "inverted", "turned"),
    ],
)
def test_what_the_hash_of_a_picture_survives(change: Change, known: bool) -> None:
    for index in range(2):
        image = picture(index)
        assert (distance(image, change(image)) <= MAX_DISTANCE) == known, index


def test_other_pictures_are_far() -> None:
    images = [picture(index) for index in range(12)]
    near = [distance(a, b) <= MAX_DISTANCE for i, a in enumerate(images) for b in images[:i]]
    assert sum(near) == 0


@given(st.text(max_size=60))
@settings(max_examples=30)
def test_the_start_of_a_caption_is_letters_and_digits(text: str) -> None:
    start = caption_start(text)
    assert len(start) <= CAPTION_START and (not start or start.isalnum())
    assert caption_start(f" «{text}\t…»\n") == start
    assert caption_start(start) == start


@pytest.mark.parametrize(
    "text",
    [
        LONG.upper(),
        LONG.replace(" ", "\n"),
        LONG.replace(",", " –").rstrip("."),
        f"“{LONG}”",
        LONG[:60],
        LONG.replace("e", "e\u200b"),
        LONG.replace("near.", "nearer to it."),
    ],
)
def test_a_caption_is_known_again(text: str) -> None:
    reference = Reference(10**6)
    reference.add(None, LONG)
    assert match(reference, b"no picture", text) == "caption"


@pytest.mark.parametrize("text", ["", "…", LONG[2:], LONG.replace("grey", "white"), "鹭鸶站在水里", LONG[:20]])
def test_another_caption_is_not(text: str) -> None:
    reference = Reference(10**6)
    for caption in (LONG, None, "", "?!"):
        reference.add(None, caption)
    assert match(reference, encoded(picture(0)), text) is None
    assert len(reference) == 1


def test_a_picture_is_known_by_itself() -> None:
    reference = Reference(10**6)
    reference.add(encoded(quarter(picture(0)), "JPEG"), "Something else")
    assert match(reference, encoded(picture(0)), LONG) == "picture"
    assert match(reference, encoded(picture(1)), LONG) is None
    reference.add(encoded(picture(1), "WEBP"), None)  # after the first look
    assert match(reference, encoded(picture(1)), LONG) == "picture"


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x89PNG\r\n\x1a\n", encoded(picture(0))[:300]])
def test_a_picture_that_cannot_be_decoded_counts_by_its_caption(data: bytes) -> None:
    reference = Reference(10**6)
    reference.add(data, LONG)
    assert match(reference, data, "Something else") is None
    assert match(reference, data, LONG) == "caption"


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    reference = Reference(max_pixels=50 * 50)
    reference.add(encoded(picture(0)), None)
    assert match(reference, encoded(picture(0)), LONG) is None


def test_a_reference_that_grows_finds_what_comparing_with_each_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that came in after the index was made are found, too, and most are not compared one by one."""
    monkeypatch.setattr("vcrgen.hidden.reference.MAX_UNINDEXED", 50)
    compared: list[int] = []
    monkeypatch.setattr(
        "vcrgen.hidden.reference.has_near_duplicate",
        lambda strings, string: compared.append(len(strings)) or has_near_duplicate(strings, string),
    )
    rng = np.random.default_rng(0)
    reference, known = Reference(10**6), []
    for number in range(400):
        string = rng.integers(0, 256, 32, dtype=np.uint8)
        if known and number % 3 == 0:  # a copy in which a few bits differ
            string = known[rng.integers(len(known))] ^ np.packbits(rng.random(256) < 0.1)
        near = any(np.unpackbits(other ^ string).sum() <= MAX_DISTANCE for other in known)
        assert reference.match(string, "") == ("picture" if near else None)
        reference.add_hash(string, None)
        known.append(string)
    assert max(compared) < 50


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return samples_of(range(COUNT))


@pytest.fixture(scope="module")
def source(pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("source") / "pairs.parquet", pairs)


def small_jpeg(image: bytes) -> bytes:
    opened = Image.open(io.BytesIO(image)).convert("RGB")
    return encoded(opened.resize((opened.width // 2, opened.height // 2)), "JPEG", quality=60)


def loud(caption: str) -> str:
    return "¡" + caption.upper().replace(" ", "  ").replace(",", ";").replace(".", " !") + "!"


def test_every_pair_of_a_built_dataset_is_refused(
    make: Callable[..., HiddenResult], source: Path, pairs: Pairs, tmp_path: Path
) -> None:
    """Built from copies of the pictures in another format and size, with captions cut after five short lines."""
    changed = [(small_jpeg(image), caption) for image, caption in pairs]
    build(write_pairs(tmp_path / "changed.parquet", changed), out=tmp_path / "known", width=200)
    with pytest.raises(NoPairsError, match=rf"has 0 usable pairs, and 3 .*in_reference {COUNT}\)") as caught:
        make(tmp_path / "out", source=source, items=3, not_in=(str(tmp_path / "known"),))
    assert not any(caption[:12] in str(caught.value) for _, caption in pairs)
    assert not (tmp_path / "out").exists()


def test_all_captions_of_a_picture_are_known(pairs: Pairs, tmp_path: Path) -> None:
    """Whichever a build would take; the picture itself is known once."""
    captions = [[f"Number {i}: words that stand nowhere", caption] for i, (_, caption) in enumerate(pairs)]
    table = pa.table({"image": pa.array([image for image, _ in pairs], pa.binary()), "caption": captions})
    pq.write_table(table, tmp_path / "several.parquet")
    config = BuildConfig(source=str(tmp_path / "several.parquet"))
    reference = Reference(10**8)
    assert reference.add_source(open_source(config), config) == COUNT and len(reference) == 2 * COUNT
    assert {reference.match(None, loud(caption)) for _, caption in pairs} == {"caption"}


@pytest.mark.parametrize("by", ["picture", "caption"])
def test_pairs_are_refused_by_either(
    make: Callable[..., HiddenResult],
    answers: Callable[[Path], list[dict[str, Any]]],
    source: Path,
    pairs: Pairs,
    tmp_path: Path,
    by: str,
) -> None:
    known = pairs[:7]
    if by == "picture":
        reference = [(small_jpeg(image), f"Number {i}: words that stand nowhere") for i, (image, _) in enumerate(known)]
    else:
        reference = [(sample_pair("en", 100 + i).image, loud(caption)) for i, (_, caption) in enumerate(known)]
    file = write_pairs(tmp_path / "known.parquet", reference)
    result = make(tmp_path / "out", source=source, items=COUNT - 8, not_in=(str(file),))
    taken = {answer["caption"][:20] for answer in answers(tmp_path / "out")}
    assert len(taken) == COUNT - 8 and taken <= {caption[:20] for _, caption in pairs[7:]}
    assert result.report["set_aside"].get("in_reference", 0) > 0
    assert set(result.report["set_aside"]) <= {"in_reference", "no_maskable_ngram"}


@pytest.mark.parametrize("content", [None, b"PAR1 not really", "columns"])
def test_a_reference_that_cannot_be_read_leaves_nothing_behind(
    make: Callable[..., HiddenResult], source: Path, tmp_path: Path, content: bytes | str | None
) -> None:
    file = tmp_path / "known.parquet"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content:
        pq.write_table(pa.table({"a": [1], "b": [2]}), file)
    with pytest.raises(SourceError, match=r"known\.parquet"):
        make(tmp_path / "out", source=source, items=2, not_in=(str(file),))
    assert not (tmp_path / "out").exists()
    assert make(tmp_path / "out", source=source, items=2).report["items"] == 2  # mended, it goes on


def test_a_reference_with_other_columns_makes_no_secret(
    make: Callable[..., HiddenResult], source: Path, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"jpg": [b""], "txt": [""]}), tmp_path / "known.parquet")
    with pytest.raises(
        SourceError, match=r"known\.parquet cannot be compared with: the columns of --not-in have to be"
    ):
        make(
            tmp_path / "out",
            source=source,
            items=2,
            secret=tmp_path / "s.key",
            not_in=(str(tmp_path / "known.parquet"),),
        )
    assert not (tmp_path / "s.key").exists()


def test_a_reference_that_is_damaged_within_leaves_nothing_behind(
    make: Callable[..., HiddenResult], source: Path, pairs: Pairs, tmp_path: Path
) -> None:
    file = write_pairs(tmp_path / "known.parquet", pairs)
    data = bytearray(file.read_bytes())
    data[4:40] = bytes(36)  # the start of the first column, far from the schema at the end
    file.write_bytes(data)
    with pytest.raises(SourceError, match=r"known\.parquet"):
        make(tmp_path / "out", source=source, items=2, not_in=(str(file),))
    assert not (tmp_path / "out").exists()


# A reference of several splits

SPLITS = {"train": range(3), "validation": range(3, 6), "test": range(6, 9)}
MODES = {"easy": ("train", "validation"), "hard": ("train", "test")}


def as_saved_dictionary(folder: Path) -> None:
    from datasets import Dataset, DatasetDict

    DatasetDict({name: Dataset(table_of(samples_of(rows))) for name, rows in SPLITS.items()}).save_to_disk(folder)


def as_saved_modes(folder: Path) -> None:
    from datasets import Dataset, DatasetDict

    for mode, names in MODES.items():
        splits = {name: Dataset(table_of(samples_of(SPLITS[name]))) for name in names}
        DatasetDict(splits).save_to_disk(folder / mode)


def as_repository(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    for name, rows in SPLITS.items():
        write_pairs(folder / f"data/{name}-00000-of-00001.parquet", samples_of(rows))


def as_modes(folder: Path) -> None:
    for mode, names in MODES.items():
        (folder / mode).mkdir(parents=True)
        for name in names:
            write_pairs(folder / f"{mode}/{name}-00000-of-00001.parquet", samples_of(SPLITS[name]))


def as_image_folders(folder: Path) -> None:
    for name, rows in SPLITS.items():
        (folder / name).mkdir(parents=True)
        pairs = [sample_pair("en", number) for number in rows]
        for pair in pairs:
            (folder / name / f"{pair.id}.png").write_bytes(pair.image)
        lines = [json.dumps({"file_name": f"{pair.id}.png", "caption": pair.caption}) for pair in pairs]
        (folder / name / "metadata.jsonl").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("write", "splits"),
    [
        (as_saved_dictionary, "train validation test"),
        (as_saved_modes, "easy/train easy/validation hard/train hard/test"),
        (as_repository, "data/train data/validation data/test"),
        (as_modes, "easy/train easy/validation hard/train hard/test"),
        (as_image_folders, "train validation test"),
    ],
)
def test_every_split_and_mode_of_a_reference_is_read(
    make: Make, answers: Answers, tmp_path: Path, write: Callable[[Path], None], splits: str
) -> None:
    """Only `train` of a folder was read: sets came from its other splits, and passed every check."""
    write(tmp_path / "known")
    write_pairs(tmp_path / "pairs.parquet", samples_of(range(11)))
    options = {"source": tmp_path / "pairs.parquet", "not_in": (str(tmp_path / "known"),), "fonts": ("open-sans",)}
    report = make(tmp_path / "out", items=2, **options).report
    fresh = {sample_pair("en", number).caption for number in (9, 10)}
    assert {answer["caption"] for answer in answers(tmp_path / "out")} == fresh
    assert {each["split"]: each["pairs"] for each in report["compared"]} == dict.fromkeys(splits.split(), 3)
    assert {each["source"] for each in report["compared"]} == {str(tmp_path / "known")}
    with pytest.raises(NoPairsError, match="in_reference 9"):
        make(tmp_path / "more", items=3, **options)
