"""Addresses of models, those that are refused, and the key that nobody sees."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import ConfigError
from vcrgen.models.address import Key, parse_address, read_key
from vcrgen.models.servers import SERVERS

SECRET = "sk-or-v1/+0123456789"
ANTHROPIC, GOOGLE = "https://api.anthropic.com", "https://generativelanguage.googleapis.com"
AZURE, DEPLOYMENT = "https://me.openai.azure.com", "openai/deployments/a%2Fb/chat/completions"


@pytest.mark.parametrize(
    ("endpoint", "profile", "url", "kind", "host"),
    [
        ("http://127.0.0.1:8000/v1", None, "http://127.0.0.1:8000/v1/chat/completions", "vllm", "127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1/", None, "http://127.0.0.1:8000/v1/chat/completions", "vllm", "127.0.0.1:8000"),
        ("http://[::1]:80/v1/chat/completions", None, "http://[::1]:80/v1/chat/completions", "vllm", "[::1]:80"),
        ("https://api.openai.com/v1", None, "https://api.openai.com/v1/chat/completions", "openai", "api.openai.com"),
        ("https://openrouter.ai", None, "https://openrouter.ai/chat/completions", "openrouter", "openrouter.ai"),
        (f"{ANTHROPIC}/v1", None, f"{ANTHROPIC}/v1/chat/completions", "anthropic", ANTHROPIC[8:]),
        (f"{GOOGLE}/v1beta/openai", None, f"{GOOGLE}/v1beta/openai/chat/completions", "gemini", GOOGLE[8:]),
        (AZURE, None, f"{AZURE}/{DEPLOYMENT}?api-version=2024-10-21", "azure", AZURE[8:]),
        (f"{AZURE}?api-version=2025-01", "azure", f"{AZURE}/{DEPLOYMENT}?api-version=2025-01", "azure", AZURE[8:]),
        (f"{AZURE}.evil.example", None, f"{AZURE}.evil.example/chat/completions", "vllm", f"{AZURE[8:]}.evil.example"),
        ("HTTPS://Example.ORG/v1", "sglang", "https://example.org/v1/chat/completions", "sglang", "example.org"),
    ],
)
def test_addresses(endpoint: str, profile: str | None, url: str, kind: str, host: str) -> None:
    address = parse_address(endpoint, "a/b", profile)
    assert (address.url, address.profile, address.host) == (url, kind, host)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:8000",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "http:///v1",
        "http://host:99999/v1",
        "http://host:abc/v1",
        f"https://user:{SECRET}@host/v1",
        f"https://host/v1?key={SECRET}",
        f"https://host/#{SECRET}",
        "https://0123456789@host/v1",
        "http://[::1/v1",
        "http://a\u0000b/v1",
        "http://host/\nv1",
    ],
)
def test_what_is_no_address(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="--endpoint") as error:
        parse_address(endpoint, "m")
    assert SECRET not in str(error.value)


def test_an_unknown_profile() -> None:
    with pytest.raises(ConfigError, match="Unknown profile 'gpt'; known: openai, azure"):
        parse_address("http://127.0.0.1/v1", "m", "gpt")


@pytest.mark.parametrize(
    ("endpoint", "sent"),
    [
        ("https://host/v1", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]/v1", True),
        ("http://host/v1", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://localhost.evil.example/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_a_key_is_not_sent_unencrypted(endpoint: str, sent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    address = parse_address(endpoint, "m")
    if sent:
        key = read_key("MY_KEY", address)
        assert key is not None and key.header(address.kind) == {"Authorization": f"Bearer {SECRET}"}
    else:
        with pytest.raises(ConfigError, match=r"is not sent to .* by plain http"):
            read_key("MY_KEY", address)


@pytest.mark.parametrize(
    ("endpoint", "sent"),
    [
        ("http://10.0.0.1/v1", True),
        ("http://172.18.0.2:8000/v1", True),
        ("http://192.168.1.5/v1", True),
        ("http://[fd00::1]/v1", True),
        ("http://vllm:8000/v1", True),
        ("http://gpu.local/v1", True),
        ("http://8.8.8.8/v1", False),
        ("http://169.254.169.254/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://172.32.0.1/v1", False),
        ("http://host.example/v1", False),
        ("http://10.0.0.1.example/v1", False),
        ("http://local.example/v1", False),
    ],
)
def test_a_key_by_plain_http_to_a_private_network(endpoint: str, sent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    address = parse_address(endpoint, "m")
    with pytest.raises(ConfigError, match="insecure_key: true" if sent else "use https, or a server on this machine"):
        read_key("MY_KEY", address)
    if sent:
        assert read_key("MY_KEY", address, insecure=True) is not None
    else:
        with pytest.raises(ConfigError, match="by plain http"):
            read_key("MY_KEY", address, insecure=True)


@given(
    st.text("ab-_/+.0123456789", min_size=8, max_size=60), st.binary(max_size=9), st.binary(max_size=9), st.booleans()
)
def test_no_base64_of_a_key_is_shown(value: str, before: bytes, after: bytes, url: bool) -> None:
    """Whatever stands before and behind it: of what the key alone decides, no more than four characters are left."""
    text = (base64.urlsafe_b64encode if url else base64.b64encode)(before + value.encode() + after).decode()
    shown = Key(value).redact(f"Authorization: Basic {text}.")
    first, last = -(-len(before) // 3) * 4, (len(before) + len(value)) // 3 * 4
    assert text[first:last] == "" or text[first:last] not in shown


@pytest.mark.parametrize("length", range(12, len(SECRET) + 1))
def test_long_beginnings_and_ends_of_a_key_are_cut(length: int) -> None:
    key = Key(SECRET)
    start, end = SECRET[:length], SECRET[len(SECRET) - length :]
    assert key.redact(f"Incorrect key: {start}***.") == "Incorrect key: [key]***."
    assert key.redact(f"Incorrect key: ***{end}.") == "Incorrect key: ***[key]."
    assert key.redact(f"{SECRET}{SECRET[:length]} {SECRET[:5]}") == f"[key][key] {SECRET[:5]}"
    assert key.redact(SECRET.encode().hex()) == "[key]"
    assert key.redact(SECRET.replace("/", "\\/")) == "[key]"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (SECRET, SECRET),  # the key in place of its variable's name
        ("sk_0123456789", None),
        ("MY_KEY", ""),
        ("MY_KEY", "short"),
        ("MY_KEY", "0123456789\r\nHost: evil"),
        ("MY_KEY", "schlüssel-0123"),
        ("MY_KEY", "two words of it"),
    ],
)
def test_what_is_no_key(variable: str, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if value and variable == "MY_KEY":
        monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match="--key-env") as error:
        read_key(variable, parse_address("https://host/v1", "m"))
    assert variable == "MY_KEY" or variable not in str(error.value)
    assert not value or value not in str(error.value)


def test_no_key_is_asked_for() -> None:
    assert read_key(None, parse_address("http://host/v1", "m")) is None


def test_a_key_is_shown_nowhere() -> None:
    key = Key(SECRET)
    assert SECRET not in repr(key) + str(key)
    assert key.header(SERVERS["azure"]) == {"api-key": SECRET}
    assert key.redact(f"a {SECRET} b {SECRET}") == "a [key] b [key]"
    assert key.redact("of sk-or-v1%2F%2B0123456789 and sk-or-v1/%2B0123456789") == "of [key] and [key]"
