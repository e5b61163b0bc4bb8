"""Texts that were said on a socket and have no answer yet. After a lost connection nobody knows
whether they arrived: each is sent again under the same id, and an answer is asked for again only when
none comes."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Mapping, Sequence

from ._errors import ParlanceError
from ._reasons import Reason

REQUEST_KEY = "parlance_request"
"""The member of a response's metadata that names the text it answers."""
RESUME_SECONDS = 20.0
"""Within this time another server answers again when the one that answered is lost."""


@dataclass(frozen=True)
class Answer:
    """An answer of the agent."""

    id: str
    """resp_…; "" when there is none."""
    status: str
    """completed, cancelled, incomplete or failed; operator: a person has the conversation and
    answers in their own time."""
    text: str
    """What was said, written or aloud."""
    reason: str = ""
    """Why it is cancelled, incomplete or failed."""
    citations: Sequence[Mapping[str, Any]] = ()
    """The passages that the model was given: source_id, source_name, excerpt, similarity, ..."""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    """The calls that the client is to make: call_id, name, arguments. See send_tool_output."""


@dataclass
class _Entry:
    text: str
    answer: "asyncio.Future[Answer]"
    id: str = field(default_factory=lambda: f"msg_{uuid.uuid4().hex}")
    sent: bool = False
    accepted: bool = False
    """The server has the item."""
    duplicate: bool = False
    """The server had it before it was sent again."""
    unsure: bool = False
    """A lost connection makes it unknown what the server got."""
    answer_id: str = ""
    timer: asyncio.TimerHandle | None = None

    def doubt(self) -> None:
        """Nobody knows any more what the server got."""
        self.unsure, self.sent, self.duplicate = True, self.accepted, False

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None


class Outbox:
    """What was said and has no answer."""

    def __init__(self, send: Callable[[Mapping[str, Any]], Awaitable[bool]], settle_after: float) -> None:
        self._send = send
        self._settle_after = settle_after
        self._entries: "list[_Entry]" = []
        self._answering: "set[str]" = set()
        self._tasks: "set[asyncio.Task[None]]" = set()
        self._sending = asyncio.Lock()
        self._losses = 0

    async def say(self, text: str) -> Answer:
        """Sends a text, now or when there is a connection, and waits for the answer."""
        entry = _Entry(text, asyncio.get_running_loop().create_future())
        self._entries.append(entry)
        try:
            async with self._sending:
                await self._transmit(entry)
            return await entry.answer
        finally:
            self._remove(entry)

    async def opened(self) -> None:
        """There is a connection: what is not known to have arrived is sent."""
        async with self._sending:  # a text that is just being sent is sent once
            for entry in [one for one in self._entries if not one.answer_id]:
                if entry.unsure:
                    await self._check(entry)
                else:
                    await self._transmit(entry)

    def lost(self) -> None:
        """The connection was lost."""
        self._losses += 1
        self._answering.clear()
        for entry in self._entries:
            entry.stop_timer()
            if entry.sent:
                entry.doubt()

    def close(self, error: ParlanceError) -> None:
        """The session is over: nothing is answered any more."""
        for entry in list(self._entries):
            self._remove(entry)
            if not entry.answer.done():
                entry.answer.set_exception(error)

    async def take(self, event: Mapping[str, Any]) -> None:
        """Notes what an event says about what was sent."""
        kind = event.get("type")
        if kind in ("conversation.item.added", "conversation.item.done"):
            for entry in self._entries:
                entry.accepted = entry.accepted or entry.id == _id(event.get("item"))
        elif kind == "conversation.item.retrieved":
            for entry in [one for one in self._entries if one.id == _id(event.get("item"))]:
                entry.accepted = True
                await self._checked(entry)
        elif kind == "response.created":
            self._started(event.get("response") or {})
        elif kind == "response.done":
            await self._done(event.get("response") or {})
        elif kind == "error":
            await self._refused(event.get("error") or {})

    async def _transmit(self, entry: _Entry) -> None:
        if not entry.sent:
            losses = self._losses
            entry.sent = await self._create(entry) and await self._request(entry)
            if losses != self._losses:  # the connection was lost meanwhile
                entry.doubt()

    async def _create(self, entry: _Entry) -> bool:
        item = {"id": entry.id, "type": "message", "role": "user", "content": [{"type": "input_text", "text": entry.text}]}
        return await self._send({"type": "conversation.item.create", "event_id": f"{entry.id}.item", "item": item})

    async def _request(self, entry: _Entry) -> bool:
        entry.unsure = False
        response = {"metadata": {REQUEST_KEY: entry.id}}
        return await self._send({"type": "response.create", "event_id": f"{entry.id}.answer", "response": response})

    async def _check(self, entry: _Entry) -> None:
        """Finds out whether the server has the text, behind everything that it sends again."""
        if not entry.accepted:
            await self._create(entry)
        event = {"type": "conversation.item.retrieve", "event_id": f"{entry.id}.check", "item_id": entry.id}
        await self._send(event)

    async def _checked(self, entry: _Entry) -> None:
        if not entry.unsure or entry.answer_id:
            return
        # A text that has just arrived cannot have been answered.
        if entry.accepted and not entry.duplicate and not entry.sent:
            return await self._ask(entry)
        self._later(entry, self._settle_after, lambda: self._start(self._ask(entry)))

    async def _ask(self, entry: _Entry) -> None:
        """Asks for the answer again, unless one is in progress or has been given."""
        if entry in self._entries and not entry.answer_id and entry.unsure and not self._answering:
            losses = self._losses
            entry.sent = await self._request(entry)
            if losses != self._losses:
                entry.doubt()

    def _started(self, response: Mapping[str, Any]) -> None:
        if "conversation_id" in response and response["conversation_id"] is None:
            return  # an answer out of band
        answer_id, named = str(response.get("id", "")), (response.get("metadata") or {}).get(REQUEST_KEY)
        self._answering.add(answer_id)
        for entry in self._entries:
            # An answer that another server has taken over does not name what it answers.
            if entry.accepted and not entry.answer_id and (entry.id == named or (not named and entry.unsure)):
                entry.answer_id = answer_id
                entry.stop_timer()
                return

    async def _done(self, response: Mapping[str, Any]) -> None:
        answer = _answer(response)
        self._answering.discard(answer.id)
        for entry in [one for one in self._entries if one.answer_id == answer.id]:
            if answer.status == "failed" and answer.reason == Reason.UNAVAILABLE:
                # Another server answers again, unless it was lost too.
                entry.answer_id, entry.unsure = "", True
                self._later(entry, RESUME_SECONDS, lambda entry=entry: _settle(entry, answer))  # type: ignore[misc]
            else:
                _settle(entry, answer)
        for entry in [one for one in self._entries if one.unsure and one.accepted and one.timer is None]:
            await self._checked(entry)

    async def _refused(self, error: Mapping[str, Any]) -> None:
        event_id = str(error.get("event_id") or "")
        for entry in [one for one in self._entries if event_id.startswith(f"{one.id}.")]:
            part, code = event_id[len(entry.id) + 1 :], str(error.get("code", "error"))
            if part == "item" and code == "item_create_duplicate_id":
                entry.accepted = entry.duplicate = True
            elif part == "check":
                await self._checked(entry)
            elif part == "answer" and code == Reason.SESSION_TAKEN_OVER:
                _settle(entry, Answer("", "operator", ""))
            elif not entry.answer.done():
                entry.answer.set_exception(ParlanceError(code, str(error.get("message", "The text was refused."))))

    def _later(self, entry: _Entry, seconds: float, what: Callable[[], None]) -> None:
        def fire() -> None:
            entry.timer = None
            what()

        entry.stop_timer()
        entry.timer = asyncio.get_running_loop().call_later(seconds, fire)

    def _start(self, what: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _remove(self, entry: _Entry) -> None:
        entry.stop_timer()
        if entry in self._entries:
            self._entries.remove(entry)


def _settle(entry: _Entry, answer: Answer) -> None:
    if not entry.answer.done():
        entry.answer.set_result(answer)


def _id(item: Any) -> str:
    return str(item.get("id", "")) if isinstance(item, Mapping) else ""


def _answer(response: Mapping[str, Any]) -> Answer:
    details = response.get("status_details") or {}
    reason = str((details.get("error") or {}).get("code") or details.get("reason") or "")
    items = [item for item in response.get("output") or () if isinstance(item, Mapping)]
    texts = [
        str(part.get("text") or part.get("transcript") or "")
        for item in items
        if item.get("type") == "message"
        for part in item.get("content") or ()
    ]
    try:
        citations = json.loads((response.get("metadata") or {}).get("parlance_citations") or "[]")
    except ValueError:
        citations = []
    return Answer(
        str(response.get("id", "")),
        str(response.get("status", "")),
        "\n".join(texts),
        reason,
        citations,
        [item for item in items if item.get("type") == "function_call"],
    )
