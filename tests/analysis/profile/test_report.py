"""The page of profiles: what stands in it, for one model or many, and that nothing hostile is more than a text."""

from dataclasses import replace

from vcrgen.analysis.profile.differences import NAMED, category_differences, pairs_by
from vcrgen.analysis.profile.profile_report import MOST_LISTED, profile_document
from vcrgen.analysis.profile.profiles import Category, ModelProfile, Profiles, profile_of
from vcrgen.report.document import ChartRows, Document, render
from vcrgen.stats.calibration import Bin, ReliabilityCurve

GAP_NOTE = "For RAE a model sees the options, for LBS it does not"
LBS_NOTE = "LBS is likelihood-based scoring"


def made(profiles: list[ModelProfile], **more: object) -> Document:
    data = Profiles(source="made", profiles=profiles, calibrations={})
    return profile_document(replace(data, **more), settings="made")  # type: ignore[arg-type]


def a_profile(
    model: str = "a", lang: str = "en", metric: str = "rae", view: str = "image", share: float = 0.8
) -> ModelProfile:
    categories = {Category(f"l{n % 4}", "s", f"category {n}"): (share, 50) for n in range(12)}
    return profile_of(model, lang, metric, categories, view=view)


def titles(document: Document) -> list[str]:
    return [section.title for section in document.sections]


def test_every_part_of_the_published_page(published: Profiles) -> None:
    document = profile_document(published, settings="")
    assert titles(document) == [
        "Scores",
        "Levels",
        "Levels with their intervals",
        "Languages side by side",
        "RAE against LBS",
        "Gaps",
        "Gaps by level",
        "Trends by size",
        "Categories",
        "Categories on which models differ",
        "Categories on which languages differ",
    ]
    assert document.lead.startswith("6 models, 2 languages, 7,747 items on 106 categories of 6 levels.")
    levels, bars, categories = document.sections[1], document.sections[2], document.sections[8]
    assert (len(levels.panels), len(bars.panels)) == (6, 4)
    assert [len(table.rows) for table in (*levels.tables, *bars.details)] == [22, 22 * 6]
    assert [len(table.rows) for table in categories.details] == [106, 106]
    for section, axis in zip(document.sections[-2:], ("model", "lang"), strict=True):
        differing = sum(row[5] + row[6] for row in section.tables[0].rows)
        differences = category_differences(pairs_by(published.profiles, axis))
        assert differing == sum(one.adjusted < NAMED for one in differences) < sum(one.p < NAMED for one in differences)
        assert len(section.details[0].rows) == min(differing, MOST_LISTED) and f" {differing:,} have" in section.text[0]
    page = render(document, "html")
    assert page.count('class="rd"') == 6 and page.count('class="st"') == 22 * 6 and page.count("<rect") > 2332
    assert GAP_NOTE in page and LBS_NOTE in page


def test_one_model_in_one_language_by_one_method() -> None:
    document = made([a_profile()])
    assert titles(document) == ["Scores", "Levels", "Levels with their intervals", "Categories"]
    table = document.sections[-1].details[0]
    assert table.heads[-2:] == ["a en", "a en, interval"] and len(table.rows) == 12
    assert LBS_NOTE not in render(document, "md")


def test_a_text_only_view_gives_a_gap_and_no_levels() -> None:
    document = made([a_profile(), a_profile(view="text-only", share=0.3)])
    assert titles(document) == ["Scores", "Levels", "Levels with their intervals", "Gaps", "Categories"]
    scores, gaps = document.sections[0].tables[0].texts(), document.sections[3].tables[0].texts()
    assert [row[2] for row in scores] == ["image", "text-only"]
    assert gaps[0][:5] == ["a", "en", "RAE", "image − text-only", "+50.0"]
    assert not any(GAP_NOTE in text for text in document.sections[3].text)


def test_three_languages_and_more_series_than_a_radar_draws() -> None:
    profiles = [
        a_profile(lang=lang, metric=metric) for lang in ("en", "ar", "es", "fr", "de") for metric in ("rae", "lbs")
    ]
    document = made(profiles)
    page = render(document, "html")
    assert 'class="s7"' in page and 'class="s8"' not in page
    assert len(document.sections[3].panels) == 20 and "Gaps" in titles(document)


def test_other_methods_stand_in_a_table_of_their_own() -> None:
    document = made([a_profile(), a_profile(metric="lbs_pmi")])
    table = document.sections[0].tables[1]
    (row,) = table.texts()
    assert row[:5] == ["a", "en", "image", "LBS, PMI", "80.0"]


def test_a_method_without_levels_is_a_table_and_nothing_else() -> None:
    """A closed model gives the probabilities of labels only."""
    document = made([a_profile(metric="letter"), a_profile(metric="letter", view="text-only")])
    assert titles(document) == ["Scores"]
    assert [row[:4] for row in document.sections[0].tables[-1].texts()] == [
        ["a", "en", "image", "Letter"],
        ["a", "en", "text-only", "Letter"],
    ]
    assert render(document, "html")


def test_two_levels_have_no_radar_and_a_single_one_neither() -> None:
    categories = {Category("l", "s", "x"): (0.8, 50), Category("m", "s", "x"): (0.8, 50)}
    document = made([profile_of("a", "en", "rae", categories)])
    assert all(isinstance(panel, ChartRows) for section in document.sections for panel in section.panels)
    assert 'class="rd"' not in render(document, "html")


def test_levels_of_one_item_each_have_no_radar() -> None:
    """Their shares are nothing or all."""
    for items, drawn in ((1, False), (2, True)):
        categories = {Category(level, "s", "x"): (1.0, items) for level in "abcdef"}
        assert ('class="rd"' in render(made([profile_of("a", "en", "rae", categories)]), "html")) is drawn


def test_models_are_compared_only_where_a_difference_is_significant() -> None:
    assert made([a_profile("a"), a_profile("b")]).summary[-1] == (
        "Do not compare models by category: no difference is significant."
    )
    assert (
        made([a_profile("a"), a_profile("b", share=0.2)]).summary[-1].endswith("12 of 12 comparisons are significant.")
    )


def test_calibration_has_its_curve_and_its_bins() -> None:
    of = ReliabilityCurve([Bin(0.8, 0.9, 40, 0.85, 0.6, 0.45, 0.73)], 0.25, 0.04, 0.85, 0.6, 0.5, 40)
    document = made([a_profile(metric="lbs")], calibrations={("a", "en"): of})
    section = document.sections[-1]
    assert section.title == "Calibration of LBS"
    assert section.tables[0].texts() == [["a", "en", "40", "85.0", "60.0", "25.0", "4.0", "0.500"]]
    assert section.details[0].texts() == [["a", "en", "80 to 90", "40", "85.0", "60.0", "45.0 to 73.0"]]


def test_no_two_columns_of_a_table_have_one_name(published: Profiles) -> None:
    """CSV names a number by its row and column."""
    for section in profile_document(published, settings="").sections:
        for table in (*section.tables, *section.details):
            assert len(set(table.heads)) == len(table.heads), table.title
