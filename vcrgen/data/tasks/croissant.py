"""Descriptions of datasets in Croissant 1.1 with RAI 1.0: ``croissant.json``, which mlcroissant loads.

Sources: the specifications of MLCommons, ``http://mlcommons.org/croissant/1.1`` and ``.../croissant/RAI/1.0``. NeurIPS
2026 asks for the eight fields of `RAI_FIELDS`.

Every build writes what vcrgen knows: files, columns, purpose, limits, origin and the steps that made the dataset. What
only its publisher knows, as an address or biases of the pictures, `export_croissant` adds from a YAML file of
`OWN_FIELDS`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.files import indented_json, write_new
from vcrgen.core.options import read_yaml
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import read_json, without_marks
from vcrgen.data.manifest import DATA_FOLDER, Manifest
from vcrgen.data.schema import FLOAT, IMAGE, INT, STRING, DatasetKind
from vcrgen.data.tables import METADATA
from vcrgen.data.tasks.bloom import level_note, question_kind
from vcrgen.data.tasks.vcr import VCR
from vcrgen.text.languages import LANGUAGES

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
_PARQUET = "application/x-parquet"
_BUILT_IN = ("built-in pairs", "the built-in scenes of vcrgen")  # the sources of datasets that vcrgen draws itself
_VCR_USES = (
    "Evaluate or train vision-language models on Visual Caption Restoration: recover the masked spans of a caption "
    "from the picture, the visible rest of the caption, and what the covers leave of the letters."
)
_MCQ_USES = (
    "Evaluate vision-language models by multiple-choice questions about pictures, in categories of Bloom's taxonomy."
)
_SETTLED = (
    "Covers of the kind `rows` are settled by pixels: a program that compares rendered words with the visible pixels "
    "restores nearly every span. A score on them does not show reading in context."
)
_IMPACT = (
    "Scores tell how well a model does on these rows, not how well it understands pictures or texts in general. Rows "
    "that are published may become training data, after which scores on them say less."
)
_DRAWN_BIASES = (
    "Pictures are simple drawings of few kinds of things, and captions follow few patterns in the language's plain "
    "form. They are no sample of photographs, of people, or of how people write."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordTable:
    """Rows of one kind: a configuration of a dataset, the questions of a hidden set, or images in a folder.

    Attributes:
        name: Of the configuration, such as ``easy``.
        files: Pattern of the paths, such as ``easy/*.parquet``; with a digest the path of the one file.
        media: Media type of the files.
        columns: Type, as in `vcrgen.data.schema`, and description of each column.
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
        """Entry of ``distribution``: a set of files, or one file with its hash."""
        if not self.sha256:
            return {"@type": "cr:FileSet", **self._id, "includes": self.files, "encodingFormat": self.media}
        place = {"contentUrl": self.files, "sha256": self.sha256}
        return {"@type": "cr:FileObject", **self._id, "name": self.files, "encodingFormat": self.media, **place}

    @property
    def source(self) -> dict[str, Any]:
        """Reference of a field to the files."""
        return {"fileObject" if self.sha256 else "fileSet": self._id}

    @property
    def _id(self) -> dict[str, str]:
        return {"@id": f"{self.name}-files"}


def croissant_of(manifest: Manifest, *, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Describe a finished dataset in Croissant.

    Args:
        columns: Optional columns that its rows have.
    """
    if manifest.task is None:
        tables = [_table(mode, manifest.folder_pattern(mode), VCR, columns) for mode in manifest.modes]
        about = _vcr_facts(manifest)
    else:
        tables = [_table("default", DATA_FOLDER, question_kind(manifest.languages), columns)]
        about = _mcq_facts(manifest)
    return _describe(tables, manifest.splits, about | _common_facts(manifest))


def croissant_of_public(manifest: Mapping[str, Any], rows: Mapping[str, Any], sha256: str) -> dict[str, Any]:
    """Describe the public part of a hidden set in Croissant, without anything of its key.

    Args:
        manifest: The content of the public part's ``manifest.json``.
        rows: Type of each column of its questions, and the description.
        sha256: Of its questions, in hex.
    """
    mcq = manifest.get("task") is not None
    what = "an MCQ benchmark by Bloom's levels" if mcq else "Visual Caption Restoration"
    columns = {"file_name": (STRING, "name of the file"), "image": (IMAGE, "the image")}
    folders = [
        _RecordTable(name=view, files=f"{view}/*.png", media="image/png", columns=columns) for view in manifest["views"]
    ]
    table = _RecordTable(name="questions", files=METADATA, media="application/jsonlines", columns=rows, sha256=sha256)
    about = {
        "name": f"Hidden test set of {what}",
        "description": f"{pluralize(manifest['items'], 'item')} of {what}. The answers are kept secret.",
        "rai:dataUseCases": (
            f"{_MCQ_USES if mcq else _VCR_USES} Outputs are scored by whoever keeps the answers. Keep these files out "
            f"of training data. {manifest['canary']}"
        ),
        "rai:dataLimitations": "Only whoever keeps the answers can score outputs.",
        "rai:dataSocialImpact": _IMPACT,
        "prov:wasGeneratedBy": f"vcrgen hidden. Commitment to the answers (SHA-256): {manifest['commitment']}.",
    }
    return _describe([table, *folders], (), about)


def export_croissant(
    dataset: Path, out: Path, *, base: Path | None = None, fields: Path | None = None
) -> tuple[str, ...]:
    """Write a Croissant file, and return the core and RAI fields that it lacks.

    Args:
        dataset: A folder with ``croissant.json``: of a build, an MCQ benchmark, or the public part of a hidden set.
        base: The Croissant file that the Hub made of the dataset; what it says of files and records stays.
        fields: A YAML file of the publisher with fields of `OWN_FIELDS`.

    Raises:
        ConfigError: A file is not of its form.
        DatasetError: The folder has no ``croissant.json``.
        OutputError: The file is there, or cannot be written.
    """
    own = _read_own_fields(read_yaml(fields), str(fields)) if fields else {}
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


def _describe(tables: Sequence[_RecordTable], splits: Sequence[str], about: Mapping[str, Any]) -> dict[str, Any]:
    """Content of ``croissant.json``.

    Args:
        splits: Names of the splits, which the tables refer to.
        about: Some of `OWN_FIELDS`; unknown and empty ones are left out.
    """
    split_records = [_split_records(splits)] if any(table.split for table in tables) else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        **{name: about[name] for name in OWN_FIELDS if about.get(name) not in (None, "")},
        "distribution": [table.distribution for table in tables],
        "recordSet": [*split_records, *(_records(table) for table in tables)],
    }


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


def _records(table: _RecordTable) -> dict[str, Any]:
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


def _field(table: _RecordTable, name: str, feature: Any, note: str) -> dict[str, Any]:
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


def _table(name: str, folder: str, kind: DatasetKind, columns: Sequence[str]) -> _RecordTable:
    features = {**kind.features, **{column: kind.optional_features[column][0] for column in columns}}
    notes = {**kind.descriptions, **{column: kind.optional_features[column][1] for column in columns}}
    # The end is optional, since mlcroissant also applies the expression to its own result.
    below = folder.replace("*", "[0-9]+")
    split = rf"^(?:.*{below}/)?([^/]+?)(?:-[0-9]+-of-[0-9]+\.parquet)?$"
    described = {column: (feature, notes[column]) for column, feature in features.items()}
    return _RecordTable(name=name, files=f"{folder}/*.parquet", media=_PARQUET, columns=described, split=split)


def _vcr_facts(manifest: Manifest) -> dict[str, Any]:
    language = LANGUAGES[manifest.config["lang"]].name
    rows_only = manifest.config.get("cover", "rows") == "rows"
    return {
        "name": f"VCR {language} ({', '.join(manifest.modes)})",
        "description": f"Visual Caption Restoration in {language}: pictures whose captions stand below them, with "
        "covers over some texts. Each configuration is a mode, that is, how much the covers hide.",
        "license": manifest.config.get("source_license"),
        "rai:hasSyntheticData": _synthetic(manifest, "Strips of captions and the covers over them are rendered."),
        "rai:dataUseCases": _VCR_USES,
        "rai:dataLimitations": " ".join(filter(None, (_limits(manifest), _SETTLED if rows_only else ""))),
        "rai:personalSensitiveInformation": (
            "vcrgen keeps most names of persons, and words of a list of censored terms, out of the masked spans. It "
            "looks neither at the pictures nor at the rest of the captions."
        ),
    }


def _mcq_facts(manifest: Manifest) -> dict[str, Any]:
    languages = ", ".join(LANGUAGES[code].name if code in LANGUAGES else code for code in manifest.languages)
    return {
        "name": f"MCQ benchmark by Bloom's levels ({languages})",
        "description": f"Multiple-choice questions about pictures in {languages}, each in a category of Bloom's "
        "taxonomy.",
        "rai:hasSyntheticData": _synthetic(manifest, "The card says whether models wrote the questions."),
        "rai:dataUseCases": _MCQ_USES,
        "rai:dataLimitations": " ".join(filter(None, (_limits(manifest), level_note(manifest.signature.facts)))),
        "rai:personalSensitiveInformation": "vcrgen does not look for persons in pictures or questions.",
    }


def _common_facts(manifest: Manifest) -> dict[str, Any]:
    return {
        "rai:dataSocialImpact": _IMPACT,
        "rai:dataBiases": _DRAWN_BIASES if manifest.source in _BUILT_IN else None,
        "prov:wasDerivedFrom": without_marks(manifest.source),
        "prov:wasGeneratedBy": f"vcrgen. Signature: {manifest.signature}. Fingerprint: {manifest.fingerprint}.",
        "rai:dataPreprocessingProtocol": [f"{name}: {_format_value(value)}" for name, value in manifest.config.items()],
    }


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "not set" if value is None else str(value)


def _synthetic(manifest: Manifest, rest: str) -> str:
    drawn = "Yes: vcrgen drew the pictures and wrote the texts."
    others = "In part: pictures and texts are those of the source, about which vcrgen knows nothing."
    return f"{drawn if manifest.source in _BUILT_IN else others} {rest}"


def _limits(manifest: Manifest) -> str:
    rejected: Mapping[str, int] = manifest.rejected
    why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(rejected.items()))
    return (
        f"{manifest.pairs:,} of {pluralize(manifest.read, 'source row')} are left; the others were rejected ({why})."
        if rejected
        else f"All {pluralize(manifest.read, 'source row')} are left."
    )


def _read_own_fields(values: Any, where: str) -> dict[str, Any]:
    """Check the fields of a YAML or JSON file that the publisher of a dataset wrote.

    Raises:
        ConfigError: It is no table of names and texts, or has a field that Croissant files of datasets do not have.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where} has to hold fields and texts, as `rai:dataBiases: Captions are in English only.`")
    own_fields = {name.rpartition(":")[2]: name for name in OWN_FIELDS}
    fields = {}
    for name, value in values.items():
        field = own_fields.get(str(name).rpartition(":")[2]) if str(name) in {*own_fields, *OWN_FIELDS} else None
        if field is None:
            raise ConfigError(f"{where} has the unknown field {str(name)[:80]!r}; known: {', '.join(OWN_FIELDS)}.")
        if not isinstance(value, str | bool | list | dict) or len(str(value)) > _MAX_TEXT:
            raise ConfigError(f"{where}: {field} has to be a text of at most {_MAX_TEXT:,} characters.")
        fields[field] = value
    return fields


def missing_fields(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Core and RAI fields that a description lacks, which a publisher has to give."""
    return tuple(name for name in (*CORE_FIELDS, *RAI_FIELDS) if name not in document)


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
