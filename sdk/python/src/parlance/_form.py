"""The body of an upload: multipart/form-data, as often as it has to be sent."""

from __future__ import annotations

import mimetypes
import os
import secrets
from dataclasses import dataclass, field
from typing import BinaryIO, Callable, Iterator, List, Tuple, Union

from ._oldhttp import Cut

File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
"""A path, the content itself, or a file that was opened for reading bytes."""

Progress = Callable[[int, Union[int, None]], None]
"""Called with the bytes that were sent, and with those there are or None. A further try begins at 0."""

Names = Union[List[str], Tuple[str, ...]]

PIECE_BYTES = 64 << 10


@dataclass
class Form:
    """A file with what is said about it."""

    file: File
    filename: str = ""
    media_type: str = ""
    name: str = ""
    force_ocr: bool = False
    ocr_languages: Names = ()
    tags: Names = ()
    on_progress: Progress | None = None
    boundary: str = field(default_factory=lambda: secrets.token_hex(16))
    size: int | None = None
    """Of the file in bytes; None when it cannot be known."""
    may_rewind: bool = True
    begins_at: int = 0

    def __post_init__(self) -> None:
        if not self.filename:
            named = self.file if isinstance(self.file, (str, os.PathLike)) else getattr(self.file, "name", "")
            self.filename = os.path.basename(named) if isinstance(named, (str, os.PathLike)) else ""
        if not self.filename:
            raise ValueError("filename is required: its ending says what the bytes are")
        self.media_type = self.media_type or mimetypes.guess_type(self.filename)[0] or "application/octet-stream"
        if not (self.media_type.isascii() and self.media_type.isprintable()):
            raise ValueError("media_type is not one")
        self._measure()

    def _measure(self) -> None:
        if isinstance(self.file, bytes):
            self.size = len(self.file)
        elif isinstance(self.file, (str, os.PathLike)):
            self.size = os.stat(self.file).st_size
        elif self.file.seekable():
            self.begins_at = self.file.tell()
            self.size = self.file.seek(0, os.SEEK_END) - self.begins_at
        else:
            self.may_rewind = False

    @property
    def headers(self) -> dict[str, str]:
        """The headers that describe the body."""
        headers = {"Content-Type": f"multipart/form-data; boundary={self.boundary}"}
        if self.size is not None:
            headers["Content-Length"] = str(len(self._head()) + self.size + len(self._tail()))
        return headers

    def body(self, cut: Cut) -> Iterator[bytes]:
        """The body in pieces. Once the other side reads no more, the rest of it is only made up,
        because its length was announced. Raises ValueError when the file's size has changed."""
        yield self._head()
        count = 0
        for piece in self._pieces():
            if cut.happened:
                break
            yield piece
            count += len(piece)
            if self.on_progress is not None and not cut.happened:
                self.on_progress(count, self.size)
        if cut.happened and self.size is not None:
            yield from (bytes(min(PIECE_BYTES, self.size - at)) for at in range(count, self.size, PIECE_BYTES))
        elif self.size is not None and count != self.size:
            raise ValueError(f"the file has {count} bytes and had {self.size} when its upload began")
        yield self._tail()

    def _pieces(self) -> Iterator[bytes]:
        if isinstance(self.file, bytes):
            for at in range(0, len(self.file), PIECE_BYTES):
                yield self.file[at : at + PIECE_BYTES]
        elif isinstance(self.file, (str, os.PathLike)):
            with open(self.file, "rb") as opened:
                yield from iter(lambda: opened.read(PIECE_BYTES), b"")
        else:
            opened_before = self.file
            if self.may_rewind:
                opened_before.seek(self.begins_at)
            yield from iter(lambda: opened_before.read(PIECE_BYTES), b"")

    def _head(self) -> bytes:
        values = [("name", self.name)] if self.name else []
        values += [("force_ocr", "true")] if self.force_ocr else []
        values += [("ocr_languages", one) for one in self.ocr_languages]
        values += [("tags", ",".join(self.tags))] if self.tags else []
        parts = [self._part(f'name="{name}"') + f"\r\n{value}\r\n" for name, value in values]
        filename = self.filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        parts.append(self._part(f'name="file"; filename="{filename}"') + f"Content-Type: {self.media_type}\r\n\r\n")
        return "".join(parts).encode()

    def _tail(self) -> bytes:
        return f"\r\n--{self.boundary}--\r\n".encode()

    def _part(self, what: str) -> str:
        return f"--{self.boundary}\r\nContent-Disposition: form-data; {what}\r\n"
