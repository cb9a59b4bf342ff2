import pickle
from pathlib import Path

import pytest
from PIL import Image

from vcrgen.builder.transform import RejectedPairError, VCRTransform
from vcrgen.core.records import RejectReason
from vcrgen.samples import sample_pair

CAPTION = "The old man was reading a long book there before the evening came."
IMAGE = Image.new("RGB", (64, 48), "red")


def test_adds_the_columns_of_a_dataset() -> None:
    row = VCRTransform(lang="en", mode="easy")({"image": IMAGE, "caption": CAPTION, "label": 7})
    assert row["label"] == 7 and row["mode"] == "easy"
    assert row["image"].size == (300, 225)
    assert row["stacked_image"].size == (300, 225 + 1 + row["only_it_image_small"].height)
    assert row["crossed_text"] and all(text in CAPTION for text in row["crossed_text"])


def test_is_the_same_as_a_build(tmp_path: Path) -> None:
    import datasets

    from vcrgen.builder.run import build

    build("samples:6", out=tmp_path / "out", mode="hard", seed=3)
    transform = VCRTransform(mode="hard", seed=3)
    pairs = {pair.id: pair for pair in (sample_pair("en", index) for index in range(6))}
    for built in datasets.load_dataset(str(tmp_path / "out"))["train"]:
        pair = pairs[built["source_id"]]
        row = transform({"image": pair.image, "caption": pair.caption})
        assert row["question_id"] == built["question_id"] and row["crossed_text"] == built["crossed_text"]
        assert [span["boxes"] for span in row["spans"]] == [span["boxes"] for span in built["spans"]]
        assert row["stacked_image"].tobytes() == built["stacked_image"].tobytes()


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
    ],
)
def test_unusable_examples_say_why(example: dict[str, object], reason: RejectReason) -> None:
    with pytest.raises(RejectedPairError) as error:
        VCRTransform()(example)
    assert error.value.reject.reason is reason


def test_works_in_datasets_map_and_set_transform() -> None:
    import datasets

    data = datasets.Dataset.from_dict({"image": [IMAGE, IMAGE.rotate(90)], "caption": [CAPTION, CAPTION]})
    data = data.cast_column("image", datasets.Image())
    mapped = data.map(VCRTransform(mode="hard"), num_proc=2)
    assert mapped[0]["mode"] == "hard" and mapped[1]["stacked_image"].width == 300


def test_can_be_pickled_after_use() -> None:
    transform = VCRTransform(seed=5)
    first = transform({"image": IMAGE, "caption": CAPTION})
    again = pickle.loads(pickle.dumps(transform))({"image": IMAGE, "caption": CAPTION})
    assert first["spans"] == again["spans"]
