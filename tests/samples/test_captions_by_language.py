"""Built-in captions of every language against its data: phrases of facts, agreement, the clock, lengths."""

import hashlib
import re
import statistics
import unicodedata
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from tests.text.language_data import language_data
from vcrgen.samples.facts import (
    TINTS,
    Aquarium,
    Birds,
    Campsite,
    Chart,
    ClockTower,
    Facts,
    Harbour,
    Library,
    Market,
    WindFarm,
    WindowCat,
)
from vcrgen.samples.pairs import caption, captions, has_captions
from vcrgen.samples.table import SCENES
from vcrgen.text.eligibility import selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline

# What is shown, by the names in the data of languages.
SHOWN: dict[str, tuple[str, Facts]] = {
    "boats": ("harbour", Harbour(daytime="day", boats=("red",) * 3, stripe="blue", gulls=2)),
    "two_boats": ("harbour", Harbour(daytime="day", boats=("red", "teal"), stripe="blue", gulls=2)),
    "boat": ("harbour", Harbour(daytime="night", boats=("white",), stripe="green", gulls=1)),
    "two_tents": ("campsite", Campsite(tents=("white",) * 2, fire=True, phase="half", lake=False)),
    "tent": ("campsite", Campsite(tents=("green",), fire=True, phase="half", lake=False)),
    "fish": (
        "aquarium",
        Aquarium(big="pink", big_count=1, small="white", small_count=8, turtle=True, jellyfish=0),
    ),
    "stall": ("market", Market(awning="red", crates=("lemon", "orange", "grape"), scales=False, bulbs=0)),
    "bird": ("birds", Birds(breasts=("orange",), branch="snow")),
    "birds": ("birds", Birds(breasts=("blue",) * 2, branch="snow")),
    "cat": ("window_cat", WindowCat(coat="ginger", curtains="yellow", pots=2, bloom="purple", outside="rain")),
    "chart": ("chart", Chart(bars=(5, 9, 19, 8), tint="purple", plant=False)),
    "wind_farm": ("wind_farm", WindFarm(daytime="day", turbines=3, crop="grass", sheep=2)),
    "library": ("library", Library(shelves=3, ladder=False, lamp="white", globe=False, cat="ginger")),
}
CAPTIONED = list(filter(has_captions, LANGUAGES))
FLIGHT = re.compile(r"(?<![A-Z])[A-Z]{2} ?(?=\d)")


def tell(kind: str, lang: str, facts: Facts, times: int = 90) -> str:
    return "\n".join(captions(lang).render(kind, facts, Random(i), 0) for i in range(times)).lower()


@pytest.mark.parametrize("lang", CAPTIONED)
def test_captions_name_the_facts(lang: str) -> None:
    for name, phrases in language_data(lang)["captions"].items():
        text = tell(SHOWN[name][0], lang, SHOWN[name][1])
        assert not [phrase for phrase in phrases if phrase not in text], name


@pytest.mark.parametrize("lang", [code for code in CAPTIONED if "tents" in language_data(code)])
def test_colours_agree_in_gender_and_number(lang: str) -> None:
    for count, phrases in enumerate(language_data(lang)["tents"].values(), 1):
        for tint, phrase in zip(TINTS, phrases, strict=True):
            facts = Campsite(tents=(tint,) * count, fire=False, phase="full", lake=False)
            assert re.search(rf"{phrase}\b", tell("campsite", lang, facts, 30)), phrase


@pytest.mark.parametrize("lang", CAPTIONED)
def test_the_clock_is_told_as_it_is_drawn(lang: str) -> None:
    for time, phrases in language_data(lang)["clock"].items():
        hour, minute = map(int, time.split(":"))
        facts = ClockTower(hour=hour, minute=minute, daytime="day", roof="red", pigeons=0)
        text = tell("clock_tower", lang, facts)
        assert not [phrase for phrase in phrases if phrase not in text], time


@pytest.mark.parametrize("lang", CAPTIONED)
def test_every_scene_has_varied_captions_without_leftovers_of_templates(lang: str) -> None:
    leftovers = re.compile(r"[{}|~\[\]()_*@]|\bNone\b|\bTrue\b|\bFalse\b|  | ,|\.\.")
    never, told = re.compile(language_data(lang).get("never", "$x")), []
    for scene in SCENES:
        openings = set()
        for seed in range(25):
            text = captions(lang).render(scene.kind, scene.facts.sample(Random(seed)), Random(seed), 50)
            assert not leftovers.search(text) and text == text.strip(), text
            assert not never.search(text), text
            openings.add(text[:24])
        assert len(openings) >= 5, scene.kind
        for seed in range(20):
            told.append(captions(lang).render(scene.kind, scene.facts.sample(Random(seed)), Random(seed), 10**4))
    digest = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    assert digest == language_data(lang)["captions_digest"]


@pytest.mark.parametrize("lang", CAPTIONED)
def test_later_captions_differ_by_names(lang: str) -> None:
    facts = Harbour.sample(Random(0))
    early, late = ({captions(lang).render("harbour", facts, Random(i), turn) for i in range(300)} for turn in (0, 4000))
    assert len(early) < len(late) == 300


@pytest.mark.parametrize("lang", CAPTIONED)
def test_captions_are_unique_of_one_to_five_lines_and_some_have_numbers(lang: str) -> None:
    texts = [caption(lang, index) for index in [*range(300), *range(19_000, 19_200)]]
    assert max(Counter(texts).values()) == 1
    lengths = list(map(len, texts))
    least, most, few, many = language_data(lang)["caption_lengths"]
    assert least <= min(lengths) and max(lengths) <= most
    assert sum(few <= length <= many for length in lengths) >= 0.75 * len(lengths)
    assert statistics.stdev(lengths) > 0.2 * statistics.mean(lengths)
    assert sum(bool(re.search(r"\d", text)) for text in texts) >= 0.35 * len(texts)


@pytest.mark.parametrize("lang", CAPTIONED)
def test_captions_are_in_the_script_of_their_language(lang: str) -> None:
    row = LANGUAGES[lang]
    scripts = {row.script, *row.other_scripts, "IDEOGRAPHIC"}
    for index in range(200):
        text = FLIGHT.sub("", caption(lang, index))
        assert {re.split("[ -]", unicodedata.name(char))[0] for char in text if char.isalpha()} <= scripts, text
        assert not re.search(r"  | ,|\.\.", text), text
        assert row.joiner or not re.search(r"[a-z,;!?() ]|[.:](?!\d)", text), text
        assert not row.joiner or not re.search(r"[\u3000-\u303f\uff00-\uffef]", text), text
        assert text[0] == text[0].upper(), text


@pytest.mark.parametrize("lang", CAPTIONED)
def test_nearly_every_caption_has_a_span(lang: str) -> None:
    nlp, size = load_pipeline(lang).nlp, 5 if lang != "zh" else 4  # Chinese words are long
    assert sum(bool(selectable_ngrams(nlp(caption(lang, index)), size)) for index in range(60)) >= 0.93 * 60


# Korean particles that go with the last sound of the word before them: after a consonant, and after a vowel.
PARTICLES = {"이": "가", "을": "를", "은": "는", "과": "와", "으로": "로"}


def test_korean_particles_go_with_the_sound_before_them() -> None:
    pipeline, seen = load_pipeline("ko").nlp, set()
    for scene in SCENES:
        for seed in range(20):
            text = captions("ko").render(scene.kind, scene.facts.sample(Random(seed)), Random(seed), 50)
            text = re.sub(r"\S+ 씨", "누구 씨", text)  # a given name may end as a particle sounds
            for before, token in pairwise(pipeline(text)):
                if token.tag_[0] == "J" and "가" <= before.text[-1] <= "힣":
                    final = (ord(before.text[-1]) - ord("가")) % 28
                    bare = not final or (token.text in ("으로", "로") and final == 8)  # 로 stands after ㄹ, too
                    assert token.text not in (PARTICLES if bare else PARTICLES.values()), f"{before} {token}: {text}"
                    seen.add(token.text)
    assert seen >= {*PARTICLES, *PARTICLES.values()}
