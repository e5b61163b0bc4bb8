"""Streams: turns and the feed of events, over connections that break."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack, aclosing
from typing import Any, Callable, Iterator

import httpx
import live
import parlance
import pytest
from parlance import Reason, _resume
from parlance.v1 import (
    CreateSessionResponse,
    Event,
    FollowTurnRequest,
    StreamTurnRequest,
    StreamTurnResponse,
    Turn,
    WatchEventsRequest,
    WatchEventsResponse,
    WatchSourceResponse,
)
from scripted import Reply, Scripted, info, message, refusal, stream

Serve = Callable[..., Scripted]
Calling = Callable[..., Any]
QUESTION = "How are webhooks signed?"


def event(kind: str, number: int, delta: str = "") -> StreamTurnResponse:
    """An event of a turn."""
    return StreamTurnResponse(type=kind, event_id=f"turn_1:{number}", turn_id="turn_1", delta=delta)


STARTED, ONE, TWO, DONE = event("turn.started", 0), event("turn.delta", 1, "a"), event("turn.delta", 2, "b"), event("turn.done", 3)
UNAVAILABLE = {"code": "unavailable", "message": "Stopping.", "details": [info("unavailable")]}


def request_of(server: Scripted, number: int, kind: Any) -> Any:
    """The message of a request to a stream."""
    return kind.FromString(server.seen[number].body[5:])


def test_a_lost_turn_goes_on_behind_its_last_event(serve: Serve, calling: Calling) -> None:
    server = serve(
        stream([STARTED, ONE], is_cut=True),
        Reply(None),
        stream([], UNAVAILABLE),
        message(Turn(status="in_progress")),
        stream([TWO], is_cut=True),
        stream([DONE]),
    )
    client, pauses = calling(server)
    events = list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert events == [STARTED, ONE, TWO, DONE]
    first = request_of(server, 0, StreamTurnRequest)
    assert (first.session_id, first.text) == ("ses_1", "Hello")
    called = [seen.path.rpartition("/")[2] for seen in server.seen]
    assert called == ["StreamTurn", "FollowTurn", "FollowTurn", "GetTurn", "FollowTurn", "FollowTurn"]
    after = [request_of(server, number, FollowTurnRequest) for number in (1, 2, 4, 5)]
    assert [one.last_event_id for one in after] == 3 * ["turn_1:1"] + ["turn_1:2"]
    assert {(one.session_id, one.turn_id) for one in after} == {("ses_1", "turn_1")}
    assert len(pauses) == 4 and all(0 < pause <= 3 for pause in pauses)


def test_a_silent_turn_is_asked_for_again(serve: Serve, calling: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a client that makes no lost connection again: the service says that it still runs."""
    monkeypatch.setattr(_resume, "SILENCE_SECONDS", 2.0)
    runs = message(Turn(status="in_progress"))
    silent = stream([], is_stalled=True)
    server = serve(stream([STARTED, ONE], is_stalled=True), runs, silent, runs, stream([TWO, DONE]))
    client, _ = calling(server, reconnect_for=0)
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello")) == [STARTED, ONE, TWO, DONE]
    called = [seen.path.rpartition("/")[2] for seen in server.seen]
    assert called == ["StreamTurn", *["GetTurn", "FollowTurn"] * 2]
    assert request_of(server, 4, FollowTurnRequest).last_event_id == "turn_1:1"


@pytest.mark.parametrize("begun", [[], [STARTED]])
def test_a_turn_that_stays_silent_is_given_up(
    serve: Serve, calling: Calling, monkeypatch: pytest.MonkeyPatch, begun: "list[StreamTurnResponse]"
) -> None:
    monkeypatch.setattr(_resume, "SILENCE_SECONDS", 0.7)
    monkeypatch.setattr(_resume, "ASKING_SECONDS", 0.7)
    server = serve(stream(begun, is_stalled=True), stream([], is_stalled=True))
    client, _ = calling(server, reconnect_for=0.3)
    with pytest.raises(parlance.ParlanceError) as caught:
        list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert caught.value.reason == parlance.CONNECTION_FAILED and len(server.seen) > 1


def test_a_turn_that_is_over_is_not_followed_for_ever(
    serve: Serve, calling: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_resume, "SILENCE_SECONDS", 2.0)
    silent, over = stream([], is_stalled=True), message(Turn(status="completed"))
    server = serve(stream([STARTED], is_stalled=True), over, *[silent, over] * 9)
    client, _ = calling(server, reconnect_for=0.3)
    with pytest.raises(parlance.ParlanceError) as caught:
        list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert caught.value.reason == parlance.CONNECTION_FAILED and len(server.seen) < 8


def test_a_silent_turn_is_asked_for_again_with_asyncio(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_resume, "SILENCE_SECONDS", 2.0)
    server = serve(stream([STARTED], is_stalled=True), message(Turn(status="in_progress")), stream([DONE]))

    async def run() -> "list[StreamTurnResponse]":
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x") as client:
            return [one async for one in client.sessions.stream_turn(session_id="ses_1", text="Hello")]

    assert asyncio.run(run()) == [STARTED, DONE]


def test_what_stands_between_may_refuse_to_go_on(serve: Serve, calling: Calling) -> None:
    server = serve(stream([STARTED], is_cut=True), Reply(429, b"", {"Retry-After": "1.5"}), stream([DONE]))
    client, pauses = calling(server)
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello")) == [STARTED, DONE]
    assert pauses[1] == 1.5


@pytest.mark.parametrize(
    ("busy", "requests"),
    [
        (Reply(502, b"<html>"), 3),
        (Reply(503, b"", {"Retry-After": "7"}), 3),
        (Reply(429, b"", {"Retry-After": "31"}), 1),
        (stream([], UNAVAILABLE), 3),
    ],
    ids=["proxy", "Retry-After", "long Retry-After", "stopping"],
)
def test_a_turn_refused_at_its_beginning_is_tried_like_a_call(
    serve: Serve, calling: Calling, busy: Reply, requests: int
) -> None:
    server = serve(busy)
    client, pauses = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert caught.value.is_reason(Reason.UNAVAILABLE, Reason.RATE_LIMITED) and len(server.seen) == requests
    assert all(pause >= float(busy.headers.get("Retry-After", 0)) for pause in pauses)


def test_a_proxy_in_the_middle_is_waited_out(serve: Serve, calling: Calling) -> None:
    server = serve(stream([STARTED], is_cut=True), *7 * [Reply(502, b"<html>")], stream([DONE]))
    client, pauses = calling(server)
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello")) == [STARTED, DONE]
    assert len(pauses) == 8 and pauses[-1] > pauses[0]


def test_a_turn_without_a_first_event_is_sent_again_with_its_key(serve: Serve, calling: Calling) -> None:
    flying = stream([], {"code": "aborted", "message": "Still at it.", "details": [info("idempotency-key-in-flight")]})
    server = serve(Reply(None), flying, stream([STARTED, DONE]))
    client, _ = calling(server)
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello")) == [STARTED, DONE]
    assert {seen.path.rpartition("/")[2] for seen in server.seen} == {"StreamTurn"}
    assert len({seen.headers["idempotency-key"] for seen in server.seen}) == 1


def test_a_turn_that_has_failed_is_not_followed(serve: Serve, calling: Calling) -> None:
    failed = message(Turn(status="failed"))
    server = serve(stream([STARTED], UNAVAILABLE), failed, stream([], UNAVAILABLE), failed)
    client, pauses = calling(server)
    for events in (
        client.sessions.stream_turn(session_id="ses_1", text="Hello"),
        client.sessions.follow_turn(session_id="ses_1", turn_id="turn_1"),
    ):
        with pytest.raises(parlance.ParlanceError) as caught:
            list(events)
        assert caught.value.reason is Reason.UNAVAILABLE and caught.value.message == "Stopping."
    called = [seen.path.rpartition("/")[2] for seen in server.seen]
    assert called == ["StreamTurn", "GetTurn", "FollowTurn", "GetTurn"] and pauses == []


def test_a_turn_that_has_failed_is_not_followed_with_asyncio(serve: Serve) -> None:
    server = serve(stream([STARTED], UNAVAILABLE), message(Turn(status="failed")))

    async def run() -> None:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x") as client:
            async for _ in client.sessions.stream_turn(session_id="ses_1", text="Hello"):
                pass

    with pytest.raises(parlance.ParlanceError) as caught:
        asyncio.run(run())
    assert caught.value.reason is Reason.UNAVAILABLE and len(server.seen) == 2


def test_calls_that_wait_are_told_of_once(serve: Serve, calling: Calling) -> None:
    """The service tells of them again after each reconnect. A turn that begins again has its own."""
    called, asked = event("turn.client_tool_call", 1), event("turn.approval_requested", 2)
    called.client_tool_called.call.id = asked.approval_requested.approval.call_id = "call_1"
    told_again = [event("turn.client_tool_call", 4), event("turn.approval_requested", 5)]
    told_again[0].client_tool_called.CopyFrom(called.client_tool_called)
    told_again[1].approval_requested.CopyFrom(asked.approval_requested)
    server = serve(
        stream([STARTED, called, asked], is_cut=True),
        stream(told_again, is_cut=True),
        stream([STARTED, called, asked, DONE]),
    )
    client, _ = calling(server)
    events = list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert events == [STARTED, called, asked, STARTED, called, asked, DONE]
    after = [request_of(server, number, FollowTurnRequest).last_event_id for number in (1, 2)]
    assert after == ["turn_1:2", "turn_1:5"]


def test_every_open_stream_has_a_connection(serve: Serve, calling: Calling) -> None:
    """More than the 100 that httpx has by default, and one for another call."""
    server = serve(*[stream([STARTED], is_stalled=True)] * 110, message(Turn(id="turn_1")))
    client, _ = calling(server, max_retries=0, timeout=30)
    streams = [client.sessions.stream_turn(session_id="ses_1", text="Hello") for _ in range(110)]
    assert [next(one) for one in streams] == [STARTED] * 110
    assert client.sessions.get_turn(session_id="ses_1", turn_id="turn_1").id == "turn_1"


def test_every_open_stream_has_a_connection_with_asyncio(serve: Serve) -> None:
    server = serve(*[stream([STARTED], is_stalled=True)] * 110, message(Turn(id="turn_1")))

    async def run() -> Turn:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x", max_retries=0, timeout=30) as client:
            async with AsyncExitStack() as opened:
                for _ in range(110):
                    events: Any = client.sessions.stream_turn(session_id="ses_1", text="Hello")
                    assert await anext(await opened.enter_async_context(aclosing(events))) == STARTED
                turn = await client.sessions.get_turn(session_id="ses_1", turn_id="turn_1")
            return turn

    assert asyncio.run(run()).id == "turn_1"


def test_who_gets_no_connection_is_not_waited_for(serve: Serve) -> None:
    """The connections of a caller's own client may have a limit. Nothing was sent, so that nothing can be lost."""
    server = serve(stream([STARTED], is_stalled=True))
    with httpx.Client(limits=httpx.Limits(max_connections=1)) as http:
        client = parlance.Client(base_url=server.base_url, api_key="prl_x", http_client=http)
        pauses: "list[float]" = []
        client._calls.sleep = pauses.append
        first = client.sessions.stream_turn(session_id="ses_1", text="Hello")
        assert next(first) == STARTED
        with pytest.raises(parlance.ParlanceError) as caught:
            next(client.sessions.stream_turn(session_id="ses_1", text="Hello", timeout=0.1))
    assert isinstance(caught.value.__cause__, httpx.PoolTimeout) and len(pauses) == 2


def test_a_stream_that_ends_too_early_is_followed(serve: Serve, calling: Calling) -> None:
    server = serve(stream([STARTED, ONE]), stream([DONE]))
    client, _ = calling(server)
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello")) == [STARTED, ONE, DONE]


def test_nothing_follows_a_turn_that_is_done(serve: Serve, calling: Calling) -> None:
    server = serve(stream([]))
    client, _ = calling(server)
    assert list(client.sessions.follow_turn(session_id="ses_1", turn_id="turn_1", last_event_id="turn_1:3")) == []
    assert len(server.seen) == 1


@pytest.mark.parametrize("begun", [[], [STARTED, ONE]])
def test_a_refusal_ends_the_turn(serve: Serve, calling: Calling, begun: "list[StreamTurnResponse]") -> None:
    server = serve(stream(begun, {"code": "failed_precondition", "message": "Over.", "details": [info("session-closed")]}))
    client, _ = calling(server)
    events = []
    with pytest.raises(parlance.ParlanceError) as caught:
        for one in client.sessions.stream_turn(session_id="ses_1", text="Hello"):
            events.append(one)
    assert caught.value.reason is Reason.SESSION_CLOSED and events == begun and len(server.seen) == 1


def test_reconnecting_ends(serve: Serve, calling: Calling) -> None:
    server = serve(stream([STARTED], is_cut=True), Reply(None))
    client, _ = calling(server, reconnect_for=0.3)
    with pytest.raises(parlance.ParlanceError) as caught:
        list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert caught.value.reason == parlance.CONNECTION_FAILED and len(server.seen) > 1


def test_a_service_that_was_never_there_is_not_waited_for() -> None:
    pauses: "list[float]" = []
    with parlance.Client(base_url=f"http://127.0.0.1:{live.unused_port()}", api_key="prl_x") as client:
        client._calls.sleep = pauses.append
        with pytest.raises(parlance.ParlanceError):
            list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))
    assert len(pauses) == 2


def test_other_streams_are_tried_until_they_begin(serve: Serve, calling: Calling) -> None:
    server = serve(Reply(None), refusal(503, "unavailable", "Not now."), stream([], is_cut=True), stream([]))
    client, _ = calling(server, max_retries=3)
    assert list(client.knowledge.watch_source(workspace_id="ws_1", source_id="src_1")) == []
    assert len(server.seen) == 4


def test_a_stream_without_an_end_is_an_error(serve: Serve, calling: Calling) -> None:
    whole = stream([WatchSourceResponse()])
    whole.body = whole.body[: -len(b"....." + b"{}")]
    client, _ = calling(serve(whole))
    with pytest.raises(parlance.ParlanceError) as caught:
        list(client.knowledge.watch_source(workspace_id="ws_1", source_id="src_1"))
    assert caught.value.reason == parlance.CONNECTION_FAILED


def test_the_feed_goes_on_behind_its_last_event(serve: Serve, calling: Calling) -> None:
    def fed(cursor: str, event_id: str = "") -> WatchEventsResponse:
        return WatchEventsResponse(cursor=cursor, event=Event(event_id=event_id) if event_id else None)

    gone = stream([], {"code": "failed_precondition", "message": "Gone.", "details": [info("events-cursor-expired")]})
    server = serve(
        stream([fed("c0")], is_cut=True),
        stream([fed("c0"), fed("c1", "evt_1")], UNAVAILABLE),
        stream([fed("c1"), fed("c2", "evt_2")]),
        gone,
    )
    client, _ = calling(server)
    seen = []
    with pytest.raises(parlance.ParlanceError) as caught:
        for one in client.webhooks.watch_events(workspace_id="ws_1", events=["dsar.ready"]):
            seen.append(one.event.event_id)
    assert caught.value.reason is Reason.EVENTS_CURSOR_EXPIRED
    assert seen == ["evt_1", "evt_2"]
    requests = [request_of(server, number, WatchEventsRequest) for number in range(4)]
    assert [one.after for one in requests] == ["", "c0", "c1", "c2"]
    assert all(list(one.events) == ["dsar.ready"] for one in requests)


@pytest.fixture
def session(client: parlance.Client, service: live.Service) -> CreateSessionResponse:
    """A session of the demo agent."""
    return client.sessions.create_session(agent_id=service.agent_id, user_id="py", modality="text")


def through(proxy: live.Proxy, service: live.Service, **options: Any) -> parlance.Client:
    """A client whose connections the proxy can cut."""
    return parlance.Client(base_url=proxy.base_url, api_key=service.api_key, **options)


def whole(client: parlance.Client, session_id: str) -> "tuple[int, str]":
    """How many turns answer the question, and what is said in the last one."""
    turns = [turn for turn in client.sessions.all_transcript(session_id=session_id) if turn.user_text == QUESTION]
    return len(turns), turns[-1].agent_text


@pytest.mark.parametrize("cut_after", [1, 700, 1200, 2500])
def test_a_turn_of_the_service_is_whole(
    client: parlance.Client, service: live.Service, proxy: live.Proxy, session: CreateSessionResponse, cut_after: int
) -> None:
    proxy.cut_after = cut_after
    with through(proxy, service) as cut:
        events = list(cut.sessions.stream_turn(session_id=session.id, text=QUESTION))
    assert proxy.connections > 1
    assert len({one.event_id for one in events}) == len(events)
    assert events[-1].WhichOneof("event") == "done"
    said = "".join(one.text_delta.text for one in events if one.WhichOneof("event") == "text_delta")
    assert said == events[-1].done.turn.text
    assert whole(client, session.id) == (1, said)


def test_a_turn_of_the_service_is_whole_with_asyncio(
    client: parlance.Client, service: live.Service, proxy: live.Proxy, session: CreateSessionResponse
) -> None:
    async def run() -> "list[StreamTurnResponse]":
        proxy.cut_after = 1200
        async with parlance.AsyncClient(base_url=proxy.base_url, api_key=service.api_key) as cut:
            return [one async for one in cut.sessions.stream_turn(session_id=session.id, text=QUESTION)]

    events = asyncio.run(run())
    said = "".join(one.delta for one in events)
    assert proxy.connections > 1 and events[-1].type == "turn.done"
    assert whole(client, session.id) == (1, said)


def test_a_turn_that_is_left_closes_its_connection(serve: Serve, calling: Calling) -> None:
    server = serve(stream([STARTED, ONE, TWO, DONE]))
    client, _ = calling(server)
    events: Iterator[StreamTurnResponse] = client.sessions.stream_turn(session_id="ses_1", text="Hello")
    assert next(events) == STARTED
    del events
    assert len(server.seen) == 1
    assert list(client.sessions.stream_turn(session_id="ses_1", text="Hello"))[-1] == DONE


def test_the_feed_of_the_service(client: parlance.Client, service: live.Service, proxy: live.Proxy) -> None:
    """A source that becomes ready is in the feed, also when its connection was cut before."""
    found: "list[str]" = []
    announced, ready = threading.Event(), threading.Event()

    def watch(watching: parlance.Client) -> None:
        feed = watching.webhooks.watch_events(
            workspace_id=service.workspace_id, events=["kb.source_ingested"], announce=True
        )
        for one in feed:
            if not one.HasField("event"):
                announced.set()
                continue
            found.append(one.event.kb_source_ingested.source_id)
            ready.set()
            return

    with through(proxy, service) as watching:
        thread = threading.Thread(target=watch, args=(watching,), daemon=True)
        thread.start()
        assert announced.wait(30)
        proxy.cut()
        source = client.knowledge.upload(b"# Feed\n\nA text.", workspace_id=service.workspace_id, filename="feed.md")
        assert ready.wait(30)
        thread.join(30)
    assert found == [source.id]
