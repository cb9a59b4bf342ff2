"""Tokens and what is stored of them."""

import hashlib

from vcrgen.web.tokens import MAX_TOKEN, hash_of, new_token


def test_tokens_differ_and_say_what_they_are_for() -> None:
    tokens = {new_token("vcr_") for _ in range(100)}
    assert len(tokens) == 100 and all(token.startswith("vcr_") and 40 < len(token) < MAX_TOKEN for token in tokens)


def test_only_a_hash_is_stored() -> None:
    token = new_token("x_")
    assert hash_of(token) == hashlib.sha256(token.encode()).hexdigest()
    assert hash_of(token) != hash_of(token + "a")


def test_a_long_word_is_not_hashed() -> None:
    assert hash_of("a" * MAX_TOKEN) is not None and hash_of("a" * (MAX_TOKEN + 1)) is None


def test_half_a_character_is_a_wrong_token_and_no_error() -> None:
    assert hash_of("\ud800") not in (None, hash_of(""))
