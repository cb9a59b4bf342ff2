"""The command line: the only package that knows typer and rich. Commands parse, call and print.

Each module holds the commands of one subject and adds them to ``app``; ``root.py`` names the modules and imports one
when its command is called. Options of a model in a package's ``options.py`` are made by the one here.
"""

from vcrgen.cli.root import app

__all__ = ["app"]
