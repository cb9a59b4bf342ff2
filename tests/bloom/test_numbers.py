"""Numbers in texts of two languages."""

import re

import pytest
from hypothesis import given, strategies

from vcrgen.bloom.numbers import folded_words, may_differ, numbers_differ

SAME = [
    ("1,000 boats", "١٬٠٠٠ قارب"),
    ("1,000 boats", "1000 قارب"),
    ("12 345 boats", "12,345 قاربا"),
    ("1,234,567", "١٬٢٣٤٬٥٦٧"),
    ("2.5 m", "٢٫٥ م"),
    ("2.5 m", "2,5 م"),
    ("1.250 kg", "١٫٢٥ كغ"),
    ("007", "٧"),
    ("7:30", "٧:٣٠"),
    ("3 boats", "ثلاثة قوارب"),
    ("the 3 boats", "للقوارب الثلاثة"),
    ("4 girls", "أربع فتيات"),
    ("3rd floor", "الطابق الثالث"),
    ("a 3D model", "نموذج ثلاثي الأبعاد"),
    ("1 boat", "قارب"),
    ("2 boats", "قاربان"),
    ("2 boats", "القاربين"),
    ("12 boats", "اثنا عشر قاربا"),
    ("13 boats", "ثلاثة عشر قاربا"),
    ("25 boats", "خمسة وعشرون قاربا"),
    ("twenty-five boats", "٢٥ قاربا"),
    ("twenty-one boats", "واحد وعشرون قاربا"),
    ("300 boats", "ثلاثمئة قارب"),
    ("two thousand boats", "ألفا قارب"),
    ("four boats", "أربعة قوارب"),
    ("seven of them", "سَبْعَةٌ منها"),
    ("the one on the left", "الذي على اليسار"),
    ("A dozen eggs", "اثنتا عشرة بيضة"),
    ("both boats", "كلا القاربين"),
    ("the second boat", "القارب الثاني"),
    ("a few seconds", "بضع ثوان"),
    ("5 كم", "５ km"),
    ("५ boats", "5 قوارب"),
    ("no boats", "لا قوارب"),
    ("two boats ـ", "قاربان ـ"),  # folding leaves nothing of the stroke that makes a word longer
]
OTHER = [
    ("a boat", "٧ قوارب"),  # added
    ("a lion in a field", "٧ أسود في حقل"),
    ("7 boats", "قوارب"),  # lost
    ("3 boats", "٤ قوارب"),  # changed
    ("3 boats", "أربعة قوارب"),
    ("three boats", "أربعة قوارب"),
    ("three boats", "٤ قوارب"),
    ("twelve boats", "ثلاثة عشر قاربا"),
    ("twenty-five boats", "ستة وعشرون قاربا"),
    ("2.5 m", "٢٥ م"),
    ("1,000 boats", "١٠٠ قارب"),
    ("3 boats, 3 cars", "٣ قوارب وسيارات"),
    ("2 or 4", "٢ أو ٤ أو ٦"),
    ("300 boats", "قوارب"),
    ("7:30", "٧:٤٥"),
    ("3 boats and two cars", "٣ قوارب وأربع سيارات"),  # the digits are the same
    ("ｔｗｏ boats", "ثلاثة قوارب"),
    ("\u1e97wo boats", "ثلاثة قوارب"),
    ("two_boats", "ثلاثة قوارب"),
]


@pytest.mark.parametrize(("en", "ar"), SAME)
def test_the_same_numbers(en: str, ar: str) -> None:
    assert not numbers_differ({"en": en, "ar": ar}) and not numbers_differ({"ar": ar, "en": en})


@pytest.mark.parametrize(("en", "ar"), OTHER)
def test_other_numbers(en: str, ar: str) -> None:
    assert numbers_differ({"en": en, "ar": ar}) and numbers_differ({"ar": ar, "en": en})
    assert may_differ({"en": en, "ar": ar})


def test_a_number_of_two_readings_is_found_by_either() -> None:
    assert not numbers_differ({"en": "3.000 m", "ar": "ثلاثة أمتار"})
    assert not numbers_differ({"en": "3,000 m", "ar": "ثلاثة آلاف متر"})


def test_where_the_words_of_a_language_are_not_known_each_has_to_lack_a_number() -> None:
    assert not numbers_differ({"en": "3 boats", "de": "drei Boote"})
    assert numbers_differ({"en": "3 boats", "de": "4 Boote"})
    assert numbers_differ({"en": "3 boats", "de": "3 Boote", "ar": "٤ قوارب"})


def test_what_is_looked_at_closely_has_a_digit_or_words_that_count_in_two_languages() -> None:
    assert may_differ({"en": "a boat", "ar": "٤ قوارب"}) and may_differ({"en": "two boats", "ar": "ثلاثة قوارب"})
    assert not may_differ({"en": "two boats", "ar": "بيت"}) and not may_differ({"en": "one boat", "de": "drei Boote"})


@given(strategies.text(strategies.characters(max_codepoint=127)) | strategies.text())
def test_words_of_ascii_are_found_as_all_are(text: str) -> None:
    assert list(folded_words(text)) == re.findall(r"\w+", text.casefold())
