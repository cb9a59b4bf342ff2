"""Kill the making of an MCQ benchmark at many moments, and look at what it cost and what came of it.

    python scripts/kill_generation.py [--kills 20] [--categories 6]

The set is made through the imitation in tests/bloom/author.py, four requests at a time, each answered after 30 ms. The
kills (SIGKILL) are spread over its requests; the last three come while the set is written. Then it is made to the end.
Printed: how many requests came again, by the server's count, beside how many had come at the kills and had no reply in
the ledger; and whether the set has the bytes of one that nobody disturbed. Exit code 1 if it has not, or if more came
again than were under way, or more than four were under way at a kill.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
CONCURRENCY = 4


def main() -> int:
    """Make one set in peace and one with kills; the exit code is 1 if they differ or too much was paid twice."""
    from tests.bloom.author import good
    from tests.bloom.generation.kills import ENVIRONMENT, asked_again, kill_at, slowly
    from tests.models.fault_server import FaultServer
    from vcrgen.bloom.taxonomy import default_taxonomy
    from vcrgen.files import sha256_file

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--categories", type=int, default=6)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, FaultServer(good) as server, FaultServer(slowly) as other:
        folder = Path(name)
        paths = default_taxonomy().paths[: asked.categories]
        lines = ["level,subcategory,leaf", *(path.replace("/", ",") for path in paths)]
        (folder / "categories.csv").write_text("\n".join(lines), "utf-8")
        words = ["bloom", "build", "samples:40", "--model", "M", "--judges", "J,K", "--per-category", "4"]
        words += ["--taxonomy", "categories.csv", "--concurrency", str(CONCURRENCY), "--out"]
        whole = [*words, "whole", "--endpoint", server.url]
        run = partial(subprocess.run, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
        run([sys.executable, "-m", "vcrgen", *whole])
        requests = len(server.calls)
        again = [*words, "made", "--endpoint", other.url]
        early = max(asked.kills - 3, 1)
        moments = [*(1 + requests * at // early for at in range(early)), *[None] * (asked.kills - early)]
        under_way = kill_at(again, other, moments, folder)
        run([sys.executable, "-m", "vcrgen", *again])
        files = [path for path in sorted((folder / "whole").rglob("*")) if path.is_file()]
        same = all(
            sha256_file(path) == sha256_file(folder / "made" / path.relative_to(folder / "whole")) for path in files
        )
        twice = asked_again(other)
    print(f"{requests} requests; {asked.kills} kills, with {sum(under_way)} under way; {twice} came again.")
    print(f"The bytes are {'the same' if same else 'OTHERS'}.")
    return 0 if same and twice <= sum(under_way) and max(under_way) <= CONCURRENCY else 1


if __name__ == "__main__":
    sys.exit(main())
