"""Tables of category scores: what is read, and one sentence for each thing that is wrong."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vcrgen.analysis.profile import read_tables
from vcrgen.analysis.profile.profiles import Category, ModelProfile, profile_of
from vcrgen.analysis.profile.read_tables import read_profiles
from vcrgen.core.errors import AnalysisError, VcrgenError

HEAD = "level,subcategory,leaf,count,a_en\n"


def written(folder: Path, text: str, name: str = "scores_rae.csv") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def plain_interval(k: int, n: int) -> tuple[float, float]:
    """Wilson's interval of k right of n."""
    p, z = k / n, 1.959964
    middle, half = p + z * z / 2 / n, z * (p * (1 - p) / n + z * z / 4 / n / n) ** 0.5
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def test_the_interval_of_a_category_is_about_wilsons() -> None:
    profile = profile_of("a", "en", "rae", {Category("l", "s", "x"): (0.85, 100)})
    low, high = plain_interval(85, 100)
    category = profile.categories[Category("l", "s", "x")]
    assert (category.low, category.high) == pytest.approx((low, high), abs=0.01)
    assert category == profile.micro == profile.levels["l"]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=12))
@example([(18, 18), (0, 1), (0, 1), (9, 9), (0, 1), (0, 1), (1, 1)])  # 18/28 + 9/28 + 1/28 is a little more than 1
@settings(max_examples=60)
def test_micro_is_right_items_over_items(categories: list[tuple[int, int]]) -> None:
    counts = [(min(right, items), items) for right, items in categories]
    scores = {Category(f"l{n % 3}", "s", f"{n}"): (right / items, items) for n, (right, items) in enumerate(counts)}
    found: ModelProfile = profile_of("a", "en", "rae", scores)
    assert found.micro.value == pytest.approx(sum(right for right, _ in counts) / sum(items for _, items in counts))
    shares = (found.micro, found.macro, found.macro_category, *found.levels.values(), *found.categories.values())
    assert all(0 <= of.low <= of.value <= of.high <= 1 for of in shares)
    assert sum(of.items for of in found.levels.values()) == found.micro.items


def test_the_order_of_files_changes_nothing_but_their_names(tmp_path: Path) -> None:
    """LBS named first was taken for RAE where both are compared."""
    rae = written(tmp_path, HEAD + "L,s,x,10,0.9\n")
    lbs = written(tmp_path, HEAD + "L,s,x,10,0.4\n", "scores_lbs.csv")
    one, other = (read_profiles(files) for files in ([rae, lbs], [lbs, rae]))
    assert [each.metric for each in other.profiles] == ["rae", "lbs"] and one.profiles == other.profiles


def test_an_empty_cell_is_a_gap_and_an_empty_column_no_profile(tmp_path: Path) -> None:
    head = "level,subcategory,leaf,count,a_en,b_en\n"
    data = read_profiles([written(tmp_path, head + "L,s,x,10,0.5,\nL,s,y,10,,\n")])
    (profile,) = data.profiles
    assert profile.model == "a" and profile.micro.items == 10 and list(profile.categories) == [Category("l", "s", "x")]
    assert "a, en, RAE: 1 category has no score." in data.notes


@pytest.mark.parametrize("name", ["scores_rae.csv", "bloom-leaves-rae.csv", "RAE.csv", "x.rae.csv"])
def test_the_method_is_told_by_the_name(tmp_path: Path, name: str) -> None:
    assert read_profiles([written(tmp_path, HEAD + "L,s,x,10,0.5\n", name)]).profiles[0].metric == "rae"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; its first row names the columns level"),
        ("level,leaf,count,a_en\nL,x,1,0.5\n", "has no column 'subcategory'"),
        (HEAD + "L,s,x,0,0.5\n", "line 2, column 'count': the number of items"),
        (HEAD + "L,s,x,1.5,0.5\n", "line 2, column 'count'"),
        (HEAD + "L,s,x,,0.5\n", "line 2, column 'count'"),
        (HEAD + "L,s,x,10,85\n", "85 is no share from 0 to 1; write 0.85 for 85 %"),
        (HEAD + "L,s,x,10,-0.1\n", "is no share"),
        (HEAD + "L,s,x,10,high\n", "'high' is no number"),
        (HEAD + "L,s,x,10\n", "line 2: 4 cells under 5 column names"),
        (HEAD + "L,s,x,10,0.5\nl , S,X,10,0.5\n", "the category 'l/s/x' is in line 2 already"),
        (HEAD + "L,s,,10,0.5\n", "the name of the leaf is missing"),
        (HEAD + "L,s,\u202eabc,10,0.5\n", r"invisible character U\+202E"),
        ("level,subcategory,leaf,count,amodel\nL,s,x,10,0.5\n", "does not name a model and a language"),
        ("level,subcategory,leaf,count,a_en,a_EN\nL,s,x,10,0.5,0.5\n", "is in another file or column already"),
        (HEAD, "holds no score of any category"),
        (HEAD + "L,s,x,10,\n", "holds no score of any category"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        read_profiles([written(tmp_path, text)])


def test_a_name_without_a_method_and_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"ends in the method, as in scores_rae\.csv; known are rae and lbs"):
        read_profiles([written(tmp_path, HEAD + "L,s,x,10,0.5\n", "score.csv")])
    with pytest.raises(AnalysisError, match="ends in the method"):
        read_profiles([written(tmp_path, HEAD + "L,s,x,10,0.5\n", "scores_lbs_sum.csv")])
    with pytest.raises(AnalysisError, match="--example"):
        read_profiles([])
    with pytest.raises(AnalysisError, match="is not a file"):
        read_profiles([tmp_path / "none_rae.csv"])


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_tables, "MAX_CATEGORIES", 1)
    monkeypatch.setattr(read_tables, "MAX_MODELS", 1)
    monkeypatch.setattr(read_tables, "MAX_LANGS", 1)
    with pytest.raises(AnalysisError, match="more than 1 categories"):
        read_profiles([written(tmp_path, HEAD + "L,s,x,10,0.5\nL,s,y,10,0.5\n")])
    for heads, name in (("a_en,b_en", "models"), ("a_en,a_ar", "languages")):
        with pytest.raises(AnalysisError, match=f"2 {name} are too many for a page; name files with at most 1"):
            read_profiles([written(tmp_path, f"level,subcategory,leaf,count,{heads}\nL,s,x,10,0.5,0.5\n")])
    one, other = (
        written(tmp_path, f"level,subcategory,leaf,count,a_en\nL,s,{name},10,0.5\n", f"{name}_{method}.csv")
        for name, method in (("x", "rae"), ("y", "lbs"))
    )
    monkeypatch.setattr(read_tables, "MAX_SCORES", 1)
    with pytest.raises(AnalysisError, match="2 scores of categories are too many"):
        read_profiles([one, other])
    saved = [written(tmp_path, "{}", f"{number}.scores.json") for number in range(2)]
    with pytest.raises(AnalysisError, match="2 files of saved scores are too many"):
        read_profiles(saved)


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_rubbish_is_a_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("rubbish") / "x_rae.csv"
    file.write_bytes(b"level,subcategory,leaf,count,a_en\n" + content)
    try:
        read_profiles([file])
    except VcrgenError as problem:
        assert str(file) in str(problem)
