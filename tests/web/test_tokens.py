"""Tokens and what is stored of them."""

import hashlib

from vcrgen.web.tokens import MAX_TOKEN, new_token, token_hash


def test_tokens_differ_and_say_what_they_are_for() -> None:
    tokens = {new_token("vcr_") for _ in range(100)}
    assert len(tokens) == 100 and all(token.startswith("vcr_") and 40 < len(token) < MAX_TOKEN for token in tokens)


def test_only_a_hash_is_stored() -> None:
    token = new_token("x_")
    assert token_hash(token) == hashlib.sha256(token.encode()).hexdigest()
    assert token_hash(token) != token_hash(token + "a")


def test_a_long_word_is_not_hashed() -> None:
    assert token_hash("a" * MAX_TOKEN) is not None and token_hash("a" * (MAX_TOKEN + 1)) is None


def test_half_a_character_is_a_wrong_token_and_no_error() -> None:
    assert token_hash("\ud800") not in (None, token_hash(""))
