"""Names of the board's pages: flat, so that links are the same in a service and in a folder of files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vcrgen.data.tasks.task import TASKS

if TYPE_CHECKING:
    from vcrgen.leaderboard.page_records import Track

INDEX = "index.html"
OVERALL = "overall.html"
GAP = "gap.html"
REPORTED = "reported.html"
ABOUT = "about.html"
HISTORY = "history.html"
SUBMIT = "submit.html"
TEAM = "team.html"
SIGN_IN = "sign-in.html"
MANAGE = "manage.html"
COMPARE = "compare.html"
TABLES = ("board.csv", "board.json")  # all tables as data; they lie beside the pages
FIRST_ROWS, FIRST_EVENTS = (
    10,
    50,
)  # of reported results and of the history; others are on further pages of the same table

PAGE_ROWS = 100  # of tables of models
EXPORTED_EVENTS = 1000  # lines of the history in an exported folder, the newest; a service has all

_ENTRY = "[0-9a-f]{12}"
_VIEWS = "|".join(view.value for task in TASKS.values() for view in task.board_views)
# The mode of a multiple-choice benchmark is a language.
_MODES = r"easy|hard|mixed|any|[a-z]{2,3}|ink-0\.\d\d|bits-[1-9]\d?"
# No mode is the end of another one, and views hold no hyphen, so what stands before both is the set.
_FORMS = {
    "board": re.compile(rf"board-([a-z0-9-]{{1,40}})-({_MODES})-({_VIEWS})\.html"),
    "model": re.compile(rf"model-({_ENTRY})\.html"),
    "compare": re.compile(rf"compare-({_ENTRY})-({_ENTRY})\.html"),
    "set": re.compile(r"set-([a-z0-9-]{1,40})\.html"),
    "template": re.compile(r"template-([a-z0-9-]{1,40})\.jsonl"),
    "example": re.compile(r"example-([a-z0-9-]{1,40})\.jsonl"),
    "submission": re.compile(r"submission-([0-9a-f]{32})\.html"),
}


def board_name(track: Track) -> str:
    """The page of one table."""
    return f"board-{track.set}-{track.mode}-{track.view.value}.html"


def model_name(entry: str) -> str:
    """The page of one model."""
    return f"model-{entry}.html"


def compare_name(a: str, b: str) -> str:
    """The page of two models; in either order it is the same."""
    first, second = sorted((a, b))
    return f"compare-{first}-{second}.html"


def set_name(name: str) -> str:
    """The page of one set."""
    return f"set-{name}.html"


def template_name(name: str) -> str:
    """The file of outputs of a set to fill in."""
    return f"template-{name}.jsonl"


def example_name(name: str) -> str:
    """A file of outputs that a set takes."""
    return f"example-{name}.jsonl"


def view_folder(name: str) -> str:
    """The folder of the view of a set, in an exported site."""
    return f"view-{name}"


def status_name(submission_id: str) -> str:
    """The page of one submission, for whoever knows its id."""
    return f"submission-{submission_id}.html"


def parse_name(text: str) -> tuple[str, ...] | None:
    """What a name says of a page with parameters, without a look at the board.

    Returns:
        ``("board", set, mode, view)``, ``("model", entry)``, ``("compare", a, b)`` with ``a`` before ``b``,
        ``("set", set)``, ``("template", set)``, ``("example", set)``, ``("submission", id)``, or None for any other
        text.
    """
    for kind, form in _FORMS.items():
        if match := form.fullmatch(text):
            return None if kind == "compare" and match[1] >= match[2] else (kind, *match.groups())
    return None
