"""The built-in corpus: drawn pictures with captions in several languages, made by this package alone."""

from vcrgen.samples.pairs import BUILTIN_COUNT, SamplePair, sample_pair

__all__ = ["BUILTIN_COUNT", "SamplePair", "sample_pair"]
