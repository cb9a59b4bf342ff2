"""Training of vision-language models on examples of a stream or of a built dataset.

rewards.py      what a completion is worth, for reinforcement learning
forms.py        examples of a stream as rows of other trainers
data.py         endless, resumable examples
encoding.py     examples as tensors, with labels for the tokens of the answer
adapter.py      LoRA on a model, and the adapter's files
checkpoint.py   the state of a training in one file
loop.py         steps of the optimiser
run.py          a resumable training in a folder
"""

from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.train.forms import rows
    from vcrgen.train.rewards import Restoration, restoration

__all__ = ["Restoration", "restoration", "rows"]

__getattr__, __dir__ = attach(__name__, {"train.forms": ["rows"], "train.rewards": ["Restoration", "restoration"]})
