"""The word lists of a language: ``vcrgen/text/CODE/lexicons/*.txt``, one entry a line, comments after ``#``.

The first lines of each file give its purpose, source and license.
"""

from importlib.resources import files


class WordLists:
    """The word lists of a language as attributes with the names of their files: ``lists.months`` is ``months.txt``.

    A list is read when it is first used.

    Args:
        code: Code of the language.
        by_words: True if a line has several entries, separated by white space.
    """

    def __init__(self, code: str, *, by_words: bool = False) -> None:
        self._code, self._by_words = code, by_words

    def __getattr__(self, name: str) -> frozenset[str]:
        if name.startswith("_"):  # special names, as when Python makes a copy
            raise AttributeError(name)
        entries = read_lexicon(self._code, name)
        words = frozenset(word for entry in entries for word in (entry.split() if self._by_words else (entry,)))
        setattr(self, name, words)
        return words


def read_lexicon(code: str, name: str) -> list[str]:
    """Return the entries of a list, in its order.

    Args:
        code: Code of the language.
        name: Name of the list: its file without ``.txt``.
    """
    text = (files("vcrgen.text") / code / "lexicons" / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
