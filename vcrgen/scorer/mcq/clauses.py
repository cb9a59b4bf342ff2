"""The clauses of an output: what each says of the options that it names.

A clause ends with a mark such as "." or before a word such as "but", "so" and "because". Words before an option decide
how it is taken ("rule out B", "rather than B", "the answer is B"), and so does the predicate behind it ("B is wrong").
Claims come in their order; ``grammar.py`` weighs them against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from vcrgen.scorer.mcq.mentions import COMMAS, STOPS, Clause, Group, MentionReader, Verdict
from vcrgen.scorer.mcq.tokens import END, MARK, OPENING, Token


class Level(IntEnum):
    """The way in which a clause takes an option, from denial to declaration."""

    DENIED = -2
    DOUBTED = -1  # something is denied of it: "B has no tail"
    COMMON = 0  # its text is named, and is a word of running text, too: "no"
    WEAK = 1  # "it could be B"; a bare digit
    TEXT = 2  # its text is named, and nothing said of it
    NAMED = 3  # its label is
    LINE = 4  # nothing else stands in its line
    DECLARED = 5


class Claim(NamedTuple):
    """Options that one clause names together."""

    options: frozenset[int]
    level: Level
    section: int  # of the output; a correction ("no, wait") begins a new one
    adds: bool = False  # to the claim before it: "B is also correct"
    echo: bool = False  # a label with its own text, as in the question


class Claims(NamedTuple):
    """All claims of an output."""

    claims: Sequence[Claim]
    refuses: bool  # whether a clause says that no answer can be given


_QUESTION = frozenset("?؟？")
_NO_WAIT = _QUESTION | frozenset(";؛")
_NO = frozenset(("no", "nope", "لا", "non", "nein", "нет"))
_CAN = frozenset(("cannot", "can't", "couldn't", "لا", "لم", "لن"))


def read_claims(tokens: Sequence[Token], rotation: int, options: int) -> Claims:
    """Read the claims of an output about so many options, in their order."""
    return _Reader(tokens, rotation, options).read()


class _Reader(MentionReader):
    """One pass over the tokens of an output."""

    def __init__(self, tokens: Sequence[Token], rotation: int, options: int) -> None:
        super().__init__(tokens, rotation, options)
        self.claims: list[Claim] = []
        self.section = 0
        self.sentence = 0  # number of claims before this sentence
        self.pending: frozenset[int] = frozenset()  # of a question that waits for its yes or no
        self.refuses = False

    def read(self) -> Claims:
        place = 0
        while place < len(self.tokens):
            group = self.group(place)
            place = self._word(place) if group is None else self._claim(place, group)
        return Claims(self.claims, self.refuses)

    def _word(self, place: int) -> int:
        """Take one word or mark into the clause; return the place behind it."""
        token, clause = self.tokens[place], self.clause
        kind = token.kind
        behind, clause.behind = clause.behind, clause.behind and kind in ("filler", "is")
        if kind in (MARK, END):
            self._mark(token)
        elif kind in ("so", "but", "because"):
            self.clause = Clause(near="so" if kind == "so" else "", reason=kind == "because")
        elif kind in ("not", "right") and self._is_reply(place):
            self._reply(kind)
        elif kind == "not":
            self._negation(place)
        elif kind == "refuse":
            clause.refused = self.refuses = True
        elif kind == "fix":
            self.section += bool(self.claims)
            clause.hedged = clause.granted = clause.denied = False
        elif kind in ("than", "from", "to"):
            self._comparison(place, kind, behind)
        elif kind in ("right", "wrong"):
            self._adjective(place, kind)
        else:
            self._plain_word(place, kind)
        return place + 1

    def _plain_word(self, place: int, kind: str) -> None:
        clause = self.clause
        if kind == "answer":
            clause.declared, clause.gap = True, 0
        elif kind in ("it", "leave", "only"):
            clause.near = kind
        elif kind == "also":
            clause.near, clause.adds = kind, True
        elif kind == "deny":
            clause.denied, clause.gap = True, 0
        elif kind == "less":
            clause.less = True
        elif kind in ("if", "maybe"):
            clause.hedged = True
        elif kind == "though":
            clause.granted = True
        elif kind == "between":
            clause.between = self.precedes(place)
        elif kind == "except":
            clause.excepted = True
        elif kind not in ("is", "filler", "option", "or", "know"):
            clause.gap += 1
            clause.near = ""

    def _mark(self, token: Token) -> None:
        clause = self.clause
        if token.word in COMMAS:
            clause.denied = clause.granted = clause.reason = clause.than = clause.less = False
        if token.word not in STOPS and token.kind != END:
            return
        if token.word in _QUESTION:
            asked = self.claims[self.sentence :]
            self.claims[self.sentence :] = [claim._replace(level=min(claim.level, Level.WEAK)) for claim in asked]
            self.pending = asked[-1].options if asked else frozenset()
        elif token.kind != END and len(self.claims) > self.sentence:
            self.pending = frozenset()
        if token.kind != END or len(self.claims) > self.sentence:
            self.sentence = len(self.claims)
        waits = clause.declared and not clause.gap and not clause.denied and token.word not in _NO_WAIT
        self.clause = Clause(declared=waits)

    def _is_reply(self, place: int) -> bool:
        """Tell whether a word is a "no" or "yes" that stands alone."""
        token, before, after = self.tokens[place], self.at(place - 1), self.at(place + 1)
        if token.kind == "not" and token.word.lower() not in _NO:
            return False
        if token.kind == "right" and token.word.lower() not in ("yes", "نعم"):
            return False
        alone = after.kind in (MARK, END) or after.kind in ("fix", "but")
        return alone and (before.kind in (MARK, END, "so") and before.word not in OPENING)

    def _reply(self, kind: str) -> None:
        if self.pending:
            level = Level.DENIED if kind == "not" else Level.DECLARED
            self.claims.append(Claim(self.pending, level, self.section))
            self.pending = frozenset()
        elif kind == "not" and self.claims:
            self.section += 1

    def _negation(self, place: int) -> None:
        following = [self.at(place + step) for step in range(1, 4)]
        can = self.tokens[place].word.lower() in _CAN
        for token in following:
            if token.option is not None or token.kind in (MARK, END):
                break
            if token.kind == "know" or (can and token.kind == "answer"):
                self.clause.refused = self.refuses = True
                return
        self.clause.denied, self.clause.gap = not self.clause.denied, 0

    def _comparison(self, place: int, kind: str, behind: bool) -> None:
        """A word such as "than", where an option follows at once."""
        clause = self.clause
        if not self.precedes(place):
            clause.gap += 1
        elif kind == "to" and clause.gave_up:
            clause.near, clause.denied = "so", False
        elif kind == "than" or behind:
            clause.than = not clause.less
        elif kind == "from":
            clause.gave_up = clause.denied = True

    def _adjective(self, place: int, kind: str) -> None:
        """A word such as "correct" or "wrong" before the option of which it is said."""
        after, clause = self.at(place + 1), self.clause
        leads = after.kind in ("is", "option", "answer", "right", "number-1") or after.word in (":", "=")
        leads = leads or after.option is not None
        if kind == "right" and leads:
            clause.declared, clause.gap = True, 0
        elif kind == "wrong":
            clause.all_wrong = True
            clause.denied = clause.denied or leads

    def _claim(self, place: int, group: Group) -> int:
        """Add the claim of a group, with what is said behind it; return the place behind that."""
        clause, said = self.clause, self.predicate(group.end)
        self.pair = group.options if len(group.options) == 2 else self.pair
        adds = clause.adds or said.adds
        level = self._level(place, group, said.verdict)
        if level is not None:
            echo = group.echo and level == Level.LINE
            self.claims.append(Claim(frozenset(group.options), level, self.section, adds, echo))
        self.clause = Clause(
            hedged=clause.hedged,
            granted=clause.granted,
            reason=clause.reason,
            refused=clause.refused,
            gave_up=clause.gave_up,
            behind=True,
            less=said.verdict is Verdict.LESS,
            all_wrong=clause.all_wrong,
        )
        return said.end

    def _level(self, place: int, group: Group, verdict: Verdict | None) -> Level | None:
        clause = self.clause
        if clause.excepted:
            turned = clause.denied or clause.all_wrong or verdict is Verdict.WRONG
            return Level.DECLARED if turned else Level.DENIED
        if clause.than:
            return Level.DENIED
        if clause.less:
            return Level.DECLARED
        if verdict is Verdict.WRONG:
            return Level.NAMED if clause.denied else Level.DENIED
        if clause.denied or verdict is Verdict.LESS:
            return Level.DOUBTED if clause.gap > 2 and verdict is None else Level.DENIED
        if clause.refused and verdict is None and (clause.hedged or not clause.declared):
            return None
        if clause.between or clause.hedged or clause.granted or verdict is Verdict.POSSIBLE:
            return Level.WEAK
        return self._affirmed(place, group, verdict)

    def _affirmed(self, place: int, group: Group, verdict: Verdict | None) -> Level:
        clause = self.clause
        declared = clause.declared or (clause.near != "" and (group.has_label or clause.near != "it"))
        if group.common and not clause.declared and verdict is None:
            return Level.COMMON
        if verdict is Verdict.RIGHT or declared:
            return Level.DECLARED
        if verdict is Verdict.DOUBTFUL:
            return Level.DOUBTED
        if self.is_line(place, group.end):
            return Level.LINE
        return Level.WEAK if group.only_digit or clause.reason else Level.NAMED if group.has_label else Level.TEXT
