"""Compute every erratum that the package lists of a paper from the paper's own tables.

    python scripts/check_errata.py ../shared/data/papers

Prints each row of vcrgen/reported_results/benchmarks/*-errata.csv with what was computed. Scores of categories are
turned into numbers of right items first, so nothing is computed from a mean that was rounded where the items are
known. A row whose figures cannot be computed from tables says why. The exit code is 1 if a row has another value, or
if a row has no computation here.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

BENCHMARKS = Path(__file__).resolve().parents[1] / "vcrgen/reported_results/benchmarks"
Rows = list[dict[str, str]]
Read = Callable[[str], Rows]
NOT_SCORES = ("level", "subcategory", "leaf", "count")
PATHS = {"Perception": 0.309, "Memory": 0.186, "Reasoning": 0.358}  # to the human score, Figure 7a
Key = tuple[str, str]


class Found(NamedTuple):
    """What was computed for a row, and whether the row says it."""

    agrees: bool
    text: str


def right_items(rows: Rows) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield of each category score its model, language, level, number of right items, and number of items."""
    for row in rows:
        for column, score in row.items():
            if column not in NOT_SCORES:
                model, _, lang = column.rpartition("_")
                yield model, lang, row["level"], round(float(score) * int(row["count"])), int(row["count"])


def level_shares(rows: Rows) -> dict[tuple[str, str, str], float]:
    """Return the share of right items by model, language and level, without any rounding but that of counts."""
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for model, lang, level, right, items in right_items(rows):
        sums[model, lang, level][0] += right
        sums[model, lang, level][1] += items
    return {key: right / items for key, (right, items) in sums.items()}


def bloom(read: Read) -> Iterator[tuple[Key, Found]]:
    """Yield what was computed for each row of BloomBench."""
    overall = {
        (row["model"], row["language"], row["method"]): float(row["micro"]) for row in read("bloom_table1_overall")
    }
    rae = {(model, lang): score for (model, lang, method), score in overall.items() if method == "RAE"}
    best = max(rae, key=rae.__getitem__)
    yield ("Text", "Highest RAE"), Found(best[0] == "Gemma4-31B" and rae[best] == 0.898, f"{best}, {rae[best]}")
    drops = {model: rae[model, "English"] - rae[model, "Arabic"] for model, lang in rae if lang == "English"}
    least = min(drops, key=drops.__getitem__)
    text = f"{least}, {drops[least]:.3f}; the next has {sorted(drops.values())[1]:.3f}"
    yield (
        ("Text", "Smallest drop from English to Arabic"),
        Found((least, round(drops[least], 3)) == ("Gemma4-31B", 0.022), text),
    )
    english, arabic = (
        [overall[f"Gemma3-{size}", lang, "LBS"] for size in ("4B", "12B", "27B")] for lang in ("English", "Arabic")
    )
    falls = sorted(english, reverse=True) == english and arabic == [0.408, 0.398, 0.440]
    yield ("Text", "LBS falls as Gemma 3 grows"), Found(falls, f"English: {english}, Arabic: {arabic}")
    pair = [overall["Gemma3-27B", lang, "LBS"] for lang in ("English", "Arabic")]
    yield ("Text", "Arabic is below English"), Found(pair == [0.336, 0.440], f"LBS of Gemma3-27B: {pair}")
    yield ("Text", "Level with the smallest drop to Arabic"), _smallest_drop(read)
    odd = all_scores = 0
    for method in ("rae", "lbs"):
        for row in read(f"bloom_leaf_scores_{method}"):
            items = int(row["count"])
            for score in (float(score) for column, score in row.items() if column not in NOT_SCORES):
                all_scores += 1
                odd += all(abs(right / items - score) > 0.005 + 1e-9 for right in range(items + 1))
    yield ("Appendix H", "Scores of categories"), Found((odd, all_scores) == (37, 2332), f"{odd} of {all_scores:,}")
    texture = [
        row
        for method in ("rae", "lbs")
        for row in read(f"bloom_leaf_scores_{method}")
        if (row["level"], row["leaf"]) == ("Analyze", "texture")
    ]
    whole = [
        abs(round(76 * float(score)) / 76 - float(score)) <= 0.005 + 1e-9
        for row in texture
        for column, score in row.items()
        if column not in NOT_SCORES
    ]
    yield (
        ("Appendix B", "Items of Analyze / texture"),
        Found(all(whole) and len(whole) == 22, f"{sum(whole)} of {len(whole)} scores are k/76"),
    )
    names = [row["leaf"] for row in read("bloom_taxonomy")]
    total = next(row for row in read("bloom_mmmu_coverage") if row["level"] == "Total")
    text = f"{len(set(names))} names of {len(names)} categories; {total['covered_leaves']} are printed"
    yield ("Table 11", "Categories that MMMU covers"), Found((len(set(names)), len(names)) == (85, 106), text)


def _smallest_drop(read: Read) -> Found:
    """Compare the drops by level, of the printed table and of numbers of right items."""
    printed: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in read("bloom_table2_levels"):
        if row["method"] == "RAE":
            printed[row["level"]][row["model"]].append(float(row["accuracy"]))
    of_table = {level: mean(en - ar for en, ar in models.values()) for level, models in printed.items()}
    shares = level_shares(read("bloom_leaf_scores_rae"))
    by_level: dict[str, list[float]] = defaultdict(list)
    for (model, lang, level), share in shares.items():
        if lang == "en":
            by_level[level].append(share - shares[model, "ar", level])
    of_items = {level: mean(drops) for level, drops in by_level.items()}
    agree = all(min(of, key=of.__getitem__) == "Evaluate" for of in (of_table, of_items))
    shown = (f"{of['Evaluate']:.3f} against {of['Understand']:.3f}" for of in (of_table, of_items))
    return Found(agree, " (Table 2) and ".join(shown) + " (items)")


def gold(read: Read) -> Iterator[tuple[Key, Found]]:
    """Yield what was computed for each row of GOLD."""
    loadings = [row for row in read("gold_fig7a_loadings") if row["construct"] in PATHS]  # the other is the human score
    ave = mean(float(row["outer_loading"]) ** 2 for row in loadings if row["construct"] == "Memory")
    yield ("Table VIII", "AVE of Memory"), Found(round(ave, 3) == 0.607, f"{ave:.4f}")
    valid = math.exp(-mean(math.log(float(row["vif"])) for row in read("gold_fig7_vif")))
    yield ("Figure 8 and section IV-E", "D_valid"), Found(round(valid, 3) == 0.482, f"{valid:.4f}")
    consistency = mean(float(row["outer_loading"]) for row in loadings)
    yield ("Figure 8", "TC"), Found(round(consistency, 3) == 0.829, f"{consistency:.4f}")
    r = math.sqrt(1 - 1 / 1.248)
    alpha = 2 * r / (1 + r)
    yield ("Table V", "Alpha of BLINK low-level"), Found(round(alpha, 3) == 0.617, f"{alpha:.4f}")
    metrics = next(row for row in read("gold_fig8_metrics") if row["benchmark"] == "GOLD")
    total = sum(float(metrics[name]) for name in ("d_div", "tc", "d_valid"))
    yield ("Figure 8", "Overall of GOLD"), Found(round(total, 3) == 1.969, f"{total:.3f}")
    yield ("Section IV-E", "Number of tasks"), Found(len(loadings) == 11, f"{len(loadings)}")
    models = read("gold_table9_models")
    deepseek = [float(row["biology"]) for row in models if row["model"] == "DeepSeek" and row["size"] in ("1B", "7B")]
    near = [min(abs(100 * right / 30 - score) for right in range(31)) for score in deepseek]
    yield (
        ("Table IX", "Biology of DeepSeek 1B and 7B"),
        Found(min(near) > 0.051, f"{deepseek}: {min(near):.1f} from k/30"),
    )
    tasks = [name for name in models[0] if name not in ("access", "model", "size", "overall", "note")]
    weights = [float(row["outer_loading"]) * PATHS[row["construct"]] for row in loadings]
    (kimi,) = (row for row in models if row["model"].startswith("Kimi"))
    overall = sum(weight * float(kimi[task]) for weight, task in zip(weights, tasks, strict=True))
    yield ("Table IX", "Overall of KimiVL 16B"), Found(round(overall, 1) == 189.4, f"{overall:.2f}")


# Rows without figures, and what they rest on instead.
NOT_COMPUTED: Mapping[str, Mapping[Key, str]] = {
    "bloom": {
        ("Equation 2", "LBS of every model"): "read in the published code",
        ("Text", "Bias of the mean over tokens"): "an argument, no figure",
        ("Appendix B", "Names of categories"): "spelling",
    },
    "gold": {},
}


def main(arguments: list[str]) -> int:
    """Print every row with what was computed; 1 if one of them is wrong."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    folder, wrong = Path(arguments[0]), 0

    def read(name: str) -> Rows:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    for paper, compute in (("bloom", bloom), ("gold", gold)):
        found = dict(compute(read))
        with (BENCHMARKS / f"{paper}-errata.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        keys = [(row["where"], row["figure"]) for row in rows]
        for key, row in zip(keys, rows, strict=True):
            computed = found.get(key)
            reason = NOT_COMPUTED[paper].get(key)
            verdict = "not computed" if reason else "agrees" if computed and computed.agrees else "WRONG"
            wrong += verdict == "WRONG"
            print(
                f"{paper}: {' / '.join(key)}: printed {row['printed']!r}, right {row['right']!r}: "
                f"{verdict} ({reason or (computed.text if computed else 'no computation')})"
            )
        for key in set(found) - set(keys):
            wrong += 1
            print(f"{paper}: {' / '.join(key)}: computed, and not in the list")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
