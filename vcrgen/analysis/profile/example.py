"""The published scores of BloomBench: its category scores as profiles, and what else the paper prints beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from vcrgen.analysis.examples import BENCHMARKS, errata_section, published_rows
from vcrgen.analysis.profile.profiles import Profiles
from vcrgen.analysis.profile.read_tables import profile_command, read_profiles
from vcrgen.report.document import Section
from vcrgen.report.table import Number, Percent, Table, TableCell
from vcrgen.text.languages import LANGUAGES

MMMU_ITEMS = 1080
ABOUT = (
    "Scores of 106 categories as BloomBench (arXiv 2606.05531, Appendix H) prints them, to two decimals; Gemma 4 has "
    "none there, and GPT-4o mini no LBS."
)
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class PrintedCheck:
    """Printed figures beside the same worked out from other printed ones."""

    name: str
    within: float  # what rounding allows
    differences: Mapping[Key, float]  # by model, language and method, or by those and a level in the name

    @property
    def failed(self) -> list[Key]:
        """Those that rounding does not explain."""
        return [key for key, value in self.differences.items() if value > self.within]


def published_lines(name: str) -> list[dict[str, str]]:
    """The lines of a CSV of ``vcrgen/report/published/benchmarks/`` by column."""
    heads, *lines = published_rows(name)
    return [dict(zip(heads, line, strict=True)) for line in lines]


def example_profiles() -> Profiles:
    """The published category scores, with the names of models as the paper prints them."""
    data = read_profiles([BENCHMARKS / f"bloom-leaves-{method}.csv" for method in ("rae", "lbs")])
    names = {line["model"].lower().replace(" ", "-"): line["model"] for line in published_lines("bloom-overall")}
    profiles = [replace(profile, model=names[profile.model]) for profile in data.profiles]
    return replace(data, profiles=profiles, next_command=profile_command("--example", "bloom"))


def checks(data: Profiles) -> list[PrintedCheck]:
    """Compare the printed scores with those of the category scores, and Table 1's macro score with Table 2."""
    overall = {_key(line): line for line in published_lines("bloom-overall")}
    printed: dict[Key, dict[str, float]] = {}
    for line in published_lines("bloom-levels"):
        printed.setdefault(_key(line), {})[line["level"].lower()] = float(line["accuracy"])
    micro, levels = {}, {}
    for profile in data.profiles:
        key = (profile.model, profile.lang, profile.metric)
        micro[key] = abs(profile.micro.value - float(overall[key]["micro"]))
        for level, share in profile.levels.items():
            levels[profile.model, profile.lang, f"{profile.metric} {level}"] = abs(share.value - printed[key][level])
    macro = {key: abs(fmean(shares.values()) - float(overall[key]["macro"])) for key, shares in printed.items()}
    return [
        PrintedCheck("Micro of Table 1, from category scores and counts", 0.001, micro),
        PrintedCheck("Levels of Table 2, from category scores and counts", 0.0065, levels),
        PrintedCheck("Macro of Table 1, from the levels of Table 2", 0.0055, macro),
    ]


def example_sections(data: Profiles) -> list[Section]:
    """Sections of the paper's other results: checks, the Spanish part, coverage of MMMU, errata."""
    rows: list[Sequence[TableCell]] = [
        (
            check.name,
            "; ".join(f"{model}, {lang}, {metric.upper()}" for model, lang, metric in check.failed) or "none",
            len(check.differences),
            len(check.differences) - len(check.failed),
            Number(check.within, 4),
            Number(max(check.differences.values()), 4),
        )
        for check in checks(data)
    ]
    heads = ("Printed figures", "Not within", "Compared", "Within", "of", "Largest difference")
    return [
        Section(
            title="What the paper prints, worked out again",
            text=[
                "Shares from 0 to 1, each within the rounding of what it is worked out from: levels have two digits."
            ],
            tables=[Table(title="Printed and recomputed", heads=heads, labels=2, rows=rows)],
        ),
        Section(
            title="Spanish, and MMMU",
            text=[
                "Of the Spanish part (Table 10) the numbers of right items are worked out from the printed shares of "
                "908 items; macro is the mean over names of categories there. For MMMU (Table 11) a model filed 1,080 "
                "items under the categories; 94 fit none.",
            ],
            tables=[_spanish(), mmmu_table()],
        ),
        errata_section("bloom-errata"),
    ]


def _key(line: Mapping[str, str]) -> Key:
    code = next(row.code for row in LANGUAGES.values() if row.name == line["language"])
    return line["model"], code, line["method"].lower()


def _spanish() -> Table:
    rows: list[Sequence[TableCell]] = []
    for line in published_lines("bloom-spanish"):
        items = int(line["items"])
        cells: list[TableCell] = [line["model"], line["language"], items]
        for method in ("rae", "lbs"):
            right = int(line[f"{method}_right"])
            cells += [right, Percent(right / items), Percent(float(line[f"{method}_macro"]) / 100)]
        rows.append(cells)
    columns = (f"{method}, {figure}" for method in ("RAE", "LBS") for figure in ("right", "micro", "macro"))
    heads = ("Model", "Language", "Items", *columns)
    return Table(title="The Spanish part, in percent", heads=heads, labels=2, rows=rows)


def mmmu_table() -> Table:
    """Table of the categories and items of MMMU that the paper prints for each level."""
    rows: list[Sequence[TableCell]] = []
    for line in published_lines("bloom-mmmu"):
        covered, total, items = (int(line[name]) for name in ("covered_leaves", "total_leaves", "samples"))
        shares = (Percent(covered / total, 1), items, Percent(items / MMMU_ITEMS, 1))
        rows.append((line["level"], covered, total, *shares))
    heads = ("Level", "Categories covered", "of", "%", "Items", "% of all")
    return Table(title="Categories that MMMU covers, in percent", heads=heads, labels=1, rows=rows)
