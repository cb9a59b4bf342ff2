"""Sample sizes are those of simulations, which small ones repeat, and nothing beyond them is said."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.loading import load_script
from vcrgen.analysis.sample_size import COLUMNS, SizeCurve, curves, measured
from vcrgen.analysis.sample_size_report import sample_size_document
from vcrgen.cli import app
from vcrgen.config.analysis import SampleSizeOptions
from vcrgen.errors import AnalysisError

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def simulation() -> Any:
    return load_script("measure_sample_size")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["sample-size", *words], env={"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("images", "accuracy", "points", "alike"), [(200, 70, 10, 0.5), (500, 90, 5, 0.8), (1000, 50, 5, 0.0)]
)
def test_power_is_that_of_the_simulation(
    simulation: Any, images: int, accuracy: int, points: int, alike: float
) -> None:
    (stored,) = curves("difference", accuracy=accuracy, difference=points, alike=alike)
    power = stored.values[stored.images.index(images)]
    again = simulation.power(images, accuracy / 100, points / 100, alike, 200)
    assert abs(again - power) < 4 * math.sqrt(0.25 / 200)


def test_widths_of_people_are_those_of_the_simulation(simulation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from vcrgen.stats import two_way

    monkeypatch.setattr(two_way, "_variance", simulation.measure_study.endless)
    (stored,) = curves("human", accuracy=85, raters=5)
    middle = simulation.measure_study.intercept(0.85, math.hypot(*simulation.SPREADS))
    again = 100 * simulation.human_width(5, 50, middle, 12)
    assert abs(again / stored.values[stored.images.index(50)] - 1) < 0.25


def test_everything_is_measured_once_and_grows_as_it_should() -> None:
    for question, names in (
        ("difference", {"accuracy", "alike", "difference"}),
        ("threshold", {"levels", "scale"}),
        ("human", {"accuracy", "raters"}),
    ):
        found = measured(question)
        assert found and names <= set(COLUMNS)
        for curve in found:
            assert set(curve.setting) == names and list(curve.images) == sorted(set(curve.images))
            first, last = curve.values[0], curve.values[-1]
            assert last > first if question == "difference" else last < first
        for name in names:
            assert len({curve.setting[name] for curve in found}) > 1


def test_needed_images_lie_between_measured_ones() -> None:
    power = SizeCurve({}, (100, 200, 400), (0.2, 0.6, 0.95))
    assert [power.needed(of, is_power=True) for of in (0.2, 0.6, 0.95, 0.96)] == [100, 200, 400, None]
    assert 200 < (power.needed(0.8, is_power=True) or 0) < 400
    width = SizeCurve({}, (10, 40, 160), (8.0, 4.0, 2.0))  # falls with the root of the number
    assert [width.needed(of, is_power=False) for of in (9.0, 8.0, 4.0, 2.0, 1.9)] == [10, 10, 40, 160, None]
    assert width.needed(4 * math.sqrt(2), is_power=False) == 20
    shaky = SizeCurve({}, (100, 200, 400), (0.8, 0.7, 0.9))  # once enough is not enough, if more are too few
    assert 200 < (shaky.needed(0.8, is_power=True) or 0) <= 400


def test_values_that_were_not_measured_are_refused() -> None:
    for words, message in (
        (["--difference", "4"], "--difference 4 was not measured; measured are 1, 2, 3, 5, 10"),
        (["--difference", "3", "--accuracy", "71"], "--accuracy 71 was not measured"),
        (["--threshold", "2", "--levels", "7"], "--levels 7 was not measured; measured are 6, 10"),
        (["--threshold", "2", "--scale", "1"], "--scale 1 was not measured"),
        (["--human", "5", "--human-accuracy", "50"], "--human-accuracy 50 was not measured"),
        ([], "name what shall be reached"),
        (["--difference", "3", "--power", "0.99"], "power"),
        (["--human", "0"], "human"),
    ):
        result = run(*words)
        shown = " ".join(result.output.split())
        assert result.exit_code == 2 and shown.startswith("Error: ") and message in shown, shown


def test_what_takes_more_than_was_measured_says_so() -> None:
    document = sample_size_document(SampleSizeOptions(difference=1, power=0.9), settings="")
    assert "by more than 5,000 images, the most that were measured" in document.summary[0]
    document = sample_size_document(SampleSizeOptions(human=0.5), settings="")
    assert document.summary[0].endswith("in no case: ask more raters.")


def test_models_for_analyses() -> None:
    summary = sample_size_document(SampleSizeOptions(lost_tasks=5), settings="").summary
    assert summary == [
        "Pruning drops at most 5 % of good tasks (true loading .80) with 60 models.",
    ]
    summary = sample_size_document(SampleSizeOptions(lost_tasks=50), settings="").summary
    assert all("with at most 20 models" in sentence for sentence in summary)


def test_every_format(tmp_path: Path) -> None:
    words = ("--difference", "5", "--threshold", "2", "--human", "5")
    text = run(*words).output
    assert "A difference of 5 points between two models of about 70 % is found with a power of 0.8 by" in text
    assert "each shown at 10 levels" in text and "10 raters and" in text
    for suffix in ("html", "md", "csv", "tex", "json"):
        assert run(*words, "--out", str(tmp_path / f"plan.{suffix}")).exit_code == 0
    page = (tmp_path / "plan.html").read_text("utf-8")
    assert page.count('<svg class="ln"') == 3 and "<details>" in page


def test_an_unknown_setting_is_no_curve() -> None:
    with pytest.raises(AnalysisError, match="was not measured"):
        curves("human", raters=4)
