"""Built-in English eligibility: names, dates and amounts found by rules, without a trained model.

A trained pipeline looks for names; this one looks for words that are surely none. English writes names with
a capital, so every capital inside a sentence is taken for a name's, and at the start of a sentence, where a
capital says nothing, only a listed plain opener ("The", "After", "Located") is not. What is left is the
lower-case part of names ("de", "river", "'s") and text written without capitals, where only listed common
words are plain.

The rules are passes over the tokens, run in the order of ``PASSES``; each marks tokens with an OntoNotes
label, or with ``NAME`` where no more can be told. The marks become ``doc.ents``, so that eligibility is one
rule for this and for trained pipelines.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import groupby, pairwise

import spacy
from spacy.lang.en.stop_words import STOP_WORDS
from spacy.language import Language
from spacy.tokens import Doc, Span

NAME = "NAME"
# Labels of one kind: neighbours among them are one name ("Paris Hilton", GPE + NAME).
NAME_LABELS = frozenset({NAME, "NORP", "GPE", "PERSON"})

CURRENCIES = frozenset({"$", "€", "£", "¥", "₹", "us$", "a$", "c$", "hk$", "nz$"})
PERCENT = frozenset({"%", "‰", "percent", "percentage", "per-cent"})
# Months that are common words too, so dates only after a day: "4 march".
AMBIGUOUS_MONTHS = frozenset({"march", "may"})
POSSESSIVES = frozenset({"'s", "\N{RIGHT SINGLE QUOTATION MARK}s", "'", "\N{RIGHT SINGLE QUOTATION MARK}"})
# Marks that tie two words to one where no space is written: "Jin-hyuk", "Biel/Bienne".
TIES = frozenset("-\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}/'\N{RIGHT SINGLE QUOTATION MARK}&._")
LONGEST_CONNECTION = 2  # words: "of the"
# Endings of inflected common words, longest first, and what the base form has there: "berries", "berry".
# Not -er: it makes surnames as well ("carter").
ENDINGS = (
    ("iest", "y"), ("ies", "y"), ("ied", "y"), ("ily", "y"), ("ing", ""), ("ing", "e"), ("est", ""),
    ("est", "e"), ("es", ""), ("ed", ""), ("ed", "e"), ("ly", ""), ("s", ""), ("y", ""),
)  # fmt: skip


class Lexicons:
    """The word lists of ``lexicons/en``; ``lexicons/en/*.txt`` say what each list is for."""

    def __init__(self) -> None:
        """Read every list."""
        self.openers = _read("openers")
        self.caption_openers = _read("caption_openers")
        self.common = _read("common") | self.openers | self.caption_openers | STOP_WORDS
        self.months = _read("months")
        self.units = _read("units")
        self.offices = _read("offices")
        self.verbs = _read("verbs")
        self.plain_capitals = _read("plain_capitals")
        self.prefixes = _read("prefixes")
        self.particles = _read("particles")
        self.connectors = _read("connectors")
        self.geographic = _read("geographic")
        self.institutions = _read("institutions")
        self.bodies = _read("bodies")
        self.label_of = {
            **dict.fromkeys(_read("first_names"), "PERSON"),
            **dict.fromkeys(_read("places"), "GPE"),
            **dict.fromkeys(_read("demonyms"), "NORP"),
        }

    def is_common(self, word: str) -> bool:
        """Whether the lower-case word is a listed common word or an inflected form of one."""
        if word in self.common:
            return True
        for ending, restored in ENDINGS:
            stem = word.removesuffix(ending) + restored
            undoubled = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem  # "running", "run"
            if word.endswith(ending) and len(undoubled) > 2 and not self.common.isdisjoint({stem, undoubled}):
                return True
        return False


def _read(name: str) -> frozenset[str]:
    text = (files("vcrgen.text") / "lexicons" / "en" / f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


class Marked:
    """The tokens of one text, and the label or None that the passes have given to each."""

    def __init__(self, doc: Doc, lexicons: Lexicons) -> None:
        """Start without labels; what the passes ask of tokens is read once, spaCy's attributes being slow."""
        self.words: Sequence[str] = [token.text for token in doc]
        self.lower: Sequence[str] = [word.lower() for word in self.words]
        self.capital = [_has_capital(word) for word in self.words]
        self.numeric = [token.like_num or any(map(str.isdigit, token.text)) for token in doc]
        self.spaced = [bool(token.whitespace_) for token in doc]
        self.opening = _sentence_openings(doc)
        self.labels: list[str | None] = [None] * len(doc)
        self.lexicons = lexicons

    def lower_at(self, i: int) -> str:
        """Token i in lower case; nothing where there is no token i."""
        return self.lower[i] if 0 <= i < len(self.lower) else ""

    def is_name(self, i: int) -> bool:
        """Whether there is a token i and it is marked as some name."""
        return 0 <= i < len(self.labels) and self.labels[i] in NAME_LABELS


def _sentence_openings(doc: Doc) -> list[bool]:
    """Tell the first words of sentences: the quotes and brackets before them do not count."""
    openings = []
    waiting = True
    for token in doc:
        waiting = waiting or token.is_sent_start is True
        is_word = any(map(str.isalnum, token.text))
        openings.append(waiting and is_word)
        waiting = waiting and not is_word
    return openings


def _has_capital(word: str) -> bool:
    return any(char.isupper() or char.istitle() for char in word)


def _is_latin(word: str) -> bool:
    return word.isascii() or all(unicodedata.name(char, "").startswith("LATIN") for char in word if char.isalpha())


def mark_listed(text: Marked) -> None:
    """Listed names, of one word or two, count in lower case too: many captions have no capitals."""
    label_of = text.lexicons.label_of
    text.labels[:] = [label_of.get(word) for word in text.lower]
    for i, pair in enumerate(pairwise(text.lower)):
        label = label_of.get(" ".join(pair))
        if label:
            text.labels[i : i + 2] = [label, label]


def mark_numbers(text: Marked) -> None:
    """A number, with the units after it, is an amount, a time or a date."""
    for i in range(len(text.words)):
        if not text.numeric[i]:
            continue
        before, after = text.lower_at(i - 1), text.lower_at(i + 1)
        money = before in CURRENCIES or after in CURRENCIES
        text.labels[i] = "MONEY" if money else "PERCENT" if after in PERCENT else "CARDINAL"
        for j in range(i + 1, len(text.words)):
            if text.numeric[j] or text.lower[j] not in text.lexicons.units:
                break
            text.labels[j] = "QUANTITY"


def mark_calendar(text: Marked) -> None:
    """Months, weekdays and feasts are dates."""
    for i, word in enumerate(text.lower):
        after_day = i > 0 and text.numeric[i - 1]
        if word in text.lexicons.months or (word in AMBIGUOUS_MONTHS and after_day):
            text.labels[i] = "DATE"


def mark_foreign_scripts(text: Marked) -> None:
    """A word in another script is a name or its original: "Athens (Αθήνα)"."""
    for i, word in enumerate(text.words):
        if not _is_latin(word):
            text.labels[i] = NAME


def mark_capitals(text: Marked) -> None:
    """A capital inside a sentence, or inside a word ("iPhone", "McCoy"), is a name's."""
    for i, word in enumerate(text.words):
        if text.labels[i] or not text.capital[i] or word in text.lexicons.plain_capitals:
            continue
        only_first = word[1:] == text.lower[i][1:]
        if not (only_first and (_opens_plainly(text, i) or _is_office(text, i))):
            text.labels[i] = NAME


def _opens_plainly(text: Marked, i: int) -> bool:
    """Whether the capital is only its sentence's; a noun before a verb may be a name: "Young was born"."""
    if not text.opening[i] or text.lower[i] in text.lexicons.openers:
        return text.opening[i]
    after = text.lower_at(i + 1)
    is_subject = after in text.lexicons.verbs or after.endswith(("s", "ed")) or not after.isalpha()
    return text.lower[i] in text.lexicons.caption_openers and not is_subject


def _is_office(text: Marked, i: int) -> bool:
    """Whether it is an office and no part of a name: "Member of", but not "Lord Mayor of"."""
    linked = text.lower_at(i + 1) in {"of", "for", "to", "from", "in"}
    return text.lower[i] in text.lexicons.offices and linked and not (i > 0 and text.capital[i - 1])


def mark_uncommon(text: Marked) -> None:
    """In a text without case nothing shows a name, so every word that is not a common one may be one."""
    whole = "".join(text.words)
    if whole not in (whole.lower(), whole.upper()):
        return
    for i, word in enumerate(text.lower):
        if word.isalpha() and text.labels[i] in (None, NAME):
            text.labels[i] = None if text.lexicons.is_common(word) else NAME
        if text.labels[i] is None and i > 0 and text.labels[i - 1] == "PERSON" and _may_be_surname(text, i):
            text.labels[i] = NAME
    for i in reversed(range(len(text.lower))):
        if text.lower[i] in text.lexicons.prefixes and text.is_name(i + 1):
            text.labels[i] = NAME


def _may_be_surname(text: Marked, i: int) -> bool:
    """Whether a common word after a first name may go on with it: "james brown", but not "james sits"."""
    word = text.lower[i]
    grammatical = word in text.lexicons.verbs or word in text.lexicons.openers or word in STOP_WORDS
    return word.isalpha() and not grammatical and not word.endswith(("s", "ed", "ing"))


def mark_handles(text: Marked) -> None:
    """Addresses, handles and hashtags name someone: "@nasa", "#london", "example.org"."""
    for i, word in enumerate(text.words):
        host, _, domain = word.rpartition(".")
        if "@" in word or "#" in word or text.lower_at(i - 1) == "#" or (host and len(domain) > 1):
            text.labels[i] = text.labels[i] or NAME


def join_plain_capitals(text: Marked) -> None:
    """An acronym or a numeral beside a name belongs to it: "Elizabeth I", "TV Tokyo"."""
    for i, word in enumerate(text.words):
        beside_name = text.is_name(i - 1) or (word != "I" and text.is_name(i + 1))
        if word in text.lexicons.plain_capitals and beside_name:
            text.labels[i] = NAME


def join_ties(text: Marked) -> None:
    """A word tied to a name belongs to it: "Jin-hyuk", "non-Indian"; there and back because ties chain."""
    middles = range(1, len(text.words) - 1)
    for i in (*middles, *reversed(middles)):
        tied = text.words[i] in TIES and not (text.spaced[i - 1] or text.spaced[i])
        if tied and (text.is_name(i - 1) or text.is_name(i + 1)):
            for j in (i - 1, i, i + 1):
                text.labels[j] = text.labels[j] or NAME


def join_particles(text: Marked) -> None:
    """A particle before a name belongs to it: "by de Staël"; backwards because of "van der Waals"."""
    for i in reversed(range(len(text.words))):
        if text.words[i] in text.lexicons.particles and text.is_name(i + 1):
            text.labels[i] = NAME


def join_nouns(text: Marked) -> None:
    """Some nouns beside a name belong to it: "the river Spey", "Stowe school", "the Greek government"."""
    for i, word in enumerate(text.words):
        people = i > 0 and text.labels[i - 1] == "NORP"
        after = text.is_name(i - 1) and not people  # "a Greek island" is none
        geographic = word in text.lexicons.geographic and (after or text.is_name(i + 1))
        institution = word in text.lexicons.institutions and after
        body = word in text.lexicons.bodies and people
        if not text.labels[i] and (geographic or institution or body):
            text.labels[i] = NAME


def join_possessives(text: Marked) -> None:
    """The 's of a name belongs to it, as in OntoNotes: a cover must not start inside a word."""
    for i, word in enumerate(text.words):
        if word in POSSESSIVES and text.is_name(i - 1) and not text.spaced[i - 1]:
            text.labels[i] = NAME


def join_connectors(text: Marked) -> None:
    """One or two connectors between names make them one name: "University of the Arts"."""
    names = [i for i in range(len(text.words)) if text.is_name(i)]
    for first, second in pairwise(names):
        between = range(first + 1, second)
        tied = all(text.words[i] in text.lexicons.connectors for i in between)
        if tied and len(between) <= LONGEST_CONNECTION:
            for i in between:
                text.labels[i] = NAME


PASSES: tuple[Callable[[Marked], None], ...] = (
    mark_listed,
    mark_numbers,
    mark_calendar,
    mark_foreign_scripts,
    mark_capitals,
    mark_uncommon,
    mark_handles,
    join_plain_capitals,
    join_ties,
    join_particles,
    join_nouns,
    join_possessives,
    join_connectors,
)


class EnglishNames:
    """spaCy component that sets ``doc.ents`` by ``PASSES``. Sentence bounds must be set before it."""

    def __init__(self) -> None:
        """Read the lexicons, once for all texts."""
        self.lexicons = Lexicons()

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of the document and return it."""
        text = Marked(doc, self.lexicons)
        for run_pass in PASSES:
            run_pass(text)
        doc.ents = _entities(doc, text.labels)
        return doc


def _entities(doc: Doc, labels: Sequence[str | None]) -> list[Span]:
    """Neighbouring tokens of one kind are one entity, which no sentence bound cuts."""
    kinds = [NAME if label in NAME_LABELS else label for label in labels]
    spans = []
    for kind, group in groupby(range(len(labels)), key=kinds.__getitem__):
        if kind:
            tokens = list(group)
            distinct = {labels[i] for i in tokens}
            label = distinct.pop() if len(distinct) == 1 else kind
            spans.append(Span(doc, tokens[0], tokens[-1] + 1, label=label or kind))
    return spans


@Language.factory("vcrgen_names_en")
def create_english_names(nlp: Language, name: str) -> EnglishNames:
    """Build the component for ``nlp.add_pipe("vcrgen_names_en")``."""
    return EnglishNames()


def english_pipeline() -> Language:
    """Build the built-in English pipeline: tokens, sentences by punctuation, names by rule.

    Returns:
        A pipeline that needs no trained model and no download.
    """
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("vcrgen_names_en")
    return nlp
