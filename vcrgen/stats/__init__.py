"""Statistics of any task: bootstrap over groups, intervals, paired tests, ranks. Numbers in, numbers out.

A score is a mean over small units (answers), and units that belong together (those of one image) are not
independent. So groups are resampled: `bootstrap` draws groups, `intervals` gives intervals, `paired`
compares two systems on the same groups, `ranking` many.
"""
