"""Logs of Inspect AI (``.eval``), of the tasks of `vcrgen.scorer.inspect`; read by inspect_ai itself."""

from collections.abc import Iterator
from pathlib import Path

from vcrgen.core.errors import PredictionError
from vcrgen.core.extras import needs_extra
from vcrgen.core.reading import as_id, encodable
from vcrgen.data.tasks.bloom import MAX_OPTIONS
from vcrgen.data.views import View
from vcrgen.scorer.predictions.output import read_mode, read_output, read_view
from vcrgen.scorer.records import Prediction

_CUT = ("max_tokens", "model_length")  # reasons to stop at the model's limit of tokens


def read_inspect_log(file: Path) -> Iterator[Prediction]:
    """Yield the output of each sample that has one, in the order of the log.

    Raises:
        PredictionError: inspect_ai is not installed, the log is damaged, or it is of another task.
    """
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError:
        raise PredictionError(needs_extra(f"{file}, a log of Inspect AI,", "inspect")) from None
    try:
        header = read_eval_log(str(file), header_only=True)
        samples = read_eval_log_samples(str(file), all_samples_required=False)
        for sample in samples:
            place, metadata = f"sample {sample.id}", sample.metadata or {}
            question_id = as_id(metadata.get("question_id"))
            if question_id is None:
                raise PredictionError(f"{file}, {place}: no `question_id` in its metadata; is it a log of vcrgen/vcr?")
            if sample.error or not sample.output.choices:
                continue
            output, flaws = read_output(sample.output.completion, f"{file}, {place}")
            cut = ("truncated",) if sample.output.stop_reason in _CUT else ()
            rotation = metadata.get("rotation", 0)
            yield Prediction(
                place=place,
                question_id=question_id,
                view=read_view(metadata.get("view"), place) or View.STACKED,
                mode=read_mode(metadata.get("mode"), place),
                model=encodable(header.eval.model),
                output=output,
                flaws=(*flaws, *cut),
                lang=metadata.get("lang") if isinstance(metadata.get("options"), list) else None,
                rotation=rotation if type(rotation) is int and 0 <= rotation < MAX_OPTIONS else 0,
            )
    except PredictionError:
        raise
    except Exception as problem:  # a damaged zip or a log of another version raises anything
        raise PredictionError(f"{file} cannot be read as a log of Inspect AI: {type(problem).__name__}.") from None
