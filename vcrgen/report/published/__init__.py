"""Quoted results of publications: tables of facts that ship with the package, and the reader of such tables."""
