from pathlib import Path

import pytest
from PIL import ImageFont

from vcrgen.builder.fonts import FontChain, check_text, default_chain, font_register
from vcrgen.errors import ConfigError, FontError
from vcrgen.resources import resource_dir
from vcrgen.text.languages import LANGUAGES


def test_the_register_is_true() -> None:
    """Hashes are checked by the register itself; licences and names here."""
    for entry in font_register().values():
        assert (resource_dir("fonts") / entry.licence_file).stat().st_size > 1000
        assert ImageFont.truetype(entry.path).getname()[0] == entry.family
        assert set(entry.languages) <= set(LANGUAGES)
    files = {path.name for path in resource_dir("fonts").glob("*.ttf")}
    assert files == {entry.file for entry in font_register().values()}


@pytest.mark.parametrize("lang", list(LANGUAGES))
def test_default_chains_are_registered_for_the_language(lang: str) -> None:
    assert all(lang in font_register()[name].languages for name in LANGUAGES[lang].fonts)


def test_the_chinese_face_has_all_of_gb_2312() -> None:
    primary = default_chain(LANGUAGES["zh"].fonts, size=20).faces[0]
    rows = (bytes([high, low]) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    characters = [text for row in rows if (text := row.decode("gb2312", "ignore"))]
    assert len(characters) == 6763
    assert all(ord(character) in primary.characters for character in characters)


@pytest.mark.parametrize(
    ("text", "lang", "families"),
    [
        ("plain", "en", {"Liberation Sans": "plain"}),
        ("a→國", "en", {"Liberation Sans": "a→", "Droid Sans Fallback": "國"}),
        ("国國", "zh", {"AR PL SungtiL GB": "国", "Droid Sans Fallback": "國"}),
        ("a\U000131a0", "en", {"Liberation Sans": "a", "": "\U000131a0"}),
    ],
)
def test_which_font_draws_what(text: str, lang: str, families: dict[str, str]) -> None:
    assert check_text(text, lang=lang) == families


def test_unknown_language() -> None:
    with pytest.raises(ConfigError, match="known: en, zh"):
        check_text("a", lang="xx")


def test_widths_are_those_of_pillow_without_kerning() -> None:
    chain = default_chain(LANGUAGES["en"].fonts, size=20)
    font = ImageFont.truetype(chain.faces[0].path, 20, layout_engine=ImageFont.Layout.BASIC)
    for text in ("Jet Ski is the brand name of a", "AVATAR", "(1872-1916)"):
        assert abs(chain.advance(text) - font.getlength(text)) < 1  # Pillow's kerning is off by a factor of 64


def test_a_users_font_comes_first(tmp_path: Path) -> None:
    first = font_register()["dejavu-sans"].path
    chain = default_chain(LANGUAGES["en"].fonts, size=20, first=first)
    assert chain.faces[0].family == "DejaVu Sans"
    assert chain.digest != default_chain(LANGUAGES["en"].fonts, size=20).digest


@pytest.mark.parametrize("content", [None, b"", b"not a font" * 100])
def test_fonts_that_cannot_be_used(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "font.ttf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(FontError, match=r"font\.ttf cannot be used"):
        FontChain([file], size=20)
