"""Pictures of a source that the items of a category may have."""

import io
from hashlib import sha256
from pathlib import Path
from shutil import copyfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from vcrgen.bloom.generation.item_records import Candidate, ItemSlot, LocalWork, OfferedPicture, PictureOffers, Scenario
from vcrgen.bloom.generation.source_pictures import PictureSource, open_buckets
from vcrgen.bloom.options import BloomGenerationOptions

WORDS = ("boat", "house", "tree", "bird", "wall", "field")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 pictures; every third one is damaged, and one row has none."""
    rows = []
    for number in range(60):
        noise = np.random.default_rng(number).integers(0, 256, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(noise).save(data := io.BytesIO(), "PNG")
        image = data.getvalue() if number % 3 else b"damaged"
        caption = f"a {WORDS[number % 6]} and a {WORDS[number // 6 % 6]}"
        rows.append({"id": f"p{number}", "image": {"bytes": None if number == 1 else image, "path": None}})
        rows[-1] |= {"caption": caption}
    file = tmp_path_factory.mktemp("pairs") / "pairs.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=7)
    return file


def source(pairs: Path, *, categories: int = 2, slots: int = 8, **more: int) -> PictureSource:
    options = BloomGenerationOptions(source=str(pairs), model="M", offline=True, **more)  # type: ignore[arg-type]
    return PictureSource(options, io.BytesIO(), categories=categories, slots=slots)


def slots_of(count: int, *keywords: str) -> list[tuple[ItemSlot, Scenario]]:
    scene = Scenario(text="a scene", keywords=keywords)
    return [(ItemSlot(name=f"{number}", path="a/b/c", number=number, theme="t"), scene) for number in range(count)]


def given(offers: PictureOffers) -> list[str]:
    """The ids of all pictures that an item is offered; an empty one for each that is of no use."""
    found = []
    for offer in offers:
        work = next(offer)
        assert isinstance(work, LocalWork)
        try:
            offer.send(work.call())
        except StopIteration as stop:
            offered = stop.value
            assert offered is None or (isinstance(offered, OfferedPicture) and offered.data.startswith(b"\x89PNG"))
            found.append(offered.candidate.source_id if offered else "")
    return found


def dealt(source: PictureSource, category: int, *keywords: str, count: int = 4) -> list[list[str]]:
    return [given(offers) for offers in source.offer(category, slots_of(count, *keywords))]


def test_what_a_category_gets_does_not_depend_on_when_others_come(pairs: Path) -> None:
    one, two = source(pairs), source(pairs)
    first = [dealt(one, category, "boat") for category in (0, 1)]
    second = [dealt(two, category, "boat") for category in (1, 0)]
    assert first == second[::-1]
    assert first[0] != first[1]


def test_captions_with_the_scenes_words_come_first(pairs: Path) -> None:
    found = dealt(source(pairs), 0, "Two boats", "a boat by a tree", count=1)[0]
    numbers = [int(name[1:]) for name in found if name]
    assert all({"boat", "tree"} == {WORDS[n % 6], WORDS[n // 6 % 6]} for n in numbers[:1])
    assert all({"boat", "tree"} & {WORDS[n % 6], WORDS[n // 6 % 6]} for n in numbers)


def test_a_picture_that_is_of_no_use_is_not_counted(pairs: Path) -> None:
    """Every third one is damaged: an item is offered as many good ones all the same, of twice as many."""
    of = source(pairs)
    found = dealt(of, 0, "boat")
    assert all(len(list(filter(None, names))) == 3 or len(names) == 6 for names in found)
    assert all(int(name[1:]) % 3 for names in found for name in names if name)
    assert of.unusable.total() == len([name for names in found for name in names if not name]) > 0


def test_a_picture_is_read_from_the_source_once(pairs: Path, tmp_path: Path) -> None:
    """Another category that is offered it, and the set that is written, have it though the source is gone."""
    copy = tmp_path / "pairs.parquet"
    copyfile(pairs, copy)
    of = source(copy, slots=2)
    first = dealt(of, 0, "boat", count=20)
    copy.unlink()
    assert dealt(of, 0, "boat", count=20) == first
    taken = [found for found in of._tried.values() if isinstance(found, Candidate)]
    assert taken and all(sha256(of.picture(found)).hexdigest() == found.digest for found in taken)


def test_every_item_gets_a_picture_before_one_gets_two(pairs: Path) -> None:
    of = source(pairs, limit=5, categories=1, slots=4, per_picture=4)
    assert [len(names) for names in dealt(of, 0, "boat")] == [2, 1, 1, 1]


def test_more_items_in_a_category_change_nothing_for_those_before_them(pairs: Path) -> None:
    """As long as there are plenty of pictures, as 60 are for ten items that are offered two each."""
    of = source(pairs, pictures=1)
    scenes = [Scenario(text="a scene", keywords=("boat", word)) for word in ("house", "tree")] * 5
    whole = of.choose(0, scenes)
    assert [len(numbers) for numbers in whole] == [2] * 10 and len({n for few in whole for n in few}) == 20
    assert all(of.choose(0, scenes[:count]) == whole[:count] for count in range(11))


def test_the_best_pictures_of_a_scene_are_shared_among_its_items(pairs: Path) -> None:
    """Four captions have both words: three items that look at two pictures each begin with one of these."""
    of, scene = source(pairs, pictures=1), Scenario(text="a scene", keywords=("boat", "house"))
    points = of.captions.points(scene.keywords)
    assert (points == points.max()).sum() == 4
    assert all(points[numbers[0]] == points.max() for numbers in of.choose(0, [scene] * 3))


@pytest.mark.parametrize(
    ("most", "categories", "pictures", "wanted", "buckets"),
    [
        (4, 106, 40, 2_120, 4),  # too few: never more items of a picture than there may be
        (1, 106, 60, 106, 1),
        (4, 106, 794, 2_120, 4),
        (4, 106, 795, 2_120, 106),  # half more than are needed: every category may choose from all
        (4, 2, 12, 8, 2),
    ],
)
def test_a_large_source_is_open_to_all_categories(
    most: int, categories: int, pictures: int, wanted: int, buckets: int
) -> None:
    assert open_buckets(most, categories, pictures, wanted) == buckets


def test_a_picture_of_a_small_source_is_open_to_as_many_categories_as_it_may_have_items(pairs: Path) -> None:
    of = source(pairs, categories=20, slots=400, per_picture=3)
    took = [name for category in range(20) for few in dealt(of, category, "boat", count=30) for name in few if name]
    assert len(took) == 3 * len(set(took)) and len(set(took)) == 39  # 60, of which 20 are damaged and one is not there
