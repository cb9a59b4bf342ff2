"""The template baseline on a set of a board: a maintainer's file of its outputs becomes scores."""

from pathlib import Path

from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.data.statistics import BitsSummary
from vcrgen.data.tasks.pixel_bits import read_pixel_bits
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.leaderboard.page_records import PixelScore
from vcrgen.leaderboard.records import NO_MODE, TestSet
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.predictions import receive
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.span_session import Session


def score_pixels(test_set: TestSet, file: Path) -> tuple[PixelScore, ...]:
    """Score outputs of ``vcrgen baseline template`` on a whole set, mode by mode.

    Raises:
        LeaderboardError: The set has no masked spans, or the file is none of the baseline's or does not fit the set.
    """
    if test_set.task is not VCR_TASK:
        raise LeaderboardError(
            f"The set {test_set.name!r} has no masked spans, so the template baseline cannot read it."
        )
    try:
        signature = str(read_pixel_bits(file).signature)
        session = Session(Path(test_set.path), ScoreOptions(protocol=test_set.protocol, pixels=file))
        cells = session.score(receive(file)).cells
    except VcrgenError as problem:
        raise LeaderboardError(f"{file} cannot be scored on the set {test_set.name!r}: {problem}") from None
    scores = []
    for cell in cells:
        exact, bits = cell.metrics["exact"], BitsSummary.of(session.breakdowns.bits_of(cell.variant).tolist())
        scores.append(
            PixelScore(
                mode=NO_MODE if cell.variant == UNSTATED else cell.variant,
                images=cell.clusters,
                spans=cell.units,
                unread=cell.counts.get("missing", 0),
                exact=exact.value,
                low=exact.low,
                high=exact.high,
                bits=bits.median if bits else None,
                bits_p10=bits.p10 if bits else None,
                below_one_bit=bits.settled if bits else None,
                signature=signature,
            )
        )
    return tuple(scores)
