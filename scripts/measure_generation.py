"""Measure what the rules of generated sets catch, and what they cost.

    python scripts/measure_generation.py [--captions ../shared/data/wiki/pairs_en.parquet]

Near-duplicates: how many of pairs that say the same are caught (one or two words are other ones, a word is missing,
the options are in another order, the question is worded otherwise), and how many of texts that are different are
caught: the built-in questions of 25 categories, and the captions of Wikipedia and their sentences, where they are at
hand. Thresholds beside the one that holds show what another one would do.

Pictures: how well the captions of chosen pictures fit, and how many items are lost as their picture has too many, where
every category may choose among all pictures, and by the rule that holds. Captions are those of built-in scenes; each
scene that is asked for has three words of a caption of another scene. Fit: the weight of the words that a caption has
of the scene's, divided by that of the best caption of the source.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq

from vcrgen.bloom.generation import source_pictures
from vcrgen.bloom.generation.deduplication import near_duplicates
from vcrgen.bloom.generation.item_records import Scenario
from vcrgen.bloom.generation.source_pictures import PictureSource
from vcrgen.bloom.options import BloomGenerationOptions, BloomSceneOptions
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items
from vcrgen.samples.pairs import caption

THRESHOLDS = (0.7, 0.8, 0.9)
# How a question may begin, and how else it may.
OTHERWISE = (
    (r"^What colour (?:is|are)\b", "Which colour has"),
    (r"^How many\b", "What is the number of"),
    (r"^Where (?:is|are)\b", "In which place stands"),
    (r"^Which\b", "What"),
    (r"^What\b", "Which thing"),
    (r"^(?=Is|Are|If|In|On|At)", "Tell me: "),
)
CATEGORIES, PER_CATEGORY, MOST = 106, 20, 4
Item = tuple[str, list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = Path(__file__).resolve().parents[2] / "shared/data/wiki/pairs_en.parquet"
    parser.add_argument("--captions", type=Path, default=beside)
    args = parser.parse_args()
    items = built_in(3_000)
    caught(items)
    different(items, args.captions)
    for count in (300, 700, 1_000, 10_000):
        choosing(count)


def built_in(count: int) -> list[Item]:
    """Questions and options in English, each text once."""
    rows = [row for _, rows in generate_scene_items(BloomSceneOptions(items=count), RejectLog()) for row in rows]
    found = {row["question_en"] + str(sorted(row["options_en"])): row for row in rows}
    return [(row["question_en"], list(row["options_en"])) for row in found.values()]


def whole(item: Item) -> str:
    return " ".join((item[0], *item[1]))


def other_words(item: Item, rng: random.Random, count: int, words: Sequence[str]) -> Item:
    parts = item[0].split()
    for at in rng.sample(range(len(parts)), min(count, len(parts))):
        parts[at] = rng.choice(words)
    return " ".join(parts), item[1]


def one_less(item: Item, rng: random.Random) -> Item:
    parts = item[0].split()
    del parts[rng.randrange(len(parts))]
    return " ".join(parts), item[1]


def one_option(item: Item, rng: random.Random, words: Sequence[str]) -> Item:
    options = list(item[1])
    at = rng.randrange(len(options))
    parts = options[at].split()
    parts[rng.randrange(len(parts))] = rng.choice(words)
    options[at] = " ".join(parts)
    return item[0], options


def worded_otherwise(item: Item) -> Item | None:
    for pattern, other in OTHERWISE:
        text, times = re.subn(pattern, other, item[0])
        if times:
            return text, item[1]
    return None


def caught(items: Sequence[Item]) -> None:
    """Pairs that say the same."""
    rng = random.Random(0)
    words = sorted({word for item in items for word in whole(item).split()})
    ways: dict[str, Callable[[Item], Item | None]] = {
        "options in another order": lambda item: (item[0], rng.sample(item[1], len(item[1]))),
        "a word of the question is missing": lambda item: one_less(item, rng),
        "another word in the question": lambda item: other_words(item, rng, 1, words),
        "another word in an option": lambda item: one_option(item, rng, words),
        "two other words in the question": lambda item: other_words(item, rng, 2, words),
        "the question worded otherwise": worded_otherwise,
    }
    print(f"pairs that are caught, of {len(items):,} questions, from a share of words of", *THRESHOLDS)
    for name, way in ways.items():
        pairs = [(whole(item), whole(other)) for item in items if (other := way(item)) is not None]
        shares = [sum(bool(near_duplicates(pair, near)) for pair in pairs) / len(pairs) for near in THRESHOLDS]
        print(f"  {name} ({len(pairs):,} pairs):", *(f"{share:.1%}" for share in shares))


def different(items: Sequence[Item], captions: Path) -> None:
    """Texts that are different."""
    rows: list[tuple[str, list[str]]] = [("built-in questions with their options", [whole(item) for item in items])]
    if captions.is_file():
        texts = [row for row in pq.read_table(captions, columns=["caption"])["caption"].to_pylist() if row]
        rows.append(("captions of Wikipedia", texts))
        parts = {part for text in texts for part in re.split(r"(?<=[.!?])\s+", text) if len(part.split()) >= 5}
        rows.append(("their sentences", sorted(parts)))
    print("different texts that are caught, from a share of words of", *THRESHOLDS)
    for name, texts in rows:
        shares = [len(near_duplicates(texts, near)) / len(texts) for near in THRESHOLDS]
        print(f"  {name} ({len(texts):,}):", *(f"{share:.2%}" for share in shares))


def choosing(count: int) -> None:
    """Choose pictures for 2,120 items."""
    rng = random.Random(count)
    scenes = []
    for category in range(CATEGORIES):
        told = [caption("en", 1_000_000 + 10 * category + at).lower() for at in range(10)]
        words = [sorted(set(re.findall("[a-z]{4,}", text))) for text in told]
        few = [Scenario(text="", keywords=tuple(rng.sample(found, min(3, len(found))))) for found in words]
        scenes.append([few[at % 10] for at in range(PER_CATEGORY)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pairs.csv")
        with file.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["image", "caption"])
            writer.writerows([f"{number}.png", caption("en", number)] for number in range(count))
        options = BloomGenerationOptions(
            source=str(file), model="M", offline=True, per_category=PER_CATEGORY, per_picture=MOST
        )
        print(f"{count:,} pictures for {CATEGORIES * PER_CATEGORY:,} items, {MOST} a picture at most")
        source = PictureSource(options, io.BytesIO(), categories=CATEGORIES, slots=CATEGORIES * PER_CATEGORY)
        choice(source, scenes, "by the rule")
        for name, buckets in (("all open to all", CATEGORIES), (f"each open to {MOST} categories", MOST)):
            with patch.object(source_pictures, "open_buckets", lambda *_, buckets=buckets: buckets):
                choice(source, scenes, name)


def choice(source: PictureSource, scenes: Sequence[Sequence[Scenario]], name: str) -> None:
    """Print the fit of the first pictures, and the share of lost items."""
    counts: Counter[int] = Counter()
    fits: list[float] = []
    for category, few in enumerate(scenes):
        for scene, numbers in zip(few, source.choose(category, few), strict=True):
            if numbers:
                counts[numbers[0]] += 1
                points = source.captions.points(scene.keywords)
                fits.append(points[numbers[0]] / max(points.max(), 1e-9))
    lost = sum(max(times - MOST, 0) for times in counts.values())
    slots = sum(map(len, scenes))
    print(
        f"  {name}: fit {sum(fits) / len(fits):.2f}; {len(fits) / slots:.1%} of the items have a picture, "
        f"{lost / slots:.1%} are lost as theirs has too many"
    )


if __name__ == "__main__":
    main()
