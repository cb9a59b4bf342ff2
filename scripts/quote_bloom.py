"""Turn the tables that were copied from BloomBench into what a leaderboard may quote, and into an example to analyse.

    python scripts/quote_bloom.py ../shared/data/papers

Writes vcrgen/reported_results/tables/bloom.csv, one row for each model and language of Table 1, and
vcrgen/reported_results/benchmarks/bloom-*.csv: models, levels, leaves, the Spanish part, and what is printed wrongly.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from quote_papers import carry_out, read, write

from vcrgen.errors import LeaderboardError
from vcrgen.files import write_text

PAPER = ("arXiv 2606.05531", "https://arxiv.org/abs/2606.05531")
LANGUAGES = {"English": "en", "Arabic": "ar"}
NOTE = (
    "7,747 items; the published code of LBS does not score the first tokens of an option where the chat template "
    "closes the user's turn, so this LBS may be another than that of vcrgen"
)
SPANISH_ITEMS = 908
MMMU_ITEMS = 1080
# What BloomBench prints wrongly, beside the figures that `found_errata` works out: where, of what, printed, right, why.
ERRATA = (
    (
        "Equation 2",
        "LBS of every model",
        "the mean log-probability of an option's tokens",
        "not known",
        "The published code puts the option at the end of the user's turn and scores as many tokens from the end of the "
        "prompt as the option adds. With a template that closes with s tokens, the first s tokens of the option are never "
        "scored. Whether the printed scores came from that code is not known.",
    ),
    (
        "Text",
        "Bias of the mean over tokens",
        "more tokens a word lower it",
        "no fixed sign",
        "Later pieces of a word are likely, so the mean may rise as well. LBS does not rank languages.",
    ),
    ("Text", "Highest RAE", "Gemma3-27B, 0.883", "Gemma4-31B, 0.898", "Table 1."),
    ("Text", "Smallest drop from English to Arabic", "not Gemma4-31B", "Gemma4-31B, 0.022", "RAE of Table 1."),
    (
        "Text",
        "LBS falls as Gemma 3 grows",
        "in general",
        "in English only",
        "Table 1, Arabic: 0.408, 0.398, 0.440 for 4B, 12B, 27B.",
    ),
    ("Text", "Arabic is below English", "always", "not LBS of Gemma3-27B", "0.336 in English, 0.440 in Arabic."),
    (
        "Text",
        "Level with the smallest drop to Arabic",
        "Understand",
        "Evaluate",
        "Mean drop of RAE over the eight models of Table 2: 0.035 against 0.038. Over the numbers of right items that the "
        "scores of categories stand for, of six models: 0.042 against 0.045.",
    ),
    (
        "Table 11",
        "Categories that MMMU covers",
        "61 of 106",
        "61 or fewer",
        "The published code counts by the name of a category, and 85 names stand for 106 categories: a hit on one covers "
        "all of that name.",
    ),
    (
        "Appendix B",
        "Items of Analyze / texture",
        "",
        "76",
        "The row is missing; 76 is what the level's total leaves, and all 22 scores of the category are k/76.",
    ),
    (
        "Appendix B",
        "Names of categories",
        "newletter, commonsense reasooning, visual stroytelling",
        "newsletter, commonsense reasoning, visual storytelling",
        "Misspelt.",
    ),
)


def quote(folder: Path, target: Path) -> Path:
    """Write the table that boards quote."""
    return write(quoted_rows(read(folder, "bloom_table1_overall.csv")), target / "bloom.csv")


def quote_benchmarks(folder: Path, target: Path) -> None:
    """Write what analyses take as an example: models, levels, leaves, the Spanish part, what MMMU covers, errata."""
    levels = read(folder, "bloom_table2_levels.csv")
    overall = read(folder, "bloom_table1_overall.csv")
    leaves = {method: read(folder, f"bloom_leaf_scores_{method}.csv") for method in ("rae", "lbs")}
    for method, rows in leaves.items():
        write_lines(target / f"bloom-leaves-{method}.csv", rows)
    write_lines(target / "bloom-overall.csv", quoted_from(1, overall))
    write_lines(target / "bloom-levels.csv", quoted_from(2, levels))
    write_lines(target / "bloom-spanish.csv", quoted_from(10, map(spanish, read(folder, "bloom_ablation_spanish.csv"))))
    coverage = read(folder, "bloom_mmmu_coverage.csv")
    shares = ({**line, "share_pct": f"{100 * int(line['samples']) / MMMU_ITEMS:.1f}"} for line in coverage)
    write_lines(target / "bloom-mmmu.csv", quoted_from(11, shares))
    heads = ("where", "figure", "printed", "right", "why")
    errata = [*found_errata(leaves), *ERRATA]
    write_lines(target / "bloom-errata.csv", [dict(zip(heads, line, strict=True)) for line in errata])


def quoted_rows(overall: Iterable[Mapping[str, str]]) -> Iterator[dict[str, str]]:
    """The micro scores of Table 1 as boards quote them, a row for each model and language."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for line in overall:
        rows.setdefault((line["model"], line["language"]), {})[line["method"].lower()] = line["micro"]
    source, url = PAPER
    for (model, language), scores in rows.items():
        size = re.search(r"-([0-9]+B)", model)
        yield {
            "source": f"{source}, Table 1",
            "url": url,
            "data": "BloomBench",
            "language": LANGUAGES[language],
            "mode": LANGUAGES[language],
            "view": "image",
            "model": model,
            "access": "open" if size else "closed",
            "size": size[1] if size else "",
            **{method: f"{100 * float(score):.1f}" for method, score in scores.items()},
            "note": NOTE if "lbs" in scores else "no LBS, as its likelihoods are not to be had",
        }


def quoted_from(table: int, lines: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Lines of a table of BloomBench with their source."""
    source, url = PAPER
    return [{"source": f"{source}, Table {table}", "url": url, **line} for line in lines]


def spanish(line: Mapping[str, str]) -> dict[str, str]:
    """A line of Table 10 with the numbers of right items that its shares are of."""
    right = {method: round(float(line[f"{method}_micro"]) * SPANISH_ITEMS / 100) for method in ("rae", "lbs")}
    for method, count in right.items():
        if f"{100 * count / SPANISH_ITEMS:.2f}" != line[f"{method}_micro"]:
            raise LeaderboardError(f"Table 10, {line['language']}: {method} is no share of {SPANISH_ITEMS} items.")
    return {
        "model": "Qwen2.5-VL-7B",
        **line,
        "items": str(SPANISH_ITEMS),
        **{f"{method}_right": str(count) for method, count in right.items()},
    }


def found_errata(leaves: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[tuple[str, ...]]:
    """Yield the figures that differ when they are computed again from the other tables."""
    scores = [
        (score, int(line["count"]))
        for lines in leaves.values()
        for line in lines
        for name, score in line.items()
        if name not in ("level", "subcategory", "leaf", "count")
    ]
    odd = sum(all(abs(k / n - float(score)) > 0.005 + 1e-9 for k in range(n + 1)) for score, n in scores)
    why = (
        "They are no share of the printed number of items; most are of power point slides (61 items) and toxicity "
        "detection (55), where 63 and 57 would fit."
    )
    yield "Appendix H", "Scores of categories", f"{odd} of {len(scores):,} scores", "not known", why


def write_lines(file: Path, lines: Sequence[Mapping[str, str]]) -> None:
    """Write lines of the same columns as CSV."""
    out = io.StringIO()
    table = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(lines)
    write_text(file, out.getvalue())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables of BloomBench; 2 if that is not possible."""
    return carry_out(arguments, __doc__, quote, quote_benchmarks)


if __name__ == "__main__":
    sys.exit(main())
