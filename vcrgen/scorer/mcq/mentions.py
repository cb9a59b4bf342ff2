"""Options that an output names: labels, texts and ordinals, in lists, each with what is said of it behind it.

``clauses.py`` reads the clauses around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from vcrgen.data.tasks.bloom import shown_option
from vcrgen.scorer.mcq.tokens import ARABIC_LETTERS, CLOSING, END, MARK, OPENING, Token, place_of
from vcrgen.scorer.mcq.verb_forms import is_first_person, is_third_person

STOPS = frozenset(".!?؟;؛。！？")
COMMAS = frozenset(",،、")
_SKIPPED = frozenset(("is", "filler", "option", "it", "fix", "only", "number-1"))
_BETWEEN_MARKS = frozenset(":-–—(|=\"'»)]")
_ADJECTIVES = frozenset(("correct", "right", "true", "best", "better", "wrong", "false", "closer", "suitable", "valid"))
_BEHIND_NUMBER = frozenset((MARK, END, "or", "joined", "because", "so", "but", "than", "not", "though", "if"))
_RANGE = frozenset(("to", "through", "إلى"))
_ALONE = frozenset(("alone", "again", "instead", "it is"))  # behind a letter; no noun begins so
_BEFORE_LETTER = frozenset(("option", "answer", "it", "leave", "only", "deny"))
# Words before a letter that are not followed by who speaks: "with I", "makes I the best answer".
_BEFORE_OBJECT = frozenset(
    [
        "with",
        "on",
        "for",
        "to",
        "in",
        "of",
        "by",
        "over",
        "is",
        "be",
        "makes",
        "make",
        "go",
        "going",
        "favour",
        "favor",
        "mark",
        "take",
        "takes",
        "vote",
        "guess",
        "supports",
    ]
)
_OBJECTS = frozenset(("it", "this", "what", "that", "exactly"))
_FAR = 12
_END = Token("\n", END)


class Verdict(Enum):
    """The sense of a predicate, for the option before it."""

    RIGHT = "right"
    WRONG = "wrong"
    DOUBTFUL = "doubtful"
    POSSIBLE = "possible"
    LESS = "less"


class Group(NamedTuple):
    """Options that are listed together."""

    options: tuple[int, ...]
    end: int  # place behind it
    has_label: bool
    only_digit: bool = False
    common: bool = False
    echo: bool = False


class Predicate(NamedTuple):
    """The words behind an option that say something of it."""

    verdict: Verdict | None
    end: int  # place behind it, or where it would begin
    adds: bool = False  # "is also correct"


@dataclass(slots=True)
class Clause:
    """The words of a clause up to here, as they bear on the option that follows."""

    declared: bool = False  # by a word of [answer]
    near: str = ""  # the heading of the word that declares what follows it at once
    gap: int = 0  # unknown words since then
    denied: bool = False
    hedged: bool = False  # up to the end of the sentence
    granted: bool = False  # up to the comma
    reason: bool = False  # up to the comma: an option that is only named there is hardly the answer
    between: bool = False
    than: bool = False
    excepted: bool = False
    all_wrong: bool = False
    less: bool = False
    gave_up: bool = False  # "from B", so that "to C" follows
    refused: bool = False
    adds: bool = False
    behind: bool = False  # an option, or what is said of it, stands directly before


class MentionReader:
    """The options at each place of an output, under what its clause has said so far."""

    def __init__(self, tokens: Sequence[Token], rotation: int, options: int) -> None:
        self.tokens = tokens
        self.rotation = rotation
        self.options = options  # their number
        self.pair: tuple[int, ...] = ()  # the two that are compared, of which one is "the latter"
        self.clause = Clause()
        self.ordinals = False  # whether an ordinal was a label before
        self.in_predicate = False  # of a capital I: "I would be I would be" is not read to its end for each of them

    def group(self, place: int) -> Group | None:
        """The options that are listed from a place on, or None where no option stands there."""
        if (first := self._element(place)) is None:
            return None
        options, end, joined = list(first.options), first.end, False
        while (following := self._listed(end)) is not None:
            element, by_word = following
            if joined and not by_word:  # "B and C, D" are two and one
                break
            options += element.options
            end, joined = element.end, joined or by_word
        # Only commas between them: a list if nothing is said of the last one, and of one that is denied there is none.
        split = first.common or self.clause.denied or self.clause.than or self.predicate(end).verdict is not None
        if end == first.end or (split and not joined):
            return first
        return first._replace(options=tuple(options), end=end, echo=False)

    def _listed(self, place: int) -> tuple[Group, bool] | None:
        """The next option of a list, and whether a word such as "and" joins it."""
        while self.at(place).word in CLOSING:
            place += 1
        comma = self.at(place).word in COMMAS
        link = self.at(place + comma)
        if link.word in _RANGE and self.at(place - 2).kind == "option":  # "options A to D"
            element = self._element(place + 1, listed=True)
            return None if element is None else (element._replace(options=tuple(range(self.options))), True)
        joined = link.kind in ("or", "joined")
        if not comma and not joined:
            return None
        element = self._element(self._skipped(place + comma + (link.kind == "or")), listed=True)
        return None if element is None else (element, joined)

    def _element(self, place: int, *, listed: bool = False) -> Group | None:
        """One option: a label, with its text behind it; a text, with its label behind it; or an ordinal."""
        token = self.at(place)
        if token.text is not None:
            if token.common and not self._stands_alone(place):
                return None
            return self._with_label(place, token.text)
        if token.label is not None:
            if not self._is_label(place, listed=listed):
                return None
            return self._with_text(place, token.label)
        if token.kind in ("former", "latter") and len(self.pair) == 2:
            return Group((self.pair[token.kind == "latter"],), place + 1, has_label=True)
        head, number = token.kind.partition("-")[0], place_of(token.kind, self.options)
        if not (self._is_ordinal(place) if head == "ordinal" else head == "number" and self._is_counted(place)):
            return None
        assert number is not None  # of others the token has no kind
        self.ordinals = self.ordinals or head == "ordinal"
        following = self.at(place + 1)
        noun = head == "ordinal" and (following.kind in ("option", "answer") or following.word.lower() == "one")
        return self._with_text(place + noun, shown_option(number, self.rotation, self.options))

    def _with_text(self, place: int, label: int) -> Group:
        """A label, with the text of an option that stands behind it."""
        here = place + 1
        while self.at(here).kind == MARK and here < place + 5:
            here += 1
        text, digit = self.at(here), self.at(place).word.isdigit()
        marked = here > place + 1
        if text.text == label and (marked or not text.common):
            end = here + 1
            while self.at(end).word in CLOSING:
                end += 1
            return Group((label,), end, has_label=True, echo=True)
        bare = Group((label,), place + 1, has_label=True, only_digit=digit)
        if text.text is None or text.common or not marked or self.at(here - 1).word in COMMAS:
            return bare
        ends = self.at(here + 1).kind in (MARK, END)
        return Group((label, text.text), here + 1, has_label=True) if ends else bare

    def _with_label(self, place: int, text: int) -> Group:
        """The text of an option, with a label in brackets behind it."""
        common = self.at(place).common
        label = self.at(place + 2).label
        if label is not None and self.at(place + 1).word in ("(", "[") and self.at(place + 3).word in (")", "]"):
            return Group(tuple(dict.fromkeys((text, label))), place + 4, has_label=True)
        return Group((text,), place + 1, has_label=False, common=common)

    def _stands_alone(self, place: int) -> bool:
        """Tell whether a text that is a common word is meant as an option."""
        before, after = self.at(place - 1), self.at(place + 1)
        if after.kind not in (MARK, END):
            return False
        starts = place <= 3 and all(self.at(here).kind == MARK for here in range(place))
        return starts or self.clause.declared or before.kind == END

    def _is_counted(self, place: int) -> bool:
        return self.at(place - 1).kind == "option"

    def _is_ordinal(self, place: int) -> bool:
        """Tell whether an ordinal stands for an option."""
        before, after = self.at(place - 1), self.at(place + 1)
        if after.kind in ("option", "answer") or after.word.lower() == "one" or before.kind == "option":
            return True
        if self.clause.declared and not self.clause.gap:
            return True
        says = after.kind == "is" and self.at(place + 2).kind in ("right", "wrong", "not", "filler")
        return says or (self.ordinals and (self.clause.than or self.clause.denied))

    def _is_label(self, place: int, *, listed: bool) -> bool:
        """Tell whether a letter or digit is a label in its context: A may be an article instead."""
        token, before, after = self.at(place), self.at(place - 1), self.at(place + 1)
        if before.kind == "title" or after.word == "+":
            return False
        if token.word == "A":
            return self._is_letter_a(place)
        if token.word == "I":
            return self._is_letter_i(place)
        if token.word == "و":
            return self._is_letter_waw(place)
        if token.word in "BCDEFGHJ" or (token.word in f"{ARABIC_LETTERS}ا" and token.word != "ه"):
            return True
        if token.word == "ه":  # behind a year it stands for the calendar
            return not before.word.isdigit()
        if before.kind == "option" or (before.word in OPENING and after.word in CLOSING):
            return True
        if token.word.isdigit():
            return self._is_number(place, listed=listed)
        if after.word == ")" or (listed and after.kind in (MARK, END)):
            return True
        if before.kind == END and after.word in (".", ":", "-", "–", "،"):
            return True
        near = self.clause.near or (self.clause.declared and not self.clause.gap)
        return (bool(near) and (after.kind != "" or after.text is not None)) or self.is_line(place, place + 1)

    def _is_letter_a(self, place: int) -> bool:
        before, after = self.at(place - 1), self.at(place + 1)
        if after.kind in (MARK, END) or after.option is not None:
            return True
        if before.kind == "or" and after.kind == "" and self.at(place - 2).option is None:  # "and A picture"
            return False
        starts = before.kind in (MARK, END) and before.word not in COMMAS
        if not starts:  # an article in titles and in capitals
            return after.kind != "" or not (before.word.istitle() or after.word.isupper())
        second = self.at(place + 2)
        if after.kind in ("filler", "number-1", "if", "option"):
            return second.kind != ""
        if after.kind == "" and (after.word in _ALONE or is_third_person(after.word)):  # "A explains it", no "A sign"
            return after.word in _ALONE or second.kind != "" or second.word in _OBJECTS
        return after.kind != "" and after.word.lower() not in _ADJECTIVES

    def _is_letter_i(self, place: int) -> bool:
        """Tell whether a capital I is a label, and not who speaks."""
        before, after, second = self.at(place - 1), self.at(place + 1), self.at(place + 2)
        if self._follows_name(place):
            return False
        if after.word in COMMAS:
            return not self._speaks_behind(place + 2)
        if (
            after.kind in (MARK, END, "or", "than", "because", "to")
            or after.option is not None
            or before.kind == "except"
        ):
            return True
        if "be" in (*after.word.split(" "), second.word):  # "I would be the answer"
            return self._is_confirmed(place + 1)
        if is_third_person(after.word.partition(" ")[0]) or not after.word.isascii():  # as Arabic, or a tick
            return True
        if is_first_person(after):
            return False
        if before.kind in _BEFORE_LETTER or before.word.lower().rpartition(" ")[2] in _BEFORE_OBJECT:
            return True
        alone = second.kind in (MARK, END) and (after.word in _ALONE or after.kind in ("maybe", "filler"))
        return alone or after.word in ("it is", "alone", "are", "were")

    def _is_confirmed(self, place: int) -> bool:
        """Tell whether a predicate confirms the option before it; in that predicate no other is asked for."""
        if self.in_predicate:
            return False
        self.in_predicate = True
        verdict = self.predicate(place).verdict
        self.in_predicate = False
        return verdict is Verdict.RIGHT

    def _follows_name(self, place: int) -> bool:
        """Tell whether a name stands before a capital I: "World War I", "my friend and I"."""
        first, before = self.at(place - 2), self.at(place - 1)
        if before.kind == "or":
            return first.kind == "" and first.option is None
        return before.kind == "" and before.word.istitle() and first.kind not in (MARK, END)

    def _speaks_behind(self, place: int) -> bool:
        """Tell whether words between two commas part "I" from its verb: "I, as a model, see"."""
        for here in range(place, place + _FAR):
            token, after = self.at(here), self.at(here + 1)
            if token.kind == END or token.word in STOPS or (token.option is not None and token.word != "a"):
                return False
            if token.word in COMMAS:
                is_named = after.kind != "" or after.option is not None or is_third_person(after.word)
                return not is_named or is_first_person(after)
        return False

    def _is_letter_waw(self, place: int) -> bool:
        """Tell whether the Arabic letter is a label, and not the word "and"."""
        before, after = self.at(place - 1), self.at(place + 1)
        if after.kind in (MARK, END):
            return True
        return all(neighbour.kind != "" and neighbour.option is None for neighbour in (before, after))

    def _is_number(self, place: int, *, listed: bool) -> bool:
        """Tell whether a digit is the label of an option, and not of a step or a count."""
        before, after = self.at(place - 1), self.at(place + 1)
        if self.is_line(place, place + 1):
            return True
        if after.word in (".", ")", ":", "-"):
            following = self.at(place + 2)
            if following.text is not None or (following.kind in (MARK, END) and before.kind != END):
                return True
            if before.kind == END:
                return False
        if after.kind == "is" and self.at(place + 2).kind in ("right", "wrong", "not"):
            return True
        near = self.clause.near == "so" or (self.clause.declared and not self.clause.gap)
        return (near or listed) and after.kind in _BEHIND_NUMBER

    def is_line(self, place: int, end: int) -> bool:
        """Tell whether nothing else stands in the line."""
        place -= 1
        while self.at(place).kind in (MARK, "option", "filler"):
            place -= 1
        while self.at(end).kind == MARK:
            end += 1
        return self.at(place).kind == END and self.at(end).kind == END

    def predicate(self, place: int) -> Predicate:
        """Read what is said of an option behind it."""
        start, last, denies, comma, adds = place, "", False, False, False
        for place in range(start, start + _FAR):
            token = self.at(place)
            kind = token.kind
            if token.option is not None and not (token.common and kind) and self._element(place) is not None:
                return Predicate(None, start)
            if kind in _SKIPPED or kind == "joined":
                adds = adds or token.word in ("also", "أيضا")
                last = token.word.lower() if kind in ("is", "it") else last
            elif kind == "not" and not (comma and self.at(place + 1).kind not in (MARK, END)):
                denies = not denies
            elif kind in ("right", "leave", "also") or (kind == "answer" and last and not comma):
                verdict = Verdict.WRONG if denies else Verdict.RIGHT
                return Predicate(verdict, place + 1, adds or kind == "also")
            elif kind in ("wrong", "deny"):
                return Predicate(Verdict.RIGHT if denies else Verdict.WRONG, place + 1)
            elif kind in ("maybe", "if") and not comma:
                return Predicate(Verdict.WRONG if denies else Verdict.POSSIBLE, place + 1)
            elif kind == "less":
                return Predicate(Verdict.LESS, place + 1)
            elif kind == MARK and token.word in COMMAS:
                comma = True
            elif place == start and is_third_person(token.word) and self.at(place + 1).kind == "not":
                continue  # "shows no boat"
            elif kind != MARK or token.word not in _BETWEEN_MARKS:
                break
        return self._ended(place, start, last, denies=denies)

    def _ended(self, place: int, start: int, last: str, *, denies: bool) -> Predicate:
        """The predicate of a clause that ends, or goes on with a word that nothing is known of."""
        token = self.at(place)
        ends = token.kind in (END, "so", "but", "because") or token.word in STOPS
        if denies:
            return Predicate(Verdict.WRONG if ends else Verdict.DOUBTFUL, place)
        if ends and last in ("does", "do", "is", "it is"):
            return Predicate(Verdict.RIGHT, place)
        return Predicate(None, start)

    def precedes(self, place: int) -> bool:
        """Tell whether an option follows a word at once."""
        return self._element(self._skipped(place + 1)) is not None

    def _skipped(self, place: int) -> int:
        """The place behind words that may stand between another one and a label."""
        while self.at(place).kind in ("option", "filler", "maybe") or self.at(place).word in OPENING:
            place += 1
        return place

    def at(self, place: int) -> Token:
        """The token at a place; the end of a line outside of the output."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END
