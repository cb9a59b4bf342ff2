"""Packages load their public names when they are first used, and list them."""

import importlib
import types

import pytest


@pytest.mark.parametrize("package", ["vcrgen", "vcrgen.analysis", "vcrgen.scorer", "vcrgen.builder.stream"])
def test_public_names(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert not isinstance(getattr(module, name), types.ModuleType), name
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018
