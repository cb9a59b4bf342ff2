"""The one normalisation of captions. Its name is part of every dataset's signature."""

import re
import unicodedata

NORMALISATION = "nfc-ws-2"
WHITE_SPACE = re.compile(r"\s+")


def normalise_caption(text: str) -> str:
    """NFC, every run of white space to one space, no control or format characters, no space at the ends.

    Format characters (zero-width joiners, bidirectional marks, soft hyphens, byte order marks) draw nothing, so a
    reader of the pixels could never restore them. Lone surrogates and private-use characters have no meaning to
    restore; they stay and are found to have no glyph.
    """
    normal = unicodedata.normalize("NFC", text)
    drawn = "".join(c for c in normal if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))
    return WHITE_SPACE.sub(" ", drawn).strip()
