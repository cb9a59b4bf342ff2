"""The texts that models are sent: files of this package, versioned by their hash."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template

from vcrgen.text.languages import LANGUAGES

NAMES = ("scenario", "fitness", "question", "options", "translation", "answer", "verdict", "again")
PICTURE = "picture"  # the one for generated pictures
_ABILITIES = {
    "remember": "recognise and name what is there",
    "understand": "grasp how things belong together and what they mean",
    "apply": "use a rule or a piece of knowledge in a new case",
    "analyze": "take a scene apart and relate its parts",
    "evaluate": "judge by criteria whether something is right, good or safe",
    "create": "tell which new whole (a title, an ending, a plan) meets all the conditions that the question states",
}
_OTHER_LANGUAGES = {"ar": "Modern Standard Arabic", "fa": "Persian", "he": "Hebrew", "ur": "Urdu"}


@cache
def _template(name: str) -> str:
    return (files("vcrgen.bloom.making") / "prompts" / f"{name}.txt").read_text("utf-8")


def prompt(name: str, values: Mapping[str, str]) -> str:
    """The text of a prompt with its values filled in; what stands in a value is not looked at again."""
    return Template(_template(name)).substitute(values)


def words_of_prompts() -> str:
    """All prompts, one after another: what a model may have quoted from."""
    return "\n".join(map(_template, NAMES))


@cache
def prompt_hashes(*, generated: bool = False) -> dict[str, str]:
    """Twelve hex digits for each prompt that is used; other words have other digits.

    Args:
        generated: Whether pictures are generated.
    """
    names = (PICTURE, *NAMES) if generated else NAMES
    return {name: prompt_hash(name) for name in names}


def prompt_hash(name: str) -> str:
    """The same for one prompt."""
    return hashlib.sha256(_template(name).encode()).hexdigest()[:12]


def leaf_values(path: str) -> dict[str, str]:
    """What prompts say of a leaf."""
    level, subcategory, leaf = path.split("/")
    ability = _ABILITIES.get(level, f"show the skill of the level {level}")
    return {"level": level, "subcategory": subcategory, "leaf": leaf, "ability": ability}


def language_name(lang: str) -> str:
    """A language's English name; its code where nobody knows it."""
    return _OTHER_LANGUAGES.get(lang) or (LANGUAGES[lang].name if lang in LANGUAGES else f"the language {lang!r}")
