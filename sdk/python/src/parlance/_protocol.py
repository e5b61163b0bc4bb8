"""What the Connect protocol says about requests and streams. https://connectrpc.com/docs/protocol"""

from __future__ import annotations

import json
import struct
import time
from contextlib import contextmanager
from typing import Iterable, Iterator, Mapping

import httpx
from google.protobuf.message import DecodeError, Message

from ._config import Config, merged
from ._errors import CONNECTION_FAILED, ParlanceError, from_end, from_stranger, media_type

UNARY_TYPE, STREAM_TYPE = "application/proto", "application/connect+proto"
_END = 2
"""The flag of the last message of a stream, which is JSON."""


def url(config: Config, method: str) -> str:
    """Where a method is called, such as "AgentService/CreateAgent"."""
    return f"{config.base_url}/parlance.v1.{method}"


def unary_headers(config: Config, key: str | None, extra: Mapping[str, str] | None) -> dict[str, str]:
    """The headers of a call with one answer."""
    return _headers(config, {"Content-Type": UNARY_TYPE}, key, extra)


def stream_headers(config: Config, key: str | None, extra: Mapping[str, str] | None) -> dict[str, str]:
    """The headers of a call with a stream of answers."""
    return _headers(config, {"Content-Type": STREAM_TYPE, "Accept-Encoding": "identity"}, key, extra)


def _headers(config: Config, own: Mapping[str, str], key: str | None, extra: Mapping[str, str] | None) -> dict[str, str]:
    given = {"Idempotency-Key": key} if key else {}
    return merged({**config.headers, "Connect-Protocol-Version": "1", **own, **given}, extra)


def envelope(message: Message) -> bytes:
    """A message as streams have it."""
    body = message.SerializeToString()
    return struct.pack(">BI", 0, len(body)) + body


def is_answer(response: httpx.Response, kind: str) -> bool:
    """Whether an answer has messages of the service, and is no refusal."""
    return response.status_code == 200 and media_type(response.headers) == kind


@contextmanager
def reading(response: httpx.Response, kind: str) -> Iterator[None]:
    """Around the reading of an answer. Of one that cannot be read to its end, or not be unpacked, the
    status counts, unless it is the service's: that was lost."""
    try:
        yield
    except httpx.RequestError as error:
        if isinstance(error, httpx.DecodingError) or not is_answer(response, kind):
            raise from_stranger(response.status_code, response.headers) from None
        raise


def within(pieces: Iterable[bytes], response: httpx.Response, deadline: float) -> Iterator[bytes]:
    """The pieces of an answer, which must all have come at a time of time.monotonic."""
    for piece in pieces:
        check_time(response, deadline)
        yield piece


def check_time(response: httpx.Response, deadline: float) -> None:
    """Raises ReadTimeout after the deadline."""
    if time.monotonic() > deadline:
        raise httpx.ReadTimeout("The answer took too long.", request=response.request)


def decode(response: httpx.Response, body: bytes, answer: Message) -> None:
    """Reads a message. Raises ParlanceError when it is none, or was cut off."""
    try:
        answer.ParseFromString(body)
    except DecodeError:
        if media_type(response.headers) == UNARY_TYPE and _ends_with_connection(response):
            broken = "The connection broke in the middle of an answer."
            raise ParlanceError(CONNECTION_FAILED, broken, code="unavailable") from None
        raise from_stranger(response.status_code, response.headers) from None


def _ends_with_connection(response: httpx.Response) -> bool:
    """Whether nothing but the end of the connection says where an answer ends, so that one that was cut
    off looks whole."""
    is_told = "Content-Length" in response.headers or "Transfer-Encoding" in response.headers
    return not is_told and response.http_version.startswith("HTTP/1")


class Envelopes:
    """Takes a stream apart into its messages."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._rest = bytearray()
        self._ended = False

    def take(self, data: bytes) -> Iterator[bytes]:
        """The messages that are complete with these bytes. Raises the error that ends the stream."""
        self._rest += data
        while len(self._rest) >= 5:
            flags, size = struct.unpack_from(">BI", self._rest)
            if len(self._rest) < 5 + size:
                return
            body = bytes(self._rest[5 : 5 + size])
            del self._rest[: 5 + size]
            if flags & _END:
                self._ended = True
                self._end(body)
            elif flags:
                raise from_stranger(self._response.status_code, self._response.headers)  # compressed, which nobody asked for
            else:
                yield body

    def finish(self) -> None:
        """Raises ParlanceError unless the stream was complete."""
        if not self._ended:
            raise ParlanceError(CONNECTION_FAILED, "The connection broke in the middle of a stream.", code="unavailable")

    def _end(self, body: bytes) -> None:
        try:
            end = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            end = None
        if not isinstance(end, dict):
            raise from_stranger(self._response.status_code, self._response.headers)
        if isinstance(end.get("error"), dict):
            given = end.get("metadata")
            metadata = {
                str(name).lower(): str(values[0])
                for name, values in (given if isinstance(given, dict) else {}).items()
                if isinstance(values, list) and values
            }
            headers = {**self._response.headers, **metadata}
            raise from_end(end["error"], headers, self._response.status_code)


def timeouts(longest_wait: float) -> httpx.Timeout:
    """The time-outs of one try: to connect, and to wait for each part of the answer. See within."""
    return httpx.Timeout(longest_wait, connect=min(longest_wait, 15.0))
