"""Every command and the Python of docs/pixels.md run."""

from tests.pages import Page, Run, succeed


def test_commands_and_python(run: Run) -> None:
    page = Page("docs/pixels.md")
    for kind, block in page.blocks:
        for line in block.splitlines() if kind == "bash" else ():
            succeed(run, line)
    assert page.execute() == 1
