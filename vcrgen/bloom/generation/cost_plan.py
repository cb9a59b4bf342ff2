"""Plan of a generated set: calls, tokens and cost, without a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from string import Template

from vcrgen.bloom.generation.item_slots import assign_slots, read_themes
from vcrgen.bloom.generation.prompts import PICTURE, category_values, prompt, template
from vcrgen.bloom.generation.scenario_files import read_scenarios
from vcrgen.bloom.generation.stages import STAGES, TRIES, SetSize
from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.bloom.taxonomy import load_taxonomy
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import is_remote_source, open_source
from vcrgen.builder.sources.fields import limit_partitions

PICTURE_TOKENS = 1_000  # of a photograph; models differ from 250 to 3,000
_CHARS_OF_TOKEN = 4
_ITEM_TOKENS = 150  # of an item's texts in one language


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """Requests and tokens of a stage, if every item passes, each reply is valid, and the first picture fits."""

    stage: str
    calls: int
    most_calls: int  # if every picture is tried, and every request is repeated as often as it may be
    read: int  # tokens of `calls`
    written: int


def plan_set(options: BloomGenerationOptions) -> list[StagePlan]:
    """The plan of each stage, in their order.

    Raises:
        ConfigError: Taxonomy, themes or scenes cannot be read.
    """
    taxonomy = load_taxonomy(options.taxonomy)
    slots = assign_slots(taxonomy, read_themes(options.themes), options.per_category)
    given = read_scenarios(options.scenarios, taxonomy).scenes
    size = SetSize(
        scenes=sum(len({slot.theme for slot in few}) for few in slots if few[0].path not in given),
        items=sum(map(len, slots)),
        targets=len(options.languages) - 1,
        judges=len(options.judge_names),
    )
    category = category_values(taxonomy.paths[0])
    plans = []
    for name, stage in STAGES.items():
        # The other values are empty: their tokens are counted apart.
        values = dict.fromkeys(Template(template(name)).get_identifiers(), "") | category
        calls, tokens = stage.calls(size), len(prompt(name, values)) // _CHARS_OF_TOKEN
        tokens += stage.item_texts(size) * _ITEM_TOKENS + PICTURE_TOKENS * stage.with_picture
        most = calls * TRIES * (options.pictures if name == "fitness" else 1)
        plans.append(
            StagePlan(stage=name, calls=calls, most_calls=most, read=calls * tokens, written=calls * stage.reply_tokens)
        )
    if options.image_model:
        most = size.items * options.pictures
        plans.insert(1, StagePlan(stage=PICTURE, calls=size.items, most_calls=most, read=0, written=0))
    return plans


def count_source_rows(options: BloomGenerationOptions) -> int | None:
    """The number of rows of the source; None for a source on a server, which is not asked.

    Raises:
        SourceError: It cannot be read.
    """
    if is_remote_source(options.source):
        return None
    config = BuildConfig(source=options.source, source_split=options.source_split, limit=options.limit)
    return sum(partition.rows for partition in limit_partitions(open_source(config), config))


def needed_pictures(plans: Sequence[StagePlan], options: BloomGenerationOptions) -> int:
    """The least number of pictures, if each has as many items as it may have."""
    items = next(plan.calls for plan in plans if plan.stage == "question")
    return ceil(items / options.per_picture)


def plan_costs(plans: Sequence[StagePlan], options: BloomGenerationOptions) -> tuple[float, float]:
    """The expected cost of a plan, and the highest; options have prices."""
    cost = most = 0.0
    for plan in plans:
        if plan.stage == PICTURE:
            whole = plan.calls * options.picture_price
        else:
            prices = options.judge_prices if STAGES[plan.stage].judged else options.prices
            read, written = prices or (0.0, 0.0)
            whole = (plan.read * read + plan.written * written) / 1_000_000
        cost += whole
        most += whole * plan.most_calls / max(plan.calls, 1)
    return cost, most
