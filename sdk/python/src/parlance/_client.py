"""The clients."""

from __future__ import annotations

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
        stream_timeout: Seconds that a stream may be silent before it counts as lost.
        max_retries: Further tries of a call that failed on the connection, or for a reason that time
            mends. All tries carry the same Idempotency-Key.
        reconnect_for: Seconds for which a lost stream or socket is made again.
        http_client: An httpx.Client of your own, with proxies or certificates. It is not closed.
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
        http_client: httpx.Client | None = None,
    ) -> None:
        config = _config.read(base_url, api_key, timeout, stream_timeout, max_retries, reconnect_for)
        calls = Calls(config, http_client)
        super().__init__(calls)
        self.knowledge: Knowledge = Knowledge(calls)
        self.sessions: Sessions = Sessions(calls)
        self.webhooks: Webhooks = Webhooks(calls)

    def close(self) -> None:
        """Closes the connections."""
        if self._calls.owns_http:
            self._calls.http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(AsyncServices):
    """A client for asyncio, with the arguments of Client. A call is cancelled as every coroutine is.

    http_client is an httpx.AsyncClient. Uploads run in a thread of their own and take
    upload_http_client, an httpx.Client, if proxies or certificates of your own are needed.
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
        http_client: httpx.AsyncClient | None = None,
        upload_http_client: httpx.Client | None = None,
    ) -> None:
        config = _config.read(base_url, api_key, timeout, stream_timeout, max_retries, reconnect_for)
        calls = AsyncCalls(config, http_client, upload_http_client)
        super().__init__(calls)
        self.knowledge: AsyncKnowledge = AsyncKnowledge(calls)
        self.sessions: AsyncSessions = AsyncSessions(calls)
        self.webhooks: AsyncWebhooks = AsyncWebhooks(calls)

    async def close(self) -> None:
        """Closes the connections."""
        if self._calls.owns_http:
            await self._calls.http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
