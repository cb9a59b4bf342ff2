"""One output value, as formats write it: text, a list around a text, null, NaN, or nonsense."""

import math
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import SURROGATE, describe, encodable
from vcrgen.core.records import is_mode
from vcrgen.data.views import View

KNOWN_MODES = "easy, hard and levels such as ink-0.20"


def read_output(value: Any, place: str) -> tuple[str | None, tuple[str, ...]]:
    """The text of an output value or None, and its flaws as in `Prediction`.

    A list of one value stands for that value. null and NaN are no output, which is not the same as an empty one.
    Characters that no file can hold (lone surrogates) become U+FFFD.
    """
    flaws: list[str] = []
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
        flaws[:] = ["listed"]
    if value is None or value == []:
        return None, (*flaws, "null")
    if isinstance(value, float) and math.isnan(value):
        return None, (*flaws, "nan")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), (*flaws, "number")  # a table's cell that looks like a number is one
    if not isinstance(value, str):
        raise PredictionError(
            f"{place}: the output is {describe(value)}; it has to be text or null; a list of texts is named `answers`."
        )
    if not value.isascii() and SURROGATE.search(value):
        value = encodable(value)
        flaws.append("surrogates")
    if "\ufffd" in value:
        flaws.append("replaced")
    return value, tuple(flaws)


def row_number(text: str | None) -> int | None:
    """The number of a row in digits from 0 to 9, of which no dataset needs more than 18; None for any other text."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None


def read_view(value: Any, place: str) -> View | None:
    """A view's name, or nothing."""
    view = View.named(value) if isinstance(value, str) else None
    if view is None and value is not None:
        raise PredictionError(f"{place}: unknown view {str(value)[:40]!r}; known: {', '.join(View)}.")
    return view


def read_mode(value: Any, place: str) -> str | None:
    """A mode's name, or nothing."""
    if value is None or is_mode(value):
        return None if value is None else str(value)
    raise PredictionError(f"{place}: unknown mode {str(value)[:40]!r}; known: {KNOWN_MODES}.")
