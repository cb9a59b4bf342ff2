"""Checks of an item without a model: each catches the fault of its name, and nothing else."""

from collections.abc import Mapping, Sequence

import pytest

from vcrgen.bloom.generation.item_checks import (
    QUOTED_WORDS,
    check_item,
    has_foreign_words,
    is_uneven,
    may_quote,
    quotes_prompt,
)
from vcrgen.bloom.generation.prompts import prompt_hashes, template
from vcrgen.bloom.generation.stages import PROMPTS
from vcrgen.bloom.numbers import folded_words
from vcrgen.bloom.rejects import ItemRejected
from vcrgen.data.tasks.bloom import ChoiceQuestion

Texts = tuple[str, Sequence[str]]
EN: Texts = ("What stands left of the red boat?", ["a stone house", "a tall tree", "a small wall", "a wooden bench"])
AR: Texts = ("ماذا يوجد على يسار القارب الأحمر؟", ["بيت حجري", "شجرة طويلة", "جدار صغير", "مقعد خشبي"])
SIGNS = ["STOP", "GO", "EXIT", "WAIT"]


def dropped(en: Texts = EN, ar: Texts | None = AR) -> str:
    given: Mapping[str, Texts] = {"en": en} | ({"ar": ar} if ar else {})
    questions = {lang: ChoiceQuestion(stem, tuple(options)) for lang, (stem, options) in given.items()}
    try:
        check_item(questions, "translation")
    except ItemRejected as found:
        assert found.stage == "translation"
        return f"{found.reason.value} {found.detail}"
    return ""


@pytest.mark.parametrize(
    ("en", "ar"),
    [
        (EN, AR),
        (EN, None),
        (("How many boats are there?", ["1", "2", "3", "4"]), ("كم عدد القوارب؟", list("١٢٣٤"))),
        (("What does the sign say?", SIGNS), ("ماذا تقول اللافتة؟", SIGNS)),
        (("Which is it?", ["Alfa", "Beta", "Gama", "Delta"]), ("ما العلامة هنا؟", ["ألفا", "Beta", "غاما", "Delta"])),
        (("How far?", ["5 km", "6 km", "7 km", "8 km"]), ("كم المسافة؟", ["5 km", "6 km", "7 km", "8 km"])),
        (("Why so?", ["It is wet.", "It is old.", "It is hot.", "It is new."]), ("لماذا؟", [x + "." for x in AR[1]])),
    ],
)
def test_a_good_item_passes(en: Texts, ar: Texts | None) -> None:
    assert dropped(en, ar) == ""


@pytest.mark.parametrize(
    ("en", "ar", "reason"),
    [
        (EN, (EN[0], AR[1]), "faulty_text wrong_script: in ar"),
        (EN, (AR[0], EN[1]), "faulty_text wrong_script: in ar"),
        (EN, (AR[0] * 3, EN[1]), "faulty_text wrong_script: an option in ar"),
        (EN, (AR[0], [*AR[1][:3], "a wooden bench"]), "faulty_text wrong_script: an option in ar"),
        (AR, AR, "faulty_text wrong_script: in en"),
        (EN, (AR[0] + " ٧", AR[1]), "faulty_text numbers_differ: in en and ar"),
        (EN, (AR[0], ["٧ بيوت", *AR[1][1:]]), "faulty_text numbers_differ: in en and ar"),
        (("How many?", list("1234")), ("كم؟", list("١٢٣٥")), "faulty_text numbers_differ: in en and ar"),
        ((EN[0], ["a Tall tree ", *EN[1][1:]]), AR, "faulty_text equal_options: in en"),
        ((EN[0], ["a <b>tree</b>", *EN[1][1:]]), AR, "faulty_text markup: in en"),
        ((EN[0], ["a tree\u202e", *EN[1][1:]]), AR, "faulty_text control_character: in en"),
        (("Which of the following is there?", EN[1]), AR, "faulty_text points_at_options: in en"),
        ((EN[0], ["7", *EN[1][1:]]), None, "uneven_options in en"),
        ((EN[0], [*EN[1][:3], "a wooden bench."]), AR, "uneven_options in en"),
        (EN, (AR[0], ["بيت حجري.", *AR[1][1:]]), "uneven_options in ar"),
        ((EN[0], ["a house of stone that has a very long description", *EN[1][1:]]), AR, "uneven_options in en"),
        (("Look at the picture and write a question about it: what?", EN[1]), AR, "quoted_prompt in en"),
        ((EN[0], ["the right thing with the wrong property", *EN[1][1:]]), AR, "quoted_prompt in en"),
    ],
)
def test_each_validator_catches_what_it_is_named_for(en: Texts, ar: Texts | None, reason: str) -> None:
    assert dropped(en, ar) == reason


def test_six_words_of_a_prompt_in_a_row_are_a_quotation() -> None:
    assert quotes_prompt("... WRITE one JSON object, and nothing ...")
    assert not quotes_prompt("write one JSON object and") and not quotes_prompt(EN[0])


def test_three_words_of_a_prompt_in_a_row_are_no_quotation() -> None:
    stem = "Look at the left: what stands there?"
    assert may_quote(stem) and not quotes_prompt(stem)
    assert not dropped((stem, EN[1]))


def test_the_quick_look_for_quotations_misses_none() -> None:
    prompts = folded_words("\n".join(map(template, PROMPTS)))
    for at in range(len(prompts) - QUOTED_WORDS + 1):
        quotation = " ".join(prompts[at : at + QUOTED_WORDS])
        assert quotes_prompt(quotation)
        assert all(may_quote(f"{before} {quotation.upper()}. {AR[0]}") for before in ("", "x", "x y", "x y z"))
    assert not may_quote(AR[0]) and not may_quote(" ".join((EN[0], *EN[1])))


def test_lengths_may_differ_three_times_and_twelve_characters() -> None:
    assert not is_uneven(["ab", "ab", "ab", "a" * 18]) and is_uneven(["ab", "ab", "ab", "a" * 19])
    assert not is_uneven(["a boat", "two boats", "no boat", "a very old boat"])
    assert is_uneven(["a", "b", "c", "a very long and careful option"])


@pytest.mark.parametrize(
    "options",
    [["3", "14", "2", "1,000"], ["٣٫٥", "٤", "١٬٥٠٠", "٧"], ["٥٪", "٦", "٧", "٨"], ["\u22125", "6", "7", "-8"]],
)
def test_numbers_are_of_one_kind_whatever_their_signs(options: list[str]) -> None:
    assert not is_uneven(options) and is_uneven(["قارب", *options[1:]])


def test_options_of_other_scripts() -> None:
    assert (
        has_foreign_words("ar", "red boat")
        and not has_foreign_words("ar", "RED BOAT")
        and not has_foreign_words("ar", "5 km")
    )
    assert has_foreign_words("zh", "the red boat") and not has_foreign_words("en", "bateau rouge")


def test_every_prompt_has_a_hash_of_its_own() -> None:
    assert len(set(prompt_hashes(PROMPTS).values())) == len(PROMPTS)
