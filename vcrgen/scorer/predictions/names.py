"""Facts in the name of a file of outputs, where VLMEvalKit or lmms-eval named it after the task.

VLMEvalKit calls a file MODEL_TASK, and lmms-eval MODEL/DATE_samples_TASK:

    GPT4o_VCR_EN_HARD_TEI_test_1a2b3c4d_openended.xlsx          of an exported dataset
    GPT4o_VCR_EN_EASY_500.xlsx                                  of VLMEvalKit's own, which show VI+TEI
    llava/20260131_120000_samples_vcr_en_hard_test_tei.jsonl    of an exported dataset
    llava/20260131_120000_samples_vcr_wiki_zh_easy_100.jsonl    of lmms-eval's own, which show VI+TEI
"""

import re
from dataclasses import dataclass
from pathlib import Path

from vcrgen.data.views import View

_VLMEVALKIT = re.compile(
    r"(?P<model>.*?)_?VCR_[A-Z]{2,3}_(?P<mode>EASY|HARD|INK-0\.\d\d|BITS-\d+)(?P<tei>_TEI)?(?:_.*)?"
)
# After the split of an exported dataset, which may itself be called `tei`.
_LMMS_EVAL = re.compile(
    r"(?P<before>.*?)_?vcr_(?P<wiki>wiki_)?[a-z]{2,3}_(?P<mode>easy|hard|ink-0\.\d\d|bits-\d+)(?(wiki)(?:_\d+)?|_.+?(?P<tei>_tei)?)"
)
_SAMPLES = re.compile(r"[0-9_T.-]*_?samples")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskName:
    """Facts in a file's name about all of its outputs; None where it does not say."""

    model: str | None = None
    view: View | None = None
    mode: str | None = None  # `easy`, `hard` or a level


def read_vlmevalkit_name(file: Path) -> TaskName:
    """Of a table that VLMEvalKit wrote."""
    match = _VLMEVALKIT.fullmatch(file.stem)
    return _task(match, match["model"]) if match else TaskName()


def read_lmms_eval_name(file: Path) -> TaskName:
    """Of a log that lmms-eval wrote; it puts the logs of a model into a folder."""
    match = _LMMS_EVAL.fullmatch(file.stem)
    if match is None:
        return TaskName()
    return _task(match, file.parent.name if _SAMPLES.fullmatch(match["before"]) else match["before"])


def _task(match: re.Match[str], model: str) -> TaskName:
    view = View.TEI if match["tei"] else View.STACKED
    return TaskName(model=model or None, view=view, mode=match["mode"].lower())
