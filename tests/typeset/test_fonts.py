import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTCollection, TTFont
from PIL import ImageFont

from vcrgen.core.errors import ConfigError, FontError
from vcrgen.core.resources import resource_dir
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset import fonts
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.coverage import font_coverage
from vcrgen.typeset.fonts import (
    Face,
    FontChain,
    FontEntry,
    default_chain,
    fetched_fonts_dir,
    find_font,
    font_registry,
    resolve_font,
    text_faces,
)

SHIPPED = [entry for entry in font_registry().values() if not entry.fetched]
FETCHED = [entry for entry in font_registry().values() if entry.fetched]
STYLES = {"sans", "serif", "slab", "mono", "humanist", "song", "kai", "hei", "gothic", "mincho", "myeongjo"}


@pytest.fixture
def fetched_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of fetched fonts, empty."""
    monkeypatch.setenv("VCRGEN_FONTS", str(tmp_path / "fetched"))
    (tmp_path / "fetched").mkdir()
    return tmp_path / "fetched"


@pytest.mark.parametrize("entry", font_registry().values(), ids=list(font_registry()))
def test_a_row_of_the_register(entry: FontEntry) -> None:
    assert (resource_dir("fonts") / entry.license_file).stat().st_size > 1000
    assert set(entry.text) <= set(entry.languages) <= set(LANGUAGES)
    assert entry.weight in {"regular", "bold"} and (entry.weight == "bold") == entry.name.endswith("-bold")
    assert entry.style in STYLES
    assert Path(entry.file).name == entry.file
    package = (entry.package_path, entry.package_sha256, entry.package_file)
    assert all(package) if entry.fetched else not any(package)


@pytest.mark.parametrize("entry", SHIPPED, ids=[entry.name for entry in SHIPPED])
def test_a_shipped_font_is_what_its_row_says(entry: FontEntry) -> None:
    family, weight = ImageFont.truetype(entry.verified_path(), index=entry.index).getname()
    assert family == entry.family and weight in {"regular": ("Regular", "Book"), "bold": ("Bold",)}[entry.weight]


def test_every_shipped_file_is_registered_and_all_are_small() -> None:
    files = [path for path in resource_dir("fonts").iterdir() if path.suffix in {".ttf", ".otf", ".ttc"}]
    assert sorted(path.name for path in files) == sorted(entry.file for entry in SHIPPED)
    assert sum(path.stat().st_size for path in files) < 34_000_000


@pytest.mark.parametrize(("lang", "least"), [("en", 7), ("zh", 2)])
def test_every_language_has_its_share_of_families(lang: str, least: int) -> None:
    assert len({entry.family for entry in SHIPPED if lang in entry.text}) >= least


def test_english_families_have_a_regular_and_a_bold() -> None:
    faces = [(entry.family, entry.weight) for entry in font_registry().values() if "en" in entry.text]
    families = {family for family, _ in faces}
    assert sorted(faces) == sorted((family, weight) for family in families for weight in ("regular", "bold"))


def test_text_faces_are_the_same_on_every_machine_and_no_fallbacks(fetched_dir: Path) -> None:
    (fetched_dir / font_registry()["lxgw-wenkai"].file).touch()
    assert text_faces("en")[:2] == ("liberation-sans", "liberation-sans-bold")
    assert text_faces("zh") == ("ar-pl-sungti-gb", "wenquanyi-micro-hei")
    assert text_faces("xx") == ()


@pytest.mark.parametrize("name", [*text_faces("en"), *text_faces("zh")])
def test_letters_stand_in_the_middle_of_their_line(name: str) -> None:
    for size in (12, 40):
        chain = FontChain([resolve_font(name)], size=size)
        glyph, han = chain.glyph("x"), chain.glyph("国")
        assert glyph is not None
        middle = chain.baseline + glyph.y + glyph.ink.shape[0] / 2
        assert 0.54 < middle / chain.line_height < 0.65  # VCR-WIKI's faces at 20 px: 0.61 and 0.59
        if han is not None:
            rows = np.flatnonzero((han.ink > 64).any(axis=1)) + chain.baseline + han.y
            assert rows[0] >= 0 and rows[-1] < chain.line_height


@pytest.mark.parametrize("lang", [code for code, row in LANGUAGES.items() if row.shaper == "basic"])
def test_default_faces_stand_at_their_ascent_as_in_vcr_wiki(lang: str) -> None:
    for size in (8, 33, 400):
        chain = default_chain(LANGUAGES[lang].fonts, size=size)
        ascent = chain.faces[0].font.getmetrics()[0]
        assert ascent - size // 250 <= chain.baseline <= ascent  # NanumGothic's is 0.92 of the size, a little more


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {"VCRGEN_FONTS": "/fonts"}, "/fonts"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/vcrgen/fonts"),
        ("linux", {}, "/home/u/.cache/vcrgen/fonts"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/u/Library/Caches/vcrgen/fonts"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/vcrgen/fonts"),
        ("win32", {}, "/home/u/AppData/Local/vcrgen/fonts"),
    ],
)
def test_the_folder_of_fetched_fonts(
    system: str, environment: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VCRGEN_FONTS", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("vcrgen.typeset.fonts.sys.platform", system)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/u"))
    assert fetched_fonts_dir() == Path(folder)


def test_a_font_is_a_file_or_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caladea = font_registry()["caladea"].path
    assert resolve_font("caladea") == resolve_font(Path("caladea")) == resolve_font(caladea) == (caladea, 0)
    monkeypatch.chdir(tmp_path)
    shutil.copy(caladea, "caladea")
    assert resolve_font("caladea") == (Path("caladea"), 0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Open Sans", "did you mean open-sans"),
        ("robto-bold", "did you mean roboto-bold"),
        ("missing.ttf", r"missing\.ttf cannot be used: there is no such file.*`vcrgen fonts` lists the names"),
        (Path(__file__).parent, "cannot be used: there is no such file"),
        ("x" * 5000, "cannot be used: there is no such file"),
        *((face.name, f"not on this machine; fetch it with `vcrgen fonts fetch {face.name}`") for face in FETCHED),
    ],
)
def test_what_is_no_font(value: str | Path, message: str, fetched_dir: Path) -> None:
    with pytest.raises(FontError, match=message):
        resolve_font(value)


def test_a_changed_font_is_noticed_when_it_is_used(fetched_dir: Path) -> None:
    entry = find_font("wenquanyi-zen-hei")
    shutil.copy(font_registry()["caladea"].path, entry.path)
    assert entry.is_installed
    with pytest.raises(FontError, match=r"wqy-zenhei\.ttc is not the one of the registry; fetch it with"):
        entry.verified_path()


def test_a_missing_shipped_font_is_noticed_when_it_is_used() -> None:
    with pytest.raises(FontError, match="is not on this machine; install vcrgen again"):
        replace(font_registry()["caladea"], file="none.ttf").verified_path()


def test_the_bytes_of_a_font_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = font_registry()["caladea"]
    entry.verified_path()
    monkeypatch.setattr(fonts, "sha256_file", None)
    assert FontChain([entry.verified_path()], size=20).faces[0].sha256 == entry.sha256


def test_faces_of_a_collection(tmp_path: Path) -> None:
    file = tmp_path / "two.ttc"
    collection = TTCollection()
    collection.fonts = [TTFont(font_registry()[name].path) for name in ("caladea", "roboto-slab")]
    collection.save(file)
    first, second = Face(file, 20), Face(file, 20, 1)
    assert [first.family, second.family] == ["Caladea", "Roboto Slab"]
    assert first.characters == Face(font_registry()["caladea"].path, 20).characters != second.characters
    digests = [FontChain([face], size=20).digest for face in (file, (file, 0), (file, 1))]
    assert digests[0] == digests[1] != digests[2]
    with pytest.raises(FontError, match=r"two\.ttc cannot be used"):
        Face(file, 20, 2)


def test_a_registered_face_of_a_collection_can_come_first() -> None:
    chain = default_chain(LANGUAGES["zh"].fonts, size=20, first=resolve_font("wenquanyi-micro-hei"))
    assert chain.faces[0].family == "WenQuanYi Micro Hei" and len(chain.faces) == 5


@pytest.mark.parametrize("lang", list(LANGUAGES))
def test_default_chains_are_registered_for_the_language(lang: str) -> None:
    assert all(lang in font_registry()[name].languages for name in LANGUAGES[lang].fonts)


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
        ("国a國", "zh", {"WenQuanYi Micro Hei": "国a國"}),
        ("国a→", "zh", {"AR PL SungtiL GB": "国a→"}),
        ("ɑńň", "zh", {"WenQuanYi Micro Hei": "ńň", "DejaVu Sans": "ɑ"}),  # the first face has empty glyphs
        ("a\U000131a0", "en", {"Liberation Sans": "a", "": "\U000131a0"}),
        ("بَ لا a→ऄ", "ar", {"Noto Sans Arabic": "بَلاa", "DejaVu Sans": "→", "": "ऄ"}),
        ("क्षि a→ب", "hi", {"Noto Sans Devanagari": "क्षिa", "DejaVu Sans": "→ب"}),
    ],
)
def test_which_font_draws_what(text: str, lang: str, families: dict[str, str]) -> None:
    assert font_coverage(text, lang=lang) == families


def test_coverage_with_a_font_of_the_register_first() -> None:
    assert font_coverage("a→國", lang="en", font="open-sans") == {
        "Open Sans": "a",
        "Liberation Sans": "→",
        "Droid Sans Fallback": "國",
    }
    assert font_coverage("a→", lang="en", font="liberation-sans-bold") == {"Liberation Sans": "a→"}


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_text_to_check(text: str) -> None:
    with pytest.raises(ConfigError, match="no character to check; give at least one letter"):
        font_coverage(text, lang="en")


def test_widths_are_those_of_pillow_without_kerning() -> None:
    chain = default_chain(LANGUAGES["en"].fonts, size=20)
    font = ImageFont.truetype(chain.faces[0].path, 20, layout_engine=ImageFont.Layout.BASIC)
    for text in ("Jet Ski is the brand name of a", "AVATAR", "(1872-1916)"):
        # Pillow's kerning is off by a factor of 64.
        assert abs(BasicShaper(chain).advance(text) - font.getlength(text)) < 1


def test_a_users_font_comes_first(tmp_path: Path) -> None:
    first = font_registry()["dejavu-sans"].path
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
