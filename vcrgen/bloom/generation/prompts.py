"""The prompts: files of this package, versioned by their hash."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from string import Template

from vcrgen.text.languages import LANGUAGES

PICTURE = "picture"  # the prompt of generated pictures
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
def template(name: str) -> str:
    """Return a prompt before its values are filled in."""
    return (files("vcrgen.bloom.generation") / "prompts" / f"{name}.txt").read_text("utf-8")


def prompt(name: str, values: Mapping[str, str]) -> str:
    """Fill in the values of a prompt; placeholders in a value stay as they are."""
    return Template(template(name)).substitute(values)


def prompt_hashes(names: Iterable[str]) -> dict[str, str]:
    """Return twelve hex digits for each prompt; another wording has others."""
    return {name: hashlib.sha256(template(name).encode()).hexdigest()[:12] for name in names}


def category_values(path: str) -> dict[str, str]:
    """The values by which prompts describe a category."""
    level, subcategory, category = path.split("/")
    ability = _ABILITIES.get(level, f"show the skill of the level {level}")
    return {"level": level, "subcategory": subcategory, "leaf": category, "ability": ability}


def language_name(lang: str) -> str:
    """Return a language's English name; its code if the name is not known."""
    return _OTHER_LANGUAGES.get(lang) or (LANGUAGES[lang].name if lang in LANGUAGES else f"the language {lang!r}")
