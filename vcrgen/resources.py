"""Where the files are that ship with the package: ``fonts/`` and ``configs/``."""

from pathlib import Path

from vcrgen.errors import VcrgenError

PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder ``name``: inside an installed package, or at the top of a checkout.

    Raises:
        VcrgenError: It is in neither place, so the installation is damaged.
    """
    for candidate in (PACKAGE / "_resources" / name, PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise VcrgenError(f"The folder {name}/ of vcrgen is missing; install the package again.")
