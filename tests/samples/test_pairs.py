"""The built-in corpus: what it promises about its pictures, its captions and their agreement."""

import hashlib
import re
import subprocess
import sys
from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from vcrgen.samples import BUILTIN_COUNT, SamplePair, sample_pair
from vcrgen.samples.pairs import scene_and_facts
from vcrgen.samples.table import SCENES


@pytest.fixture(scope="module")
def builtin() -> list[SamplePair]:
    return [sample_pair("en", index) for index in range(BUILTIN_COUNT)]


def decoded(pair: SamplePair) -> Image.Image:
    return Image.open(BytesIO(pair.image))


def test_the_corpus_has_a_fair_size() -> None:
    assert 64 <= BUILTIN_COUNT <= 128
    assert sample_pair("zh", 17).id == "zh-000017"


@pytest.mark.parametrize("lang", ["xx", "", "EN"])
def test_an_unknown_language_is_refused_by_name(lang: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(lang))):
        sample_pair(lang, 0)


def test_a_negative_index_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        sample_pair("en", -1)


def test_a_pair_is_the_same_in_any_order_and_process() -> None:
    code = (
        "import hashlib; from vcrgen.samples import sample_pair; p = sample_pair('zh', 41); "
        "print(hashlib.sha256(p.image).hexdigest(), p.caption.encode().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    sample_pair("en", 3)
    pair = sample_pair("zh", 41)
    assert [hashlib.sha256(pair.image).hexdigest(), pair.caption.encode().hex()] == other


def test_languages_share_the_picture_of_an_index() -> None:
    for index in (0, 5, 31):
        assert sample_pair("en", index).image == sample_pair("zh", index).image


def test_images_are_unique(builtin: list[SamplePair]) -> None:
    assert len({hashlib.sha256(pair.image).digest() for pair in builtin}) == BUILTIN_COUNT


def test_every_kind_of_scene_is_in_the_corpus_equally_often() -> None:
    kinds = Counter(scene_and_facts(index)[0].kind for index in range(BUILTIN_COUNT))
    assert set(kinds) == {scene.kind for scene in SCENES}
    assert len(set(kinds.values())) == 1


def test_images_decode_and_mix_both_formats(builtin: list[SamplePair]) -> None:
    formats = set()
    for pair in builtin:
        with decoded(pair) as image:
            image.load()
            assert image.mode == "RGB"
            formats.add(image.format)
    assert formats == {"PNG", "JPEG"}


def test_sizes_vary_and_fit_a_strip_of_300_px(builtin: list[SamplePair]) -> None:
    sizes = [decoded(pair).size for pair in builtin]
    assert all(200 <= width <= 640 and 160 <= height <= 640 for width, height in sizes)
    assert len(set(sizes)) >= 12
    resized = [300 * height / width for width, height in sizes]
    assert sum(150 <= height <= 420 for height in resized) >= 0.85 * len(resized)
    assert min(resized) < 160 and max(resized) > 390
