"""Which language texts are in, told by their letters; for datasets that do not say."""

from __future__ import annotations

from collections.abc import Iterable


def guess_language(texts: Iterable[str]) -> str:
    """Chinese if most letters are Han characters, else English."""
    letters = han = 0
    for text in texts:
        letters += sum(char.isalpha() for char in text)
        han += sum("\u3400" <= char <= "\u9fff" for char in text)
    return "zh" if 2 * han > letters else "en"
