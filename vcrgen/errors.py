"""What can go wrong because of the user's input, one class a subject.

Every message is one sentence (or two) that says what was wrong, where, and what to do about it. The command line
prints it without a traceback and exits with code 2; a library caller catches :class:`VcrgenError`.
"""

from vcrgen.records import Reason


class VcrgenError(Exception):
    """Base of all errors a user can cause and mend."""


class ConfigError(VcrgenError):
    """An option, a combination of options, or a configuration file is wrong."""


class SourceError(VcrgenError):
    """The image-caption pairs cannot be read: missing file, unknown format, missing column."""


class NoPairsError(SourceError):
    """All pairs were read, and none of them can be used."""


class FontError(VcrgenError):
    """A font file is missing, damaged, or not what its register says."""


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
    """A hidden test set or its secret is not as it has to be."""


class ServiceError(VcrgenError):
    """A web service cannot be started."""


class LeaderboardError(VcrgenError):
    """A board, a submission to it, or a request of its maintainer is not as it has to be."""


class StudyError(VcrgenError):
    """A study of people, its dataset, or a request of its maintainer is not as it has to be."""


class ImageProblem(Exception):
    """An image cannot be used and is set aside; ``reason`` is the type of what is wrong, ``detail`` what was found."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
