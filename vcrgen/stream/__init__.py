"""Training data without storing it: VCR examples made while a model trains.

The names below are loaded when they are first used: ``VCRStream`` imports torch where it is installed, to be a dataset
of it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.stream.chat import answer_text, collate, messages
    from vcrgen.stream.stream import VCRStream

__all__ = ["VCRStream", "answer_text", "collate", "messages"]

_HOMES = {name: "vcrgen.stream.stream" if name == "VCRStream" else "vcrgen.stream.chat" for name in __all__}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen.stream' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
