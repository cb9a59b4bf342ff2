"""Facts of vcrgen about its datasets for ``croissant.json``: purpose, limits, origin and the steps that made them.

Fields that only the publisher can fill, as an address or biases of the pictures, are left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vcrgen.dataset.croissant import RecordTable, describe
from vcrgen.dataset.manifest import DATA_FOLDER, Manifest
from vcrgen.dataset.schema import IMAGE, STRING, DatasetKind
from vcrgen.dataset.tables import METADATA
from vcrgen.plurals import pluralize
from vcrgen.reading import without_marks
from vcrgen.tasks.bloom import level_note, question_kind
from vcrgen.tasks.vcr import VCR
from vcrgen.text.languages import LANGUAGES

PARQUET = "application/x-parquet"
BUILT_IN = ("built-in pairs", "the built-in scenes of vcrgen")  # the sources of datasets that vcrgen draws itself
VCR_USES = (
    "Evaluate or train vision-language models on Visual Caption Restoration: recover the masked spans of a caption "
    "from the picture, the visible rest of the caption, and what the covers leave of the letters."
)
MCQ_USES = (
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


def croissant_of(manifest: Manifest, *, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return the Croissant description of a finished dataset.

    Args:
        manifest: The dataset's manifest.
        columns: Optional columns that its rows have.
    """
    if manifest.task is None:
        tables = [_table(mode, mode, VCR, columns) for mode in manifest.modes]
        about = _vcr_facts(manifest)
    else:
        tables = [_table("default", DATA_FOLDER, question_kind(manifest.languages), columns)]
        about = _mcq_facts(manifest)
    return describe(tables, manifest.splits, about | _common_facts(manifest))


def croissant_of_public(manifest: Mapping[str, Any], rows: Mapping[str, Any], sha256: str) -> dict[str, Any]:
    """Return the Croissant description of the public part of a hidden set, without anything of its key.

    Args:
        manifest: The content of the public part's ``manifest.json``.
        rows: Type of each column of its questions, and the description.
        sha256: Of its questions, in hex.
    """
    mcq = manifest.get("task") is not None
    what = "an MCQ benchmark by Bloom's levels" if mcq else "Visual Caption Restoration"
    columns = {"file_name": (STRING, "name of the file"), "image": (IMAGE, "the image")}
    folders = [
        RecordTable(name=view, files=f"{view}/*.png", media="image/png", columns=columns) for view in manifest["views"]
    ]
    table = RecordTable(name="questions", files=METADATA, media="application/jsonlines", columns=rows, sha256=sha256)
    about = {
        "name": f"Hidden test set of {what}",
        "description": f"{pluralize(manifest['items'], 'item')} of {what}. The answers are kept secret.",
        "rai:dataUseCases": (
            f"{MCQ_USES if mcq else VCR_USES} Outputs are scored by whoever keeps the answers. Keep these files out of "
            f"training data. {manifest['canary']}"
        ),
        "rai:dataLimitations": "Only whoever keeps the answers can score outputs.",
        "rai:dataSocialImpact": _IMPACT,
        "prov:wasGeneratedBy": f"vcrgen hidden. Commitment to the answers (SHA-256): {manifest['commitment']}.",
    }
    return describe([table, *folders], (), about)


def _table(name: str, folder: str, kind: DatasetKind, columns: Sequence[str]) -> RecordTable:
    features = {**kind.features, **{column: kind.optional_features[column][0] for column in columns}}
    notes = {**kind.descriptions, **{column: kind.optional_features[column][1] for column in columns}}
    # The end is optional, since mlcroissant also applies the expression to its own result.
    split = rf"^(?:.*{folder}/)?([^/]+?)(?:-[0-9]+-of-[0-9]+\.parquet)?$"
    described = {column: (feature, notes[column]) for column, feature in features.items()}
    return RecordTable(name=name, files=f"{folder}/*.parquet", media=PARQUET, columns=described, split=split)


def _vcr_facts(manifest: Manifest) -> dict[str, Any]:
    language = LANGUAGES[manifest.config["lang"]].name
    rows_only = manifest.config.get("cover", "rows") == "rows"
    return {
        "name": f"VCR {language} ({', '.join(manifest.modes)})",
        "description": f"Visual Caption Restoration in {language}: pictures whose captions stand below them, with "
        "covers over some texts. Each configuration is a mode, that is, how much the covers hide.",
        "license": manifest.config.get("source_license"),
        "rai:hasSyntheticData": _synthetic(manifest, "Strips of captions and the covers over them are rendered."),
        "rai:dataUseCases": VCR_USES,
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
        "rai:dataUseCases": MCQ_USES,
        "rai:dataLimitations": " ".join(filter(None, (_limits(manifest), level_note(manifest.signature.facts)))),
        "rai:personalSensitiveInformation": "vcrgen does not look for persons in pictures or questions.",
    }


def _common_facts(manifest: Manifest) -> dict[str, Any]:
    return {
        "rai:dataSocialImpact": _IMPACT,
        "rai:dataBiases": _DRAWN_BIASES if manifest.source in BUILT_IN else None,
        "prov:wasDerivedFrom": without_marks(manifest.source),
        "prov:wasGeneratedBy": f"vcrgen. Signature: {manifest.signature}. Fingerprint: {manifest.fingerprint}.",
        "rai:dataPreprocessingProtocol": [f"{name}: {_format_value(value)}" for name, value in manifest.config.items()],
    }


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "not set" if value is None else str(value)


def _synthetic(manifest: Manifest, rest: str) -> str:
    drawn = "Yes: vcrgen drew the pictures and wrote the texts."
    others = "In part: pictures and texts are those of the source, about which vcrgen knows nothing."
    return f"{drawn if manifest.source in BUILT_IN else others} {rest}"


def _limits(manifest: Manifest) -> str:
    rejected: Mapping[str, int] = manifest.rejected
    why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(rejected.items()))
    return (
        f"{manifest.pairs:,} of {pluralize(manifest.read, 'source row')} are left; the others were rejected ({why})."
        if rejected
        else f"All {pluralize(manifest.read, 'source row')} are left."
    )
