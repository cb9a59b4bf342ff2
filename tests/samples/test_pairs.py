"""The built-in corpus: what it promises about its pictures, its captions and their agreement."""

from __future__ import annotations

import hashlib
import re
import statistics
import subprocess
import sys
import unicodedata
from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from vcrgen.samples import BUILTIN_COUNT, SamplePair, sample_pair
from vcrgen.samples.pairs import caption, scene_and_facts
from vcrgen.samples.table import SCENES
from vcrgen.text.eligibility import selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline

LANGS = tuple(LANGUAGES)
WORDS_APART = [code for code, row in LANGUAGES.items() if row.word_boundaries]
CAPITALS = [code for code in WORDS_APART if caption(code, 0)[0].upper() != caption(code, 0)[0].lower()]
FLIGHT = re.compile(r"(?<![A-Z])(KX|NL|OB) ?(?=\d)")
HAN = re.compile(r"[\u4e00-\u9fff]")
JAPANESE = {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK", "IDEOGRAPHIC"}
FULL_WIDTH = re.compile(r"[\u3000-\u303f\uff00-\uffef]")

# Words that an eligibility filter would take for a number, a date, a time or money.
WORDS = """
    april august december eight eleven february first five four francs friday half january july june kroner
    march may monday nine november october one quarter saturday second september seven six ten third three today
    tomorrow twelve two
    un une deux trois quatre cinq six sept huit neuf dix onze douze premier première deuxième troisième
    quatrième cinquième sixième septième janvier février mars avril mai juin juillet août septembre octobre
    novembre décembre euros francs couronnes demi demie quart midi minuit lundi vendredi samedis demain soir
"""
NOT_PLAIN = set(WORDS.split())


@pytest.fixture(scope="module")
def builtin() -> list[SamplePair]:
    return [sample_pair("en", index) for index in range(BUILTIN_COUNT)]


def decoded(pair: SamplePair) -> Image.Image:
    return Image.open(BytesIO(pair.image))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def longest_plain_run(text: str) -> int:
    """The longest run of lower-case words without a number word, punctuation or a name between them."""
    best = run = 0
    for token in re.findall(r"\w[\w'-]*|[^\w\s]", text):
        plain = token[0].isalpha() and token.islower() and token not in NOT_PLAIN
        run = run + 1 if plain else 0
        best = max(best, run)
    return best


def test_the_corpus_has_a_fair_size() -> None:
    assert 64 <= BUILTIN_COUNT <= 128


@pytest.mark.parametrize("lang", LANGS)
def test_an_id_names_language_and_index(lang: str) -> None:
    assert sample_pair(lang, 17).id == f"{lang}-000017"


@pytest.mark.parametrize("lang", ["xx", "", "EN"])
def test_an_unknown_language_is_refused_by_name(lang: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(lang))):
        sample_pair(lang, 0)


def test_a_negative_index_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        sample_pair("en", -1)


@pytest.mark.parametrize(
    ("lang", "index", "expected"),
    [
        ("en", 0, "27c9a650d794be2e"),
        ("en", 17, "e8d9e5670d395155"),
        ("en", 12_345, "2e9e14eeec3f7ea0"),
        ("zh", 0, "9800933caa08a35d"),
        ("zh", 17, "f015f1fc32bab016"),
        ("zh", 12_345, "22621241637ded34"),
    ],
)
def test_captions_are_pinned(lang: str, index: int, expected: str) -> None:
    assert sha(caption(lang, index)) == expected


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


@pytest.mark.parametrize("lang", LANGS)
def test_captions_are_unique(lang: str) -> None:
    captions = Counter(caption(lang, index) for index in [*range(1500), *range(19_000, 20_000)])
    assert max(captions.values()) == 1


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


@pytest.mark.parametrize(
    ("lang", "low", "high", "few", "many"),
    [
        *((lang, 25, 370, 60, 220) for lang in CAPITALS),
        *((lang, 25, 300, 60, 220) for lang in ("ar", "hi")),
        ("zh", 12, 145, 20, 90),
        ("ja", 15, 160, 30, 110),
        ("ko", 17, 180, 30, 130),
    ],
)
def test_captions_have_one_to_five_lines(lang: str, low: int, high: int, few: int, many: int) -> None:
    lengths = [len(caption(lang, index)) for index in range(800)]
    assert low <= min(lengths) and max(lengths) <= high
    assert sum(few <= length <= many for length in lengths) >= 0.75 * len(lengths)
    assert statistics.stdev(lengths) > 0.2 * statistics.mean(lengths)


@pytest.mark.parametrize("lang", WORDS_APART)
def test_captions_are_in_the_script_of_their_language(lang: str) -> None:
    for index in range(1000):
        text = caption(lang, index)
        flight = FLIGHT.sub("", text)
        assert all(unicodedata.name(char).startswith(LANGUAGES[lang].script) for char in flight if char.isalpha()), text
        assert not FULL_WIDTH.search(text)
        assert lang not in CAPITALS or text[0].isupper() or text[0].isdigit(), text
        assert "  " not in text and " ," not in text and ".." not in text


def test_chinese_captions_are_han_with_full_width_punctuation() -> None:
    for index in range(1000):
        text = caption("zh", index)
        assert sum(map(len, HAN.findall(text))) > 0.5 * len(text)
        # Latin letters only stand in flight numbers, ASCII punctuation only in times and sums.
        assert not re.search(r"[a-z,;!?()]", text), text
        assert not re.search(r"[.:](?!\d)", text), text


def test_articles_agree() -> None:
    for index in range(2000):
        text = caption("en", index).lower()
        assert not re.search(r"\ba [aeio]", text) and not re.search(r"\ban [^aeiou]", text), text


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_nearly_every_caption_has_five_plain_words_in_a_row(lang: str) -> None:
    runs = [longest_plain_run(caption(lang, index)) for index in range(1000)]
    assert sum(run >= 5 for run in runs) >= 0.93 * len(runs)


def test_japanese_captions_are_kana_and_han_with_full_width_punctuation() -> None:
    for index in range(1000):
        text = FLIGHT.sub("", caption("ja", index))
        assert all(unicodedata.name(char).split()[0] in JAPANESE for char in text if char.isalpha()), text
        assert not re.search(r"[,;!?() ]", text), text
        assert not re.search(r"[.:](?!\d)", text), text


@pytest.mark.parametrize("lang", [lang for lang in LANGS if lang != "zh"])
def test_nearly_every_caption_has_five_tokens_that_may_be_covered(lang: str) -> None:
    nlp = load_pipeline(lang).nlp
    assert sum(bool(selectable_ngrams(nlp(caption(lang, index)), 5)) for index in range(300)) >= 0.93 * 300


def test_nearly_every_chinese_caption_has_a_clause_of_nine_characters() -> None:
    captions = [caption("zh", index) for index in range(1000)]
    assert sum(bool(re.search(r"[\u4e00-\u9fff]{9}", text)) for text in captions) >= 0.93 * len(captions)


@pytest.mark.parametrize("lang", LANGS)
def test_many_captions_hold_what_a_filter_has_to_leave_out(lang: str) -> None:
    assert sum(bool(re.search(r"\d", caption(lang, index))) for index in range(1000)) >= 350
