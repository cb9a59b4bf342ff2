"""Measure the false and the true discoveries of `vcrgen profile` among differences of categories.

    python scripts/measure_profile.py [--pages 1000]

Two models answer the items of BloomBench's 106 categories, whose true shares are those of a published model by RAE. On
some categories the second model is worse. Answers of both are drawn apart from each other, or with what makes an item
hard for both in common (a normal deviate of each item, of which both have the half of the variance). Prints, as
Markdown, the share of pages with a wrong name, the mean share of names that are wrong (the false discovery rate), and
the share of true differences that are named; and likewise without the adjustment.
"""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from vcrgen.analysis.profile.differences import NAMED, category_differences
from vcrgen.analysis.profile.example import example_profiles
from vcrgen.analysis.profile.profiles import profile_of

CASES = ((0.0, 0.0), (0.3, 0.1), (0.3, 0.2))  # share of categories that differ, and by how much


def measured(pages: int, differ: float, by: float, *, together: bool, seed: int = 0) -> list[float]:
    """Pages with a wrong name, false discovery rate, power (NaN where nothing differs); then the same, not adjusted."""
    from scipy.stats import norm

    rng = np.random.default_rng(seed)
    known = example_profiles().of("Qwen2-VL-7B", "en", "rae")
    assert known is not None
    categories, items = list(known.categories), np.array([of.items for of in known.categories.values()])
    category_of = np.repeat(np.arange(len(categories)), items)
    true = np.clip([of.value for of in known.categories.values()], 0.05, 0.98)
    counted = np.zeros((pages, 6))
    for page in range(pages):
        worse = rng.random(len(categories)) < differ
        hard = rng.standard_normal(len(category_of)) if together else np.zeros(len(category_of))
        weight = 0.5**0.5 if together else 0.0
        profiles = []
        for name, shares in (("a", true), ("b", true - by * worse)):
            drawn = weight * hard + (1 - weight**2) ** 0.5 * rng.standard_normal(len(category_of))
            right = np.bincount(category_of, drawn < norm.ppf(shares)[category_of]) / items
            profiles.append(
                profile_of(
                    name, "en", "rae", dict(zip(categories, zip(right, items.tolist(), strict=True), strict=True))
                )
            )
        found = category_differences([(profiles[0], profiles[1])])
        for place, p in ((0, [of.adjusted for of in found]), (3, [of.p for of in found])):
            named = np.array(p) < NAMED
            wrong = (named & ~worse).sum()
            power = (named & worse).sum() / worse.sum() if worse.any() else np.nan
            counted[page, place : place + 3] = (wrong > 0, wrong / max(named.sum(), 1), power)
    return counted.mean(axis=0).tolist()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    pages = parser.parse_args(arguments).pages
    heads = ("categories that differ", "answers", "pages with a wrong name", "names that are wrong", "found")
    print(f"| {' | '.join(heads)} | the same three, not adjusted |")
    print("|---|---|---|---|---|---|")
    for differ, by in CASES:
        for together in (False, True):
            figures = measured(pages, differ, by, together=together)
            texts = ["-" if np.isnan(figure) else f"{100 * figure:.1f} %" for figure in figures]
            what = f"{100 * differ:.0f} %, by {100 * by:.0f} points" if differ else "none"
            how = "of the same items" if together else "of other items"
            print(f"| {what} | {how} | {' | '.join(texts[:3])} | {', '.join(texts[3:])} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
