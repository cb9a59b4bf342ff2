"""A small model with random weights, and trainings of it that take a second."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.train.options import TrainOptions

SHORT = {"steps": 5, "batch": 3, "micro_batch": 2, "save_every": 2, "learning_rate": 1e-2, "seed": 7}


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Two threads on busy cores take several times as long as one."""
    torch = pytest.importorskip("torch", reason='needs pip install "vcrgen[train]"')
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
    for package in ("peft", "schedulefree"):
        pytest.importorskip(package, reason='needs pip install "vcrgen[train]"')
    folder: Path = tinyvlm.save(*parts, tmp_path_factory.mktemp("model"))
    return folder


@pytest.fixture
def train(model: Path, tmp_path: Path, one_thread: None) -> Callable[..., Any]:
    """Trains for five steps, if nothing else is said, into a folder of this name; what it gives."""
    from vcrgen.train.run import finetune

    def call(
        out: str,
        source: Any = "samples:8",
        *,
        base: Path = model,
        of_pairs: Any = None,
        listener: Any = None,
        **options: Any,
    ) -> Any:
        chosen = TrainOptions(**SHORT | options)
        return finetune(base, str(source), out=tmp_path / out, options=chosen, of_pairs=of_pairs, listener=listener)

    return call


@pytest.fixture
def log_of() -> Callable[[Path], list[dict[str, Any]]]:
    """The lines of a training's log."""
    return lambda folder: [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
