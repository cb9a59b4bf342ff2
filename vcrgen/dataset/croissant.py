"""Descriptions of datasets in Croissant 1.1 with RAI 1.0: ``croissant.json``, which mlcroissant loads.

Sources: the specifications of MLCommons, ``http://mlcommons.org/croissant/1.1`` and ``.../croissant/RAI/1.0``. NeurIPS
2026 asks for the eight fields of :data:`RAI_FIELDS`.

vcrgen knows some of them; the rest are of whoever publishes the dataset, in a YAML file of :data:`OWN_FIELDS`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vcrgen.dataset.schema import FLOAT, IMAGE, INT, STRING
from vcrgen.errors import ConfigError
from vcrgen.reading import without_marks

CROISSANT = "croissant.json"
CORE_FIELDS = ("name", "description", "url", "license", "creator", "datePublished", "version", "citeAs")
RAI_FIELDS = (
    "rai:hasSyntheticData",
    "rai:dataUseCases",
    "rai:dataLimitations",
    "rai:dataBiases",
    "rai:personalSensitiveInformation",
    "rai:dataSocialImpact",
    "prov:wasDerivedFrom",
    "prov:wasGeneratedBy",
)
FURTHER_FIELDS = ("rai:dataCollection", "rai:dataPreprocessingProtocol", "rai:dataReleaseMaintenancePlan")
OWN_FIELDS = (*CORE_FIELDS, *RAI_FIELDS, *FURTHER_FIELDS)
_MAX_TEXT = 20_000
_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "float32": "sc:Float"}
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet format "
    "includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTable:
    """Rows of one kind: a configuration of a dataset, the questions of a hidden set, or images in a folder.

    Attributes:
        name: Of the configuration, such as ``easy``.
        files: Pattern of the paths, such as ``easy/*.parquet``; with a digest the path of the one file.
        media: Media type of the files.
        columns: Type, as in :mod:`vcrgen.dataset.schema`, and description of each column.
        split: Regular expression whose group is the split in a path; empty if there are no splits.
        sha256: Of the one file, in hex; empty for a pattern.
    """

    name: str
    files: str
    media: str
    columns: Mapping[str, tuple[Any, str]]
    split: str = ""
    sha256: str = ""

    @property
    def distribution(self) -> dict[str, Any]:
        """Return the files as an entry of ``distribution``."""
        if not self.sha256:
            return {"@type": "cr:FileSet", **self._id, "includes": self.files, "encodingFormat": self.media}
        place = {"contentUrl": self.files, "sha256": self.sha256}
        return {"@type": "cr:FileObject", **self._id, "name": self.files, "encodingFormat": self.media, **place}

    @property
    def source(self) -> dict[str, Any]:
        """Return the reference of a field to the files."""
        return {"fileObject" if self.sha256 else "fileSet": self._id}

    @property
    def _id(self) -> dict[str, str]:
        return {"@id": f"{self.name}-files"}


def describe(tables: Sequence[RecordTable], splits: Sequence[str], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``croissant.json``.

    Args:
        tables: The configurations.
        splits: Names of the splits, which the tables refer to.
        about: Some of :data:`OWN_FIELDS`; unknown and empty ones are left out.
    """
    known = [_split_records(splits)] if any(table.split for table in tables) else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        **{name: about[name] for name in OWN_FIELDS if about.get(name) not in (None, "")},
        "distribution": [table.distribution for table in tables],
        "recordSet": [*known, *(_records(table) for table in tables)],
    }


def read_own_fields(values: Any, where: str) -> dict[str, Any]:
    """Return the fields of a YAML or JSON file that the publisher of a dataset wrote, checked.

    Raises:
        ConfigError: It is no table of names and texts, or has a field that Croissant files of datasets do not have.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where} has to hold fields and texts, as `rai:dataBiases: Captions are in English only.`")
    known = {name.rpartition(":")[2]: name for name in OWN_FIELDS}
    fields = {}
    for name, value in values.items():
        field = known.get(str(name).rpartition(":")[2]) if str(name) in {*known, *OWN_FIELDS} else None
        if field is None:
            raise ConfigError(f"{where} has the unknown field {str(name)[:80]!r}; known: {', '.join(OWN_FIELDS)}.")
        if not isinstance(value, str | bool | list | dict) or len(str(value)) > _MAX_TEXT:
            raise ConfigError(f"{where}: {field} has to be a text of at most {_MAX_TEXT:,} characters.")
        fields[field] = value
    return fields


def missing_fields(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the core and RAI fields that a description lacks."""
    return tuple(name for name in (*CORE_FIELDS, *RAI_FIELDS) if name not in document)


def _split_records(splits: Sequence[str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [{"@type": "cr:Field", "@id": "splits/name", "name": "name", "dataType": "sc:Text"}],
        "data": [{"splits/name": split} for split in splits],
    }


def _records(table: RecordTable) -> dict[str, Any]:
    fields = [_field(table, name, *column) for name, column in table.columns.items() if _is_flat(column[0])]
    if table.split:
        source = {**table.source, "extract": {"fileProperty": "fullpath"}, "transform": {"regex": table.split}}
        where = {"@id": f"{table.name}/split", "name": "split", "description": "the split, from the file's name"}
        fields.append(
            {
                "@type": "cr:Field",
                **where,
                "dataType": "sc:Text",
                "source": source,
                "references": {"field": {"@id": "splits/name"}},
            }
        )
    return {"@type": "cr:RecordSet", "@id": table.name, "name": table.name, "field": fields}


def _is_flat(feature: Any) -> bool:
    """Return whether a column is a value or a list of values; records within records are left out."""
    feature = feature[0] if isinstance(feature, list) else feature
    return feature in (STRING, INT, FLOAT, IMAGE)


def _field(table: RecordTable, name: str, feature: Any, note: str) -> dict[str, Any]:
    many = isinstance(feature, list)
    feature = feature[0] if many else feature
    if table.media.startswith("image/"):  # the files are the values
        source = {**table.source, "extract": {"fileProperty": "content" if feature == IMAGE else "filename"}}
    else:
        source = {**table.source, "extract": {"column": name}}
        source |= {"transform": {"jsonPath": "bytes"}} if feature == IMAGE else {}
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{name}",
        "name": name,
        "description": re.sub(r"\s+", " ", without_marks(note)),
        "dataType": "sc:ImageObject" if feature == IMAGE else _TYPES[feature["dtype"]],
        **({"isArray": True, "arrayShape": "-1"} if many else {}),
        "source": source,
    }
