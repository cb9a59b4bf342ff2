"""Scores: of files; and those without a rank, of people, of the template baseline, of publications."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import Connection, Table, delete, func, insert, select, update

from vcrgen.core.signature import Signature
from vcrgen.data.views import View
from vcrgen.leaderboard.disclosure import disclose_human, disclose_pixels, set_rounding_step
from vcrgen.leaderboard.page_records import BoardCell, PixelScore
from vcrgen.leaderboard.records import NO_MODE, TestSet
from vcrgen.leaderboard.scoring import ScoringOutcome
from vcrgen.leaderboard.store import ranks
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.ranks import CellKey
from vcrgen.leaderboard.store.schema import (
    cells,
    human_baselines,
    means,
    pixel_baselines,
    reported,
    runs,
    sign_flips,
    submissions,
)
from vcrgen.leaderboard.store.state import run_digest
from vcrgen.leaderboard.store.submissions import counted, show_file, shown_files
from vcrgen.report.published.fields import Access
from vcrgen.report.published.human_baseline import HumanBaseline, HumanScore
from vcrgen.report.published.results import ReportedResult
from vcrgen.scorer.records import UNSTATED
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.web.database.schema import AnyRow


def key_of_cell(cell: BoardCell) -> CellKey:
    """The ranking that a cell is in."""
    return CellKey(cell.set, cell.mode, cell.view, cell.short)


def scorer_cell(cell: BoardCell | CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view


def add_run(
    connection: Connection, submission_id: str, set_name: str, outcome: ScoringOutcome, *, split: str = ""
) -> None:
    """Store the scores of a submission, not ranked yet; ``split`` is that of the key, or empty for the whole."""
    short = Signature.parse(outcome.signature).short
    values = {"submission": submission_id, "scored": now(), "short": short, "signature": outcome.signature}
    values |= {"result": outcome.result or {}, "split": split, "digest": ""}
    inserted = connection.execute(insert(runs).values(**values)).inserted_primary_key
    assert inserted is not None
    for cell in outcome.cells:
        figures = {name: value for name, value in asdict(cell).items() if name not in ("means", "flips")}
        connection.execute(insert(cells).values(run=inserted[0], set=set_name, short=short, ranked=False, **figures))
        here = {"run": inserted[0], "mode": cell.mode, "view": cell.view}
        rows = [{**here, "metric": metric, "means": packed} for metric, packed in cell.means.items()]
        connection.execute(insert(means), rows)
        connection.execute(insert(sign_flips).values(**here, sums=cell.flips))
    run = int(inserted[0])
    connection.execute(update(runs).where(runs.c.id == run).values(digest=run_digest(connection, run)))


def ranked_run(connection: Connection, submission_id: str) -> int | None:
    """The run of a submission that is ranked, or None."""
    mine = select(cells.c.run).join(runs, runs.c.id == cells.c.run)
    mine = mine.where((runs.c.submission == submission_id) & cells.c.ranked).limit(1)
    return connection.execute(mine).scalar_one_or_none()


def last_run(connection: Connection, submission_id: str, *, split: str = "") -> AnyRow | None:
    """Number and signature of the newest run of a submission on a split of the key, or on the whole; None for none."""
    mine = select(runs.c.id, runs.c.signature).where(runs.c.submission == submission_id)
    mine = mine.where(runs.c.split == split)
    return connection.execute(mine.order_by(runs.c.id.desc()).limit(1)).one_or_none()


def length_ratio(connection: Connection, submission_id: str) -> float | None:
    """The length of a submission's outputs over that of the answers; None where it was not measured."""
    mine = select(runs.c.result).where(runs.c.submission == submission_id).order_by(runs.c.id.desc()).limit(1)
    result = connection.execute(mine).scalar_one_or_none()
    return result and result.get("length_ratio")


def update_shown_file(connection: Connection, entry: str, test_set: TestSet) -> None:
    """Make the file of a model that counts the one that is shown and ranked; none is while a ladder is climbed."""
    shown_before = shown_files(connection, entry, test_set.name)
    files = () if test_set.lifecycle.ladder_open else counted(connection, test_set.name, entry)
    ranked = (ranked_run(connection, submission.id) for submission in shown_before)
    before = {run for run in ranked if run is not None}
    after, counts = set[int](), ""
    for submission in files:  # one, or none
        if (last := last_run(connection, submission.id, split=test_set.lifecycle.split)) is not None:
            after.add(last.id)
            counts = submission.id
    for run in before - after:
        ranks.remove_from_ranking(connection, run)
    for run in after - before:
        ranks.add_to_ranking(connection, run)
    show_file(connection, entry, test_set.name, counts)


def signatures(connection: Connection, set_name: str) -> dict[str, tuple[str, Any]]:
    """Short form of each signature of a set to the whole one and the time it was last used."""
    of_set = runs.join(submissions, submissions.c.id == runs.c.submission)
    query = select(runs.c.short, func.max(runs.c.signature), func.max(runs.c.scored)).select_from(of_set)
    rows = connection.execute(query.where(submissions.c.set == set_name).group_by(runs.c.short))
    return {short: (signature, scored) for short, signature, scored in rows}


def runs_of(connection: Connection, entry: str) -> Sequence[AnyRow]:
    """Every run of a model with its submission, the newest first; not those of private files."""
    query = select(submissions, runs.c.id.label("run"), runs.c.signature, runs.c.result, runs.c.split)
    query = query.select_from(submissions.join(runs, runs.c.submission == submissions.c.id))
    mine = (submissions.c.entry == entry) & submissions.c.private.is_(False)
    return connection.execute(query.where(mine).order_by(runs.c.id.desc())).all()


class Evidence(NamedTuple):
    """What models are compared by in a cell: nothing of it is shown of a hidden set."""

    hits: bytes  # a bit for each span
    result: Mapping[str, Any]  # of the run
    means: dict[str, BootstrapMean]  # of each shown metric


def evidence(connection: Connection, run: int) -> dict[CellKey, Evidence]:
    """What a run's models are compared by, for each cell; never rounded."""
    query = select(cells, runs.c.result).join(runs, runs.c.id == cells.c.run)
    rows, packed = connection.execute(query.where(cells.c.run == run)), _means_of(connection, run)
    return {
        CellKey(row.set, row.mode, row.view, row.short): Evidence(
            row.hits,
            row.result,
            {metric: BootstrapMean.from_bytes(value) for metric, value in packed[row.mode, row.view].items()},
        )
        for row in rows
    }


def bootstrap_mean(connection: Connection, cell: BoardCell, metric: str) -> BootstrapMean:
    """A metric of a cell with its means over resamples, never rounded."""
    query = select(means.c.means).where(means.c.run == cell.run, means.c.mode == cell.mode)
    query = query.where(means.c.view == cell.view.value, means.c.metric == metric)
    return BootstrapMean.from_bytes(connection.execute(query).scalar_one())


def _means_of(connection: Connection, run: int) -> Mapping[tuple[str, str], dict[str, bytes]]:
    """The packed means of a run by mode and view, and by metric."""
    packed: dict[tuple[str, str], dict[str, bytes]] = defaultdict(dict)
    for row in connection.execute(select(means).where(means.c.run == run).order_by(means.c.metric)):
        packed[row.mode, row.view][row.metric] = row.means
    return packed


Score = TypeVar("Score", HumanScore, PixelScore)


def put_human(connection: Connection, set_name: str, study: HumanBaseline) -> None:
    """Store the scores of a study on a set, in place of what an earlier file of the same study said."""
    people = human_baselines
    connection.execute(delete(people).where(people.c.study == study.study, people.c.set == set_name))
    origin = {"study": study.study, "set": set_name, "data": study.data}
    rows = [origin | asdict(score) | {"view": score.view.value} for score in study.scores]
    connection.execute(insert(people), rows)


def put_pixels(connection: Connection, set_name: str, data: str, scores: Sequence[PixelScore]) -> None:
    """Store the template baseline's scores on a set, in place of earlier ones in the same modes."""
    pixels = pixel_baselines
    modes = [score.mode for score in scores]
    connection.execute(delete(pixels).where(pixels.c.set == set_name, pixels.c.mode.in_(modes)))
    connection.execute(insert(pixels), [{"set": set_name, "data": data} | asdict(score) for score in scores])


def human_scores(
    connection: Connection, sets: Mapping[str, TestSet]
) -> Mapping[tuple[str, str, View], Sequence[HumanScore]]:
    """Scores of people as they may be shown, by set, mode and view, study by study.

    Those of data that a set does not have any more are left out.
    """
    by_track: dict[tuple[str, str, View], list[HumanScore]] = defaultdict(list)
    for test_set, score in _current(connection, human_baselines, HumanScore, sets, "study", "mode", "view"):
        mode = NO_MODE if score.mode == UNSTATED else score.mode
        by_track[test_set.name, mode, score.view].append(disclose_human(score, hidden=test_set.hidden))
    return by_track


def pixel_scores(connection: Connection, sets: Mapping[str, TestSet]) -> Mapping[tuple[str, str], PixelScore]:
    """The template baseline's scores as they may be shown, by set and mode; as `human_scores`, of current data only."""
    return {
        (test_set.name, score.mode): disclose_pixels(score, set_rounding_step(test_set))
        for test_set, score in _current(connection, pixel_baselines, PixelScore, sets, "set", "mode")
    }


def _current(
    connection: Connection, table: Table, kind: type[Score], sets: Mapping[str, TestSet], *order: str
) -> Iterator[tuple[TestSet, Score]]:
    """The scores of a table that are of the data which their set has now; not yet disclosed."""
    validate, names = TypeAdapter(kind).validate_python, [field.name for field in fields(kind)]
    for row in connection.execute(select(table).order_by(*(table.c[name] for name in order))):
        test_set = sets.get(row.set)
        if test_set is not None and test_set.data == row.data:
            yield test_set, validate({name: row._mapping[name] for name in names})


def add_reported(connection: Connection, rows: Sequence[ReportedResult]) -> int:
    """Add rows of publications that are not there yet; returns how many were new.

    A row that is there with other figures stays as it is, and the new one is added beside it: nothing is replaced.
    """
    stored, columns = set(all_reported(connection)), [field.name for field in fields(ReportedResult)]
    new = [
        {name: getattr(row, name) for name in columns} | {"view": row.view.value, "access": row.access.value}
        for row in rows
        if row not in stored
    ]
    if new:
        connection.execute(insert(reported), new)
    return len(new)


def all_reported(connection: Connection) -> Sequence[ReportedResult]:
    """All rows of publications, in the order in which they were added."""
    columns = [reported.c[field.name] for field in fields(ReportedResult)]
    rows = connection.execute(select(*columns).order_by(reported.c.number))
    return [ReportedResult(**{**row._mapping, "view": View(row.view), "access": Access(row.access)}) for row in rows]
