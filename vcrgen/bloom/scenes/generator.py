"""The built-in generator: questions about drawn scenes, in several languages, without a model and a network."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.rejects import ItemRejectReason, RejectLog
from vcrgen.bloom.scenes.solver import true_options
from vcrgen.bloom.scenes.templates import TEMPLATES, WHOLE, Draft
from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES
from vcrgen.bloom.shortcuts import ShortcutGate
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import option_order, write_set
from vcrgen.core.progress import ProgressListener
from vcrgen.core.rng import rng_for
from vcrgen.data.manifest import Manifest
from vcrgen.data.tasks.bloom import FORM_NOTE, LETTERS, SCENE_MAKER, ChoiceItem, item_of
from vcrgen.samples.facts import Facts
from vcrgen.samples.pairs import picture, scene_and_facts

GENERATOR = f"{SCENE_MAKER}3"  # the forms of questions; another number when they make other items
_APART = 1_000_000  # pictures between the first ones of two seeds
MAX_SCANNED = _APART  # pictures that are scanned for a set; the largest set needs half of them
_TRAINING = 1_000, 10_000  # items from which readers without pictures learn, at least and at most

Row = dict[str, Any]


def build_scene_set(options: BloomSceneOptions, out: Path, *, listener: ProgressListener | None = None) -> Manifest:
    """Generate an MCQ benchmark from the built-in scenes; the same options give the same bytes.

    Raises:
        OutputError: The folder holds something, or cannot be written.
        ShortcutError: Readers without the pictures are right too often.
    """
    rejects = RejectLog()
    return write_set(
        out,
        _with_pictures(options, rejects, listener or ProgressListener()),
        languages=QUESTION_LANGUAGES,
        taxonomy=default_taxonomy(),
        source="the built-in scenes of vcrgen",
        config={**options.model_dump(exclude={"allow_shortcuts"}), "maker": GENERATOR},
        rejects=rejects,
        gate=ShortcutGate(
            allowed=options.allow_shortcuts, training=lambda items: items_of_another_seed(items, options.seed)
        ),
        license_note="The pictures and texts may be used like vcrgen itself.",
        facts={"maker": GENERATOR},
        notes=f"\n## Levels\n\n{FORM_NOTE}\n",
    )


def scene_options(items: int, seed: int) -> BloomSceneOptions:
    """Return options with a seed of any size: one of 256 bits is a secret, which nobody finds by trying."""
    return BloomSceneOptions(items=items).model_copy(update={"seed": seed})


def items_of_another_seed(items: int, seed: int) -> list[ChoiceItem]:
    """Return items about other pictures, as many as the set has, for readers that learn from them."""
    least, most = _TRAINING
    options = scene_options(min(max(items, least), most), seed - 1 if seed else 1)
    return [
        replace(item_of(row, QUESTION_LANGUAGES), picture=str(index))
        for index, rows in generate_scene_items(options, RejectLog())
        for row in rows
    ]


def _with_pictures(options: BloomSceneOptions, rejects: RejectLog, listener: ProgressListener) -> Iterator[Row]:
    listener.begin(options.items, 0)
    for index, rows in generate_scene_items(options, rejects):
        image = {"bytes": picture(index), "path": None}
        listener.advance(len(rows), len(rows), Counter())
        yield from (row | {"image": image} for row in rows)


def generate_scene_items(options: BloomSceneOptions, rejects: RejectLog) -> Iterator[tuple[int, list[Row]]]:
    """Yield the items of a set without their pictures: the number of a picture, and the rows about it.

    Every category gets as many items as any other, or one more.
    """
    categories = list(TEMPLATES)
    shares = Counter(
        {category: len(range(at, options.items, len(categories))) for at, category in enumerate(categories)}
    )
    counts, balance = Counter[str](), Counter[tuple[Any, ...]]()
    first = options.seed * _APART
    for index in range(first, first + MAX_SCANNED):
        if not (open_categories := [category for category in categories if counts[category] < shares[category]]):
            return
        _, facts = scene_and_facts(index)
        suited = [category for category in open_categories if type(facts) in TEMPLATES[category][1]]
        rows: list[Row] = []
        told: frozenset[str] = frozenset()  # parts of the picture of which an item tells
        for category in rng_for(options.seed, "bloom/leaves", str(index)).sample(suited, len(suited)) if suited else ():
            draft = _draft(category, facts, index, options.seed, balance)
            if draft is None or _give_away(told, draft.subjects):
                continue
            name = f"scene-{index:07d}-{len(rows) + 1}"
            if true_options(facts, draft.stem[0], [words[0] for words in draft.options]) != [0]:
                rejects.add(name, ItemRejectReason.NOT_ONE_TRUE_OPTION, f"a question for {category}")
                continue
            balance[category, draft.kind, draft.values, draft.value] += 1
            told |= draft.subjects
            rows.append(_row(name, category, draft, counts[category], options.seed, index))
            counts[category] += 1
        if rows:
            yield index, rows


def _draft(category: str, facts: Facts, index: int, seed: int, balance: Counter[tuple[Any, ...]]) -> Draft | None:
    """Draft a question for a category, unless its answer was more frequent than the other values."""
    draft = TEMPLATES[category][0](facts, rng_for(seed, f"bloom/{category}", str(index)))
    if draft is None or not draft.values:
        return draft
    counts = [balance[category, draft.kind, draft.values, value] for value in (draft.value, *draft.values)]
    return draft if counts[0] == min(counts) else None


def _give_away(told: frozenset[str], subjects: frozenset[str]) -> bool:
    """Return True for items of one picture that speak of the same part, as one would tell what is true in the other."""
    return bool(told & subjects) or (bool(told) and WHOLE in (told, subjects))


def _row(name: str, category: str, draft: Draft, number: int, seed: int, index: int) -> Row:
    """Return a row with its options in order."""
    order = option_order(name, category, number, seed, len(draft.options))
    row: Row = {"question_id": name, "path": category, "source": f"samples {index}"}
    for place, lang in enumerate(QUESTION_LANGUAGES):
        row[f"question_{lang}"] = draft.stem[place]
        row[f"options_{lang}"] = [draft.options[option][place] for option in order]
    return row | {"answer": LETTERS[order.index(0)], "trap": LETTERS[order.index(1)]}
