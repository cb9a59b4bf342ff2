"""Specifications: names and patterns, what is refused, and that they read back as written."""

from pathlib import Path

import pytest

from vcrgen.analysis.options import FactorOptions, PruneOptions
from vcrgen.analysis.spec import FactorSpec, apply_options, bind, read_spec
from vcrgen.core.errors import AnalysisError, ConfigError

TASKS = ("MMMU Math", "MMMU Art", "Color", "Count", "Arena")


def test_names_patterns_and_the_anchor() -> None:
    bound = bind(FactorSpec(abilities={"Seeing": ("Co*",), "Knowing": ("MMMU *",)}, anchor="Arena"), TASKS)
    assert bound.tasks == ("Color", "Count", "MMMU Math", "MMMU Art", "Arena")
    assert bound.structure.blocks == ((0, 1), (2, 3), (4,)) and bound.structure.causes == ((), (), (0, 1))
    assert bound.structure.anchor == 2 and bound.abilities["Knowing"] == ("MMMU Math", "MMMU Art")
    kept = bound.keep(["Color", "MMMU Art"])
    assert kept.tasks == ("Color", "MMMU Art", "Arena") and kept.structure.blocks == ((0,), (1,), (2,))
    chain = bind(FactorSpec(abilities={"Seeing": ("Co*",), "Art": ("*Art",), "Math": ("*M*th",)}), TASKS)
    assert chain.structure.causes == ((), (0,), (0, 1)) and chain.structure.anchor is None


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("*", {"ab", "aab", "b*b", ""}),
        ("a*b", {"ab", "aab"}),
        ("a*a*b", {"aab"}),
        ("b*b", {"b*b"}),
        ("ab", {"ab"}),
        ("*ab*", {"ab", "aab"}),
        ("abb*b", set()),
        ("a**b", {"ab", "aab"}),
    ],
)
def test_a_star_stands_for_any_characters(pattern: str, fitting: set[str]) -> None:
    names = ("ab", "aab", "b*b", "")
    spec = FactorSpec(abilities={"A": (pattern,), "B": ("other",)})
    if not fitting:
        with pytest.raises(AnalysisError, match="fits no task"):
            bind(spec, (*names, "other"))
        return
    try:
        assert set(bind(spec, (*names, "other")).abilities["A"]) - {"other"} == fitting
    except AnalysisError as problem:
        assert pattern == "*" and "stands under" in str(problem)


def test_a_pattern_of_stars_takes_no_time() -> None:
    spec = FactorSpec(abilities={"A": ("*a" * 39 + "*b",), "B": ("B",)})
    with pytest.raises(AnalysisError, match="fits no task"):
        bind(spec, ("a" * 80, "B"))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"abilities": {}}, r"abilities: they are 1 to 50 names"),
        ({"abilities": {"A": "Math"}}, r"'A' has a list of 1 to 300 tasks"),
        ({"abilities": {"A": ["Math"]}}, r"one ability without an anchor"),
        ({"abilities": {"A": [1], "B": ["b"]}}, r"names are texts of at most 80 characters"),
        ({"abilities": {"A": ["x" * 81], "B": ["b"]}}, r"names are texts of at most 80 characters"),
        (
            {"abilities": {"A": ["a"], "B": ["b"]}, "anchr": "x"},
            r"Unknown key 'anchr'; the nearest known key is 'anchor'",
        ),
        ({"abilities": {"A": ["a"], "B": ["b"]}, "layout": "two-stage"}, r"'two-stage' needs an anchor"),
        (
            {"abilities": {"A": ["a"], "B": ["b"]}, "anchor": "x", "layout": "chain"},
            r"'chain' is for abilities without",
        ),
        ({"abilities": {"A": ["a"], "B": ["b"]}, "anchor": "A"}, r"'A' is the anchor and an ability"),
        (
            {"abilities": {"A": ["a"], "B": ["b"]}, "limits": {"loading": 2}},
            r"loading: Input should be less than or equal",
        ),
        ({"abilities": {"A": ["a"], "B": ["b"]}, "mode": "C"}, r"mode: Input should be 'A' or 'B'"),
    ],
)
def test_what_a_specification_must_not_be(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        FactorSpec(**values)


@pytest.mark.parametrize(
    ("abilities", "anchor", "sentence"),
    [
        (
            {"A": ("Math",), "B": ("Color",)},
            None,
            r"'Math' of the ability 'A' fits no task; the nearest is 'MMMU Math'",
        ),
        ({"A": ("Co*",), "B": ("Color",)}, None, r"The task 'Color' stands under 'A' and 'B'; take one"),
        ({"A": ("Co*",)}, "Area", r"The anchor 'Area' is no task of the table; the nearest is 'Arena'"),
        ({"A": ("Arena",)}, "Arena", r"The anchor 'Arena' stands under the ability 'A' as well"),
    ],
)
def test_what_does_not_fit_a_table(abilities: dict[str, tuple[str, ...]], anchor: str | None, sentence: str) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        bind(FactorSpec(abilities=abilities, anchor=anchor), TASKS)


def test_files_and_options(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text("abilities:\n  A: [a, b]\n  B: ['c*']\nlimits: {vif: 3}\nfloor: 1\n")
    spec = read_spec(file, anchor="human")
    assert (spec.anchor, spec.limits.vif, spec.limits.loading, spec.floor) == ("human", 3, 0.75, 1)
    file.write_text(spec.as_yaml())
    again = read_spec(file)
    assert again.model_dump() == spec.model_dump()
    assert (spec.inputs, again.inputs) == (("--spec", str(file), "--anchor", "human"), ("--spec", str(file)))
    other = apply_options(spec, PruneOptions(anchor="people", loading_min=0.5, floor=3))
    assert (other.anchor, other.limits.vif, other.limits.loading, other.floor) == ("people", 3, 0.5, 3)
    assert apply_options(spec, FactorOptions()) == spec
    file.write_text("abilities: [a]\n")
    with pytest.raises(ConfigError, match=r"spec\.yaml: abilities: they are"):
        read_spec(file)


def test_a_small_file_that_names_a_long_list_many_times_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    names = ", ".join("a" for _ in range(10_000))
    file.write_text(f"x: &x [{names}]\nabilities: {{{', '.join(f'k{number}: *x' for number in range(4_000))}}}\n")
    with pytest.raises(ConfigError, match=r"abilities: they are 1 to 50 names|Unknown key"):
        read_spec(file)
