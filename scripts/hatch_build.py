"""Compress the wheel by libdeflate: zlib's best is above 18 MB, of which nearly all is fonts."""

import struct
import zipfile
from pathlib import Path
from typing import Any

import deflate
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVEL = 10  # libdeflate's first that looks for the best: 0.1 % above its last, in half the time
LIMIT = 18_000_000  # bytes of a wheel
LOCAL, CENTRAL, END = "<4s5H3L2H", "<4s6H3L5H2L", "<4s4H2LH"


class CompressHook(BuildHookInterface[Any]):
    """Steps of hatchling before and after the wheel is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Give an editable install the module by which verifiers finds the taskset, as other wheels have it."""
        if version == "editable":
            build_data["force_include_editable"]["vcrgen/train/vcrgen_env.py"] = "vcrgen_env.py"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Compress a wheel in place; an editable one has no fonts."""
        if version != "standard":
            return
        wheel = Path(artifact_path)
        compress(wheel)
        if (size := wheel.stat().st_size) > LIMIT:
            raise RuntimeError(f"The wheel has {size:,} bytes, more than {LIMIT:,}; ship less.")


def compress(path: Path) -> None:
    """Write a zip archive anew: the same files, dates and modes in fewer bytes."""
    parts, directory, offset = [], [], 0
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            packed, method = deflate.deflate_compress(content, LEVEL), zipfile.ZIP_DEFLATED
            if len(packed) >= len(content):
                packed, method = content, zipfile.ZIP_STORED
            name = info.filename.encode()
            flags = 0 if info.filename.isascii() else 0x800  # UTF-8
            year, month, day, hour, minute, second = info.date_time
            clock = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
            facts = (20, flags, method, *clock, info.CRC, len(packed), len(content), len(name), 0)  # 20: zip 2.0
            part = struct.pack(LOCAL, b"PK\3\4", *facts) + name + packed
            system = info.create_system << 8 | 20
            places = (0, 0, 0, info.external_attr, offset)
            directory.append(struct.pack(CENTRAL, b"PK\1\2", system, *facts, *places) + name)
            parts.append(part)
            offset += len(part)
    listing = b"".join(directory)
    count = len(parts)
    end = struct.pack(END, b"PK\5\6", 0, 0, count, count, len(listing), offset, 0)
    path.write_bytes(b"".join([*parts, listing, end]))
