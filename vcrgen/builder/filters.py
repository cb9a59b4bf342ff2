"""Filter of sensitive text: a built-in list per language and the user's own terms."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vcrgen.core.errors import ConfigError
from vcrgen.text.languages import LanguageRow
from vcrgen.text.lexicons import read_lexicon

RULE = "terms-2"  # name and version of the matching rule, for signatures
MAX_LIST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CensorList:
    """Terms for which a pair is rejected."""

    pattern: re.Pattern[str]  # matches any of the terms in case-folded text
    whole_words: bool  # terms match whole words only
    digest: str  # for signatures: the rule, and eight hex digits that stand for the terms, as in ``terms-2@4cb10664``

    @classmethod
    def load(cls, language: LanguageRow, extra: Path | None) -> Self:
        """Load the built-in list of a language and a file of further terms: UTF-8 text, one term a line.

        Empty lines and lines that begin with ``#`` are skipped. In a language with spaces between its words, terms
        match whole words only, unless particles are written to their ends.

        Raises:
            ConfigError: The file cannot be read.
        """
        lines = [*read_lexicon(language.code, "sensitive"), *(_read(extra).splitlines() if extra else ())]
        terms = [line.strip().casefold() for line in lines]
        terms = [term for term in terms if term and not term.startswith("#")]
        return cls.of(terms, whole_words=language.word_boundaries and not language.particles)

    @classmethod
    def of(cls, terms: list[str], *, whole_words: bool) -> Self:
        """Compile terms, the longest first, so that none hides another."""
        unique = sorted(set(terms), key=lambda term: (-len(term), term))
        alternatives = "|".join(map(re.escape, unique)) or r"(?!)"
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if whole_words else alternatives)
        digest = hashlib.sha256(pattern.pattern.encode()).hexdigest()[:8]
        return cls(pattern, whole_words, f"{RULE}@{digest}")

    def matches(self, text: str) -> bool:
        """Return True if any term is in the text; case is ignored."""
        folded = text.casefold()
        places = (match.span() for match in self.pattern.finditer(folded))
        return any(not (self.whole_words and _is_part(folded, start, end)) for start, end in places)


def _is_part(text: str, start: int, end: int) -> bool:
    """Return True if a vowel sign, no word character to a regex, joins a term to a neighbouring letter."""
    before, after = (
        unicodedata.category(text[start - 1 : start] or " "),
        unicodedata.category(text[end : end + 1] or " "),
    )
    symbol = unicodedata.category(text[end - 1]).startswith("S")  # marks after an emoji only change its presentation
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
