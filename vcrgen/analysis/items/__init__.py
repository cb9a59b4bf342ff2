"""Analyses of single items: difficulty, discrimination, reliability, predictors of difficulty, subsets.

files -> a table of models x items -> statistics, Rasch or 2PL, difficulty model, subsets -> documents
"""
