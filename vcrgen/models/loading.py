"""Vision-language models in folders on this disk, loaded into this process.

    loaded = load_model(Path("models/qwen3-vl-2b"), adapter=Path("lora"))
    loaded.model.generate(...)

Nothing is downloaded, weights that could run code are not read, and code of a folder runs only where that is asked for.
"""

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vcrgen.core.errors import ModelError, PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import sha256_file
from vcrgen.models.chat import plain_line

CONFIG, ADAPTER_CONFIG, ADAPTER_WEIGHTS = "config.json", "adapter_config.json", "adapter_model.safetensors"
# Files of a model's folder that may change what it answers; others (a README, the state of an optimiser) may not.
_COUNTED = {".safetensors", ".json", ".jinja", ".txt", ".model", ".py"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A loaded model with its processor.

    Attributes:
        model: A model of transformers in evaluation mode on its device, with an adapter's layers.
        processor: Its processor, with a chat template.
        facts: Everything that the model's answers depend on, as JSON values.
    """

    model: Any
    processor: Any
    facts: Mapping[str, Any]

    @property
    def tokenizer(self) -> Any:
        """Tokenizer of the processor, which writes and reads texts."""
        return self.processor.tokenizer


def load_model(
    folder: Path,
    *,
    adapter: Path | None = None,
    device: str = "auto",
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a vision-language model.

    Args:
        folder: Folder with ``config.json``, weights in safetensors, a processor and a chat template.
        adapter: Folder of a LoRA adapter, or of another kind that changes the model's own layers.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        trust_remote_code: Run Python files of the folder if the model needs them.

    Raises:
        ModelError: The folder is no such model, the adapter is of another one, or the device does not exist.
        PipelineError: The extra is not installed.
    """
    try:
        import torch
        import transformers
    except ImportError:
        raise PipelineError(needs_extra("A model in this process", "transformers")) from None
    check_model(folder)
    device = _device(device, has_gpu=torch.cuda.is_available())
    dtype = "float32" if device == "cpu" else "auto"  # elsewhere as they are stored
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    with silence_transformers(), _reasons(folder):
        processor = transformers.AutoProcessor.from_pretrained(folder, **options)
        _check_processor(folder, processor)
        model, loading_info = transformers.AutoModelForImageTextToText.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, output_loading_info=True, **options
        )
        if lacking := sorted(loading_info["missing_keys"]):
            raise ModelError(
                f"{folder}: {len(lacking):,} of its weights are in no file (the first: {lacking[0]}); copy it again."
            )
        model = model.to(device)
    facts = {
        "digest": folder_digest(folder),
        "device": device,
        "dtype": str(model.dtype).removeprefix("torch."),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    if adapter is not None:
        model = load_adapter(model, adapter, device).get_base_model()
        facts |= {"adapter": folder_digest(adapter), "peft": version("peft")}
    return LoadedModel(model=model.eval(), processor=processor, facts=facts)


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Suppress progress bars and warnings of transformers in a block."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """First line of an error's message, without a full stop."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return plain_line(line).rstrip(".: ")


def check_model(folder: Path) -> None:
    """Check a folder before a library does, which may look for it on the network."""
    if not folder.is_dir():
        raise ModelError(
            f"{folder} is not a folder; give the folder of a model, as `hf download NAME --local-dir DIR` makes it."
        )
    if not (folder / CONFIG).is_file():
        if (folder / ADAPTER_CONFIG).is_file():
            raise ModelError(f"{folder} is an adapter; give the folder of its base model, and this one as --adapter.")
        raise ModelError(f"{folder} is not the folder of a model (it has no {CONFIG}).")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{folder} has no weights in files *.safetensors; those of other kinds may run code, and are not read."
        )


def _device(name: str, *, has_gpu: bool) -> str:
    """Device that ``auto`` or another name stands for; a ModelError if it does not exist."""
    if name == "cuda" and not has_gpu:
        raise ModelError("--device cuda: torch finds no GPU here; leave it out, or install a torch with CUDA.")
    return ("cuda" if has_gpu else "cpu") if name == "auto" else name


def _check_processor(folder: Path, processor: Any) -> None:
    if getattr(processor, "image_processor", None) is None or getattr(processor, "tokenizer", None) is None:
        raise ModelError(f"{folder} is a language model without an image processor; give a vision-language model.")
    if not (processor.chat_template or processor.tokenizer.chat_template):
        raise ModelError(
            f"{folder} has no chat template, so it cannot be prompted; put the one of its model card into "
            f"{folder / 'chat_template.jinja'}."
        )


@contextmanager
def _reasons(folder: Path) -> Iterator[None]:
    """Turn any exception of a library into one sentence about the folder."""
    try:
        yield
    except (ModelError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the parts that are written in Rust raise what is no Exception
        reason = first_line(error)
        if "trust_remote_code" in str(error):
            raise ModelError(
                f"{folder} comes with Python code of its own, which is not run; read it, and give --trust-remote-code "
                "if you trust it."
            ) from None
        if "Unrecognized configuration class" in str(error):
            raise ModelError(
                f"{folder} is a language model, or of a kind that does not answer images with text; give a "
                "vision-language model."
            ) from None
        if out_of_memory(error):
            raise ModelError(
                f"{folder} is too large for the memory; give a smaller model, or another --device."
            ) from None
        raise ModelError(f"{folder} cannot be loaded as a vision-language model: {reason}.") from None


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, on a GPU or not."""
    import torch

    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def check_adapter(folder: Path) -> None:
    """Check that a folder has the files of an adapter; a ModelError if not."""
    for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):
        if not (folder / name).is_file():
            raise ModelError(f"{folder} is not the folder of an adapter (it has no {name}).")


def load_adapter(model: Any, adapter: Path, device: str, *, is_trainable: bool = False) -> Any:
    """Return peft's model around a model with the layers of an adapter.

    Args:
        is_trainable: Train the adapter's weights, which takes one of LoRA.

    Raises:
        ModelError: It is not such an adapter, or of another model.
        PipelineError: The extra is not installed.
    """
    try:
        from peft import PeftConfig, PeftModel
    except ImportError:
        raise PipelineError(needs_extra("--adapter", "transformers", "peft")) from None
    check_adapter(adapter)
    with silence_transformers(), _reasons(adapter):
        config = PeftConfig.from_pretrained(str(adapter))
        if config.is_prompt_learning or (is_trainable and config.peft_type.value != "LORA"):
            raise ModelError(f"{adapter} is an adapter of the kind {config.peft_type.value}; give one of LoRA's kind.")
        config.inference_mode = not is_trainable
        adapted = PeftModel(model, config)
        keys = adapted.load_adapter(str(adapter), "default", torch_device=device, is_trainable=is_trainable)
        if keys.missing_keys or keys.unexpected_keys:
            raise ModelError(f"{adapter} is the adapter of another model: its layers are not those of this one.")
    return adapted


def folder_digest(folder: Path) -> str:
    """Return a SHA-256 over names and contents of the files that may change an answer, in hex."""
    files = sorted(file for file in folder.iterdir() if file.suffix in _COUNTED and file.is_file())
    lines = "".join(f"{file.name} {sha256_file(file)}\n" for file in files)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
