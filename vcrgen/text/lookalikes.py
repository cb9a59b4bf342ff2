"""Texts that look the same, by Unicode's table of confusable characters (UTS #39)."""

import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def skeleton(text: str) -> str:
    """The skeleton of a text: two texts with one skeleton are confusable. It is not meant to be read.

    ``skeleton("раураl")``, in which only the last letter is Latin, is ``"paypal"``; ``skeleton("m")`` is ``"rn"``.
    See section 4 of UTS #39; of the version 13 of its table.
    """
    like = _table()
    replaced = "".join(like.get(char, char) for char in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFD", replaced)


@cache
def _table() -> Mapping[str, str]:
    lines = (files("vcrgen.text") / "confusables.txt").read_text(encoding="utf-8").split("\n")
    return {line[0]: line[2:] for line in lines if line[1:2] == " " and not line.startswith("# ")}
