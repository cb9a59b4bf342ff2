"""The posterior against an enumeration of all texts, each rendered by the package itself."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.core.records import Span
from vcrgen.pixels import posterior
from vcrgen.pixels.lexicon import Lexicon, make_lexicon
from vcrgen.pixels.posterior import VisibleCell, lower_bound, read_span, stretch_bits, visible_cell
from vcrgen.pixels.templates import STEP, Templates
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Layout, Line, Margins
from vcrgen.typeset.render import render_strip

WORDS = {"a": 5.0, "if": 3.0, "fir": 2.0, "tar": 2.0, "AV": 1.0, "rat": 2.0, "art": 1.5, "jar": 0.7}
CAPITALS = {"AA": 3.0, "AX": 2.0, "KA": 2.0, "KX": 1.0, "VV": 1.5, "VX": 1.0, "VY": 0.7}  # whose letters overlap
CHARACTERS = {"大": 3.0, "太": 2.0, "犬": 1.0, "木": 0.5, "本": 0.4}
SHAPER = BasicShaper(default_chain(LANGUAGES["en"].fonts, size=20))
TOY = make_lexicon("toy", "en", WORDS, " ")
TOY_CAPITALS = make_lexicon("toy", "en", CAPITALS, " ")
TOY_ZH = make_lexicon("toy", "zh", CHARACTERS, "")
ROOM = 6  # pixels around a line, into which ink reaches
ROWS = 2 * SHAPER.line_height + 1 + ROOM


@cache
def templates(lexicon: Lexicon) -> Templates:
    return Templates(SHAPER.chain.glyph, lexicon)


def render(text: str, margins: Margins) -> np.ndarray:
    """Draw one line that is as wide as its pen positions, with margins."""
    line = replace(layout_caption(text, SHAPER, width=2000, max_lines=1, break_unit="word").lines[0], x=ROOM)
    strip = render_strip(layout_of(text, line))
    first, width = SHAPER.line_height, SHAPER.advance(text)
    rows = slice(first - margins.above, 2 * first + margins.below)
    return strip[rows, ROOM - margins.left : ROOM + width + margins.right]


def layout_of(text: str, line: Line) -> Layout:
    """A line that stands away from the edges of its strip, below an empty one."""
    return Layout(
        text=text,
        lines=(replace(line, end=line.start, glyphs=()), line),
        width=SHAPER.advance(text) + 2 * ROOM,
        line_height=SHAPER.line_height,
        baseline=SHAPER.baseline,
        rows_below=ROOM,
    )


def cell_of(text: str, hidden: np.ndarray, lexicon: Lexicon = TOY) -> VisibleCell:
    """All visible pixels of a text."""
    line = replace(layout_caption(text, SHAPER, width=2000, max_lines=1, break_unit="word").lines[0], x=ROOM)
    layout = layout_of(text, line)
    (cell,) = span_cells(Span(start=0, end=len(text), text=text, tokens=()), layout)
    strip = render_strip(layout)
    seen = visible_cell(templates(lexicon), strip, hidden[:, : strip.shape[1]], cell, SHAPER.baseline)
    assert min(seen.margins.left, seen.margins.below) > 0 or lexicon is not TOY
    return seen


def enumerate_texts(lexicon: Lexicon, count: int) -> dict[str, float]:
    """All texts of so many units, with their probabilities."""
    prior = dict(zip(lexicon.units, np.exp(lexicon.log_prior), strict=True))
    chosen = itertools.product(lexicon.units, repeat=count)
    return {lexicon.separator.join(units): math.prod(prior[unit] for unit in units) for units in chosen}


def slow_posterior(texts: Mapping[str, float], cell: VisibleCell, sigma: float) -> dict[str, float]:
    """Bayes' rule, text by text."""
    weights = {}
    for text, prior in texts.items():
        if SHAPER.advance(text) == cell.width:
            apart = (255 - render(text, cell.margins)).astype(int) // STEP - cell.ink.astype(int) // STEP
            energy = float((apart**2 * cell.visible).sum())
            weights[text] = math.log(prior) - energy / (2 * (sigma / STEP) ** 2)
    top = max(weights.values())
    total = sum(math.exp(weight - top) for weight in weights.values())
    return {text: math.exp(weight - top) / total for text, weight in weights.items()}


def entropy(distribution: Mapping[str, float]) -> float:
    return -sum(share * math.log2(share) for share in distribution.values() if share > 0)


def random_mask(seed: int, share: float) -> np.ndarray:
    return np.random.default_rng(seed).random((ROWS, 400)) < share


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([(TOY, 3), (TOY_ZH, 3)]),
    st.randoms(use_true_random=False),
    st.integers(0, 99),
    st.sampled_from([0.5, 0.97, 0.995, 1.0]),
    st.sampled_from([4.0, 20.0, 90.0]),
)
def test_the_posterior_is_that_of_an_enumeration(kind, random, seed, share, sigma) -> None:
    lexicon, count = kind
    text = lexicon.separator.join(random.choices(lexicon.units, k=count))
    cell = cell_of(text, random_mask(seed, share), lexicon)
    expected = slow_posterior(enumerate_texts(lexicon, count), cell, sigma)
    found = read_span(templates(lexicon), [cell], count, sigma)
    assert found.bits == pytest.approx(entropy(expected), abs=1e-6)
    assert expected[found.text] == pytest.approx(max(expected.values()))


def test_ink_of_letters_that_overlap_is_no_sum() -> None:
    hidden, place = np.ones((ROWS, 400), dtype=bool), ROOM + SHAPER.advance("A")
    hidden[:, place - 2 : place + 3] = False
    cell = cell_of("AA VV", hidden, TOY_CAPITALS)
    expected = slow_posterior(enumerate_texts(TOY_CAPITALS, 2), cell, 90.0)
    found = read_span(templates(TOY_CAPITALS), [cell], 2, 90.0)
    assert found.bits == pytest.approx(entropy(expected), abs=1e-6)


def test_texts_of_several_numbers_of_words_and_over_a_line_break() -> None:
    cells = [cell_of("fir a", random_mask(1, 0.95)), cell_of("tar", random_mask(2, 0.95))]
    texts = {}
    for count in (2, 3):
        for text, prior in enumerate_texts(TOY, count).items():
            words = text.split()
            for split in range(1, count):
                texts[" ".join(words[:split]), " ".join(words[split:])] = prior
    weights = []
    for parts, prior in texts.items():
        if [SHAPER.advance(part) for part in parts] == [cell.width for cell in cells]:
            apart = [
                (255 - render(part, cell.margins)).astype(int) // STEP - cell.ink.astype(int) // STEP
                for part, cell in zip(parts, cells, strict=True)
            ]
            energy = sum(float((a**2 * cell.visible).sum()) for a, cell in zip(apart, cells, strict=True))
            weights.append(math.log(prior) - energy / (2 * (20 / STEP) ** 2))
    shares = np.exp(np.array(weights) - max(weights))
    found = read_span(templates(TOY), cells, (2, 3), 20.0)
    assert found.bits == pytest.approx(entropy(dict(enumerate(shares / shares.sum()))), abs=1e-6)
    assert found.text == "fir a tar" and found.fit == pytest.approx(1)


@pytest.mark.parametrize("lexicon", [TOY, TOY_ZH])
def test_more_visible_pixels_leave_fewer_bits(lexicon: Lexicon) -> None:
    """On the average over the texts: one text may become less certain, as a wrong one can look more probable."""
    texts = enumerate_texts(lexicon, 2)
    widths = {SHAPER.advance(text) for text in texts}
    order = np.random.default_rng(5).random((ROWS, 400))
    left = []
    for share in (1.0, 0.99, 0.97, 0.8, 0.0):
        bits = [
            prior * read_span(templates(lexicon), [cell_of(text, order < share, lexicon)], 2, 2.0).bits
            for text, prior in texts.items()
        ]
        left.append(sum(bits))
    assert left == sorted(left, reverse=True) and left[0] > left[1] > left[-1] == pytest.approx(0, abs=1e-6)
    of_width = [sum(p for text, p in texts.items() if SHAPER.advance(text) == width) for width in widths]
    assert left[0] == pytest.approx(entropy(texts) + sum(p * math.log2(p) for p in of_width))


@settings(max_examples=20, deadline=None)
@given(
    # Words whose ink stays between their first and last pen position.
    st.lists(st.sampled_from(["a", "art", "tar", "rat"]), min_size=2, max_size=3),
    st.integers(0, 99),
    st.sampled_from([0.97, 0.995]),
    st.sampled_from(" \u202f\u2007"),
)
def test_known_places_leave_the_entropy_of_each_word(words, seed, share, space) -> None:
    cell, prior = cell_of(space.join(words), random_mask(seed, share)), enumerate_texts(TOY, 1)
    expected = 0.0
    for place, word in enumerate(words):
        # Seen in its place in the line, as the stroke of a j stands in the space before it.
        texts = {
            space.join([*words[:place], other, *words[place + 1 :]]): share
            for other, share in prior.items()
            if SHAPER.advance(other) == SHAPER.advance(word)
        }
        expected += entropy(slow_posterior(texts, cell, 20.0))
    assert lower_bound(templates(TOY), [cell], [space.join(words)], 20.0) == pytest.approx(expected, abs=0.02)


def test_a_word_that_is_seen_whole_parts_two_covered_stretches() -> None:
    words = [word for word in TOY.units if len(word) > 1][:3]
    text = " ".join(words)
    ends = [SHAPER.advance(" ".join(words[:count])) for count in (1, 2)]
    hidden = np.zeros((ROWS, 2000), dtype=bool)
    hidden[:, ROOM : ROOM + ends[0]] = hidden[:, ROOM + ends[1] + SHAPER.advance(" ") :] = True
    cell = cell_of(text, hidden)
    first, last = stretch_bits(templates(TOY), [cell], [text])
    assert first + last == pytest.approx(lower_bound(templates(TOY), [cell], [text]))
    hidden[:] = True
    (whole,) = stretch_bits(templates(TOY), [cell_of(text, hidden)], [text])
    assert whole > max(first, last)


def test_a_text_of_other_words_is_not_explained() -> None:
    seen = np.zeros((ROWS, 400), dtype=bool)
    assert read_span(templates(TOY), [cell_of("gut gut", seen)], 2).fit < posterior.LEAST_FIT
    assert read_span(templates(TOY), [cell_of("tar if", seen)], 2).fit == pytest.approx(1)


def test_no_text_is_as_wide() -> None:
    found = read_span(templates(TOY), [cell_of("i", np.zeros((ROWS, 400), dtype=bool))], 3)
    assert (found.text, found.fit) == ("", 0.0) and math.isnan(found.bits)
