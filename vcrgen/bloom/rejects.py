"""Rejected items: the reasons, the exception that carries one, and the log that becomes ``rejects.jsonl``."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vcrgen.core.files import canonical_json


class ItemRejectReason(StrEnum):
    """Reason why an item is rejected. ``rejects.jsonl``, summaries, cards and reports show the value."""

    # of the item itself, found without a model
    NOT_AN_ITEM = "not_an_item"
    DUPLICATE_ID = "duplicate_id"
    NO_PICTURE = "no_picture"
    BAD_PICTURE = "bad_picture"
    UNKNOWN_CATEGORY = "unknown_category"
    INCOMPLETE = "incomplete"
    NUMBER_OF_OPTIONS = "number_of_options"
    TOO_LONG = "too_long"
    BAD_KEY = "bad_key"
    BAD_TRAP = "bad_trap"
    EQUAL_OPTIONS = "equal_options"
    CONTROL_CHARACTER = "control_character"
    MARKUP = "markup"
    WRONG_SCRIPT = "wrong_script"
    NUMBERS_DIFFER = "numbers_differ"
    POINTS_AT_OPTIONS = "points_at_options"
    REPLACEMENT_CHARACTER = "replacement_character"
    CIRCULAR_COPY = "circular_copy"
    UNTRANSLATED = "untranslated"
    NOT_ONE_TRUE_OPTION = "not_one_true_option"
    # of an item that models generate
    NO_PICTURE_LEFT = "no_picture_left"
    NO_FITTING_PICTURE = "no_fitting_picture"
    INVALID_REPLY = "invalid_reply"
    FILTERED = "filtered"
    MISSING_REPLY = "missing_reply"
    QUOTED_PROMPT = "quoted_prompt"
    UNEVEN_OPTIONS = "uneven_options"
    FAULTY_TEXT = "faulty_text"
    JUDGE_DISAGREES = "judge_disagrees"
    JUDGE_REJECTS_PICTURE = "judge_rejects_picture"
    JUDGE_REJECTS_QUESTION = "judge_rejects_question"
    JUDGE_REJECTS_CATEGORY = "judge_rejects_category"
    JUDGE_REJECTS_OPTIONS = "judge_rejects_options"
    JUDGE_REJECTS_TRANSLATION = "judge_rejects_translation"
    # of an item beside the others of its set
    NEAR_DUPLICATE_PICTURE = "near_duplicate_picture"
    REPEATED_FACT = "repeated_fact"
    NEAR_DUPLICATE = "near_duplicate"
    LONGEST_IS_RIGHT = "longest_is_right"
    EXCLUDED = "excluded"
    ANSWERED_TEXT_ONLY = "answered_text_only"
    # of an item under no category
    FITS_NONE = "fits_none"
    NOT_LISTED = "not_listed"


class ItemRejected(Exception):
    """An item is rejected; the others go on.

    Attributes:
        reason: The type of rejection, by which it is counted.
        detail: The same for people, without the answer.
        stage: The stage of generation that rejected it; "" elsewhere.
        votes: The verdict of each judge, True to accept; empty without judges.
        about: Further facts for ``rejects.jsonl``, without the key.
    """

    def __init__(self, reason: ItemRejectReason, detail: str, stage: str = "", votes: tuple[bool, ...] = ()) -> None:
        super().__init__(detail)
        self.reason, self.detail, self.stage, self.votes = reason, detail, stage, votes
        self.about: Mapping[str, Any] = {}


@dataclass(kw_only=True)
class RejectLog:
    """The rejected items of a set."""

    counts: Counter[str] = field(default_factory=Counter)  # items by reason
    lines: list[str] = field(default_factory=list)  # of ``rejects.jsonl``

    def add(self, item: str, reason: ItemRejectReason, detail: str, about: Mapping[str, Any] | None = None) -> None:
        """Count an item; ``detail`` and further facts ``about`` it hold no answer."""
        self.counts[reason] += 1
        self.lines.append(canonical_json({"item": item, "reason": reason, "detail": detail, **(about or {})}) + "\n")

    @property
    def summary(self) -> str:
        """The most frequent reasons and the first item, for an error message; "" if nothing was rejected."""
        if not self.lines:
            return ""
        first = json.loads(self.lines[0])
        counts = ", ".join(f"{reason} {count}" for reason, count in self.counts.most_common(3))
        # A detail may quote a file, and with it control sequences of terminals.
        detail = "".join(char if char.isprintable() else " " for char in first["detail"][:200])
        return f"{counts}; such as {first['item'][:80]!r}, {first['reason']}: {detail}"
