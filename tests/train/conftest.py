"""A small model with random weights, and trainings of it that take seconds."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.train.options import TrainOptions

# Groups of two completions for two pictures are as small as groups can be.
SMALL = {
    "sft": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 1, "save_steps": 1, "learning_rate": 1e-2},
    "grpo": {
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 1,
        "num_generations": 2,
        "max_completion_length": 4,
        "save_steps": 1,
        "learning_rate": 1e-2,
    },
}


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Two threads on busy cores take several times as long as one."""
    torch = pytest.importorskip("torch", reason="needs the extra train")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def parts(tinyvlm: Any) -> tuple[Any, Any]:
    """A model and its processor, which tests do not change."""
    texts = [sample_pair("en", number).caption for number in range(40)]
    made: tuple[Any, Any] = tinyvlm.make([*texts, LANGUAGES["en"].question])
    return made


@pytest.fixture(scope="session")
def model(tinyvlm: Any, parts: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's folder."""
    for package in ("peft", "schedulefree", "trl"):
        pytest.importorskip(package, reason="needs the extra train")
    folder: Path = tinyvlm.save(*parts, tmp_path_factory.mktemp("model"))
    return folder


@pytest.fixture
def train(model: Path, tmp_path: Path, one_thread: None) -> Callable[..., Any]:
    """Trains for three steps, if nothing else is said, into a folder of this name; what it gives."""
    from vcrgen.train.run import finetune

    def call(out: str, source: Any = "samples:8", *, fields: Any = None, listener: Any = None, **options: Any) -> Any:
        config = tmp_path / "small.yaml"
        config.write_text(yaml.safe_dump(SMALL | (fields or {})))
        chosen = TrainOptions(**{"steps": 3, "seed": 7, "recipe": config} | options)
        heard = {} if listener is None else {"listener": listener}
        return finetune(str(source), model=model, out=tmp_path / out, options=chosen, **heard)

    return call
