"""Servers of models and the differences between them: one row each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_NEW_NAMES = {"max_tokens": "max_completion_tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The dialect of one kind of server.

    Attributes:
        path: Path of chat requests below the user's address; ``{model}`` stands for the model's name.
        image_path: The same for image generation.
        query: Query of the URL, if the user's address has none.
        header: Header that holds the key, and the text before the key in it.
        names: Parameters that differ from those of :class:`vcrgen.models.base.Sampling`, with the server's names.
        hosts: Host names, or suffixes beginning with a dot, of such servers.
        names_model: Whether the request's body names the model.
        gives_candidate_logprobs: Whether log-probabilities of a given answer can be requested, in vLLM's way.
        protocol: Name of the protocol, as of :data:`vcrgen.models.connection.PROTOCOLS`.
        headers: Further headers of a request.
        max_image_bytes: Limit of an image in Base64, in bytes; None if there is none.
        max_image_side: Limit of an image's width and height, in pixels; None if there is none.
        max_request_bytes: Limit of a request's body; None if there is none.
    """

    path: str = "chat/completions"
    image_path: str = "images/generations"
    query: str = ""
    header: tuple[str, str] = ("Authorization", "Bearer ")
    names: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    names_model: bool = True
    gives_candidate_logprobs: bool = False
    protocol: str = "openai"
    headers: Mapping[str, str] = field(default_factory=dict)
    max_image_bytes: int | None = None
    max_image_side: int | None = None
    max_request_bytes: int | None = None


# `docs/predict-servers.md` describes each row. A new kind of server takes both, and nothing else.
SERVERS = {
    "openai": Server(names=_NEW_NAMES, hosts=("api.openai.com",)),
    "azure": Server(
        path="openai/deployments/{model}/chat/completions",
        image_path="openai/deployments/{model}/images/generations",
        query="api-version=2024-10-21",
        header=("api-key", ""),
        names=_NEW_NAMES,
        hosts=(".openai.azure.com", ".cognitiveservices.azure.com"),
        names_model=False,
    ),
    "anthropic": Server(
        path="messages",
        header=("x-api-key", ""),
        hosts=("api.anthropic.com",),
        protocol="anthropic",
        headers={"anthropic-version": "2023-06-01"},
        max_image_bytes=5 << 20,
        max_image_side=8000,
        max_request_bytes=32 << 20,
    ),
    "gemini": Server(
        path="models/{model}:generateContent",
        header=("x-goog-api-key", ""),
        names={"top_p": "topP", "max_tokens": "maxOutputTokens"},
        hosts=("generativelanguage.googleapis.com",),
        names_model=False,
        protocol="gemini",
        max_request_bytes=20_000_000,
    ),
    "openrouter": Server(hosts=("openrouter.ai",)),
    "vllm": Server(gives_candidate_logprobs=True),
    "sglang": Server(),
    "llamacpp": Server(),
    "ollama": Server(),
    "transformers": Server(),
}
DEFAULT_SERVER = "vllm"  # for hosts that no row knows


def server_of_host(host: str) -> str:
    """Return the name of the kind of server at a host."""
    for name, server in SERVERS.items():
        if any(host == end or (end.startswith(".") and host.endswith(end)) for end in server.hosts):
            return name
    return DEFAULT_SERVER
