"""Scripts of this repository as modules."""

import importlib
import sys
from pathlib import Path
from typing import Any
from unittest import mock

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def load_script(name: str) -> Any:
    """Import ``scripts/NAME.py``, which may import its neighbours."""
    with mock.patch.object(sys, "path", [str(SCRIPTS), *sys.path]):
        return importlib.import_module(name)
