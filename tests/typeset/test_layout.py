from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from uniseg.linebreak import line_break_units

from vcrgen.samples.pairs import caption
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NO_BREAK_SPACES, WORD_JOINER, normalise_drawn
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption, line_units
from vcrgen.typeset.style import make_shaper

SHAPERS = {code: BasicShaper(default_chain(row.fonts, size=20)) for code, row in LANGUAGES.items()}
EN_TEXT = st.text(alphabet="abcdefghijWmil.,-é'", min_size=1, max_size=40)
EN_CAPTION = st.lists(EN_TEXT, min_size=1, max_size=30).map(" ".join)
ZH_CAPTION = st.text(alphabet="图像中被覆盖的文本，。：2024AB國", min_size=1, max_size=120)


def lines_of(text: str, lang: str) -> list[str]:
    row = LANGUAGES[lang]
    layout = layout_caption(text, SHAPERS[lang], width=300, max_lines=5, break_unit=row.break_unit)
    return [layout.text[line.start : line.end] for line in layout.lines]


@pytest.mark.parametrize(
    ("lang", "text", "lines"),
    [
        ("en", "One line", ["One line"]),
        ("en", "x", ["x"]),
        ("en", "Muhammad Sadig Sanjrani is a Pakistani", ["Muhammad Sadig Sanjrani is a", "Pakistani"]),
        ("zh", "本表列举瑞士联邦各州现存的各类城堡建筑。", ["本表列举瑞士联邦各州现存的各类", "城堡建筑。"]),
        # A word wider than the line is broken, and what follows goes on behind it.
        ("en", "W" * 20 + " a", ["W" * 15, "W" * 5 + " a"]),
        ("en", "ab " + "W" * 20, ["ab " + "W" * 14, "W" * 6]),
        # A combining mark stays with its letter.
        ("zh", "图" * 14 + "x̣́y", ["图" * 14 + "x̣́y"]),
        # No line begins with a closing mark or a small kana, none ends with an opening mark, none breaks a number.
        ("ja", "あ" * 15 + "。い", ["あ" * 14, "あ。い"]),
        ("ja", "あ" * 14 + "「い」", ["あ" * 14, "「い」"]),
        ("ja", "あ" * 14 + "ショー", ["あ" * 14, "ショー"]),
        ("ja", "あ" * 13 + "1,234円", ["あ" * 13, "1,234円"]),
        ("ja", "あ" * 12 + "Tokyo Station", ["あ" * 12 + "Tokyo", "Station"]),
        # None breaks at a no-break space or a word joiner, but for one that is wider than a line.
        ("fr", "Une affiche avec les bons mots «\u00a0Sous", ["Une affiche avec les bons mots", "«\u00a0Sous"]),
        ("fr", "Un bateau porte une tonne et 10\u202fkilos", ["Un bateau porte une tonne et", "10\u202fkilos"]),
        (
            "ru",
            "Билет на поезд в столицу за 1\u00a0000\u00a0руб.",
            ["Билет на поезд в столицу за", "1\u00a0000\u00a0руб."],
        ),
        ("pt", "A placa diz que esta casa é a nº\u00a05", ["A placa diz que esta casa é a", "nº\u00a05"]),
        ("es", "En una esquina de esa calle el nº\u20075", ["En una esquina de esa calle el", "nº\u20075"]),
        ("en", "The town has no limit of 50 km \u2060per hour", ["The town has no limit of 50", "km per hour"]),
        (
            "en",
            "all\u00a0words\u00a0of\u00a0this\u00a0text\u00a0stand\u00a0on\u00a0one\u00a0line",
            ["all\u00a0words\u00a0of\u00a0this\u00a0text\u00a0stand\u00a0on\u00a0one", "line"],
        ),
        ("en", "a\u00a0" + "W" * 20, ["a\u00a0" + "W" * 14, "W" * 6]),
        ("zh", "图" * 14 + "1\u00a0图", ["图" * 14, "1\u00a0图"]),
        ("zh", "图" * 15 + "，图", ["图" * 14, "图，图"]),
        ("zh", "图" * 14 + "“图”", ["图" * 14, "“图”"]),
        ("zh", "图" * 14 + "——图", ["图" * 14, "——图"]),
        ("zh", "图" * 12 + "Evolution是", ["图" * 12, "Evolution是"]),
        ("zh", "图" * 10 + "Evolution an", ["图" * 10 + "Evolution", "an"]),
        ("ja", "あ" * 11 + "execve(2)は", ["あ" * 11, "execve(2)は"]),
        ("ja", "あ" * 13 + "“図”は", ["あ" * 13, "“図”は"]),
        ("ja", "あ" * 14 + "図\u2060書", ["あ" * 14, "図書"]),
        ("ko", "낡은 등대 아래 잔잔한 바다에 고깃배가 떠 있다.", ["낡은 등대 아래 잔잔한 바다에", "고깃배가 떠 있다."]),
    ],
)
def test_lines(lang: str, text: str, lines: list[str]) -> None:
    assert lines_of(text, lang) == lines


def test_caption_is_cut_after_the_last_line() -> None:
    text = "word " * 60
    layout = layout_caption(text.strip(), SHAPERS["en"], width=300, max_lines=5, break_unit="word")
    assert len(layout.lines) == 5
    assert layout.text == text[: len(layout.text)] and layout.text.endswith("word")
    assert layout.height == 22 * 5 + 1


@given(EN_CAPTION)
def test_english_lines_are_greedy(text: str) -> None:
    check_greedy(text, "en")


@given(ZH_CAPTION)
def test_chinese_lines_are_greedy(text: str) -> None:
    check_greedy(text, "zh")


CLOSING = "、。，．：；？！゛゜ー々ゝ〜…‥%℃）」』】》)]”’!?.,:;"
OPENING = "（「『【《([“‘"
LETTERS = "あいアン漢字国12aB"
JA_TEXT = st.text(alphabet=LETTERS + "っャー /-–—・" + CLOSING + OPENING, min_size=1, max_size=40)


@given(JA_TEXT)
@example("111111111111 ’’’’’’’")
def test_japanese_lines_are_greedy(text: str) -> None:
    check_greedy(" ".join(text.split()) or "あ", "ja")


@pytest.mark.parametrize("lang", ["ja", "zh"])
@given(text=JA_TEXT)
@example(text="a(2)「あ")
@example(text="11111%—‘‘‘‘‘‘‘‘‥℃")
@example(text="11111—‘‘‘‘‘‘%℃‘‘‘")
def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one(lang: str, text: str) -> None:
    text = "".join(text.split()) or "あ"  # at a space a line may end, whatever stands around it
    if any(ink_width(text[start:end], SHAPERS[lang]) > 300 for start, end in line_units(text, "uax14")):
        return  # marks alone that are wider than a line
    for line, following in pairwise(lines_of(text, lang)):
        # Signs of numbers belong to a letter or a digit before them, not to other signs (UAX 14: PO after ID, AL, NU).
        closing = CLOSING if line[-1] in LETTERS else CLOSING.translate(dict.fromkeys(map(ord, "%℃")))
        assert line[-1] not in OPENING and following[0] not in closing


PIECES = [
    *(
        "古い",
        "「灯台」",
        "コーヒー・ショップ",
        "3.5%",
        "¥1,200",
        "第3回",
        "（Tokyo）",
        "execve(2)",
        "(a)b",
        "他说",
        "“你好”",
    ),
    *(
        "、",
        "。",
        "10:30",
        "Wi-Fi",
        "…",
        "っ",
        "and",
        "——",
        "‘a’",
        "«b»",
        '"',
        "$",
        "℃",
        "é́",
        "a\u2060",
        "\u00a0",
        "\u2010",
    ),
    *("👍🏽", "🇯🇵🇫🇷", "한국", "각ㄱ", ".5", "-5", "-b", "\ufffc"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", " "]))
@example(["¥1,200", "、", "¥1,200"], "")  # what closes a number ties it to a sign of money
@example(["3.5%", "、", "%"], "")
def test_texts_break_where_uax_14_says(pieces: list[str], between: str) -> None:
    check_breaks(normalise_drawn(between.join(pieces)))


@given(st.text("aé1漢っ가ㄱ—-–、。％%￥¥（）()「」“”‘’«»\"'/~々…,.:;?!\u0301\u200d\u00a0\u2060\u2010 ", max_size=12))
def test_any_characters_break_where_uax_14_says(text: str) -> None:
    check_breaks(text.strip(" "))


def test_captions_break_where_uax_14_says() -> None:
    for index in range(60):
        check_breaks(caption("ja", index))
        check_breaks(caption("zh", index))


@given(st.text(f"ab {NO_BREAK_SPACES}{WORD_JOINER}").map(normalise_drawn).filter(len))
def test_words_break_where_uax_14_says(text: str) -> None:
    units = [text[start:end] for start, end in line_units(text, "word")]
    assert units == [unit.rstrip(" ") for unit in line_break_units(text)]


@given(st.text(f"aé漢字 {NO_BREAK_SPACES}{WORD_JOINER}").map(normalise_drawn).filter(len))
def test_characters_do_not_break_beside_no_break_spaces(text: str) -> None:
    units = [text[start:end] for start, end in line_units(text, "character")]
    assert "".join(units) == text
    for left, right in pairwise(units):
        assert not {left[-1], right[0]} & {*NO_BREAK_SPACES, WORD_JOINER}
    assert all(len(unit) == 1 or {*NO_BREAK_SPACES, WORD_JOINER} & {*unit} for unit in units)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("space", NO_BREAK_SPACES)
def test_no_break_spaces_are_drawn_in_every_language(lang: str, space: str) -> None:
    shaper = make_shaper(LANGUAGES[lang], default_chain(LANGUAGES[lang].fonts, size=20))
    assert not shaper.missing(space)
    (drawn,), (plain,) = shaper.shape(space, 0, 1), shaper.shape(" ", 0, 1)
    own = ord(space) in shaper.chain.faces[0].characters
    assert drawn.glyph.advance > 0 and not drawn.glyph.ink.any() and (own or drawn.glyph.advance == plain.glyph.advance)


def check_breaks(text: str) -> None:
    units = [text[start:end] for start, end in line_units(text, "uax14")]
    assert units == [unit.rstrip(" ") for unit in line_break_units(text)]


def check_greedy(text: str, lang: str) -> None:
    row, shaper = LANGUAGES[lang], SHAPERS[lang]
    layout = layout_caption(text, shaper, width=300, max_lines=5, break_unit=row.break_unit)
    assert text.startswith(layout.text)
    for line, following in zip(layout.lines, (*layout.lines[1:], None), strict=True):
        shown = layout.text[line.start : line.end]
        assert ink_width(shown, shaper) <= 300
        if following is not None:
            gap = layout.text[line.end : following.start]
            assert gap in ("", " ")  # a space where a line ends is not drawn
            unit = layout.text[following.start : following.end].split(" ")[0] if lang == "en" and gap else "?"
            if unit != "?":
                assert ink_width(shown + gap + unit, shaper) > 300  # it did not fit on the line before


def ink_width(text: str, shaper: BasicShaper) -> int:
    last = shaper.chain.glyph(text[-1])
    assert last is not None
    return shaper.advance(text[:-1]) + last.right


@pytest.mark.parametrize("size", [12, 16, 20, 24, 32])
def test_line_height_is_eleven_tenths(size: int) -> None:
    chain = default_chain(LANGUAGES["en"].fonts, size=size)
    assert abs(chain.line_height - 1.1 * size) <= 0.5
