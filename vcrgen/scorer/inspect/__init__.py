"""Inspect AI: vcrgen's datasets as tasks ``vcrgen/vcr`` and ``vcrgen/bloom``, with its prompts and its scores.

Inspect AI finds ``vcrgen.scorer.inspect.tasks`` by the entry point of the package. Nothing else imports it.
"""
