"""What notebooks show of a result."""

import inspect
import re

from vcrgen.report.notebook import NotebookResult


def check_shown(result: NotebookResult) -> None:
    """Assert that a result is one line, that its page has its rows, and that its frame has the documented columns."""
    assert len(repr(result)) < 200 and "\n" not in repr(result)
    assert result._repr_html_().count("<tr>") == min(len(result.summary_table.rows), 20) + 1
    text = " ".join((inspect.getdoc(type(result)) or "").split("\n\n")[1].split())
    columns = re.sub(r"\([^()]*\)", "", text.partition("Its columns are ")[2].partition("; of an MCQ")[0])
    frame = result.to_pandas()
    assert list(frame.columns) == re.findall(r"``([a-z0-9_]+)``", columns)
    assert len(frame) > 0
