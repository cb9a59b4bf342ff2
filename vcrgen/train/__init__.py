"""Fine-tuning a vision-language model by LoRA on examples of a stream or of a built dataset.

data.py         where examples come from, one after another without end, with a place to go on from
encoding.py     examples as tensors: which tokens are the answer
adapter.py      LoRA on a model, and the adapter's files
checkpoint.py   all that a training needs to go on, in one file
loop.py         steps of the optimiser
run.py          a training in a folder: begun, interrupted, gone on with, finished
"""
