"""What BloomBench prints, worked out again from its leaf scores; what does not come out is in the errata."""

import pytest

from vcrgen.analysis.examples import published_rows
from vcrgen.analysis.profile.example import checks, example_sections, published_lines
from vcrgen.analysis.profile.records import Profiles, gap
from vcrgen.analysis.profile.report import correlation, profile_document, ranks
from vcrgen.report.table import show

ORDER = ("Qwen2-VL-7B", "Qwen2.5-VL-7B", "Gemma3-4B", "Gemma3-12B", "Gemma3-27B")


def test_the_printed_tables_come_out_but_for_three_figures(published: Profiles) -> None:
    micro, levels, macro = checks(published)
    assert (len(micro.differences), max(micro.differences.values()) < 0.001, micro.failed) == (22, True, [])
    assert (len(levels.differences), max(levels.differences.values()) < 0.0065, levels.failed) == (132, True, [])
    wrong = [("Gemma3-27B", "en", "rae"), ("Gemma3-27B", "en", "lbs"), ("Gemma3-27B", "ar", "rae")]
    assert len(macro.differences) == 30 and macro.failed == wrong
    errata = {row[1]: row[2:4] for row in published_rows("bloom-errata") if row[0] == "Table 1"}
    assert errata == {
        "Macro RAE of Gemma3-27B, English": ["0.881", "0.8800"],
        "Macro LBS of Gemma3-27B, English": ["0.387", "0.3883"],
        "Macro RAE of Gemma3-27B, Arabic": ["0.856", "0.8567"],
    }


def test_a_method_that_was_not_asked_is_a_gap(published: Profiles) -> None:
    assert published.of("GPT-4o mini", "en", "lbs") is None
    scores = profile_document(published, settings="").sections[0].tables[0]
    row = next(row for row in scores.texts() if row[:2] == ["GPT-4o mini", "en"])
    assert row[3] == "82.4" and row[7:] == ["–"] * 4


def test_the_tree_has_106_leaves_of_85_names(published: Profiles) -> None:
    leaves = published.leaves
    assert (len(leaves), len({leaf.name for leaf in leaves}), len(published.levels)) == (106, 85, 6)
    assert published.levels == ["remember", "understand", "apply", "analyze", "evaluate", "create"]
    assert {leaf.level for leaf in leaves if leaf.name == "texture"} == {"remember", "understand", "analyze"}
    some = published.profiles[0]
    assert some.micro.items == 7747 and {level: of.items for level, of in some.levels.items()} == {
        "remember": 2948, "understand": 1592, "apply": 499, "analyze": 1431, "evaluate": 592, "create": 685,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "drops"),
    [("rae", (0.081, 0.077, 0.067, 0.031, 0.024)), ("lbs", (0.095, 0.151, 0.201, 0.052, -0.104))],
)
def test_gaps_of_languages(published: Profiles, metric: str, drops: tuple[float, ...]) -> None:
    for model, drop in zip(ORDER, drops, strict=True):
        en, ar = (published.of(model, lang, metric) for lang in ("en", "ar"))
        assert en and ar
        found = gap(en, ar)
        assert found.value == pytest.approx(drop, abs=0.0016) and found.low < found.value < found.high
        assert not found.paired


def test_both_methods_rank_models_differently(published: Profiles) -> None:
    """Over seven models by Table 1: -0.46 in English, -0.14 in Arabic. Over the leaves of a model: 0.28 to 0.65."""
    overall = published_lines("bloom-overall")
    for language, expected in (("English", -0.46), ("Arabic", -0.14)):
        scores = {
            (line["model"], line["method"]): float(line["micro"]) for line in overall if line["language"] == language
        }
        models = [model for model, method in scores if method == "LBS"]
        rho = correlation(*(ranks([scores[model, method] for model in models]) for method in ("RAE", "LBS")))
        assert len(models) == 7 and rho == pytest.approx(expected, abs=0.005)
    found = []
    for model in ORDER:
        for lang in ("en", "ar"):
            rae, lbs = (published.of(model, lang, metric) for metric in ("rae", "lbs"))
            assert rae and lbs
            both = [[of.leaves[leaf].value for leaf in published.leaves] for of in (rae, lbs)]
            found.append(correlation(*both))
    assert min(f for f in found if f) == pytest.approx(0.275, abs=0.005)
    assert max(f for f in found if f) == pytest.approx(0.65, abs=0.005)


def test_spanish_and_mmmu(published: Profiles) -> None:
    spanish, coverage = example_sections(published)[1].tables
    texts = spanish.texts()
    assert [(row[3], row[4], row[6], row[7]) for row in texts] == [
        ("792", "87.22", "609", "67.07"), ("771", "84.91", "534", "58.81"), ("726", "79.96", "461", "50.77"),
    ]  # fmt: skip
    rows = {show(row[0]): [show(cell) for cell in row[1:]] for row in coverage.rows}
    assert rows["Total"][:2] == ["61", "106"] and rows["Total"][3] == "986"
    assert rows["Analyze"][-1] == "66.4"
    above = sum(int(rows[level][3]) for level in ("Evaluate", "Create"))
    assert f"{100 * above / 1080:.1f}" == "1.0"
    assert sum(int(rows[level][3]) for level in rows if level != "Total") == 986


def test_leaves_that_are_no_counts_are_in_the_errata() -> None:
    errata = {(row[0], row[1]): row for row in published_rows("bloom-errata")}
    assert errata["Appendix H", "Scores of leaves"][2] == "37 of 2,332 scores"
    assert errata["Text", "Highest RAE"][3] == "Gemma4-31B, 0.898"
    assert errata["Table 11", "Leaves that MMMU covers"][3] == "61 or fewer"
