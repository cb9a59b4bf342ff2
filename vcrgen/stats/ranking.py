"""Who is better beyond doubt: paired bootstrap on the same resamples of the same images.

All runs of one signature on one set were resampled alike (:mod:`vcrgen.stats.bootstrap`), so the differences of their
resampled means are paired. One model is better than another if the 95 % interval of that difference is above 0. A rank
is one more than the number of models that are better: models that nobody is better than share the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from vcrgen.stats.bootstrap import interval


def beaten_by(means: bytes, others: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Which of some models are better than one model, and which are worse.

    Args:
        means: Of the model: means of its resamples, float64.
        others: The same of the others.

    Returns:
        The positions of those that are better, and of those that are worse; the rest cannot be told apart from it.
    """
    if not others:
        return [], []
    import numpy as np

    ours = np.frombuffer(means, "<f8")
    theirs = np.frombuffer(b"".join(others), "<f8").reshape(len(others), -1)
    low, high = interval((theirs - ours).T)
    return np.flatnonzero(low > 0).tolist(), np.flatnonzero(high < 0).tolist()
