"""Errata of papers, computed from their tables: BloomBench's from those that ship, GOLD's where copies are at hand."""

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAPERS = ROOT.parent / "shared/data/papers"
BENCHMARKS = ROOT / "vcrgen/report/published/benchmarks"
NOT_SCORES = ("level", "subcategory", "leaf", "count")
PATHS = {"Perception": 0.309, "Memory": 0.186, "Reasoning": 0.358}  # to the human score, Figure 7a of GOLD
Row = dict[str, str]


def rows_of(name: str, folder: Path = BENCHMARKS) -> list[Row]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def copied(name: str) -> list[Row]:
    if not PAPERS.is_dir():
        pytest.skip(f"needs the copied tables in {PAPERS}")
    return rows_of(name, PAPERS)


def erratum(paper: str, figure: str) -> Row:
    (row,) = [row for row in rows_of(f"{paper}-errata") if row["figure"] == figure]
    return row


def overall(method: str) -> dict[tuple[str, str], float]:
    """Micro scores of Table 1 of BloomBench by model and language."""
    rows = [row for row in rows_of("bloom-overall") if row["method"] == method]
    return {(row["model"], row["language"]): float(row["micro"]) for row in rows}


def category_scores() -> Iterator[tuple[str, str, Row, float, int]]:
    """Method, column, row, score and number of items of each score of a category."""
    for method in ("rae", "lbs"):
        for row in rows_of(f"bloom-leaves-{method}"):
            for column, score in row.items():
                if column not in NOT_SCORES:
                    yield method, column, row, float(score), int(row["count"])


def is_share(score: float, items: int) -> bool:
    return abs(round(items * score) / items - score) <= 0.005 + 1e-9


def level_shares(method: str) -> dict[tuple[str, str], float]:
    """Shares of right items by column and level; a category's score stands for a whole number of them."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for of, column, row, score, items in category_scores():
        if of == method:
            sums[column, row["level"]][0] += round(score * items)
            sums[column, row["level"]][1] += items
    return {key: right / items for key, (right, items) in sums.items()}


def test_scores_of_categories_that_are_no_share() -> None:
    scores = [is_share(score, items) for *_, score, items in category_scores()]
    assert erratum("bloom", "Scores of categories")["printed"] == f"{scores.count(False)} of {len(scores):,} scores"
    texture = [
        is_share(score, 76)
        for *_, row, score, _ in category_scores()
        if (row["level"], row["leaf"]) == ("Analyze", "texture")
    ]
    assert erratum("bloom", "Items of Analyze / texture")["right"] == "76" and texture == [True] * 22


def test_sentences_about_table_1() -> None:
    rae, lbs = overall("RAE"), overall("LBS")
    best = max(rae, key=rae.__getitem__)
    assert erratum("bloom", "Highest RAE")["right"] == f"{best[0]}, {rae[best]}"
    drops = {model: rae[model, "English"] - rae[model, "Arabic"] for model, _ in rae}
    least = min(drops, key=drops.__getitem__)
    assert erratum("bloom", "Smallest drop from English to Arabic")["right"] == f"{least}, {drops[least]:.3f}"
    english, arabic = ([lbs[f"Gemma3-{size}", lang] for size in ("4B", "12B", "27B")] for lang in ("English", "Arabic"))
    assert english == sorted(english, reverse=True) and arabic == [0.408, 0.398, 0.440]
    assert (english[-1], arabic[-1]) == (0.336, 0.440)


def test_the_level_with_the_smallest_drop() -> None:
    printed: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of("bloom-levels"):
        if row["method"] == "RAE":
            printed[row["level"]][row["model"]].append(float(row["accuracy"]))
    of_table = {level: mean(en - ar for en, ar in models.values()) for level, models in printed.items()}
    shares = level_shares("rae")
    drops: dict[str, list[float]] = defaultdict(list)
    for (column, level), share in shares.items():
        if column.endswith("_en"):
            drops[level].append(share - shares[f"{column.removesuffix('_en')}_ar", level])
    of_items = {level: mean(each) for level, each in drops.items()}
    assert [min(of, key=of.__getitem__) for of in (of_table, of_items)] == ["Evaluate", "Evaluate"]
    shown = re.findall(r"(0\.\d+) against (0\.\d+)", erratum("bloom", "Level with the smallest drop to Arabic")["why"])
    for of, figures in zip((of_table, of_items), shown, strict=True):
        assert [of["Evaluate"], of["Understand"]] == pytest.approx([float(figure) for figure in figures], abs=0.00051)


@pytest.mark.parametrize(
    ("method", "lang", "printed"), [("rae", "en", 0.881), ("lbs", "en", 0.387), ("rae", "ar", 0.856)]
)
def test_macros_of_table_1_are_no_erratum(method: str, lang: str, printed: float) -> None:
    """From levels as printed three of them would be."""
    levels = [share for (column, _), share in level_shares(method).items() if column == f"gemma3-27b_{lang}"]
    assert len(levels) == 6 and mean(levels) == pytest.approx(printed, abs=0.0005)


def test_names_of_categories() -> None:
    names = [row["leaf"] for row in rows_of("bloom-leaves-rae")]
    why = erratum("bloom", "Categories that MMMU covers")["why"]
    assert f"{len(set(names))} names stand for {len(names)} categories" in why


def test_figures_of_gold() -> None:
    loadings = [row for row in copied("gold_fig7a_loadings") if row["construct"] in PATHS]  # not the human score
    outer = {row["task"]: float(row["outer_loading"]) for row in loadings}
    memory = [float(row["outer_loading"]) for row in loadings if row["construct"] == "Memory"]
    r = math.sqrt(1 - 1 / 1.248)
    (metrics,) = (row for row in copied("gold_fig8_metrics") if row["benchmark"] == "GOLD")
    right = {
        "AVE of Memory": f"{mean(loading**2 for loading in memory):.3f}",
        "D_valid": f"{math.exp(-mean(math.log(float(row['vif'])) for row in copied('gold_fig7_vif'))):.3f}",
        "TC": f"{mean(outer.values()):.3f}",
        "Alpha of BLINK low-level": f"{2 * r / (1 + r):.3f}",
        "Overall of GOLD": f"{sum(float(metrics[name]) for name in ('d_div', 'tc', 'd_valid')):.3f}",
        "Number of tasks": str(len(outer)),
    }
    assert {figure: erratum("gold", figure)["right"] for figure in right} == right


def test_rows_of_gold() -> None:
    models = copied("gold_table9_models")
    weights = [
        float(row["outer_loading"]) * PATHS[row["construct"]]
        for row in copied("gold_fig7a_loadings")
        if row["construct"] in PATHS
    ]
    tasks = [name for name in models[0] if name not in ("access", "model", "size", "overall", "note")]
    (kimi,) = (row for row in models if row["model"].startswith("Kimi"))
    total = sum(weight * float(kimi[task]) for weight, task in zip(weights, tasks, strict=True))
    assert erratum("gold", "Overall of KimiVL 16B")["right"] == f"{total:.1f}"
    biology = [row["biology"] for row in models if row["model"] == "DeepSeek" and row["size"] in ("1B", "7B")]
    assert erratum("gold", "Biology of DeepSeek 1B and 7B")["printed"] == " and ".join(biology)
    assert all(min(abs(100 * right / 30 - float(score)) for right in range(31)) > 0.051 for score in biology)
