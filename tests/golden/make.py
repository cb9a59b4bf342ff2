"""The golden files: each is the JSON value of one function of the modules beside this one.

The functions go through entry points that stay (the package's functions, the command line, the written files) wherever
there is one. What a function's values depend on beside vcrgen is in its ``@golden(...)``: under another version of that
they are not compared. Everything else of a machine (paths, times, versions in signatures) is taken out of the values.
"""

from tests.golden import analyses, boards, builds, files, hidden, questions, scores  # noqa: F401 - each fills the table
from tests.golden.bench import GOLDEN, VALUES, Bench, as_text, foreign, versions

__all__ = ["GOLDEN", "VALUES", "Bench", "as_text", "foreign", "versions"]
