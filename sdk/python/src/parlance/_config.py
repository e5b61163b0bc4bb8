"""How the service is called."""

from __future__ import annotations

import os
import random
import uuid
from dataclasses import dataclass, field
from typing import Mapping
from urllib.parse import urlsplit

import httpx

from ._errors import CONNECTION_FAILED, ParlanceError
from ._reasons import Reason
from ._version import __version__

API_VERSION = "2026-11-28"
"""The version of the interface that this package was written for."""

LONGEST_WAIT = 30.0
"""A call whose Retry-After is longer than these seconds fails at once."""

IN_FLIGHT_SECONDS = 300.0
"""How long the first request with an Idempotency-Key is waited for: as long as the service goes on with
one whose caller was lost."""


@dataclass(frozen=True)
class Config:
    """The settings of a client. Times are in seconds."""

    base_url: str
    """Without a path."""
    api_key: str = field(repr=False)
    timeout: float
    stream_timeout: float
    max_retries: int
    reconnect_for: float

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every call."""
        return {
            "Authorization": f"Bearer {self.api_key}",
            "Parlance-Version": API_VERSION,
            "User-Agent": f"parlance-python/{__version__}",
        }


def read(
    base_url: str | None,
    api_key: str | None,
    timeout: float,
    stream_timeout: float,
    max_retries: int,
    reconnect_for: float,
) -> Config:
    """The settings, with those of the environment where none are given. Raises ValueError for what
    cannot be right; its text never shows what was given, which may be the key."""
    base = _base_of((base_url or os.environ.get("PARLANCE_BASE_URL") or "").strip())
    key = (api_key or os.environ.get("PARLANCE_API_KEY") or "").strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("api_key is missing or not an API key: give it, or set PARLANCE_API_KEY")
    return Config(base, key, timeout, stream_timeout, max_retries, reconnect_for)


def _base_of(url: str) -> str:
    if not url:
        raise ValueError("base_url is missing: give the URL of the service, or set PARLANCE_BASE_URL")
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or not url.isprintable() or " " in url or "?" in url or "#" in url:
        raise ValueError("base_url is not the URL of a service: it is like https://parlance.example.com")
    return url.rstrip("/").removesuffix("/v1")


def new_key() -> str:
    """An Idempotency-Key."""
    return f"py-{uuid.uuid4()}"


@dataclass
class Tries:
    """Decides whether and when a call is tried again."""

    config: Config
    failed: int = 0
    waits: int = 0
    """How often another try with the same Idempotency-Key has been waited for."""
    in_flight: float = 0.0
    """How long it was, in seconds."""

    def wait_after(self, error: ParlanceError) -> float:
        """The seconds to wait before the next try. Raises the error when there is none."""
        if error.is_reason(Reason.IDEMPOTENCY_KEY_IN_FLIGHT):
            wait = error.retry_after or pause(self.waits, 0.5, 2.0)
            if self.in_flight + wait > IN_FLIGHT_SECONDS:
                raise error
            self.waits, self.in_flight = self.waits + 1, self.in_flight + wait
            return wait
        if error.is_reason(Reason.CANCELED) or not error.may_be_repeated or self.failed >= self.config.max_retries:
            raise error
        wait = pause(self.failed, 0.5, 8.0)
        if error.retry_after is not None:
            if error.retry_after > LONGEST_WAIT:
                raise error
            wait = max(wait, error.retry_after)
        self.failed += 1
        return wait


def pause(tries: int, first: float, longest: float) -> float:
    """A pause that doubles with every try. Half of it is random, so that the clients of a service
    that was lost do not come back all at once."""
    bound = min(first * float(1 << min(tries, 16)), longest)
    return bound * (0.5 + random.random() / 2)


def no_answer(error: Exception, what: str) -> ParlanceError:
    """The error for a call without an answer. Only errors of connecting are quoted: others can have
    a part of the request in their text."""
    detail = str(error) if isinstance(error, httpx.ConnectError) else ""
    return ParlanceError(CONNECTION_FAILED, f"{what}: {detail or type(error).__name__}", code="unavailable")


def merged(headers: Mapping[str, str], extra: Mapping[str, str] | None) -> dict[str, str]:
    """The headers with those of the caller, which win whatever their case is. Raises ValueError for
    one that cannot be sent, without its value: it may be a secret."""
    given = {name.lower() for name in extra or ()}
    both = {**{name: value for name, value in headers.items() if name.lower() not in given}, **(extra or {})}
    for name, value in both.items():
        if not isinstance(value, str):
            raise TypeError(f"the header {name!r} must be a str, not {type(value).__name__}")
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"the header {name!r} has a value that cannot be sent")
    return both
