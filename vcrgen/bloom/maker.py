"""The built-in maker: questions about drawn scenes, in several languages, without a model and without a network."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.bloom.answering import true_options
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.templates import TEMPLATES, Draft
from vcrgen.bloom.words import QUESTION_LANGUAGES
from vcrgen.bloom.write import Aside, option_order, write_set
from vcrgen.config import BloomOptions
from vcrgen.dataset.manifest import Manifest
from vcrgen.rng import rng_for
from vcrgen.samples.facts import Facts
from vcrgen.samples.pairs import picture, scene_and_facts
from vcrgen.tasks.bloom import LETTERS
from vcrgen.work.watcher import Watcher

MAKER = "scenes-1"  # the forms of questions; another number when they make other items
MOST_OF_A_PICTURE = 4  # items
_APART = 1_000_000  # pictures between the first ones of two seeds
MOST_SCANNED = _APART  # pictures that are looked at for a set; the largest one needs a third of them
_NOT_ONE = "not_one_true_option"

Row = dict[str, Any]


def build_questions(options: BloomOptions, out: Path, *, watcher: Watcher | None = None) -> Manifest:
    """Make a question set from the built-in scenes; the same options give the same bytes.

    Args:
        options: How many items, and from which seed.
        out: A new or empty folder.
        watcher: Told of the progress.

    Raises:
        OutputError: The folder holds something, or cannot be written.
    """
    aside = Aside()
    return write_set(
        out, _with_pictures(options, aside, watcher or Watcher()), languages=QUESTION_LANGUAGES,
        taxonomy=default_taxonomy(), source="the built-in scenes of vcrgen",
        config={**options.model_dump(), "maker": MAKER}, aside=aside,
        licence="The pictures and texts may be used like vcrgen itself.",
    )  # fmt: skip


def _with_pictures(options: BloomOptions, aside: Aside, watcher: Watcher) -> Iterator[Row]:
    watcher.begin(options.items, 0)
    for index, rows in make_items(options, aside):
        image = {"bytes": picture(index), "path": None}
        watcher.advance(len(rows), len(rows), Counter())
        yield from (row | {"image": image} for row in rows)


def make_items(options: BloomOptions, aside: Aside) -> Iterator[tuple[int, list[Row]]]:
    """The items of a set, without their pictures: the number of a picture, and the rows about it.

    Every leaf gets as many items as any other, or one more.
    """
    leaves = list(TEMPLATES)
    wanted = Counter({leaf: len(range(at, options.items, len(leaves))) for at, leaf in enumerate(leaves)})
    made, balance = Counter[str](), Counter[tuple[Any, ...]]()
    first = options.seed * _APART
    for index in range(first, first + MOST_SCANNED):
        if not (open_leaves := [leaf for leaf in leaves if made[leaf] < wanted[leaf]]):
            return
        _, facts = scene_and_facts(index)
        suited = [leaf for leaf in open_leaves if type(facts) in TEMPLATES[leaf][1]]
        rows: list[Row] = []
        for leaf in rng_for(options.seed, "bloom/leaves", str(index)).sample(suited, len(suited)) if suited else ():
            draft = _draft(leaf, facts, index, options.seed, balance)
            if draft is None or len(rows) == MOST_OF_A_PICTURE:
                continue
            name = f"scene-{index:07d}-{len(rows) + 1}"
            if true_options(facts, draft.stem[0], [words[0] for words in draft.options]) != [0]:
                aside.add(name, _NOT_ONE, f"a question for {leaf}")
                continue
            balance[leaf, draft.values, draft.value] += 1
            rows.append(_row(name, leaf, draft, made[leaf], options.seed, index))
            made[leaf] += 1
        if rows:
            yield index, rows


def _draft(leaf: str, facts: Facts, index: int, seed: int, balance: Counter[tuple[Any, ...]]) -> Draft | None:
    """A question for a leaf, unless what it asks for was the answer more often than the other values."""
    draft = TEMPLATES[leaf][0](facts, rng_for(seed, f"bloom/{leaf}", str(index)))
    if draft is None or not draft.values:
        return draft
    rarest = min(balance[leaf, draft.values, value] for value in draft.values)
    return draft if balance[leaf, draft.values, draft.value] == rarest else None


def _row(name: str, leaf: str, draft: Draft, number: int, seed: int, index: int) -> Row:
    """A row with its options in order."""
    order = option_order(name, leaf, number, seed)
    row: Row = {"question_id": name, "path": leaf, "source": f"samples {index}"}
    for place, lang in enumerate(QUESTION_LANGUAGES):
        row[f"question_{lang}"] = draft.stem[place]
        row[f"options_{lang}"] = [draft.options[option][place] for option in order]
    return row | {"answer": LETTERS[order.index(0)], "trap": LETTERS[order.index(1)]}
