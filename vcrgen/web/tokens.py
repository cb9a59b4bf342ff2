"""Tokens: random words that let somebody in. Only their hashes are stored."""

from __future__ import annotations

import hashlib
import secrets

MAX_TOKEN = 100  # characters; a longer word is no token, and is not hashed


def new_token(prefix: str) -> str:
    """A token of 256 random bits behind a prefix that tells what it is for, such as ``vcr_``."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(token: str) -> str | None:
    """What is stored of a token: its SHA-256 in hex; it needs no salt, as nobody can guess 256 random bits.

    None for a word that is too long to be a token.
    """
    return None if len(token) > MAX_TOKEN else hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
