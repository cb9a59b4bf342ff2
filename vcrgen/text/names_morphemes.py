"""Built-in eligibility of languages whose words a dictionary of morphemes knows: its names, word lists, and few rules.

A dictionary tags most names: 田中 is a surname, 京都 a place, and a word of no dictionary is probably a name. The rules
add words that belong to a name (京都 + 駅) or to a number (三 + 隻), and short quotations. As in Chinese they prefer
false positives: an eligible name requires knowledge of a reader, and a common word too few costs one candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vcrgen.core.resources import load_object
from vcrgen.text.eligibility import set_entities, set_word_parts
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.lexicons import read_fields
from vcrgen.text.morphemes import Analyser, MorphemeTokenizer, Role
from vcrgen.text.space_delimited import BY_RULES

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

COMPONENT = "vcrgen_names_morphemes"
LABEL_OF_ROLE: dict[Role, str] = {
    "person": "PERSON",
    "place": "GPE",
    "name": "NAME",
    "unknown": "NAME",
    "number": "CARDINAL",
}
NAMES = frozenset({"PERSON", "GPE", "NAME"})
NUMBERS = frozenset({"CARDINAL", "QUANTITY"})
DOTS = frozenset("・·＝=")
QUOTES = {"「": "」", "『": "』", "《": "》", "〈": "〉", "“": "”", "‘": "’", '"': '"', "'": "'"}
MAX_QUOTED_NAME = 8  # tokens; a longer quotation is speech
MAX_LISTED = 6  # tokens of an entry of the lists
MAX_REST = 4  # words between a name and its head
MIN_COMPOUND = 3  # common nouns of a name whose last one is a kind of institution


@dataclass(frozen=True, slots=True)
class MorphemeLists:
    """The sets of words of these rules; comments in the files of the lists say what each is for."""

    counters: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    towns: frozenset[str] = frozenset()


@dataclass(slots=True)
class LabelledWords:
    """The tokens of one document, and the labels that the rules give them."""

    words: list[str]  # the tokens' texts
    roles: list[Role]  # of each for the rules
    tied: list[bool]  # true for tokens without white space before them
    labels: list[str]  # an OntoNotes label or NAME for each, "" for none
    lists: MorphemeLists  # of the language

    def is_name(self, index: int) -> bool:
        """Return true if there is a token at the index and it was taken for a name."""
        return 0 <= index < len(self.words) and self.labels[index] in NAMES

    def is_nominal(self, index: int) -> bool:
        """Return true if a token can be a part of a name of several words."""
        return self.labels[index] in NAMES or (self.roles[index] != "other" and self.labels[index] not in NUMBERS)

    def mark(self, start: int, end: int, label: str) -> None:
        """Label tokens start..end-1 that are not names already."""
        for index in range(start, min(end, len(self.words))):
            if self.labels[index] not in NAMES:
                self.labels[index] = label


def mark_words(marks: LabelledWords) -> None:
    """Label each word by its role in the dictionary; it takes some numbers for nouns: 八十, 千三."""
    for index, word in enumerate(marks.words):
        if marks.lists.numbers.issuperset(word):
            marks.roles[index] = "number"
        if word in marks.lists.plain:
            marks.roles[index] = "noun"
        else:
            marks.labels[index] = LABEL_OF_ROLE.get(marks.roles[index], "")


def mark_listed(marks: LabelledWords) -> None:
    """Label listed names and dates, also if the dictionary cuts them: 国際 連合."""
    for start in range(len(marks.words)):
        listed = ""
        for end in range(start + 1, min(start + MAX_LISTED, len(marks.words)) + 1):
            if end > start + 1 and not marks.tied[end - 1]:
                break
            listed += marks.words[end - 1]
            if listed in marks.lists.names or listed in marks.lists.dates:
                marks.mark(start, end, "NAME" if listed in marks.lists.names else "DATE")


def mark_counters(marks: LabelledWords) -> None:
    """Label counters after a number: 三 隻, 3 月, 두 척, 10 時 半."""
    for index in range(1, len(marks.words)):
        before = marks.labels[index - 1] in NUMBERS or marks.words[index - 1][-1].isdigit()
        if before and (marks.roles[index] == "counter" or marks.words[index] in marks.lists.counters):
            marks.mark(index, index + 1, "QUANTITY")


def mark_given_names(marks: LabelledWords) -> None:
    """Label single characters that go on after a surname: 田中 太 一 朗."""
    for index in range(1, len(marks.words)):
        word, after = marks.words[index], marks.labels[index - 1] == "PERSON" and marks.tied[index]
        if after and len(word) == 1 and "\u3400" <= word <= "\u9fff":
            marks.mark(index, index + 1, "PERSON")


def mark_titles(marks: LabelledWords) -> None:
    """Label who is called Mr or Ms: the whole written word before it (오하은 씨), or the nouns (早苗 さん)."""
    for index in range(1, len(marks.words)):
        if marks.words[index] in marks.lists.titles and (not marks.tied[index] or marks.is_nominal(index - 1)):
            start = index - 1
            while start and marks.tied[start] and (not marks.tied[index] or marks.is_nominal(start - 1)):
                start -= 1
            marks.mark(start, index, "PERSON")


def mark_dots(marks: LabelledWords) -> None:
    """Label the words on both sides of the dot in a foreigner's name, if one of them is a name."""
    for dot, word in enumerate(marks.words):
        if word in DOTS and (marks.is_name(dot - 1) or marks.is_name(dot + 1)):
            marks.mark(max(0, dot - 1), dot + 2, "NAME")


def mark_runs(marks: LabelledWords) -> None:
    """Label the nouns that are written together with a name, with a kind of institution, or with one of towns."""
    for run in _runs(marks):
        last = marks.words[run[-1]]
        town = len(run) > 1 and last in marks.lists.towns
        compound = len(run) >= MIN_COMPOUND and last in marks.lists.kinds
        if town or compound or any(marks.is_name(index) for index in run):
            marks.mark(run[0], run[-1] + 1, "NAME")


def _runs(marks: LabelledWords) -> list[list[int]]:
    """The longest runs of nouns without white space between them."""
    runs: list[list[int]] = []
    for index in range(len(marks.words)):
        if not marks.is_nominal(index):
            continue
        if runs and runs[-1][-1] == index - 1 and marks.tied[index]:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def mark_kinds(marks: LabelledWords) -> None:
    """Label words between a name and a kind of institution, in space-delimited text: 서울 중앙 우체국."""
    for index in range(len(marks.words)):
        if marks.is_name(index) and not marks.is_name(index + 1):
            for end in range(index + 1, min(len(marks.words), index + 1 + MAX_REST)):
                if not marks.is_nominal(end):
                    break
                if marks.words[end] in marks.lists.kinds:
                    marks.mark(index + 1, end + 1, "NAME")
                    break


def mark_quotes(marks: LabelledWords) -> None:
    """Label short texts in quotation marks: more often a name or a title than speech."""
    words = marks.words
    for start, word in enumerate(words):
        if closing := QUOTES.get(word):
            limit = min(len(words), start + MAX_QUOTED_NAME + 2)
            if end := next((at for at in range(start + 1, limit) if words[at] == closing), None):
                marks.mark(start + 1, end, "NAME")


def mark_repeats(marks: LabelledWords) -> None:
    """Label a word wherever it stands, once it was a part of somebody's name."""
    seen = {word for word, label in zip(marks.words, marks.labels, strict=True) if label == "PERSON" and len(word) > 1}
    for index, word in enumerate(marks.words):
        if word in seen and word not in marks.lists.plain:
            marks.mark(index, index + 1, "NAME")


RULES: tuple[Callable[[LabelledWords], None], ...] = (
    mark_words,
    mark_listed,
    mark_counters,
    mark_given_names,
    mark_titles,
    mark_repeats,
    mark_dots,
    mark_runs,
    mark_kinds,
    mark_quotes,
)


def label_words(words: Sequence[str], roles: Sequence[Role], tied: Sequence[bool], lists: MorphemeLists) -> list[str]:
    """Run all rules.

    Args:
        roles: The role of each for the rules.
        tied: True for tokens without white space before them.

    Returns:
        An OntoNotes label (or NAME: some name) for each token, "" for none.
    """
    marks = LabelledWords(list(words), list(roles), list(tied), [""] * len(words), lists)
    for rule in RULES:
        rule(marks)
    return marks.labels


def _analyser(language: LanguageRow) -> Analyser:
    analyser: Analyser = load_object(f"{language.segmenter.partition(':')[0]}:analyser")()
    return analyser


def _name_marker(language: LanguageRow) -> Callable[[Doc], Doc]:
    """The component: it sets ``token.pos_`` of common nouns, ``doc.ents``, and words of several tokens."""
    analyser, lists = _analyser(language), MorphemeLists(**read_fields(MorphemeLists, language.code))

    def mark_names(doc: Doc) -> Doc:
        roles = [analyser.role(token.tag_) for token in doc]
        tied = [not token.i or not doc[token.i - 1].whitespace_ for token in doc]
        labels = label_words([token.text for token in doc], roles, tied, lists)
        for token, own, label in zip(doc, roles, labels, strict=True):
            if own in ("noun", "counter") and not label:
                token.pos_ = "NOUN"
        set_entities(doc, labels)
        tags = [token.tag_ for token in doc]
        set_word_parts(doc, (i for i in range(1, len(doc)) if tied[i] and analyser.continues(tags[i - 1], tags[i])))
        return doc

    return mark_names


def morpheme_pipeline(language: LanguageRow) -> Language:
    """Build a language's pipeline: morphemes, sentences by punctuation, names by the dictionary and by rule.

    Returns:
        A pipeline without a trained model.

    Raises:
        ModuleNotFoundError: A package of the language's extra is not installed.
    """
    import spacy
    from spacy.attrs import LIKE_NUM
    from spacy.language import Language

    if not Language.has_factory(COMPONENT):
        Language.factory(
            COMPONENT,
            assigns=["token.pos", "doc.ents"],
            func=lambda nlp, name: _name_marker(LANGUAGES[str(nlp.lang)]),
        )
    # spaCy's own tokenizers of these languages need packages that ours do without.
    nlp = spacy.blank(language.code, config=BY_RULES)
    # Their number words are characters that stand in other words, too: the dictionary tags the numbers.
    getters: Any = nlp.vocab.lex_attr_getters  # type: ignore[attr-defined] # spaCy's stubs leave it out
    getters[LIKE_NUM] = lambda text: False
    nlp.tokenizer = MorphemeTokenizer(nlp.vocab, _analyser(language))
    nlp.add_pipe("sentencizer", config={"punct_chars": list(language.sentence_enders)})
    nlp.add_pipe(COMPONENT)
    return nlp
