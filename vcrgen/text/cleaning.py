"""Cleaning of captions, off unless it is asked for by name: ``web`` mends what the web does to texts."""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version

from vcrgen.text.markup import CITATION, ENTITY, ESCAPE, INLINE, NO_ESCAPES, PLACEHOLDER, TAG

MAX_LENGTH = 20_000  # characters; longer texts are cut, of which no caption shows the end


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned text."""

    text: str
    kinds: tuple[str, ...] = ()  # the steps that changed something, in their order


@dataclass(frozen=True, slots=True)
class Cleaning:
    """A named cleaning: steps that are repeated in their order until no one changes anything."""

    rule: str  # name and version, for signatures
    steps: Mapping[str, Callable[[str], str]]  # kind of what is cleaned to its step

    def __call__(self, text: str) -> Cleaned:
        """Clean a text; a cleaned text stays as it is."""
        kinds = set()
        text, before = text[:MAX_LENGTH], None
        while text != before:
            before = text
            for kind, step in self.steps.items():
                stepped = step(text)
                if stepped != text:
                    kinds.add(kind)
                    text = stepped
        return Cleaned(text, tuple(kind for kind in self.steps if kind in kinds))


def _escapes(text: str) -> str:
    """Read the escapes of a program's source; tabs and line ends are spaces."""
    if NO_ESCAPES.search(text):
        return text

    def read(escape: re.Match[str]) -> str:
        code = escape[0][1:]
        if code[0] == "u":
            return chr(int(code[1:], 16))
        return " " if code in "ntr" else code

    return _JOINED_SURROGATES.sub(_join, ESCAPE.sub(read, text))


_JOINED_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _entities(text: str) -> str:
    """Read entities; those of white space are mostly of a page's layout, so no line has to go on there."""

    def read(entity: re.Match[str]) -> str:
        character = html.unescape(entity[0])
        return " " if character.isspace() else character

    return ENTITY.sub(read, text)


def _placeholders(text: str) -> str:
    return PLACEHOLDER.sub(" ", text)


def _citations(text: str) -> str:
    return CITATION.sub("", text)


def _tags(text: str) -> str:
    return TAG.sub(lambda tag: "" if INLINE.match(tag[0]) else " ", text)


def _mojibake(text: str) -> str:
    """Mend text that was read in another encoding than it was written in, as ``captainâ€™s``."""
    if text.isascii():
        return text
    from ftfy import fix_encoding

    return fix_encoding(text)


CLEANINGS = {
    "web": Cleaning(
        f"web-1,ftfy-{version('ftfy')}",
        {
            "escapes": _escapes,
            "entities": _entities,
            "mojibake": _mojibake,
            "citations": _citations,
            "placeholders": _placeholders,
            "tags": _tags,
        },
    )
}
