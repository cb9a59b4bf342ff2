"""Japanese morphemes by Sudachi and its small dictionary, whose words are those of UniDic.

Mode A, the shortest units, is what spaCy's own Japanese tokenizer takes, too; that one needs the core dictionary, which
is larger by names and compounds.
"""

import functools
import threading
from collections.abc import Iterator
from importlib.metadata import version

from vcrgen.text.morphemes import Analyser, Role
from vcrgen.text.segmenters import Segmenter, of_morphemes

UNKNOWN = "未知語"  # end of the tag of words of no dictionary
_ROLES: tuple[tuple[str, Role], ...] = (  # prefixes of tags; the first match counts
    ("名詞-固有名詞-人名", "person"),
    ("名詞-固有名詞-地名", "place"),
    ("名詞-固有名詞", "name"),
    ("名詞-数詞", "number"),
    ("名詞-普通名詞-助数詞可能", "counter"),
    ("接尾辞-名詞的-助数詞", "counter"),
    ("名詞", "noun"),
    ("接頭辞", "affix"),
    ("接尾辞-名詞的", "affix"),
)


@functools.cache
def analyser() -> Analyser:
    """Sudachi; the dictionary is mapped into memory.

    Raises:
        ModuleNotFoundError: Sudachi or its dictionary is not installed.
    """
    import sudachidict_small  # noqa: F401 - so that a missing dictionary is named
    from sudachipy import Dictionary, SplitMode

    tokenizer = Dictionary(dict="small").tokenizer(SplitMode.A)

    def analyse(text: str) -> Iterator[tuple[str, str]]:
        for morpheme in tokenizer.tokenize(text):
            parts = [part for part in morpheme.part_of_speech()[:4] if part != "*"]
            yield morpheme.surface(), "-".join([*parts, UNKNOWN] if morpheme.is_oov() else parts)

    name = f"sudachipy-{version('sudachipy')}-small-{version('sudachidict_small')}-A"
    return Analyser(name, analyse, _role, _continues, threading.Lock())


@functools.cache
def _role(tag: str) -> Role:
    for start, role in _ROLES:
        if tag.startswith(start):
            return "unknown" if tag.endswith(UNKNOWN) and role == "noun" else role
    return "other"


def _continues(before: str, tag: str) -> bool:
    """Return true for nouns in a row (蒸気 機関 車), for two verbs (走り 回る), after a prefix, and before a suffix."""
    alike = any(before.startswith(kind) and tag.startswith(kind) for kind in ("名詞", "動詞"))
    return alike or before.startswith("接頭辞") or tag.startswith("接尾辞")


def sudachi() -> Segmenter:
    """Sudachi's shortest units."""
    return of_morphemes(analyser())
