"""Reports: tables and documents in all formats, charts as SVG, and HTML pages.

Each package turns its records into a `Document` of tables. Formats (``forms.py``),
escaping (``escape.py``), charts (``charts.py``) and the policy of pages (``templating.py``) are the same for all.
"""
