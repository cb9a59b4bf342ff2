"""The fonts that draw the characters of a text."""

from pathlib import Path

from vcrgen.core.errors import ConfigError
from vcrgen.text.languages import language_row
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.style import make_shaper


def font_coverage(text: str, *, lang: str, font: str | Path | None = None) -> dict[str, str]:
    """Group the characters of a text by the face that draws them.

    Args:
        text: Any text; white space is not checked.
        lang: Code of the language of the font chain.
        font: A font file, or a name in ``fonts.toml``, put before the chain.

    Returns:
        From family to its characters, each once, in the order of the chain; those without a glyph under "".

    Raises:
        ConfigError: The language is unknown, or the text is only white space.
        FontError: The font cannot be used.
    """
    language = language_row(lang)
    if not text.strip():
        raise ConfigError("The text has no character to check; give at least one letter.")
    first = resolve_font(font) if font else None
    chain = default_chain(language.fonts, size=20, first=first)  # any size has the same glyphs
    if language.one_face:
        chain = chain.led_by(chain.first_with(language.letters_of_script(text)))
    shaper = make_shaper(language, chain)
    families = [*(face.family for face in shaper.chain.faces), ""]
    face_of = {
        character: placed.glyph.face
        for placed in shaper.shape(text, 0, len(text))
        for character in text[placed.start : placed.end]
    }
    coverage = dict.fromkeys(families, "")
    for character in dict.fromkeys(text):
        if not character.isspace():
            coverage[families[face_of.get(character, -1)]] += character
    return {family: characters for family, characters in coverage.items() if characters}
