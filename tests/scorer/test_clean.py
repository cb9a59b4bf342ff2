"""Thinking blocks and prompt echoes; words of refusal are in test_vlmevalkit.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.scorer.clean import clean

THINKING = {
    "none": ("answer", "answer", False),
    "closed": ("<think>x</think>answer", "answer", True),
    "two": ("a<think>x</think>b<think>y</think>c", "abc", True),
    "unclosed": ("answer<think>x", "answer", True),
    "opened by the prompt": ("x, y</think>answer", "answer", True),
    "other spelling": ("<Thinking>x</THINKING>answer", "answer", True),
    "nested": ("<think>a<think>b</think>c</think>answer", "answer", True),
    "only thinking": ("<think>x</think>", "", True),
    "empty": ("", "", False),
}


@pytest.mark.parametrize(("output", "text", "thinking"), THINKING.values(), ids=THINKING.keys())
def test_thinking_blocks(output: str, text: str, thinking: bool) -> None:
    cleaned = clean(output, strip_thinking=True, cut_prefix=False)
    assert (cleaned.text, cleaned.thinking) == (text, thinking)


def test_thinking_is_kept_on_request() -> None:
    output = "<think>x</think>answer"
    assert clean(output, strip_thinking=False, cut_prefix=False).text == output


@given(st.lists(st.sampled_from(["<think>", "</think>", "Assistant: ", "ab", "c"]), max_size=12), st.booleans())
def test_offsets_lead_back_to_the_output(parts: list[str], cut: bool) -> None:
    output = "".join(parts)
    cleaned = clean(output, strip_thinking=True, cut_prefix=cut)
    for position, char in enumerate(cleaned.text):
        assert output[cleaned.origin(position)] == char
