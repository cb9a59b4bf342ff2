"""Profiles of what ``vcrgen score`` wrote: the same shares as counted by hand, paired gaps, calibration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vcrgen.analysis.profile.differences import pairs_by
from vcrgen.analysis.profile.profile_report import profile_document
from vcrgen.analysis.profile.profiles import Profiles, gap
from vcrgen.analysis.profile.read_tables import read_profiles
from vcrgen.core.errors import AnalysisError, ScoreError
from vcrgen.scorer.saved import checksum


@pytest.fixture(scope="module")
def data(scored: Any) -> Profiles:
    return read_profiles(scored.files)


def test_shares_are_those_counted_by_hand(data: Profiles, scored: Any) -> None:
    assert data.models == ["good", "weak"] and data.langs == ["en", "ar"] and not data.hidden
    names = category_names(scored)
    for key, right in scored.right.items():
        model, lang, view, metric = key
        found = data.of(model, lang, metric, view)
        assert found is not None and found.micro.value == pytest.approx(np.mean(right))
        assert found.micro.items == 240 and found.micro.low < found.micro.value < found.micro.high
        for category, of in found.categories.items():
            mine = [each for each, name in zip(right, names, strict=True) if name == "/".join(category)]
            assert of.value == pytest.approx(np.mean(mine)) and of.items == len(mine)
        assert len(found.categories) == 12 and sum(of.items for of in found.levels.values()) == 240
        levels = [of.value for of in found.levels.values()]
        assert found.macro and found.macro.value == pytest.approx(np.mean(levels))
        categories = [of.value for of in found.categories.values()]
        assert found.macro_category and found.macro_category.value == pytest.approx(np.mean(categories))


def category_names(scored: Any) -> list[str]:
    """The path of each item."""
    import pyarrow.parquet as pq

    (file,) = (scored.folder / "set" / "data").glob("*.parquet")
    table = pq.read_table(file, columns=["question_id", "path"]).to_pylist()
    return [row["path"] for row in sorted(table, key=lambda row: row["question_id"])]


def test_gaps_are_paired_by_picture(data: Profiles, scored: Any) -> None:
    for what in ("lang", "view", "metric"):
        for first, second in pairs_by(data.profiles, what):
            if {first.metric, second.metric} <= {"rae", "lbs"}:
                found = gap(first, second)
                mine, theirs = (np.array(scored.right[each.key]) for each in (first, second))
                assert found.paired and found.value == pytest.approx(mine.mean() - theirs.mean())
                assert found.low < found.value < found.high


def test_calibration_is_of_likelihoods_with_the_picture(data: Profiles, scored: Any) -> None:
    assert set(data.calibrations) == {(model, lang) for model in ("good", "weak") for lang in ("en", "ar")}
    for (model, lang), found in data.calibrations.items():
        assert found.items == 240
        assert found.right == pytest.approx(np.mean(scored.right[model, lang, "image", "lbs"]))
        assert 0.25 < found.confidence < 1 and 0 < found.error < 1 and 0 < found.brier < 2


def test_the_page_of_saved_scores(data: Profiles) -> None:
    document = profile_document(data, settings="")
    titles = [section.title for section in document.sections]
    assert titles[-1] == "Calibration of LBS" and "Gaps" in titles and not document.alerts
    scores = document.sections[0].tables
    assert [row[2] for row in scores[0].texts()] == ["image", "text-only"] * 4
    assert {row[3] for row in scores[1].texts()} >= {"LBS, sum", "LBS, PMI"}
    assert {row[-1] for row in next(s for s in document.sections if s.title == "Gaps").tables[0].texts()} == {
        "pictures"
    }


def test_saved_scores_and_tables_stand_on_one_page(scored: Any, tmp_path: Path) -> None:
    table = tmp_path / "other_rae.csv"
    table.write_text("level,subcategory,leaf,count,other_en\nApply,logic,sort,10,0.5\n", "utf-8")
    data = read_profiles([table, *scored.files])
    assert data.models == ["good", "weak", "other"] and len(data.notes) == 1
    assert profile_document(data, settings="").alerts == tuple(data.notes)


def changed(file: Path, folder: Path, **changes: Any) -> Path:
    """A copy of saved scores with other values."""
    value = {**json.loads(file.read_text("utf-8")), **changes}
    copy, value = folder / file.name, {name: each for name, each in value.items() if each is not None}
    copy.write_text(json.dumps({**value, "sha256": checksum(value)}), "utf-8")
    return copy


def test_the_same_model_twice_gets_two_names(scored: Any, tmp_path: Path) -> None:
    one = scored.files[0]
    copy = changed(one, tmp_path, name="again")
    assert read_profiles([one, copy]).models == ["good (good)", "good (again)"]
    with pytest.raises(ScoreError, match="is named twice; name each run once"):
        read_profiles([one, copy, one])


def test_a_hidden_set_is_private(scored: Any, tmp_path: Path) -> None:
    file = changed(scored.files[0], tmp_path, items_of_pictures=None, scores_of_items=None)
    with pytest.raises(AnalysisError, match="is of a hidden set, whose exact scores are not for publication"):
        read_profiles([file])
    data = read_profiles([file], private=True)
    document = profile_document(data, settings="")
    assert document.private and not data.calibrations
    assert {row[-1] for row in next(s for s in document.sections if s.title == "Gaps").tables[0].texts()} == {"none"}


def test_scores_that_were_made_in_other_ways_are_refused(scored: Any, tmp_path: Path) -> None:
    value = json.loads(scored.files[1].read_text("utf-8"))
    text = value["signature"]["text"].replace("protocol:bloom-v5", "protocol:bloom-code")
    assert text != value["signature"]["text"]
    other = changed(scored.files[1], tmp_path, signature={"text": text})
    with pytest.raises(ScoreError, match="cannot stand in one table: protocol is bloom-v5 and bloom-code"):
        read_profiles([scored.files[0], other])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "not of the version"),
        ({"scores": []}, "is damaged"),
        ({"model": "a\u202eb"}, "invisible character"),
        ({"model": "m" * 200}, "longer than 80"),
        ({"task": "none"}, "its task is unknown"),
    ],
)
def test_a_file_that_was_changed_is_a_sentence(
    scored: Any, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises((AnalysisError, ScoreError), match=message):
        read_profiles([changed(scored.files[0], tmp_path, **change)])


def test_scores_without_categories_are_no_profile(scored: Any, tmp_path: Path) -> None:
    value = json.loads(scored.files[0].read_text("utf-8"))
    for cell in value["scores"]:
        cell["groups"] = []
    with pytest.raises(AnalysisError, match="has no scores of categories"):
        read_profiles([changed(scored.files[0], tmp_path, scores=value["scores"])])


def category_scores(scored: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The content of a file, and its scores of categories, which may be changed."""
    value = json.loads(scored.files[0].read_text("utf-8"))
    return value, [group for cell in value["scores"] for group in cell["groups"] if group["by"] == "category"]


@pytest.mark.parametrize(
    "change",
    [
        {"value": 2.0},
        {"low": 1.0, "high": 0.0},
        {"value": -1.0},
        {"value": 1e308},
        {"low": 0.5, "value": 0.5},
        {"high": 0.5, "value": 0.5},
    ],
)
def test_a_score_outside_of_its_interval_is_a_sentence(scored: Any, tmp_path: Path, change: dict[str, float]) -> None:
    value, categories = category_scores(scored)
    for group in categories:
        group["metrics"]["rae"] |= change
    with pytest.raises(AnalysisError, match="is damaged: a score is outside of its interval"):
        read_profiles([changed(scored.files[0], tmp_path, scores=value["scores"])])


def test_a_category_of_a_level_that_has_no_score_stands_last(scored: Any, tmp_path: Path) -> None:
    value, categories = category_scores(scored)
    for number, group in enumerate(categories):
        group["label"] = f"nowhere/s/{number}"
    data = read_profiles([changed(scored.files[0], tmp_path, scores=value["scores"])])
    assert {category.level for category in data.categories} == {"nowhere"} and len(data.levels) == 6
    assert profile_document(data, settings="").sections


def test_a_language_that_cannot_be_shown_is_a_sentence(scored: Any, tmp_path: Path) -> None:
    value, _ = category_scores(scored)
    for cell in value["scores"]:
        cell["lang"] = f"{cell['lang']}\u202e"
    with pytest.raises(AnalysisError, match="invisible character"):
        read_profiles([changed(scored.files[0], tmp_path, scores=value["scores"])])


def test_a_category_that_has_no_path_is_a_sentence(scored: Any, tmp_path: Path) -> None:
    value, categories = category_scores(scored)
    for group in categories:
        group["label"] = "nothing"
    with pytest.raises(AnalysisError, match="the category 'nothing' is not of the form level/subcategory/leaf"):
        read_profiles([changed(scored.files[0], tmp_path, scores=value["scores"])])
