"""Record the requests of published programs, with which the tests compare those of the presets, byte by byte.

    PROGRAM_ENVIRONMENT/bin/python scripts/record_requests.py lmms-eval
    PROGRAM_ENVIRONMENT/bin/python scripts/record_requests.py vlmevalkit --folder VLMEvalKit
    PROGRAM_ENVIRONMENT/bin/python scripts/record_requests.py vcr-repo --folder VCR

Each program runs as it is, in an environment in which it is installed; of those that no registry has, --folder names a
checkout. It is asked about the pictures of tests/models/requests, its server is this script, and the bodies that it
sends go to tests/models/requests/PROGRAM.json. Nothing of a program is copied.
"""

import argparse
import base64
import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

REQUESTS = Path(__file__).resolve().parents[1] / "tests" / "models" / "requests"
QUESTION = (
    "What is the covered texts in the image? Please restore the covered texts without outputting the explanations."
)
PICTURES = {"stacked": (300, 240), "strip": (300, 45), "hidden": (700, 520)}  # px
CHAT_REPLY = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "words"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
MESSAGE_REPLY = {
    "id": "1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": "words"}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["lmms-eval", "vlmevalkit", "vcr-repo"])
    parser.add_argument("--folder", type=Path, help="a checkout of the program, where no registry has it")
    parser.add_argument("--version", default="", help="the commit of the checkout, if git cannot tell")
    args = parser.parse_args()
    draw_pictures()
    if args.folder:
        sys.path.insert(0, str(args.folder))
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
            os.environ.pop(name, None)
    with recording_server() as (url, bodies):
        routes = {"lmms-eval": lmms_eval, "vlmevalkit": vlmevalkit, "vcr-repo": vcr_repo}[args.program](
            url, args.folder
        )
        found: dict[str, dict[str, Any]] = {}
        for route, picture, ask in routes:
            ask()
            found.setdefault(route, {})[picture] = without_pictures(bodies[-1])
    of = args.version or (commit(args.folder) if args.folder else version("lmms-eval"))
    used = {"pillow": version("pillow"), **clients()}
    record = {"program": args.program, "version": of, "with": used, "requests": found}
    (REQUESTS / f"{args.program}.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def draw_pictures() -> None:
    """Draw the pictures that are not there yet."""
    REQUESTS.mkdir(parents=True, exist_ok=True)
    for name, (width, height) in PICTURES.items():
        picture = Image.new("RGB", (width, height), (250, 250, 240))
        picture.paste(Image.linear_gradient("L").resize((64, 40)).convert("RGB"), (width - 64, 0))
        draw = ImageDraw.Draw(picture)
        for line in range(0, height, 22):
            draw.text((2, line), f"a line of words at {line} to be read", fill=(20, 20, 20))
        if not (REQUESTS / f"{name}.png").exists():
            picture.save(REQUESTS / f"{name}.png")


@contextmanager
def recording_server() -> Iterator[tuple[str, list[Any]]]:
    """Serve replies of both protocols; the bodies of requests are listed."""
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(MESSAGE_REPLY if self.path.endswith("/messages") else CHAT_REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()


def without_pictures(value: Any) -> Any:
    """A body with what tells a picture's bytes in place of them."""
    if isinstance(value, dict):
        return {name: without_pictures(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_pictures(each) for each in value]
    if not isinstance(value, str) or len(value) < 1000:
        return value
    start, _, text = value.rpartition(",")
    data = base64.b64decode(text, validate=True)
    image = Image.open(io.BytesIO(data))
    return {
        "start": start,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "format": image.format,
        "size": list(image.size),
    }


def clients() -> dict[str, str]:
    found = {}
    for name in ("openai", "anthropic", "requests"):
        try:
            found[name] = version(name) if name in sys.modules else ""
        except PackageNotFoundError:
            continue
    return {name: value for name, value in found.items() if value}


def commit(folder: Path) -> str:
    return subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout[:8]


Route = tuple[str, str, Any]


def lmms_eval(url: str, folder: Path | None) -> Iterator[Route]:
    """The default route: the class for chats, with the messages of an ordinary task."""
    from lmms_eval.api.task import ConfigurableMessagesTask
    from lmms_eval.models.chat.openai import OpenAICompatible

    model = OpenAICompatible(model_version="m", base_url=f"{url}/v1", api_key="none", num_concurrent=1)
    task = object.__new__(ConfigurableMessagesTask)
    for name in PICTURES:
        document = {"question": QUESTION, "stacked_image": Image.open(REQUESTS / f"{name}.png")}
        messages = task_messages(task, document)
        model.task_dict["vcr"] = {"test": [document]}
        settings = {"max_new_tokens": 120, "temperature": 0, "top_p": 0, "num_beams": 1, "do_sample": False}
        request = types.SimpleNamespace(args=(QUESTION, lambda _, m=messages: m, settings, 0, "vcr", "test"))
        yield "chat", name, lambda request=request: model.generate_until([request])


def task_messages(task: Any, document: Any) -> Any:
    """The messages that lmms-eval makes of a task with `doc_to_visual` and `doc_to_text`, as `vcr_wiki` is."""
    from lmms_eval.tasks.vcr_wiki import utils

    words = {"pre_prompt": "", "post_prompt": QUESTION}
    task._config = types.SimpleNamespace(doc_to_visual=utils.vcr_doc_to_visual, doc_to_text=None, doc_to_messages=None)
    task.doc_to_visual = utils.vcr_doc_to_visual
    task.doc_to_text = lambda doc, *rest, **more: utils.vcr_doc_to_text(doc, words)
    return task._auto_doc_to_messages(document)


def vlmevalkit(url: str, folder: Path | None) -> Iterator[Route]:
    """The class of all GPT configurations, with the two pairs of settings that they have."""
    assert folder is not None
    for name in ("vlmeval", "vlmeval.api"):  # whose own files import every client there is
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(folder / name.replace(".", "/"))]  # type: ignore[attr-defined]
    wrapper = importlib.import_module("vlmeval.api.gpt").OpenAIWrapper
    for route, settings in {"gpt-high": (-1, "high"), "gpt-low": (512, "low")}.items():
        model = wrapper(
            model="m",
            key="none",
            api_base=f"{url}/v1/chat/completions",
            temperature=0,
            retry=1,
            img_size=settings[0],
            img_detail=settings[1],
        )
        for name in PICTURES:
            asked = [
                {"type": "image", "value": str(REQUESTS / f"{name}.png")},
                {"type": "text", "value": QUESTION},
            ]
            yield route, name, lambda model=model, asked=asked: model.generate_inner(asked)


def vcr_repo(url: str, folder: Path | None) -> Iterator[Route]:
    """The functions for GPT and Claude, whose addresses are this server's."""
    import requests

    assert folder is not None
    os.environ["ANTHROPIC_BASE_URL"] = url
    script = (folder / "src/evaluation/closed_source_eval.py").read_text("utf-8")
    module: dict[str, Any] = {"__name__": "closed_source_eval"}
    exec(compile(script, "closed_source_eval.py", "exec"), module)  # noqa: S102 - the program itself
    post = requests.post
    requests.post = lambda address, **more: post(f"{url}/v1/chat/completions", **more)
    module.update(YOUR_API_KEY="none", sleep=lambda seconds: None)
    for route in ("gpt", "claude"):
        for name in PICTURES:

            def ask(route: str = route, name: str = name) -> None:
                with tempfile.TemporaryDirectory() as place:
                    for view in ("stacked_image", "only_it_image"):
                        Path(place, f"{view}_0.png").write_bytes((REQUESTS / f"{name}.png").read_bytes())
                    output = {"0": {"res_stacked_image": "", "res_only_it_image": ""}}
                    module[route](output, 0, QUESTION, str(Path(place, "out.json")), place, "m", 1)

            yield route, name, ask


if __name__ == "__main__":
    main()
