"""The word lists of a language: ``vcrgen/text/CODE/lexicons/*.txt``, one entry a line, comments after ``#``.

A file holds the list of its name. After a line ``## NAME`` begins the list of that name. The comments of a list give
its purpose, source and license. A list that a language does not have is empty; ``optional_files.py`` says what follows.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files


def read_lexicon(code: str, name: str) -> list[str]:
    """The entries of a list, in its order; none if the language has no such list."""
    return list(_read_lists(code).get(name, ()))


def read_fields(kind: type, code: str, *, by_words: bool = False) -> dict[str, frozenset[str]]:
    """The lists that have the names of a dataclass's fields, for its constructor; without absent ones.

    Args:
        kind: The dataclass, with a default for each field.
        by_words: True if a line has several entries, separated by white space.
    """
    lists = _read_lists(code)
    return {
        field.name: frozenset(word for line in lists[field.name] for word in (line.split() if by_words else (line,)))
        for field in fields(kind)
        if field.name in lists
    }


@cache
def _read_lists(code: str) -> Mapping[str, list[str]]:
    lists: dict[str, list[str]] = {}
    folder = files("vcrgen.text") / code / "lexicons"
    for file in folder.iterdir() if folder.is_dir() else ():
        entries = lists.setdefault(file.name.removesuffix(".txt"), [])
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                entries = lists.setdefault(line.removeprefix("## "), [])
            elif line and not line.startswith("#"):
                entries.append(line)
    return lists
