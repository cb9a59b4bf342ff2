"""What a set will take: calls, tokens and cost, without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from vcrgen.bloom.making.places import slots_of, themes_of
from vcrgen.bloom.making.prompts import PICTURE, leaf_values, prompt
from vcrgen.bloom.making.stages import TRIES
from vcrgen.bloom.taxonomy import load_taxonomy
from vcrgen.builder.sources import asks_a_server, open_source
from vcrgen.builder.sources.fields import cut_at_limit
from vcrgen.config import BloomMakeOptions, BuildConfig

PICTURE_TOKENS = 1_000  # of a photograph; models differ from 250 to 3,000
_CHARS_OF_TOKEN = 4
_ITEM_TOKENS = 150  # of an item's texts in one language
# Tokens of a valid reply of each stage.
_REPLY = {
    "scenario": 700,
    "fitness": 10,
    "question": 60,
    "options": 80,
    "translation": 200,
    "answer": 10,
    "verdict": 30,
}
_JUDGED = frozenset({"fitness", "answer", "verdict"})
_WITH_PICTURE = frozenset({"fitness", "question", "options", "answer", "verdict"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """What a stage takes, if every item comes through, each reply is valid, and the first picture serves."""

    stage: str
    calls: int
    most_calls: int  # if every picture is looked at, and every reply is asked for as often as it may be
    read: int  # tokens of `calls`
    written: int


def plan_of(options: BloomMakeOptions) -> list[StagePlan]:
    """The plan of each stage, in their order.

    Raises:
        ConfigError: Taxonomy or themes cannot be read.
    """
    taxonomy = load_taxonomy(options.taxonomy)
    leaves = slots_of(taxonomy, themes_of(options.themes), options.per_leaf)
    items, judges, others = sum(map(len, leaves)), len(options.judge_names), len(options.languages) - 1
    calls = {
        "scenario": sum(len({slot.theme for slot in leaf}) for leaf in leaves),
        **({PICTURE: items} if options.image_model else {}),
        "fitness": items, "question": items, "options": items, "translation": items * others,
        "answer": items * judges, "verdict": items * judges,
    }  # fmt: skip
    empty = dict.fromkeys(("theme", "language", "count", "scenario", "question", "answer", "options", "target"), "")
    empty |= dict.fromkeys(("a", "b", "c", "d", "item", "key"), "") | leaf_values(taxonomy.paths[0])
    texts = {"translation": 1, "answer": 1, "verdict": others + 1}
    plans = []
    for stage, count in calls.items():
        if stage == PICTURE:
            plans.append(StagePlan(stage=stage, calls=count, most_calls=count * options.pictures, read=0, written=0))
            continue
        tokens = len(prompt(stage, empty)) // _CHARS_OF_TOKEN + texts.get(stage, 0) * _ITEM_TOKENS
        tokens += PICTURE_TOKENS * (stage in _WITH_PICTURE)
        most = count * TRIES * (options.pictures if stage == "fitness" else 1)
        plan = StagePlan(stage=stage, calls=count, most_calls=most, read=count * tokens, written=count * _REPLY[stage])
        plans.append(plan)
    return plans


def rows_of(options: BloomMakeOptions) -> int | None:
    """How many rows the source has; None where it is not on this machine, as a server would be asked.

    Raises:
        SourceError: It cannot be read.
    """
    if asks_a_server(options.source):
        return None
    config = BuildConfig(source=options.source, source_split=options.source_split, limit=options.limit)
    return sum(partition.rows for partition in cut_at_limit(open_source(config), config))


def pictures_of(plans: Sequence[StagePlan], options: BloomMakeOptions) -> int:
    """How many pictures are needed at least, if each has as many items as it may have."""
    items = next(plan.calls for plan in plans if plan.stage == "question")
    return ceil(items / options.per_picture)


def costs_of(plans: Sequence[StagePlan], options: BloomMakeOptions) -> tuple[float, float]:
    """What a plan costs, and what it costs at most; options have prices."""
    cost = most = 0.0
    for plan in plans:
        read, written = (options.judge_prices if plan.stage in _JUDGED else options.prices) or (0.0, 0.0)
        whole = (plan.read * read + plan.written * written) / 1_000_000
        if plan.stage == PICTURE:
            whole = plan.calls * (options.image_price or 0.0)
        cost += whole
        most += whole * plan.most_calls / max(plan.calls, 1)
    return cost, most
