"""The posterior in context against an enumeration of all texts, each rendered by the package itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pixels.test_posterior import ROWS, SHAPER, TOY, TOY_ZH, cell_of, entropy, random_mask, render, templates
from vcrgen.pixels.context import Context, NgramPrior, read_span_in_context
from vcrgen.pixels.energies import VisibleCell
from vcrgen.pixels.lexicon import Lexicon, make_lexicon
from vcrgen.pixels.ngrams import NgramModel, tokenize
from vcrgen.pixels.posterior import read_span
from vcrgen.pixels.templates import STEP

TEXTS = {
    TOY: ["a rat if a jar", "fir tar a jar", "a jar if rat", "the AV art", "tar, a jar"],
    TOY_ZH: ["大木太", "犬太大木", "木本太", "太太大犬"],
}
MODELS = {lexicon: NgramModel([tokenize(text, lexicon.lang) for text in texts], 3) for lexicon, texts in TEXTS.items()}


def slow_posterior(lexicon: Lexicon, cell: VisibleCell, before: str, after: str, sigma: float) -> dict[str, float]:
    """Bayes' rule, text by text: the n-gram prior of every unit and of the tokens after them."""
    model, weights = MODELS[lexicon], {}
    prior = {unit.lower(): math.exp(value) for unit, value in zip(lexicon.units, lexicon.log_prior, strict=True)}
    for count in range(1, 5):
        for units in itertools.product(lexicon.units, repeat=count):
            text = lexicon.separator.join(units)
            if SHAPER.advance(text) != cell.width:
                continue
            apart = (255 - render(text, cell.margins)).astype(int) // STEP - cell.ink.astype(int) // STEP
            weight = -float((apart**2 * cell.visible).sum()) / (2 * (sigma / STEP) ** 2)
            history = [0, *model.numbers(tokenize(before, lexicon.lang))]
            for token in [*(unit.lower() for unit in units), *tokenize(after, lexicon.lang)[:2]]:
                number = np.array(model.numbers([token]))
                base = np.array([prior.get(token, 1e-9)])
                weight += math.log(model.probabilities(model.history(history), number, base)[0])
                history.append(int(number[0]))
            weights[text] = weight
    top = max(weights.values())
    total = sum(math.exp(weight - top) for weight in weights.values())
    return {text: math.exp(weight - top) / total for text, weight in weights.items()}


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([(TOY, "a", ", a jar if"), (TOY, "", "fir"), (TOY_ZH, "大", "太大"), (TOY_ZH, "人犬", "")]),
    st.randoms(use_true_random=False),
    st.integers(0, 99),
    st.sampled_from([0.97, 0.995, 1.0]),
    st.sampled_from([4.0, 90.0]),
)
def test_the_posterior_is_that_of_an_enumeration(kind, random, seed, share, sigma) -> None:
    lexicon, before, after = kind
    text = lexicon.separator.join(random.choices(lexicon.units, k=2))
    cell = cell_of(text, random_mask(seed, share), lexicon)
    expected = slow_posterior(lexicon, cell, before, after, sigma)
    prior = NgramPrior(MODELS[lexicon], lexicon, "toy")
    found = read_span_in_context(templates(lexicon), [cell], Context(prior, before, after, first=True), sigma)
    assert found.bits == pytest.approx(entropy(expected), abs=0.02)
    assert expected[found.text] == pytest.approx(max(expected.values()), rel=1e-6)


def test_the_words_around_decide_what_pixels_leave_open() -> None:
    hidden = np.ones((ROWS, 400), dtype=bool)
    cell = cell_of("art", hidden)
    assert read_span(templates(TOY), [cell], None).text in ("tar", "rat")
    prior = NgramPrior(MODELS[TOY], TOY, "toy")
    context = Context(prior, "the AV", "", first=False)
    found = read_span_in_context(templates(TOY), [cell], context)
    assert found.text == "art" and found.bits < read_span(templates(TOY), [cell], None).bits


def test_a_text_of_many_improbable_words_is_not_lost() -> None:
    """Each word makes a text less probable, so only texts of as many words compare."""
    text = " ".join(3 * ["AV", "jar", "tar", "fir", "art", "AV", "rat", "if", "AV", "tar", "fir", "AV"])
    prior = NgramPrior(MODELS[TOY], TOY, "toy")
    cell = cell_of(text, np.zeros((ROWS, 1200), dtype=bool))
    found = read_span_in_context(templates(TOY), [cell], Context(prior, "a", "", first=True))
    assert found.text == text and found.bits == pytest.approx(0, abs=0.01)


def test_the_end_of_a_line_is_a_space_where_words_have_spaces() -> None:
    lexicon = make_lexicon("toy", "ko", {"大": 1.0, "太": 1.0, " ": 1.0}, "")
    prior = NgramPrior(NgramModel([tokenize("大大 太 大 太", "ko")], 3), lexicon, "toy")
    cells = [cell_of(text, np.zeros((ROWS, 400), dtype=bool), lexicon) for text in ("大大", "太")]
    own = templates(lexicon)
    assert read_span(own, cells, None).text == "大大 太"
    assert read_span_in_context(own, cells, Context(prior, "", "", first=True)).text == "大大 太"
