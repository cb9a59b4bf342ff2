"""vcrgen: build and score Visual Caption Restoration data.

The names below are loaded when they are first used, so that ``import vcrgen`` is instant and the scorer needs nothing
of what the builder needs.
"""

import logging
from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.builder.options import BuildConfig
    from vcrgen.builder.run import BuildResult, build
    from vcrgen.builder.transform import VCRTransform
    from vcrgen.core.errors import VcrgenError
    from vcrgen.scorer.api import match_image, match_span, match_spans
    from vcrgen.scorer.run import score

logging.getLogger("vcrgen").addHandler(logging.NullHandler())  # silent until a program that imports it asks

__all__ = [
    "BuildConfig",
    "BuildResult",
    "VCRTransform",
    "VcrgenError",
    "build",
    "match_image",
    "match_span",
    "match_spans",
    "score",
]


__getattr__, __dir__ = attach(
    __name__,
    {
        "builder.run": ["BuildResult", "build"],
        "builder.transform": ["VCRTransform"],
        "builder.options": ["BuildConfig"],
        "core.errors": ["VcrgenError"],
        "scorer.api": ["match_image", "match_span", "match_spans"],
        "scorer.run": ["score"],
    },
)
