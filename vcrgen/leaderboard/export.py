"""A board as files: a site that needs no server, or tables for papers and programs."""

import shutil
from pathlib import Path

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.files import write_text
from vcrgen.core.folder import new_folder
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pages import page_of
from vcrgen.leaderboard.samples import SampleFolder, write_samples
from vcrgen.leaderboard.set_views import write_set_views
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import QUERY_PAGES
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.store.comparisons import model_pairs
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.tables import FORMATS, export

SITE = "site"
KINDS = (SITE, *FORMATS)
MARK = ".vcrgen-site"  # a folder with it was made here, and may be replaced
COMPARED = 1000  # pairs of models with a page; beyond, those that rank highest


def export_tables(board: Board, form: str, *, with_reported: bool = True) -> str:
    """Every table of a board as text; see `vcrgen.leaderboard.tables`."""
    with board.reading() as connection:
        return export(BoardReader(board.settings, connection).tables(), form, with_reported=with_reported)


def export_site(board: Board, folder: Path) -> int:
    """Write a board as a folder of pages that link to each other, for any server of files.

    A folder that an earlier export made is replaced, as a whole.

    Returns:
        The number of files.

    Raises:
        OutputError: The folder holds something else, or cannot be written.
    """
    write_samples(board)
    files = {MARK: "", ".nojekyll": ""}  # GitHub Pages is to serve the files as they are
    with new_folder(folder, mark=MARK) as temporary, board.reading() as connection:
        reader = BoardReader(board.settings, connection)
        pairs = model_pairs(reader)[:COMPARED]
        site = reader.site(live=False, compared=pairs)
        samples = SampleFolder(board.folder)
        pages = Pages(site, samples.read, write_set_views(board, connection, site.sets, temporary))
        page_names = [names.INDEX, *(row.name for row in QUERY_PAGES if row.exists(site))]
        page_names += [names.board_name(track) for track in site.tracks]
        page_names += [names.set_name(test_set.name) for test_set in site.sets]
        page_names += [names.model_name(facts.entry) for facts in site.models]
        page_names += [names.compare_name(*pair) for pair in pairs]
        for name in page_names:
            if (page := page_of(pages, reader, name)) is None:
                raise LeaderboardError(f"The page {name} cannot be made; tell the maintainers of vcrgen.")
            files[name] = page
        tables = reader.tables()
        files |= {name: export(tables, name.removeprefix("board.")) for name in names.TABLES}
        for name, content in files.items():
            write_text(temporary / name, content)
        sample_files = [
            samples.file(name)
            for test_set in site.sets
            if (read := samples.read(test_set)) is not None and read.has_files
            for name in (names.template_name(test_set.name), names.example_name(test_set.name))
        ]
        for file in sample_files:
            shutil.copyfile(file, temporary / file.name)
        return sum(path.is_file() for path in temporary.rglob("*"))
