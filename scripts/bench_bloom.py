"""Speed of question sets, as ratios to yardsticks measured in the same run.

    python scripts/bench_bloom.py [--items 7747] [--languages en,ar] [--made 1000]

Making: the items of a built-in set (facts, questions in two languages, the second opinion on every option), divided by
drawing and encoding the pictures that they are about. It may take a tenth of that.

Scoring: a set as large as BloomBench (7,747 items on 2,060 pictures, filed under 106 leaves) in two languages, with an
output and log-probabilities of all options for every item. From the two files to all metrics, groups and intervals it
may take ten times what ``json.loads`` takes for the lines of the file of outputs. One process, one core.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from vcrgen.bloom.maker import make_items
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import Aside, write_set
from vcrgen.config import BloomOptions
from vcrgen.samples.pairs import picture
from vcrgen.scorer.run import Options, open_session

PICTURES = 2_060
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da63f8ffff3f0005fe02fe"
    "a73581840000000049454e44ae426082"
)
WORDS = {
    "en": ["a", "red", "small", "boat", "under", "the", "old", "bridge", "near", "houses"],
    "ar": ["قارب", "صغير", "أحمر", "تحت", "جسر", "قديم"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=7_747)
    parser.add_argument("--languages", default="en,ar")
    parser.add_argument("--made", type=int, default=1000, help="items of the built-in set that are made")
    args = parser.parse_args()
    making(args.made)
    with tempfile.TemporaryDirectory() as folder:
        scoring(Path(folder), args.items, args.languages.split(","))


def making(items: int) -> None:
    """Make built-in items, and draw and encode their pictures."""
    made = list(make_items(BloomOptions(items=items), Aside()))
    seconds = min(timed(lambda: list(make_items(BloomOptions(items=items), Aside()))) for _ in range(3))
    drawing = min(timed(lambda: [picture(index) for index, _ in made]) for _ in range(3))
    print(f"making {items:,} items about {len(made):,} pictures: {seconds / drawing:.3f} of drawing and encoding them")


def scoring(folder: Path, items: int, languages: list[str]) -> None:
    """Score one file of outputs of a made set."""
    rng = random.Random(0)
    taxonomy = default_taxonomy()
    rows = []
    for number in range(items):
        row = {
            "question_id": f"item-{number:06d}",
            "image": {"bytes": PIXEL + (number % PICTURES).to_bytes(4, "big"), "path": None},
            "path": taxonomy.paths[number % len(taxonomy.paths)],
            "source": "bench",
            "answer": "ABCD"[number % 4],
            "trap": "ABCD"[(number + 1) % 4],
        }
        for lang in languages:
            row[f"question_{lang}"] = "?"
            row[f"options_{lang}"] = [" ".join(rng.choices(WORDS[lang], k=4)) + f" {place}" for place in "1234"]
        rows.append(row)
    data = folder / "set"
    write_set(data, rows, languages=languages, taxonomy=taxonomy, source="bench", config={}, aside=Aside())
    file = folder / "preds.jsonl"
    with file.open("w", encoding="utf-8") as handle:
        for row in rows:
            for lang in languages:
                logprobs = [[-rng.expovariate(1) for _ in range(rng.randint(2, 12))] for _ in range(4)]
                output = rng.choice("ABCD") if rng.random() < 0.9 else f"The answer is {rng.choice('ABCD')}."
                line = {"question_id": row["question_id"], "lang": lang, "view": "image", "output": output}
                handle.write(json.dumps(line | {"logprobs": logprobs}) + "\n")
    texts = file.read_text("utf-8").splitlines()
    yardstick = min(timed(lambda: [json.loads(text) for text in texts]) for _ in range(5))

    def whole() -> None:
        open_session(data, Options()).score(file)

    seconds = min(timed(whole) for _ in range(3))
    session = open_session(data, Options())
    alone = min(timed(lambda: session.score(file)) for _ in range(3))
    print(f"{items:,} items in {' and '.join(languages)}, {file.stat().st_size / 1e6:.1f} MB of outputs")
    print(f"json.loads of the lines  {yardstick:.2f} s")
    print(f"from files to intervals  {seconds:.2f} s, {seconds / yardstick:.1f} times (at most 10)")
    print(f"  the answers read before {alone:.2f} s, {alone / yardstick:.1f} times")


def timed(call: object) -> float:
    began = time.process_time()
    call()  # type: ignore[operator]
    return time.process_time() - began


if __name__ == "__main__":
    main()
