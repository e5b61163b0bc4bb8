"""Calls of the service: one answer, streams, and pages; with the tries that each takes."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from dataclasses import dataclass, replace
from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Type, TypeVar

import httpx
from google.protobuf.message import Message

from . import _oldhttp
from . import _protocol as protocol
from ._config import Config, Tries, new_key, no_answer
from ._errors import ParlanceError, from_connect

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class CallOptions:
    """What the caller says about one call. Times are in seconds."""

    timeout: float | None = None
    """The longest wait of one try, of a stream for its next message."""
    idempotency_key: str | None = None
    extra_headers: Mapping[str, str] | None = None


def _unreachable(config: Config, error: Exception) -> ParlanceError:
    return no_answer(error, f"No answer from {config.base_url}")


class Calls:
    """Calls that block."""

    def __init__(
        self,
        config: Config,
        http: httpx.Client | None = None,
        ssl_context: ssl.SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.config = config
        self.owns_http = http is None
        self.ssl_context = ssl_context
        self._http = http or _oldhttp.new_client(ssl_context)
        self._process = os.getpid()
        self.sleep = sleep

    @property
    def http(self) -> httpx.Client:
        """The connections. A forked process gets its own: two cannot share them."""
        if self.owns_http and self._process != os.getpid():
            self._http, self._process = _oldhttp.new_client(self.ssl_context), os.getpid()
        return self._http

    def close(self) -> None:
        """Closes the connections, unless they are the caller's."""
        if self.owns_http:
            self.http.close()

    def unary(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        """Calls until there is an answer, or an error that another try would not change."""
        options = replace(options, idempotency_key=options.idempotency_key or new_key())
        tries = Tries(self.config)
        while True:
            try:
                return self.once(method, request, answer, options)
            except ParlanceError as error:
                wait = tries.wait_after(error)
            self.sleep(wait)

    def once(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        """One try."""
        headers = protocol.unary_headers(self.config, options.idempotency_key, options.extra_headers)
        body = request.SerializeToString()
        seconds = self.config.timeout if options.timeout is None else options.timeout
        timeout, deadline = protocol.timeouts(seconds), time.monotonic() + seconds
        url = protocol.url(self.config, method)
        try:
            with self.http.stream("POST", url, content=body, headers=headers, timeout=timeout) as response:
                with protocol.reading(response, protocol.UNARY_TYPE):
                    data = b"".join(protocol.within(response.iter_bytes(), response, deadline))
        except httpx.RequestError as error:
            raise _unreachable(self.config, error) from error
        if not protocol.is_answer(response, protocol.UNARY_TYPE):
            raise from_connect(response.status_code, response.headers, data)
        message = answer()
        protocol.decode(response, data, message)
        return message

    def stream_once(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> Iterator[M]:
        """The messages of one try."""
        timeout = protocol.timeouts(self.config.stream_timeout if options.timeout is None else options.timeout)
        headers = protocol.stream_headers(self.config, options.idempotency_key, options.extra_headers)
        url, content = protocol.url(self.config, method), protocol.envelope(request)
        try:
            with self.http.stream("POST", url, content=content, headers=headers, timeout=timeout) as response:
                if not protocol.is_answer(response, protocol.STREAM_TYPE):
                    with protocol.reading(response, protocol.STREAM_TYPE):
                        body = b"" if response.status_code == 200 else response.read()
                    raise from_connect(response.status_code, response.headers, body)
                envelopes = protocol.Envelopes(response)
                for data in response.iter_raw():
                    for part in envelopes.take(data):
                        message = answer()
                        protocol.decode(response, part, message)
                        yield message
                envelopes.finish()
        except httpx.RequestError as error:
            raise _unreachable(self.config, error) from error

    def stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> Iterator[M]:
        """The messages of a stream. It is tried again until its first message has come."""
        tries = Tries(self.config)
        while True:
            begun = False
            try:
                for message in self.stream_once(method, request, answer, options):
                    begun = True
                    yield message
                return
            except ParlanceError as error:
                if begun:
                    raise
                wait = tries.wait_after(error)
            self.sleep(wait)


class AsyncCalls:
    """Calls for asyncio."""

    def __init__(
        self,
        config: Config,
        http: httpx.AsyncClient | None = None,
        upload_http: httpx.Client | None = None,
        ssl_context: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.config = config
        self.owns_http = http is None
        self.ssl_context = ssl_context
        self._http = http or self._new_http()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.upload_http = upload_http
        self.sleep = sleep

    def _new_http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(verify=True if self.ssl_context is None else self.ssl_context, limits=_oldhttp.LIMITS)

    @property
    def http(self) -> httpx.AsyncClient:
        """The connections, which belong to one process and one event loop. A forked process gets its
        own. Raises RuntimeError in another loop than the first."""
        if self.owns_http and self._process != os.getpid():
            self._http, self._process, self._loop = self._new_http(), os.getpid(), None
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise RuntimeError(
                "This AsyncClient was used in another event loop, and its connections belong to that: "
                "make a client within each asyncio.run"
            )
        return self._http

    async def close(self) -> None:
        """Closes the connections, unless they are the caller's or another loop's, which is over."""
        if self.owns_http and self._loop in (None, asyncio.get_running_loop()):
            await self._http.aclose()

    async def unary(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        """As Calls.unary."""
        options = replace(options, idempotency_key=options.idempotency_key or new_key())
        tries = Tries(self.config)
        while True:
            try:
                return await self.once(method, request, answer, options)
            except ParlanceError as error:
                wait = tries.wait_after(error)
            await self.sleep(wait)

    async def once(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        """As Calls.once."""
        headers = protocol.unary_headers(self.config, options.idempotency_key, options.extra_headers)
        body = request.SerializeToString()
        seconds = self.config.timeout if options.timeout is None else options.timeout
        timeout, deadline = protocol.timeouts(seconds), time.monotonic() + seconds
        url = protocol.url(self.config, method)
        try:
            async with self.http.stream("POST", url, content=body, headers=headers, timeout=timeout) as response:
                with protocol.reading(response, protocol.UNARY_TYPE):
                    data = b""
                    async for piece in response.aiter_bytes():
                        protocol.check_time(response, deadline)
                        data += piece
        except httpx.RequestError as error:
            raise _unreachable(self.config, error) from error
        if not protocol.is_answer(response, protocol.UNARY_TYPE):
            raise from_connect(response.status_code, response.headers, data)
        message = answer()
        protocol.decode(response, data, message)
        return message

    async def stream_once(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
        """As Calls.stream_once."""
        timeout = protocol.timeouts(self.config.stream_timeout if options.timeout is None else options.timeout)
        headers = protocol.stream_headers(self.config, options.idempotency_key, options.extra_headers)
        url, content = protocol.url(self.config, method), protocol.envelope(request)
        try:
            async with self.http.stream("POST", url, content=content, headers=headers, timeout=timeout) as response:
                if not protocol.is_answer(response, protocol.STREAM_TYPE):
                    with protocol.reading(response, protocol.STREAM_TYPE):
                        body = b"" if response.status_code == 200 else await response.aread()
                    raise from_connect(response.status_code, response.headers, body)
                envelopes = protocol.Envelopes(response)
                async for data in response.aiter_raw():
                    for part in envelopes.take(data):
                        message = answer()
                        protocol.decode(response, part, message)
                        yield message
                envelopes.finish()
        except httpx.RequestError as error:
            raise _unreachable(self.config, error) from error

    async def stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
        """As Calls.stream."""
        tries = Tries(self.config)
        while True:
            begun = False
            try:
                async for message in self.stream_once(method, request, answer, options):
                    begun = True
                    yield message
                return
            except ParlanceError as error:
                if begun:
                    raise
                wait = tries.wait_after(error)
            await self.sleep(wait)


class Service:
    """A service of the contract. The generated classes call these methods."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def _unary(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        return self._calls.unary(method, request, answer, options)

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> Iterator[M]:
        return self._calls.stream(method, request, answer, options)

    def _pages(
        self, method: str, request: Message, answer: Type[Message], items: str, options: CallOptions
    ) -> Iterator[Any]:
        while True:
            page: Any = self._unary(method, request, answer, options)
            yield from getattr(page, items)
            if not page.next_page_token:
                return
            setattr(request, "page_token", page.next_page_token)


class AsyncService:
    """A service of the contract. The generated classes call these methods."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def _unary(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> M:
        return await self._calls.unary(method, request, answer, options)

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
        return self._calls.stream(method, request, answer, options)

    async def _pages(
        self, method: str, request: Message, answer: Type[Message], items: str, options: CallOptions
    ) -> AsyncIterator[Any]:
        while True:
            page: Any = await self._unary(method, request, answer, options)
            for item in getattr(page, items):
                yield item
            if not page.next_page_token:
                return
            setattr(request, "page_token", page.next_page_token)
