"""BloomBench's figures, computed again from its category scores; those that differ are in the errata."""

from vcrgen.analysis.profile.example import example_sections
from vcrgen.analysis.profile.profiles import Profiles
from vcrgen.report.table import show


def test_the_tree_has_106_categories_of_85_names(published: Profiles) -> None:
    categories = published.categories
    assert (len(categories), len({category.name for category in categories}), len(published.levels)) == (106, 85, 6)
    assert published.levels == ["remember", "understand", "apply", "analyze", "evaluate", "create"]
    assert {category.level for category in categories if category.name == "texture"} == {
        "remember",
        "understand",
        "analyze",
    }
    some = published.profiles[0]
    assert some.micro.items == 7747 and {level: of.items for level, of in some.levels.items()} == {
        "remember": 2948,
        "understand": 1592,
        "apply": 499,
        "analyze": 1431,
        "evaluate": 592,
        "create": 685,
    }


def test_spanish_and_mmmu(published: Profiles) -> None:
    spanish, coverage = example_sections(published)[1].tables
    texts = spanish.texts()
    assert [(row[3], row[4], row[6], row[7]) for row in texts] == [
        ("792", "87.22", "609", "67.07"),
        ("771", "84.91", "534", "58.81"),
        ("726", "79.96", "461", "50.77"),
    ]
    rows = {show(row[0]): [show(cell) for cell in row[1:]] for row in coverage.rows}
    assert rows["Total"][:2] == ["61", "106"] and rows["Total"][3] == "986"
    assert rows["Analyze"][-1] == "66.4"
    above = sum(int(rows[level][3]) for level in ("Evaluate", "Create"))
    assert f"{100 * above / 1080:.1f}" == "1.0"
    assert sum(int(rows[level][3]) for level in rows if level != "Total") == 986
