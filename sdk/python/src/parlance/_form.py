"""The body of an upload: multipart/form-data, as often as it has to be sent."""

from __future__ import annotations

import io
import mimetypes
import os
import secrets
from dataclasses import dataclass, field
from typing import BinaryIO, Callable, Iterator, List, Tuple, Union

from ._oldhttp import Cut

File = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]
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
    _source: Union[str, "os.PathLike[str]", bytes, BinaryIO] = field(init=False)
    boundary: str = field(default_factory=lambda: secrets.token_hex(16))
    size: int | None = None
    """Of the file in bytes; None when it cannot be known."""
    may_rewind: bool = True
    begins_at: int = 0
    fault: Exception | None = None
    """What the file or on_progress raised while the body was made; no further try helps."""

    def __post_init__(self) -> None:
        self._source = bytes(self.file) if isinstance(self.file, (bytearray, memoryview)) else self.file
        if isinstance(self.file, io.TextIOBase):
            raise TypeError('the file was opened as text: open it with "rb"')
        if not isinstance(self._source, (str, os.PathLike, bytes)) and not hasattr(self._source, "read"):
            raise TypeError(f"file must be a path, bytes or a file opened for bytes, not {type(self.file).__name__}")
        if not self.filename:
            named = self.file if isinstance(self.file, (str, os.PathLike)) else getattr(self.file, "name", "")
            self.filename = os.path.basename(named) if isinstance(named, (str, os.PathLike)) else ""
        if not self.filename:
            raise ValueError("filename is required: its ending says what the bytes are")
        self.media_type = self.media_type or mimetypes.guess_type(self.filename)[0] or "application/octet-stream"
        if not (self.media_type.isascii() and self.media_type.isprintable()):
            raise ValueError("media_type is not one")
        if isinstance(self.tags, str) or isinstance(self.ocr_languages, str):
            raise TypeError("tags and ocr_languages are lists of names")
        if any("," in tag for tag in self.tags):
            raise ValueError("a tag has no comma")
        self._measure()

    def _measure(self) -> None:
        if isinstance(self._source, bytes):
            self.size = len(self._source)
        elif isinstance(self._source, (str, os.PathLike)):
            self.size = os.stat(self._source).st_size
        elif self._source.seekable():
            self.begins_at = self._source.tell()
            self.size = self._source.seek(0, os.SEEK_END) - self.begins_at
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
        because its length was announced. Raises ValueError when the file's size has changed, and
        what the file and on_progress raise, which fault is too."""
        try:
            yield from self._body(cut)
        except Exception as error:
            self.fault = error
            raise

    def _body(self, cut: Cut) -> Iterator[bytes]:
        yield self._head()
        count = 0
        for piece in self._pieces():
            if cut.happened:
                break
            if not isinstance(piece, bytes):
                raise TypeError(f"the file gives {type(piece).__name__} and not bytes: open it with \"rb\"")
            if self.size is not None and count + len(piece) > self.size:
                raise ValueError(f"the file has grown: it had {self.size} bytes when its upload began")
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
        if isinstance(self._source, bytes):
            for at in range(0, len(self._source), PIECE_BYTES):
                yield self._source[at : at + PIECE_BYTES]
        elif isinstance(self._source, (str, os.PathLike)):
            with open(self._source, "rb") as opened:
                yield from iter(lambda: opened.read(PIECE_BYTES), b"")
        else:
            opened_before = self._source
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
