r"""The reader of outputs: what a model wrote becomes the text that is its answer, in four steps.

1. ``thinking``: blocks of thought, by the tags of the families in `FAMILIES`.
2. ``end_tokens``: tokens by which chat templates begin and end a turn; what follows the first end is another turn.
3. ``wrappers``: JSON, tags such as ``<answer>``, ``\boxed{}``, code fences, emphasis.
4. ``characters``: invisible characters go; curly quotes, no-break spaces and a written ``\n`` become plain ones.

Both tasks read outputs by it, under the protocols of our own. Published protocols keep their rules (``clean.py``).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from vcrgen.scorer.clean import LONGEST_OUTPUT, THINKING, Cleaned, Edit, thinking_blocks

END_TOKENS, WRAPPERS, CHARACTERS = "end_tokens", "wrappers", "characters"
STEPS = (THINKING, END_TOKENS, WRAPPERS, CHARACTERS)


class Family(NamedTuple):
    """The tags of thought that some models write, as patterns."""

    opening: str
    closing: str
    prompted: bool = True  # a prompt may open it, so that a closing tag alone ends a block, too


# Each from the chat template or the tokenizer's added tokens of the models named.
FAMILIES = (
    Family("<think(?:ing)?>", "</think(?:ing)?>"),  # DeepSeek-R1, Qwen3, QwQ, GLM-4.5, MiniMax-M1, Claude in prompts
    Family(r"\[THINK\]", r"\[/THINK\]"),  # Magistral
    Family("◁think▷", "◁/think▷"),  # Kimi-VL-Thinking
    Family("<thought>", "</thought>"),  # Gemini's API in the form of OpenAI's
    Family("<seed:think>", "</seed:think>"),  # Seed-OSS
    Family(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A Reasoning
    Family("<unused94>(?:thought)?", "<unused95>"),  # MedGemma 1.5
    Family("<reasoning>", "</reasoning>"),  # LLaVA-CoT, models trained by GRPO recipes
    Family("<scratchpad>", "</scratchpad>"),  # prompts that ask for it
    Family(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker, Sky-T1
    Family("<longcat_think>", "</longcat_think>"),  # LongCat-Flash-Thinking
    # gpt-oss: each channel but the final one is thought; the second form is what is left without special tokens.
    Family(
        r"<\|channel\|>(?:analysis|commentary)\b[^<\n]{0,80}<\|message\|>",
        r"<\|end\|>|<\|channel\|>final\b[^<\n]{0,80}<\|message\|>",
        prompted=False,
    ),
    Family(r"\A(?:analysis|commentary)(?=[\s\S]*?assistantfinal)", "assistantfinal", prompted=False),
)
_BARE_CHANNEL = re.compile("analysis|commentary", re.IGNORECASE)  # that begins an output
_END = re.compile(
    r"<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|eom_id|END_OF_TURN_TOKEN|END_RESPONSE|eot|call|endofturn"
    r"|user_end|assistant_end|separator|user|observation)\|>|</s>|<(?:end_of_turn|turn\|)>|<eos>|<(?:｜|\|)end(?:▁|_)of(?:▁|_)sentence(?:｜|\|)>"
    r"|<\[PAD\]>|\[EOS\]|<pad>"
)
_BEGIN = re.compile(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<\|start\|>|<start_of_turn>|<\|turn>)(?:assistant|model)?\n?"
    r"|<\|(?:end_header_id|assistant|begin_of_text|START_RESPONSE|message|START_OF_TURN_TOKEN|CHATBOT_TOKEN"
    r"|begin_of_solution|end_of_solution)\|>\n?|<\|channel\|>final\b|<s>|<bos>|<(?:｜|\|)Assistant(?:｜|\|)>"
)
# Names under which models put their answer, the likeliest first.
_ANSWER_KEYS = (
    *("finalanswer", "correctanswer", "answer", "answers", "selectedoption", "selectedanswer", "choice", "option"),
    *("letter", "label", "prediction", "restoredtext", "restoredtexts", "restored", "coveredtext", "coveredtexts"),
    *("text", "texts", "output", "response", "result"),
)
_TAGS = "answer|final_answer|text|response|output|result|solution|conclusion"
_TAG = re.compile(rf"<(/?)({_TAGS})>|<\|(begin|end)_of_box\|>", re.IGNORECASE)  # the box is of GLM-4.5V
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile("[{}]")
_COMMAND = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|textrm|mbox)\s*\{([^{}]*)\}")
_FENCED = re.compile(r"```[^\S\n]*+\w*+[^\S\n]*+\n?+(.*?)```", re.DOTALL)
_LAST_OBJECT = re.compile(r"\{[^{}]*\}\s*\Z")
_MARKUP = re.compile(
    r"(?:```\w*+\n?+|`)+|\*{2,}|\*(?=\S)|(?<=\S)\*|</?(?:b|i|u|em|strong|mark|code|p|li|ul|ol|span|div)>|<br ?/?>",
    re.IGNORECASE,
)
# Whoever reads a drawn text cannot tell these from nothing, or from the plain character that comes in their place.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+"
)
# A line end or a tab that was written as two characters, and no command of LaTeX, which ends where its letters do.
_COMMANDS = {
    "n": "eq|u|abla|ot|otin|i|mid|exists|leq|geq|leftarrow|rightarrow|earrow|warrow",
    "t": "ext[a-z]*|imes|heta|anh?|au|o|riangle[a-z]*|ilde|op|frac|herefore",
}
_WRITTEN = re.compile("|".join(rf"\\{letter}(?!(?:{rest})(?![A-Za-z]))" for letter, rest in _COMMANDS.items()))
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\u00b4\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u3000", " "),
        "\u2011": "-",
    }
)
# Which is known sooner than that none of many patterns matches: every tag and token above has such a place.
_TAG_START = re.compile(r"<(?=[\w/|｜\[])|\[(?=[\w/])|◁(?=[\w/])")
_MARKUP_START = re.compile(r"[`*]|<[a-z/]", re.IGNORECASE)
_SAME_LETTERS = re.compile(f"[{''.join(map(chr, _PLAIN))}]")
# What no output holds that the steps leave as it is.
_PLAIN_OUTPUT = re.compile(r"[\w\s.,;:!?()\-\"'/%&+=]*\Z", re.ASCII)


def read_output(
    output: str, *, strip_thinking: bool = True, thinking_tags: tuple[str, str] | None = None, unbox: bool = True
) -> Cleaned:
    """The text that is an output's answer.

    Args:
        strip_thinking: Take out thinking; an unclosed block reaches to the end, and a closing tag without an opening
            one (the prompt opened it) ends a block that began with the output.
        thinking_tags: An opening and a closing tag besides those of `FAMILIES`.
        unbox: Let tags and boxes that hold the answer be the whole text; otherwise they stay (`containers`).
    """
    if thinking_tags is None and _PLAIN_OUTPUT.match(output) and not output.startswith(("analysis", "commentary")):
        cleaned = Cleaned(output)
    else:
        cleaned = _without_thinking(Cleaned(output), thinking_tags) if strip_thinking else Cleaned(output)
    if len(cleaned.text) > LONGEST_OUTPUT:
        length = len(cleaned.text)
        cleaned = cleaned.edited([Edit(LONGEST_OUTPUT, length)], "")._replace(steps=cleaned.steps, uncut=length)
    if _PLAIN_OUTPUT.match(cleaned.text):
        return cleaned
    return plain_characters(_unwrapped(_one_turn(cleaned), unbox))


def plain_characters(cleaned: Cleaned) -> Cleaned:
    """The text without invisible characters and with plain quotes and spaces: of answers and outputs alike."""
    if cleaned.text.isascii() and "\\" not in cleaned.text:
        return cleaned
    edits = [Edit(*unseen.span()) for unseen in _UNSEEN.finditer(cleaned.text)]
    if "\\" in cleaned.text:
        edits += [Edit(*mark.span(), "\n" if mark[0] == "\\n" else " ") for mark in _WRITTEN.finditer(cleaned.text)]
    cleaned = cleaned.edited(sorted(edits), CHARACTERS)
    if not _SAME_LETTERS.search(cleaned.text):
        return cleaned
    text = cleaned.text.translate(_PLAIN)
    steps = cleaned.steps if CHARACTERS in cleaned.steps else (*cleaned.steps, CHARACTERS)
    return cleaned._replace(text=text, steps=steps)


@cache
def _patterns(families: tuple[Family, ...]) -> re.Pattern[str]:
    """One pattern of all tags: group 2k + 1 opens the family k, group 2k + 2 closes it."""
    return re.compile("|".join(f"({opening})|({closing})" for opening, closing, _ in families), re.IGNORECASE)


def _without_thinking(cleaned: Cleaned, more: tuple[str, str] | None) -> Cleaned:
    """A block ends with a tag of the family that began it, or with the answer's channel."""
    families = FAMILIES if more is None else (Family(re.escape(more[0]), re.escape(more[1])), *FAMILIES)
    pattern = _patterns(families)

    def tags() -> Iterator[tuple[tuple[int, int], bool]]:
        family = 0
        has_other_tags = more is not None or _BARE_CHANNEL.match(cleaned.text)
        for tag in pattern.finditer(cleaned.text) if has_other_tags else _tags_in(cleaned.text, pattern):
            group = tag.lastindex or 0
            opens = group % 2 == 1
            number = (group + 1) // 2
            if family not in (0, number) or not (opens or family or families[number - 1].prompted):
                continue
            family = number if opens else 0
            yield tag.span(), opens

    return cleaned.edited(thinking_blocks(tags()), THINKING)


def _tags_in(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin where a tag can, which are found sooner than by trying every place."""
    end = 0
    for place in _TAG_START.finditer(text):
        if place.start() >= end and (tag := pattern.match(text, place.start())):
            yield tag
            end = tag.end()


def _one_turn(cleaned: Cleaned) -> Cleaned:
    """The first turn that has text, without the tokens around it."""
    edits, text = list[Edit](), cleaned.text
    if not _TAG_START.search(text):
        return cleaned
    position = 0
    tokens = sorted([*_BEGIN.finditer(text), *_END.finditer(text)], key=lambda token: token.start())
    for token in tokens:
        if token.re is _END and _has_text(text, position, token.start()):
            return cleaned.edited([*edits, Edit(token.start(), len(text))], END_TOKENS)
        if token.start() >= position:
            edits.append(Edit(*token.span()))
            position = token.end()
    return cleaned.edited(edits, END_TOKENS)


def end_token(output: str) -> list[str]:
    """The token by which an output ends, if there is one."""
    tail = output[-200:].rstrip()
    return [token[0] for token in _END.finditer(tail) if token.end() == len(tail)]


def without_tagged(output: str, tags: tuple[str, str]) -> str:
    """An output without the thinking blocks of a user's tags, and all others."""
    return _without_thinking(Cleaned(output), tags).text


def _has_text(text: str, start: int, end: int) -> bool:
    return bool(text[start:end].strip())


def _unwrapped(cleaned: Cleaned, unbox: bool) -> Cleaned:
    """The text in the container that holds the answer, if there is one, without fences and emphasis."""
    for _ in range(3):  # a container may stand in another one
        inner = _contents(cleaned, unbox)
        if inner is cleaned:
            break
        cleaned = inner
    if "\\" in cleaned.text:
        commands = _COMMAND.finditer(cleaned.text)
        cleaned = cleaned.edited((Edit(*command.span(), command[1]) for command in commands), WRAPPERS)
    if not _MARKUP_START.search(cleaned.text):
        return cleaned
    marks = _MARKUP.finditer(cleaned.text)
    return cleaned.edited((Edit(*mark.span(), "\n" if mark[0][1:3] == "br" else "") for mark in marks), WRAPPERS)


def _contents(cleaned: Cleaned, unbox: bool) -> Cleaned:
    """What stands in JSON with an answer, in tags or in boxes, one thing a line; the text itself if there is none."""
    text = cleaned.text
    for start, end in _json_places(text):
        values = _json_answers(text[start:end])
        if values is not None:
            return cleaned.edited(_values_only(text, start, end, values), WRAPPERS)
    return _only(cleaned, list(_tagged(text)) or list(_boxes(text))) if unbox else cleaned


def containers(text: str) -> list[tuple[int, int]]:
    """Where the contents of tags and boxes stand that hold an answer, in order."""
    return sorted([*_tagged(text), *_boxes(text)])


def _only(cleaned: Cleaned, places: list[tuple[int, int]]) -> Cleaned:
    """The places alone, each in its line."""
    if not places:
        return cleaned
    edits, position = [], 0
    for start, end in places:
        edits.append(Edit(position, start, "\n" if position else ""))
        position = end
    return cleaned.edited([*edits, Edit(position, len(cleaned.text))], WRAPPERS)


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """The contents of tags that say "answer"; an unclosed one, as of an output that was stopped, reaches to the end."""
    opened, start = "", 0
    if not _TAG_START.search(text):
        return
    for tag in _TAG.finditer(text):
        name = (tag[2] or "box").lower()
        opens = tag[3].lower() == "begin" if tag[3] else not tag[1]
        if opens and not opened:
            opened, start = name, tag.end()
        elif not opens and name == opened:
            yield start, tag.start()
            opened = ""
    if opened:
        yield start, len(text)


def _boxes(text: str) -> Iterator[tuple[int, int]]:
    """The contents of boxes, by balanced braces; an unclosed one ends with its line."""
    if not _BOXED.search(text):
        return
    opened = list[int]()
    closing = dict[int, int]()  # by the place of each opening brace, that of the one that closes it
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.start()
    position = 0
    while box := _BOXED.search(text, position):
        end = closing.get(box.end() - 1)
        if end is None:
            end = text.find("\n", box.end())
        position = end if end >= 0 else len(text)
        yield box.end(), position


def _json_places(text: str) -> Iterator[tuple[int, int]]:
    """Where JSON may stand: the whole text, a fenced block, an object at the end."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        start = text.index(stripped[0])
        yield start, start + len(stripped)
    for fenced in _FENCED.finditer(text) if "```" in text else ():
        if fenced[1].lstrip()[:1] in ("{", "["):
            yield fenced.span(1)
    if "{" in text and (last := _LAST_OBJECT.search(text, text.rindex("{"))):
        yield last.span()


def _json_answers(text: str) -> list[str] | None:
    """The texts that are the answer in JSON, or None."""
    try:
        return _answers_in(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _answers_in(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return [str(value)]
    if isinstance(value, list):
        inner = [_answers_in(element) for element in value]
        return None if None in inner else [text for texts in inner for text in texts or ()]
    names = {re.sub(r"[\W_]", "", name).lower(): name for name in value}
    for name in _ANSWER_KEYS:
        if name in names:
            return _answers_in(value[names[name]])
    return _answers_in(list(value.values())) if value else None


def _values_only(text: str, start: int, end: int, values: list[str]) -> list[Edit]:
    """The edits that leave the values of a stretch of JSON, each in its line."""
    places, position = list[Edit](), start
    for value in values:
        for written in (value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]):
            at = text.find(written, position, end)
            if at >= 0:
                places.append(Edit(at, at + len(written), value))
                position = at + len(written)
                break
        else:  # written in another way: where it stood is not known
            return [Edit(0, len(text), "\n".join(values))]
    edits, position = list[Edit](), 0
    for number, place in enumerate(places):
        edits.append(Edit(position, place.start, "\n" if number else ""))
        edits.append(place)
        position = place.end
    return [*edits, Edit(position, len(text))]
