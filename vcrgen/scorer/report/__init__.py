"""Reports: the only place where numbers are rounded. One set of tables, written in several forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vcrgen.errors import ScoreError
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.report.plain import as_csv, as_json, as_latex, as_markdown
from vcrgen.scorer.results import RunResult, require_one_signature

Renderer = Callable[[Sequence[RunResult], Sequence[Comparison]], str]
# `text` is drawn by the terminal and `html` needs examples: both have modules of their own.
RENDERERS: dict[str, Renderer] = {"md": as_markdown, "csv": as_csv, "latex": as_latex, "json": as_json}
FORMATS = ("text", *RENDERERS, "html")


def render(results: Sequence[RunResult], form: str, comparisons: Sequence[Comparison] = ()) -> str:
    """The results as ``md``, ``csv``, ``latex`` or ``json``.

    Raises:
        ScoreError: The form is another, or the results have different signatures.
    """
    if form not in RENDERERS:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    require_one_signature(results)
    return RENDERERS[form](results, comparisons)


__all__ = ["FORMATS", "render"]
