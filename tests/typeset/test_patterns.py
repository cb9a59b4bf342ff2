"""Covers that are not rows: what they hide in every font, and what they leave alone."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from vcrgen.core.errors import FontError
from vcrgen.core.records import Mode, Span
from vcrgen.text.languages import LANGUAGES, CoverTarget
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import TOLERANCE, make_calibrator
from vcrgen.typeset.cover import clip_cover, cover_spans, draw_layers, is_covered, span_cells, with_seed
from vcrgen.typeset.cover_kinds import PATTERN_KINDS
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.patterns import PatternCover
from vcrgen.typeset.records import Box, Cell, Cover
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.style import Style, make_style

WHOLE_LETTERS = ("bars", "blots")  # what they leave depends on the letters that they hide
TEXT = "Muhammad Sadig Sanjrani, just a Pakistani (young) politician who jogs from Balochistan"
SPANS = ("Sanjrani, just a", "politician who", "jogs", "from")  # the last two touch, one runs over a line's end


def style_of(kind: str, lang: str = "en", font: str | None = None, size: int = 20) -> Style:
    row = LANGUAGES[lang]
    chain = default_chain(row.fonts, size=size, first=resolve_font(font) if font else None)
    return make_style(row, chain, width=300, max_height=900, cover=kind)


@pytest.fixture(scope="module")
def styles() -> dict[str, Style]:
    return {kind: style_of(kind) for kind in PATTERN_KINDS}


def spans() -> list[Span]:
    starts = [(TEXT.index(text), text) for text in SPANS]
    return [Span(start=at, end=at + len(text), text=text, tokens=tuple(text.split())) for at, text in starts]


LAYOUT = layout_caption(
    TEXT, BasicShaper(default_chain(LANGUAGES["en"].fonts, size=20)), width=220, max_lines=5, break_unit="word"
)
CELLS = {span: span_cells(span, LAYOUT) for span in spans()}
LAYERS = draw_layers(LAYOUT, chain.from_iterable(CELLS.values()))
STRIP = 255 - LAYERS.ink


def covered(style: Style, mode: Mode, seed: int = 3):
    rules = {span: with_seed(style.calibrations[mode].rule, seed + span.start) for span in CELLS}
    return cover_spans(rules, CELLS, STRIP, LAYERS)


def mask_of(found) -> np.ndarray:
    hidden = np.zeros(STRIP.shape, int)
    for span in found:
        for cover in span.covers:
            assert cover.mask is not None
            hidden[cover.box.area] += cover.mask
    return hidden


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_every_kind_reaches_the_targets(kind: str) -> None:
    for lang, font, size in (("en", None, 6), ("zh", "wenquanyi-micro-hei", 20)):
        for mode, cover in style_of(kind, lang, font, size).calibrations.items():
            assert abs(cover.visible - LANGUAGES[lang].cover_targets[mode].visible) <= TOLERANCE
            spread = 0.3 if kind in WHOLE_LETTERS else 0.2
            assert cover.low <= cover.visible <= cover.high < cover.low + spread
            assert cover.is_even and cover.above is None
            assert cover.rule.name.startswith(f"{kind}-0.")


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_every_share_can_be_had(kind: str) -> None:
    """For levels that go by a share of ink and not by a mode."""
    row = LANGUAGES["en"]
    calibrator = make_calibrator(
        BasicShaper(default_chain(row.fonts, size=20)), row, calibration_sample("en"), cover=kind
    )
    for visible in (0.05, 0.2, 0.5, 0.95):
        found = calibrator.nearest(CoverTarget(visible=visible, above=0.5))
        assert found.visible == pytest.approx(visible, abs=TOLERANCE)


def test_what_cannot_be_reached_is_a_sentence() -> None:
    """Of a thin dash a few pixels are all the ink; drops hide too much of it or too little."""
    row = LANGUAGES["en"]
    shaper = BasicShaper(default_chain(row.fonts, size=8))
    calibrator = make_calibrator(shaper, row, ["- - - - -"], cover="stain")
    sentence = r"No stain cover leaves 0\.48 of the ink of Liberation Sans at 8 px: the nearest leaves 0\.\d+; choose a"
    with pytest.raises(FontError, match=sentence):
        calibrator.nearest(CoverTarget(visible=0.48, above=0.5))


def only(is_drawn: Callable[[int], bool]) -> np.ndarray:
    """Draw the characters at some places of the caption and no others."""
    lines = [replace(line, glyphs=tuple(g for g in line.glyphs if is_drawn(g.start))) for line in LAYOUT.lines]
    return render_strip(replace(LAYOUT, lines=tuple(lines)))


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_only_spans_lose_ink(styles: dict[str, Style], kind: str) -> None:
    """Pixel by pixel: all other text is as before, no pixel is hidden twice, and the rest of the strip is untouched."""
    found = covered(styles[kind], Mode.HARD)
    hidden = mask_of(found)
    assert hidden.max() == 1
    drawn = cover_strip(STRIP, (cover for span in found for cover in span.covers))
    others = only(lambda place: not any(span.start <= place < span.end for span in CELLS)) < 255
    assert (drawn[hidden == 0] == STRIP[hidden == 0]).all()
    for span in found:
        for cover in span.covers:
            assert not (others[cover.box.area] & cover.mask).any() and is_covered(drawn, cover)
            assert is_covered(np.stack([drawn] * 3, axis=2), cover)
            rows, columns = cover.mask.any(axis=1), cover.mask.any(axis=0)
            assert rows[0] and rows[-1] and columns[0] and columns[-1], "the box is the least one"
    for span in found:  # the share by an oracle that looks at each pixel of ink that only the span's glyphs have
        own = np.zeros(STRIP.shape, bool)
        for cover in span.covers:
            own[cover.box.area] |= cover.mask
        at = span.span.start, span.span.end
        ink = (255 - only(lambda place, at=at: at[0] <= place < at[1]).astype(int)) * ~others
        assert span.visible_ink == pytest.approx(ink[~own].sum() / ink.sum(), abs=1e-4)
        assert 0.02 < span.visible_ink < 0.9


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_a_pixel_of_text_shows_through_nowhere(styles: dict[str, Style], kind: str) -> None:
    """Hidden pixels are the same whatever stands there, so they tell nothing of the text."""
    rule = with_seed(styles[kind].calibrations[Mode.HARD].rule, 5)
    place = Box(30, 22, 150, 44)
    cover = rule.cover(Cell(place, place))
    drawn = [
        cover_strip(np.full((90, 220), shade, np.uint8), [clip_cover(cover, np.zeros((90, 220), bool))])
        for shade in (0, 255)
    ]
    same = drawn[0] == drawn[1]
    assert np.count_nonzero(same) >= np.count_nonzero(cover.mask) * 0.99


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_a_seed_decides_the_form_and_hard_hides_what_easy_hides(styles: dict[str, Style], kind: str) -> None:
    easy, again, other, hard = (
        mask_of(covered(styles[kind], mode, seed))
        for mode, seed in ((Mode.EASY, 3), (Mode.EASY, 3), (Mode.EASY, 4), (Mode.HARD, 3))
    )
    assert (easy == again).all() and (easy != other).any()
    # Where two covers meet, the larger one of the first may take a pixel from the second: it is hidden all the same.
    assert (hard[easy > 0] > 0).all() and hard.sum() > easy.sum()


def test_a_cover_that_finds_no_free_pixel_hides_nothing() -> None:
    cover = Cover(box=Box(2, 2, 6, 5), mask=np.ones((3, 4), bool), fill=np.full((3, 4), 9, np.uint8))
    assert not clip_cover(cover, np.ones((9, 9), bool)).mask.any()
    assert clip_cover(cover, np.zeros((4, 4), bool)).box == Box(2, 2, 4, 4)


@pytest.mark.parametrize("kind", WHOLE_LETTERS)
@pytest.mark.parametrize(("lang", "font", "pitch"), [("zh", None, 20), ("en", "liberation-mono", 12), ("en", None, 0)])
def test_characters_of_one_width_are_hidden_whole(kind: str, lang: str, font: str | None, pitch: int) -> None:
    """All but the last one that a cover reaches; where widths differ, a cover must not tell where letters end."""
    rule = style_of(kind, lang, font).calibrations[Mode.EASY].rule
    assert isinstance(rule, PatternCover) and rule.pitch == pitch
    run = 2 * pitch if pitch == 12 else 20
    cell = Box(31, 22, 31 + 10 * run, 44)
    ends = set()
    for seed in range(6):
        cover = with_seed(rule, seed).cover(Cell(cell, cell))
        hidden = np.zeros((80, 400), bool)
        hidden[cover.box.area] = cover.mask
        inside = hidden[cell.area]
        shares = inside.reshape(22, 10, run).mean(axis=(0, 2))
        whole, none = np.count_nonzero(shares > 0.9), np.count_nonzero(shares < 0.3)
        ends.add(int(np.flatnonzero(inside[11] & ~np.roll(inside[11], 1))[0] % run))
        if pitch:
            assert whole >= 2 and whole + none >= 9
    assert (ends == {0}) == (bool(pitch) and kind == "bars")


def test_hidden_runs_come_in_random_order() -> None:
    """Each run of a cell is as often hidden as any other: the form tells nothing of the text."""
    cell = Box(0, 0, 200, 22)
    counts = np.zeros(10)
    for seed in range(400):
        rule = PatternCover(kind="bars", hidden=0.5, rows=(1.0,) * 22, pitch=20, seed=seed)
        cover = rule.cover(Cell(cell, cell))
        assert cover.mask is not None
        counts += cover.mask.reshape(22, 10, 20).mean(axis=(0, 2))
    assert np.abs(counts / 400 - 0.5).max() < 0.1
