"""Conversations over a socket: of the service, over connections that break, and of a script."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import live
import parlance
import pytest
from parlance import Reason
from parlance.v1 import CreateSessionResponse
from sockets import Script, said, scripted

QUESTION = "How are webhooks signed?"


def opened(service: live.Service, **options: Any) -> parlance.AsyncClient:
    """A client of the service."""
    return parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key, **options)


async def created(client: parlance.AsyncClient, service: live.Service, modality: str = "text") -> CreateSessionResponse:
    """A session of the demo agent."""
    return await client.sessions.create_session(agent_id=service.agent_id, user_id="py", modality=modality)


async def turns_of(client: parlance.AsyncClient, session_id: str) -> "list[tuple[str, str]]":
    """What was said in a session by the user, with the answers."""
    turns = client.sessions.all_transcript(session_id=session_id)
    return [(turn.user_text, turn.agent_text) async for turn in turns if turn.user_text]


def test_a_text_is_answered(service: live.Service) -> None:
    async def run() -> None:
        async with opened(service) as client:
            async with client.sessions.connect(agent_id=service.agent_id, user_id="py") as conversation:
                answer = await conversation.say(QUESTION)
                events = []
                async for event in conversation:
                    events.append(event)
                    if event.type == "response.done" and event.data["response"]["id"] == answer.id:
                        break
            assert answer.status == "completed" and "HMAC-SHA256" in answer.text
            assert answer.citations[0]["source_name"]
            assert events[0].type == "session.created"
            greeting_and_answer = "".join(event.delta for event in events)
            assert greeting_and_answer.endswith(answer.text)
            assert conversation.end_reason == "hang_up"
            session = await client.sessions.get_session(session_id=conversation.session_id)
            assert (session.status, session.end_reason) == ("completed", "hang_up")

    asyncio.run(run())


def test_a_broken_connection_doubles_and_loses_nothing(service: live.Service, proxy: live.Proxy) -> None:
    """The connection is cut at another place each time, and in between with several texts said."""

    async def one(client: parlance.AsyncClient, cut_after: "int | None") -> None:
        session = await created(client, service)
        session.chat_url = proxy.through(session.chat_url)
        before = proxy.connections
        async with client.sessions.connect(session=session) as conversation:
            proxy.cut_after = cut_after
            if cut_after is None:
                proxy.cut()
            answer = await asyncio.wait_for(conversation.say(QUESTION), 60)
            assert answer.status == "completed" and "HMAC-SHA256" in answer.text
            again = await asyncio.wait_for(conversation.say("What is Parlance?"), 60)
            ids = [event.data["event_id"] for event in list(conversation._events) if event.type != "session.created"]
            assert len(ids) == len(set(ids))
        assert proxy.connections > before + 1
        asked = [(QUESTION, answer.text), ("What is Parlance?", again.text)]
        assert await turns_of(client, session.id) == asked

    async def run() -> None:
        async with opened(service) as client:
            for cut_after in (None, 1, 1200, 2500, 4000):
                await one(client, cut_after)

    asyncio.run(run())


def test_a_session_that_was_left_goes_on(service: live.Service) -> None:
    async def run() -> None:
        async with opened(service) as client:
            session = await created(client, service)
            conversation = client.sessions.connect(session=session)
            await conversation.__aenter__()
            await conversation.leave()
            assert conversation.end_reason is None
            with pytest.raises(parlance.ParlanceError):
                await conversation.say("Hello")
            async with client.sessions.connect(session=session) as other:
                assert other.session_id == session.id
                assert (await other.say(QUESTION)).status == "completed"

    asyncio.run(run())


def test_a_session_that_is_ended_ends_the_iteration(service: live.Service) -> None:
    async def run() -> None:
        async with opened(service) as client:
            async with client.sessions.connect(agent_id=service.agent_id, user_id="py") as conversation:
                await client.sessions.end_session(session_id=conversation.session_id, status="completed", reason="enough")
                _ = [event async for event in conversation]
                assert conversation.end_reason == "enough"
                with pytest.raises(parlance.ParlanceError) as caught:
                    await conversation.say("Hello")
                assert caught.value.reason is Reason.SESSION_CLOSED

    asyncio.run(run())


@pytest.mark.parametrize("what", ["token", "closed", "modality"])
def test_refused_sockets_say_why(service: live.Service, what: str) -> None:
    async def run() -> "tuple[parlance.ParlanceError, CreateSessionResponse]":
        async with opened(service) as client:
            session = await created(client, service)
            modality = "text"
            if what == "token":
                session.chat_url = session.chat_url[:-4] + "AAAA"
            elif what == "closed":
                await client.sessions.end_session(session_id=session.id, status="completed")
            else:
                modality = "voice"
            with pytest.raises(parlance.ParlanceError) as caught:
                async with client.sessions.connect(session=session, modality=modality):
                    pass
            return caught.value, session

    error, session = asyncio.run(run())
    reasons = {
        "token": Reason.SESSION_TOKEN_INVALID, "closed": Reason.SESSION_CLOSED, "modality": Reason.SESSION_MODALITY,
    }
    assert error.reason is reasons[what]
    assert session.token not in str(error) and error.__cause__ is None


def test_a_service_that_is_not_there(service: live.Service) -> None:
    session = CreateSessionResponse(chat_url=f"ws://127.0.0.1:{live.unused_port()}/v1/realtime/chat/ses_1?token=secret")

    async def run() -> None:
        async with opened(service, max_retries=1) as client:
            async with client.sessions.connect(session=session):
                pass

    with pytest.raises(parlance.ParlanceError) as caught:
        asyncio.run(run())
    assert caught.value.reason == parlance.CONNECTION_FAILED and "secret" not in str(caught.value)


def test_answers_are_spoken_and_sound_is_sent(service: live.Service) -> None:
    """The service of the tests speaks and has no transcriber, which it says."""

    async def run() -> None:
        async with opened(service) as client:
            connecting = client.sessions.connect(agent_id=service.agent_id, user_id="py", modality="voice+text")
            async with connecting as conversation:
                said = asyncio.create_task(conversation.say("What is Parlance?"))
                sound, refusals = b"", []
                async for event in conversation:
                    if event.audio and not sound:
                        assert await conversation.send_audio(bytes(2 * 24000))
                    sound += event.audio
                    if event.type == "error":
                        refusals.append(event.data["error"]["code"])
                    if refusals and len(sound) > 2 * 24000:
                        break
            assert len(sound) % 2 == 0 and any(sound) and refusals == ["stt-not-configured"]
            with pytest.raises(parlance.ParlanceError) as caught:
                await said  # it was hung up before all was said
            assert caught.value.reason is Reason.SESSION_CLOSED

    asyncio.run(asyncio.wait_for(run(), 90))


def test_the_settings_are_sent_on_each_connection_and_the_place_is_named() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)
        if number == 0:
            await socket.send(json.dumps({"type": "response.output_text.delta", "event_id": "e1/ü", "delta": "a"}))
            await socket.send(json.dumps({"type": "response.output_audio.delta", "event_id": "e2", "delta": "AAAA"}))
            await socket.close(1012, "reconnect")
        await socket.close(1000, "end_call")

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                events = [event async for event in conversation]
            assert conversation.end_reason == "end_call"
            assert [event.type for event in events].count("session.created") == 2
            assert base64.b64encode(events[2].audio) == b"AAAA" and events[1].delta == "a"
            assert "last_event_id" not in script.queries[0]
            assert script.queries[1] == {"last_event_id": ["e1/ü"]} and script.tokens == 2 * ["Bearer t"]
            updates = [event["session"]["tools"] for event in script.received if event["type"] == "session.update"]
            assert updates == 2 * [[{"name": "t"}]]

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize(
    ("code", "reason", "ends"),
    [(1000, "max_duration", "max_duration"), (1011, "idle_timeout", "idle_timeout"), (1008, "session-closed", "session-closed")],
)
def test_closes_that_end_the_session(code: int, reason: str, ends: str) -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await socket.recv()
        await socket.close(code, reason)

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                _ = [event async for event in conversation]
            assert conversation.end_reason == ends and len(script.queries) == 1

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize(("code", "reason"), [(1011, "internal_error"), (4408, "slow_reader"), (1012, "reconnect")])
def test_closes_after_which_a_client_comes_back(code: int, reason: str) -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await socket.recv()
        await socket.close(*((code, reason) if number == 0 else (1000, "end_call")))

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                _ = [event async for event in conversation]
            assert conversation.end_reason == "end_call" and len(script.queries) == 2

    asyncio.run(asyncio.wait_for(run(), 30))


def test_another_client_takes_over() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await socket.recv()
        await socket.close(4409, "replaced")

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                with pytest.raises(parlance.ParlanceError) as caught:
                    _ = [event async for event in conversation]
            assert caught.value.reason == "replaced" and len(script.queries) == 1

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_refused_text_is_an_error_and_a_person_answers_later() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)  # session.update
        for code, part in (("invalid_value", "item"), ("session-taken-over", "answer")):
            item, asked = await script.receive(socket), await script.receive(socket)
            assert (item["type"], asked["type"]) == ("conversation.item.create", "response.create")
            error = {"code": code, "message": "No.", "event_id": f"{item['item']['id']}.{part}"}
            await socket.send(json.dumps({"type": "error", "event_id": "e1", "error": error}))
        await socket.wait_closed()

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                with pytest.raises(parlance.ParlanceError) as caught:
                    await conversation.say("x")
                assert caught.value.reason == "invalid_value"
                assert (await conversation.say("y")).status == "operator"

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize("case", ["never arrived", "arrived", "answered meanwhile", "answer follows", "another answer first"])
def test_a_text_of_a_lost_connection_is_asked_once(case: str) -> None:
    """The connection is lost behind a text. On the next one the client finds out what arrived."""
    asked_too_early: "list[bool]" = []

    async def handler(script: Script, socket: Any, number: int) -> None:
        async def send(kind: str, **members: Any) -> None:
            await socket.send(json.dumps({"type": kind, **members}))

        await script.receive(socket)  # session.update
        if number == 0:
            script.item = (await script.receive(socket))["item"]
            assert (await script.receive(socket))["type"] == "response.create"
            return await send_close(socket)
        named = {"parlance_request": script.item["id"]}
        if case == "answered meanwhile":
            await send("conversation.item.added", item=script.item)
            await send("response.created", response=said("resp_1", "in_progress", metadata=named))
        if case == "another answer first":
            await send("response.created", response=said("resp_0", "in_progress"))
        kinds = []
        async for text in socket:
            event = json.loads(text)
            script.received.append(event)
            kinds.append(event["type"])
            if event["type"] == "conversation.item.create":
                assert event["item"] == script.item
                if case == "never arrived":
                    await send("conversation.item.added", item=script.item)
                else:
                    error = {"code": "item_create_duplicate_id", "event_id": event["event_id"]}
                    await send("error", error=error)
            elif event["type"] == "conversation.item.retrieve":
                await send("conversation.item.retrieved", item=script.item)
                if case == "answer follows":
                    await send("response.created", response=said("resp_1", "in_progress", metadata=named))
                if case == "another answer first":
                    try:  # longer than the client waits for the answer
                        asked_too_early.append(bool(await asyncio.wait_for(socket.recv(), 1.2)))
                    except asyncio.TimeoutError:
                        pass
                    await send("response.done", response=said("resp_0", "completed"))
                if case in ("answer follows", "answered meanwhile"):
                    await asyncio.sleep(1.2)
                    await send("response.done", response=said("resp_1", "completed"))
            elif event["type"] == "response.create":
                await send("response.created", response=said("resp_1", "in_progress", metadata=named))
                await send("response.done", response=said("resp_1", "completed"))

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            conversation._outbox._settle_after = 0.5
            async with conversation:
                answer = await conversation.say("x")
            assert (answer.id, answer.text) == ("resp_1", "Yes.")
            kinds = [event["type"] for event in script.received[4:]]
            asks = 0 if case in ("answer follows", "answered meanwhile") else 1
            assert kinds.count("response.create") == asks and kinds.count("conversation.item.create") <= 1
            assert not any(asked_too_early)

    asyncio.run(asyncio.wait_for(run(), 20))


async def send_close(socket: Any) -> None:
    """Says that the client is to come back."""
    await socket.close(1012, "reconnect")


def test_an_event_that_is_none_ends_the_waiting() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)
        await script.receive(socket)
        await socket.send("{")
        await socket.wait_closed()

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                with pytest.raises(parlance.ParlanceError) as caught:
                    await conversation.say("x")
            assert caught.value.reason == parlance.CONNECTION_FAILED

    asyncio.run(asyncio.wait_for(run(), 30))


def test_an_answer_that_another_server_gives_again() -> None:
    """The server that answered was lost: its answer failed, and the next one names no text."""

    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)  # session.update
        item, _ = await script.receive(socket), await script.receive(socket)

        def response(answer: str, status: str, **others: Any) -> "dict[str, Any]":
            return {"id": answer, "status": status, "conversation_id": "conv_1", **others}

        said = {"type": "message", "content": [{"type": "output_text", "text": "At last."}]}
        lost = {"error": {"code": "unavailable"}}
        named = {"parlance_request": item["item"]["id"]}
        for event in (
            {"type": "conversation.item.added", "item": item["item"]},
            {"type": "response.created", "response": response("resp_1", "in_progress", metadata=named)},
            {"type": "response.done", "response": response("resp_1", "failed", status_details=lost)},
            {"type": "response.created", "response": response("resp_2", "in_progress")},
            {"type": "response.done", "response": response("resp_2", "completed", output=[said])},
        ):
            await socket.send(json.dumps(event))
        await socket.wait_closed()

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                answer = await conversation.say("x")
            assert (answer.id, answer.status, answer.text) == ("resp_2", "completed", "At last.")

    asyncio.run(asyncio.wait_for(run(), 10))


def test_sound_without_a_connection_is_dropped() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        if number == 0:
            await socket.recv()
            await socket.close(1012, "reconnect")
            return
        async for text in socket:
            script.received.append(json.loads(text))

    async def run() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                async for event in conversation:
                    if len(script.queries) == 2:
                        break
                    while await conversation.send_audio(b"\0\0"):
                        await asyncio.sleep(0.01)
                assert await conversation.send_audio(bytes(100_000))
                await conversation.send_tool_output("call_1", "42")
                while [event["type"] for event in script.received][-1] != "response.create":
                    await asyncio.sleep(0.01)
            appended = [event for event in script.received if event["type"] == "input_audio_buffer.append"]
            assert len(b"".join(base64.b64decode(event["audio"]) for event in appended)) == 100_000
            assert len(appended) == 3

    asyncio.run(asyncio.wait_for(run(), 30))
