"""Write the golden files of tests/golden anew, and print what changed.

    python scripts/update_golden.py                  # all of them
    python scripts/update_golden.py score-en bytes   # those whose names begin so
    python scripts/update_golden.py --check          # write nothing; exit code 1 if something differs

With --check, files that depend on another version of a library than the one installed are skipped, and named. Without,
all are written, and so are the versions: then the change shows what the other version does.
"""

import argparse
import difflib
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def changed(file: Path, text: str, *, write: bool) -> bool:
    """Return whether a golden file is another now; print the difference, and write it if asked to."""
    before = file.read_text("utf-8") if file.is_file() else ""
    if before == text:
        return False
    name = file.relative_to(ROOT).as_posix()
    print("\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), name, f"{name} now", "", "", 2, "")))
    if write:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return True


def main() -> int:
    """Make every value once; the exit code is 1 if --check found a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="Beginnings of names; all if there is none.")
    parser.add_argument("--check", action="store_true", help="Write nothing.")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.golden import make

    versions = make.VALUES / "versions.json"
    recorded = json.loads(versions.read_text("utf-8")) if versions.is_file() else {}
    wanted = [name for name in make.GOLDEN if not options.names or name.startswith(tuple(options.names))]
    differing, skipped = [], []
    with tempfile.TemporaryDirectory(prefix="vcrgen-golden-") as folder:
        bench = make.Bench(Path(folder).resolve())
        for name in wanted:
            golden = make.GOLDEN[name]
            sentence = make.foreign(golden.needs, recorded)
            if sentence and (options.check or options.names):
                skipped.append(f"{name}: {sentence}")
                continue
            if changed(make.VALUES / f"{name}.json", make.as_text(golden.value(bench)), write=not options.check):
                differing.append(name)
    if not options.names:
        if not options.check:
            changed(versions, make.as_text(make.versions()), write=True)
        for file in sorted(make.VALUES.glob("*.json")):
            if file.stem not in make.GOLDEN and file != versions:
                print(f"{file.relative_to(ROOT)}: nothing makes it{'' if options.check else '; removed'}")
                differing.append(file.stem)
                if not options.check:
                    file.unlink()
    for sentence in skipped:
        print(f"Skipped {sentence}")
    what = "differ" if options.check else "were written anew"
    print(f"{len(differing)} of {len(wanted)} golden files {what}{': ' if differing else ''}{', '.join(differing)}.")
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
