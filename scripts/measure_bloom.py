"""Whether the built-in MCQ benchmarks are right, and whether they can be guessed: the table of docs/bloom.md.

    python scripts/measure_bloom.py [--items 10000] [--seed 1]

Every item is looked at by the function that was written apart from the maker, which tells the true options from the
facts of the picture and the English text. Then readers without pictures answer: one that always says A, those that go
by the form of the options, and one that knows, from the other half of the set, how often each option was right for its
category.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items
from vcrgen.bloom.scenes.solver import true_options
from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES
from vcrgen.config.bloom import BloomSceneOptions
from vcrgen.samples.pairs import scene_and_facts
from vcrgen.tasks.bloom import LETTERS

Row = dict[str, Any]


def is_right(row: Row, scores: Sequence[float]) -> float:
    """Return True if the option with the largest score is the right one; where several have it, in part."""
    best = [letter for letter, score in zip(LETTERS, scores, strict=True) if score == max(scores)]
    return (row["answer"] in best) / len(best)


def by_form(rows: Sequence[Row], lang: str) -> dict[str, float]:
    """The shares of right answers of readers who look at the form of options."""

    def alike(options: Sequence[str]) -> list[float]:
        words = [set(option.split()) for option in options]
        return [float(sum(len(own & other) for other in words)) for own in words]

    readers: dict[str, Callable[[Sequence[str]], list[float]]] = {
        "the longest option": lambda options: [float(len(option)) for option in options],
        "the shortest option": lambda options: [-float(len(option)) for option in options],
        "most like the others": alike,
        "least like the others": lambda options: [-each for each in alike(options)],
    }
    return {
        name: sum(is_right(row, score(row[f"options_{lang}"])) for row in rows) / len(rows)
        for name, score in readers.items()
    }


def by_frequency(rows: Sequence[Row]) -> dict[str, float]:
    """By category, the share of right answers of who takes the option that was right most often in the other half."""
    right: dict[str, list[float]] = defaultdict(list)
    for known, asked in ((rows[::2], rows[1::2]), (rows[1::2], rows[::2])):
        shown, keys = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for row in known:
            shown.update((row["path"], option) for option in row["options_en"])
            keys[row["path"], row["options_en"][LETTERS.index(row["answer"])]] += 1
        for row in asked:
            places = [(row["path"], option) for option in row["options_en"]]
            right[row["path"]].append(is_right(row, [(keys[place] + 1) / (shown[place] + 4) for place in places]))
    return {category: sum(each) / len(each) for category, each in right.items()}


def main() -> None:
    """Make, check, guess, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rejects = RejectLog()
    found = list(generate_scene_items(BloomSceneOptions(items=arguments.items, seed=arguments.seed), rejects))
    rows = [row for _, few in found for row in few]
    one = 0
    for row in rows:
        _, facts = scene_and_facts(int(row["source"].removeprefix("samples ")))
        one += true_options(facts, row["question_en"], row["options_en"]) == [LETTERS.index(row["answer"])]
    print(f"{len(rows):,} items about {len(found):,} pictures; rejected: {dict(rejects.counts) or 'none'}")
    print(f"exactly one true option, and it is the key: {one:,}")
    print(f"always A: {sum(row['answer'] == 'A' for row in rows) / len(rows):.3f}")
    for lang in QUESTION_LANGUAGES:
        for name, share in by_form(rows, lang).items():
            print(f"{name}, {lang}: {share:.3f}")
    shares = by_frequency(rows)
    highest = max(shares, key=shares.__getitem__)
    print(f"most often right elsewhere: {sum(shares.values()) / len(shares):.3f}; most in a category: ", end="")
    print(f"{shares[highest]:.3f} ({highest})")


if __name__ == "__main__":
    main()
