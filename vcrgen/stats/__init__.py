"""Statistics of any task: bootstrap over groups, intervals, paired tests, ranks. Numbers in, numbers out.

A score is a mean over small units (answers), and units that belong together (those of one image) are not
independent. So groups are resampled: :mod:`bootstrap` draws groups, :mod:`intervals` gives intervals, :mod:`paired`
compares two systems on the same groups, :mod:`ranking` many.
"""
