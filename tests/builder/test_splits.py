import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.making import encoded
from tests.pages import Run
from vcrgen.builder import splits
from vcrgen.builder.images import difference_hash, load_image
from vcrgen.builder.options import parse_splits
from vcrgen.builder.records import KEY_DTYPE
from vcrgen.builder.run import build
from vcrgen.builder.splits import MAX_GROUP, Assignment, KeyColumns, _components, _Edges, _fitting
from vcrgen.core.errors import ConfigError
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR

HASHES = np.random.default_rng(0).integers(256, size=(500, 32), dtype=np.uint8)


def keys_of(pairs: list[tuple[int, int]], hashes: np.ndarray | None = None) -> np.ndarray:
    """Keys of pairs of picture and caption number, with the difference hash of each pair; by default no picture is like
    another one. Some hashes differ in their last bytes only.
    """
    hashes = HASHES[[picture for picture, _ in pairs]] if hashes is None else hashes
    return np.array(
        [
            ((picture, caption), (caption >> 1, caption & 1), (picture >> 1, picture & 1), bits)
            for (picture, caption), bits in zip(pairs, hashes, strict=True)
        ],
        KEY_DTYPE,
    )


def keys_of_pictures(hashes: np.ndarray, captions: list[int] | None = None) -> np.ndarray:
    """Keys of pairs whose pictures have these difference hashes, each with a caption of its own."""
    return keys_of(list(enumerate(captions or range(len(hashes)))), hashes)


def assign(keys: np.ndarray, sizes: dict[str, Any], **options: Any) -> Assignment:
    """Assign rows by their keys in columns."""
    columns = KeyColumns(len(keys))
    columns.put(0, keys)
    return splits.assign(columns, sizes, **options)


def flipped(bits: np.ndarray, places: list[int]) -> np.ndarray:
    """A hash with other bits at some places."""
    changed = np.unpackbits(bits)
    changed[places] ^= 1
    return np.packbits(changed)


PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=120)


@given(PAIRS, st.integers(0, 3))
def test_every_pair_is_in_one_place_and_nothing_is_shared(pairs: list[tuple[int, int]], seed: int) -> None:
    result = assign(keys_of(pairs), parse_splits("train=...,validation=0.2,test=0.1"), seed=seed)
    placed = sorted([n for rows in result.splits.values() for n in rows.tolist()] + result.duplicates.tolist())
    assert placed == list(range(len(pairs)))
    seen: dict[tuple[str, int], str] = {}
    for split, rows in result.splits.items():
        assert rows.tolist() == sorted(rows.tolist())
        for image, caption in (pairs[n] for n in rows):
            assert seen.setdefault(("image", image), split) == split
            assert seen.setdefault(("caption", caption), split) == split
    assert all(pairs[n] in pairs[:n] for n in result.duplicates)


@given(st.permutations(range(40)))
def test_the_order_of_the_source_does_not_matter(order: list[int]) -> None:
    sizes = parse_splits("train=...,test=10")
    pairs = [(i, i % 13) for i in range(40)]

    def members(order: list[int]) -> set[tuple[int, int]]:
        chosen = [pairs[n] for n in order]
        return {chosen[n] for n in assign(keys_of(chosen), sizes, seed=1).splits["test"]}

    assert members(list(range(40))) == members(order)


def test_counts_are_exact() -> None:
    pairs = [(i, i) for i in range(500)]
    result = assign(keys_of(pairs), parse_splits("validation=50,train=...,test=70"), seed=0)
    assert {name: len(rows) for name, rows in result.splits.items()} == {"validation": 50, "train": 380, "test": 70}
    assert list(result.splits) == ["validation", "train", "test"]


def test_too_few_pairs() -> None:
    with pytest.raises(ConfigError, match="asks for 50 pairs in 'test'"):
        assign(keys_of([(i, i) for i in range(20)]), parse_splits("train=...,test=50"), seed=0)


def test_one_split_keeps_the_first_of_duplicates() -> None:
    result = assign(keys_of([(1, 1), (2, 2), (1, 1), (1, 1)]), parse_splits("train=..."), seed=0)
    assert result.splits["train"].tolist() == [0, 1]
    assert result.duplicates.tolist() == [2, 3]


def test_redrawn_spans_of_the_same_splits(tmp_path: Path) -> None:
    """Else a model's outputs on redrawn spans would be of other images than those on the test split."""
    found = []
    for seed, split_seed in ((0, None), (1, 0), (1, None)):
        out = tmp_path / f"{seed} {split_seed}"
        build("samples", out=out, limit=12, mode="hard", seed=seed, split_seed=split_seed, splits="train=...,test=5")
        rows = list(open_dataset(out, VCR).select(split="test").rows(["source_id", "crossed_text"]))
        found.append({row["source_id"]: row["crossed_text"] for _, row in rows})
    assert found[0].keys() == found[1].keys() != found[2].keys() and found[0] != found[1]
    assert [len(rows) for rows in found] == [5, 5, 5]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
def test_components_are_those_of_a_search(edges: list[tuple[int, int]]) -> None:
    one, two = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    least = list(range(41))
    for _ in least:
        for a, b in edges:
            least[a] = least[b] = min(least[a], least[b])
    assert _components(41, _Edges(one, two)).tolist() == least


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(0, 60))
def test_groups_are_taken_in_their_order_as_far_as_they_fit(members: list[int], quota: int) -> None:
    fits = []
    for size in members:
        fits.append(size <= quota)
        quota -= size * fits[-1]
    assert _fitting(np.array(members, np.int64), quota + sum(np.array(members, np.int64)[fits])).tolist() == fits


HALVES = "train=...,test=0.5"


def split_numbers(keys: np.ndarray, *, near_copies: bool = True) -> list[int]:
    """The number of each row's split; -1 for duplicates."""
    result = assign(keys, parse_splits(HALVES), seed=0, near_copies=near_copies)
    numbers = np.full(len(keys), -1)
    for number, rows in enumerate(result.splits.values()):
        numbers[rows] = number
    return numbers.tolist()


@pytest.mark.parametrize(
    ("flips", "joined"),
    [([], True), (range(0, 160, 10), True), (range(0, 170, 10), False), (range(10), False)],
    ids=["the same hash", "as many bits as may differ, in one band", "a bit more", "a bit in every band"],
)
def test_near_copies_agree_in_a_band_and_differ_in_few_bits(flips: range, joined: bool) -> None:
    hashes = np.concatenate([HASHES[:100], [flipped(bits, list(flips)) for bits in HASHES[:100]]])
    numbers = split_numbers(keys_of_pictures(hashes))
    assert set(numbers) == {0, 1} and (numbers[:100] == numbers[100:]) is joined
    alone = split_numbers(keys_of_pictures(hashes), near_copies=False)
    assert alone[:100] != alone[100:]


def test_a_near_copy_with_the_same_caption_repeats_the_pair_where_there_is_another_split() -> None:
    hashes = np.concatenate([HASHES[:20], [flipped(bits, [1, 2, 3]) for bits in HASHES[:20]]])
    keys = keys_of_pictures(hashes, captions=[*range(20), *range(19), 20])
    assert assign(keys, parse_splits(HALVES), seed=0).duplicates.tolist() == list(range(20, 39))
    assert assign(keys, parse_splits("test=..."), seed=0).duplicates.tolist() == list(range(20, 39))
    assert not len(assign(keys, parse_splits("train=..."), seed=0).duplicates)
    assert not len(assign(keys, parse_splits(HALVES), seed=0, near_copies=False).duplicates)


def test_flat_pictures_are_not_taken_for_copies() -> None:
    flat = np.packbits(np.eye(30, 256, dtype=np.uint8), axis=1)
    assert len(set(split_numbers(keys_of_pictures(flat)))) == 2


@pytest.mark.parametrize(("chained", "at_once"), [(False, 1 << 20), (False, 7), (True, 1 << 20), (True, 7)])
def test_large_groups_of_pictures_that_look_alike_are_refused_and_counted(
    chained: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of equal hashes, or of a chain in which each is like the next; with all hashes at once, or fewer than a group."""
    monkeypatch.setattr(splits, "SORTED_AT_ONCE", at_once)
    size = MAX_GROUP + 10
    alike = np.stack([flipped(HASHES[0], list(range(4 * number if chained else 0))) for number in range(size)])
    result = assign(keys_of_pictures(alike), parse_splits(HALVES), seed=0)
    assert result.refused == 1
    assert len(result.splits["test"]) == size // 2
    fewer = assign(keys_of_pictures(alike[:MAX_GROUP]), parse_splits(HALVES), seed=0)
    assert fewer.refused == 0 and not len(fewer.splits["test"])


def photo(number: int) -> Image.Image:
    """Blurred noise: as unlike another one as a photo is."""
    noise = np.random.default_rng(number).integers(256, size=(9, 12, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((320, 240), Image.Resampling.BICUBIC)


def re_encodings(image: Image.Image) -> list[bytes]:
    """A picture as a JPEG and in five other files: lossless and lossy ones, with and without metadata."""
    jpeg = encoded(image, "JPEG", quality=90)
    pixels = Image.open(io.BytesIO(jpeg))
    return [
        jpeg,
        jpeg[:2] + b"\xff\xfe\x00\x10from-a-mirror!" + jpeg[2:],
        encoded(pixels, "PNG", compress_level=1),
        encoded(pixels, "WEBP", lossless=True),
        encoded(pixels, "JPEG", quality=60, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0"),
        encoded(pixels, "WEBP", quality=70),
    ]


def write_pairs(file: Path, pairs: list[tuple[bytes, str]]) -> Path:
    images, captions = zip(*pairs, strict=True)
    pq.write_table(pa.table({"image": pa.array(images, pa.binary()), "caption": captions}), file)
    return file


def splits_of(out: Path) -> dict[int, str]:
    """The split of each row of the source that is in a dataset."""
    dataset = open_dataset(out, VCR)
    return {
        int(row["source_id"].rpartition("#")[2]): split
        for split in dataset.manifest.splits
        for _, row in dataset.select(split=split).rows(["source_id"])
    }


def test_copies_of_a_picture_are_in_one_split_and_with_one_caption_one_pair(tmp_path: Path) -> None:
    pictures, captions = 6, [f"{n}: the old man was reading a long book there before noon." for n in range(36)]
    files = [data for number in range(pictures) for data in re_encodings(photo(number))]
    each = len(files) // pictures
    other = write_pairs(tmp_path / "other.parquet", [(data, captions[n]) for n, data in enumerate(files)])
    same = write_pairs(tmp_path / "same.parquet", [(data, captions[n // each]) for n, data in enumerate(files)])
    options = {"mode": "easy", "width": 240, "splits": HALVES}
    build(other, out=tmp_path / "a", **options)
    placed = splits_of(tmp_path / "a")
    assert set(placed.values()) == {"train", "test"} and len(placed) == len(files)
    for picture in range(pictures):
        assert len({placed[row] for row in range(picture * each, (picture + 1) * each)}) == 1
    result = build(same, out=tmp_path / "b", **options)
    assert sorted(splits_of(tmp_path / "b")) == list(range(0, len(files), each))
    assert result.manifest.rejected == {"duplicate": len(files) - pictures}
    exact = build(same, out=tmp_path / "c", **options, near_copies="off")
    assert exact.manifest.rejected == {"duplicate": 3 * pictures}  # the files of equal pixels


def test_refused_groups_stand_in_the_summary_and_in_the_manifest(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splits, "MAX_GROUP", 5)
    pixels, pairs = np.array(photo(0)), []
    for number in range(6):
        pixels[0, number] ^= 255
        caption = f"{number}: the old man was reading a long book there before noon."
        pairs.append((encoded(Image.fromarray(pixels)), caption))
    file, out = write_pairs(tmp_path / "pairs.parquet", pairs), str(tmp_path / "out")
    code, shown, _ = run("build", str(file), "--out", out, "--mode", "easy", "--splits", HALVES)
    told = "Near copies were not looked for in 1 group of more than 5 pictures that look alike"
    assert code == 0 and told in " ".join(shown.split())
    assert read_manifest(out).uncompared == 1
    shutil.rmtree(out)
    code, shown, _ = run("build", str(file), "--out", out, "--mode", "easy", "--splits", HALVES, "--near-copies", "off")
    assert code == 0 and "Near copies" not in shown and read_manifest(out).uncompared == 0


WIKI = Path(__file__).parents[2] / "../shared/data/wiki"


@pytest.mark.skipif(not WIKI.exists(), reason="needs the real pairs of ../shared/data/wiki")
def test_no_two_real_photos_are_taken_for_copies() -> None:
    """Three photos are in both languages."""
    hashes = []
    for lang in ("en", "zh"):
        for file in pq.read_table(WIKI / f"pairs_{lang}.parquet")["image"].to_pylist():
            image = load_image(file["bytes"], width=300, max_pixels=1 << 24, min_side=1, max_height=2000)
            hashes.append(difference_hash(image))
    keys = keys_of_pictures(np.stack(hashes), captions=[0] * len(hashes))
    assert len(assign(keys, parse_splits(HALVES), seed=0).duplicates) == 3
