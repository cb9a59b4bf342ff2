"""Regex-based answer extraction (RAE): the option that an output chooses, by our rules and by the published one.

    options = ("a cat", "a dog", "a horse", "a cow")
    read_choice("The answer is (b).", options)      # chooses option 1, the dog
    read_choice("A or B", options)                  # ambiguous
    read_choice("Answer: E", options)               # invalid: a declared answer that is no option

After the reader of outputs (``scorer/reader.py``) the first of these that holds decides:

1. An answer is declared ("Answer: B", "the answer is B"): the last one counts, even if it is no option.
2. The whole output, or else its last line, is a label, a label with its text, or a text.
3. One option alone is named, and nothing denies it.

Everything else is unread; no lot is drawn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from vcrgen.core.errors import ScoreError
from vcrgen.data.tasks.bloom import LETTERS, MAX_OPTIONS, shown_option
from vcrgen.scorer.clean import LONGEST_OUTPUT, REFUSALS, Cleaned, is_refusal
from vcrgen.scorer.mcq.open_answers import match_open
from vcrgen.scorer.reader import containers, plain_characters, read_output

RULES, PUBLISHED, OPEN = "bloom-v5", "bloom-code", "bloom-open"  # the protocols

# Arabic letters are in the order of lists, not of the alphabet.
_ARABIC_LETTERS = "أبجدهوزحطي"
_LETTERS = {
    letter: number for row in (LETTERS, LETTERS.lower(), _ARABIC_LETTERS) for number, letter in enumerate(row)
} | {"ا": 0}
_NUMBERS = {
    "".join(digits[int(digit)] for digit in str(number)): number - 1
    for digits in ("0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹")
    for number in range(1, MAX_OPTIONS + 1)
}
_REFUSALS = (*REFUSALS, "can't", "cannot", "unable to", "لا أستطيع", "لا يمكنني", "عذر", "آسف")
# Words of declarations; each ends where the answer begins. With a colon the answer is declared whatever it is; without
# one only an option, a label or "none of them" is, as in "the answer is not easy to see" nothing is.
_COLON, _IS = r"\s?[:\uff1a=]\s*", r"\s?[:\uff1a=]?\s*"
_EN = r"(?:answer|choice|option)(?: (?:choice|option|letter|number))?"
_DECLARATIONS = re.compile(
    rf"\b{_EN}(?:{_COLON}|(?: (?:is|would be|should be|must be))(?: (?:therefore|thus|likely|probably|clearly))?{_IS})"
    r"|\bI(?:'d| would|'ll| will)? (?:choose|pick|select|go with) "
    rf"|(?:الإجابة|الاجابة|الجواب|إجابة|اجابة|الخيار الصحيح)(?: ال\w+){{0,2}}(?:{_COLON}| (?:هي|هو){_IS})"
    rf"|(?:答案|选项|回答)(?:{_COLON}|(?:应该|应)?[是为選选]{_IS})|[故应]?选择?\s*(?=[(\uff08]?[A-J])"
    rf"|\b(?:respuesta|opción)(?: correcta| final)?(?:{_COLON}| es{_IS})"
    rf"|\bréponse(?: correcte| finale)?(?:{_COLON}| est{_IS})"
    rf"|\b(?:antwort|lösung)(?:{_COLON}| (?:ist|lautet|wäre){_IS})",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:none\b|n/?a\b|no (?:correct |right |valid )?(?:answer|option|choice)|neither\b|not (?:listed|given)"
    r"|all of|both\b|unknown\b|لا شيء|لا يوجد|ليس أي|جميع|以上|都不|无\b|ningun|todas las|aucune?\b|toutes|kein)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|nor|neither|never|cannot|wrong|incorrect|exclude\w*|eliminat\w*|except|rule[ds]? out|unlike)\b|n't\b"
    r"|\b(?:non|pas|nicht|kein\w*|ليس\w*|ف?لا|غير|خطأ|ما عدا)\b|[不没非错]",
    re.IGNORECASE,
)
_OPTION = r"(?:(?:the )?(?:option|choice|letter|الخيار|خيار|选项|opción|antwort)\s*(?:number |no\.? ?|#)?\s*)"
_LABEL = rf"(?:[A-Ja-j]|10|[1-9]|١٠|[١-٩]|۱۰|[۱-۹]|[{_ARABIC_LETTERS}ا])"
_REFERENCE = re.compile(
    rf"[\s$\"'(\[{{<\uff08【]{{0,9}}(?P<named>{_OPTION})?[$\"'(\[{{\uff08【]{{0,5}}(?P<label>{_LABEL})(?!\w)"
    r"(?P<closed>[$\"')\]}\uff09】]*)(?P<mark>\s?(?:[.:\uff1a\uff0e、\u2013\u2014,]|-(?=\s))+)?(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"[(\[\uff08]({_LABEL})[)\]\uff09]|(?:^|(?<=\W)){_OPTION}[(\"']?({_LABEL})(?!\w)", re.IGNORECASE)
_SAID = re.compile(
    r"(?<![\w'-])([A-J])\)? is (?:the |most likely )?(?:correct|right|best|answer)"
    rf"|(?<!\w)([{_ARABIC_LETTERS}ا]) (?:هي|هو) (?:الإجابة|الاجابة|الجواب|الخيار)"
)
_BARE = re.compile(r"(?<![\w'$\\^_-])([A-J])(?![\w'-])")
_LINE_LABEL = re.compile(rf"^ ?({_LABEL})(?:[.)] ?| ?$)", re.MULTILINE)
_MORE = re.compile(
    rf"\s*(?:,|/|&|\+|and\b|or\b|y\b|o\b|et\b|ou\b|und\b|oder\b|و|أو|和|或|、)(?:\s*(?:or|and|maybe|perhaps)\b){{0,2}}\s*{_OPTION}?"
    rf"[(\[\"']?({_LABEL})(?!\w)",
    re.IGNORECASE,
)
# Behind a capital "A" or "I" these make it a label, and all other words an article or who speaks.
_BEHIND_LABEL = re.compile(
    r" ?(?:$|[.:()\],;!?\u2013\u2014-]|(?:and|or) [B-J]\b|because\b|since\b|as\b|is\b|لأن|因为|porque\b|parce\b|weil\b)"
)
_LONGEST_ANSWER = 2_000  # characters behind a declaration that are looked at
_SENTENCE_END = re.compile(r"\n|(?<=[.!?]) |(?<=。)")
_WORD_CHAR = re.compile(r"\w")


class ReadingKind(StrEnum):
    """The kind of an output, whichever option is right. All but the first score 0; all but the last are unread."""

    CHOSEN = "chosen"
    AMBIGUOUS = "ambiguous"  # it names two options or more
    INVALID = "invalid"  # it names none, or declares an answer that is none
    REFUSED = "refused"  # it names none, and holds a word of refusal
    EMPTY = "empty"


class Reading(NamedTuple):
    """The option that was read in an output."""

    choice: int | None  # the option, from 0, in the dataset's order; None where none was chosen
    kind: ReadingKind


_AMBIGUOUS, _INVALID = Reading(None, ReadingKind.AMBIGUOUS), Reading(None, ReadingKind.INVALID)


def read_choice(
    output: str,
    options: Sequence[str],
    *,
    rotation: int = 0,
    protocol: str = RULES,
) -> Reading:
    """Read which option an output chooses.

    Args:
        options: The texts of the options in the dataset's order.
        rotation: The order in which it saw them, as of `shown_option`.
        protocol: ``bloom-v5`` for the rules above, or ``bloom-code`` for the rule of the published code: a single
            one of the digits 1 to 4, or as many as there are options, in the whole output is the label; with none or
            several, nothing is chosen. With ``bloom-open`` the model saw no options, and the output is matched to their
            texts (``open_answers.py``).

    Raises:
        ScoreError: There is no such protocol.
    """
    if protocol == PUBLISHED:
        return _published(output, rotation, len(options))
    if protocol not in (RULES, OPEN):
        raise ScoreError(f"Unknown protocol {protocol!r} of MCQ benchmarks; known: {RULES}, {PUBLISHED}, {OPEN}.")
    count, stripped = len(options), output.strip(" \n\u0640")
    if len(stripped) == 1 and not stripped.isascii():
        stripped = unicodedata.normalize("NFKC", stripped)
    if protocol == RULES and (label := _LETTERS.get(stripped, count)) < count:  # most outputs
        return Reading(shown_option(label, rotation, count), ReadingKind.CHOSEN)
    text = read_output(output, unbox=protocol == OPEN).text[:LONGEST_OUTPUT]
    if not text.strip():
        return Reading(None, ReadingKind.EMPTY)
    if protocol == OPEN:
        matches = match_open(text, options)
        reading = Reading(matches[0], ReadingKind.CHOSEN) if len(matches) == 1 else _AMBIGUOUS if matches else _INVALID
    else:
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)[:LONGEST_OUTPUT]
        reading = _Options.of(tuple(options), rotation).read(_spaced(plain))
    if reading.kind is ReadingKind.INVALID and is_refusal(text, _REFUSALS):
        return Reading(None, ReadingKind.REFUSED)
    return reading


def choice_place(
    output: str, options: Sequence[str], choice: int, *, rotation: int = 0, protocol: str = RULES
) -> tuple[int, int] | None:
    """Where the label or the text stands in an output that was read as its choice, for people to look at.

    Args:
        options: As of `read_choice`, as are the last two.
        choice: The option that `read_choice` gives.

    Returns:
        Its start and end, or None where that is not one known place.
    """
    if protocol == PUBLISHED:
        digit = re.search("10|[1-9]" if len(options) > 9 else f"[1-{len(options)}]", output)
        return None if digit is None else digit.span()
    cleaned = read_output(output, unbox=protocol == OPEN)
    text, places = _spaced_with_places(cleaned.text[:LONGEST_OUTPUT])
    if text != _spaced(unicodedata.normalize("NFKC", cleaned.text)[:LONGEST_OUTPUT]):
        return None  # characters that are combined with others, so that places are not known
    reader = _Options.of(tuple(options), rotation)
    place = _text_place(text, options[choice]) if protocol == OPEN else reader.place(text, choice, options[choice])
    if place is None:
        return None
    return cleaned.origin(places[place[0]]), cleaned.origin(places[place[1] - 1]) + 1


def _text_place(text: str, option: str) -> tuple[int, int] | None:
    """Where an option's text stands in an output whose white space is single, in whatever case."""
    words = r"\s+".join(map(re.escape, unicodedata.normalize("NFKC", option).split()))
    found = re.search(words, text, re.IGNORECASE) if words else None
    return found.span() if found else None


def _published(output: str, rotation: int, options: int) -> Reading:
    digits = [
        number for number in map(int, re.findall("10|[1-9]" if options > 9 else "[1-9]", output)) if number <= options
    ]
    if len(digits) == 1:
        return Reading(shown_option(digits[0] - 1, rotation, options), ReadingKind.CHOSEN)
    kind = ReadingKind.AMBIGUOUS if digits else ReadingKind.INVALID if output.strip() else ReadingKind.EMPTY
    return Reading(None, kind)


def _spaced(text: str) -> str:
    """The text with single spaces and without empty lines, so that no pattern meets a long run of white space."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _spaced_with_places(text: str) -> tuple[str, list[int]]:
    """As `_spaced` in NFKC, with the place in the text of each character."""
    chars, places, space = list[str](), list[int](), ""
    for place, whole in enumerate(text):
        for char in unicodedata.normalize("NFKC", whole):
            if char.isspace():
                space = "\n" if space == "\n" or not f"{char}.".splitlines()[0] else " "
                continue
            if space and chars:
                chars.append(space)
                places.append(place)
            chars.append(char)
            places.append(place)
            space = ""
    return "".join(chars), places


def _declarations(text: str) -> Iterator[tuple[int, str, bool]]:
    """Of each declaration, in order, where its answer begins, the answer, and whether it is one whatever it is."""
    ends = [(start, text[start:end], False) for start, end in containers(text)]
    for said in _SAID.finditer(text):
        ends.append((said.start(1 if said[1] else 2), said[1] or said[2], False))
    for declaration in _DECLARATIONS.finditer(text):
        behind = text[declaration.end() : declaration.end() + _LONGEST_ANSWER]
        colon = declaration[0].rstrip()[-1:] in (":", "\uff1a", "=")
        ends.append((declaration.end(), behind, colon and not _DECLARATIONS.search(behind.partition("\n")[0])))
    yield from sorted(ends)


def _is_label(reference: re.Match[str]) -> bool:
    """Tell whether a line has nothing behind its label."""
    return not reference["rest"].strip(" .*!$")


_UNSEEN_ARABIC = re.compile("[\u0640\u064b-\u0652\u0670]")
_FOLDED = str.maketrans("أإآٱى", "ااااي", "$*\\{}")


def _folded(text: str) -> str:
    """A text as it is compared with those of options: without case, marks of mathematics, vowel signs, outer marks."""
    plain = plain_characters(Cleaned(unicodedata.normalize("NFKC", text))).text
    plain = _UNSEEN_ARABIC.sub("", re.sub(r"\\(?:text|mathrm|mathbf)(?=\W)", "", plain)).casefold()
    words = " ".join(plain.translate(_FOLDED).split()).strip(" .,;:!?\"'،。")
    return re.sub(r"^(?:an?|the) (?=\w)", "", words)


@dataclass(frozen=True)
class _Options:
    """The options of an item, as an output refers to them."""

    texts: tuple[str, ...]  # folded, in the dataset's order
    rotation: int
    numeric: bool  # some text has a number that could be a label: then a bare number is a text

    @classmethod
    @lru_cache(maxsize=1 << 10)
    def of(cls, options: tuple[str, ...], rotation: int) -> _Options:
        texts = tuple(map(_folded, options))
        return cls(texts, rotation, any(word in _NUMBERS for text in texts for word in re.findall(r"\w+", text)))

    def read(self, text: str) -> Reading:
        """The reading of an output whose white space is single."""
        declared = self._declared(text)
        if declared is not None:
            return declared
        before, _, last = text.rpartition("\n")
        echoed = _LINE_LABEL.match(before[before.rfind("\n") + 1 :]) is not None  # a list of the options
        reading = self._line(last) if not echoed or len(last) < 4 else None
        if reading is not None:
            return reading
        whole = self._text(text) if before else None
        return self._named(text) if whole is None else Reading(whole, ReadingKind.CHOSEN)

    def _declared(self, text: str) -> Reading | None:
        """The last answer that an output declares, or None."""
        readings = [self._declaration(behind, certain) for _, behind, certain in _declarations(text)]
        return next((reading for reading in reversed(readings) if reading), None)

    def _declaration(self, behind: str, certain: bool) -> Reading | None:
        """What a declaration chooses, by what stands behind it; None where it declares nothing."""
        reading = self._reference(behind)
        if reading is None and _NONE.match(behind):
            return _INVALID
        if reading is None and certain and behind.strip():
            return _INVALID  # whatever it is, it is no option
        return reading

    def place(self, text: str, choice: int, option: str) -> tuple[int, int] | None:
        """Where the label or the text of the option stands that `read` chooses in an output."""
        starts = [start for start, behind, certain in _declarations(text) if self._declaration(behind, certain)]
        last = text.rpartition("\n")[2]
        if starts:
            return self._reference_place(text, starts[-1], choice, option)
        if self._line(last) is not None:
            return self._reference_place(text, len(text) - len(last), choice, option)
        labels = [at for at, label in self._labels_in(text) if label == choice]
        return _text_place(text, option) or (labels[0] if labels else None)

    def _reference_place(self, text: str, start: int, choice: int, option: str) -> tuple[int, int] | None:
        """Where in a line that begins with a reference to an option its label or else its text stands."""
        line = text[start:].lstrip().partition("\n")[0]
        start = text.index(line, start)
        reference = _REFERENCE.match(line)
        number = None if reference is None else self._number(reference["label"])
        if reference is not None and number is not None and number < len(self.texts) and self._shown(number) == choice:
            return start + reference.start("label"), start + reference.end("label")
        place = _text_place(line, option)
        return None if place is None else (start + place[0], start + place[1])

    def _line(self, line: str) -> Reading | None:
        """The reading of a line that is nothing but a reference to an option."""
        text, reference = self._text(line), _REFERENCE.match(line)
        if reference is None or (text is not None and not (_is_label(reference) and self._names(reference))):
            return None if text is None else Reading(text, ReadingKind.CHOSEN)
        others = {label.upper() for labels in _NAMED.findall(line) for label in labels if label}
        sets_off = bool(reference["mark"] or reference["closed"]) and not others - {reference["label"].upper()}
        if not (_is_label(reference) or (sets_off and (reference["label"] not in _NUMBERS or self._agrees(reference)))):
            return None
        return self._reference(line)

    def _names(self, reference: re.Match[str]) -> bool:
        """Tell whether an option has the label."""
        number = self._number(reference["label"])
        return number is not None and number < len(self.texts)

    def _agrees(self, reference: re.Match[str]) -> bool:
        number = self._number(reference["label"])
        return number is not None and number < len(self.texts) and self._starts(reference["rest"], self._shown(number))

    def _reference(self, text: str) -> Reading | None:
        """What a text that begins with a reference to an option chooses; None where it begins otherwise."""
        line = text.lstrip().partition("\n")[0]
        whole = self._text(line)
        reference = _REFERENCE.match(line)
        label = None if reference is None else self._number(reference["label"])
        if reference is None or label is None or (self.numeric and self._is_bare_number(reference)):
            return self._beginning(line) if whole is None else Reading(whole, ReadingKind.CHOSEN)
        rest = reference["rest"]
        if label >= len(self.texts) and whole is not None:
            return Reading(whole, ReadingKind.CHOSEN)
        if label >= len(self.texts):
            return _INVALID if _is_label(reference) or reference["mark"] or reference["closed"] else None
        option = self._shown(label)
        if self._starts(rest, option):
            return Reading(option, ReadingKind.CHOSEN)
        if whole is not None and whole != option and not _is_label(reference):
            return Reading(whole, ReadingKind.CHOSEN)
        more = _MORE.match((reference["mark"] or "").strip(" .") + rest)
        if more is not None and more[1] != "a" and self._number(more[1]) not in (None, label):
            return _AMBIGUOUS
        if (other := self._text(rest.strip(" ()"))) is not None and other != option:
            return _AMBIGUOUS  # the label of one option, the text of another
        if not (reference["mark"] or reference["named"] or reference["closed"]) and rest[:1] == " ":
            unsure = reference["label"] in "AIaio" or reference["label"].islower() or reference["label"] in _NUMBERS
            if unsure and not _BEHIND_LABEL.match(rest):
                return self._beginning(line)
        return Reading(option, ReadingKind.CHOSEN)

    def _is_bare_number(self, reference: re.Match[str]) -> bool:
        return reference["label"] in _NUMBERS and not reference["named"]

    def _beginning(self, line: str) -> Reading | None:
        """The option with whose text a line begins; of several the longest."""
        starting = [number for number in range(len(self.texts)) if self._starts(line, number)]
        if not starting:
            return None
        longest = max(starting, key=lambda number: len(self.texts[number]))
        return Reading(longest, ReadingKind.CHOSEN)

    def _starts(self, text: str, option: int) -> bool:
        """Tell whether a text begins with that of an option, as whole words."""
        folded, asked = _folded(text[: 8 * len(self.texts[option]) + 80]), self.texts[option]
        behind = folded[len(asked) : len(asked) + 1]
        return bool(asked) and folded.startswith(asked) and not _WORD_CHAR.match(behind)

    def _text(self, text: str) -> int | None:
        """The option that a whole text is the text of."""
        if len(text) > 4_000:
            return None
        folded = _folded(text)
        equal = [number for number, option in enumerate(self.texts) if option == folded and option]
        return equal[0] if len(equal) == 1 else None

    def _number(self, label: str) -> int | None:
        """The place that a label names."""
        return _LETTERS.get(label, _NUMBERS.get(label))

    def _shown(self, label: int) -> int:
        return shown_option(label, self.rotation, len(self.texts))

    def _named(self, text: str) -> Reading:
        """The only option that is named in an output, if no word near it denies it."""
        named = self._names_in(text)
        if len(named) != 1:
            return _AMBIGUOUS if named else _INVALID
        denied = "\n".join(sentence for sentence in _SENTENCE_END.split(text) if _DENIED.search(sentence))
        return _INVALID if self._names_in(denied) else Reading(named.pop(), ReadingKind.CHOSEN)

    def _names_in(self, text: str) -> set[int]:
        """The options that a text names, by their texts or labels."""
        return {*self._texts_in(text), *(option for _, option in self._labels_in(text))}

    def _labels_in(self, text: str) -> Iterator[tuple[tuple[int, int], int]]:
        """The options that are named by labels, with the places of these."""
        for match in [*_NAMED.finditer(text), *_LINE_LABEL.finditer(text), *_BARE.finditer(text)]:
            label = match[group := next(number for number, part in enumerate(match.groups(), 1) if part)]
            if match.re is _BARE and label in "AI" and not _BEHIND_LABEL.match(text, match.end()):
                continue  # an article, or who speaks
            number = self._number(label)
            bare = match.re is _LINE_LABEL or match[0][0] in "([\uff08"
            if number is None or number >= len(self.texts) or (label in _NUMBERS and bare):
                continue
            if not (match.re is _LINE_LABEL and label.islower()):
                yield match.span(group), self._shown(number)

    def _texts_in(self, text: str) -> Iterator[int]:
        """The options whose texts stand in an output; not those inside of longer ones."""
        folded = _folded(text)
        places: dict[int, list[tuple[int, int]]] = {}
        for number, option in enumerate(self.texts):
            pattern = rf"(?<!\w){re.escape(option)}(?!\w)"
            if len(option) > 1 or option.isdecimal():
                places[number] = [match.span() for match in re.finditer(pattern, folded)][:1_000]
        every = [place for spans in places.values() for place in spans]
        for number, spans in places.items():
            for start, end in spans:
                if not any((a, b) != (start, end) and a <= start and end <= b for a, b in every):
                    yield number
                    break
