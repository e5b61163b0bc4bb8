"""Answers that come before a request has been sent.

The service refuses an upload as early as it can, and stops reading it. httpcore before 0.18 then
gives up when it can write no more, without reading the answer, as Debian 12's does. Its connections
are made to swallow that error here. The parts of httpcore that are replaced are not public, but
those versions do not change any more. Later versions do it by themselves.
"""

from __future__ import annotations

import re
from typing import Any

import httpcore
import httpx


class Cut:
    """Whether the other side reads no more."""

    def __init__(self) -> None:
        self.happened = False


def is_needed() -> bool:
    """Whether the installed httpcore gives up."""
    numbers = [int(part) for part in re.findall(r"\d+", httpcore.__version__)[:2]]
    return numbers < [0, 18]


def prepare(http: httpx.Client, cut: Cut) -> None:
    """Makes a client that has the default transport read early answers."""
    transports: Any = [http._transport, *http._mounts.values()]
    for transport in transports:
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend, cut)


class _Wrapper:
    def __init__(self, inner: Any, cut: Cut) -> None:
        self._inner = inner
        self._cut = cut

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Backend(_Wrapper):
    def connect_tcp(self, *args: Any, **named: Any) -> Any:
        return _Stream(self._inner.connect_tcp(*args, **named), self._cut)


class _Stream(_Wrapper):
    def start_tls(self, *args: Any, **named: Any) -> Any:
        return _Stream(self._inner.start_tls(*args, **named), self._cut)

    def write(self, *args: Any, **named: Any) -> None:
        try:
            if not self._cut.happened:
                self._inner.write(*args, **named)
        except httpcore.WriteError:
            self._cut.happened = True
