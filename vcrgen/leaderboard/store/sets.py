"""The test sets of a board."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, func, insert, select, update

from vcrgen.core.errors import LeaderboardError
from vcrgen.data.key import HIDDEN_SPLITS
from vcrgen.data.tasks.task import TASKS, VCR_TASK
from vcrgen.leaderboard.records import Feedback, SetLifecycle, SplitSize, TestSet
from vcrgen.leaderboard.store.log import maintainer, record
from vcrgen.leaderboard.store.schema import sets
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.web.database.engine import as_written

_LIFECYCLE = TypeAdapter(SetLifecycle)


def set_of(name: str, path: Path, session: BaseScoringSession, lifecycle: SetLifecycle) -> TestSet:
    """The record of a set; ``session`` has to hold all of its splits, as their sizes are counted."""
    key = session.key
    if lifecycle.feedback is Feedback.LADDER:
        sizes = {
            split: [len(question.answers) for question in key.questions if question.part == split]
            for split in HIDDEN_SPLITS
        }
        splits = {split: SplitSize(questions=len(spans), spans=sum(spans)) for split, spans in sizes.items() if spans}
        lifecycle = replace(lifecycle, splits=splits)
    if lifecycle.view is VCR_TASK.image_views[0]:  # of which nothing else was said
        lifecycle = replace(lifecycle, view=session.task.image_views[0])
    return TestSet(
        name=name,
        path=str(path.absolute()),
        hidden=key.hidden,
        language=key.lang,
        questions=len(key.questions),
        spans=sum(len(question.answers) for question in key.questions),
        modes=key.variants,
        signature=str(session.signature),
        lifecycle=lifecycle,
        task=session.task,
        covers=key.covers if isinstance(key, AnswerKey) else {},
        white_rows=isinstance(key, AnswerKey) and key.white_rows,
    )


def register_set(connection: Connection, test_set: TestSet) -> None:
    """Put a set on a board.

    Raises:
        LeaderboardError: A set of this name, or with these hidden answers, is on the board.
    """
    for other in all_sets(connection):
        if other.name == test_set.name:
            raise LeaderboardError(f"There is a set {test_set.name!r} on this board; give the new one another name.")
        if test_set.hidden and other.hidden and other.data == test_set.data:
            raise LeaderboardError(f"The set {other.name!r} has the same key as {test_set.name!r}; make another one.")
    number = connection.execute(select(func.count()).select_from(sets)).scalar_one()
    connection.execute(insert(sets).values(**_values(test_set), number=number))
    details = {"signature": test_set.signature} | (
        {"feedback": test_set.lifecycle.feedback.value} if test_set.hidden else {}
    )
    record(connection, actor=maintainer(), what="set added", subject=test_set.name, facts=details)


def change_set(connection: Connection, test_set: TestSet) -> None:
    """Replace what is known of a set."""
    connection.execute(update(sets).where(sets.c.name == test_set.name).values(**_values(test_set)))


def all_sets(connection: Connection) -> Sequence[TestSet]:
    """The sets, in the order in which they were added."""
    columns = [column for column in sets.c if column.name != "number"]
    with as_written(connection.engine):
        return [
            TestSet(
                **{
                    **row._mapping,
                    "modes": tuple(row.modes),
                    "lifecycle": _LIFECYCLE.validate_python(row.lifecycle),
                    "task": TASKS[row.task],
                }
            )
            for row in connection.execute(select(*columns).order_by(sets.c.number))
        ]


def get_set(connection: Connection, name: str) -> TestSet:
    """The set of a name; a LeaderboardError that names the sets if there is none."""
    test_sets = all_sets(connection)
    test_set = next((test_set for test_set in test_sets if test_set.name == name), None)
    if test_set is None:
        names = ", ".join(test_set.name for test_set in test_sets)
        raise LeaderboardError(f"There is no set {name[:40]!r} on this board; there are {names}.")
    return test_set


def _values(test_set: TestSet) -> dict[str, Any]:
    values = {column.name: getattr(test_set, column.name) for column in fields(test_set)}
    return values | {"lifecycle": _LIFECYCLE.dump_python(test_set.lifecycle, mode="json"), "task": test_set.task.name}
