"""Profiles of models on an MCQ benchmark: accuracy by level and category, language and method.

saved scores | tables of category scores -> profiles -> gaps, differences of categories, calibration -> document
"""
