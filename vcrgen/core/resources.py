"""Resources that ship with the package: the folders ``fonts/`` and ``configs/``, and objects named in tables."""

from importlib import import_module
from pathlib import Path
from typing import Any

from vcrgen.core.errors import VcrgenError

PACKAGE = Path(__file__).resolve().parents[1]


def resource_dir(name: str) -> Path:
    """Find the folder ``name``: inside an installed package, or at the top of a checkout.

    Raises:
        VcrgenError: It is in neither place, so the installation is damaged.
    """
    for candidate in (PACKAGE / "_resources" / name, PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise VcrgenError(f"The folder {name}/ of vcrgen is missing; install the package again.")


def load_object(name: str) -> Any:
    """Import ``module:attribute``, as rows of tables name what is heavy to import."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
