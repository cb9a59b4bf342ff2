"""The page of a view: one template, style and script, for a server and for files."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from vcrgen.report.templating import Templates


@cache
def view_templates(*, served: bool) -> Templates:
    """The templates, with a policy that lets the page ask its server, or load the files beside it."""
    return Templates("vcrgen.view", style="view.css", script="view.js", fetches=served, loads_files=not served)


def write_page(facts: Mapping[str, Any], *, served: bool) -> str:
    """The page as text; ``facts`` is what its script knows from the start."""
    title = f"{facts['name']} · vcrgen view"
    return view_templates(served=served).render("view.html", title=title, facts={**facts, "served": served})
