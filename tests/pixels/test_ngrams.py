"""n-gram models against the definition of interpolated Kneser-Ney, written with dictionaries."""

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import ConfigError
from vcrgen.pixels import ngrams
from vcrgen.pixels.ngrams import USUAL_DISCOUNT, NgramModel, ReferenceTexts, tokenize

TEXTS = ["the boat lies on the beach", "the boat", "a boat lies", "on the beach the men lie", "the men", ""]


def slow_probability(
    paragraphs: Sequence[Sequence[str]], history: tuple[str, ...], token: str, base: float, order: int
) -> float:
    """Kneser-Ney's probability by its definition."""
    texts = [("<s>", *paragraph) for paragraph in paragraphs if paragraph]

    def all_of(length: int) -> Counter[tuple[str, ...]]:
        found = [text[at : at + length] for text in texts for at in range(len(text) - length + 1)]
        return Counter(gram for gram in found if gram != ("<s>",))

    def counts(length: int) -> Counter[tuple[str, ...]]:
        if length == order:
            return all_of(length)
        before = Counter(gram[1:] for gram in all_of(length + 1))
        return Counter({gram: before[gram] or times for gram, times in all_of(length).items()})

    found = base
    for length in range(1, min(len(history) + 1, order) + 1):
        grams = counts(length)
        ones, twos = sum(n == 1 for n in grams.values()), sum(n == 2 for n in grams.values())
        discount = ones / (ones + 2 * twos) if ones and twos else USUAL_DISCOUNT
        after = history[len(history) - length + 1 :]
        own = {gram[-1]: times for gram, times in grams.items() if gram[:-1] == after}
        if own:
            kept = {one: max(times - discount, 0) for one, times in own.items()}
            total = sum(own.values())
            found = kept.get(token, 0) / total + (1 - sum(kept.values()) / total) * found
    return found


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_are_those_of_the_definition(order: int) -> None:
    paragraphs = [text.split() for text in TEXTS]
    model = NgramModel(paragraphs, order)
    words = list(model.vocabulary)
    for history in itertools.product(["<s>", *words[:4], "nets"], ["the", "boat", "on", "men"]):
        numbers = [0 if word == "<s>" else model.vocabulary.get(word, -1) for word in history]
        found = model.probabilities(model.history(numbers), np.array(model.numbers(words)), np.full(len(words), 0.1))
        kept = history if "nets" not in history else history[1:]
        slow = [slow_probability(paragraphs, kept, word, 0.1, order) for word in words]
        assert found == pytest.approx(slow)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abc ", max_size=12), min_size=1, max_size=6), st.text("abcd", max_size=4))
def test_probabilities_sum_to_one(texts: list[str], before: str) -> None:
    model = NgramModel([list(text) for text in texts], 3)
    tokens = np.array([-1, *model.vocabulary.values()])
    history = model.history(model.numbers(before))
    assert model.probabilities(history, tokens, np.full(len(tokens), 1 / len(tokens))).sum() == pytest.approx(1)


def test_tokens_are_words_or_characters() -> None:
    assert tokenize("Don’t stop, O'Neil: 1,500 well-known boats_", "en") == [
        *("don't", "stop", ",", "o'neil", ":", "1", ",", "500", "well-known", "boats")
    ]
    assert tokenize("小 河\n，", "zh") == ["小", "河", ","]
    assert tokenize("작은  강", "ko") == ["작", "은", " ", "강"]


def test_reference_texts_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("the boat\nlies\n\nthe men", "utf-8")
    texts = ReferenceTexts([file])
    model = texts.model("en")
    assert model is texts.model("en") and set(model.vocabulary) == {"the", "boat", "lies", "men"}
    (lies,) = model.probabilities(
        model.history(model.numbers(["boat"])), np.array(model.numbers(["lies"])), np.zeros(1)
    )
    assert lies > 0.2  # lines of one paragraph belong together
    other.write_bytes(b"caf\xe9")
    with pytest.raises(ConfigError, match="UTF-8"):
        ReferenceTexts([other])
    with pytest.raises(ConfigError, match="cannot be read"):
        ReferenceTexts([tmp_path / "none.txt"])
    other.write_text(" \n", "utf-8")
    with pytest.raises(ConfigError, match="empty"):
        ReferenceTexts([other])
    assert ReferenceTexts([file, other]).digest != texts.digest
    monkeypatch.setattr(ngrams, "MAX_TEXT_BYTES", 30)
    with pytest.raises(ConfigError, match="more than 0 MiB"):
        ReferenceTexts([file, file])
    monkeypatch.setattr(ngrams, "MAX_TOKENS", 3)
    with pytest.raises(ConfigError, match="more than 3 tokens"):
        texts.model("de")
