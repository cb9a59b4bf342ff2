"""Analyses of single items: how hard each is, whether it tells models apart, and how few would be enough.

files -> a table of models x items -> statistics, Rasch or 2PL, what makes spans hard, shorter sets -> documents
"""
