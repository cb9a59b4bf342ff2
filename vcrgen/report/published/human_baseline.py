"""The file in which a study of people gives its scores to a board, with the number of people and what they saw.

`vcrgen study report --format json` writes it and `vcrgen leaderboard import` reads it. It holds no answer and nothing
that anybody typed. Like every file that a board takes, it may be hostile.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.reading import read_json
from vcrgen.data.views import View

MAX_BYTES = 1 << 20
MAX_SCORES = 200
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Signed: TypeAlias = Annotated[float, Field(ge=-1, le=1)]
ModeName: TypeAlias = Annotated[str, Field(pattern=r"\A[a-z0-9.-]{1,10}\z")]  # "-" where the data does not say
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000)]
_STRICT = ConfigDict(extra="forbid")


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class HumanScore:
    """Score of the raters of a study in one mode and view, as shares from 0 to 1.

    Of an MCQ benchmark the mode is a language, and what people recovered are the questions that they answered rightly.
    """

    mode: ModeName
    view: View
    raters: Count
    items: Count  # pictures
    spans: Count  # masked spans, or questions
    exact: Share  # exact match or RAE, the mean over responses
    low: Share  # lower end of its 95 % interval over pictures and people
    high: Share
    sd: Share | None = None  # over people; None of a single one


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class HumanDifference:
    """Paired difference of the raters' scores in two views; boards do not store it."""

    mode: ModeName
    of: Annotated[str, Field(max_length=40)]  # the views, as "stacked - tei"
    spans: Count  # masked spans that were seen in both
    value: Signed
    low: Signed  # lower end of its 95 % interval over pictures and people
    high: Signed


@with_config(_STRICT)
@dataclass(frozen=True, slots=True, kw_only=True)
class HumanBaseline:
    """All scores of a study, and what they were measured on."""

    schema: Literal["vcrgen-human-baseline-1"] = "vcrgen-human-baseline-1"
    study: Annotated[str, Field(pattern=r"\A[0-9a-f]{16}\z")]  # the same in each file of a study
    data: Annotated[str, Field(pattern=r"\A[0-9a-f]{8,64}\z")]  # what signatures of scores on the same data call it
    # Of an MCQ benchmark all of its languages, as "en+ar".
    language: Annotated[str, Field(pattern=r"\A[a-z]{2,3}(\+[a-z]{2,3})*\z", max_length=1000)]
    scores: Annotated[tuple[HumanScore, ...], Field(min_length=1, max_length=MAX_SCORES)]
    differences: Annotated[tuple[HumanDifference, ...], Field(max_length=MAX_SCORES)] = ()

    def as_json(self) -> dict[str, Any]:
        """As JSON values; without differences where the people saw one view alone."""
        return {name: value for name, value in asdict(self).items() if name != "differences" or value}


_FILES = TypeAdapter(HumanBaseline)


def read_human_baseline(file: Path) -> HumanBaseline:
    """Read the scores of a study.

    Raises:
        LeaderboardError: It cannot be read or is no such file; says where and what is wrong.
    """
    if file.is_file() and file.stat().st_size > MAX_BYTES:
        raise LeaderboardError(f"{file} is larger than {MAX_BYTES >> 20} MiB, so it holds no scores of people.")
    try:
        baselines = _FILES.validate_python(read_json(file, LeaderboardError))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part)[:20] for part in first["loc"]) or "the file"
        raise LeaderboardError(
            f"{file} holds no scores of people ({where}: {first['msg']}); `vcrgen study report --format json` writes "
            "them."
        ) from None
    for number, score in enumerate(baselines.scores):
        if not score.low <= score.exact <= score.high:
            raise LeaderboardError(f"{file}, score {number + 1}: the interval does not hold the score.")
        if any((score.mode, score.view) == (other.mode, other.view) for other in baselines.scores[:number]):
            raise LeaderboardError(f"{file}, score {number + 1}: the mode and view have a score already.")
    return baselines
