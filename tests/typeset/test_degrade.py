"""Images made worse after they are finished."""

import math

import numpy as np
import pytest

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.transform import VCRTransform
from vcrgen.core.errors import ConfigError
from vcrgen.samples import sample_pair
from vcrgen.typeset.degradation_kinds import DEGRADATIONS
from vcrgen.typeset.degrade import degrade, warp_mask

PAIR = sample_pair("en", 3)
EXAMPLE = {"image": PAIR.image, "caption": PAIR.caption}


@pytest.mark.parametrize("name", [name for name, row in DEGRADATIONS.items() if not row.warp])
def test_more_of_it_changes_more_and_nothing_moves(name: str) -> None:
    row = DEGRADATIONS[name]
    plain = np.asarray(VCRTransform()(EXAMPLE)["stacked_image"]).astype(int)
    changes = []
    less, more = (row.least + row.example) / 2, row.example + (row.most - row.example) / 6
    if row.whole:
        less, more = math.floor(less), math.ceil(more)
    for amount in (less, row.example, more):
        worse = degrade(plain.astype(np.uint8), [(name, amount)], seed=1).astype(int)
        assert worse.shape == plain.shape
        changes.append(np.abs(worse - plain).mean())
        dark, dark_before = (255 - image[-60:].mean(axis=2) for image in (worse, plain))
        shifts = [(dark * np.roll(dark_before, shift, axis=1)).sum() for shift in range(-3, 4)]
        assert np.argmax(shifts) == 3, "the text stands where it stood"
    assert min(changes) > 0 and changes[0] != changes[1] != changes[2]
    assert sorted(changes) in (changes, changes[::-1])  # an amount may be of what is kept, as the quality of JPEG


@pytest.mark.parametrize("name", DEGRADATIONS)
@pytest.mark.parametrize("end", ["least", "most"])
def test_the_ends_of_every_range_work(name: str, end: str) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (3, 2, 3), dtype=np.uint8)
    assert degrade(picture, [(name, getattr(DEGRADATIONS[name], end))], seed=0).shape == (3, 2, 3)


def test_only_images_with_a_strip_are_degraded_and_by_the_seed_of_the_pair() -> None:
    plain, worse, again, other = (
        VCRTransform(**options)(EXAMPLE)
        for options in ({}, {"degrade": "camera=0.5"}, {"degrade": "camera=0.5"}, {"degrade": "camera=0.5", "seed": 1})
    )
    assert worse["image"].tobytes() == plain["image"].tobytes() and worse["spans"] == plain["spans"]
    for column in ("stacked_image", "only_it_image", "only_it_image_small"):
        assert worse[column].tobytes() == again[column].tobytes() != plain[column].tobytes()
        assert worse[column].tobytes() != other[column].tobytes() and worse[column].size == plain[column].size


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is not NAME=AMOUNT with one of jpeg, blur, "),
        ("fog=1", "'fog=1' is not NAME=AMOUNT"),
        ("jpeg", "jpeg= is not a whole number from 1 to 95"),
        ("jpeg=40.5", "jpeg=40.5 is not a whole number"),
        ("jpeg=0", "jpeg=0 is not"),
        ("blur=nan", "blur=nan is not a number from 0.1 to 10"),
        ("blur=1e9", "blur=1e9 is not"),
        ("lowres=1", "lowres=1 is not"),
        ("jpeg=40,jpeg=50", "'jpeg' is named twice"),
        ("camera=x" + "y" * 99, "camera=x"),
    ],
)
def test_a_wrong_degradation_is_a_sentence(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=r"^degrade: ") as error:
        BuildConfig(degrade=text)
    assert problem in str(error.value) and len(str(error.value)) < 160


@pytest.mark.parametrize("warp", ["skew=3", "perspective=0.2"])
def test_a_warped_image_shows_all_of_the_page_and_its_mask_lies_where_the_covers_do(warp: str) -> None:
    """No box holds in it, so there is none; the mask is warped with the image, also where covers are rows."""
    plain = VCRTransform(cover="bars", mode="hard")(EXAMPLE)
    for options in ({"cover": "bars", "distractors": 1}, {"cover": "rows"}):
        row = VCRTransform(**options, mode="hard", degrade=warp)(EXAMPLE)
        assert row["stacked_image"].size == plain["stacked_image"].size == row["cover_mask"].size
        assert [span["boxes"] for span in row["spans"]] == [[] for _ in plain["spans"]] and "distractors" not in row
        assert [span["text"] for span in row["spans"]] == row["crossed_text"]
    row = VCRTransform(cover="bars", mode="hard", degrade=warp)(EXAMPLE)
    image, mask = (np.asarray(row[name].convert("L")) for name in ("stacked_image", "cover_mask"))
    there = np.asarray(plain["cover_mask"].convert("L")) > 0
    bars = np.asarray(plain["stacked_image"].convert("L"))[there]
    assert 0.5 < (mask > 0).sum() / there.sum() < 1.5 and abs(np.median(image[mask > 0]) - np.median(bars)) < 3


@pytest.mark.parametrize(("name", "amount", "seeds"), [("skew", 5, 2), ("perspective", 0.3, 4)])
def test_a_warped_page_has_all_its_corners_in_the_image(name: str, amount: float, seeds: int) -> None:
    page, seen = np.zeros((200, 300, 3), np.uint8), set()
    for seed in range(seeds):
        warped = degrade(page, [(name, amount)], seed)
        dark = 255 - warped[..., 0].astype(int)
        edges = sum(line[1:-1].min() > 250 for line in (dark[0], dark[-1], dark[:, 0], dark[:, -1]))
        assert 0.6 < dark.sum() / 255 / dark.size < 0.9 and edges < 2
        mask = warp_mask(np.ones(page.shape[:2], bool), [(name, amount)], seed)
        assert mask[2:-2, 2:-2][dark[2:-2, 2:-2] > 250].mean() > 0.99 and not mask[dark == 0].any()
        seen.add(warped.tobytes())
    assert len(seen) == seeds, "each seed shows the page from another side"


@pytest.mark.parametrize("seed", range(4))
def test_the_far_edge_of_a_page_is_shorter_by_the_share(seed: int) -> None:
    page = degrade(np.zeros((200, 300, 3), np.uint8), [("perspective", 0.4)], seed)[..., 0] < 128
    top, *_, bottom = np.rot90(page, seed).sum(axis=1)
    assert bottom == np.rot90(page, seed).shape[1] and abs(top / bottom - 0.6) < 0.02
