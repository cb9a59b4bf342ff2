"""``vcrgen --version --verbose``: what decides bytes here, to paste into a report of a fault."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version

from vcrgen.builder.shards import SIGNED_PACKAGES, environment
from vcrgen.core.extras import EXTRAS, extra_packages


def version_lines() -> Iterator[str]:
    """Yield what the fingerprint of a build holds, Python and platform, trained pipelines of spaCy, and the extras."""
    facts = environment()
    for name, number in facts["versions"].items():
        yield f"{name} {number}"
    for name in SIGNED_PACKAGES:
        yield _installed(name)
    yield f"freetype {facts['freetype']}"
    for name, number in facts["codecs"].items():
        yield f"{name} {number or 'missing'}"
    yield f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    for entry in sorted(entry_points(group="spacy_models"), key=lambda entry: entry.name):
        yield _installed(entry.name)
    for extra in EXTRAS:
        yield f"extra {extra}: {', '.join(map(_installed, extra_packages(extra)))}"


def _installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"
