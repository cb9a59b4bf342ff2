"""The published scores of BloomBench: its category scores as profiles, and what else the paper prints beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from vcrgen.analysis.examples import BENCHMARKS, errata_section, published_rows
from vcrgen.analysis.profile.profile_report import level_gap_table
from vcrgen.analysis.profile.profiles import Profiles
from vcrgen.analysis.profile.read_tables import profile_command, read_profiles
from vcrgen.analysis.profile.size_trends import sized_name
from vcrgen.report.document import Section
from vcrgen.report.table import MINUS, Number, Percent, Table, TableCell
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
    """Sections of the paper's other results: checks, the Spanish part, coverage of MMMU, gaps, errata."""
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
        Section(
            title="Printed gaps, and sizes",
            text=[
                "Quoted from Tables 1 and 2, which have Gemma 4 as well; the gaps are differences of printed figures, "
                "so by level they are known to a point."
            ],
            tables=[*_printed_gaps(data.levels), _printed_sizes()],
        ),
        errata_section("bloom-errata"),
    ]


def _key(line: Mapping[str, str]) -> Key:
    code = next(row.code for row in LANGUAGES.values() if row.name == line["language"])
    return line["model"], code, line["method"].lower()


def _printed_gaps(levels: Sequence[str]) -> list[Table]:
    """The gaps between languages and those of the methods, by the levels of Table 2."""
    printed: dict[Key, dict[str, float]] = {}
    for line in published_lines("bloom-levels"):
        printed.setdefault(_key(line), {})[line["level"].lower()] = float(line["accuracy"])
    models = list(dict.fromkeys(model for model, *_ in printed))
    of_languages, of_methods = [], []
    for method, model in product(("rae", "lbs"), models):
        gap = _difference(printed, (model, "en", method), (model, "ar", method))
        of_languages += [((model, f"en {MINUS} ar", method.upper()), gap)] if gap else []
    for lang, model in product(("en", "ar"), models):
        gap = _difference(printed, (model, lang, "rae"), (model, lang, "lbs"))
        of_methods += [((model, lang, f"RAE {MINUS} LBS"), gap)] if gap else []
    return [
        level_gap_table("English less Arabic by level (Table 2), in points", levels, of_languages),
        level_gap_table("RAE less LBS by level (Table 2), in points", levels, of_methods),
    ]


def _difference(printed: Mapping[Key, Mapping[str, float]], first: Key, second: Key) -> dict[str, float]:
    if first not in printed or second not in printed:
        return {}
    return {level: share - printed[second][level] for level, share in printed[first].items()}


def _printed_sizes() -> Table:
    """The scores of Table 1 with the family and the size of each model."""
    printed = {_key(line): float(line["micro"]) for line in published_lines("bloom-overall")}
    rows: list[Sequence[TableCell]] = []
    for model, lang in dict.fromkeys(key[:2] for key in printed):
        name = sized_name(model)
        rae, lbs = (printed.get((model, lang, method)) for method in ("rae", "lbs"))
        gap = None if rae is None or lbs is None else rae - lbs
        family, size = (name.family, Number(name.size, 0)) if name else (model, None)
        rows.append((family, lang, size, Percent(rae, 1), Percent(lbs, 1), Percent(gap, 1, sign=True)))
    heads = ("Family", "Language", "Billions of parameters", "RAE", "LBS", f"RAE {MINUS} LBS")
    return Table(title="Scores by family and size (Table 1, micro), in percent", heads=heads, labels=2, rows=rows)


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
