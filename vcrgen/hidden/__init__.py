"""Hidden test sets: what participants get, what stays with the maintainer, and the proof that nothing leaks."""

from vcrgen.config import HiddenOptions
from vcrgen.hidden.run import HiddenResult, make_hidden
from vcrgen.hidden.verify import Check, verify

__all__ = ["Check", "HiddenOptions", "HiddenResult", "make_hidden", "verify"]
