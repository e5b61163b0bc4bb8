"""Sessions: streams of turns that reconnect, and conversations over a socket."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Iterator, Mapping, Type, TypeVar, cast

from google.protobuf.message import Message

from ._calls import CallOptions
from ._realtime import Conversation, Opened
from ._resume import Resumable, async_resumed, resumed
from ._services.sessions import AsyncSessionService, SessionService
from ._services.webhooks import AsyncWebhookService, WebhookService
from .v1.sessions_pb2 import CreateSessionResponse, Session

M = TypeVar("M", bound=Message)

_resumable = ("SessionService/StreamTurn", "SessionService/FollowTurn", "WebhookService/WatchEvents")


class Sessions(SessionService):
    """Conversations. stream_turn and follow_turn reconnect by themselves, and give each event once.
    A second turn.started says that the events before it are void: the answer begins again."""

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> Iterator[M]:
        if method in _resumable:
            return resumed(self._calls, cast(Resumable, request), answer, options)
        return super()._stream(method, request, answer, options)


class Webhooks(WebhookService):
    """Webhooks, and the feed of events. watch_events reconnects by itself, and gives each event once."""

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> Iterator[M]:
        if method in _resumable:
            return resumed(self._calls, cast(Resumable, request), answer, options)
        return super()._stream(method, request, answer, options)


class AsyncSessions(AsyncSessionService):
    """As Sessions, with conversations over a socket."""

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
        if method in _resumable:
            return async_resumed(self._calls, cast(Resumable, request), answer, options)
        return super()._stream(method, request, answer, options)

    def connect(
        self,
        *,
        agent_id: str = "",
        user_id: str = "",
        modality: str = "text",
        dynamic_variables: Mapping[str, str] | None = None,
        overrides: Mapping[str, Any] | None = None,
        session: CreateSessionResponse | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Conversation:
        """Creates a session and opens its socket: `async with client.sessions.connect(...)`. It
        needs asyncio.

        Args:
            agent_id: agt_…
            user_id: Your own stable id of the user.
            modality: text, voice or "voice+text".
            dynamic_variables: Values of {{placeholders}}.
            overrides: Fields of the agent for this session.
            session: A session that was created already, in place of a new one.
            settings: Members of session.update for each connection, such as tools, or audio formats.
        """
        if session is None and not agent_id:
            raise ValueError("agent_id is required, or a session")

        async def find() -> Opened:
            created = session or await self.create_session(
                agent_id=agent_id,
                user_id=user_id,
                modality=modality,
                dynamic_variables=dynamic_variables,
                overrides=overrides,
            )

            def end() -> Awaitable[Session]:
                return self.end_session(session_id=created.id, status="completed", reason="hang_up", timeout=5)

            url = created.chat_url if modality == "text" else created.ws_url
            return Opened(created.id, url, end if session is None else None)

        return Conversation(self._calls, find, settings)


class AsyncWebhooks(AsyncWebhookService):
    """As Webhooks."""

    def _stream(self, method: str, request: Message, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
        if method in _resumable:
            return async_resumed(self._calls, cast(Resumable, request), answer, options)
        return super()._stream(method, request, answer, options)
