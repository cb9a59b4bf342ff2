"""Every command and every line of Python of docs/guide.md runs; .ci/run runs the README's first command.

The README's other command is run by tests/cli/test_demo.py.
"""

import json
import re
import shlex
import urllib.request
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import vcrgen
from tests.forked import serving
from tests.pages import ROOT, Page
from vcrgen.cli import app
from vcrgen.samples import sample_pair

README, GUIDE = Page("README.md"), Page("docs/guide.md")


def commands_of(page: Page) -> list[list[str]]:
    """The words of the commands of a page, without their comments."""
    return [shlex.split(line, comments=True) for line in page.commands if line.startswith("vcrgen ")]


# What the guide has of these pages, their tests run.
PAGES = [
    Page(f"docs/{name}.md")
    for name in (
        "analysis",
        "bloom",
        "bloom-audit",
        "bloom-coverage",
        "bloom-import",
        "finetune",
        "hidden",
        "profile",
        "view",
    )
]
ELSEWHERE = [words for page in PAGES for words in commands_of(page)]
COMMANDS = [
    line
    for line in GUIDE.commands
    if line.startswith("vcrgen ")
    and shlex.split(line, comments=True) not in ELSEWHERE
    and "--engine ray" not in line  # tests/builder/engines/test_ray.py runs it
]
# Words of commands, and what takes their place: the same at a smaller size.
FEWER = {
    r"vcrgen build( --|  )": r"vcrgen build --limit 4\1",
    "--items 12": "--items 4",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the README's commands name."""
    folder = tmp_path_factory.mktemp("readme")
    write_pairs(folder / "pairs.parquet")
    write_pairs(folder / "own-pairs.parquet", first=24)
    (folder / "pairs").mkdir()
    write_pairs(folder / "pairs" / "part-0.parquet")
    write_hub_copy(folder / "wikimedia" / "wit_base")
    return folder


def write_outputs(folder: Path) -> None:
    """Outputs for the dataset that the README's build has written: right ones, and some that are not."""
    for name, wrong_every in (("preds", 3), ("run_a", 2), ("run_b", 5)):
        files = sorted((folder / "data" / "my-vcr" / "hard").glob("*.parquet"))
        rows = [
            row for file in files for row in pq.read_table(file, columns=["question_id", "crossed_text"]).to_pylist()
        ]
        lines = [
            {
                "question_id": row["question_id"],
                "output": "no idea" if (number + len(view)) % wrong_every == 0 else "; ".join(row["crossed_text"]),
                "view": view,
                "mode": "hard",
            }
            for number, row in enumerate(rows)
            for view in ("stacked", "tei")
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_pairs(file: Path, first: int = 0) -> None:
    pairs = [sample_pair("en", index) for index in range(first, first + 24)]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), file)


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
    assert len(COMMANDS) >= 17 and len(GUIDE.python) == 5
    first, second, third = README.commands
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert first.startswith("python3 -m venv") and "grep -m1 '^python3 -m venv' README.md" in ci
    assert second == "vcrgen demo" and third == "python3 scripts/run_tests.py" and third in ci
    named = re.findall(r"\btests/[\w/.]+", "\n".join(line for line in ci.splitlines() if not line.startswith("#")))
    assert len(named) >= 4 and [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("line", COMMANDS)
def test_commands(
    line: str,
    folder: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the order of the page: later ones use what earlier ones wrote."""
    monkeypatch.chdir(folder)
    if "s3://bucket" in line:
        store = request.getfixturevalue("store")
        store.client().create_bucket(Bucket="bucket")
        store.put("bucket", "pairs/part-0.parquet", (folder / "pairs.parquet").read_bytes())
    if (address := "http://127.0.0.1:8000/v1") in line:
        line = line.replace(address, request.getfixturevalue("serve")().url)
    if "preds.jsonl" in line or "run_a.jsonl" in line:
        write_outputs(folder)
    elif "published.csv" in line:
        (folder / "published.csv").write_text("source,language,mode,view,model,exact\nA paper,en,hard,tei,VLM,12.3\n")
    for words, fewer in FEWER.items():
        line = re.sub(words, fewer, line)
    arguments = shlex.split(line, comments=True)
    if "serve" in arguments:
        serves(arguments[1:], folder)
        return
    monkeypatch.setattr("sys.argv", arguments)
    main_code = 0
    try:
        app(prog_name="vcrgen")
    except SystemExit as stop:
        main_code = int(stop.code or 0)
    assert main_code == 0, capsys.readouterr().err


def serves(words: list[str], folder: Path) -> None:
    """The service answers, and stops when it is told to."""
    with (
        serving(*words, "--port", "0", log=folder / "service.log") as url,
        urllib.request.urlopen(f"{url}board-public-hard-stacked.html", timeout=120) as answer,
    ):
        page = answer.read().decode()
    assert "My VLM" in page


@pytest.mark.parametrize("block", GUIDE.python)
def test_python(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "pairs.parquet")
    exec(block, {"__name__": "readme"})
    if "make_archive" in block:
        from datasets import load_dataset

        images = load_dataset("imagefolder", data_files="files/*.png", split="train", cache_dir="cache")
        shard = load_dataset("webdataset", data_files="shard.tar", split="train", cache_dir="cache")
        assert len(images) == len(shard) >= 30
        assert all(row["json"]["crossed_text"] and row["png"].width > 100 for row in shard)


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


def test_the_site_leads_to_every_page() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")]
    assert sorted(re.findall(r"[\w/-]+\.md", nav)) == sorted([*pages, "index.md"])


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.name)
def test_every_page_with_commands_has_a_test(page: Path) -> None:
    read = Page(page.relative_to(ROOT).as_posix())
    if read.path == "docs/api.md":  # names only; the generator of the site reads their docstrings
        names = re.findall(r"^::: ([\w.]+)$", read.text, re.MULTILINE)
        assert {f"vcrgen.{name}" for name in vcrgen.__all__} <= set(names)
        for name in set(names) - {"vcrgen.core.errors"}:
            module, _, attribute = name.rpartition(".")
            assert callable(getattr(import_module(module), attribute))
    elif read.python or any(words not in commands_of(GUIDE) for words in commands_of(read)):
        assert any(f'{page.name}"' in file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
