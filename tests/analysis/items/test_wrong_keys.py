"""The power that the report names is that of the simulation, and it is the one of the nearest size below."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.loading import load_script
from vcrgen.analysis.items.analyse import analyse_items
from vcrgen.analysis.items.classical import item_statistics, preferred_options
from vcrgen.analysis.items.example import example_items, named
from vcrgen.analysis.items.items_report import items_document
from vcrgen.analysis.items.read_items import read_items
from vcrgen.analysis.measured import WRONG_KEYS, found_wrong_keys


@pytest.mark.parametrize("models", [60, 500])
def test_the_stored_numbers_are_those_of_the_simulation(models: int) -> None:
    module = load_script("measure_items")
    found, others = [0, 0], 0
    for seed in range(10):
        table, wrong = module.with_wrong_keys(models, seed)
        preferred = preferred_options(table)
        assert preferred is not None
        by_options = {each.item for each in preferred}
        for number, listed in enumerate((set(item_statistics(table).negative.tolist()), by_options)):
            found[number] += len(listed & wrong)
            others += len(listed - wrong)
    assert (tuple(found), others) == (WRONG_KEYS[models], 0)


def test_a_preferred_option_is_told_by_those_who_chose_it_or_the_key() -> None:
    from scipy.stats import norm

    """r is NumPy's, of +1, 0 and -1 with the means over the other items; p-values are SciPy's, adjusted by its rule."""
    rng = np.random.default_rng(3)
    ability = rng.normal(size=80)
    solved = rng.random((80, 12)) < 1 / (1 + np.exp(-2 * ability[:, None]))
    choices = np.where(solved, 0, rng.integers(1, 3, solved.shape))
    scores = (choices == 0).astype(float)
    scores[:, 4] = choices[:, 4] == 2  # the key is a distractor
    scores[7, 2], choices[9, 3] = np.nan, -1
    table = replace(named(scores, source="x"), choices=choices, options=("A", "B", "C"))
    found = preferred_options(table)
    assert found is not None and [(each.item, each.option, each.key) for each in found] == [(4, 0, 2)]
    rest = np.array([np.nanmean(np.delete(row, 4)) for row in scores])
    r = np.corrcoef((choices[:, 4] == 0) * 1.0 - (choices[:, 4] == 2), rest)[0, 1]
    assert found[0].r == pytest.approx(r)
    assert found[0].adjusted == pytest.approx(24 * norm.sf(np.arctanh(r) * np.sqrt(77)), rel=1e-6)  # the least of 24


def test_a_key_that_nobody_chose_is_unknown() -> None:
    choices = np.zeros((30, 3), np.int64)
    choices[:, 1] = np.arange(30) % 2
    scores = np.column_stack([np.arange(30) > 14, np.zeros(30), np.arange(30) % 3 == 0]).astype(float)
    choices[:, 1] = np.arange(30) > 14
    found = preferred_options(replace(named(scores, source="x"), choices=choices, options=("A", "B")))
    assert found is not None and [(each.item, each.option, each.key) for each in found] == [(1, 1, -1)]


def test_tables_without_options_have_no_test_of_them() -> None:
    assert preferred_options(example_items()) is None


@pytest.mark.parametrize(("models", "size"), [(5, 20), (20, 20), (59, 30), (60, 60), (5000, 500)])
def test_the_size_is_the_nearest_below(models: int, size: int) -> None:
    assert found_wrong_keys(models) == (size, WRONG_KEYS[size])


def test_choices_of_a_long_table_are_read(tmp_path: Path) -> None:
    table, _ = load_script("measure_items").with_wrong_keys(60, 0)
    lines = ["model,item,score,choice"]
    lines += [
        f"{model},{item},{table.scores[m, i]:.0f},{'ABCD'[table.choices[m, i]]}"
        for m, model in enumerate(table.models)
        for i, item in enumerate(table.items)
    ]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    read = read_items([tmp_path / "x.csv"])
    ours, theirs = preferred_options(read), preferred_options(table)
    assert ours and theirs and [each.item for each in ours] == [each.item for each in theirs]
    document = items_document(analyse_items(read, resamples=100), settings="")
    (suspects,) = (section for section in document.sections if section.title == "Items to look at")
    assert any("the test of options finds 47 of 150 wrong keys" in sentence for sentence in suspects.text)
    (shown,) = (of for of in suspects.tables if of.title == "Options that better models prefer to the key")
    assert shown.rows[0][:3] == (read.items[ours[0].item], "B", "A")


def test_the_report_says_how_few_are_found() -> None:
    document = items_document(analyse_items(example_items(), resamples=100), settings="")
    (suspects,) = (section for section in document.sections if section.title == "Items to look at")
    assert any("with 60 models this finds 1 of 150 wrong keys" in sentence for sentence in suspects.text)
