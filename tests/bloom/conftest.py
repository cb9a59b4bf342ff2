"""Small MCQ benchmarks."""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import write_set

PATHS = default_taxonomy().paths


def png(colour: str = "red") -> bytes:
    """A small picture."""
    buffer = BytesIO()
    Image.new("RGB", (64, 48), colour).save(buffer, "PNG")
    return buffer.getvalue()


def row(number: int, languages: Sequence[str] = ("en", "ar"), **changes: Any) -> dict[str, Any]:
    """A row of an MCQ benchmark; the right option goes from A to D."""
    texts = {"en": ("How many boats?", ["one boat", "two boats", "three boats", "four boats"])}
    texts["ar"] = ("كم عدد القوارب؟", ["واحد", "اثنان", "ثلاثة", "أربعة"])
    values: dict[str, Any] = {
        "question_id": f"item-{number:03d}",
        "image": {"bytes": png(("red", "green", "blue")[number // 4 % 3]), "path": None},
        "path": PATHS[number % len(PATHS)],
        "source": "test",
        "answer": "ABCD"[number % 4],
        "trap": "ABCD"[(number + 1) % 4],
    }
    for lang in languages:
        values[f"question_{lang}"], values[f"options_{lang}"] = texts[lang]
    return values | changes


def made_set(out: Path, rows: Sequence[dict[str, Any]], languages: Sequence[str] = ("en", "ar")) -> Path:
    """A finished MCQ benchmark of some rows."""
    write_set(
        out, rows, languages=languages, taxonomy=default_taxonomy(), source="a test", config={}, rejects=RejectLog()
    )
    return out


def done(call: Callable[..., tuple[int, str, str]], *words: object) -> str:
    """The output of a command that has to succeed; ``call`` runs it."""
    code, out, err = call(*words)
    assert code == 0, out + err
    return out
