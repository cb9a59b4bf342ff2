"""What could be done about the rule that rejects most pairs of a source."""

from collections.abc import Mapping

from vcrgen.core.plurals import pluralize
from vcrgen.core.records import RejectReason
from vcrgen.text.languages import LANGUAGES

_IMAGES = "look at them in rejects.jsonl, and fetch the pictures again"
_SCRIPTS_WITH_CAPITALS = ("LATIN", "CYRILLIC")
ADVICE: Mapping[RejectReason, str] = {
    RejectReason.NO_IMAGE: "add the files that rejects.jsonl names, or name the right column with "
    "--column image=NAME, or the pictures' folder with --image-root",
    RejectReason.NO_CAPTION: "give each picture a text, or name the right column with --column caption=NAME",
    RejectReason.SHORT_CAPTION: "take longer captions, or a smaller --ngram-size",
    RejectReason.OTHER_SCRIPT: "name the language of the captions with --lang",
    RejectReason.SENSITIVE: "nothing needs to be done, as words of the built-in list or of --censor-list are why",
    RejectReason.NO_GLYPH: "name a font that has the letters with --font, or the right --lang",
    RejectReason.STACKED_MARKS: "nothing needs to be done, as nobody can read such letters",
    RejectReason.UNDECODABLE: _IMAGES,
    RejectReason.TRUNCATED: _IMAGES,
    RejectReason.NO_FRAME: _IMAGES,
    RejectReason.OVERSIZED: "raise --max-pixels if the source can be trusted",
    RejectReason.BLANK: "nothing needs to be done, if a look at them shows that nothing is on them",
    RejectReason.TINY: "lower --min-side, or take a source of larger pictures",
    RejectReason.TOO_TALL: "raise --max-height, or lower --max-lines",
    RejectReason.NO_NGRAM: "try a smaller --ngram-size, a larger --max-share, a trained --spacy-model, or the --lang "
    "of the captions; names and numbers are not masked",
    RejectReason.COVER_MISSED: "take another --cover or --font",
    RejectReason.SETTLED: "lower --least-bits, --least-ink or the bits of --mode",
    RejectReason.NO_ROOM: "lower --distractors",
    RejectReason.ANSWER_NOT_SHOWN: "raise --max-lines, and give texts that a caption holds once",
    RejectReason.DUPLICATE: "nothing needs to be done, as one of each is kept",
    RejectReason.IN_REFERENCE: "take another source: these pairs stand in what they must not repeat",
    RejectReason.UNREADABLE_ROW: "mend the rows that rejects.jsonl names, and save the file as UTF-8 where it is not",
}


def advice(rejected: Mapping[str, int], lang: str) -> str:
    """A sentence on the most frequent reason, of captions in a language; empty without rejects."""
    if not rejected:
        return ""
    reason, count = min(rejected.items(), key=lambda item: (-item[1], item[0]))
    total = pluralize(sum(rejected.values()), "reject")
    text = ADVICE[RejectReason(reason)]
    if reason == RejectReason.NO_NGRAM and LANGUAGES[lang].script in _SCRIPTS_WITH_CAPITALS:
        text += ", and In Title Case Every Word May Be a Name"
    return f"Of {total} {count:,} {'is' if count == 1 else 'are'} {reason}: {text}."
