"""Training of vision-language models on examples of a stream or of a built dataset.

rewards.py      what a completion is worth, for reinforcement learning
forms.py        examples of a stream as rows of other trainers
taskset.py      the same as a taskset of verifiers, which imports it by the name of vcrgen_env.py
data.py         rows of pairs or of a dataset, resumable
trainer.py      TRL's trainers and peft's LoRA by a recipe
run.py          a resumable training in a folder
"""

from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.train.forms import rows
    from vcrgen.train.rewards import Restoration, restoration

__all__ = ["Restoration", "restoration", "rows"]

__getattr__, __dir__ = attach(__name__, {"train.forms": ["rows"], "train.rewards": ["Restoration", "restoration"]})
