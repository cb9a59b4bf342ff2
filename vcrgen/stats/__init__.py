"""Statistics of any task: bootstrap over groups, intervals, paired tests, ranks. Numbers in, numbers out.

A score is a mean over small units (answers), and units that belong together (those of one image) are no
independent evidence. So groups of them are resampled: :mod:`bootstrap` draws groups and sums them, :mod:`intervals`
says how far a mean varies, :mod:`paired` compares two systems on the same groups, :mod:`ranking` many.
"""
