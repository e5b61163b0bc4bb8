"""Texts that were said on a socket and have no answer yet. After a lost connection nobody knows
whether they arrived: each is sent again under the same id, and an answer is asked for again only when
none comes."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Sequence, Union

from ._errors import ParlanceError
from ._reasons import Reason

REQUEST_KEY = "parlance_request"
"""The member of a response's metadata that names the text it answers."""
RESUME_SECONDS = 30.0
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


@dataclass(eq=False)
class _Entry:
    text: str
    answer: "asyncio.Future[Answer]"
    id: str = field(default_factory=lambda: f"msg_{uuid.uuid4().hex}")
    begun: bool = False
    """Some of it may have been sent."""
    sent: bool = False
    accepted: bool = False
    """The server has the item."""
    duplicate: bool = False
    """The server had it before it was sent again."""
    unsure: bool = False
    """A lost connection makes it unknown what the server got."""
    checking: bool = False
    """On this connection it was asked what the server got."""
    answer_id: str = ""
    failed: Answer | None = None
    """The answer that ended because its server was lost; another one is to follow."""
    timer: asyncio.TimerHandle | None = None

    def doubt(self) -> None:
        """Nobody knows any more what the server got."""
        self.unsure, self.sent, self.duplicate, self.checking = True, self.accepted, False, False

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None


class Outbox:
    """What was said and has no answer, in order. Only the first is sent: an answer is to everything
    that the server has by then, so that the next text waits until the one before has its answer."""

    def __init__(self, send: Callable[[Mapping[str, Any]], Awaitable[bool]], settle_after: float) -> None:
        self._send = send
        self._settle_after = settle_after
        self._entries: "list[_Entry]" = []
        self._answering: "set[str]" = set()
        self._tasks: "set[asyncio.Task[None]]" = set()
        self._sending = asyncio.Lock()
        self._is_open = False
        self._losses = 0

    async def say(self, text: str) -> Answer:
        """Sends a text, when there is a connection and no other text is before it, and waits for the
        answer."""
        entry = _Entry(text, asyncio.get_running_loop().create_future())
        self._entries.append(entry)
        self._start(self._advance())
        try:
            return await entry.answer
        finally:
            if not entry.begun:  # else its answer, which nobody waits for any more, comes before the next one
                self._remove(entry)

    def opened(self) -> None:
        """There is a connection: what is not known to have arrived is sent."""
        self._is_open = True
        for entry in self._entries[:1]:
            if not entry.answer_id:
                self._await_another(entry)
        self._start(self._advance())

    def lost(self) -> None:
        """The connection was lost."""
        self._losses += 1
        self._is_open = False
        self._answering.clear()
        for entry in list(self._entries):
            entry.stop_timer()
            if entry.answer.done():
                self._remove(entry)
            elif entry.begun:
                entry.doubt()

    def close(self, error: ParlanceError) -> None:
        """The session is over: nothing is answered any more."""
        self._is_open = False
        for entry in list(self._entries):
            self._remove(entry)
            if not entry.answer.done():
                entry.answer.set_exception(error)

    def take(self, event: Mapping[str, Any]) -> None:
        """Notes what an event says about what was sent."""
        kind = event.get("type")
        if kind in ("conversation.item.added", "conversation.item.done"):
            for entry in self._entries:
                entry.accepted = entry.accepted or entry.id == _id(event.get("item"))
        elif kind == "conversation.item.retrieved":
            for entry in [one for one in self._entries if one.id == _id(event.get("item"))]:
                entry.accepted = True
                self._checked(entry)
        elif kind == "response.created":
            self._started(event.get("response") or {})
        elif kind == "response.done":
            self._done(event.get("response") or {})
        elif kind == "error":
            self._refused(event.get("error") or {})

    async def _advance(self) -> None:
        """Sends the first text, or finds out whether it has arrived."""
        async with self._sending:  # a text that is just being sent is sent once
            if not self._is_open or not self._entries:
                return
            entry = self._entries[0]
            if not entry.begun:
                await self._transmit(entry)
            elif entry.unsure and not entry.checking and not entry.answer_id and entry.failed is None:
                entry.checking = True
                await self._check(entry)

    async def _transmit(self, entry: _Entry) -> None:
        entry.begun, losses = True, self._losses
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

    def _checked(self, entry: _Entry) -> None:
        if not entry.unsure or entry.answer_id or entry.failed is not None:
            return
        # A text that has just arrived cannot have been answered.
        if entry.accepted and not entry.duplicate and not entry.sent:
            self._start(self._ask(entry))
        else:
            self._later(entry, self._settle_after, lambda: self._start(self._ask(entry)))

    async def _ask(self, entry: _Entry) -> None:
        """Asks for the answer again, unless one is in progress or has been given."""
        if entry not in self._entries or entry.answer_id or entry.failed is not None:
            return
        if entry.unsure and not self._answering:
            losses = self._losses
            entry.sent = await self._request(entry)
            if losses != self._losses:
                entry.doubt()

    def _started(self, response: Mapping[str, Any]) -> None:
        if "conversation_id" in response and response["conversation_id"] is None:
            return  # an answer out of band
        answer_id, named = str(response.get("id", "")), _named(response)
        self._answering.add(answer_id)
        for entry in self._entries[:1]:
            # The answer in place of one whose server was lost names nothing.
            if not entry.answer_id and (named == entry.id or (not named and entry.failed is not None)):
                entry.answer_id = answer_id
                entry.stop_timer()

    def _done(self, response: Mapping[str, Any]) -> None:
        answer, named = _answer(response), _named(response)
        self._answering.discard(answer.id)
        was_lost = answer.status == "failed" and answer.reason == Reason.UNAVAILABLE
        for entry in self._entries[:1]:
            missed = not entry.answer_id and (named == entry.id or (was_lost and not named and entry.unsure))
            if entry.answer_id != answer.id and not missed:
                if entry.unsure and entry.accepted and entry.timer is None:
                    self._checked(entry)
            elif was_lost and entry.failed is None:
                entry.answer_id, entry.failed = "", answer
                self._await_another(entry)
            else:
                self._settle(entry, answer)

    def _await_another(self, entry: _Entry) -> None:
        """Gives the failed answer out unless another server answers again in time."""
        failed = entry.failed
        if failed is not None:
            self._later(entry, RESUME_SECONDS, partial(self._settle, entry, failed))

    def _refused(self, error: Mapping[str, Any]) -> None:
        event_id = str(error.get("event_id") or "")
        for entry in [one for one in self._entries[:1] if event_id.startswith(f"{one.id}.")]:
            part, code = event_id[len(entry.id) + 1 :], str(error.get("code", "error"))
            if part == "item" and code == "item_create_duplicate_id":
                entry.accepted = entry.duplicate = True
            elif part == "check":
                self._checked(entry)
            elif part == "answer" and code == Reason.SESSION_TAKEN_OVER:
                self._settle(entry, Answer("", "operator", ""))
            else:
                self._settle(entry, ParlanceError(code, str(error.get("message", "The text was refused."))))

    def _settle(self, entry: _Entry, outcome: Union[Answer, ParlanceError]) -> None:
        """The text has its answer; the next one is sent."""
        self._remove(entry)
        if not entry.answer.done():
            if isinstance(outcome, Answer):
                entry.answer.set_result(outcome)
            else:
                entry.answer.set_exception(outcome)
        self._start(self._advance())

    def _later(self, entry: _Entry, seconds: float, what: Callable[[], None]) -> None:
        def fire() -> None:
            entry.timer = None
            what()

        entry.stop_timer()
        entry.timer = asyncio.get_running_loop().call_later(seconds, fire)

    def _start(self, what: Coroutine[Any, Any, None]) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _remove(self, entry: _Entry) -> None:
        entry.stop_timer()
        if entry in self._entries:
            self._entries.remove(entry)


def _named(response: Mapping[str, Any]) -> str:
    """The text that a response says it answers."""
    return str((response.get("metadata") or {}).get(REQUEST_KEY) or "")


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
