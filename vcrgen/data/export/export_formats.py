"""The export formats, one row each: option texts, messages and tests follow from these tables.

To add a format of datasets: a module in ``export/`` with its function, its row here, and the text of its README in the
folder ``templates``. The command line reads this module for its help, so it imports nothing heavy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A format that another tool reads."""

    name: str  # as ``--to`` gives it
    write: str  # ``module:function`` that writes VCR data: (ExportJob, folder) -> text of the README
    # ``module:function`` that writes one split of an MCQ benchmark in one language, (dataset, language, folder, name)
    # -> rows written; None for programs that train on VCR only.
    write_mcq: str | None = None


_ROWS = (
    ExportFormat(
        name="vlmevalkit",
        write="vcrgen.data.export.vlmevalkit:write_vlmevalkit",
        write_mcq="vcrgen.data.export.mcq:write_vlmevalkit",
    ),
    ExportFormat(
        name="lmms-eval",
        write="vcrgen.data.export.lmms_eval:write_lmms_eval",
        write_mcq="vcrgen.data.export.mcq:write_lmms_eval",
    ),
    ExportFormat(name="trl", write="vcrgen.data.export.trainers:write_trl"),
    ExportFormat(name="verl", write="vcrgen.data.export.trainers:write_verl"),
    ExportFormat(name="swift", write="vcrgen.data.export.trainers:write_swift"),
    ExportFormat(name="llamafactory", write="vcrgen.data.export.trainers:write_llamafactory"),
    ExportFormat(name="axolotl", write="vcrgen.data.export.trainers:write_axolotl"),
)

EXPORT_FORMATS: Mapping[str, ExportFormat] = MappingProxyType({row.name: row for row in _ROWS})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A form in which one file tells of a dataset, or of saved scores."""

    name: str  # as ``--to`` gives it
    ending: str  # of the default output: its name after that of the source
    options: tuple[str, ...]  # the options of `vcrgen export` that it takes, beside ``--out``


_FILE_ROWS = (
    FileFormat(name="croissant", ending="-croissant.json", options=("base", "rai")),
    FileFormat(name="hub", ending="-hub.yaml", options=("dataset", "url")),
    FileFormat(
        name="every-eval-ever",
        ending="-every-eval-ever",
        options=("dataset", "url", "model", "organization", "relationship"),
    ),
)

FILE_FORMATS: Mapping[str, FileFormat] = MappingProxyType({row.name: row for row in _FILE_ROWS})
