"""The command that writes the page of an analysis, where what went in is known by its names."""

from collections.abc import Mapping, Sequence
from typing import Any

from vcrgen.analysis.options import AnalysisOptions
from vcrgen.core.errors import ConfigError


def page_command(
    command: str, inputs: Sequence[str], options: type[AnalysisOptions], values: Mapping[str, Any], *, out: str
) -> tuple[str, ...]:
    """The words of a command line; none for inputs without names, or values that the command refuses.

    Args:
        command: Such as ``map``.
        inputs: Files, or an example, with the options by which they were read.
        options: What the command takes.
        values: Of the options that the analysis has.
        out: The page, or the folder.
    """
    if not inputs:
        return ()
    try:
        settings = options(**values)
    except ConfigError:
        return ()
    words = ["vcrgen", "analyze", command, *inputs]
    for name, value in settings.model_dump(mode="json", exclude_defaults=True).items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [option, str(value)]
    return (*words, "--out", out)
