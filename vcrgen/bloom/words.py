"""What built-in scenes tell, in the words of questions: parts of a picture and their values, in English and Arabic.

A part is said as a label and a value, as in "Colour of the door: red" and "لون الباب: الأحمر". So no word has to agree
with another one, whatever the value is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vcrgen.samples import facts as scenes
from vcrgen.samples.facts import Facts

LANGUAGES = ("en", "ar")

Words = tuple[str, str]  # the same in both languages, in their order

COLOURS: Mapping[str, Words] = {
    "red": ("red", "الأحمر"), "orange": ("orange", "البرتقالي"), "yellow": ("yellow", "الأصفر"),
    "green": ("green", "الأخضر"), "teal": ("teal", "التركوازي"), "blue": ("blue", "الأزرق"),
    "purple": ("purple", "البنفسجي"), "pink": ("pink", "الوردي"), "white": ("white", "الأبيض"),
    "ginger": ("ginger", "الأشقر"), "black": ("black", "الأسود"), "grey": ("grey", "الرمادي"),
}  # fmt: skip
SEASONS: Mapping[str, Words] = {
    "spring": ("spring", "الربيع"), "summer": ("summer", "الصيف"), "autumn": ("autumn", "الخريف"),
    "winter": ("winter", "الشتاء"),
}  # fmt: skip
# Dawn is left out: a picture cannot tell it from dusk for sure.
TIMES: Mapping[str, Words] = {"day": ("day", "النهار"), "dusk": ("twilight", "الغسق"), "night": ("night", "الليل")}
FRUITS: Mapping[str, Words] = {
    "apple": ("apples", "التفاح"), "orange": ("oranges", "البرتقال"), "lemon": ("lemons", "الليمون"),
    "pear": ("pears", "الإجاص"), "watermelon": ("watermelons", "البطيخ"), "grape": ("grapes", "العنب"),
    "aubergine": ("aubergines", "الباذنجان"),
}  # fmt: skip
BASKETS: Mapping[str, Words] = {
    "flowers": ("flowers", "الزهور"), "bread": ("bread", "الخبز"), "empty": ("nothing", "لا شيء"),
}  # fmt: skip
NUMBERS: Mapping[str, Words] = {str(number): (str(number), str(number)) for number in range(100)}
PLACES: tuple[tuple[str, Words], ...] = (  # neighbours, from the first, are taken for one another
    ("harbour", ("a harbour", "ميناء")), ("beach", ("a beach", "شاطئ")),
    ("castle", ("a castle", "قلعة")), ("snowy_village", ("a village in the snow", "قرية في الثلج")),
    ("mountain_lake", ("a lake in the mountains", "بحيرة في الجبال")), ("water_town", ("a canal", "قناة")),
    ("wind_farm", ("a wind farm", "حقل توربينات")), ("sunflowers", ("a field of sunflowers", "حقل عباد الشمس")),
    ("city_night", ("a street in a city", "شارع في مدينة")), ("market", ("a market", "سوق")),
    ("desert", ("a desert", "صحراء")), ("campsite", ("a campsite", "مخيم")),
    ("airport", ("an airport", "مطار")), ("football", ("a football pitch", "ملعب كرة قدم")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScenePart:
    """One part of a kind of picture, of which all values that it may have are equally likely."""

    fact: str  # name of the fact
    label: Words
    words: Mapping[str, Words]  # of every value
    values: tuple[str, ...]  # that it may have

    def value(self, facts: Any) -> str | None:
        """The value in a picture; None where it is none of those that can be asked about."""
        value = getattr(facts, self.fact)
        text = str(len(value) if isinstance(value, tuple) else value)
        return text if text in self.values else None

    def says(self, value: str) -> Words:
        """The label with a value: "Colour of the door: red"."""
        label, words = self.label, self.words[value]
        return f"{label[0][0].upper()}{label[0][1:]}: {words[0]}", f"{label[1]}: {words[1]}"


def _numbers(low: int, high: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(low, high + 1))


_TEAMS = ("red", "blue", "yellow", "white", "purple", "orange")
_FEW = _numbers(2, 4)
_PAINTS = ("white", "yellow", "blue", "pink", "green", "red")
_FLAGS = ("red", "blue", "yellow", "purple", "green")
_FISH = ("red", "orange", "yellow", "pink", "white")
_TIME = ScenePart("daytime", ("time of day", "الوقت"), TIMES, tuple(TIMES))
_SEASON = ScenePart("season", ("season", "الفصل"), SEASONS, tuple(SEASONS))

SCENE_PARTS: Mapping[type[Facts], tuple[ScenePart, ...]] = {
    scenes.Bicycle: (
        ScenePart("wall", ("colour of the wall", "لون الجدار"), COLOURS, _PAINTS),
        ScenePart("frame", ("colour of the bicycle", "لون الدراجة"), COLOURS, _PAINTS),
        ScenePart("door", ("colour of the door", "لون الباب"), COLOURS, _PAINTS),
        ScenePart("basket", ("content of the basket", "محتوى السلة"), BASKETS, tuple(BASKETS)),
    ),
    scenes.Football: (
        ScenePart("attackers", ("colour of the team with the ball", "لون الفريق صاحب الكرة"), COLOURS, _TEAMS),
        ScenePart("defenders", ("colour of the team at the goal", "لون الفريق عند المرمى"), COLOURS, _TEAMS),
        ScenePart("attacker_count", ("size of the team with the ball", "عدد لاعبي الفريق صاحب الكرة"), NUMBERS, _FEW),
        ScenePart("defender_count", ("size of the team at the goal", "عدد لاعبي الفريق عند المرمى"), NUMBERS, _FEW),
    ),
    scenes.Aquarium: (
        ScenePart("big", ("colour of the big fish", "لون الأسماك الكبيرة"), COLOURS, _FISH),
        ScenePart("small", ("colour of the small fish", "لون الأسماك الصغيرة"), COLOURS, _FISH),
        ScenePart("big_count", ("number of big fish", "عدد الأسماك الكبيرة"), NUMBERS, _numbers(1, 3)),
        ScenePart("small_count", ("number of small fish", "عدد الأسماك الصغيرة"), NUMBERS, _numbers(4, 8)),
    ),
    scenes.StillLife: (
        ScenePart("teapot", ("colour of the teapot", "لون إبريق الشاي"), COLOURS, scenes.BRIGHT),
        ScenePart("cups", ("number of cups", "عدد الأكواب"), NUMBERS, _numbers(1, 3)),
        ScenePart("fruit", ("fruit in the bowl", "الفاكهة في الوعاء"), FRUITS, ("apple", "orange", "lemon", "pear")),
        ScenePart("outside", ("time of day outside", "الوقت في الخارج"), TIMES, tuple(TIMES)),
    ),
    scenes.WindowCat: (
        ScenePart("coat", ("colour of the cat", "لون القطة"), COLOURS, scenes.COATS),
        ScenePart("curtains", ("colour of the curtains", "لون الستائر"), COLOURS, scenes.BRIGHT),
        ScenePart("pots", ("number of flower pots", "عدد أصص الزهور"), NUMBERS, _numbers(1, 3)),
        ScenePart("bloom", ("colour of the flowers", "لون الزهور"), COLOURS, ("red", "pink", "yellow", "purple")),
    ),
    scenes.Castle: (
        _SEASON,
        _TIME,
        ScenePart("towers", ("number of towers", "عدد الأبراج"), NUMBERS, _numbers(2, 5)),
        ScenePart(
            "flag", ("colour of the flags", "لون الأعلام"), COLOURS, ("red", "blue", "yellow", "purple", "green")
        ),
    ),
    scenes.Birds: (_SEASON,),
    scenes.Harbour: (
        _TIME,
        ScenePart("boats", ("number of boats", "عدد القوارب"), NUMBERS, _numbers(1, 4)),
        ScenePart("stripe", ("colour of the stripes", "لون خطوط المنارة"), COLOURS, ("red", "blue", "green")),
    ),
    scenes.Regatta: (ScenePart("sails", ("number of yachts", "عدد اليخوت"), NUMBERS, _numbers(3, 6)),),
}

# Things that come in several colours, of which any are equally likely: the fact, the colours, and their name.
PAINTED: Mapping[type[Facts], tuple[str, tuple[str, ...], Words]] = {
    scenes.Balloons: ("balloons", scenes.BRIGHT, ("balloons", "المناطيد")),
    scenes.Beach: ("umbrellas", scenes.BRIGHT, ("umbrellas", "المظلات")),
    scenes.SnowyVillage: ("houses", scenes.BRIGHT, ("houses", "البيوت")),
    scenes.Harbour: ("boats", scenes.BRIGHT, ("boats", "القوارب")),
    scenes.Regatta: ("sails", scenes.TINTS, ("sails", "الأشرعة")),
}
