"""Measure which near-duplicates generated sets lose, and whether other texts are taken for such.

    python scripts/measure_generation.py [--captions ../shared/data/wiki/pairs_en.parquet]

Near-duplicates: how many of pairs that say the same are caught (one or two words are other ones, a word is missing,
the options are in another order, the question is worded otherwise), and how many of texts that are different are
caught: the built-in questions of 25 categories, and the captions of Wikipedia and their sentences, where they are at
hand. Thresholds beside the one that holds show what another one would do.
"""

import argparse
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from vcrgen.bloom.generation.deduplication import near_duplicates
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items

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
Item = tuple[str, list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = Path(__file__).resolve().parents[2] / "shared/data/wiki/pairs_en.parquet"
    parser.add_argument("--captions", type=Path, default=beside)
    args = parser.parse_args()
    items = built_in(3_000)
    caught(items)
    different(items, args.captions)


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


if __name__ == "__main__":
    main()
