"""What the card of a set says of how it was made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from vcrgen.bloom.making.asking import Desk
from vcrgen.bloom.making.prompts import prompt_hashes
from vcrgen.bloom.making.records import MadeItem
from vcrgen.bloom.making.sieve import NEAR, NEAR_CATCHES
from vcrgen.bloom.making.stages import LEAST_FITNESS
from vcrgen.bloom.summary import right_by_length
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.config import BloomMakeOptions
from vcrgen.report.escape import escape_markdown
from vcrgen.stats.agreement import ac1, same_pairs

_NAME = re.compile(r"[^\W_][\w-]*")  # as `near_duplicate`: Markdown finds no marks in it, and it can be searched for
_LIMITS = """## Known limits

- Questions, options and translations are written by a model. No person has read them unless an audit says so.
- A model that judges shares blind spots with one that writes, the more so if it is of the same family. Scores of either
  model on this set are not to be trusted.
- The traps are what the author meant as traps; nobody has checked that hasty readers take them.
"""
_OWN_JUDGE = "- The model that wrote the items judged them, too.\n"
_FOUND = (
    "- Pictures were found by the words of their captions, so the set shows what the source and its captions show.\n"
)
_GENERATED = """- No picture is a photograph: the model {model} generated them. They show what it takes for usual,
  and may be wrong in counts, hands, writing and shadows; scores on them may differ from scores on photographs.
"""


def card_notes(
    items: Sequence[MadeItem], taxonomy: Taxonomy, dropped: Mapping[tuple[str, str], int], desk: Desk,
    votes: Sequence[tuple[bool, ...]], unusable: Mapping[str, int], licences: Mapping[str, int],
    options: BloomMakeOptions,
) -> str:  # fmt: skip
    """The sections of the card, in Markdown. All of it follows from the configuration and the replies."""
    by_leaf = Counter(item.slot.path for item in items)
    by_theme = Counter(item.slot.theme for item in items)
    count, langs = max(len(items), 1), options.languages

    def share(pick: Callable[[Sequence[int]], int]) -> str:
        """Of each language, how often who takes the option of this length is right; as ``vcrgen inspect`` tells it."""
        sizes = {lang: [[len(option) for option in item.questions[lang].options] for item in items] for lang in langs}
        right = {
            lang: sum(right_by_length(of, item.answer, pick) for of, item in zip(each, items, strict=True)) / count
            for lang, each in sizes.items()
        }
        return ", ".join(f"{lang} {100 * value:.1f} %" for lang, value in right.items())

    used = desk.used
    cost = "" if used.cost is None else f", cost {used.cost:,.4g}"
    pictures = f", {used.pictures:,} pictures generated" if options.image_model else ""
    order = list(prompt_hashes(generated=True))
    in_order = sorted(used.calls.items(), key=lambda one: (order.index(one[0][0]), one[0][1]))
    asked = [(*name, str(calls)) for name, calls in in_order]
    first, last = min(desk.dates, default="-"), max(desk.dates, default="-")
    parts = [
        "\n## How it was made\n",
        f"Asked from {first} to {last}: {used.calls.total():,} replies, {used.read:,} tokens read, {used.written:,} "
        f"written{pictures}{cost}.\n",
        _table(("stage", "model", "replies"), asked),
        _table(("prompt", "hash"), list(prompt_hashes(generated=bool(options.image_model)).items())),
        f"A picture was kept from fitness {LEAST_FITNESS} of 5, and has {options.per_picture} items at most. Two items "
        f"that share {100 * NEAR:.0f} % of their words or more are near-duplicates, of which the first is kept. "
        f"{NEAR_CATCHES}. The longest option is right in: {share(max)}; the shortest in: {share(min)} (25 % where "
        "length tells nothing; where several are as long, one of them is taken by lot).\n",
        _judges(votes, options.judge_names),
        "## What is in it\n",
        _table(("leaf", "items"), [(path, str(by_leaf[path])) for path in taxonomy.paths]),
        _table(("theme", "items"), [(theme, str(number)) for theme, number in sorted(by_theme.items())])
        * bool(options.themes),
        _table(("language", "items"), [(lang, str(len(items))) for lang in options.languages]),
        _table(("licence", "items"), [(name or "not known", str(number)) for name, number in sorted(licences.items())]),
        "## What was set aside\n",
        _table(("stage", "reason", "items"), [(*name, str(number)) for name, number in sorted(dropped.items())])
        or "Nothing.\n",
        _table(("picture not taken", "pictures"), [(name, str(n)) for name, n in sorted(unusable.items())]),
        _LIMITS
        + _OWN_JUDGE * (options.model in options.judge_names)
        + (_GENERATED.format(model=escape_markdown(options.image_model)) if options.image_model else _FOUND),
    ]
    return "\n".join(part for part in parts if part)


def _judges(votes: Sequence[tuple[bool, ...]], names: Sequence[str]) -> str:
    """How often judges passed an item and, where there are several, how much they agree."""
    if not votes:
        return ""
    rows = [(name, f"{sum(vote[at] for vote in votes):,} of {len(votes):,}") for at, name in enumerate(names)]
    told = _table(("judge", "items passed"), rows)
    if len(names) > 1:
        same, pairs = same_pairs(votes)
        agreement = ac1(votes)
        shown = "not known" if agreement is None else f"{agreement:.3f}"
        told += f"\nTwo judges said the same of an item in {same:,} of {pairs:,} comparisons; Gwet's AC1 {shown}.\n"
    return told


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [
        head,
        ["---"] * len(head),
        *([cell if _NAME.fullmatch(cell) else escape_markdown(cell) for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
