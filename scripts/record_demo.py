"""Record anew the outputs that ``vcrgen demo`` scores, in configs/demo: of OCR and of the template baseline.

    python scripts/record_demo.py    # needs pip install ".[ocr]"

Do so whenever the tests of the demo say that the program gives other outputs now.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vcrgen.cli.demo import STEPS

RECORDED = Path(__file__).resolve().parents[1] / "configs" / "demo"
BASELINES = (
    "baseline ocr demo/data --view tei --out demo/ocr.jsonl",
    "baseline template demo/data --out demo/template.jsonl",
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for command in (STEPS[0], *BASELINES):
            subprocess.run([sys.executable, "-m", "vcrgen", *shlex.split(command)], cwd=folder, check=True)
        for file in (Path(folder) / "demo").glob("*.jsonl"):
            shutil.copyfile(file, RECORDED / file.name)


if __name__ == "__main__":
    main()
