"""``board.yaml``: what can be decided, and what is said of a mistake."""

import stat
from pathlib import Path

import pytest
import yaml

from vcrgen.core.errors import ConfigError
from vcrgen.leaderboard.settings import FILE, Settings, read_settings, write_settings


def test_settings_come_back_as_they_were_written(tmp_path: Path) -> None:
    settings = Settings(
        title="观海 : # 'board'",
        intro='"quoted"\n',
        contact="a@example.org",
        database="postgresql://u:p%23@h/n",
        file_mb=1,
        seconds=7,
    )
    write_settings(tmp_path, settings)
    assert read_settings(tmp_path) == settings
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_every_key_is_written_with_what_it_means(tmp_path: Path) -> None:
    write_settings(tmp_path, Settings())
    text = (tmp_path / FILE).read_text()
    assert list(yaml.safe_load(text)) == list(Settings.model_fields)
    for field in Settings.model_fields.values():
        assert field.description and f"# {field.description}\n" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files_per_days: 3", "Unknown key 'files_per_days'; the nearest known key is 'files_per_day'"),
        ("files_per_day: 0", "files_per_day: "),
        ("files_per_day: '3'", "files_per_day: "),
        ("hidden_scores_lifetime: 1.5", "hidden_scores_lifetime: "),
        ("file_mb: 5000", "file_mb: "),
        ("memory_mb: 1", "memory_mb: "),
        ("url: example.org", "url: "),
        ("title: [a]", "title: "),
        ("- a\n- b", FILE),
        ("title: [", "line"),
        ("title: My pictures: a test", "at line 1; a text with a colon stands in quotes."),
        ("!!python/object/apply:os.system ['true']", FILE),
    ],
)
def test_a_wrong_file_is_one_sentence(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_settings(tmp_path)
    assert message in str(caught.value) and str(tmp_path / FILE) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_option_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="title: "):
        Settings(title="x" * 121)


def test_no_message_repeats_a_database_that_may_hold_a_password(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("database: [postgresql://u:open-sesame@h/n]")
    with pytest.raises(ConfigError) as caught:
        read_settings(tmp_path)
    assert "open-sesame" not in str(caught.value)
