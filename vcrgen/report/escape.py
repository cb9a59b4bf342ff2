"""Texts from files and strangers: names are checked before they are stored, texts escaped for each form.

HTML is not here: templates escape whatever is put into them (``templating.py``).
"""

import json
import re
import unicodedata
from typing import Any

import regex

from vcrgen.core.errors import LeaderboardError

MAX_NAME = 80  # characters
# What nobody sees: control characters, what Unicode lets every font leave out (fillers, variation selectors, tags), and
# letters and signs that are drawn blank, for which Unicode has no property.
_INVISIBLE = regex.compile(r"[\p{C}\p{Default_Ignorable_Code_Point}\u2800\U00013441\U00013442\U00016FE4\U0001D159]")
_MARKS = regex.compile(r"^\p{M}|\p{M}{5}")  # which are drawn over what stands before them, or over other lines
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
    "|": r"\textbar{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)) + "|-(?=-)")  # two hyphens would be set as a dash
# Where a spreadsheet begins a cell, and what it may take for a formula there: the signs, their wide and small forms,
# behind white space or quotes. Where people write decimals with a comma, a semicolon begins a cell, too.
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[\s\"]*[=+\-@＝＋－＠﹦﹢﹣﹫−])|^(?=[\t\r])")


def escape_markdown(text: str) -> str:
    """A text on one line that neither Markdown nor HTML reads as marks, and GitHub not as a link."""
    escaped = _MARKDOWN.sub(lambda mark: _ENTITIES.get(mark[1], f"\\{mark[1]}"), one_line(text))
    return _BARE_LINK.sub(lambda mark: f"&#{ord(mark[0])};", escaped)


def escape_latex(text: str) -> str:
    """A text on one line that LaTeX sets as it is."""
    return _LATEX_SPECIAL.sub(lambda mark: _LATEX.get(mark[0], "-{}"), one_line(text))


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


def check_name(text: str, what: str) -> str:
    """A name as it is stored: NFC, single spaces, nothing invisible.

    Raises:
        LeaderboardError: It is empty, too long, or holds characters that cannot be seen or that turn the text around.
    """
    if not (name := visible(text, f"The name of the {what}")):
        raise LeaderboardError(f"The name of the {what} is missing.")
    if len(name) > MAX_NAME:
        raise LeaderboardError(f"The name of the {what} is longer than {MAX_NAME} characters.")
    return name


def visible(text: str, what: str) -> str:
    """A text as it is stored: in Unicode's form NFC, with single spaces. ``what`` begins the message of the error.

    Raises:
        LeaderboardError: It holds a character that cannot be seen or that turns the text around, or accents without a
            letter.
    """
    line = " ".join(unicodedata.normalize("NFC", text).split())
    if odd := _INVISIBLE.search(line):
        raise LeaderboardError(f"{what} holds the invisible character U+{ord(odd[0]):04X}; take it out.")
    if _MARKS.search(line):
        raise LeaderboardError(f"{what} holds accents without a letter, or five on one letter; take them out.")
    return line
