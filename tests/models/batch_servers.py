"""Servers of OpenAI's batches and Anthropic's message batches by their documentation: plans of a `FaultServer`."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.models import native_servers


class BatchServer:
    """The state of a server; lines of results come in another order than requests went.

    Args:
        answer: The class of answers.
        refused: Words in a request that is refused.
        expired: How many requests, of those that are not refused, no batch comes to before it ends.

    Attributes:
        ended: Whether batches have ended.
    """

    def __init__(self, answer: Any, *, refused: str = "", expired: int = 0) -> None:
        self._answer, self._refused, self._expired = answer, refused, expired
        self.ended = False
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}

    def _json(self, body: Any, status: int = 200) -> Any:
        return self._answer(status=status, body=json.dumps(body).encode())

    def _shuffled(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return random.Random(0).sample(lines, len(lines))


class OpenAIBatches(BatchServer):
    """``/v1/files`` and ``/v1/batches``."""

    def __call__(self, call: Any) -> Any:
        if call.headers.get("authorization") != "Bearer sk-0123456789":
            return self._json({"error": {"message": "no key"}}, 401)
        parts = call.path.removeprefix("/v1/").split("/")
        if parts == ["files"]:
            return self._upload(call)
        if parts == ["batches"]:
            return self._create(call.body)
        if parts[0] == "batches":
            return self._json(self._batch(parts[1]))
        if parts[0] == "files" and parts[2:] == ["content"]:
            return self._answer(body=self.files[parts[1]])
        return self._json({"error": {"message": "no such path"}}, 404)

    def _upload(self, call: Any) -> Any:
        kind, _, boundary = call.headers["content-type"].partition("; boundary=")
        fields = call.data.split(b"--" + boundary.encode())
        content = next(field for field in fields if b'name="file"' in field).partition(b"\r\n\r\n")[2][:-2]
        purpose = next(field for field in fields if b'name="purpose"' in field)
        if kind != "multipart/form-data" or b"batch" not in purpose:
            return self._json({"error": {"message": "purpose"}}, 400)
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return self._json({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"})

    def _create(self, body: Any) -> Any:
        if body["endpoint"] != "/v1/chat/completions" or body["completion_window"] != "24h":
            return self._json({"error": {"message": "wrong"}}, 400)
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert len({line["custom_id"] for line in lines}) == len(lines)
        assert all((line["method"], line["url"]) == ("POST", "/v1/chat/completions") for line in lines)
        name = f"batch_{len(self.batches)}"
        self.batches[name] = lines
        return self._json({"id": name, "object": "batch", "status": "validating"})

    def _batch(self, name: str) -> dict[str, Any]:
        lines = self.batches[name]
        found: dict[str, Any] = {"id": name, "object": "batch", "request_counts": {"total": len(lines)}}
        if not self.ended:
            return found | {"status": "in_progress"}
        good, bad = [], []
        for line in lines:
            if self._refused and self._refused in json.dumps(line):
                said = {"error": {"message": "not this one", "type": "invalid_request_error"}}
                bad.append(self._line(line, 400, said))
            elif self._expired > sum(each["error"] is not None for each in bad):
                error = {"code": "batch_expired", "message": "This request could not be executed."}
                bad.append({"id": "r", "custom_id": line["custom_id"], "response": None, "error": error})
            else:
                message = {"role": "assistant", "content": f"reply {line['custom_id'][:8]}"}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 100, "completion_tokens": 10}
                good.append(
                    self._line(line, 200, {"model": line["body"]["model"], "choices": [choice], "usage": usage})
                )
        for kind, listed in (("output", good), ("error", bad)):
            if listed:
                file = f"file-{kind}-{name}"
                self.files[file] = b"".join(json.dumps(each).encode() + b"\n" for each in self._shuffled(listed))
                found[f"{kind}_file_id"] = file
        return found | {"status": "expired" if self._expired else "completed"}

    @staticmethod
    def _line(line: Any, status: int, body: Any) -> dict[str, Any]:
        response = {"status_code": status, "request_id": "q", "body": body}
        return {"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}


class AnthropicBatches(BatchServer):
    """``/v1/messages/batches``."""

    def __call__(self, call: Any) -> Any:
        if call.headers.get("x-api-key") != "sk-0123456789" or "anthropic-version" not in call.headers:
            return native_servers.anthropic_error(self._answer, 401, "authentication_error", "no key")
        parts = call.path.removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            requests = call.body["requests"]
            for request in requests:
                assert set(request) == {"custom_id", "params"} and len(request["custom_id"]) <= 64
                assert not native_servers.message_problem(request["params"])
            name = f"msgbatch_{len(self.batches)}"
            self.batches[name] = requests
            return self._json({"id": name, "type": "message_batch", "processing_status": "in_progress"})
        if parts[1:] == ["results"] and self.ended:
            lines = self._shuffled([self._result(*each) for each in enumerate(self.batches[parts[0]])])
            return self._answer(body=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        if len(parts) > 1:
            return native_servers.anthropic_error(self._answer, 404, "not_found_error", "no results yet")
        counts = {"processing": 0 if self.ended else len(self.batches[parts[0]]), "succeeded": 0}
        status = "ended" if self.ended else "in_progress"
        return self._json({"id": parts[0], "processing_status": status, "request_counts": counts})

    def _result(self, number: int, request: Any) -> dict[str, Any]:
        if self._refused and self._refused in json.dumps(request):
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "not this one"}}
            result: dict[str, Any] = {"type": "errored", "error": error}
        elif number < self._expired:
            result = {"type": "expired"}
        else:
            message = native_servers.message_of(request["params"], request["custom_id"])
            result = {"type": "succeeded", "message": message}
        return {"custom_id": request["custom_id"], "result": result}
