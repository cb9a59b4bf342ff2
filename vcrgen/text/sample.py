"""The frozen text of a language by which covers are calibrated."""

from functools import cache
from importlib.resources import files

from vcrgen.core.errors import ConfigError
from vcrgen.text.languages import LANGUAGES


@cache
def calibration_sample(lang: str) -> tuple[str, ...]:
    """The texts on which the covers of a language are calibrated, in the order of its file.

    They are the lines of ``vcrgen/text/<lang>/sample.txt`` that are no comments. The file is never changed: a cover
    leaves a share of this text's ink, so that with another text every dataset would get other covers.

    Args:
        lang: Code of a language of `vcrgen.text.languages.LANGUAGES`.

    Raises:
        ConfigError: The language has no such file yet.
    """
    file = files("vcrgen.text") / lang / "sample.txt"
    if not file.is_file():
        raise ConfigError(
            f"{LANGUAGES[lang].name} has no text to calibrate covers on; write vcrgen/text/{lang}/sample.txt, "
            "60 lines or more of varied prose, before any dataset is built."
        )
    text = file.read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if not line.startswith("#"))
