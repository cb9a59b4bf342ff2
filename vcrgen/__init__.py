"""vcrgen: build and score Visual Caption Restoration data.

The names below are loaded when they are first used, so that ``import vcrgen`` is instant and the scorer needs nothing
of what the builder needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.builder.run import BuildResult, build
    from vcrgen.builder.transform import VCRTransform
    from vcrgen.config import BuildConfig
    from vcrgen.errors import VcrgenError
    from vcrgen.scorer.api import match_span, match_spans
    from vcrgen.scorer.run import score

__all__ = ["BuildConfig", "BuildResult", "VCRTransform", "VcrgenError", "build", "match_span", "match_spans", "score"]

_HOMES = {
    "BuildConfig": "vcrgen.config",
    "BuildResult": "vcrgen.builder.run",
    "VCRTransform": "vcrgen.builder.transform",
    "VcrgenError": "vcrgen.errors",
    "build": "vcrgen.builder.run",
    "match_span": "vcrgen.scorer.api",
    "match_spans": "vcrgen.scorer.api",
    "score": "vcrgen.scorer.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
