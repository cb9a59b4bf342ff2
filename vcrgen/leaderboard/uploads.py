"""Files of outputs on their way in: plain text of a limited size; a board and a client that submits refuse the same."""

from collections.abc import Iterator
from typing import IO

from vcrgen.core.errors import LeaderboardError
from vcrgen.scorer.predictions import utf16_of

_BLOCK = 1 << 20
# Whatever is packed can be small on the way in and huge when it is read. An xlsx file is an archive, too.
_ARCHIVES = {
    b"PK": "a zip archive or an xlsx table",
    b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
    b"PAR1": "a Parquet file",
    b"\xd0\xcf\x11\xe0": "an old Excel table",
    b"\x80": "a pickle",
}
_TAR_AT, _TAR = 257, b"ustar"


def read_upload(stream: IO[bytes], *, most: int, taker: str = "this board") -> Iterator[bytes]:
    """The bytes of a file, block by block.

    Args:
        most: Bytes that it may have.
        taker: Who takes no more, for the refusal.

    Raises:
        LeaderboardError: It is empty, too large, or packed.
    """
    block, size = stream.read(_BLOCK), 0
    while len(block) < _TAR_AT + len(_TAR) and (more := stream.read(_BLOCK)):  # a stream may give little at a time
        block += more
    _require_plain_text(block)
    while block:
        size += len(block)
        if size > most:
            raise LeaderboardError(f"The file is larger than {most >> 20} MiB, which is the most {taker} takes.")
        yield block
        block = stream.read(_BLOCK)
    if not size:
        raise LeaderboardError("The file is empty.")


def _require_plain_text(start: bytes) -> None:
    kinds = [kind for magic, kind in _ARCHIVES.items() if start.startswith(magic)]
    if start[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        kinds.append("a tar archive")
    if kinds:
        raise LeaderboardError(f"The file is {kinds[0]}; boards take plain text only: JSON Lines, JSON, CSV or TSV.")
    if utf16_of(start[:4]):
        raise LeaderboardError("The file is UTF-16 text, as PowerShell and Excel write; save it as UTF-8.")
