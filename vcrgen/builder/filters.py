"""Sensitive text: a modest built-in list per language, and the user's own."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from vcrgen.errors import ConfigError
from vcrgen.text.languages import LanguageRow
from vcrgen.text.lexicons import read_lexicon

MAX_LIST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CensorList:
    """Terms that set a pair aside."""

    pattern: re.Pattern[str]  # matches any of the terms in case-folded text
    digest: str  # eight hex digits that stand for the terms, for the signature

    @classmethod
    def load(cls, language: LanguageRow, extra: Path | None) -> CensorList:
        """The built-in list of a language, and a file of further terms.

        Args:
            language: Whose list; it also says whether terms match whole words only.
            extra: UTF-8 text, one term a line; empty lines and lines that begin with ``#`` are passed over.

        Raises:
            ConfigError: The file cannot be read.
        """
        terms = _terms("\n".join(read_lexicon(language.code, "sensitive")))
        if extra is not None:
            terms += _terms(_read(extra))
        return cls.of(terms, whole_words=language.word_boundaries)

    @classmethod
    def of(cls, terms: list[str], *, whole_words: bool) -> CensorList:
        """A list of given terms; the longest alternative first, so that none hides another."""
        unique = sorted(set(terms), key=lambda term: (-len(term), term))
        alternatives = "|".join(map(re.escape, unique)) or r"(?!)"
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if whole_words else alternatives)
        return cls(pattern, hashlib.sha256(pattern.pattern.encode()).hexdigest()[:8])

    def matches(self, text: str) -> bool:
        """Whether any term is in the text, whatever its case."""
        return self.pattern.search(text.casefold()) is not None


def _terms(text: str) -> list[str]:
    lines = (line.strip().casefold() for line in text.removeprefix("\ufeff").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_LIST_BYTES:
            raise ConfigError(f"The censor list {file} is larger than {MAX_LIST_BYTES >> 20} MiB.")
        return file.read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"The censor list {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"The censor list {file} is not UTF-8 text; save it as UTF-8, one term a line.") from None
