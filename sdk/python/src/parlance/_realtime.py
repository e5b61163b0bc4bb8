"""Conversations over a session's WebSocket. docs/realtime.md describes the events."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Mapping, Type

from ._config import Config
from ._errors import CONNECTION_FAILED, ParlanceError
from ._outbox import Answer, Outbox
from ._reasons import Reason
from ._socket import Ended, Lost, Socket, wait_before

KEPT_EVENTS = 10_000
SENT_BYTES = 48 << 10
"""Sound in one event: a second at 24 kHz."""


@dataclass(frozen=True)
class Event:
    """An event of the server."""

    type: str
    data: Mapping[str, Any]
    """The whole event as docs/realtime.md has it."""

    @property
    def delta(self) -> str:
        """The piece of text of response.output_text.delta and of a transcript's delta; else ""."""
        is_text = self.type in ("response.output_text.delta", "response.output_audio_transcript.delta")
        return str(self.data.get("delta", "")) if is_text else ""

    @property
    def audio(self) -> bytes:
        """The sound of response.output_audio.delta, in the session's output format; else b"". By
        default it is PCM: 16-bit little-endian samples of one channel at 24,000 Hz."""
        if self.type != "response.output_audio.delta":
            return b""
        return base64.b64decode(str(self.data.get("delta", "")))


class Conversation:
    """A session and its socket, which is made again when it is lost. Use it with `async with`, at
    whose end the session is hung up and completed.

    Iterating gives the events from the beginning of the connection on, each once. Of those that
    nobody has read yet the newest 10,000 are kept. The iteration ends when the session has.
    """

    def __init__(
        self,
        config: Config,
        find_url: Callable[[], Awaitable[str]],
        settings: Mapping[str, Any] | None,
        settle_after: float = 1.5,
    ) -> None:
        self._config = config
        self._find_url = find_url
        self._settings = settings
        self._socket: Socket | None = None
        self._ready = asyncio.Event()
        self._news = asyncio.Event()
        self._events: Deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._outbox = Outbox(self._send_now, settle_after)
        self._task: asyncio.Task[None] | None = None
        self._last_event_id = ""
        self._url = ""
        self._failure: ParlanceError | None = None
        self.session_id = ""
        """ses_…, once it is connected."""
        self.end_reason: str | None = None
        """Why the session has ended; None before, and when it was left."""

    async def __aenter__(self) -> "Conversation":
        self._url = await self._find_url()
        self._task = asyncio.create_task(self._run())
        try:
            await self._until_ready()
        except BaseException:
            await self.leave()
            raise
        return self

    async def __aexit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hang_up()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._is_over:
                if self._failure is not None and self.end_reason is None:
                    raise self._failure
                return
            self._news.clear()
            await self._news.wait()

    async def say(self, text: str) -> Answer:
        """Says something and returns the answer, also one that failed or was cut short: see its
        status. A text that was said while there was no connection arrives once.

        Raises ParlanceError when the text was refused or the session has ended.
        """
        if self._is_over:
            raise self._over()
        return await self._outbox.say(text)

    async def send_audio(self, sound: bytes) -> bool:
        """Sends what the user's microphone heard, as fast as it was spoken, in the session's input
        format: by default PCM as in Event.audio. False: there is no connection, and it was dropped."""
        for at in range(0, len(sound), SENT_BYTES):
            piece = base64.b64encode(sound[at : at + SENT_BYTES]).decode()
            if not await self._send_now({"type": "input_audio_buffer.append", "audio": piece}):
                return False
        return True

    async def send_event(self, event: Mapping[str, Any]) -> None:
        """Sends any event of docs/realtime.md, once there is a connection. Raises ParlanceError
        when the session has ended, or when the connection breaks and it may not have arrived."""
        await self._until_ready()
        if not await self._send_now(event):
            raise ParlanceError(CONNECTION_FAILED, "The connection broke before the event was sent.", code="unavailable")

    async def send_tool_output(self, call_id: str, output: str) -> None:
        """Gives the result of a call of one of the client's tools, and asks for the answer."""
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        await self.send_event({"type": "conversation.item.create", "item": item})
        await self.send_event({"type": "response.create"})

    async def hang_up(self) -> None:
        """Ends the session and waits for that."""
        await self._stop(1000, "hang_up")

    async def leave(self) -> None:
        """Closes the connection. The session waits 120 s for another one."""
        await self._stop(4001, "left")

    @property
    def _is_over(self) -> bool:
        return self._task is None or self._task.done()

    def _over(self) -> ParlanceError:
        return self._failure or ParlanceError(
            Reason.SESSION_CLOSED, f"The session has ended: {self.end_reason or 'it was left'}."
        )

    async def _stop(self, code: int, reason: str) -> None:
        task, socket = self._task, self._socket
        if task is not None and not task.done():
            if socket is not None:
                await socket.close(code, reason)
            task.cancel()
            await asyncio.wait([task])
        self._closed()

    async def _until_ready(self) -> None:
        assert self._task is not None, "use the conversation with `async with`"
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait([waiting, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if self._task.done():
            raise self._over()

    async def _send_now(self, event: Mapping[str, Any]) -> bool:
        """Sends an event if there is a connection that is ready for it."""
        if self._socket is None or not self._ready.is_set():
            return False
        return await self._socket.send(json.dumps(event))

    async def _run(self) -> None:
        """Keeps a connection until the session has ended."""
        try:
            await self._keep_connected()
        except Ended as ended:
            self.end_reason = ended.reason or "hang_up"
        except ParlanceError as error:
            self._failure = error
        except Exception as error:  # an event that is none; whoever waits must not wait for ever
            self._failure = ParlanceError(CONNECTION_FAILED, "An event cannot be read.", code="unavailable")
            self._failure.__cause__ = error
        finally:
            self._closed()

    async def _keep_connected(self) -> None:
        lost_at: float | None = None
        attempts = 0
        was_open = False
        while True:
            try:
                self._socket = await Socket.connect(self._url, self._last_event_id)
                async for text in self._socket.receive():
                    await self._take(json.loads(text))
                    if self._ready.is_set():
                        lost_at, attempts, was_open = None, 0, True
            except Lost as lost:
                now = time.monotonic()
                lost_at = now if lost_at is None else lost_at
                if now - lost_at >= self._config.reconnect_for or (not was_open and attempts >= self._config.max_retries):
                    raise ParlanceError(CONNECTION_FAILED, lost.message, code="unavailable") from None
                wait = wait_before(attempts, lost.code)
                attempts += 1
            finally:
                self._socket = None
                self._ready.clear()
                self._outbox.lost()
            await asyncio.sleep(wait)

    async def _take(self, data: Mapping[str, Any]) -> None:
        kind = str(data.get("type", ""))
        # Sound is not kept for a client that was away, so that nothing can be asked for behind it.
        if data.get("event_id") and kind != "response.output_audio.delta":
            self._last_event_id = str(data["event_id"])
        if kind == "session.created":
            self.session_id = str((data.get("session") or {}).get("id", ""))
            self._ready.set()
            if self._settings:
                await self._send_now({"type": "session.update", "session": {"type": "realtime", **self._settings}})
            await self._outbox.opened()
        await self._outbox.take(data)
        self._events.append(Event(kind, data))
        self._news.set()

    def _closed(self) -> None:
        self._outbox.close(self._over())
        self._news.set()
