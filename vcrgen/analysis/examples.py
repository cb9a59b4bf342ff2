"""Data that ships with the package or is made from a seed: with ``--example NAME`` no analysis needs a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from vcrgen.errors import AnalysisError


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example: what it is, which commands take it, and what reading a file of it would give."""

    about: str  # one sentence, which names the source and what is known to be wrong in it
    commands: Collection[str]
    load: Callable[[], Any]


def _items() -> Any:
    from vcrgen.analysis.items.example import example_items

    return example_items()


EXAMPLES: Mapping[str, Example] = {
    "items": Example(
        about="60 models on 300 items, made from a seed: with a wrong key, a copy, and missing cells.",
        commands=("items", "shorten"),
        load=_items,
    ),
}


def example(name: str, command: str) -> Example:
    """The example of a name.

    Raises:
        AnalysisError: There is none of that name, or the command does not take it.
    """
    fitting = [known for known, each in EXAMPLES.items() if command in each.commands]
    if name not in fitting:
        known = f"has no example {name!r}" if name not in EXAMPLES else f"does not take the example {name!r}"
        raise AnalysisError(f"vcrgen analyze {command} {known}; it has {', '.join(fitting) or 'none'}.")
    return EXAMPLES[name]
