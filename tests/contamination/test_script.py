"""A smaller run of what docs/contamination.md says was measured."""

from typing import Any

import numpy as np
import pytest

from tests.loading import load_script


@pytest.fixture(scope="module")
def script() -> Any:
    return load_script("measure_contamination")


@pytest.mark.parametrize(("chance", "correlation"), [(0.1, 0.0), (0.6, 0.3)])
def test_clean_models_are_suspected_as_often_as_is_said(script: Any, chance: float, correlation: float) -> None:
    """Of 500 each; 2.5 % are to be expected, and three standard errors are 2.1."""
    assert max(script.rates(np.random.default_rng(1), 500, 60, chance, correlation, 0.0)) <= 4.6


def test_models_that_know_items_are_found(script: Any) -> None:
    fresh, less, redrawn, none = script.rates(np.random.default_rng(1), 500, 100, 0.3, 0.3, 0.2)
    assert 40 < fresh < redrawn and redrawn > 65 and max(less, none) < 0.5
