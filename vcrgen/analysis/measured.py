"""Coverage and power of analyses in simulations, as ``scripts/measure_analysis.py`` prints them."""

COVERAGE_MODELS = (20, 30, 60, 165)
# Share of 95 % intervals of GOLD's model that hold the true value, in 400 tables each with 400 resamples.
COVERAGE: dict[str, tuple[float, float, float, float]] = {
    "Loading": (0.937, 0.932, 0.933, 0.935),
    "Weight": (0.938, 0.934, 0.929, 0.936),
    "Effect": (0.957, 0.947, 0.947, 0.941),
    "VIF": (0.956, 0.949, 0.941, 0.943),
    "alpha": (0.924, 0.929, 0.938, 0.949),
    "rho_A": (0.934, 0.925, 0.930, 0.941),
    "CR": (0.925, 0.928, 0.938, 0.946),
    "AVE": (0.941, 0.937, 0.938, 0.947),
    "HTMT": (0.929, 0.919, 0.925, 0.937),
    "HTMT2": (0.964, 0.953, 0.939, 0.947),
    "R2": (0.925, 0.910, 0.920, 0.948),
    "SRMR": (0.998, 0.995, 0.990, 0.958),
    "D_div": (0.845, 0.890, 0.902, 0.932),
    "TC": (0.910, 0.925, 0.960, 0.943),
    "D_valid": (0.975, 0.960, 0.965, 0.953),
}
FEWEST_D_DIV = 60  # models, below which intervals of D_div hold the true value in fewer than 90 % of tables
# Of 200 tables each, of a model with eleven tasks, those in which there was a test.
POWER_OF_FIT = (
    "a correct model in 7 of 197 tables of 165 models, and one with three residual correlations of .2 in 107 of 198; "
    "with 60 models in 2 of 142 and 7 of 137, and with 20 there was never a test"
)

PRUNE_MODELS = (20, 30, 60, 80, 100, 130, 190, 300, 500)
# Of 100 tables each: shares of pairs that lose exactly one task, of weak tasks (true loading .2) that go, and of good
# tasks (true loading .80, where .75 is the limit) that go as well.
PRUNE_SHARES = (
    (0.780, 0.987, 0.263),
    (0.873, 0.997, 0.147),
    (0.977, 1.0, 0.043),
    (0.990, 1.0, 0.030),
    (0.997, 1.0, 0.017),
    (0.987, 1.0, 0.006),
    (1.0, 1.0, 0.001),
    (0.997, 1.0, 0.0),
    (1.0, 1.0, 0.0),
)
FEWEST_TO_PRUNE = 80  # models: with 60, the 95 % interval of the share of good tasks that go includes 5 %
