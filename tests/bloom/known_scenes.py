"""A small language of questions about the built-in scenes, in English and Arabic, and what is true in it.

    question = ask(leaf, "bicycle", facts, random.Random(7))
    question.text, question.options          # English; the right option first, then the trap, then two others
    in_arabic(question.text)                 # None for what is no sentence of this language
    true_options("bicycle", facts, question.text, question.options)  # [0], told from facts by reading the English

A small model is taught it (tests/bloom/small_model.py), and what the model writes is judged by it.
"""

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES, WORDS
from vcrgen.samples.facts import Facts

_PARTS = """
harbour | daytime | times | time of day | وقت اليوم
harbour | boats | | number of boats | عدد القوارب
harbour | gulls | | number of gulls | عدد النوارس
harbour | stripe | colours | colour of the stripes | لون الخطوط
mountain_lake | daytime | times | time of day | وقت اليوم
mountain_lake | peaks | | number of peaks | عدد القمم
mountain_lake | canoe | colours | colour of the canoe | لون الزورق
regatta | sails | | number of yachts | عدد اليخوت
regatta | buoy | colours | colour of the buoy | لون العوامة
beach | umbrellas | | number of umbrellas | عدد المظلات
beach | daytime | times | time of day | وقت اليوم
aquarium | big | colours | colour of the big fish | لون الأسماك الكبيرة
aquarium | small | colours | colour of the small fish | لون الأسماك الصغيرة
aquarium | big_count | | number of big fish | عدد الأسماك الكبيرة
aquarium | small_count | | number of small fish | عدد الأسماك الصغيرة
water_town | lanterns | | number of lanterns | عدد الفوانيس
water_town | phase | moons | shape of the moon | شكل القمر
viaduct | season | seasons | season | فصل السنة
viaduct | arches | | number of arches | عدد الأقواس
viaduct | coaches | | number of coaches | عدد العربات
viaduct | train | colours | colour of the train | لون القطار
snowy_village | houses | | number of houses | عدد البيوت
snowy_village | daytime | times | time of day | وقت اليوم
castle | daytime | times | time of day | وقت اليوم
castle | season | seasons | season | فصل السنة
castle | towers | | number of towers | عدد الأبراج
castle | flag | colours | colour of the flags | لون الأعلام
wind_farm | turbines | | number of turbines | عدد التوربينات
wind_farm | daytime | times | time of day | وقت اليوم
balloons | balloons | | number of balloons | عدد المناطيد
balloons | daytime | times | time of day | وقت اليوم
desert | camels | | number of camels | عدد الجمال
desert | cacti | | number of cacti | عدد نباتات الصبار
desert | phase | moons | shape of the moon | شكل القمر
campsite | tents | | number of tents | عدد الخيام
campsite | phase | moons | shape of the moon | شكل القمر
sunflowers | flowers | | number of sunflowers | عدد أزهار الشمس
sunflowers | farmhouse | colours | colour of the farmhouse | لون بيت المزرعة
city_night | taxi | colours | colour of the taxi | لون سيارة الأجرة
city_night | lamps | | number of street lamps | عدد مصابيح الشارع
city_night | phase | moons | shape of the moon | شكل القمر
market | awning | colours | colour of the awning | لون الظلة
market | crates | | number of crates | عدد الصناديق
market | bulbs | | number of bulbs | عدد المصابيح
clock_tower | roof | colours | colour of the roof | لون السقف
clock_tower | pigeons | | number of pigeons | عدد الحمام
clock_tower | twelve | | hour on the clock | رقم الساعة على البرج
airport | tails | | number of parked airliners | عدد الطائرات الواقفة
airport | daytime | times | time of day | وقت اليوم
football | attackers | colours | colour of the team with the ball | لون الفريق صاحب الكرة
football | defenders | colours | colour of the team at the goal | لون الفريق أمام المرمى
football | attacker_count | | size of the team with the ball | عدد لاعبي الفريق صاحب الكرة
football | defender_count | | size of the team at the goal | عدد لاعبي الفريق أمام المرمى
bicycle | wall | colours | colour of the wall | لون الجدار
bicycle | frame | colours | colour of the bicycle | لون الدراجة
bicycle | door | colours | colour of the door | لون الباب
bicycle | basket | baskets | content of the basket | محتوى السلة
still_life | teapot | colours | colour of the teapot | لون الإبريق
still_life | cups | | number of cups | عدد الأكواب
still_life | fruit | fruits | fruit in the bowl | نوع الفاكهة في الوعاء
still_life | fruit_count | | number of fruits | عدد الثمار
still_life | outside | times | time of day outside | وقت اليوم في الخارج
library | shelves | | number of shelves | عدد الرفوف
library | lamp | colours | colour of the lamp | لون المصباح
library | cat | colours | colour of the sleeping cat | لون القطة النائمة
window_cat | coat | colours | colour of the cat | لون القطة
window_cat | curtains | colours | colour of the curtains | لون الستائر
window_cat | pots | | number of flower pots | عدد أصص الزهور
window_cat | bloom | colours | colour of the blossoms | لون الأزهار
birds | breasts | | number of birds | عدد الطيور
birds | season | seasons | season | فصل السنة
chart | bars | | number of bars | عدد الأعمدة
chart | tallest | | place of the tallest bar from the left | موضع العمود الأطول من اليسار
chart | shortest | | place of the shortest bar from the left | موضع العمود الأقصر من اليسار
chart | tint | colours | colour of the bars | لون الأعمدة
"""
_NAMES = """
Ada أدا | Aisha عائشة | Anton أنطون | Carmen كارمن | Daniel دانيال | Farid فريد | Grace غريس | Hugo هوغو | Leila ليلى
| Malik مالك | Nora نورا | Oscar أوسكار | Rosa روزا | Stefan ستيفان | Wanda واندا | Yusuf يوسف
"""
_OPENINGS = """
A postcard from {n} hangs in the kitchen. | بطاقة من {n} معلقة في المطبخ.
The album of {n} opens at this page. | ألبوم {n} مفتوح عند هذه الصفحة.
In the school of {n} this is a riddle. | في مدرسة {n} هذا لغز.
A letter to {n} came with this view. | جاءت رسالة إلى {n} مع هذا المنظر.
The grandfather of {n} painted this scene. | رسم جد {n} هذا المشهد.
A poster in the office of {n} looks like that. | في مكتب {n} ملصق كهذا.
The newspaper of {n} printed this image. | نشرت صحيفة {n} هذه الصورة.
The calendar of {n} has this for May. | في تقويم {n} هذه الصورة لشهر مايو.
A film by {n} begins like that. | هكذا يبدأ فيلم {n}.
The museum bought this from {n}. | اشترى المتحف هذا من {n}.
A quiz of {n} has one more round. | في مسابقة {n} جولة أخرى.
This stamp lies in the collection of {n}. | هذا الطابع في مجموعة {n}.
The window of {n} gives on such a place. | تطل نافذة {n} على مكان كهذا.
"""
# By level, one line a wording. What stands in braces: one and two are parts, a is a value, k is a number.
_FORMS = {
    "remember": """
What is the {one}? | ما {one}؟
Look closely and name the {one}. | انظر جيدا واذكر {one}.
Somebody forgot the {one}. What was it? | نسي أحدهم {one}. ما هو؟
""",
    "understand": """
Which description of the {one} and the {two} fits? | ما الوصف الصحيح لهذين: {one}، {two}؟
How do the {one} and the {two} go together here? | كيف يجتمع هنا {one} مع {two}؟
Tell the {one} together with the {two}. | قل معا ما {one} وما {two}.
""",
    "apply": """
Add {k} to the {one}. What is the result? | أضف {k} إلى {one}. ما الناتج؟
Tomorrow the {one} grows by {k}. What will it be? | غدا يزيد {one} بمقدار {k}. كم سيكون؟
""",
    "analyze": """
Is the {one} even or odd, and is it more than {k}? | هل {one} زوجي أم فردي، وهل هو أكثر من {k}؟
Compare the {one} with {k}, and say whether it is even. | قارن {one} مع {k} وقل هل هو زوجي.
""",
    "evaluate": """
A note says of the {one}: {a}. Judge the note, and say why. | تقول ملاحظة عن {one}: {a}. احكم عليها واذكر السبب.
Do you trust this note on the {one}: {a}? Give your reason. | هل تثق بهذه الملاحظة عن {one}: {a}؟ اذكر السبب.
""",
    "create": """
Which title names the {one} and the {two} rightly? | ما العنوان الذي يذكر {one} و{two} كما في الصورة؟
Invent a headline from the {one} and the {two}. | ابتكر عنوانا من {one} و{two}.
""",
}
_PARITIES = """
even and more | زوجي وأكثر
odd and more | فردي وأكثر
even and not more | زوجي وليس أكثر
odd and not more | فردي وليس أكثر
"""
_VERDICTS = """
, so the note is wrong |، فالملاحظة خاطئة
, so the note is right |، فالملاحظة صحيحة
"""


def _table(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


class Part(NamedTuple):
    """A part of a kind of scene."""

    fact: str
    values: str  # a section of vcrgen/text/XX/questions.txt; empty for numbers
    en: str
    ar: str

    def value(self, facts: Any) -> str | None:
        """Its value in English; None where the picture does not tell it."""
        value = getattr(facts, self.fact)
        if not self.values:
            number = len(value) if isinstance(value, tuple) else value
            return str(number) if number else None
        words = WORDS[self.values].get(value)
        return words[_EN] if words else None

    def others(self, value: str, rng: random.Random) -> list[str]:
        """Three other values it might have."""
        if self.values:
            more = {_ONE_MORE[self.values][0]} if self.values in _ONE_MORE else set()
            every = more | {words[_EN] for words in WORDS[self.values].values()}
            return rng.sample(sorted(every - {value}), 3)
        near = [number for number in range(int(value) - 2, int(value) + 4) if number >= 0 and number != int(value)]
        return [str(number) for number in rng.sample(near, 3)]


_EN, _AR = (QUESTION_LANGUAGES.index(lang) for lang in ("en", "ar"))
NOTHING = "none"
_ONE_MORE = {"times": ("sunrise", "الشروق"), "baskets": ("newspapers", "الصحف")}  # where there are only three values
PARTS: dict[str, list[Part]] = {}
for _kind, *_row in _table(_PARTS):
    PARTS.setdefault(_kind, []).append(Part(*_row))
NAMES = dict(pair.split() for pair in " ".join(_NAMES.split()).split("|"))
OPENINGS, PARITIES, VERDICTS = (dict(_table(text)) for text in (_OPENINGS, _PARITIES, _VERDICTS))
WRONG, RIGHT = VERDICTS
FORMS = {level: dict(_table(text)) for level, text in _FORMS.items()}
_LABELS = {part.en: part for parts in PARTS.values() for part in parts}
_VALUES = {
    words[_EN]: words[_AR]
    for section in ("times", "colours", "moons", "seasons", "baskets", "fruits")
    for words in WORDS[section].values()
} | dict(_ONE_MORE.values())


class Question(NamedTuple):
    """A question with four options: the right one, the trap, two others."""

    text: str
    options: tuple[str, ...]


def told(kind: str, facts: Facts) -> list[Part]:
    """The parts of a picture whose values it tells."""
    return [part for part in PARTS[kind] if part.value(facts) is not None]


def suits(path: str, kind: str) -> bool:
    """Return True if there are questions for a category about a kind of scene."""
    level = path.partition("/")[0]
    return level not in ("apply", "analyze") or any(not part.values for part in PARTS[kind])


def ask(path: str, kind: str, facts: Facts, rng: random.Random) -> Question | None:
    """A question for a leaf about a picture, or None where it has too few parts for it."""
    level = path.partition("/")[0]
    form = rng.choice(list(FORMS[level]))
    numeric = level in ("apply", "analyze")
    parts = [part for part in told(kind, facts) if not (numeric and part.values)]
    if len(parts) < 1 + ("{two}" in form):
        return None
    one, two = (parts * 2 if len(parts) == 1 else rng.sample(parts, 2))[:2]
    a, b = one.value(facts) or "", two.value(facts) or ""
    other_a, other_b = one.others(a, rng), two.others(b, rng)
    values = {"one": one.en, "two": two.en}
    match level:
        case "remember":
            options = [a, *_in_order(other_a)]
        case "apply":
            values["k"] = str(rng.randint(2, 5))
            options = [str(int(number) + int(values["k"])) for number in (a, *_in_order(other_a))]
        case "analyze":
            values["k"] = str(max(1, int(a) + rng.randint(-2, 2)))
            options = list(PARITIES)
            options.insert(0, options.pop(int(a) % 2 + 2 * (int(a) <= int(values["k"]))))
        case "evaluate":
            # Each value is the note's as often: who does not look cannot tell which option is the right one.
            values["a"] = rng.choice([a, *other_a])
            others = sorted(_in_order(other_a), key=lambda value: value != values["a"])
            options = [_judged(value, values["a"]) for value in (a, *others)]
        case _:
            pairs = [(a, b), (a, other_b[0]), (other_a[0], b), (other_a[0], other_b[0])]
            if level == "create":
                options = [f"{first} with {second}" for first, second in pairs]
            else:
                options = [f"{one.en}: {first}; {two.en}: {second}" for first, second in pairs]
    opening = rng.choice(list(OPENINGS)).format(n=rng.choice(list(NAMES)))
    return Question(f"{opening} {form.format(**values)}", tuple(options))


def _judged(value: str, noted: str) -> str:
    """Return the judgement of a note, with the value in the picture."""
    return value + (RIGHT if value == noted else WRONG)


def _in_order(values: Sequence[str]) -> list[str]:
    """Numbers by size; words in an order in which a model does not easily say one twice."""
    return sorted(values, key=lambda value: (len(value), value))


def in_arabic(text: str) -> str | None:
    """A question or an option in Arabic; None for what is no text of this language."""
    if text in _VALUES:
        return _VALUES[text]
    if text in PARITIES:
        return PARITIES[text]
    if re.fullmatch(r"\d{1,2}", text):
        return text
    if found := _read(text):
        opening, name, level, form, values = found
        words = {key: _LABELS[value].ar if key in ("one", "two") else in_arabic(value) for key, value in values.items()}
        if None in words.values():
            return None
        return f"{OPENINGS[opening].format(n=NAMES[name])} {FORMS[level][form].format(**words)}"
    for verdict, arabic in VERDICTS.items():
        if text.endswith(verdict):
            value = in_arabic(text.removesuffix(verdict))
            return value and f"{value}{arabic}"
    first, _, second = text.partition(" with ")
    if second and (both := (in_arabic(first), in_arabic(second))) and None not in both:
        return f"{both[0]} مع {both[1]}"
    points = [point.partition(": ") for point in text.split("; ")]
    if len(points) == 2 and all(label in _LABELS and value in (*_VALUES, *_NUMBERS) for label, _, value in points):
        return "؛ ".join(f"{_LABELS[label].ar}: {in_arabic(value)}" for label, _, value in points)
    return None


_NUMBERS = tuple(map(str, range(100)))


@cache
def _patterns() -> list[tuple[str, str, re.Pattern[str]]]:
    labels = "|".join(map(re.escape, sorted(_LABELS, key=len, reverse=True)))
    kinds = {"one": labels, "two": labels, "k": r"\d{1,2}", "a": r"[\w ]+"}
    found = []
    for level, forms in FORMS.items():
        for form in forms:
            pattern = re.sub(r"\\{(\w+)\\}", lambda name: f"(?P<{name[1]}>{kinds[name[1]]})", re.escape(form))
            found.append((level, form, re.compile(pattern)))
    return found


def _read(text: str) -> tuple[str, str, str, str, dict[str, str]] | None:
    """The opening of a question, who is named there, its level, form, and what is put into the form."""
    for opening in OPENINGS:
        before, after = opening.split("{n}")
        name, found, rest = text.removeprefix(before).partition(after + " ")
        if not text.startswith(before) or not found or name not in NAMES:
            continue
        for level, form, pattern in _patterns():
            if match := pattern.fullmatch(rest):
                return opening, name, level, form, match.groupdict()
    return None


def level_of(text: str) -> str | None:
    """The level whose form a question has; None for what is no question of this language."""
    found = _read(text)
    return found and found[2]


def seen(kind: str, facts: Facts, text: str) -> str:
    """Return the values of the parts that a question names; ``NOTHING`` for parts that a picture lacks."""
    if (found := _read(text)) is None:
        return NOTHING
    told_parts = {part.en: part.value(facts) for part in told(kind, facts)}
    named = dict.fromkeys(found[4][name] for name in ("one", "two") if name in found[4])
    return "; ".join(f"{label}: {told_parts.get(label, NOTHING)}" for label in named)


def right_answer(kind: str, facts: Facts, text: str) -> str | None:
    """The answer to a question about a picture; None where it has none there."""
    if (found := _read(text)) is None:
        return None
    _, _, level, _, values = found
    known = {part.en: value for part in PARTS[kind] if (value := part.value(facts)) is not None}
    one, two = known.get(values["one"]), known.get(values.get("two", values["one"]))
    if one is None or two is None or (level in ("apply", "analyze") and not one.isdigit()):
        return None
    match level:
        case "remember":
            return one
        case "understand":
            return f"{values['one']}: {one}; {values['two']}: {two}"
        case "apply":
            return str(int(one) + int(values["k"]))
        case "analyze":
            return f"{('even', 'odd')[int(one) % 2]} and {'more' if int(one) > int(values['k']) else 'not more'}"
        case "evaluate":
            return _judged(one, values["a"])
        case _:
            return f"{one} with {two}"


def true_options(kind: str, facts: Facts, text: str, options: Sequence[str]) -> list[int] | None:
    """The numbers of the options that are true of a picture; None where the question has no answer there."""
    right = right_answer(kind, facts, text)
    return None if right is None else [number for number, option in enumerate(options) if option == right]


def phrases() -> list[str]:
    """All of which texts of this language are put together: one token each, so that a small model learns fast."""
    forms = [form for table in (OPENINGS, *FORMS.values()) for pair in table.items() for form in pair]
    pieces = [piece for form in forms for piece in re.split(r"{\w+}", form) if len(piece) > 1]
    words = [word for table in (NAMES, PARITIES, VERDICTS, _VALUES) for pair in table.items() for word in pair]
    labels = [label for part in _LABELS.values() for label in (part.en, part.ar)]
    plain = [NOTHING, " with ", " مع ", "; ", "؛ ", ": ", " | "]
    return list(dict.fromkeys([*pieces, *words, *labels, *_NUMBERS, *plain]))
