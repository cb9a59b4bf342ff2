"""What people read: tables and their forms, drawings, and whole HTML pages.

Each room turns its own records into a :class:`vcrgen.report.table.Table`; how a table is written as Markdown, CSV or
LaTeX (``forms.py``), how a text is kept from being markup (``escape.py``), how an interval is drawn (``charts.py``) and
what a page may load (``pages.py``) is the same for all of them and stands here.
"""
