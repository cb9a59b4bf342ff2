"""Escape texts from files and strangers for each form that they are written in.

HTML is not here: templates escape whatever is put into them (``pages.py``).
"""

from __future__ import annotations

import json
import re
from typing import Any

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# What GitHub makes a link of even though nothing marks it as one.
_BARE_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
# Where a spreadsheet begins a cell, and what it may take for a formula there: the signs, their wide and small forms,
# behind white space or quotes. Where people write decimals with a comma, a semicolon begins a cell, too.
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[\s\"]*[=+\-@＝＋－＠﹦﹢﹣﹫−])|^(?=[\t\r])")


def escape_markdown(text: str) -> str:
    """A text on one line that neither Markdown nor HTML reads as marks, and GitHub not as a link."""
    escaped = _MARKDOWN.sub(lambda mark: _ENTITIES.get(mark[1], f"\\{mark[1]}"), one_line(text))
    return _BARE_LINK.sub(lambda mark: f"&#{ord(mark[0])};", escaped)


def escape_latex(text: str) -> str:
    """A text on one line that LaTeX sets as it is."""
    return _LATEX_SPECIAL.sub(lambda mark: _LATEX[mark[0]], one_line(text))


def escape_formula(text: str) -> str:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return _FORMULA.sub("'", text) if len(text) > 1 else text  # "-" stands for nothing in many tables


def escape_terminal(text: str) -> str:
    """A text whose control characters are written out, so that it cannot drive a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def script_json(value: Any) -> str:
    """JSON that stays text inside ``<script>``: ASCII only, and no character that HTML gives a meaning."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return re.sub(r"[<>&]", lambda mark: f"\\u{ord(mark[0]):04x}", text)


def one_line(text: str) -> str:
    """A text without line breaks and control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
