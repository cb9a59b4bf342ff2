"""The README's first block of output, the table, recipe and Python of docs/guide.md, and what all pages share.

.ci/run runs the README's first command, tests/cli/test_demo.py its second one.
"""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from tests.pages import ROOT, Page, Run, succeed
from vcrgen.cli import app
from vcrgen.samples import sample_pair

README, GUIDE = Page("README.md"), Page("docs/guide.md")


def write_hub_copy(folder: Path) -> None:
    """A local folder with the layout and the columns of the Hub's wikimedia/wit_base."""
    rows = []
    for index in range(60):
        captions = {lang: sample_pair(lang, index).caption for lang in ("en", "zh")}
        rows.append(
            {
                "image": {"bytes": sample_pair("en", index).image, "path": None},
                "image_url": f"https://upload.example/{index}.jpg",
                "wit_features": {"language": list(captions), "context_page_description": list(captions.values())},
            }
        )
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("---\nlicense: cc-by-sa-4.0\n---\n")
    pq.write_table(pa.Table.from_pylist(rows), folder / "data" / "train-00000-of-00001.parquet")


def test_the_readme_has_what_is_tested() -> None:
    first, second, third = README.commands
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert first.startswith("python3 -m venv") and "grep -m1 '^python3 -m venv' README.md" in ci
    assert first.endswith("/vcrgen build") and second == "vcrgen demo"
    assert third == "python3 scripts/run_tests.py" and third in ci
    named = re.findall(r"\btests/[\w/.]+", "\n".join(line for line in ci.splitlines() if not line.startswith("#")))
    assert len(named) >= 4 and [path for path in named if not (ROOT / path).exists()] == []


def test_the_readme_shows_what_its_first_build_prints(run: Run) -> None:
    """All of it but the middle, for which ``...`` stands."""
    shown = next(text for kind, text in README.blocks if kind == "text")
    begin, end = ([line.rstrip() for line in part.splitlines() if line] for part in shown.split("...\n"))
    printed = [line.rstrip() for line in succeed(run, "vcrgen build").splitlines()]
    assert len(begin) >= 4 and end
    assert (printed[: len(begin)], printed[-len(end) :]) == (begin, end)


def names_below(command: typer.core.TyperGroup | typer.core.TyperCommand, path: str = "") -> list[str]:
    """The full names of all commands that have none below them."""
    below = getattr(command, "commands", None)
    if not below:
        return [path]
    assert isinstance(command, typer.core.TyperGroup)
    with command.make_context(path or "vcrgen", ["x"], resilient_parsing=True) as context:
        members = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, member in members for leaf in names_below(member, f"{path} {name}".strip())]


def test_the_guide_has_all_commands() -> None:
    table = GUIDE.text.partition("\n| command |")[2].partition("\n\n")[0]
    named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert sorted(named) == sorted(names_below(typer.main.get_command(app)))


def test_the_guides_recipe(run: Run) -> None:
    write_hub_copy(Path("wikimedia/wit_base"))
    (line,) = GUIDE.commands
    out = succeed(run, line.replace("--limit 1000", "--limit 20"))
    assert "validation  10" in out


def test_the_guides_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert GUIDE.execute() == 1
    assert {file.suffix for file in Path("files").iterdir()} == {".png", ".json"}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file of the repository, and to a heading where one is named."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", prose):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), link
        if heading:
            heads = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}, link


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.name)
def test_every_page_with_commands_has_a_test(page: Path) -> None:
    read = Page(page.relative_to(ROOT).as_posix())
    if read.python or any(line.startswith("vcrgen ") for line in read.commands):
        assert any(f'{page.name}"' in file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
