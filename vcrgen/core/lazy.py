"""Public names of a package that are loaded when they are first used, so that importing the package is instant."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def attach(package: str, names: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Its name, as in ``__name__``.
        names: The public names by the module that defines them, below ``vcrgen``.
    """
    homes = {name: module for module, defined in names.items() for name in defined}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"vcrgen.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes)
