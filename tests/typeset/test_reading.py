"""Spans that are not covered show their labels: a small run of scripts/measure_reading.py."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_reading.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure_reading", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("lang", ["zh", "ja", "ko"])
def test_spans_are_drawn_as_labelled(script: ModuleType, lang: str) -> None:
    pipeline = Pipeline(BuildConfig(source="samples", lang=lang))
    parts = [part for span in script.parts(pipeline, lang, 16) for part in span]
    assert len(parts) >= 16
    for text, pixels in parts:
        assert script.by_pillow(text, pixels, pipeline.style) == text
        assert script.by_pillow(text, np.roll(pixels, 3, axis=1), pipeline.style) != text
