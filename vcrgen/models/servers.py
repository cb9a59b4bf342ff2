"""Servers of models and the differences between them: one row each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_NEW_NAMES = {"max_tokens": "max_completion_tokens"}
# "Ignored" in the table of https://platform.claude.com/docs/en/api/openai-sdk, as of 2026.
_ANTHROPIC_IGNORES = frozenset(
    {
        *("logprobs", "top_logprobs", "logit_bias", "presence_penalty", "frequency_penalty", "seed"),
        *("response_format", "reasoning_effort", "prediction", "modalities", "audio"),
        *("metadata", "service_tier", "store", "user"),
    }
)


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
        ignores: Parameters of requests that the server takes and ignores, without a word.
    """

    path: str = "chat/completions"
    image_path: str = "images/generations"
    query: str = ""
    header: tuple[str, str] = ("Authorization", "Bearer ")
    names: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    names_model: bool = True
    gives_candidate_logprobs: bool = False
    ignores: frozenset[str] = frozenset()


# `docs/predict.md` describes each row. A new kind of server takes both, and nothing else.
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
    "anthropic": Server(hosts=("api.anthropic.com",), ignores=_ANTHROPIC_IGNORES),
    # What Google does not know it refuses by name, so nothing of it has to be listed.
    "gemini": Server(hosts=("generativelanguage.googleapis.com",)),
    "openrouter": Server(hosts=("openrouter.ai",)),
    "vllm": Server(gives_candidate_logprobs=True),
    "sglang": Server(),
    "llamacpp": Server(),
    "ollama": Server(ignores=frozenset({"num_ctx"})),
    "transformers": Server(ignores=frozenset({"logprobs", "top_logprobs"})),  # as of 5.23, tried
}
DEFAULT_SERVER = "vllm"  # for hosts that no row knows


def server_of_host(host: str) -> str:
    """Kind of server by the end of a host's name; the default for others."""
    for name, server in SERVERS.items():
        if any(host == end or (end.startswith(".") and host.endswith(end)) for end in server.hosts):
            return name
    return DEFAULT_SERVER
