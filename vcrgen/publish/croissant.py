"""A dataset's ``croissant.json`` with what its publisher adds, by itself or merged into the one that the Hub makes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vcrgen.config.base import read_yaml
from vcrgen.dataset.croissant import CROISSANT, OWN_FIELDS, missing_fields, read_own_fields
from vcrgen.errors import ConfigError, DatasetError
from vcrgen.files import indented_json, write_new
from vcrgen.reading import read_json


def export_croissant(
    dataset: Path, out: Path, *, base: Path | None = None, fields: Path | None = None
) -> tuple[str, ...]:
    """Write a Croissant file, and return the core and RAI fields that it lacks.

    Args:
        dataset: A folder with ``croissant.json``: of a build, an MCQ benchmark, or the public part of a hidden set.
        out: The new file.
        base: The Croissant file that the Hub made of the dataset; what it says of files and records stays.
        fields: A YAML file of the publisher with fields of :data:`vcrgen.dataset.croissant.OWN_FIELDS`.

    Raises:
        ConfigError: A file is not of its form.
        DatasetError: The folder has no ``croissant.json``.
        OutputError: The file is there, or cannot be written.
    """
    own = read_own_fields(read_yaml(fields), str(fields)) if fields else {}
    if not (dataset / CROISSANT).is_file():
        raise DatasetError(
            f"{dataset} has no {CROISSANT}: give a dataset that vcrgen built, or the public part of a hidden set."
        )
    document = _read(dataset / CROISSANT)
    if base:
        document = _merge(_read(base), document)
    document |= own
    write_new(out, indented_json(document))
    return missing_fields(document)


def _merge(base: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return a base with the fields that it lacks, the terms that they need, and all versions that both conform to."""
    added = {name: ours[name] for name in OWN_FIELDS if name in ours and name not in base}
    listed = [_as_list(document.get("conformsTo")) for document in (base, ours)]
    conforms = dict.fromkeys(str(version) for versions in listed for version in versions)
    if any("croissant/1.1" in version for version in listed[0]) or not listed[0]:
        versions = list(conforms)
    else:  # the base's own version, and RAI
        versions = [version for version in conforms if version in listed[0] or "RAI" in version]
    return {**base, **added, "@context": {**base["@context"], **_terms(ours)}, "conformsTo": versions}


def _terms(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document["@context"][name] for name in ("rai", "prov")}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read(file: Path) -> dict[str, Any]:
    document = read_json(file, ConfigError)
    if not isinstance(document, dict) or not isinstance(document.get("@context"), dict):
        raise ConfigError(f"{file} is no Croissant file: it is not one JSON object with an @context.")
    return document
