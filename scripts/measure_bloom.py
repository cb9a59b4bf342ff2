"""Correctness of the built-in MCQ benchmarks, and a reader without pictures: the tables of docs/validation.md.

    python scripts/measure_bloom.py [--items 10000] [--training 20000] [--seed 1]

The solver, which was written apart from the generator, tells the true options of every item from the facts of the
picture and the English text. Then a reader without pictures answers: a classifier of n-grams that has learned from the
items of another seed. A reader who has drawn public scenes takes the answer of the nearest picture with the same
question, for items of a secret seed. At last four readers of attributes, who see the picture and do not think, tell
which forms are look-ups of attributes.
"""

import argparse
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.bloom.attribute_readers import credit_of
from tests.bloom.nearest_picture import NearestPictureReader
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items, scene_options
from vcrgen.bloom.scenes.solver import true_options
from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES
from vcrgen.data.tasks.bloom import LETTERS, ChoiceItem, item_of
from vcrgen.data.tasks.text_reader import ReaderFigure, read_without_pictures
from vcrgen.samples.pairs import scene_and_facts

PUBLIC_SCENES = 3_600
SECRET_ITEMS, SECRET_SEED = 600, 1 << 200

Found = list[tuple[int, list[dict[str, Any]]]]


def generated(items: int, seed: int, rejects: RejectLog) -> Found:
    """Return the rows of a set by the number of their picture."""
    return list(generate_scene_items(BloomSceneOptions(items=items, seed=seed), rejects))


def as_items(found: Found) -> list[ChoiceItem]:
    """Return the items, each with the number of its picture."""
    return [replace(item_of(row, QUESTION_LANGUAGES), picture=str(index)) for index, rows in found for row in rows]


def print_reader(figures: list[ReaderFigure]) -> None:
    """Print the reader's share by language, and the category in which it is right most often."""
    print(f"{'':4} {'items':>7} {'right':>7}  most in a category")
    for figure in figures:
        if figure.category:
            continue
        of = [each for each in figures if each.lang == figure.lang and each.category]
        most = max(of, key=lambda each: each.right, default=None)
        named = f"{most.right:.3f} ({most.category.rpartition('/')[2]}, {most.items})" if most else "-"
        print(f"{figure.lang:4} {figure.items:7,} {figure.right:7.3f}  {named}")
    found = [figure for figure in figures if figure.is_shortcut]
    print(f"shortcuts: {len(found)} of {len(figures)} figures")
    for figure in found:
        print(f"  {figure.lang}, {figure.category or 'the whole set'}: {figure.right:.3f}")


def main() -> None:
    """Make, check, guess, look up, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--training", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rejects = RejectLog()
    found = generated(arguments.items, arguments.seed, rejects)
    looked_up: dict[str, list[float]] = defaultdict(list)
    one = count = 0
    for index, rows in found:
        _, facts = scene_and_facts(index)
        for row in rows:
            count += 1
            one += true_options(facts, row["question_en"], row["options_en"]) == [LETTERS.index(row["answer"])]
            looked_up[row["path"]].append(credit_of(facts, row))
    print(f"{count:,} items about {len(found):,} pictures; rejected: {dict(rejects.counts) or 'none'}")
    print(f"exactly one true option, and it is the key: {one:,}")
    training = as_items(generated(arguments.training, arguments.seed + 1, RejectLog()))
    print_reader(read_without_pictures(as_items(found), training=training))
    public = generated(2 * PUBLIC_SCENES, 0, RejectLog())[:PUBLIC_SCENES]
    secret = list(generate_scene_items(scene_options(SECRET_ITEMS, SECRET_SEED), RejectLog()))
    nearest = NearestPictureReader(public).credits(secret)
    print(f"answer of the nearest of {len(public):,} public pictures with the same question: {fmean(nearest):.3f}")
    print("four readers of attributes:")
    for category, credits in sorted(looked_up.items()):
        print(f"  {sum(credits) / len(credits):.3f} {category}")


if __name__ == "__main__":
    main()
