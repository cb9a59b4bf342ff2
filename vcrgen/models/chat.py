"""OpenAI's chat protocol: a request as the bytes that are sent, and a reply out of the bytes that come back.

A server is not trusted: whatever it sends is a :class:`Reply` or a :class:`CallError`.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vcrgen.core.errors import ConfigError, VcrgenError
from vcrgen.core.media import media_type
from vcrgen.core.reading import describe, encodable, parse_json
from vcrgen.core.records import RejectReason
from vcrgen.models.address import Address
from vcrgen.models.base import Reply, Request, RequestProblem, TokenLogprobs
from vcrgen.models.logprobs import NO_LOGPROBS, candidate_start, validate_labels, validate_tokens

MAX_REPLY_BYTES = 8 << 20
MAX_NAME = 200  # characters of a name that a server gives
_MAX_TOKENS = 1 << 40  # no reply has as many
_LONGEST_SENTENCE = 300  # characters of what a server says of an error
_MARKUP = re.compile(r"<[^<>]*>")
_THINKING = re.compile(r"\s*<(think(?:ing)?)>", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>\s*", re.IGNORECASE)
# How vLLM is asked for the tokens of a prompt and, of a turn that the model has begun, for their log-probabilities.
_WITH_TOKENS = {"return_token_ids": True}
_WITH_ANSWER = {
    **_WITH_TOKENS,
    "prompt_logprobs": 0,
    "continue_final_message": True,
    "add_generation_prompt": False,
    "max_tokens": 1,
}
# How servers are asked for the likeliest tokens at each place; 20 is the most that most of them allow.
_WITH_LABELS = {"logprobs": True, "top_logprobs": 20}
# Codes of errors that stand for a filter: of Azure, and of those that generate pictures.
_FILTER_CODES = (
    "content_filter",
    "ResponsibleAIPolicyViolation",
    "content_policy_violation",
    "moderation_blocked",
    "contentFilter",
)
BUSY = 429
TRIED_AGAIN = {408, 409, 425, BUSY}
REFUSED = {400, 413, 415, 422}  # statuses of errors that are about what is in a request, not about its key or address
TO_MEND = {  # what a status means that no later try changes
    401: "the server takes no call without a key that it knows: check {key}",
    403: "the key may not use this model, or its account has no credit: check {key} and the account",
    404: "mostly a wrong address or model: check {option} and the name of the model",
    405: "mostly a wrong address: check {option}",
}
_LISTED = 4  # parts of an error that are looked at
Redact = Callable[[str], str]  # takes the key out of a text


class CallError(Exception):
    """A call without a reply.

    Attributes:
        kind: Type of the error.
        detail: Description for people, with the server's own sentence.
        retryable: Whether another call may succeed.
        refused: Whether the server refuses what is in the request.
        wait: Seconds of pause that the server asks for, or None.
        unknown: Parameters that the server does not know.
        usage: Tokens of a reply that cannot be used, by kind.
        busy: Whether the server gets too many requests.
        in_outage: Whether the server is away; the connection says so.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        retryable: bool = True,
        refused: bool = False,
        wait: float | None = None,
        unknown: frozenset[str] = frozenset(),
        usage: Mapping[str, int] | None = None,
        busy: bool = False,
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.retryable, self.refused = kind, detail, retryable, refused
        self.wait, self.unknown, self.usage = wait, unknown, usage or {}
        self.busy, self.in_outage = busy, False


class _NotJson(VcrgenError):
    """Not JSON within the limits; internal to this module."""


def encode_request(request: Request, address: Address, model: str, candidate: str | None = None) -> bytes:
    """Encode a request as JSON, without unset fields.

    Args:
        candidate: A candidate whose log-probabilities are requested in place of an answer.

    Raises:
        ConfigError: The server ignores one of its parameters.
        RequestProblem: An image has an unknown format, or the server cannot give what is asked for.
    """
    if request.candidates and not address.kind.gives_candidate_logprobs:
        raise RequestProblem(NO_LOGPROBS, f"servers of the kind {address.profile} give no log-probabilities of answers")
    images = [_image_part(image, request.detail) for image in request.images]
    words: list[tuple[bytes, ...]] = [(_json_bytes({"type": "text", "text": request.text}),)] if request.text else []
    parts = words + images if request.text_first else images + words
    names = address.kind.names
    sampling = {names.get(name, name): value for name, value in request.sampling.given.items()}
    head = {"model": model} if address.kind.names_model else {}
    fields = {**head, **sampling, **request.parameters}
    end = b"]}]}"
    if candidate is not None:
        fields = {**head, **request.parameters, **_WITH_ANSWER}
        end = b']},{"role":"assistant","content":' + _json_bytes(candidate) + b"}]}"
    else:
        fields |= (_WITH_TOKENS if request.candidates else {}) | (_WITH_LABELS if request.labels else {})
    if ignored := sorted(address.kind.ignores & fields.keys()):
        raise ConfigError(
            f"Servers of the kind {address.profile} take {ignored[0]} and ignore it, so the replies would not be what "
            "was asked for; leave it out."
        )
    settings = _json_bytes(fields)[1:-1]
    # An image is copied once, and not looked through for what needs an escape: Base64 is JSON as it is.
    system = _json_bytes({"role": "system", "content": request.system}) + b"," if request.system else b""
    pieces = [b"{", settings, b"," * bool(settings), b'"messages":[', system, b'{"role":"user","content":[']
    for number, part in enumerate(parts):
        pieces += (b"," * bool(number), *part)
    return b"".join([*pieces, end])


def _image_part(image: bytes, detail: str) -> tuple[bytes, ...]:
    """Image as a part of the message in JSON, in pieces."""
    kind = media_type(image)
    if kind is None:
        raise RequestProblem(RejectReason.UNDECODABLE, "not a PNG, JPEG or WebP image")
    start = f'{{"type":"image_url","image_url":{{"url":"data:{kind};base64,'.encode()
    end = b'"' + (b',"detail":' + _json_bytes(detail) if detail else b"") + b"}}"
    return start, base64.b64encode(image), end


def _json_bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def parse_reply(data: bytes, address: Address, redact: Redact) -> Reply:
    """Parse the body of a response with status 200.

    Args:
        redact: Removes the key from a text.

    Raises:
        CallError: The body is no reply, or an error in spite of its status.
    """
    body = parse_object(data, redact, address.option)
    usage = _usage(body.get("usage"))
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and (error := choice.get("error")):
        raise _error_in_reply(error, redact, usage)
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise CallError("wrong_form", "the server sent a reply without a message", usage=usage)
    text, thinking = _parts(message)
    served = {name: clean_name(body.get(name), redact) for name in ("provider", "system_fingerprint")}
    return Reply(
        text=encodable(redact(text)),
        model=clean_name(body.get("model"), redact),
        finish_reason=clean_name(choice.get("finish_reason"), redact),
        usage=usage,
        thinking=encodable(redact(thinking)),
        served={"host": address.host} | {name: value for name, value in served.items() if value},
    )


def parse_object(data: bytes, redact: Redact, option: str) -> dict[str, Any]:
    """Parse the JSON object that is the body of a response with status 200.

    Raises:
        CallError: The body is no object, or an error in spite of its status.
    """
    body = _json(data)
    if body is None:
        page = data.lstrip()[:1] == b"<"
        what = f"a page in place of a reply; see whether {option} is right" if page else "no whole reply"
        raise CallError("not_json", f"the server sent {'nothing' if not data.strip() else what}")
    if not isinstance(body, dict):
        raise CallError("wrong_form", f"the server sent {describe(body)} in place of a reply")
    if error := body.get("error"):
        raise _error_in_reply(error, redact, _usage(body.get("usage")))
    return body


def prompt_tokens(data: bytes) -> list[int]:
    """Read the tokens of the prompt that a reply lists.

    Raises:
        RequestProblem: It lists none: the server ignores the parameter.
    """
    body = _json(data)
    tokens = body.get("prompt_token_ids") if isinstance(body, dict) else None
    if not isinstance(tokens, list) or not tokens or not all(type(token) is int for token in tokens):
        raise RequestProblem(NO_LOGPROBS, "the server ignores the request for log-probabilities of given answers")
    return tokens


def candidate_tokens(data: bytes, prompt: Sequence[int], text: str) -> TokenLogprobs:
    """Find the tokens of a candidate with their log-probabilities.

    Args:
        data: The body of the reply to the prompt with the candidate, with vLLM's ``prompt_logprobs``.
        prompt: Tokens of the prompt alone.

    Raises:
        RequestProblem: They are missing, or are not those of the candidate.
    """
    whole = prompt_tokens(data)
    entries = _json(data).get("prompt_logprobs")
    start = candidate_start(prompt, whole)
    if not isinstance(entries, list) or len(entries) != len(whole):
        raise RequestProblem(NO_LOGPROBS, "the server ignores the request for log-probabilities of given answers")
    tokens = []
    for token, entry in zip(whole[start:], entries[start:], strict=True):
        figures = entry.get(str(token)) if isinstance(entry, dict) else None
        word = figures.get("decoded_token") if isinstance(figures, dict) else None
        if not isinstance(figures, dict) or not isinstance(word, str):
            raise RequestProblem(NO_LOGPROBS, "the server's log-probabilities are not those of the answer's tokens")
        tokens.append((encodable(word), figures.get("logprob")))
    return validate_tokens(tokens, text)


def label_logprobs(data: bytes, labels: Sequence[str]) -> tuple[float | None, ...]:
    """Find log-probabilities of labels as the first token of a reply with OpenAI's ``top_logprobs``.

    Raises:
        RequestProblem: They are missing or no log-probabilities.
    """
    ignored = RequestProblem(NO_LOGPROBS, "the server gives no log-probabilities of the first token")
    body = _json(data)
    try:
        tokens = body["choices"][0]["logprobs"]["content"]
        listed = tokens[0]["top_logprobs"] if tokens else []  # a reply without a token has no first one
        first = [(entry["token"], entry["logprob"]) for entry in listed]
    except (TypeError, KeyError, IndexError):
        raise ignored from None
    if not isinstance(tokens, list) or (tokens and not first) or not all(isinstance(token, str) for token, _ in first):
        raise ignored
    return validate_labels(first, labels)


def filtered_reply(data: bytes, host: str) -> Reply | None:
    """Return an empty reply for an error of a content filter, as Azure and OpenRouter send; None for other errors."""
    body = _json(data)
    error = body.get("error") if isinstance(body, dict) else None
    flagged = (
        isinstance(error, dict) and isinstance(error.get("metadata"), dict) and "flagged_input" in error["metadata"]
    )
    if isinstance(error, dict) and (error.get("code") in _FILTER_CODES or flagged):
        return Reply(text="", model="", finish_reason="content_filter", served={"host": host})
    return None


def _error_in_reply(error: Any, redact: Redact, usage: Mapping[str, int]) -> CallError:
    """Error in the body of a response with status 200; its code says whether another try may help."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if type(code) is int else 0
    final = 400 <= status < 500 and status not in TRIED_AGAIN
    detail = f"the server says: {_error_message(error, redact) or 'nothing more'}"
    busy = status == BUSY
    return CallError("error_in_reply", detail, retryable=not final, refused=status in REFUSED, usage=usage, busy=busy)


def error_sentence(data: bytes, redact: Redact) -> str:
    """Message in the body of an error as one short line; empty if there is none."""
    body = _json(data)
    if isinstance(body, list) and body:  # as Google sends it
        body = body[0]
    if isinstance(body, dict):
        return _error_message(body.get("error") or body.get("detail") or body.get("message") or body, redact)
    return plain_line(redact(_MARKUP.sub(" ", data.decode("utf-8", "replace"))))


def is_out_of_quota(data: bytes) -> bool:
    """Return whether an error says that the account has no credit, so that waiting does not help."""
    body = _json(data)
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and "insufficient_quota" in (error.get("code"), error.get("type"))


def _json(data: bytes) -> Any:
    """Parse a body; None if it is invalid, too deep or too large."""
    try:
        return parse_json(data.decode("utf-8"), "", _NotJson)
    except (UnicodeDecodeError, _NotJson):
        return None


def _parts(message: Mapping[str, Any]) -> tuple[str, str]:
    """Divide an answer from the reasoning in a field of its own or in a block at the start of the answer."""
    content, thinking = _text(message.get("content")), ""
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(message.get(name), str) and message[name]:
            thinking = message[name]
            break
    content = content or _text(message.get("refusal"))
    answer, thought = split_thinking(content)
    return answer, thinking or thought


def split_thinking(text: str) -> tuple[str, str]:
    """Split an answer into the text after its block of thinking, and the content of the block."""
    opened = _THINKING.match(text)
    if end := _THOUGHT.search(text):  # a template may have opened the block, so that its start is not in the answer
        return text[end.end() :], text[opened.end() if opened else 0 : end.start()]
    return ("", text[opened.end() :]) if opened else (text, "")  # cut before the answer began


def _text(content: Any) -> str:
    """Text of a message, which is a text, a list of parts, or nothing."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise CallError("wrong_form", f"the server sent {describe(content)} in place of an answer's text")
    return content


def _usage(usage: Any) -> dict[str, int]:
    """Return tokens by kind, as far as the server counts them."""
    if not isinstance(usage, dict):
        return {}
    details = usage.get("completion_tokens_details")
    thinking = details.get("reasoning_tokens") if isinstance(details, dict) else None
    counts = {"input": usage.get("prompt_tokens"), "output": usage.get("completion_tokens"), "thinking": thinking}
    return {name: count for name, count in counts.items() if type(count) is int and 0 < count < _MAX_TOKENS}


def clean_name(value: Any, redact: Redact) -> str:
    """Return a name that a server gives, shortened; empty if it gives none."""
    return plain_line(redact(value))[:MAX_NAME] if isinstance(value, str) else ""


def _error_message(error: Any, redact: Redact) -> str:
    """Message in an error of any form that servers use; empty if there is none."""
    for _ in range(_LISTED):
        if isinstance(error, dict):
            error = error.get("message") or error.get("msg") or error.get("error") or error.get("code")
        elif isinstance(error, list) and error:
            error = error[0]
    return plain_line(redact(error)) if isinstance(error, str) else ""


def plain_line(text: str) -> str:
    """Return one short line without control characters."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 16 * _LONGEST_SENTENCE])
    return " ".join(printable.split())[:_LONGEST_SENTENCE]
