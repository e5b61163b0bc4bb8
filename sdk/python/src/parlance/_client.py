"""The clients."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Type

import httpx

from . import _config
from ._calls import AsyncCalls, Calls
from ._services import AsyncServices, Services
from ._sessions import AsyncSessions, AsyncWebhooks, Sessions, Webhooks
from ._upload import AsyncKnowledge, Knowledge


class Client(Services):
    """A client whose calls block. It can be used by several threads at once.

    Args:
        base_url: The address of the service, with or without /v1; else PARLANCE_BASE_URL.
        api_key: The API key; else PARLANCE_API_KEY.
        timeout: Seconds that one try may wait for its answer.
        stream_timeout: Seconds that a stream may be silent before it counts as lost. A turn or the
            feed of events, which go on over another connection, are asked for again after 45.
        max_retries: Further tries of a call that failed on the connection, or for a reason that time
            mends. All tries carry the same Idempotency-Key.
        reconnect_for: Seconds for which a lost stream or socket is made again.
        ssl_context: Whom to trust: ssl.create_default_context(cafile=…) for an authority of your own.
        http_client: An httpx.Client of your own, with proxies or certificates. It is not closed, and
            cannot be used on both sides of a fork.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        stream_timeout: float = 300.0,
        max_retries: int = 2,
        reconnect_for: float = 120.0,
        ssl_context: ssl.SSLContext | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        config = _config.read(base_url, api_key, timeout, stream_timeout, max_retries, reconnect_for)
        calls = Calls(config, http_client, ssl_context)
        super().__init__(calls)
        self.knowledge: Knowledge = Knowledge(calls)
        self.sessions: Sessions = Sessions(calls)
        self.webhooks: Webhooks = Webhooks(calls)

    def close(self) -> None:
        """Closes the connections."""
        self._calls.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(AsyncServices):
    """A client for asyncio, with the arguments of Client. A call is cancelled as every coroutine is.
    It belongs to the event loop that uses it first: make one within each asyncio.run.

    ssl_context is for calls, uploads and sockets. http_client is an httpx.AsyncClient, for calls.
    Uploads run in a thread of their own and take upload_http_client, an httpx.Client.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        stream_timeout: float = 300.0,
        max_retries: int = 2,
        reconnect_for: float = 120.0,
        ssl_context: ssl.SSLContext | None = None,
        http_client: httpx.AsyncClient | None = None,
        upload_http_client: httpx.Client | None = None,
    ) -> None:
        config = _config.read(base_url, api_key, timeout, stream_timeout, max_retries, reconnect_for)
        calls = AsyncCalls(config, http_client, upload_http_client, ssl_context)
        super().__init__(calls)
        self.knowledge: AsyncKnowledge = AsyncKnowledge(calls)
        self.sessions: AsyncSessions = AsyncSessions(calls)
        self.webhooks: AsyncWebhooks = AsyncWebhooks(calls)

    async def close(self) -> None:
        """Closes the connections."""
        await self._calls.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
