"""Clients of httpx, with what httpcore before 0.18 lacks; Debian 12 has such a version.

- It sends the headers and the body of a request apart, and lets the system hold the second part back
  until the first one is acknowledged, 40 ms later.
- The service refuses an upload as early as it can and stops reading it. httpcore then gives up when it
  can write no more, without reading the answer.

The parts of httpcore that are replaced here are not public, but those versions do not change any more.
"""

from __future__ import annotations

import re
import socket
import ssl
from typing import Any

import httpcore
import httpx


LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)
"""As many connections as there are calls: each open stream has one. Of those that are idle 20 stay."""


class Cut:
    """Whether the other side reads no more."""

    def __init__(self) -> None:
        self.happened = False


def is_needed() -> bool:
    """Whether the installed httpcore is such a version."""
    numbers = [int(part) for part in re.findall(r"\d+", httpcore.__version__)[:2]]
    return numbers < [0, 18]


def new_client(ssl_context: ssl.SSLContext | None = None, cut: Cut | None = None) -> httpx.Client:
    """A client of httpx. With cut it is for one request, whose answer it reads also when the other
    side reads no more: cut says when that is."""
    http = httpx.Client(verify=True if ssl_context is None else ssl_context, limits=LIMITS)
    if is_needed():
        transports: Any = [http._transport, *http._mounts.values()]
        for transport in transports:
            pool = getattr(transport, "_pool", None)
            if pool is not None:
                pool._network_backend = _Backend(pool._network_backend, cut)
    return http


class _Wrapper:
    def __init__(self, inner: Any, cut: Cut | None) -> None:
        self._inner = inner
        self._cut = cut

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Backend(_Wrapper):
    def connect_tcp(self, *args: Any, **named: Any) -> Any:
        stream = self._inner.connect_tcp(*args, **named)
        stream.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream if self._cut is None else _Stream(stream, self._cut)


class _Stream(_Wrapper):
    def start_tls(self, *args: Any, **named: Any) -> Any:
        return _Stream(self._inner.start_tls(*args, **named), self._cut)

    def write(self, *args: Any, **named: Any) -> None:
        assert self._cut is not None
        try:
            if not self._cut.happened:
                self._inner.write(*args, **named)
        except httpcore.WriteError:
            self._cut.happened = True
