"""Hidden test sets: public part, key, and verification that nothing leaks."""

from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.run import HiddenResult, make_hidden
from vcrgen.hidden.verify import Check, verify

__all__ = ["Check", "HiddenOptions", "HiddenResult", "make_hidden", "verify"]
