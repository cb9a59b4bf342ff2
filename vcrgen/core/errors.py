"""Errors that the user can mend, one class for each subject.

A message states the problem, its place and the remedy. The command line prints it without a traceback and exits with
code 2; library callers catch `VcrgenError`.
"""

from vcrgen.core.records import RejectReason


class VcrgenError(Exception):
    """Base of all errors a user can cause and mend.

    Examples:
        >>> try:
        ...     score("outputs.jsonl", data="data/no-such")
        ... except VcrgenError as problem:
        ...     print(problem)
        data/no-such does not exist; name a dataset's folder, a Parquet file or a JSONL key.
    """


class ConfigError(VcrgenError):
    """An option, a combination of options, or a configuration file is wrong."""


class OptionError(ConfigError):
    """The value of an option is wrong; the sentence begins with its name and a colon."""

    option = ""  # what the command line calls it, such as `--width`; "" if it is no option there


class SourceError(VcrgenError):
    """The image-caption pairs cannot be read: missing file, unknown format, missing column."""


class NoPairsError(SourceError):
    """All pairs were read, and none of them can be used."""


class ShortcutError(VcrgenError):
    """The items of a made set can be answered without their pictures."""


class FontError(VcrgenError):
    """A font file is missing, damaged, or differs from its registered hash."""


class PipelineError(VcrgenError):
    """A text pipeline (spaCy, jieba) is not installed or lacks what is asked of it."""


class OutputError(VcrgenError):
    """The output folder cannot be written, or holds something else."""


class DatasetError(VcrgenError):
    """A folder is not a dataset that vcrgen wrote, or is damaged."""


class ManyDatasetsError(DatasetError):
    """A folder is not a dataset but holds several."""


class EngineError(VcrgenError):
    """An engine is not installed, a cluster cannot be reached, or its machines are not alike."""


class WorkerError(VcrgenError):
    """A worker process died; what it had finished is kept."""


class EndpointError(VcrgenError):
    """A server that answers for a model cannot be reached, or refuses."""


class OutOfPatience(EndpointError):
    """A server gave no reply for as long as the user waits; it may do so later."""


class ModelError(VcrgenError):
    """A model in this process cannot be loaded, or asked."""


class PredictionError(VcrgenError):
    """A file of model outputs cannot be read, is of no known format, or belongs to another dataset."""


class AnswerError(VcrgenError):
    """The answers to score against cannot be read, or lack what is asked for."""


class ScoreError(VcrgenError):
    """Scores that are asked for cannot be given: incomparable signatures, an unknown id, a missing segmenter."""


class AnalysisError(VcrgenError):
    """Scores cannot be analysed as is asked for: too few models, a constant task, a specification that does not fit."""


class StreamError(VcrgenError):
    """The place of a stream cannot be taken up: a state of another source, configuration or rank."""


class TrainError(VcrgenError):
    """A model cannot be fine-tuned: it does not fit, its template does not, or the training went wrong."""


class HiddenSetError(VcrgenError):
    """A hidden test set or its secret is invalid."""


class ServiceError(VcrgenError):
    """A web service cannot be started."""


class DatabaseError(VcrgenError):
    """The database of a board or a study cannot be reached, is of another version, or refuses something."""


class LeaderboardError(VcrgenError):
    """A board, a submission, or a request of a maintainer is invalid."""


class StudyError(VcrgenError):
    """A study, its dataset, or a request of a maintainer is invalid."""


class ImageProblem(Exception):
    """An image is rejected; ``reason`` is the type of the problem, ``detail`` the finding."""

    def __init__(self, reason: RejectReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
