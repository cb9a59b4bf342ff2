"""Sentences of reports, from templates that stand beside what makes the numbers.

A template has blocks; a block has paragraphs between empty lines. They are plain text: whoever writes a document in
some format escapes them there.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from vcrgen.core.plurals import pluralize
from vcrgen.report.escape import one_line

MOST_NAMED = 5


def sentences(package: str, template: str, block: str, **values: Any) -> list[str]:
    """Return the paragraphs of a block; those that come out empty are left out.

    Args:
        package: In whose folder ``templates`` the template is.
        template: Its name.
        block: Its block.
        values: What the block names. A value never breaks a line; numbers are shown as in ``1,000`` and ``0.75``.
    """
    found = _environment(package).get_template(template)
    text = "".join(found.blocks[block](found.new_context(values)))
    return [one_line(part) for part in re.split(r"\n\s*\n", text) if part.strip()]


def named(names: list[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _shown(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))


@functools.cache
def _environment(package: str) -> Environment:
    made = Environment(  # noqa: S701 - plain text, which each format escapes
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_shown,
    )
    made.filters |= {"named": named, "pluralize": pluralize}
    return made
