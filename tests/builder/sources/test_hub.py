"""The Hub without a network: the same code on an in-memory file system, and being offline."""

from typing import Any

import huggingface_hub.errors
import pytest

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import open_source
from vcrgen.core.errors import SourceError


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (OSError("Name or service not known"), "Hub cannot be reached"),
        (huggingface_hub.errors.OfflineModeIsEnabled("offline mode is enabled"), "offline mode is enabled"),
        (huggingface_hub.errors.HFValidationError("bad"), "no dataset of that name"),
    ],
)
def test_without_the_hub_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, message: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise raised

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", fail)
    for source in ("wikimedia/wit_base", "mnist", "org/name:config@v1"):
        with pytest.raises(SourceError, match=message) as error:
            open_source(BuildConfig(source=source))
        assert "\n" not in str(error.value)
