"""The board's web pages: records in, whole HTML files out; the same ones are served and exported.

Pages lie flat beside each other and name each other relatively (``names.py``), so a folder of them needs no server.
Style and script stand in every page, under a policy that allows those two texts and no network.
"""
