"""The labelled corpus of outputs: on the half that was held back, no key letter is read worse than another."""

from collections import Counter
from functools import cache

import pytest

from tests.scorer.mcq.answers import Answer, answers
from vcrgen.scorer.mcq.grammar import read_choice

ANIMALS = ("a cat", "a dog", "a horse", "a cow")
YES_NO = ("Yes", "No", "Not visible", "Both")
NAAM_LA = ("نعم", "لا", "غير واضح", "كلاهما")


def outcome(answer: Answer) -> str:
    choice = read_choice(answer.output, answer.options).choice
    return "right" if choice == answer.choice else "unread" if choice is None else "wrong"


@cache
def outcomes(options: int, *, held_back: bool) -> dict[int, Counter[str]]:
    found = {key: Counter[str]() for key in range(options)}
    for answer in answers(options):
        if answer.held_back == held_back:
            found[answer.key][outcome(answer)] += 1
    return found


def test_the_corpus_is_large_and_even_and_half_of_it_is_held_back() -> None:
    keys, langs = Counter(each.key for each in answers()), Counter(each.lang for each in answers())
    assert len(answers()) > 6_000 and max(keys.values()) - min(keys.values()) < 0.03 * len(answers())
    assert min(langs.values()) > 1_500 and len({each.template for each in answers()}) > 1_000
    assert 0.45 < sum(each.held_back for each in answers()) / len(answers()) < 0.55
    assert all(each.options[each.choice] == each.options[each.key] for each in answers() if each.choice is not None)


def test_no_output_has_two_labels() -> None:
    labels: dict[tuple[str, tuple[str, ...]], set[int | None]] = {}
    for each in answers():
        labels.setdefault((each.output, each.options), set()).add(each.choice)
    assert [said for said, choices in labels.items() if len(choices) > 1] == []


@pytest.mark.parametrize(("options", "held_back"), [(4, True), (10, True), (10, False)])
def test_no_key_letter_is_read_worse_than_another(options: int, *, held_back: bool) -> None:
    found = outcomes(options, held_back=held_back)
    shares = {name: [each[name] / each.total() for each in found.values()] for name in ("right", "wrong")}
    assert min(shares["right"]) > 0.95 and max(shares["wrong"]) < 0.01
    assert max(shares["right"]) - min(shares["right"]) < 0.01


def test_what_the_rules_were_written_for_they_read() -> None:
    assert [each.output for each in answers() if not each.held_back and outcome(each) != "right"] == []


@pytest.mark.parametrize("key", range(4))
@pytest.mark.parametrize(
    "template",
    [
        "I'd go with {X}.",
        "I would choose {X} rather than {Y}.",
        "We can rule out {Y}. So {X}.",
        "The answer is {X}. The answer {Y} is wrong.",
        "The answer could be {Y}, but I think it is {X}.",
        "The {second} option.",
        "الخيار {الثاني}",
    ],
)
def test_a_sentence_is_read_alike_for_every_letter(template: str, key: int) -> None:
    ordinals = [("first", "الأول"), ("second", "الثاني"), ("third", "الثالث"), ("fourth", "الرابع")][key]
    for other in {0, 1, 2, 3} - {key}:
        said = template.replace("{X}", "ABCD"[key]).replace("{Y}", "ABCD"[other])
        said = said.replace("{second}", ordinals[0]).replace("{الثاني}", ordinals[1])
        assert read_choice(said, ANIMALS).choice == key
        # Of an ordinal it is the place on the page that counts, in every order of the options.
        assert read_choice(said, ANIMALS, rotation=1).choice == (key + 1) % 4


@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("لا أستطيع الإجابة", NAAM_LA),
        ("There is no way to tell.", YES_NO),
        ("Both B and C are possible.", YES_NO),
        ("The answer is both B and A.", ANIMALS),
        ("Not sure at all", ("not sure", "one", "two", "three")),
    ],
)
def test_words_of_running_text_are_no_options(output: str, options: tuple[str, ...]) -> None:
    assert read_choice(output, options).choice is None
