"""The reader of outputs: families of thinking, tokens of chat templates, wrappers, characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import ScoreError
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.reader import STEPS, containers, end_token, plain_characters, read_output
from vcrgen.scorer.scorer import make_scorer

ANSWERS = ("red dog runs over the", "big cat and small bird")
RIGHT = "red dog runs over the\nbig cat and small bird"
THOUGHT = "The tops look like a d and an o, so it may be a blue cow and a tiny fish. " * 6
HARMONY = "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"
FAMILIES = [
    ("<think>", "</think>"),
    ("<Thinking>", "</THINKING>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<longcat_think>", "</longcat_think>"),
    HARMONY,
    ("analysis", "assistantfinal"),  # the same without special tokens
]


def exact(output: str, **options: tuple[str, str]) -> int:
    scored = make_scorer("en", **options)(ANSWERS, output)  # type: ignore[arg-type]
    return sum(match.exact for match in scored.matches)


@pytest.mark.parametrize(("opening", "closing"), FAMILIES)
def test_thought_of_every_family_costs_nothing(opening: str, closing: str) -> None:
    assert exact(f"{opening}{THOUGHT}{closing}\n{RIGHT}") == 2
    if opening != "analysis":  # a word of English
        assert exact(f"{opening}{RIGHT}") == 0  # an unclosed block reaches to the end
    read = read_output(f"{opening}{RIGHT}{closing}")
    assert not read.text.strip() and read.thinking


@pytest.mark.parametrize("closing", [closing for _, closing in FAMILIES[:12]])
def test_a_block_that_the_prompt_opened_ends_with_its_closing_tag(closing: str) -> None:
    assert exact(f"{THOUGHT}{closing}{RIGHT}") == 2


@pytest.mark.parametrize(("opening", "closing"), FAMILIES[:12])
def test_a_tag_of_another_family_does_not_end_a_block(opening: str, closing: str) -> None:
    other = "[/THINK]" if opening != "[THINK]" else "</think>"
    assert read_output(f"{opening}a{other}b{closing}c").text == "c"
    assert read_output(f"{opening}a{other}b").text == ""


def test_tags_of_a_user() -> None:
    output = f"<|mull|>{THOUGHT}<|/mull|>{RIGHT}"
    assert exact(output) < 2
    assert exact(output, thinking_tags=("<|mull|>", "<|/mull|>")) == 2
    assert make_scorer("en", thinking_tags=("<a>", "</a>")).facts["think"] == "strip+<a>..</a>"
    assert "|" not in make_scorer("en", thinking_tags=("<|a|>", "b")).facts["think"]
    for options in ({"protocol": "paper"}, {"thinking_tags": ("", "x")}):
        with pytest.raises(ScoreError, match="an opening and a closing tag"):
            make_scorer("en", **{"thinking_tags": ("<a>", "</a>"), **options})  # type: ignore[arg-type]


ENDS = (
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|endoftext|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
)


@pytest.mark.parametrize("end", ENDS)
def test_tokens_of_chat_templates_cost_nothing(end: str) -> None:
    assert exact(f"{RIGHT}{end}") == exact(f"{RIGHT} {end}\n{end}") == 2
    assert exact(f"{RIGHT}{end}\n<|im_start|>user\nAnd the next picture?{end}") == 2  # another turn
    assert exact(f"<|im_start|>assistant\n{RIGHT}{end}") == 2
    assert exact(f"{end}{RIGHT}") == 2
    assert end_token(f"x{end}\n") == [end] and not end_token(f"{end}x")


FIRST, SECOND = ANSWERS
WRAPPED = {
    "a fence": f"```\n{RIGHT}\n```",
    "JSON": f'{{"answers": ["{FIRST}", "{SECOND}"], "confidence": 0.9}}',
    "JSON, other names": f'{{"Final_Answer": "{FIRST}\\n{SECOND}", "explanation": "none"}}',
    "JSON without a known name": f'{{"span 1": "{FIRST}", "span 2": "{SECOND}"}}',
    "JSON list of objects": f'[{{"index": 1, "text": "{FIRST}"}}, {{"index": 2, "text": "{SECOND}"}}]',
    "JSON in a fence": f'Here it is:\n```json\n["{FIRST}", "{SECOND}"]\n```\nI hope it helps.',
    "JSON at the end": f'Sure! {{"answer": "{FIRST}; {SECOND}"}}',
    "boxes": rf"So \boxed{{{FIRST}}} and \boxed{{\text{{{SECOND}}}}}.",
    "a box of lines": f"It is \\boxed{{{FIRST}\n{SECOND}}}, I think.",
    "text of lines": f"\\text{{{FIRST}\n{SECOND}}}",
    "tags": f"I think: <answer>{FIRST}</answer>\n<answer>{SECOND}</answer>",
    "one tag": f"It says <answer>{RIGHT}</answer> there",
    "a tag that was not closed": f"Well, <answer>{RIGHT}",
    "a box of GLM": f"<|begin_of_box|>{RIGHT}<|end_of_box|>",
    "bold": f"**{FIRST}**\n**{SECOND}**",
    "glued numbers": f"1.{FIRST}\n2.{SECOND}",
    "glued bullets": f"•{FIRST}\n•{SECOND}",
    "dashes": f"-{FIRST}\n- {SECOND}",
    "a written line end": f"{FIRST}\\n{SECOND}",
    "no-break spaces": RIGHT.replace(" ", "\N{NO-BREAK SPACE}"),
    "zero-width characters": RIGHT.replace("o", "\N{ZERO WIDTH SPACE}o"),
}


@pytest.mark.parametrize("output", WRAPPED.values(), ids=WRAPPED)
def test_wrappers_and_characters_cost_nothing(output: str) -> None:
    scored = make_scorer("en")(ANSWERS, output)
    assert [match.exact for match in scored.matches] == [True, True] and scored.steps


def test_quotes_are_plain_in_answers_and_outputs_alike() -> None:
    curly, plain = "the king\N{RIGHT SINGLE QUOTATION MARK}s new old house", "the king's new old house"
    for answer, output in ((curly, plain), (plain, curly), (curly, curly)):
        assert make_scorer("en")([answer], output).matches[0].exact
    assert not make_scorer("en", protocol="paper")([curly], plain).matches[0].exact


def test_commands_of_latex_are_no_line_ends() -> None:
    assert plain_characters(read_output(r"\neq \nu \times \text")).text == r"\neq \nu \times \text"


PIECES = [
    "<think>",
    "</think>",
    "[THINK]",
    "<|im_end|>",
    "<answer>",
    "</answer>",
    "\\boxed{",
    "}",
    "a b",
    "\n",
    "*",
    "`",
    '{"answer": "x"}',
    "\u200b",
    "’",
    "\\n",
    "1. ",
]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("on the roof\\nothers stay", "on the roof\nothers stay"),
        ("red\\ttopics\\nice", "red topics\nice"),
        ("$\\nu_1 \\neq \\theta, \\not\\in \\tan x$", "$\\nu_1 \\neq \\theta, \\not\\in \\tan x$"),
    ],
)
def test_a_written_line_end_is_one_before_any_word_and_no_command_of_latex(output: str, text: str) -> None:
    assert read_output(output).text == text


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_offsets_lead_back_to_the_output(pieces: list[str]) -> None:
    output = "".join(pieces)
    read = read_output(output)
    assert set(read.steps) <= set(STEPS)
    for position, character in enumerate(read.text):
        origin = read.origin(position)
        assert 0 <= origin < len(output)
        assert character in (output[origin], "\n", " ", "'", '"')


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_what_was_read_is_left_alone_where_no_wrapper_is_left(pieces: list[str]) -> None:
    text = read_output("".join(pieces)).text
    if not set("<[{`*\\") & set(text):
        assert read_output(text).text == text


@pytest.mark.parametrize(
    "piece",
    [
        "<answer>",
        "\\boxed{",
        "```",
        "{",
        "[",
        '{"a":',
        "<think>",
        "*",
        "'",
        '"',
        "1.",
        "\\text{",
        "<|channel|>analysis",
        "「",
        "(1)",
        "answer: ",
    ],
)
def test_an_endless_output_takes_no_endless_time(piece: str) -> None:
    output = piece * (200_000 // len(piece))
    assert len(read_output(output).text) <= LONGEST_OUTPUT
    assert make_scorer("en")(ANSWERS, output).length == len(output) or "think" in piece or "channel" in piece
    assert containers(output[:LONGEST_OUTPUT]) is not None
