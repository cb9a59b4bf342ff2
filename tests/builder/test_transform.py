import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import ExifTags, Image

from tests.making import two_coloured
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.builder.run import build
from vcrgen.builder.transform import RejectedPairError, VCRTransform
from vcrgen.core.errors import ConfigError
from vcrgen.core.records import Item, Mode, RejectReason
from vcrgen.data.tasks.vcr import VCR
from vcrgen.samples import sample_pair

CAPTION = "The old man was reading a long book there before the evening came."
IMAGE = two_coloured((64, 48), "red")


def test_adds_the_columns_of_a_dataset() -> None:
    row = VCRTransform(lang="en", mode="easy")({"image": IMAGE, "caption": CAPTION, "label": 7})
    assert row["label"] == 7 and row["mode"] == "easy"
    assert row["image"].size == (300, 225)
    assert row["stacked_image"].size == (300, 225 + 1 + row["only_it_image_small"].height)
    assert row["crossed_text"] and all(text in CAPTION for text in row["crossed_text"])


def write_photos(folder: Path, count: int) -> list[Path]:
    """JPEG files with comments, of which the built-in pictures have none."""
    files = []
    for number in range(count):
        picture = Image.open(io.BytesIO(sample_pair("en", number).image))
        files.append(folder / f"{number}.jpg")
        picture.save(files[-1], "JPEG", quality=85, comment=b"from a phone")
    return files


def test_is_the_pair_of_a_build(tmp_path: Path) -> None:
    """Of bytes, of paths, and as `datasets.map` hands them over undecoded; the encoded images have the same bytes."""
    import datasets

    files = write_photos(tmp_path, 4)
    captions = [sample_pair("en", number).caption for number in range(4)]
    columns = {"id": [str(n) for n in range(4)], "image": [str(file) for file in files], "caption": captions}
    source = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())
    images = pa.array([file.read_bytes() for file in files], pa.binary())
    pq.write_table(pa.table(columns | {"image": images}), tmp_path / "pairs.parquet")
    build(tmp_path / "pairs.parquet", out=tmp_path / "out", mode="hard", seed=3)
    transform = VCRTransform(mode="hard", seed=3)
    undecoded = source.cast_column("image", datasets.Image(decode=False))
    mapped = {row["id"]: row for row in undecoded.map(transform).cast_column("image", datasets.Image())}
    [part] = (tmp_path / "out" / "hard").glob("*.parquet")
    table = pq.read_table(part).to_pylist()
    for built in table:
        same_pair(mapped[built["source_id"]], built)
    number = int(built["source_id"])
    file, caption = files[number], captions[number]
    for image in (file.read_bytes(), file, str(file), {"path": str(file)}):
        same_pair(transform({"image": image, "caption": caption}), built)
    pair = next(Pipeline(transform.config).pairs([Item(source_id="", image=file.read_bytes(), caption=caption)]))
    assert isinstance(pair, Pair) and pair.images[Mode.HARD].stacked == built["stacked_image"]["bytes"]


def same_pair(row: dict[str, Any], built: dict[str, Any]) -> None:
    """A transformed example is a row of a dataset."""
    assert row["question_id"] == built["question_id"]
    assert [span | {"visible_ink": np.float32(span["visible_ink"])} for span in row["spans"]] == built["spans"]
    for name in VCR.images:
        assert row[name].tobytes() == Image.open(io.BytesIO(built[name]["bytes"])).tobytes()


def test_a_decoded_picture_is_known_by_its_pixels_and_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded_again = pytest.fail
    file = io.BytesIO(sample_pair("en", 1).image)
    picture = Image.open(file).convert("RGB")
    transform = VCRTransform(seed=1)
    other = transform({"image": file.getvalue(), "caption": CAPTION})
    monkeypatch.setattr(Image.Image, "save", lambda *_: encoded_again("a picture was encoded"))
    arrays = np.asarray(picture), np.asarray(picture.convert("RGBA"))
    rows = [transform({"image": image, "caption": CAPTION}) for image in (picture, Image.open(file), *arrays)]
    assert len({row["question_id"] for row in rows}) == 1 and rows[0]["question_id"] != other["question_id"]
    changed = np.array(arrays[0])
    changed[0, 0, 0] ^= 1
    assert transform({"image": changed, "caption": CAPTION})["question_id"] != rows[0]["question_id"]
    assert np.abs(np.asarray(rows[0]["image"]).astype(int) - np.asarray(other["image"])).mean() < 1
    shade = transform({"image": arrays[0][..., 0], "caption": CAPTION})
    assert shade["image"].size == rows[0]["image"].size


def test_the_photo_of_a_phone_is_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    file = tmp_path / "phone.jpg"
    two_coloured((400, 300), "red").save(file, exif=exif, quality=95)
    decoded, encoded = (VCRTransform()({"image": image, "caption": CAPTION}) for image in (Image.open(file), file))
    assert decoded["image"].size == (300, 400) and decoded["image"].tobytes() == encoded["image"].tobytes()
    assert decoded["image"].getpixel((280, 20)) == decoded["image"].getpixel((160, 190)) != (254, 0, 0)


def test_given_texts_are_covered() -> None:
    row = VCRTransform()({"image": IMAGE, "caption": CAPTION, "crossed_text": ["long book", "old man"]})
    assert row["crossed_text"] == ["old man", "long book"]


def test_no_break_spaces_are_drawn_and_read_as_plain_ones() -> None:
    text = (
        "Le marchand du village pose 10\u202fkilos de «\u00a0pommes rouges\u00a0» sur la\u00a0table devant les clients."
    )
    typed = text.replace("\u00a0", " ").replace("\u202f", " ")
    row, plain = (VCRTransform(lang="fr")({"image": IMAGE, "caption": caption}) for caption in (text, typed))
    for name in ("question_id", "caption", "crossed_text"):
        assert row[name] == plain[name]
    assert [span["tokens"] for span in row["spans"]] == [span["tokens"] for span in plain["spans"]]
    assert row["caption"] == typed
    assert row["only_it_image_small"].tobytes() != plain["only_it_image_small"].tobytes()
    (given,) = VCRTransform(lang="fr")({"image": IMAGE, "caption": text, "crossed_text": ["la\u00a0table"]})[
        "crossed_text"
    ]
    assert given == "la table"


def test_given_texts_may_be_of_a_short_caption() -> None:
    assert VCRTransform()({"image": IMAGE, "caption": "Old man", "crossed_text": ["man"]})["crossed_text"] == ["man"]


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        ({"image": IMAGE, "caption": ""}, RejectReason.NO_CAPTION),
        ({"image": None, "caption": CAPTION}, RejectReason.NO_IMAGE),
        ({"image": b"rubbish", "caption": CAPTION}, RejectReason.UNDECODABLE),
        ({"image": IMAGE, "caption": CAPTION, "crossed_text": ["not there"]}, RejectReason.ANSWER_NOT_SHOWN),
        ({"image": IMAGE, "caption": CAPTION, "crossed_text": "old"}, RejectReason.ANSWER_NOT_SHOWN),
        ({"image": IMAGE, "caption": CAPTION, "crossed_text": [7]}, RejectReason.ANSWER_NOT_SHOWN),
        ({"image": Image.new("RGBA", (64, 48), (255, 255, 255, 0)), "caption": CAPTION}, RejectReason.BLANK),
        ({"image": IMAGE, "caption": None}, RejectReason.NO_CAPTION),
        ({"image": IMAGE, "caption": float("nan")}, RejectReason.NO_CAPTION),
        ({"image": IMAGE, "caption": 12}, RejectReason.NO_CAPTION),
        ({"image": IMAGE, "caption": CAPTION.encode()}, RejectReason.NO_CAPTION),
        ({"image": IMAGE, "caption": [CAPTION, CAPTION]}, RejectReason.NO_CAPTION),
        ({"image": [IMAGE], "caption": CAPTION}, RejectReason.UNDECODABLE),
        ({"image": 7, "caption": CAPTION}, RejectReason.UNDECODABLE),
        ({"image": np.zeros((20, 30)), "caption": CAPTION}, RejectReason.UNDECODABLE),
        ({"image": np.zeros((20, 30, 5), np.uint8), "caption": CAPTION}, RejectReason.UNDECODABLE),
        ({"image": np.zeros((4, 30, 3), np.uint8), "caption": CAPTION}, RejectReason.TINY),
        ({"image": "no/such/file.png", "caption": CAPTION}, RejectReason.NO_IMAGE),
        ({"image": {"path": "/dev/zero"}, "caption": CAPTION}, RejectReason.NO_IMAGE),
        ({"image": "a\0b", "caption": CAPTION}, RejectReason.NO_IMAGE),
        ({"image": {"bytes": None, "path": None}, "caption": CAPTION}, RejectReason.NO_IMAGE),
    ],
)
def test_unusable_examples_say_why(example: dict[str, object], reason: RejectReason) -> None:
    with pytest.raises(RejectedPairError) as error:
        VCRTransform()(example)
    assert error.value.reject.reason is reason and "\n" not in str(error.value)
    row = VCRTransform(on_reject="none")({**example, "label": 7})
    assert row["label"] == 7 and row["question_id"] is None and row["stacked_image"] is None and row["caption"] is None


def test_an_example_without_the_columns_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="has no `caption`, only image, text; rename its column"):
        VCRTransform(on_reject="none")({"image": IMAGE, "text": CAPTION})


@pytest.fixture
def data() -> Any:
    """Three pairs, the second without a usable caption."""
    import datasets

    columns = {
        "image": [IMAGE, IMAGE, IMAGE.rotate(90)],
        "caption": [CAPTION, "Two words", CAPTION],
        "label": [1, 2, 3],
    }
    return datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())


def test_works_in_map(data: Any) -> None:
    mapped = data.select([0, 2]).map(VCRTransform(mode="hard"), num_proc=2)
    assert mapped[0]["mode"] == "hard" and mapped[1]["stacked_image"].width == 300 and mapped["label"] == [1, 3]


@pytest.mark.parametrize("batched", [False, True])
def test_a_rejected_row_does_not_end_a_map(data: Any, batched: bool) -> None:
    mapped = data.map(VCRTransform(mode="hard", on_reject="none"), batched=batched)
    assert len(mapped) == 3 and mapped[1]["question_id"] is None and mapped[1]["stacked_image"] is None
    usable = mapped.filter(lambda row: row["question_id"] is not None)
    assert usable["label"] == [1, 3] and usable[1]["stacked_image"].width == 300
    with pytest.raises(RejectedPairError, match="fewer than 5 words"):
        data.map(VCRTransform(mode="hard"), batched=batched)


def test_works_in_set_transform(data: Any) -> None:
    data.set_transform(VCRTransform(mode="hard", on_reject="none"))
    assert data[0]["stacked_image"].width == 300 and data[0]["label"] == 1 and data[1]["question_id"] is None
    assert [row and row["start"] for row in (data[:]["spans"][0] or [])] and data[[1, 2]]["mode"] == [None, "hard"]
    assert data[0]["question_id"] == VCRTransform(mode="hard")({"image": IMAGE, "caption": CAPTION})["question_id"]


def test_a_batch_is_its_examples() -> None:
    transform = VCRTransform(cover="bars", mode="hard", distractors=1)
    pictures = [Image.open(io.BytesIO(sample_pair("en", number).image)) for number in range(3)]
    captions = [sample_pair("en", number).caption for number in range(3)]
    batch = transform({"image": pictures, "caption": captions})
    for number, example in enumerate(zip(pictures, captions, strict=True)):
        row = transform(dict(zip(("image", "caption"), example, strict=True)))
        assert batch.keys() == row.keys()
        assert all(batch[name][number] == row[name] for name in row)


def test_is_shown_on_one_line(tmp_path: Path) -> None:
    assert repr(VCRTransform(seed=3)) == "VCRTransform(lang='en', mode='easy', seed=3, on_reject='raise')"
    result = build("samples:3", out=tmp_path / "out", mode="hard")
    assert repr(result) == f"<BuildResult {tmp_path / 'out'}: {result.manifest.pairs} of 3 pairs, modes hard>"


def test_can_be_pickled_after_use() -> None:
    transform = VCRTransform(seed=5)
    first = transform({"image": IMAGE, "caption": CAPTION})
    again = pickle.loads(pickle.dumps(transform))({"image": IMAGE, "caption": CAPTION})
    assert first["spans"] == again["spans"]
