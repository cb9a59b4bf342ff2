"""The pages of a Parquet file, looked at as they are read.

A footer can state any size. What a reader allocates is what the header of each page states, so the headers are read
before the reader gets their bytes.
"""

import contextlib
import io
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

_MAX_HEADER_BYTES = 1 << 20  # headers may hold the smallest and largest value of their page
_MAX_DEPTH = 8  # of records within records
_MAX_LISTED_BYTES = 512 << 20  # to which repeated texts in the lists of a row group may be decoded

# Fields of a header by their numbers in parquet.thrift: of a page, and of its data in the first and in the second form.
_KIND, _UNPACKED, _PACKED, _DATA, _DATA_V2 = 1, 2, 3, 5, 8
_VALUES, _ENCODING, _ENCODING_V2 = 1, 2, 4
_DATA_KIND, _DICTIONARY_KIND, _DATA_V2_KIND = 0, 2, 3
_EACH_VALUE = (0, 6)  # encodings that store a value as often as it stands there: PLAIN, DELTA_LENGTH_BYTE_ARRAY
_DICTIONARY = (2, 8)


@dataclass(slots=True)
class ColumnPages:
    """The pages of a column of a row group, as far as they were read."""

    path: str
    codec: str
    lists_texts: bool  # a text that is stored once may be decoded for each value of a list, in one row
    unpacked_bytes: int  # of the pages to come, as the footer states
    values: int  # of the pages to come, as the footer states
    place: int  # in the file, of what is looked at next
    end: int
    read_in_part: bytes = b""  # what begins at ``place``
    dictionary: tuple[int, int] | None = None  # packed and unpacked bytes, while it is to be read
    longest_entry: int = 0  # of the dictionary
    listed_bytes: int = 0  # to which the repeated texts of the pages could be decoded

    def look_at(self, position: int, data: bytes) -> None:
        """Check what ends in the next bytes of the column.

        Raises:
            ArrowException: The pages unpack to more than the footer states, or a header is damaged.
        """
        while self.values and self.place < position + len(data):
            source, start = data, self.place - position
            if self.read_in_part:
                source, start = self.read_in_part + data, 0
            try:
                size = self._dictionary_size(source, start) if self.dictionary else self._page_size(source, start)
            except IndexError:
                self.read_in_part = source[start:]
                if not self.dictionary and len(self.read_in_part) > _MAX_HEADER_BYTES:
                    raise pa.ArrowInvalid(f"{self.path} has a page whose header has no end") from None
                return
            except (KeyError, TypeError):
                raise pa.ArrowInvalid(f"{self.path} has a page with a damaged header") from None
            self.read_in_part = b""
            self.place += size

    def _page_size(self, data: bytes, start: int) -> int:
        """Check a header; the bytes to the next one, or to the dictionary that follows."""
        header = _Header(data, start)
        fields = header.record()
        kind, unpacked, packed = fields[_KIND], fields[_UNPACKED], fields[_PACKED]
        values = encoding = 0
        if kind == _DATA_KIND:
            values, encoding = fields[_DATA][_VALUES], fields[_DATA][_ENCODING]
        elif kind == _DATA_V2_KIND:
            values, encoding = fields[_DATA_V2][_VALUES], fields[_DATA_V2][_ENCODING_V2]
        if min(unpacked, packed, values) < 0:
            raise pa.ArrowInvalid(f"{self.path} has a page of a negative size")
        self.unpacked_bytes -= unpacked
        self.values -= values
        if self.unpacked_bytes < 0 or self.values < 0:
            raise pa.ArrowInvalid(f"{self.path} has pages that unpack to more than the footer states")
        if self.lists_texts and encoding not in _EACH_VALUE:
            self.listed_bytes += values * (self.longest_entry if encoding in _DICTIONARY else unpacked)
            if self.listed_bytes > _MAX_LISTED_BYTES:
                raise pa.ArrowInvalid(
                    f"{self.path} may unpack to {self.listed_bytes >> 20} MiB of repeated texts in lists, and at most "
                    f"{_MAX_LISTED_BYTES >> 20} are read of one row group"
                )
        if kind == _DICTIONARY_KIND and self.lists_texts and packed:
            self.dictionary = packed, unpacked
            return header.place - start
        return header.place - start + int(packed)

    def _dictionary_size(self, data: bytes, start: int) -> int:
        """Look for the longest entry of the dictionary; its packed bytes."""
        packed, unpacked = self.dictionary or (0, 0)
        if len(data) < start + packed:
            raise IndexError
        self.longest_entry = unpacked  # unless it can be told
        entries = data[start : start + packed]
        with contextlib.suppress(ValueError, OSError, pa.ArrowException, struct.error):
            if self.codec != "UNCOMPRESSED":
                codec = "lz4_raw" if self.codec == "LZ4" else self.codec.lower()
                entries = pa.decompress(entries, unpacked, codec, asbytes=True)
            self.longest_entry = max(_lengths(entries), default=0)
        self.dictionary = None
        return packed


def _lengths(entries: bytes) -> Iterator[int]:
    place = 0
    while place < len(entries):
        (length,) = struct.unpack_from("<I", entries, place)
        yield length
        place += 4 + length


class CheckedPages(io.RawIOBase):
    """An open Parquet file that lets a reader see only pages which were checked."""

    def __init__(self, handle: BinaryIO) -> None:
        super().__init__()
        self._handle = handle
        self._size = handle.seek(0, io.SEEK_END)
        handle.seek(0)
        self._starts: dict[int, tuple[pq.ColumnChunkMetaData, bool]] = {}
        self._read: defaultdict[int, list[ColumnPages]] = defaultdict(list)  # by the position of their next read

    def expect(self, chunk: pq.ColumnChunkMetaData, *, has_lists: bool) -> None:
        """Check a column of a row group whenever it is read.

        Raises:
            ArrowException: The column is said to be where the file has other bytes, or none.
        """
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        path, size = chunk.path_in_schema, chunk.total_compressed_size
        if not chunk.num_values:  # no page of it is unpacked, and it may begin at byte 0, as others like it
            self._starts.setdefault(start, (chunk, has_lists))
            return
        if not 0 <= size <= self._size - start:
            raise pa.ArrowInvalid(f"{path} has {size:,} bytes by the footer, more than the file has there")
        there = self._starts.get(start, (chunk, has_lists))[0]
        if there.num_values and there.path_in_schema != path:
            raise pa.ArrowInvalid(f"{path} and {there.path_in_schema} begin at the same byte")
        self._starts[start] = (chunk, has_lists)

    def read(self, size: int = -1) -> bytes:
        """Read as the file does; an ArrowException if a page in it unpacks to more than the footer states."""
        position = self._handle.tell()
        data = self._handle.read(size)
        if not self._starts or not data:  # the footer
            return data
        columns = self._read.pop(position, [])
        if position in self._starts:
            columns.append(self._column(position, *self._starts[position]))
        if not columns:
            raise pa.ArrowInvalid(f"byte {position} is read, where no column begins")
        position += len(data)
        for column in columns:
            column.look_at(position - len(data), data)
            if position < column.end:
                self._read[position].append(column)
        return data

    def _column(self, start: int, chunk: pq.ColumnChunkMetaData, has_lists: bool) -> ColumnPages:
        return ColumnPages(
            path=chunk.path_in_schema,
            codec=chunk.compression,
            lists_texts=has_lists and chunk.physical_type == "BYTE_ARRAY",
            unpacked_bytes=chunk.total_uncompressed_size,
            values=chunk.num_values,
            place=start,
            end=start + chunk.total_compressed_size,
        )

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Seek as the file does."""
        return self._handle.seek(offset, whence)

    def tell(self) -> int:
        """The position in the file."""
        return self._handle.tell()

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._handle.close()
        super().close()


class _Header:
    """A record in Thrift's compact form. An IndexError says that it goes on behind the data."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.start, self.place = data, start, start

    def record(self, depth: int = 0) -> dict[int, Any]:
        """The 32-bit numbers and the records among its fields, by the fields' numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            if (value := self._value(byte & 15, depth)) is not None:
                fields[number] = value
        return fields

    def _value(self, kind: int, depth: int) -> int | dict[int, Any] | None:
        if depth > _MAX_DEPTH:
            raise pa.ArrowInvalid("a page has a header of too many levels")
        if kind == 5:
            return self._integer()
        if kind == 12:
            return self.record(depth + 1)
        if kind in (4, 6):  # numbers of other sizes
            self._integer()
        elif kind in (3, 7, 8):  # a byte, a double, a text
            self._skip(self._number() if kind == 8 else 1 if kind == 3 else 8)
        elif kind in (9, 10):
            self._skip_list(depth)
        elif kind not in (1, 2):  # true and false, which are their own value
            raise pa.ArrowInvalid("a page has a header with a field of an unknown type")
        return None

    def _skip_list(self, depth: int) -> None:
        byte = self._byte()
        for _ in range(self._number() if byte >> 4 == 15 else byte >> 4):
            if byte & 15 in (1, 2):  # a value takes a byte in a list
                self._skip(1)
            else:
                self._value(byte & 15, depth + 1)

    def _skip(self, size: int) -> None:
        self.place += size
        if self.place > len(self.data):
            raise IndexError

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 128 and shift < 63:
            number |= (byte & 127) << shift
            shift += 7
        return number | (byte & 127) << shift

    def _integer(self) -> int:
        number = self._number() & 0xFFFFFFFF
        return number >> 1 ^ -(number & 1)
