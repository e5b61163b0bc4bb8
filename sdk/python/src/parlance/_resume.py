"""Streams that go on over a new connection when theirs is lost: turns, and the feed of events."""

from __future__ import annotations

import time
from contextlib import aclosing, closing, suppress
from typing import Any, AsyncIterator, Iterator, Tuple, Type, TypeVar, Union

import httpx
from google.protobuf.message import Message

from ._calls import AsyncCalls, CallOptions, Calls
from ._config import Config, Tries, new_key, pause
from ._errors import CONNECTION_FAILED, ParlanceError
from ._reasons import Reason
from .v1.sessions_pb2 import FollowTurnRequest, GetTurnRequest, StreamTurnRequest, Turn
from .v1.webhooks_pb2 import WatchEventsRequest

M = TypeVar("M", bound=Message)
Resumable = Union[StreamTurnRequest, FollowTurnRequest, WatchEventsRequest]
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 3.0
SILENCE_SECONDS = 45.0
"""A stream that is silent for as long is asked for again. The service sends nothing on it while the
agent waits for a tool or an approval, so that silence alone is no loss: see Course.question_after."""
ASKING_SECONDS = 15.0


class Course:
    """What is known of a stream over all its connections."""

    def __init__(self, config: Config, options: CallOptions) -> None:
        self._config = config
        self._options = options
        self._tries = Tries(config)
        self._attempts = 0
        self._lost_at: float | None = None
        self._reached = False
        self._begun = False
        self.done = False

    def request(self) -> Tuple[str, Message, CallOptions]:
        """The call that goes on with the stream."""
        raise NotImplementedError

    def note(self, message: Any) -> bool:
        """Remembers a message. False: it is not for the caller."""
        raise NotImplementedError

    @property
    def may_be_empty(self) -> bool:
        """Whether a stream that ends without a message is complete."""
        return False

    def question_after(self, error: ParlanceError) -> Message | None:
        """What GetTurn is asked before the stream is made again: how the turn is."""
        return None

    def was_only_silent(self, error: ParlanceError, turn: Turn) -> bool:
        """Whether the turn runs and had nothing to say. Raises the error with which it has failed: a
        service that is stopping says "unavailable" too."""
        if not _was_silent(error) and turn.status == "failed":
            raise error
        if not _was_silent(error) or turn.status != "in_progress":
            return False
        self._reached, self._lost_at, self._attempts = True, None, 0
        return True

    @property
    def asking(self) -> CallOptions:
        """The options of GetTurn."""
        seconds = ASKING_SECONDS
        if self._lost_at is not None:
            seconds = min(seconds, max(1.0, self._left()))
        return CallOptions(seconds, None, self._options.extra_headers)

    def with_silence(self, key: str | None) -> CallOptions:
        """The options of the next connection, which is given up within the time that is left."""
        silence = min(SILENCE_SECONDS, self._config.stream_timeout)
        if self._options.timeout is not None:
            silence = self._options.timeout
        if self._lost_at is not None:
            silence = min(silence, max(1.0, self._left()))
        return CallOptions(silence, key, self._options.extra_headers)

    def _left(self) -> float:
        now = time.monotonic()
        return (now if self._lost_at is None else self._lost_at) + self._config.reconnect_for - now

    def take(self, message: Any) -> bool:
        """Notes that a message has come. False: it is not for the caller."""
        self._begun = self._reached = True
        self._lost_at, self._attempts = None, 0
        return self.note(message)

    def wait_after(self, error: ParlanceError) -> float:
        """The seconds to wait before the next connection. Raises the error when there is none."""
        unsent = isinstance(error.__cause__, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
        self._reached = self._reached or not unsent
        if not self._is_loss(error):
            if self._begun:
                raise error
            self._lost_at = None  # the service is there, or another try with the key of the turn
            return self._tries.wait_after(error)
        if not self._reached:  # the service was never there
            return self._tries.wait_after(error)
        self._lost_at = time.monotonic() if self._lost_at is None else self._lost_at
        left = self._left()
        if left <= 0:
            raise error
        wait = pause(self._attempts, FIRST_PAUSE, LONGEST_PAUSE)
        self._attempts += 1
        return min(max(wait, error.retry_after or 0), left)

    def _is_loss(self, error: ParlanceError) -> bool:
        """In the middle, what stands between may answer while the service behind it starts. At the
        beginning an answer is that of a call which was refused."""
        if error.is_reason(CONNECTION_FAILED):
            return True
        stands_between = error.status != 200 and error.is_reason(Reason.RATE_LIMITED, Reason.DEADLINE_EXCEEDED)
        return self._begun and (error.is_reason(Reason.UNAVAILABLE) or stands_between)


class TurnCourse(Course):
    """The events of a turn."""

    def __init__(self, config: Config, options: CallOptions, request: Union[StreamTurnRequest, FollowTurnRequest]) -> None:
        super().__init__(config, options)
        self._request = request
        self._turn_id = request.turn_id if isinstance(request, FollowTurnRequest) else ""
        self._last_event_id = request.last_event_id
        # With the key the service knows a turn again whose first event was lost.
        self._key = options.idempotency_key or new_key()
        # The calls of the turn that wait for a result or an approval. The service tells of them
        # again after each reconnect.
        self._waiting: set[Tuple[str, str]] = set()

    def request(self) -> Tuple[str, Message, CallOptions]:
        """FollowTurn, once the turn's id is known."""
        if not self._turn_id:
            return "SessionService/StreamTurn", self._request, self.with_silence(self._key)
        follow = FollowTurnRequest(
            session_id=self._request.session_id, turn_id=self._turn_id, last_event_id=self._last_event_id
        )
        return "SessionService/FollowTurn", follow, self.with_silence(None)

    def question_after(self, error: ParlanceError) -> Message | None:
        """Asked after silence, and when the service says "unavailable"; not before the turn is known."""
        is_unavailable = error.status == 200 and error.is_reason(Reason.UNAVAILABLE)  # not that of a proxy
        if not self._turn_id or not (is_unavailable or _was_silent(error)):
            return None
        return GetTurnRequest(session_id=self._request.session_id, turn_id=self._turn_id)

    def note(self, message: Any) -> bool:
        """The events of a turn end with turn.done. A call that waits is told of once."""
        self._turn_id, self._last_event_id = message.turn_id, message.event_id
        self.done = message.type == "turn.done"
        if message.type == "turn.started":
            self._waiting.clear()
        kind = message.WhichOneof("event")
        if kind == "client_tool_called":
            call = (kind, message.client_tool_called.call.id)
        elif kind == "approval_requested":
            call = (kind, message.approval_requested.approval.call_id)
        else:
            return True
        is_new = call not in self._waiting
        self._waiting.add(call)
        return is_new

    @property
    def may_be_empty(self) -> bool:
        """A stream behind turn.done has no messages."""
        return not self._begun and bool(self._request.last_event_id)


class FeedCourse(Course):
    """The events of a workspace."""

    def __init__(self, config: Config, options: CallOptions, request: WatchEventsRequest) -> None:
        super().__init__(config, options)
        self._wants_cursor = request.announce
        self._request = WatchEventsRequest()
        self._request.CopyFrom(request)
        self._request.announce = True  # to know from where to go on before there was an event

    def request(self) -> Tuple[str, Message, CallOptions]:
        """WatchEvents, behind the last event."""
        return "WebhookService/WatchEvents", self._request, self.with_silence(self._options.idempotency_key)

    def note(self, message: Any) -> bool:
        """The first message of each connection has only a cursor."""
        self._request.after = message.cursor
        self._request.last_event_id = ""
        if message.HasField("event"):
            return True
        wanted, self._wants_cursor = self._wants_cursor, False
        return wanted


def course_of(config: Config, request: Resumable, options: CallOptions) -> Union[TurnCourse, FeedCourse]:
    """The course of a stream that can be resumed."""
    if isinstance(request, WatchEventsRequest):
        return FeedCourse(config, options, request)
    return TurnCourse(config, options, request)


def _was_silent(error: ParlanceError) -> bool:
    return isinstance(error.__cause__, httpx.ReadTimeout)


def _broken() -> ParlanceError:
    return ParlanceError(CONNECTION_FAILED, "The stream ended before it was complete.", code="unavailable")


def resumed(calls: Calls, request: Resumable, answer: Type[M], options: CallOptions) -> Iterator[M]:
    """The messages of a stream, each once, over as many connections as it takes."""
    course = course_of(calls.config, request, options)
    while True:
        method, message, with_options = course.request()
        try:
            with closing(_generator(calls.stream_once(method, message, answer, with_options))) as messages:
                for one in messages:
                    if course.take(one):
                        yield one
                    if course.done:
                        return
            if course.may_be_empty:
                return
            error = _broken()
        except ParlanceError as failed:
            error = failed
        question, turn = course.question_after(error), Turn()
        if question is not None:
            with suppress(ParlanceError):  # the stream is tried all the same
                turn = calls.once("SessionService/GetTurn", question, Turn, course.asking)
        if not course.was_only_silent(error, turn):
            calls.sleep(course.wait_after(error))


async def async_resumed(calls: AsyncCalls, request: Resumable, answer: Type[M], options: CallOptions) -> AsyncIterator[M]:
    """As resumed."""
    course = course_of(calls.config, request, options)
    while True:
        method, message, with_options = course.request()
        try:
            async with aclosing(_generator(calls.stream_once(method, message, answer, with_options))) as messages:
                async for one in messages:
                    if course.take(one):
                        yield one
                    if course.done:
                        return
            if course.may_be_empty:
                return
            error = _broken()
        except ParlanceError as failed:
            error = failed
        question, turn = course.question_after(error), Turn()
        if question is not None:
            with suppress(ParlanceError):  # the stream is tried all the same
                turn = await calls.once("SessionService/GetTurn", question, Turn, course.asking)
        if not course.was_only_silent(error, turn):
            await calls.sleep(course.wait_after(error))


def _generator(iterator: Any) -> Any:
    """Iterators made by generator functions have close or aclose, which their types do not say."""
    return iterator
