"""What `vcrgen.analysis` gives: every name is what it says, and stays so when its module is loaded."""

import importlib
import types

import vcrgen.analysis


def test_every_name_is_loaded_and_none_is_a_module() -> None:
    for name in vcrgen.analysis.__all__:
        assert not isinstance(getattr(vcrgen.analysis, name), types.ModuleType), name
        home = importlib.import_module(f"vcrgen.analysis.{vcrgen.analysis._HOMES[name]}")
        assert getattr(vcrgen.analysis, name) is getattr(home, name)
    assert set(vcrgen.analysis.__all__) == set(vcrgen.analysis._HOMES)
