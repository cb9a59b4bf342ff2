"""The card of a generated set: its generation and its content."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from vcrgen.bloom.generation.deduplication import NEAR, NEAR_RECALL
from vcrgen.bloom.generation.item_records import GeneratedItem
from vcrgen.bloom.generation.prompts import PICTURE, prompt_hashes
from vcrgen.bloom.generation.scheduler import RequestScheduler
from vcrgen.bloom.generation.stages import LEAST_FITNESS, PROMPTS
from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.bloom.rejects import ItemRejectReason
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.core.plurals import pluralize
from vcrgen.report.escape import escape_markdown
from vcrgen.stats.agreement import count_equal_pairs, gwet_ac1

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
    items: Sequence[GeneratedItem],
    taxonomy: Taxonomy,
    rejected: Counter[tuple[str, str]],
    scheduler: RequestScheduler,
    votes: Sequence[tuple[bool, ...]],
    unusable: Mapping[str, int],
    licenses: Mapping[str, int],
    options: BloomGenerationOptions,
) -> str:
    """The sections of the card, in Markdown. All of it follows from the configuration and the replies."""
    by_category = Counter(item.slot.path for item in items)
    by_theme = Counter(item.slot.theme for item in items)
    order = [PICTURE, *PROMPTS]
    hashes = prompt_hashes(order if options.image_model else PROMPTS)
    usage = scheduler.item_usage
    in_order = sorted(usage.calls.items(), key=lambda call: (order.index(call[0][0]), call[0][1]))
    cost = "" if usage.cost is None else f", cost {usage.cost:,.4g}"
    pictures = f", {usage.pictures:,} pictures generated" if options.image_model else ""
    first, last = min(scheduler.dates, default="-"), max(scheduler.dates, default="-")
    parts = [
        "\n## How it was made\n",
        f"Asked from {first} to {last}: {usage.calls.total():,} replies, {usage.read:,} tokens read, "
        f"{usage.written:,} written{pictures}{cost}.\n",
        _table(("stage", "model", "replies"), [(*name, str(calls)) for name, calls in in_order]),
        _table(("prompt", "hash"), list(hashes.items())),
        f"A picture was kept from fitness {LEAST_FITNESS} of 5, and has {options.per_picture} items at most. Two items "
        f"that share {100 * NEAR:.0f} % of their words or more are near-duplicates, of which the first is kept. "
        f"{NEAR_RECALL}. Two items of one picture repeat a fact if their right options are the same words, or their "
        "questions near-duplicates.\n",
        _judges(votes, options.judge_names, rejected["judge", ItemRejectReason.JUDGE_REJECTS_CATEGORY.value]),
        "## What is in it\n",
        _table(("category", "items"), [(path, str(by_category[path])) for path in taxonomy.paths]),
        _table(("theme", "items"), [(theme, str(number)) for theme, number in sorted(by_theme.items())])
        * bool(options.themes),
        _table(("language", "items"), [(lang, str(len(items))) for lang in options.languages]),
        _table(("license", "items"), [(name or "not known", str(number)) for name, number in sorted(licenses.items())]),
        "## Rejected items\n",
        _table(("stage", "reason", "items"), [(*name, str(number)) for name, number in sorted(rejected.items())])
        or "Nothing.\n",
        _table(("rejected picture", "pictures"), [(name, str(n)) for name, n in sorted(unusable.items())]),
        _LIMITS
        + _OWN_JUDGE * (options.model in options.judge_names)
        + (_GENERATED.format(model=escape_markdown(options.image_model)) if options.image_model else _FOUND),
    ]
    return "\n".join(part for part in parts if part)


def _judges(votes: Sequence[tuple[bool, ...]], names: Sequence[str], misfits: int) -> str:
    """The items that each judge accepted, those that are not of their category and, for several judges, agreement."""
    if not votes:
        return ""
    rows = [(name, f"{sum(vote[at] for vote in votes):,} of {len(votes):,}") for at, name in enumerate(names)]
    text = _table(("judge", "items accepted"), rows)
    text += f"\nRejected as not of their category: {pluralize(misfits, 'item')}.\n"
    if len(names) > 1:
        same, pairs = count_equal_pairs(votes)
        agreement = gwet_ac1(votes)
        figure = "not known" if agreement is None else f"{agreement:.3f}"
        text += f"\nTwo judges agreed on an item in {same:,} of {pairs:,} comparisons; Gwet's AC1 {figure}.\n"
    return text


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [
        head,
        ["---"] * len(head),
        *([cell if _NAME.fullmatch(cell) else escape_markdown(cell) for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
