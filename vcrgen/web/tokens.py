"""Tokens: random words that let somebody in. Only their hashes are stored."""

import hashlib
import secrets

MAX_TOKEN = 100  # characters; a longer word is no token, and is not hashed


def new_token(prefix: str) -> str:
    """A token of 256 random bits behind a prefix that tells its purpose, such as ``vcr_``."""
    return prefix + secrets.token_urlsafe(32)


def token_hash(token: str) -> str | None:
    """The SHA-256 of a token in hex, or None for a word that is too long to be a token.

    There is no salt, as nobody can guess 256 random bits.
    """
    return None if len(token) > MAX_TOKEN else hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
