"""Built-in eligibility of languages that write names with a capital: found by rules, without a trained model.

A trained pipeline finds names; this one finds words that are certainly none. Names have a capital, so every capital
inside a sentence is taken for one. At the start of a sentence only a listed opener ("The", "After", "Located") is
plain. Further rules find the lower-case parts of names ("de", "river", "'s"), and listed names in lower case ("un
peintre français"). In text without capitals only listed common words are plain. In a language that writes all nouns
with a capital, listed ones and their compounds are plain: "das Fischerboot", but not "das Gutenbergdenkmal". A script
without capitals is read like text in lower case: only common words are plain, alone or with a particle ("والبيت").

The rules are passes over the tokens, in the order of ``PASSES``. Each marks tokens with an OntoNotes label, or with
``NAME``. The marks become ``doc.ents``, so that eligibility is one rule for this and for trained pipelines. The passes
name no language; its words are in ``vcrgen/text/CODE/lexicons``.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from vcrgen.text.eligibility import set_entities
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.lexicons import read_fields, read_lexicon
from vcrgen.text.normalise import lookup_key
from vcrgen.text.space_delimited import BY_RULES

NAME = "NAME"
# Labels of one kind: neighbours among them are one name ("Paris Hilton", GPE + NAME).
NAME_LABELS = frozenset({NAME, "NORP", "GPE", "PERSON"})

CURRENCIES = frozenset({"$", "€", "£", "¥", "₹", "us$", "a$", "c$", "hk$", "nz$"})
PERCENT = frozenset({"%", "‰"})
# Marks that tie two words to one without a space: "Jin-hyuk", "Biel/Bienne".
TIES = frozenset("-\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}/'\N{RIGHT SINGLE QUOTATION MARK}&._")
MAX_CONNECTORS = 2  # words: "of the"
MAX_PHRASE = 4  # words of a listed name
MAX_TAIL = 2  # nouns: "Ligue [des droits] [de l'homme]"
MAX_COMPOUND = 60  # letters; longer words are not split, which takes quadratic time
MIN_PART = 3  # letters of a part of a compound
MAX_QUOTE = 6  # tokens between quotes
MAX_LINK = 4  # words: "parc [naturel régional de la] Brière"


@dataclass(eq=False)
class CapitalsLists:
    """The sets of words of these rules, in lower case; comments in the files of the lists say what each is for."""

    attached: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    bodies_first: frozenset[str] = frozenset()
    capital_nouns: frozenset[str] = frozenset()
    caption_openers: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    compound_links: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    demonyms: frozenset[str] = frozenset()
    first_names: frozenset[str] = frozenset()
    geographic: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    institutions: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()
    months_after_day: frozenset[str] = frozenset()
    noun_links: frozenset[str] = frozenset()
    number_links: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    office_links: frozenset[str] = frozenset()
    offices: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    participle_endings: frozenset[str] = frozenset()
    particles: frozenset[str] = frozenset()
    percent: frozenset[str] = frozenset()
    phrases: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    plain_capitals: frozenset[str] = frozenset()
    plain_numbers: frozenset[str] = frozenset()
    possessives: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    tail_endings: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    verb_endings: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()


class NameLists(CapitalsLists):
    """The word lists of a language, and what the rules derive from them."""

    def __init__(self, language: LanguageRow, stop_words: set[str]) -> None:
        """Combine lists; spaCy's stop words of the language count as common words."""
        super().__init__(**read_fields(CapitalsLists, language.code))
        self.script = language.script
        self.stop_words = stop_words
        self.common_words = self.common | self.openers | self.caption_openers | stop_words | self.capital_nouns
        self.inflected = [tuple(f"{line} ".split(" ")[:2]) for line in read_lexicon(language.code, "inflections")]
        self.percent_signs = self.percent | PERCENT
        self.endings = tuple(self.verb_endings)
        self.tails = tuple(self.tail_endings)
        self.attached_particles = tuple(self.attached)
        # Scripts without capitals, such as Arabic, show no names by them.
        self.has_case = any(word != word.upper() for word in self.stop_words)
        self.quotes: dict[str, str] = dict(line.split(" ") for line in read_lexicon(language.code, "name_quotes"))
        lists = {"PERSON": self.first_names, "GPE": self.places | self.phrases, "NORP": self.demonyms}
        self.label_of = {word: label for label, words in lists.items() for word in words}
        parts = sorted(self.numbers | self.plain_numbers | self.number_links, key=len, reverse=True)
        self._number = re.compile(f"(?:{'|'.join(map(re.escape, [*parts, '-']))})+")
        self.is_number = lru_cache(maxsize=50_000)(self._is_number)

    def _is_number(self, word: str) -> bool:
        """Return true for a listed number or one of several in one word, in lower case: "vingt-deux", "dreihundert"."""
        if word in self.numbers:
            return True
        for particle in self.attached_particles:
            if (rest := word.removeprefix(particle)) != word and rest in self.numbers:
                return True
        alone = word.strip("-") != word or word in self.plain_numbers or word in self.number_links
        return not alone and self._number.fullmatch(word) is not None

    def is_common(self, word: str) -> bool:
        """Return true for a listed common word in lower case, an inflected form of one, or one after a particle."""
        if word in self.common_words:
            return True
        for particle in self.attached_particles:
            rest = word.removeprefix(particle)
            if rest != word and len(rest) >= MIN_PART and rest in self.common_words:
                return True
        for ending, restored in self.inflected:
            stem = word.removesuffix(ending) + restored
            undoubled = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem  # "running", "run"
            if word.endswith(ending) and len(undoubled) > 2 and not self.common_words.isdisjoint({stem, undoubled}):
                return True
        return False

    def is_capital_noun(self, word: str) -> bool:
        """Return true for a listed noun that always has a capital, given in lower case, or a compound of such nouns."""
        if word in self.capital_nouns:
            return True
        parts = word.split("-")
        return bool(self.capital_nouns) and all(self._is_compound(part) for part in parts)

    def _is_compound(self, word: str) -> bool:
        """Return true if a common word goes before a noun that is no place: "Fischerboot", not "Gutenbergplatz"."""
        if word in self.capital_nouns:
            return True
        if len(word) > MAX_COMPOUND:
            return False
        for cut in range(MIN_PART, len(word) - MIN_PART + 1):
            first, head = word[:cut], word[cut:]
            if head in self.capital_nouns and head.capitalize() not in self.geographic:
                stems = {first, *(first.removesuffix(link) for link in self.compound_links)}
                if any(len(stem) >= MIN_PART and stem in self.common_words for stem in stems):
                    return True
        return False


class LabelledWords:
    """The tokens of one text, and the labels that the passes give them."""

    def __init__(self, doc: Doc, lexicons: NameLists) -> None:
        """Start without labels; attributes of tokens are read once, as spaCy's are slow."""
        self.words: Sequence[str] = [token.text for token in doc]
        self.lower: Sequence[str] = [lookup_key(word) for word in self.words]
        self.capital = [any(char.isupper() or char.istitle() for char in word) for word in self.words]
        self.numeric = [
            token.like_num or lexicons.is_number(lower) or any(map(str.isdigit, lower))
            for token, lower in zip(doc, self.lower, strict=True)
        ]
        self.spaced = [bool(token.whitespace_) for token in doc]
        self.opening = _sentence_openings(doc)
        self.labels: list[str | None] = [None] * len(doc)
        self.lexicons = lexicons

    def lower_at(self, i: int) -> str:
        """Token i as the lists have it, or an empty text if there is no token i."""
        return self.lower[i] if 0 <= i < len(self.lower) else ""

    def is_name(self, i: int) -> bool:
        """Return true if there is a token i and it is marked as some name."""
        return 0 <= i < len(self.labels) and self.labels[i] in NAME_LABELS


def _sentence_openings(doc: Doc) -> list[bool]:
    """Mark the first words of sentences; quotes and brackets before them do not count."""
    openings = []
    waiting = True
    for token in doc:
        waiting = waiting or token.is_sent_start is True
        is_word = any(map(str.isalnum, token.text))
        openings.append(waiting and is_word)
        waiting = waiting and not is_word
    return openings


def _in_script(word: str, script: str) -> bool:
    if word.isascii():
        return script == "LATIN" or not any(map(str.isalpha, word))
    return all(unicodedata.name(char, "").startswith(script) for char in word if char.isalpha())


def mark_listed(text: LabelledWords) -> None:
    """Listed names, of up to four words, count in lower case too: many captions have no capitals."""
    label_of = text.lexicons.label_of
    text.labels[:] = [label_of.get(word) for word in text.lower]
    for length in range(2, MAX_PHRASE + 1):
        for i in range(len(text.lower) - length + 1):
            if label := label_of.get(" ".join(text.lower[i : i + length])):
                text.labels[i : i + length] = [label] * length


def mark_numbers(text: LabelledWords) -> None:
    """A number, with the units after it, is an amount, a time or a date."""
    for i in range(len(text.words)):
        if not text.numeric[i]:
            continue
        before, after = text.lower_at(i - 1), text.lower_at(i + 1)
        money = before in CURRENCIES or after in CURRENCIES
        text.labels[i] = "MONEY" if money else "PERCENT" if after in text.lexicons.percent_signs else "CARDINAL"
        for j in range(i + 1, len(text.words)):
            if text.numeric[j] or text.lower[j] not in text.lexicons.units:
                break
            text.labels[j] = "QUANTITY"


def mark_calendar(text: LabelledWords) -> None:
    """Months, weekdays and feasts are dates."""
    for i, word in enumerate(text.lower):
        after_day = i > 0 and text.numeric[i - 1]
        if word in text.lexicons.months or (word in text.lexicons.months_after_day and after_day):
            text.labels[i] = "DATE"


def mark_foreign_scripts(text: LabelledWords) -> None:
    """A word in another script is a name or its original: "Athens (Αθήνα)"."""
    for i, word in enumerate(text.words):
        if not _in_script(word, text.lexicons.script):
            text.labels[i] = NAME


def mark_capitals(text: LabelledWords) -> None:
    """A capital inside a sentence, or inside a word ("iPhone", "McCoy"), is a name's."""
    for i, word in enumerate(text.words):
        if text.labels[i] or not text.capital[i] or word in text.lexicons.plain_capitals:
            continue
        only_first = word[1:] == word[1:].lower()
        plain = _opens_plainly(text, i) or _is_office(text, i) or text.lexicons.is_capital_noun(text.lower[i])
        if not (only_first and plain):
            text.labels[i] = NAME


def _opens_plainly(text: LabelledWords, i: int) -> bool:
    """Return true if the capital is only its sentence's; a noun before a verb may be a name: "Young was born"."""
    if not text.opening[i] or text.lower[i] in text.lexicons.openers:
        return text.opening[i]
    after = text.lower_at(i + 1)
    is_subject = after in text.lexicons.verbs or after.endswith(text.lexicons.endings) or not after.isalpha()
    return text.lower[i] in text.lexicons.caption_openers and not is_subject


def _is_office(text: LabelledWords, i: int) -> bool:
    """Return true if it is an office and no part of a name: "Member of", but not "Lord Mayor of"."""
    linked = text.lower_at(i + 1) in text.lexicons.office_links
    return text.lower[i] in text.lexicons.offices and linked and not (i > 0 and text.capital[i - 1])


def mark_quoted(text: LabelledWords) -> None:
    """Between some quotes stand names of bodies, of which only the first word has a capital: «Красный октябрь»."""
    for i, word in enumerate(text.words):
        closing = text.lexicons.quotes.get(word)
        inside = text.words[i + 1 : i + 2 + MAX_QUOTE]
        if closing in inside and text.capital[i + 1]:
            for j in range(i + 1, i + 1 + inside.index(closing)):
                text.labels[j] = text.labels[j] or NAME


def mark_uncommon(text: LabelledWords) -> None:
    """In a text without capitals nothing shows a name, so every word that is not a common one may be one."""
    whole = "".join(text.words)
    has_case = text.lexicons.has_case
    if has_case and whole not in (whole.lower(), whole.upper()):
        return
    for i, word in enumerate(text.lower):
        # Vowel signs are no letters to Python, and without capitals a word with a hyphen tells nothing either.
        is_word = word.isalpha() if has_case else any(map(str.isalpha, word))
        if is_word and text.labels[i] in (None, NAME):
            text.labels[i] = None if text.lexicons.is_common(word) else NAME
        if text.labels[i] is None and i > 0 and text.labels[i - 1] == "PERSON" and _may_be_surname(text, i):
            text.labels[i] = NAME
    for i in reversed(range(len(text.lower))):
        if text.lower[i] in text.lexicons.prefixes and text.is_name(i + 1):
            text.labels[i] = NAME


def _may_be_surname(text: LabelledWords, i: int) -> bool:
    """Return true if a common word after a first name may go on with it: "james brown", but not "james sits"."""
    word, lexicons = text.lower[i], text.lexicons
    grammatical = word in lexicons.verbs or word in lexicons.openers or word in lexicons.stop_words
    verb = word.endswith((*lexicons.endings, *lexicons.participle_endings))
    is_word = word.isalpha() or not lexicons.has_case
    return is_word and not grammatical and not verb


def mark_handles(text: LabelledWords) -> None:
    """Addresses, handles and hashtags name someone: "@nasa", "#london", "example.org"."""
    for i, word in enumerate(text.words):
        host, _, domain = word.rpartition(".")
        if "@" in word or "#" in word or text.lower_at(i - 1) == "#" or (host and len(domain) > 1):
            text.labels[i] = text.labels[i] or NAME


def join_plain_capitals(text: LabelledWords) -> None:
    """An acronym or a numeral beside a name belongs to it: "Elizabeth I", "TV Tokyo"."""
    for i, word in enumerate(text.words):
        pronoun = text.lower[i] in text.lexicons.stop_words  # "I"
        beside_name = text.is_name(i - 1) or (not pronoun and text.is_name(i + 1))
        if word in text.lexicons.plain_capitals and beside_name:
            text.labels[i] = NAME


def join_ties(text: LabelledWords) -> None:
    """A word tied to a name belongs to it: "Jin-hyuk", "non-Indian"; there and back because ties chain."""
    middles = range(1, len(text.words) - 1)
    for i in (*middles, *reversed(middles)):
        tied = text.words[i] in TIES and not (text.spaced[i - 1] or text.spaced[i])
        if tied and (text.is_name(i - 1) or text.is_name(i + 1)):
            for j in (i - 1, i, i + 1):
                text.labels[j] = text.labels[j] or NAME


def join_particles(text: LabelledWords) -> None:
    """A particle before a name belongs to it: "by de Staël"; backwards because of "van der Waals"."""
    for i in reversed(range(len(text.words))):
        if text.words[i] in text.lexicons.particles and text.is_name(i + 1):
            text.labels[i] = NAME


def join_capital_nouns(text: LabelledWords) -> None:
    """A noun that has a capital anyway belongs to a name with a capital before it: "das Rote Kreuz"."""
    for i in range(1, len(text.words)):
        beside = text.is_name(i - 1) and text.capital[i - 1]
        if beside and text.capital[i] and not text.labels[i] and text.lexicons.is_capital_noun(text.lower[i]):
            text.labels[i] = NAME


def join_nouns(text: LabelledWords) -> None:
    """Some nouns beside a name belong to it: "the river Spey", "Stowe school", "the Greek government".

    Links between the noun and the name after it, such as "de la", then belong to the name, too: "le lac de Côme".
    """
    lexicons = text.lexicons
    for i, word in enumerate(text.words):
        if text.labels[i]:
            continue
        people = i > 0 and text.labels[i - 1] == "NORP"
        after = text.is_name(i - 1) and not people  # "a Greek island" is none
        linked = _after_links(text, i + 1)
        people_after = text.is_name(linked) and text.labels[linked] == "NORP"
        before = text.is_name(linked) and not (people_after and lexicons.bodies_first)  # "une île grecque" is none
        geographic = word in lexicons.geographic and (after or before)
        institution = word in lexicons.institutions and after
        body = (word in lexicons.bodies and people) or (word in lexicons.bodies_first and people_after)
        if geographic or institution or body:
            text.labels[i] = NAME
        if geographic and before:
            text.labels[i + 1 : linked] = [NAME] * (linked - i - 1)


def _after_links(text: LabelledWords, i: int) -> int:
    """The end of the words that link a noun to its name; ``i`` if there are none."""
    end = i
    while end < i + MAX_LINK and text.lower_at(end) in text.lexicons.noun_links:
        end += 1
    return end


def join_tails(text: LabelledWords) -> None:
    """Nouns after the capital noun of a body belong to its name if links or a case tie them: "la Ligue des droits"."""
    for i, word in enumerate(text.lower):
        if word not in text.lexicons.heads or not text.is_name(i):
            continue
        end = _after_adjectives(text, i + 1)  # "la Banque nationale de développement"
        for _ in range(MAX_TAIL):
            noun = _after_links(text, end)
            tied = noun > end or text.lower_at(noun).endswith(text.lexicons.tails)
            if not tied or not text.lower_at(noun).isalpha():
                break
            end = _after_adjectives(text, noun + 1)
        for j in range(i + 1, end):
            text.labels[j] = text.labels[j] or NAME


def _after_adjectives(text: LabelledWords, i: int) -> int:
    while text.lower_at(i) in text.lexicons.institutions:
        i += 1
    return i


def join_possessives(text: LabelledWords) -> None:
    """The 's of a name belongs to it, as in OntoNotes: a cover must not start inside a word."""
    for i, word in enumerate(text.words):
        if word in text.lexicons.possessives and text.is_name(i - 1) and not text.spaced[i - 1]:
            text.labels[i] = NAME


def join_connectors(text: LabelledWords) -> None:
    """One or two connectors between names make them one name: "University of the Arts"."""
    names = [i for i in range(len(text.words)) if text.is_name(i)]
    for first, second in pairwise(names):
        between = range(first + 1, second)
        tied = all(text.words[i] in text.lexicons.connectors for i in between)
        if tied and len(between) <= MAX_CONNECTORS:
            for i in between:
                text.labels[i] = NAME


PASSES: tuple[Callable[[LabelledWords], None], ...] = (
    mark_listed,
    mark_numbers,
    mark_calendar,
    mark_foreign_scripts,
    mark_capitals,
    mark_quoted,
    mark_uncommon,
    mark_handles,
    join_plain_capitals,
    join_ties,
    join_particles,
    join_capital_nouns,
    join_nouns,
    join_tails,
    join_possessives,
    join_connectors,
)


def _join_names(labels: Sequence[str | None]) -> list[str]:
    """Give adjacent tokens of different kinds of names one label, so that they are one entity."""
    joined: list[str] = []
    for is_name, run in groupby((label or "" for label in labels), key=NAME_LABELS.__contains__):
        run_labels = list(run)
        joined += [NAME] * len(run_labels) if is_name and len(set(run_labels)) > 1 else run_labels
    return joined


@Language.factory("vcrgen_names_capitals")
def create_names_by_capitals(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Build the component that sets ``doc.ents`` by ``PASSES``, after sentence bounds are set; for ``nlp.add_pipe``."""
    lexicons = NameLists(LANGUAGES[str(nlp.lang)], nlp.Defaults.stop_words)

    def mark_names(doc: Doc) -> Doc:
        text = LabelledWords(doc, lexicons)
        for run_pass in PASSES:
            run_pass(text)
        set_entities(doc, _join_names(text.labels))
        return doc

    return mark_names


def capitals_pipeline(language: LanguageRow) -> Language:
    """Build a language's pipeline: tokens, sentences by punctuation, names by rule.

    Returns:
        A pipeline that needs no trained model and no download.
    """
    nlp = spacy.blank(language.code, config=BY_RULES)
    for word in read_lexicon(language.code, "plain_numbers"):
        for written in (word, word.capitalize(), word.upper()):
            nlp.vocab[written].like_num = False
    nlp.add_pipe("sentencizer", config={"punct_chars": list(language.sentence_enders) or None})
    nlp.add_pipe("vcrgen_names_capitals")
    return nlp
