"""The power that the report names is that of the simulation, and it is the one of the nearest size below."""

import importlib.util
from pathlib import Path

import pytest

from vcrgen.analysis.items.analyse import analyse_items
from vcrgen.analysis.items.classical import item_statistics
from vcrgen.analysis.items.example import example_items
from vcrgen.analysis.items.items_report import items_document
from vcrgen.analysis.measured import WRONG_KEYS, found_wrong_keys


@pytest.mark.parametrize("models", [60, 500])
def test_the_stored_numbers_are_those_of_the_simulation(models: int) -> None:
    script = Path(__file__).resolve().parents[3] / "scripts" / "measure_items.py"
    specification = importlib.util.spec_from_file_location("measure_items", script)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = others = 0
    for seed in range(10):
        table, wrong = module.with_wrong_keys(models, seed)
        listed = set(item_statistics(table).negative.tolist())
        found, others = found + len(listed & wrong), others + len(listed - wrong)
    assert (found, others) == (WRONG_KEYS[models], 0)


@pytest.mark.parametrize(("models", "size"), [(5, 20), (20, 20), (59, 30), (60, 60), (5000, 500)])
def test_the_size_is_the_nearest_below(models: int, size: int) -> None:
    assert found_wrong_keys(models) == (size, WRONG_KEYS[size])


def test_the_report_says_how_few_are_found() -> None:
    document = items_document(analyse_items(example_items(), resamples=100), settings="")
    (suspects,) = (section for section in document.sections if section.title == "Items to look at")
    assert any("with 60 models this finds 1 of 150 wrong keys" in sentence for sentence in suspects.text)
