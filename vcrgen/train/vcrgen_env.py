"""The name by which verifiers imports the taskset; wheels have this file beside the package, too."""

from vcrgen.train.taskset import VCREnv, VCRHarness, VCRTaskset

__all__ = ["VCREnv", "VCRHarness", "VCRTaskset"]
