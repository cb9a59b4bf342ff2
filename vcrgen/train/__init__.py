"""Fine-tuning a vision-language model by LoRA on examples of a stream or of a built dataset.

data.py         endless, resumable examples
encoding.py     examples as tensors, with labels for the tokens of the answer
adapter.py      LoRA on a model, and the adapter's files
checkpoint.py   the state of a training in one file
loop.py         steps of the optimiser
run.py          a resumable training in a folder
"""
