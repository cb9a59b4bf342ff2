"""The reader that sees no picture: it finds what is planted, and nothing in a fair set."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from vcrgen.data.tasks.bloom import ChoiceItem, ChoiceQuestion
from vcrgen.data.tasks.text_reader import MARGIN, MIN_ITEMS, Options, ReaderFigure, fit, highest, read_without_pictures

WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ale", "ine", "oke", "ump", "ash", "ift")]


def drawn(seed: int, items: int = 240, options: int = 4, per_picture: int = 2) -> list[ChoiceItem]:
    """Items of random words, of which the right option is drawn by lot."""
    draws = random.Random(seed)
    return [
        ChoiceItem(
            question_id=f"q{number}",
            path=f"apply/a/{number % 3}",
            picture=f"{seed}-{number // per_picture}",
            questions={
                "en": ChoiceQuestion(
                    " ".join(draws.sample(WORDS, 5)), tuple(" ".join(draws.sample(WORDS, 2)) for _ in range(options))
                )
            },
            answer=draws.randrange(options),
            trap=None,
        )
        for number in range(items)
    ]


def said(item: ChoiceItem, change: Callable[[int, str], str]) -> ChoiceItem:
    """The item with other words in its options."""
    stem, options = item.questions["en"]
    texts = tuple(change(number, option) for number, option in enumerate(options))
    return replace(item, questions={"en": ChoiceQuestion(stem, texts)})


def shortcuts(items: list[ChoiceItem], training: list[ChoiceItem] | None = None) -> dict[str, float]:
    figures = read_without_pictures(items, training=training)
    return {figure.category: figure.right for figure in figures if figure.is_shortcut}


@pytest.mark.parametrize("options", [2, 4, 10])
def test_nothing_is_found_in_fair_sets(options: int) -> None:
    for seed in range(3):
        items = drawn(seed, options=options)
        figures = read_without_pictures(items)
        assert not [figure for figure in figures if figure.is_shortcut]
        assert all(figure.chance == pytest.approx(1 / options) for figure in figures)
        assert [figure.category for figure in figures] == ["", "apply/a/0", "apply/a/1", "apply/a/2"]


def test_a_word_of_right_options_is_learned_from_other_pictures_or_other_seeds() -> None:
    """By cross-validation, and from another set; a reader that has learned from nothing alike finds nothing."""

    def planted(items: list[ChoiceItem]) -> list[ChoiceItem]:
        draws = random.Random(1)
        words = [["kite", "lamp"][draws.random() < 0.3] for _ in items]
        return [
            said(item, lambda at, text, word=word, key=item.answer: f"{word if at == key else 'lamp'} {text}")
            for item, word in zip(items, words, strict=True)
        ]

    items, others = planted(drawn(1)), planted(drawn(2))
    assert shortcuts(items)[""] > 0.6
    assert shortcuts(items, others)[""] > 0.6
    assert not shortcuts(items, drawn(3))


def test_the_form_of_options_is_read_by_category() -> None:
    """Where the right option is the longest one in one of three categories, that one is named."""
    long = [
        said(item, lambda at, text, item=item: text + " and more" * (at == item.answer and item.path == "apply/a/0"))
        for item in drawn(5, items=180)
    ]
    found = shortcuts(long)
    assert found["apply/a/0"] > 0.9 and "apply/a/1" not in found


def test_a_small_set_is_not_read() -> None:
    assert read_without_pictures(drawn(5, items=MIN_ITEMS)) and not read_without_pictures(drawn(5, items=MIN_ITEMS - 1))


def test_a_shortcut_is_above_chance_by_more_than_the_margin_and_by_more_than_luck() -> None:
    figure = ReaderFigure("en", "", 10_000, 0.27, 0.25, 0.0043, tests=20)
    assert figure.right > figure.limit and not figure.is_shortcut  # within the margin
    assert figure._replace(right=0.25 + MARGIN + 0.001).is_shortcut
    assert not figure._replace(right=0.3, error=0.05).is_shortcut  # may be luck
    assert figure._replace(tests=500).limit > figure.limit


def test_items_of_one_picture_are_one_piece_of_evidence() -> None:
    """Copies of an item on its picture change neither the share nor its error, where nothing can be learned."""
    once = [replace(item, picture=item.question_id) for item in drawn(6, items=MIN_ITEMS, per_picture=1)]
    copies = [replace(item, question_id=f"{item.question_id}-{n}") for item in once for n in range(4)]
    one, four = (read_without_pictures(items, training=drawn(7))[0] for items in (once, copies))
    assert four.right == pytest.approx(one.right) and four.error >= 0.95 * one.error


def test_a_fit_gives_the_probabilities_of_the_logit_model() -> None:
    """One feature that is right in three of four items: its weight approaches the logarithm of the odds."""
    items = 400
    rows = np.arange(0, 2 * items, 2)  # the first option of each has the feature 7
    answers = np.array([0, 0, 0, 1] * (items // 4))
    starts = np.arange(items) * 2
    options = Options(np.full(items, 7), rows, starts, np.full(items, 2), answers)
    assert fit(options)[7] == pytest.approx(np.log(3), abs=0.05)
    half = options.subset(range(0, items, 2))
    assert len(half.features) == len(half.starts) == items // 2 and list(half.answers[:3]) == [0, 0, 0]


def test_ties_are_shared() -> None:
    assert highest([1.0, 2.0, 2.0]) == {1, 2}
