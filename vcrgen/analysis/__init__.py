"""Analyses of a benchmark: which tasks and items tell the same story twice, and how sure is that?

    tables -> checks -> correlations -> map | factors | prune -> resampling -> report
    items  -> statistics of items, shorter sets              -> report

Scores of models go in, numbers with their intervals come out. Nothing here knows how a model was run, and no room but
the command line imports this one. The names below are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.analysis.document import Document, render

_HOMES = {"Document": "document", "render": "document"}
__all__ = ["Document", "render"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen.analysis' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vcrgen.analysis.{_HOMES[name]}"), name)
