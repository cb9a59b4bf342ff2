"""Servers that speak OpenAI's chat protocol, and what each of them does in its own way: one table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Parameters by the names of `vcrgen.models.base.Sampling`, and what a server calls them where it has another name.
_NEW_NAMES = {"max_tokens": "max_completion_tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one kind of server is spoken to.

    Attributes:
        path: What follows the address that a user gives; ``{model}`` stands for the model's name.
        pictures: The same of a model that generates pictures.
        query: What follows that after a ``?``, if the user's address says nothing else.
        header: The header that holds the key, and what stands before the key in it.
        names: Names of parameters that differ from those of :class:`vcrgen.models.base.Sampling`.
        hosts: Ends of the names of hosts that are known to be such servers.
        names_model: Whether the model is named in the request's body.
        likelihoods: Whether the likelihood of a given answer can be asked for, in vLLM's way.
    """

    path: str = "chat/completions"
    pictures: str = "images/generations"
    query: str = ""
    header: tuple[str, str] = ("Authorization", "Bearer ")
    names: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    names_model: bool = True
    likelihoods: bool = False


PROFILES = {
    "openai": Profile(names=_NEW_NAMES, hosts=("api.openai.com",)),
    "azure": Profile(
        path="openai/deployments/{model}/chat/completions",
        pictures="openai/deployments/{model}/images/generations",
        query="api-version=2024-10-21",
        header=("api-key", ""),
        names=_NEW_NAMES,
        hosts=(".openai.azure.com", ".cognitiveservices.azure.com"),
        names_model=False,
    ),
    "openrouter": Profile(hosts=("openrouter.ai",)),
    "vllm": Profile(likelihoods=True),
    "sglang": Profile(),
    "llamacpp": Profile(),
    "ollama": Profile(),
    "transformers": Profile(),
}
# Of a host that the table does not know: the protocol as most servers have it.
PLAIN = "vllm"


def profile_of(host: str) -> str:
    """The name of the profile of a host."""
    for name, profile in PROFILES.items():
        if any(host == end or (end.startswith(".") and host.endswith(end)) for end in profile.hosts):
            return name
    return PLAIN
