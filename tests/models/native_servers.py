"""Servers of Anthropic's and Google's protocols by their documentation: plans of a `FaultServer`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

READ, WRITTEN = 100, 10  # tokens of each reply


def messages(call: Any, answer: Any, **more: Any) -> Any:
    """Anthropic's ``POST /v1/messages``; ``more`` goes into the message.

    Args:
        call: The request.
        answer: The class of answers.
        more: Fields of the message, in place of its own.
    """
    if "x-api-key" not in call.headers:
        return anthropic_error(answer, 401, "authentication_error", "x-api-key header is required")
    if call.headers.get("anthropic-version") != "2023-06-01":
        return anthropic_error(answer, 400, "invalid_request_error", "anthropic-version: header is required")
    problem = message_problem(call.body)
    if problem or call.path != "/v1/messages":
        return anthropic_error(answer, 400, "invalid_request_error", problem or "no such path")
    return answer(body=json.dumps(message_of(call.body, call.digest) | more).encode())


def message_of(body: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """A message in reply to a request."""
    return {
        "id": f"msg_{digest[:8]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": f"reply {digest[:24]}"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": READ, "output_tokens": WRITTEN},
    }


def message_problem(body: Any) -> str:
    """Return the fault of the body of a request for a message, by the documentation; empty if there is none."""
    known = {"model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "thinking"}
    if unknown := set(body) - known:
        return f"{min(unknown)}: Extra inputs are not permitted"
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    for message in body["messages"]:
        if message["role"] not in ("user", "assistant"):
            return "messages: Unexpected role"
        for part in message["content"]:
            if part["type"] == "image":
                source = part["source"]
                if set(source) != {"type", "media_type", "data"} or source["type"] != "base64":
                    return "messages.0.content.0.image.source: Input should be base64"
                if not source["media_type"].startswith("image/") or not base64.b64decode(source["data"], validate=True):
                    return "messages.0.content.0.image.source: invalid"
            elif set(part) != {"type", "text"} or part["type"] != "text":
                return "messages.0.content.0: Input tag does not match"
    return ""


def anthropic_error(answer: Any, status: int, kind: str, text: str) -> Any:
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}
    return answer(status=status, body=json.dumps(body).encode())


def generate_content(call: Any, answer: Any, candidate: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """Gemini's ``POST /v1beta/models/MODEL:generateContent``.

    Args:
        call: The request.
        answer: The class of answers.
        candidate: Fields of the candidate, in place of its own.
        more: Fields of the body, in place of its own.
    """
    found = re.fullmatch(r"/v1beta/models/([^/:]+):generateContent", call.path)
    body = call.body
    known = {"contents", "generationConfig", "safetySettings", "systemInstruction", "tools"}
    settings = {"temperature", "topP", "topK", "maxOutputTokens", "seed", "thinkingConfig"}
    wrong = sorted(set(body) - known) + sorted(set(body.get("generationConfig", {})) - settings)
    for part in body["contents"][0]["parts"]:
        wrong += [] if set(part) in ({"text"}, {"inlineData"}) else ["parts"]
        if "inlineData" in part and set(part["inlineData"]) != {"mimeType", "data"}:
            wrong.append("inlineData")
    if not found or wrong or "x-goog-api-key" not in call.headers:
        said = {"code": 400, "message": f"Invalid JSON payload received. {wrong}", "status": "INVALID_ARGUMENT"}
        return answer(status=400, body=json.dumps({"error": said}).encode())
    part = {"text": f"reply {call.digest[:24]}"}
    made = {"content": {"parts": [part], "role": "model"}, "finishReason": "STOP", "index": 0} | dict(candidate or {})
    usage = {"promptTokenCount": READ, "candidatesTokenCount": WRITTEN, "totalTokenCount": READ + WRITTEN}
    reply = {"candidates": [made], "usageMetadata": usage, "modelVersion": f"{found[1]}-001"} | more
    return answer(body=json.dumps(reply).encode())
