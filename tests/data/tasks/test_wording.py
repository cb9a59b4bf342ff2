"""The words of tasks for pages."""

import pytest

from vcrgen.data.tasks.task import TASKS, ScoredTask
from vcrgen.data.tasks.wording import wording_of


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_every_outcome_has_words_on_boards(task: ScoredTask) -> None:
    assert tuple(wording_of(task).outcomes) == task.outcomes
