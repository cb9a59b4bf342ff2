"""Inputs and labels of a model: only the answer and its end are learned."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.stream import VCRStream, answer_text
from vcrgen.core.errors import TrainError
from vcrgen.models.loading import LoadedModel
from vcrgen.train.encoding import IGNORED, Encoder, read_template

pytestmark = pytest.mark.extras

MARKS = ("{% generation %}", "{% endgeneration %}")


@pytest.fixture(scope="module")
def examples() -> list[dict[str, Any]]:
    return list(islice(VCRStream("samples:9", mode="hard", seed=2), 6))


@pytest.fixture
def loaded(parts: tuple[Any, Any]) -> LoadedModel:
    return LoadedModel(model=parts[0], processor=parts[1], facts={})


@pytest.fixture
def own(loaded: LoadedModel) -> str:
    """The model's own template."""
    return str(loaded.processor.chat_template)


def test_the_answer_and_its_end_are_learned_and_nothing_else(
    loaded: LoadedModel, examples: list[dict[str, Any]]
) -> None:
    inputs, labels = Encoder(loaded).encode(examples)
    assert len({len(answer_text(example)) for example in examples}) > 1  # so that some rows are padded
    for example, tokens, learned in zip(examples, inputs["input_ids"], labels, strict=True):
        text = loaded.tokenizer.decode(learned[learned != IGNORED])
        assert text == answer_text(example) + "</s>"
        assert (tokens[learned != IGNORED] == learned[learned != IGNORED]).all()
    assert inputs["pixel_values"].shape[0] == len(examples) and "assistant_masks" not in inputs


def test_an_end_outside_of_the_marks_is_learned_too(
    loaded: LoadedModel, own: str, examples: list[dict[str, Any]]
) -> None:
    outside = own.replace("</s>{% endgeneration %}", "{% endgeneration %}</s>")
    assert outside != own
    assert (Encoder(loaded, outside).encode(examples)[1] == Encoder(loaded).encode(examples)[1]).all()


def test_the_model_is_taught_what_it_is_asked(loaded: LoadedModel, examples: list[dict[str, Any]]) -> None:
    Encoder(loaded).check(examples[0])


def changed(own: str, *changes: tuple[str, str]) -> str:
    for before, after in changes:
        assert before in own
        own = own.replace(before, after)
    return own


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (((MARKS[0], ""), (MARKS[1], "")), "does not mark the assistant's answer, .* --chat-template FILE"),
        ((("</s>{% endg", "{% endg"),), "writes no end token of the model behind the answer"),
        ((("<|bot|>{% generation %}", "{% generation %}answer: "),), "marks 'answer: .*' as the answer where"),
        ((("<|user|>", "<|user|>Look: "),), "does not write what the model is asked with later"),
        ((("{% endif %}{% endfor %}", "{% endif %}"),), r"cannot make a chat of an example \(.*\); mend its chat"),
        ((("{{ part['text'] }}", "{{ ''.__class__.__mro__ }}"),), r"cannot make a chat of an example \(.*unsafe"),
    ],
)
def test_templates_that_are_refused(
    loaded: LoadedModel, own: str, examples: list[dict[str, Any]], changes: Any, problem: str
) -> None:
    with pytest.raises(TrainError, match=problem):
        Encoder(loaded, changed(own, *changes)).check(examples[0])


def test_files_of_templates(tmp_path: Path) -> None:
    file = tmp_path / "chat.jinja"
    for data, problem in ((b"\xff\xfe", "not UTF-8"), (b"x" * (1 << 20) + b"x", "larger than 1 MiB")):
        file.write_bytes(data)
        with pytest.raises(TrainError, match=problem):
            read_template(file)
    with pytest.raises(TrainError, match="cannot be read: No such file"):
        read_template(tmp_path / "none.jinja")
    file.write_text("{{ x }}")
    assert read_template(file) == "{{ x }}"
