"""Conversations over a session's WebSocket. docs/realtime.md describes the events."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Mapping, Type

from ._calls import AsyncCalls
from ._errors import CONNECTION_FAILED, ParlanceError
from ._outbox import Answer, Outbox
from ._reasons import Reason
from ._socket import HANDSHAKE_SECONDS, REPLACED, Ended, Lost, Socket, target, wait_before

KEPT_EVENTS = 10_000
SENT_BYTES = 48 << 10
"""Sound in one event: a second at 24 kHz."""
MAX_TEXT = 32_000
"""Characters that the service takes in one text."""
MAX_FRAME_BYTES = 1 << 20
"""What the service takes in one event."""
HANG_UP_SECONDS = 10.0
"""For which a lost connection is waited for to hang up."""


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


@dataclass(frozen=True)
class Opened:
    """A session whose socket can be opened."""

    session_id: str
    url: str = field(repr=False)  # it has the token
    end: Callable[[], Awaitable[Any]] | None
    """Ends the session without the socket; None for a session that was created elsewhere."""


class Conversation:
    """A session and its socket, which is made again when it is lost. Use it with `async with`, at
    whose end the session is hung up and completed.

    Iterating gives the events from the beginning of the connection on, each once. Of those that
    nobody has read yet the newest 10,000 are kept. The iteration ends when the session has.
    """

    def __init__(
        self,
        calls: AsyncCalls,
        find: Callable[[], Awaitable[Opened]],
        settings: Mapping[str, Any] | None,
        settle_after: float = 1.5,
    ) -> None:
        self._calls = calls
        self._find = find
        self._settings = settings
        self._socket: Socket | None = None
        self._ready = asyncio.Event()
        self._news = asyncio.Event()
        self._events: Deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._outbox = Outbox(self._send_now, settle_after)
        self._task: asyncio.Task[None] | None = None
        self._last_event_id = ""
        self._opened: Opened | None = None
        self._failure: ParlanceError | None = None
        self._is_stopping = self._was_left = False
        self.session_id = ""
        """ses_…, once it is connected."""
        self.end_reason: str | None = None
        """Why the session has ended; None before, and when it was left."""

    async def __aenter__(self) -> "Conversation":
        self._opened = await self._find()
        self.session_id = self._opened.session_id
        target(self._opened.url, "")  # raises for one that cannot be opened
        self._task = asyncio.create_task(self._run(self._opened.url))
        try:
            await self._until_ready()
        except BaseException:
            if self._opened.end is None:
                await self.leave()  # a session that was created elsewhere may be tried again
            else:
                await self._stop(1000, "hang_up")
                await self._end_without_socket()
            raise
        return self

    async def __aexit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hang_up()

    async def __aiter__(self) -> AsyncIterator[Event]:
        self._check_entered()
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
        status. A text that was said while there was no connection arrives once. Texts that are said
        before the answer to another one wait for it, in order. To stop waiting, cancel; the answer
        goes on, unless response.cancel is sent.

        Raises ParlanceError when the text was refused or the session has ended.
        """
        self._check_entered()
        if self._is_over:
            raise self._over()
        if not isinstance(text, str):
            raise TypeError(f"a text is a str, not {type(text).__name__}")
        if not text.strip():
            raise ParlanceError("missing_required_parameter", "A message needs content that says something.")
        if len(text) > MAX_TEXT or "\0" in text:
            message = f"A message has at most {MAX_TEXT} characters, and not the character U+0000."
            raise ParlanceError("invalid_value", message)
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
        when the session has ended, when the connection breaks and it may not have arrived, and
        body-too-large for more than 1 MiB."""
        self._check_entered()
        if len(json.dumps(event)) > MAX_FRAME_BYTES:
            raise ParlanceError(Reason.BODY_TOO_LARGE, "An event has at most 1 MiB.", code="resource_exhausted")
        await self._until_ready()
        if not await self._send_now(event):
            raise ParlanceError(CONNECTION_FAILED, "The connection broke before the event was sent.", code="unavailable")

    async def send_tool_output(self, call_id: str, output: str) -> None:
        """Gives the result of a call of one of the client's tools, and asks for the answer."""
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        await self.send_event({"type": "conversation.item.create", "item": item})
        await self.send_event({"type": "response.create"})

    async def hang_up(self) -> None:
        """Ends the session and waits for that. Over a lost connection it cannot: that is waited for
        10 s, and then a session that connect created is ended by a call. Where that fails too, the
        service ends the session 120 s after it has lost the connection."""
        if not self._is_over:
            await self._until_ready(HANG_UP_SECONDS)
        await self._stop(1000, "hang_up")
        await self._end_without_socket()

    async def leave(self) -> None:
        """Closes the connection. The session waits 120 s for another one."""
        self._was_left = True
        await self._stop(4001, "left")

    @property
    def _is_over(self) -> bool:
        return self._task is None or self._task.done()

    def _check_entered(self) -> None:
        if self._task is None:
            raise RuntimeError("use the conversation within `async with client.sessions.connect(...) as conversation`")

    def _over(self) -> ParlanceError:
        return self._failure or ParlanceError(
            Reason.SESSION_CLOSED, f"The session has ended: {self.end_reason or 'it was left'}."
        )

    async def _stop(self, code: int, reason: str) -> None:
        """Closes the socket and ends what keeps it."""
        self._is_stopping = True
        task, socket = self._task, self._socket
        if task is not None and not task.done():
            if socket is not None:
                await socket.close(code, reason)
                await asyncio.wait([task], timeout=1.0)  # until it has seen the close
            task.cancel()
            await asyncio.wait([task])
        self._closed()

    async def _end_without_socket(self) -> None:
        """Ends the session by a call, if nothing else has ended it and it is ours to end."""
        is_replaced = self._failure is not None and self._failure.is_reason(REPLACED)
        if self.end_reason is None and not self._was_left and not is_replaced and self._opened and self._opened.end:
            try:
                await self._opened.end()
                self.end_reason = "hang_up"
            except ParlanceError:
                pass  # the service ends it by itself

    async def _until_ready(self, within: float | None = None) -> None:
        """Waits for a connection. Without a time it raises what has ended the session."""
        assert self._task is not None
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait([waiting, self._task], timeout=within, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if self._task.done() and within is None:
            raise self._over()

    async def _send_now(self, event: Mapping[str, Any]) -> bool:
        """Sends an event if there is a connection that is ready for it."""
        if self._socket is None or not self._ready.is_set():
            return False
        return await self._socket.send(json.dumps(event))

    async def _run(self, url: str) -> None:
        """Keeps a connection until the session has ended."""
        try:
            await self._keep_connected(url)
        except Ended as ended:
            self.end_reason = ended.reason or "hang_up"
        except ParlanceError as error:
            self._failure = error
        except Exception as error:  # an event that is none; whoever waits must not wait for ever
            self._failure = ParlanceError(CONNECTION_FAILED, "An event cannot be read.", code="unavailable")
            self._failure.__cause__ = error
        finally:
            self._closed()

    async def _keep_connected(self, url: str) -> None:
        config, within = self._calls.config, HANDSHAKE_SECONDS
        lost_at: float | None = None
        attempts = 0
        was_open = False
        while True:
            try:
                self._socket = await Socket.connect(
                    url, self._last_event_id, self._calls.ssl_context, self._calls.http, within
                )
                async for text in self._socket.receive(within):
                    await self._take(json.loads(text))
                    if self._ready.is_set():
                        lost_at, attempts, was_open = None, 0, True
            except Lost as lost:
                if self._is_stopping:
                    return
                now = time.monotonic()
                lost_at = now if lost_at is None else lost_at
                left = lost_at + config.reconnect_for - now
                if left <= 0 or (not was_open and attempts >= config.max_retries):
                    raise lost.error from None
                wait = min(wait_before(attempts, lost), left)
                within = max(1.0, left - wait)
                attempts += 1
            finally:
                if self._socket is not None:
                    self._socket.abort()
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
            self._outbox.opened()
        self._outbox.take(data)
        self._events.append(Event(kind, data))
        self._news.set()

    def _closed(self) -> None:
        self._outbox.close(self._over())
        self._news.set()
