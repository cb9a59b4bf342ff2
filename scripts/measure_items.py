"""Measure what docs/analysis-items.md says of `vcrgen analyze items` and `shorten`, on items of which all is known.

    python scripts/measure_items.py                 # all of it, about 20 minutes
    python scripts/measure_items.py mixed           # or one of irt, mirt, mixed, keys, shorten, rubbish

irt: 2PL at 200 models x 300 items against what they were made from. mirt: the same at 300 x 2,000 against mirt. mixed:
500 draws of the mixed logistic model. keys: 15 wrong keys in each of ten tables of 300 items. shorten: errors of
estimates beside those of 1,000 fresh models, and how many of these are within the stated distance. rubbish: 2,000 made
tables with faults, none of which may end in anything but a report or one sentence. `tests/analysis/items` has a
smaller run of each.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from vcrgen.analysis.items.classical import item_statistics, preferred_options
from vcrgen.analysis.items.difficulty_model import fit_difficulty_model
from vcrgen.analysis.items.example import made_items, named
from vcrgen.analysis.items.irt import fit_2pl
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.analysis.items.shorten import _Full, shorten
from vcrgen.analysis.measured import WRONG_KEYS

SHARED = 0.6  # correlation of abilities
TESTS = Path(__file__).resolve().parents[1] / "tests" / "analysis" / "items"


def correlation(a: object, b: object) -> float:
    return float(np.corrcoef(np.asarray(a, float), np.asarray(b, float))[0, 1])


def of_tests(name: str) -> ModuleType:
    """A module of the tests, for what both make."""
    specification = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def irt() -> None:
    rows = []
    for seed in range(20):
        made = made_items(300, seed=seed)
        table, ability = made.ask(200)
        fitted = fit_2pl(table)
        slope, intercept = made.slope[fitted.items], made.intercept[fitted.items]
        inside = [
            np.mean(np.abs(found - true) < 1.96 * error)
            for found, true, error in (
                (fitted.slope, slope, fitted.slope_error),
                (fitted.intercept, intercept, fitted.intercept_error),
                (fitted.difficulty, -intercept / slope, fitted.difficulty_error),
            )
        ]
        rows.append((correlation(fitted.ability, ability), *inside, fitted.rounds))
    mean, lowest = np.mean(rows, axis=0), np.min(rows, axis=0)
    print(f"2PL, 200 x 300, 20 draws: r of abilities {mean[0]:.4f} (lowest {lowest[0]:.4f}); intervals hold the true")
    print(f"  slope {100 * mean[1]:.1f} %, intercept {100 * mean[2]:.1f} %, difficulty {100 * mean[3]:.1f} %")


def against_mirt() -> None:
    import mirt

    for seed, nodes in ((1, 21), (2, 21), (1, 61)):
        made = made_items(2000, seed=seed)
        table, _ = made.ask(300)
        start = time.perf_counter()
        fitted = fit_2pl(table)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        found = mirt.fit_mirt(table.scores.astype(int), "2PL", compute_standard_errors=False, n_quadpts=nodes)
        took = time.perf_counter() - start
        chosen, true = fitted.items, made.slope[fitted.items]
        slope, difficulty = (found.model.parameters[name][chosen] for name in ("discrimination", "difficulty"))
        p = table.scores.mean(axis=0)[chosen]
        print(
            f"2PL, 300 x 2,000, draw {seed}, mirt on {nodes} nodes: {ours:.2f} s with errors, mirt {took:.1f} s without"
        )
        for name, kept in (("all items", p > 0), ("items that 2 to 98 % solve", (p >= 0.02) & (p <= 0.98))):
            print(f"  {name}: r of slopes {correlation(fitted.slope[kept], slope[kept]):.4f},", end="")
            print(f" difficulties {correlation(fitted.difficulty[kept], difficulty[kept]):.4f};", end="")
            print(f" of slopes with the truth {correlation(fitted.slope[kept], true[kept]):.3f}, mirt's", end="")
            print(f" {correlation(slope[kept], true[kept]):.3f}")


def mixed() -> None:
    made = of_tests("test_difficulty_model").made
    for models, items, images in ((8, 200, 120), (30, 300, 180)):
        fits = [fit_difficulty_model(*made(seed, models=models, items=items, images=images)) for seed in range(500)]
        found = np.array([[(each.log_odds, each.error) for each in fit.effects] for fit in fits])
        inside = np.abs(found[:, :, 0] - (-0.5, 0.8)) < 1.96 * found[:, :, 1]
        spread = np.mean([(fit.of_models, fit.of_images, fit.of_items) for fit in fits], axis=0)
        print(f"mixed model, {models} models, {items} spans of {images} images, 500 draws: weights", end=" ")
        print(np.round(found[:, :, 0].mean(axis=0), 3), "for (-0.5, 0.8); intervals hold", end=" ")
        print(np.round(100 * inside.mean(axis=0), 1), "%; spreads", np.round(spread, 2), "for (1, 0.7, 0.6)")


def of_abilities(models: int, seed: int, abilities: int) -> tuple[ItemTable, ItemTable]:
    """Answers of some models, and of 1,000 fresh ones, to 600 items of 300 images that take one of some abilities."""
    rng = np.random.default_rng(seed)
    groups = np.sort(np.arange(600) % 300)
    slope, difficulty, kind = np.exp(rng.normal(0, 0.35, 600)), rng.normal(0, 1, 600), rng.integers(0, abilities, 600)
    people = models + 1000
    shared = np.sqrt(SHARED) * rng.normal(size=(people, 1))
    level = (
        shared + np.sqrt(1 - SHARED) * rng.normal(size=(people, abilities)) if abilities > 1 else shared / SHARED**0.5
    )
    logits = slope * (level[:, kind] - difficulty) + 0.5 * rng.normal(size=(people, 300))[:, groups]
    scores = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64)
    return named(scores[:models], groups, source="made"), named(scores[models:], groups, source="made")


def shorter() -> None:
    print("| abilities | models | images | method | error | of fresh models | fresh models within, % | gain |")
    print("|---:|---:|---:|---|---:|---:|---:|---:|")
    sizes, draws = (20, 50, 100), 3
    for abilities in (1, 4):
        for models in (20, 60, 150):
            rows: dict[tuple[int, str], list[tuple[float, ...]]] = {}
            for seed in range(draws):
                table, fresh = of_abilities(models, seed, abilities)
                found, full = shorten(table, sizes, seed=seed, repeats=10), _Full(fresh)
                for each in found.results:
                    fit, errors = full.fit(np.arange(1000), found.chosen[each.method, each.size])
                    inside = float((errors <= each.within).mean())
                    figures = (each.error.value, fit.error, inside, each.less_error.value)
                    rows.setdefault((each.size, each.method), []).append(figures)
            for (size, method), values in rows.items():
                error, real, inside, gain = np.mean(values, axis=0)
                print(
                    f"| {abilities} | {models} | {size} | `{method}` | {100 * error:.2f} | {100 * real:.2f} |", end=""
                )
                print(f" {100 * inside:.1f} | {100 * gain:+.2f} |", flush=True)


def rubbish() -> None:
    from typer.testing import CliRunner

    from vcrgen.cli import app

    make, rng, codes = of_tests("test_cli").rubbish, random.Random(1), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2000):
            text, suffix = make(rng)
            file = Path(folder) / f"t.{suffix}"
            file.write_text(text, "utf-8")
            words = ["analyze", rng.choice(["items", "shorten"]), str(file), "--resamples", "100", "--format", "json"]
            result = CliRunner().invoke(app, words)
            one = result.exit_code == 0 or (result.exit_code == 2 and result.output.startswith("Error: "))
            codes["report" if result.exit_code == 0 else "one sentence" if one else "TRACEBACK"] += 1
            if not one:
                print(repr(text[:300]), repr(result.exception))
    print("rubbish:", dict(codes))


def with_wrong_keys(models: int, seed: int) -> tuple[ItemTable, set[int]]:
    """300 items with four options, of which 15 have a distractor as their key: a third of those who fail choose it."""
    made = made_items(300, seed=seed)
    table, ability = made.ask(models)
    rng = np.random.default_rng(seed)
    wrong = rng.choice(300, 15, replace=False)
    solved = 1 / (1 + np.exp(-(ability[:, None] * made.slope + made.intercept)))
    scores = table.scores.copy()
    scores[:, wrong] = rng.random((models, 15)) < (1 - solved[:, wrong]) / 3
    # Option 0 is the true answer, and the key but of items with a wrong one, where that is option 1.
    choices = np.where(table.scores == 1, 0, rng.integers(1, 4, scores.shape))
    others = np.where(
        rng.random((models, 15)) * (2 + solved[:, wrong]) < 3 * solved[:, wrong], 0, rng.integers(2, 4, (models, 15))
    )
    choices[:, wrong] = np.where(scores[:, wrong] == 1, 1, others)
    return replace(named(scores, source="made"), choices=choices, options=tuple("ABCD")), set(wrong.tolist())


def keys() -> None:
    print("| models | by item-rest r, of 150 | others, of 2,850 | by distractors | others | by either | others |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for models in WRONG_KEYS:
        found = np.zeros((3, 2), int)
        for seed in range(10):
            table, wrong = with_wrong_keys(models, seed)
            by_rest = set(item_statistics(table).negative.tolist())
            by_option = {each.item for each in preferred_options(table) or ()}
            for row, listed in enumerate((by_rest, by_option, by_rest | by_option)):
                found[row] += len(listed & wrong), len(listed - wrong)
        print(f"| {models} |", " | ".join(f"{right} | {false}" for right, false in found.tolist()), "|")


def main() -> None:
    parts: Mapping[str, Callable[[], None]] = {
        "irt": irt,
        "mirt": against_mirt,
        "mixed": mixed,
        "keys": keys,
        "shorten": shorter,
        "rubbish": rubbish,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
