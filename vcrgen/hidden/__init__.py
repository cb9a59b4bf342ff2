"""Hidden test sets: public part, key, and verification that nothing leaks."""

from vcrgen.config.hidden import HiddenOptions
from vcrgen.hidden.run import HiddenResult, make_hidden
from vcrgen.hidden.verify import Check, verify

__all__ = ["Check", "HiddenOptions", "HiddenResult", "make_hidden", "verify"]
