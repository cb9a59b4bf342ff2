"""Drawings of scenes: one function per kind, from its facts onto a canvas."""
