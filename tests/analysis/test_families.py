"""Families by names, and how many independent models a table is worth."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vcrgen.analysis import EXAMPLES, make_map, map_document
from vcrgen.analysis.families import effective_families, effective_models, few_families, guess_families
from vcrgen.analysis.score_table import read_scores


@pytest.mark.parametrize(
    ("models", "families"),
    [
        (("Qwen/Qwen2-VL-7B", "Qwen2.5-VL-72B", "GPT-4o", "Molmo"), ("qwen", "qwen", "GPT-4o", "Molmo")),
        (
            ("LLaVA-v1.5-13B", "LLaVA-OneVision-7B", "LLaVA v1.6", "a 1", "b-2", "c_3"),
            ("llava",) * 3 + ("a 1", "b-2", "c_3"),
        ),
        (("InternVL2-8B", "Intern-XC", "InternVL 76B", "x", "y"), ("internvl", "Intern-XC", "internvl", "x", "y")),
        (("made 1", "made 2", "made 3", "other"), ("made 1", "made 2", "made 3", "other")),  # more than half of all
        (("7B", "13B", "GPT (2024-05-13)", "gpt-4"), ("7B", "13B", "gpt", "gpt")),
    ],
)
def test_a_family_is_what_stands_before_size_or_version(models: tuple[str, ...], families: tuple[str, ...]) -> None:
    assert guess_families(models) == families


def test_a_column_wins_and_the_option_takes_each_alone(tmp_path: Path) -> None:
    rows = ("A-1,3,4", "A-2,5,6", "B-1,7,8", "C-1,1,2")
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(("model,x,y", *rows)))
    guessed = read_scores([file])
    assert guessed.families == ("a", "a", "B-1", "C-1") and "--no-families" in guessed.notes[0]
    alone = read_scores([file], families=False)
    assert alone.families is None and not alone.notes and "--no-families" in alone.inputs
    file.write_text("\n".join(("model,x,y,family", *(f"{row},f{row[2]}" for row in rows))))
    assert read_scores([file]).families == ("f1", "f2", "f1", "f1")


def test_copies_of_a_model_are_worth_one() -> None:
    scores = np.random.default_rng(0).standard_normal((40, 6)).repeat(4, axis=0)
    assert effective_models(scores, np.arange(40).repeat(4)) == pytest.approx(40)
    assert effective_models(scores, None) == 160
    independent = np.random.default_rng(1).standard_normal((160, 6))
    assert 120 < effective_models(independent, np.arange(40).repeat(4)) <= 160


@pytest.mark.parametrize(("sizes", "worth"), [((5,) * 33, 33), ((60, *[3] * 35), 6), ((1, 1), 2), ((40, 1), 1)])
def test_families_of_unequal_size_are_worth_fewer(sizes: tuple[int, ...], worth: int) -> None:
    assert effective_families(np.array(sizes)) == worth


@pytest.mark.parametrize(
    ("families", "warning"),
    [
        (
            ("a",) * 19 + ("b",) * 19 + ("c",) * 19 + ("d", "e", "f"),
            "57 of 60 models are of 3 families (a, b, c). All models together count as 3 families",
        ),
        (("a",) * 57 + ("d", "e", "f"), "57 of 60 models are of 1 family (a). All models together count as 1 family "),
        (tuple(f"f{number % 5}" for number in range(60)), None),
        (("a",) * 20 + tuple(f"f{number}" for number in range(40)), None),  # worth 8
        (("a", "b", "c", "d"), None),  # each alone: that is few models, and no large family
        (None, None),
    ],
)
def test_a_warning_where_a_few_families_hold_nearly_all_models(
    families: tuple[str, ...] | None, warning: str | None
) -> None:
    sentences = few_families(families)
    assert len(sentences) == (warning is not None) and all(str(warning) in sentence for sentence in sentences)


def test_reports_have_the_warning() -> None:
    table = EXAMPLES["gold"].load()
    few = replace(table, families=("a",) * 15 + tuple(table.models[15:]))
    for families, is_warned in ((few, True), (table, False)):
        warnings = map_document(make_map(families, draws=100, progress=False), settings="").warnings
        assert any("15 of 20 models are of 1 family (a)" in warning for warning in warnings) == is_warned
