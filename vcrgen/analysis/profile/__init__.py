"""Profiles of models on a question set: shares of right answers by level and leaf of its tree, language and method.

    saved scores | tables of leaf scores -> profiles -> gaps, differences of leaves, calibration -> document

Example: a model answers 86 % of all questions in English, 92 % of those that ask it to understand and 75 % of those
that ask it to create; in Arabic 8 points less. A profile is all of that, where a benchmark often gives one number.
"""
