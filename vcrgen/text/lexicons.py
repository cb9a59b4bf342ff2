"""The word lists of a language: ``vcrgen/text/CODE/lexicons/*.txt``, one entry a line, comments after ``#``.

Each file's first lines say what the list is for, where it comes from and under which licence.
"""

from importlib.resources import files


def read_lexicon(code: str, name: str) -> list[str]:
    """The entries of a list, in its order.

    Args:
        code: Code of the language.
        name: Name of the list: its file without ``.txt``.
    """
    text = (files("vcrgen.text") / code / "lexicons" / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
