"""Trends by size and gaps by level: names, numpy's least squares, coverage of intervals, and the printed tables."""

from dataclasses import replace

import numpy as np
import pytest

from vcrgen.analysis.profile.example import example_profiles, example_sections
from vcrgen.analysis.profile.profile_report import profile_document
from vcrgen.analysis.profile.profiles import Category, ModelProfile, Profiles, ShareEstimate, profile_of
from vcrgen.analysis.profile.size_trends import GAP, level_gaps, size_trends, sized_name
from vcrgen.report.table import Percent, Table
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.intervals import combination_interval, difference_interval

A, B = Category("apply", "logic", "sort"), Category("create", "titles", "poem")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Gemma3-27B", ("Gemma3", 27)),
        ("Qwen2.5-VL-7B", ("Qwen2.5-VL", 7)),
        ("Llama 3.2 11B Vision", ("Llama 3.2-Vision", 11)),
        ("llava-0.5b-ov", ("llava-ov", 0.5)),
        ("InternVL_76.3B", ("InternVL", 76.3)),
        ("SmolVLM-256M", ("SmolVLM", 0.256)),
        ("Gemma4-26B-A4B", ("Gemma4-A4B", 26)),  # not of the family of Gemma4-31B
        ("GPT-4o mini", None),
        ("Gemma3-4Bit", None),
        ("7B", None),
        ("model-0B", None),
    ],
)
def test_a_name_has_a_family_and_a_size(model: str, name: tuple[str, float] | None) -> None:
    assert sized_name(model) == name


def profile(size: int, rae: float, *, metric: str = "rae", items: int = 500) -> ModelProfile:
    return profile_of(f"m-{size}B", "en", metric, {A: (rae, items), B: (rae - 0.1, items)})


def test_a_slope_is_that_of_least_squares() -> None:
    profiles = [profile(size, rae) for size, rae in ((30, 0.9), (3, 0.5), (8, 0.8))]
    (trend,) = size_trends(profiles)
    logs, shares = np.log2([3, 8, 30]), [0.45, 0.75, 0.85]
    assert (trend.family, trend.sizes, trend.lang, trend.metric, trend.level) == ("m", (3, 8, 30), "en", "rae", "")
    assert trend.slope == pytest.approx(np.polyfit(logs, shares, 1)[0]) and trend.low < trend.slope < trend.high
    by_level = {each.level: each for each in size_trends(profiles, by_level=True)}
    assert by_level["create"].slope == pytest.approx(trend.slope) and by_level["apply"].low < trend.low
    # RAE minus LBS: the slope of the difference.
    lbs = [profile(size, 0.6 - rae / 2, metric="lbs") for size, rae in ((30, 0.9), (3, 0.5), (8, 0.8))]
    *_, gap = size_trends([*profiles, *lbs])
    assert gap.metric == GAP and gap.slope == pytest.approx(1.5 * trend.slope) and gap.low < gap.slope < gap.high
    # One size is no trend, and neither are two families.
    assert size_trends([profiles[0], replace(profiles[1], model="n-3B")]) == []


def test_the_interval_of_a_sum_is_that_of_a_difference() -> None:
    a, b = ShareEstimate(0.6, 0.5, 0.66, 10), ShareEstimate(0.2, 0.15, 0.3, 10)
    assert combination_interval(np.array([1.0, -1.0]), [a, b]) == pytest.approx(difference_interval(a, b))
    assert combination_interval(np.array([-1.0, 1.0]), [a, b]) == pytest.approx(difference_interval(b, a))


def test_intervals_hold_the_true_slope() -> None:
    rng = np.random.default_rng(0)
    sizes, true = np.array([4, 12, 27]), np.array([0.6, 0.7, 0.85])
    slope = np.polyfit(np.log2(sizes), true, 1)[0]
    inside = []
    for right in rng.binomial(100, true, (500, 3)) / 100:
        of_sizes = [profile_of(f"m-{size}B", "en", "rae", {A: (r, 100)}) for size, r in zip(sizes, right, strict=True)]
        (trend,) = size_trends(of_sizes)
        inside.append(trend.low <= slope <= trend.high)
    assert 0.92 < np.mean(inside) < 0.98


def test_saved_scores_are_paired_by_picture() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.02, 1000)
    shares = {2: 0.5, 8: 0.7}
    paired = [
        replace(profile(size, share + 0.05), resampled=BootstrapMean(100, share, share + common + rng.normal(0, 1e-3)))
        for size, share in shares.items()
    ]
    (trend,) = size_trends(paired)
    assert trend.slope == pytest.approx(0.1) and trend.high - trend.low < 1e-6  # both rise and fall together


def rows_of(tables: list[Table], title: str) -> dict[tuple[str, ...], list[float | None]]:
    (table,) = [table for table in tables if table.title.startswith(title)]
    return {
        tuple(map(str, row[: table.labels])): [cell.share for cell in row if isinstance(cell, Percent)]
        for row in table.rows
    }


def test_the_published_gaps_and_sizes() -> None:
    data = example_profiles()
    tables = [table for section in example_sections(data) for table in section.tables]
    means = rows_of(tables, "English less Arabic")["mean of 8 models", "en \N{MINUS SIGN} ar", "RAE"]
    assert means == pytest.approx([0.053, 0.038, 0.061, 0.043, 0.035, 0.071], abs=0.0006)
    of_methods = rows_of(tables, "RAE less LBS")
    assert of_methods["Gemma3-27B", "en", "RAE \N{MINUS SIGN} LBS"][0] == pytest.approx(0.86 - 0.14)
    assert len(of_methods) == 2 * 7 + 2  # GPT-4o mini has no LBS
    (sizes,) = [table for table in tables if table.title.startswith("Scores by family")]
    gaps = {(str(row[0]), str(row[1]), str(row[2])): row[-1] for row in sizes.rows}
    gap = gaps["Gemma3", "en", "27"]
    assert isinstance(gap, Percent) and gap.share == pytest.approx(0.547)
    trends = {(trend.lang, trend.metric): trend.slope for trend in size_trends(data.profiles)}
    assert trends["en", "rae"] > 0.03 and trends["en", "lbs"] < -0.09  # by size they part
    assert trends["en", GAP] == pytest.approx(trends["en", "rae"] - trends["en", "lbs"])


def test_the_page_has_both() -> None:
    data = Profiles(source="made", profiles=[profile(3, 0.5), profile(8, 0.8)], calibrations={})
    titles = [section.title for section in profile_document(data, settings="").sections]
    assert "Trends by size" in titles and "Gaps by level" not in titles  # one language, one method
    arabic = replace(profile(3, 0.4), lang="ar")
    (low, high), *_ = [(each.low, each.high) for each in level_gaps((data.profiles[0], arabic))]
    assert (low, high) == difference_interval(data.profiles[0].levels["apply"], arabic.levels["apply"])
    with_gap = Profiles(source="made", profiles=[profile(3, 0.5), arabic], calibrations={})
    titles = [section.title for section in profile_document(with_gap, settings="").sections]
    assert "Gaps by level" in titles and "Trends by size" not in titles
