"""A shaper that is not one glyph a character, from left to right: lines, pixels, cells and ink are still right.

Every glyph of it is a block of pixels of its own darkness, so that the picture says which glyph is where.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile

import numpy as np
import pytest

from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import LAYOUT_RULES, Pipeline
from vcrgen.builder.records import Pair
from vcrgen.core.records import NAMED_MODES, Item, Span
from vcrgen.samples import sample_pair
from vcrgen.text.graphemes import clusters
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import calibrate
from vcrgen.typeset.cover import WhiteRows, measure_span, span_cells
from vcrgen.typeset.fonts import FontChain, default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Box, Glyph, Layout, PlacedGlyph
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.shaping import Shaper
from vcrgen.typeset.style import SHAPERS, make_shaper

CHAIN = FontChain([resolve_font("dejavu-sans")], size=20)  # lines of 22 px with the baseline at 19
ACUTE, SHORT_I, KA = "\u0301", "\u093f", "\u0915"


def block(width: int, height: int, *, advance: int, x: int = 0, y: int | None = None, dark: int = 200) -> Glyph:
    ink = np.full((height, width), dark, dtype=np.uint8)
    return Glyph(face=0, advance=advance, right=max(advance, x + width), ink=ink, x=x, y=-height if y is None else y)


LIGATURE = block(9, 12, advance=10, dark=77)
GLYPHS = {
    " ": block(0, 0, advance=4),
    ACUTE: block(3, 2, advance=0, x=2, y=-17, dark=33),  # over its letter, whose pen position it has
    SHORT_I: block(3, 15, advance=4, dark=44),  # a part of the text behind its letter, drawn before it
    **{chr(code): block(6, 5 + code % 9, advance=7 + code % 3, y=-12, dark=90 + code % 100) for code in range(48, 123)},
    KA: block(8, 10, advance=9, dark=55),
}


class BlockShaper(Shaper):
    """One block a letter; "fi" is one block for both; marks stand over their letters, and a short i before its own.

    In a line from right to left numbers are read from left to right.
    """

    engine = "blocks-1"

    def shape(self, text: str, start: int, end: int) -> tuple[PlacedGlyph, ...]:
        placed: list[PlacedGlyph] = []
        pen = 0
        for first, last, glyphs in self._visual(list(self._groups(text, start, end))):
            for glyph in glyphs:
                placed.append(PlacedGlyph(first, last, pen, glyph))
                pen += glyph.advance
        return tuple(placed)

    def _visual(self, groups: list[tuple[int, int, list[Glyph]]]) -> Iterator[tuple[int, int, list[Glyph]]]:
        if self.direction == "ltr":
            yield from groups
            return
        groups = groups[::-1]
        digits = {GLYPHS[digit] for digit in "0123456789"}
        while groups:
            number = list(takewhile(lambda group: group[2][0] in digits, groups)) or groups[:1]
            yield from number[::-1]
            groups = groups[len(number) :]

    @staticmethod
    def _groups(text: str, start: int, end: int) -> Iterator[tuple[int, int, list[Glyph]]]:
        """Characters that are drawn together, and their glyphs from left to right."""
        position = start
        for first, last in clusters(text[start:end]):
            letters = text[start + first : start + last]
            if start + first < position:
                continue  # the second half of a ligature
            if text[start + first : end].startswith("fi"):
                yield start + first, start + first + 2, [LIGATURE]
                position = start + first + 2
            elif glyphs := [GLYPHS[letter] for letter in letters if letter in GLYPHS]:
                drawn_first = [glyph for glyph in glyphs if glyph in (GLYPHS[SHORT_I], GLYPHS[ACUTE])]
                yield start + first, start + last, [*drawn_first, *(g for g in glyphs if g not in drawn_first)]


@dataclass(frozen=True)
class Case:
    """A text, and what is hidden of it.

    Attributes:
        hide: The text of the span; its first place counts.
        lines: The lines that are expected.
        shown: Of every line, from left to right, the characters that each glyph stands for.
        hidden: The characters that lose their ink, which may be more than the span: whole clusters, whole ligatures.
        cells: Number of places.
    """

    text: str
    hide: str
    lines: list[str]
    shown: list[list[str]]
    hidden: set[int]
    cells: int = 1
    direction: str = "ltr"
    width: int = 80
    unit: str = "word"


E_ACUTE, KI = f"e{ACUTE}", f"{KA}{SHORT_I}"
CASES = {
    "plain": Case("ab cd", "cd", ["ab cd"], [["a", "b", " ", "c", "d"]], {3, 4}),
    "right to left": Case("ab cd", "cd", ["ab cd"], [["d", "c", " ", "b", "a"]], {3, 4}, direction="rtl"),
    "lines from right to left": Case(
        "ab cd ef gh",
        "cd ef",
        ["ab cd", "ef gh"],
        [["d", "c", " ", "b", "a"], ["h", "g", " ", "f", "e"]],
        {3, 4, 6, 7},
        cells=2,
        direction="rtl",
        width=40,
    ),
    "a ligature": Case("a fib", "fi", ["a fib"], [["a", " ", "fi", "b"]], {2, 3}),
    "half a ligature": Case("a fib", "ib", ["a fib"], [["a", " ", "fi", "b"]], {2, 3, 4}),
    "a ligature from right to left": Case("a fib", "b", ["a fib"], [["b", "fi", " ", "a"]], {4}, direction="rtl"),
    "a word broken beside a ligature": Case(
        "aafiaa", "aa", ["aafi", "aa"], [["a", "a", "fi"], ["a", "a"]], {0, 1}, width=28
    ),
    "a mark without width": Case(f"a{E_ACUTE}b", E_ACUTE, [f"a{E_ACUTE}b"], [["a", E_ACUTE, E_ACUTE, "b"]], {1, 2}),
    "a letter without its mark": Case(f"a{E_ACUTE}b", "e", [f"a{E_ACUTE}b"], [["a", E_ACUTE, E_ACUTE, "b"]], {1, 2}),
    "a mark from right to left": Case(
        f"a{E_ACUTE}b", "b", [f"a{E_ACUTE}b"], [["b", E_ACUTE, E_ACUTE, "a"]], {3}, direction="rtl"
    ),
    "a mark drawn before its letter": Case(f"a{KI}b", KI, [f"a{KI}b"], [["a", KI, KI, "b"]], {1, 2}),
    "half of such a cluster": Case(f"a{KI}b", f"{SHORT_I}b", [f"a{KI}b"], [["a", KI, KI, "b"]], {1, 2, 3}),
    "clusters are not broken": Case(KI * 3, KI, [KI * 2, KI], [[KI] * 4, [KI] * 2], {0, 1}, width=30, unit="character"),
    "a number in a line from right to left": Case(
        "ab 12 cd", "12 c", ["ab 12 cd"], [["d", "c", " ", "1", "2", " ", "b", "a"]], {3, 4, 5, 6}, direction="rtl"
    ),
    "a span that is not in one place": Case(
        "ab 12 cd", "b 1", ["ab 12 cd"], [["d", "c", " ", "1", "2", " ", "b", "a"]], {1, 2, 3}, cells=2, direction="rtl"
    ),
}


@pytest.fixture(params=CASES, name="case")
def _case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def layout_of(case: Case) -> Layout:
    shaper = BlockShaper(CHAIN, case.direction)
    return layout_caption(case.text, shaper, width=case.width, max_lines=5, break_unit=case.unit)


def span_of(case: Case) -> Span:
    start = case.text.index(case.hide)
    return Span(start=start, end=start + len(case.hide), text=case.hide, tokens=())


def owners(layout: Layout) -> dict[tuple[int, int], set[int]]:
    """For every dark pixel of the strip the characters that it is a part of; slow, and glyph by glyph."""
    found: dict[tuple[int, int], set[int]] = {}
    for index, line in enumerate(layout.lines):
        for placed in line.glyphs:
            for y, x in np.ndindex(placed.glyph.ink.shape):
                row = index * layout.line_height + layout.baseline + placed.glyph.y + y
                column = line.x + placed.pen + placed.glyph.x + x
                found.setdefault((row, column), set()).update(range(placed.start, placed.end))
    return found


def test_lines_and_glyphs(case: Case) -> None:
    layout = layout_of(case)
    assert [layout.text[line.start : line.end] for line in layout.lines] == case.lines
    assert [[case.text[p.start : p.end] for p in line.glyphs] for line in layout.lines] == case.shown
    for line in layout.lines:
        right = max(placed.pen + placed.glyph.advance for placed in line.glyphs)
        assert line.x == (case.width - right if case.direction == "rtl" else 0)


def test_every_glyph_is_drawn_where_it_is_placed(case: Case) -> None:
    layout = layout_of(case)
    strip = render_strip(layout)
    dark = {(int(y), int(x)) for y, x in np.argwhere(strip < 255)}
    assert dark == set(owners(layout))
    for index, line in enumerate(layout.lines):
        for placed in line.glyphs:
            y = index * layout.line_height + layout.baseline + placed.glyph.y
            x = line.x + placed.pen + placed.glyph.x
            height, width = placed.glyph.ink.shape
            assert (255 - strip[y : y + height, x : x + width] == placed.glyph.ink).all()


def test_a_cover_hides_the_glyphs_of_its_span_and_no_other(case: Case) -> None:
    layout, span = layout_of(case), span_of(case)
    strip = render_strip(layout)
    cells = span_cells(span, layout)
    assert len(cells) == case.cells
    places = [cell.line_box for cell in cells]
    assert all(left.y0 < right.y0 or left.x1 < right.x0 for left, right in pairwise(places))
    whole = WhiteRows(range(layout.line_height))
    covered = measure_span(span, cells, list(map(whole.cover, cells)), 255 - strip)
    drawn = cover_strip(strip, covered.covers)
    for place, characters in owners(layout).items():
        assert (drawn[place] == 255) == bool(characters & case.hidden)
        assert not characters & case.hidden or characters <= case.hidden
    assert covered.visible_ink == 0


def test_measured_ink_is_that_of_the_hidden_glyphs(case: Case) -> None:
    """Rows 5 to 9 of the line: through marks and the tops of letters."""
    layout, span = layout_of(case), span_of(case)
    strip = render_strip(layout)
    cells = span_cells(span, layout)
    covered = measure_span(span, cells, [WhiteRows(range(5, 10)).cover(cell) for cell in cells], 255 - strip)
    ink = {place: 255 - int(strip[place]) for place, owned in owners(layout).items() if owned & case.hidden}
    visible = {place: dark for place, dark in ink.items() if not 5 <= place[0] % layout.line_height < 10}
    assert covered.visible_ink == pytest.approx(sum(visible.values()) / sum(ink.values()), abs=1e-4)


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.direction == "rtl"])
def test_a_cell_is_where_its_glyphs_are(case: Case) -> None:
    """Exactly: from the pen position of its first glyph to the one behind its last glyph, in the line's own place."""
    layout, span = layout_of(case), span_of(case)
    expected = []
    for index, line in enumerate(layout.lines):
        columns = {
            line.x + column
            for placed in line.glyphs
            if set(range(placed.start, placed.end)) & case.hidden
            for column in range(placed.pen, placed.pen + placed.glyph.advance)
        }
        for first in sorted(column for column in columns if column - 1 not in columns):
            last = next(column for column in range(first, 1000) if column + 1 not in columns)
            expected.append(Box(x0=first, y0=22 * index, x1=last + 1, y1=22 * index + 22))
    assert [cell.line_box for cell in span_cells(span, layout)] == expected


@pytest.mark.parametrize("hide", ["ｶ", "\uff9e", "ｶ\uff9e"])
def test_a_mark_with_a_place_of_its_own_is_hidden_with_its_letter(hide: str) -> None:
    shaper = BasicShaper(default_chain(LANGUAGES["zh"].fonts, size=20))
    layout = layout_caption("図ｶ\uff9e図", shaper, width=80, max_lines=1, break_unit="character")
    start = layout.text.index(hide)
    (cell,) = span_cells(Span(start=start, end=start + len(hide), text=hide, tokens=()), layout)
    left, letter, mark = (shaper.advance(character) for character in "図ｶ\uff9e")
    assert mark > 0
    assert cell.line_box == Box(x0=left, y0=0, x1=left + letter + mark, y1=22)


def test_lines_are_greedy_where_widths_do_not_add_up() -> None:
    """Two ligatures fit on a line where four letters would not."""
    width = 2 * LIGATURE.advance + GLYPHS[" "].advance
    layout = layout_caption("fi fi fi", BlockShaper(CHAIN, "ltr"), width=width, max_lines=5, break_unit="word")
    assert [layout.text[line.start : line.end] for line in layout.lines] == ["fi fi", "fi"]
    narrower = layout_caption("fi fi fi", BlockShaper(CHAIN, "ltr"), width=width - 1, max_lines=5, break_unit="word")
    assert [narrower.text[line.start : line.end] for line in narrower.lines] == ["fi", "fi", "fi"]


@pytest.mark.parametrize(("direction", "x"), [("rtl", -3), ("ltr", 2)])
def test_ink_beyond_the_last_pen_position_has_to_fit(direction: str, x: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GLYPHS, "z", block(9, 9, advance=8, x=x))
    needed = GLYPHS["a"].advance + GLYPHS[" "].advance + 8 + 3
    for width, lines in ((needed, 1), (needed - 1, 2)):
        layout = layout_caption("a z", BlockShaper(CHAIN, direction), width=width, max_lines=5, break_unit="word")
        assert len(layout.lines) == lines


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_what_does_not_fit_into_the_strip_is_cut_off(direction: str) -> None:
    layout = layout_caption(f"{KI}{KI}", BlockShaper(CHAIN, direction), width=6, max_lines=5, break_unit="character")
    strip = render_strip(layout)
    assert len(layout.lines) == 2 and strip.shape == (45, 6) and (strip < 255).any()
    (cell,) = span_cells(Span(start=0, end=2, text=KI, tokens=()), layout)
    assert cell.line_box == cell.ink_box == Box(x0=0, y0=0, x1=6, y1=22)


def test_characters_that_no_glyph_stands_for_are_missing() -> None:
    assert BlockShaper(CHAIN, "ltr").missing(f"a€fi{E_ACUTE}€\u20ac\u0416 Ж") == ["€", "Ж"]
    assert BasicShaper(CHAIN).missing("a\U000131a0€\U000131a0") == ["\U000131a0"]


@pytest.mark.parametrize("letters", ["قط", "שלום", "कि"])
def test_one_after_another_no_letter_is_drawn_that_would_be_wrong(letters: str) -> None:
    fonts = ["dejavu-sans", "noto-sans-arabic", "noto-sans-devanagari"]  # these have the letters
    shaper = BasicShaper(default_chain(fonts, size=20))
    assert shaper.missing(f"a {letters} 12") == list(dict.fromkeys(letters))
    assert len(shaper.shape(f"a {letters} 12", 0, len(letters) + 5)) == 5


@pytest.mark.parametrize("text", ["plain words", "图像中被覆盖的文本", "né e\u0301 \U000131a0x", "W"])
def test_the_quick_way_of_the_basic_shaper_measures_what_it_places(text: str) -> None:
    shaper = BasicShaper(CHAIN)
    quick, slow = shaper.growing_width(text, 1), partial(Shaper.width, shaper, text, 1)
    for end in range(2, len(text) + 1):
        assert abs(quick(end) - slow(end)) <= 1  # only the last glyph's ink counts in Pillow
    assert Shaper.missing(shaper, text) == shaper.missing(text)


def test_the_basic_shaper_sets_nothing_from_right_to_left() -> None:
    with pytest.raises(ValueError, match="from left to right, not 'rtl'"):
        BasicShaper(CHAIN, "rtl")


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=list(LANGUAGES))
def test_every_language_has_a_shaper(row: LanguageRow) -> None:
    shaper = make_shaper(row, CHAIN)
    assert shaper.direction == row.direction and shaper.engine


FISH = f"the fish n{E_ACUTE}e {KI}{KA} found 12 of its five frozen fins fine again".replace("i", f"i{ACUTE}")
FOX = "the quick brown fox jumps over some lazy dogs near the river bank"


@pytest.mark.parametrize(
    ("make", "text", "error"),
    [
        (lambda: BlockShaper(CHAIN, "ltr"), FISH, 0.001),
        (lambda: BlockShaper(CHAIN, "rtl"), FISH, 0.001),
        (lambda: BasicShaper(default_chain(LANGUAGES["en"].fonts, size=20)), FOX, 0.01),
    ],
)
def test_calibration_predicts_the_ink_of_placed_glyphs(make: Callable[[], Shaper], text: str, error: float) -> None:
    """The median over the sample's windows is the ink that covered windows really keep in a strip."""
    shaper, words = make(), text.split()
    layout = layout_caption(text, shaper, width=4000, max_lines=1, break_unit="word")
    ink = 255 - render_strip(layout)
    for cover in calibrate(shaper, LANGUAGES["en"], [text]).values():
        shares = []
        for start in range(len(words) - 4):
            piece = " ".join(words[start : start + 5])
            at = text.index(piece)
            span = Span(start=at, end=at + len(piece), text=piece, tokens=())
            cells = span_cells(span, layout)
            shares.append(measure_span(span, cells, list(map(cover.rule.cover, cells)), ink).visible_ink)
        assert cover.visible == pytest.approx(float(np.median(shares)), abs=error)


def test_a_language_can_name_another_shaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through all stages: nothing but its row says that a language is set by it."""
    monkeypatch.setitem(SHAPERS, "blocks", BlockShaper)
    row = replace(LANGUAGES["en"], shaper="blocks", direction="rtl")
    monkeypatch.setattr("vcrgen.builder.pipeline.LANGUAGES", {"en": row})
    pipeline = Pipeline(load_build_config(None, {"lang": "en", "mode": "both"}))
    assert pipeline.signature.facts["layout"] == f"{LAYOUT_RULES}@blocks-1"
    pair = sample_pair("en", 3)
    caption = "The five old men find a small fish and eat it before the long day ends beside a river"
    built = next(iter(pipeline.pairs([Item(source_id="a", image=pair.image, caption=caption)])))
    assert isinstance(built, Pair)
    for mode in NAMED_MODES:
        for span in pipeline.row(built, mode)["spans"]:
            assert span["boxes"] and 0 <= span["visible_ink"] < 1


@pytest.mark.parametrize("lang", ["en", "zh", "ru"])
def test_glyphs_of_texts_are_counted_as_they_are_set(lang: str) -> None:
    """Counting characters gives what setting every text gives, also with letters that no face or a second one has."""
    language = LANGUAGES[lang]
    shaper = make_shaper(language, default_chain(language.fonts, size=21))
    texts = [*calibration_sample(lang)[:20], "", "aa\u0628b\ufdd0", "é → 漢字"]
    counted, set_as_lines = shaper.count_glyphs(texts), Shaper.count_glyphs(shaper, texts)
    assert counted.drawn == set_as_lines.drawn and counted.counts.shape == set_as_lines.counts.shape
    columns = [counted.glyphs.index(glyph) for glyph in set_as_lines.glyphs]
    assert (counted.counts[:, columns] == set_as_lines.counts).all() and counted.counts.sum() > 100
