"""All of Jinja: sentences of reports, and whole HTML pages, from templates that stand beside what makes the numbers.

A template of sentences has blocks; a block has paragraphs between empty lines. They are plain text: whoever writes a
document in some format escapes them there.

A page is one file with its style and script inside, and loads nothing else. Every page extends ``templates/base.html``.
Whatever is put into it is escaped, and the content security policy allows the page's own style, its own script and
images inside it, known by their hashes or as ``data:``, and no network.
"""

import base64
import functools
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from vcrgen.core.plurals import pluralize
from vcrgen.report.escape import one_line, script_json

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Sentences:
    """A template of sentences."""

    package: str  # in whose folder ``templates`` it is
    template: str  # its file

    def paragraphs(self, block: str, **values: Any) -> list[str]:
        """The paragraphs of a block; those that come out empty are left out.

        Args:
            values: What the block names. A value never breaks a line; numbers are written as in ``1,000`` and ``0.75``.
        """
        template = _sentence_environment(self.package).get_template(self.template)
        text = "".join(template.blocks[block](template.new_context(values)))
        return [one_line(part) for part in re.split(r"\n\s*\n", text) if part.strip()]


def named(names: list[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _as_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))


@functools.cache
def _sentence_environment(package: str) -> Environment:
    environment = Environment(  # noqa: S701 - plain text, which each format escapes
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_as_text,
    )
    environment.filters |= {"named": named, "pluralize": pluralize}
    return environment


class Templates:
    """The templates of a package, with the style and the script of all its pages.

    They stand in the folder ``templates`` of the package, with its style sheet, which follows the common one, and its
    script, if any. Names of several packages, style sheets or scripts are separated by spaces. With ``forms`` a page
    may send a form to its service, with ``fetches`` its script may ask the service, with ``loads_files`` it may load
    scripts and images that stand beside the page, by its Trusted Types policy ``files``. Templates may also use the
    ``names``, and `vcrgen.core.plurals.pluralize`.
    """

    def __init__(
        self,
        package: str,
        *,
        style: str,
        script: str = "",
        forms: bool = False,
        fetches: bool = False,
        loads_files: bool = False,
        **names: Any,
    ) -> None:
        self._environment = Environment(
            loader=ChoiceLoader([PackageLoader(name) for name in (*package.split(), "vcrgen.report")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters["script_json"] = lambda value: Markup(script_json(value))  # noqa: S704 - see there
        self._style = "".join(map(self._source, ("base.css", *style.split())))
        self._script = "".join(map(self._source, script.split()))
        self._forms, self._fetches, self._loads_files = forms, fetches, loads_files
        self._environment.globals |= names | {
            "pluralize": pluralize,
            "policy": self.policy(),
            "style": Markup(self._style),  # noqa: S704 - our own files, whose hashes are in the policy
            "script": Markup(self._script),  # noqa: S704
        }

    def policy(self, *, header: bool = False) -> str:
        """The content security policy of all pages; ``frame-ancestors``, without meaning in ``<meta>``, in a header."""
        files = " 'self' file:" if self._loads_files else ""  # a page from a disk is of no site
        rules = [
            "default-src 'none'",
            f"img-src data:{files}",
            f"style-src '{_digest(self._style)}'",
            *([f"script-src '{_digest(self._script)}'{files}"] if self._script else []),
            *(["connect-src 'self'"] if self._fetches else []),
            f"form-action '{'self' if self._forms else 'none'}'",
            "base-uri 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types files" if self._loads_files else "trusted-types 'none'",
            *(["frame-ancestors 'none'"] if header else []),
        ]
        return "; ".join(rules)

    def render(self, template: str, **values: Any) -> str:
        """Render a template with values; all texts are escaped."""
        return self._environment.get_template(template).render(values)

    def _source(self, name: str) -> str:
        loader = self._environment.loader
        assert loader is not None
        return loader.get_source(self._environment, name)[0]


page_templates = functools.cache(Templates)
"""The `Templates` of these arguments, made once."""


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
