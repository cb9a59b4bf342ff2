"""Sensitive text: a modest built-in list per language, and the user's own."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vcrgen.errors import ConfigError
from vcrgen.text.languages import LanguageRow
from vcrgen.text.lexicons import read_lexicon

RULE = "terms-2"  # name and version of how terms are found in captions, for signatures
MAX_LIST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CensorList:
    """Terms that set a pair aside."""

    pattern: re.Pattern[str]  # matches any of the terms in case-folded text
    whole_words: bool  # whether a term counts as a whole word only
    digest: str  # for signatures: the rule, and eight hex digits that stand for the terms, as in ``terms-2@4cb10664``

    @classmethod
    def load(cls, language: LanguageRow, extra: Path | None) -> Self:
        """The built-in list of a language, and a file of further terms: UTF-8 text, one term a line.

        Empty lines and lines that begin with ``#`` are passed over. In a language with spaces between its words, terms
        match whole words only, unless particles are written to their ends.

        Raises:
            ConfigError: The file cannot be read.
        """
        lines = [*read_lexicon(language.code, "sensitive"), *(_read(extra).splitlines() if extra else ())]
        terms = [line.strip().casefold() for line in lines]
        given = [term for term in terms if term and not term.startswith("#")]
        return cls.of(given, whole_words=language.word_boundaries and not language.particles)

    @classmethod
    def of(cls, terms: list[str], *, whole_words: bool) -> Self:
        """A list of given terms; the longest alternative first, so that none hides another."""
        unique = sorted(set(terms), key=lambda term: (-len(term), term))
        alternatives = "|".join(map(re.escape, unique)) or r"(?!)"
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if whole_words else alternatives)
        digest = hashlib.sha256(pattern.pattern.encode()).hexdigest()[:8]
        return cls(pattern, whole_words, f"{RULE}@{digest}")

    def matches(self, text: str) -> bool:
        """Whether any term is in the text, whatever its case."""
        folded = text.casefold()
        found = (match.span() for match in self.pattern.finditer(folded))
        return any(not (self.whole_words and _is_part(folded, start, end)) for start, end in found)


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether a vowel sign, which is no word character to a pattern, ties a term to letters before or after it."""
    before, after = (
        unicodedata.category(text[start - 1 : start] or " "),
        unicodedata.category(text[end : end + 1] or " "),
    )
    symbol = unicodedata.category(text[end - 1]).startswith("S")  # what follows an emoji only says how it is drawn
    return before.startswith("M") or (after.startswith("M") and not symbol)


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_LIST_BYTES:
            raise ConfigError(f"The censor list {file} is larger than {MAX_LIST_BYTES >> 20} MiB.")
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"The censor list {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"The censor list {file} is not UTF-8 text; save it as UTF-8, one term a line.") from None
