"""Conversations whose peers misbehave: the order of texts, lost servers, stalls, and the end."""

from __future__ import annotations

import asyncio
import json
import logging
import pathlib
import ssl
import subprocess
from typing import Any, Callable

import live
import parlance
import pytest
from parlance import Reason, _outbox, _realtime, _socket
from parlance.v1 import CreateSessionResponse, Session
from scripted import Reply, Scripted, message
from sockets import Script, said, scripted

Serve = Callable[..., Scripted]


async def send(socket: Any, kind: str, **members: Any) -> None:
    """Sends an event."""
    await socket.send(json.dumps({"type": kind, **members}))


async def hear(script: Script, socket: Any) -> "dict[str, Any]":
    """Takes the next text, behind its settings, and the request for an answer to it."""
    item = await script.receive(socket)
    while item["type"] != "conversation.item.create":
        item = await script.receive(socket)
    await send(socket, "conversation.item.added", item=item["item"])
    asked = await script.receive(socket)
    assert asked["type"] == "response.create"
    assert asked["response"]["metadata"] == {"parlance_request": item["item"]["id"]}
    return {"text": item["item"]["content"][0]["text"], "metadata": asked["response"]["metadata"]}


def answer(number: int, text: str, status: str = "completed", **others: Any) -> "dict[str, Any]":
    """A response that says a text."""
    content = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
    return {**said(f"resp_{number}", status, **others), "output": content}


LOST = {"status_details": {"error": {"code": "unavailable"}}}


def run(what: Any) -> Any:
    """Runs a test that must not wait for ever."""
    return asyncio.run(asyncio.wait_for(what, 30))


def test_one_text_at_a_time() -> None:
    """The next one is sent when the one before has its answer, also when nobody waits for that."""
    early: "list[str]" = []

    async def handler(script: Script, socket: Any, number: int) -> None:
        for count in range(4):
            heard = await hear(script, socket)
            await send(socket, "response.created", response=answer(count, "", "in_progress", metadata=heard["metadata"]))
            try:
                early.append(await asyncio.wait_for(socket.recv(), 0.1))
            except asyncio.TimeoutError:
                pass
            await send(socket, "response.done", response=answer(count, f"to {heard['text']}"))
        await socket.wait_closed()

    async def talk() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                first = asyncio.create_task(conversation.say("a"))
                unheard = asyncio.create_task(conversation.say("not sent"))
                others = [asyncio.create_task(conversation.say(text)) for text in "bcd"]
                while len(script.received) < 3:
                    await asyncio.sleep(0.01)
                first.cancel()
                unheard.cancel()
                assert [(await one).text for one in others] == ["to b", "to c", "to d"]
        assert early == []

    run(talk())


def test_texts_of_the_service_have_their_own_answers(service: live.Service) -> None:
    async def talk() -> None:
        async with parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            async with client.sessions.connect(agent_id=service.agent_id, user_id="py") as conversation:
                texts = ["How are webhooks signed?", "What is Parlance?", "How are webhooks signed?"]
                answers = await asyncio.gather(*map(conversation.say, texts))
            assert ["HMAC" in one.text for one in answers] == [True, False, True]
            turns = client.sessions.all_transcript(session_id=conversation.session_id)
            assert [turn.user_text async for turn in turns if turn.user_text or turn.index] == texts

    run(talk())


def test_an_answer_that_names_nothing_is_nobody_s() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        heard = await hear(script, socket)
        await send(socket, "response.created", response=answer(1, "", "in_progress"))
        await send(socket, "response.done", response=answer(1, "A greeting."))
        await send(socket, "response.created", response=answer(2, "", "in_progress", metadata=heard["metadata"]))
        await send(socket, "response.done", response=answer(2, "To you."))
        await socket.wait_closed()

    async def talk() -> None:
        async with scripted(handler) as (_, conversation):
            async with conversation:
                assert (await conversation.say("x")).text == "To you."

    run(talk())


@pytest.mark.parametrize("case", ["its beginning was missed", "lost twice", "nothing follows", "nothing follows a loss"])
def test_an_answer_whose_server_is_lost(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over another connection the answer ends, and the next one that names nothing is in its place.
    The text that was said meanwhile waits for its own."""
    if case.startswith("nothing"):
        monkeypatch.setattr(_outbox, "RESUME_SECONDS", 0.3)

    async def handler(script: Script, socket: Any, number: int) -> None:
        if number == 0:
            heard = await hear(script, socket)
            if case != "its beginning was missed":
                await send(socket, "response.created", response=answer(1, "", "in_progress", metadata=heard["metadata"]))
            return await socket.close(1012, "reconnect")  # type: ignore[no-any-return]
        if number == 1:
            await send(socket, "response.done", response=answer(1, "", "failed", **LOST))
            if case == "nothing follows a loss":
                return await socket.close(1012, "reconnect")  # type: ignore[no-any-return]
        if not case.startswith("nothing"):
            await send(socket, "response.created", response=answer(2, "", "in_progress"))
            again = answer(2, "", "failed", **LOST) if case == "lost twice" else answer(2, "At last.")
            await send(socket, "response.done", response=again)
        heard = await hear(script, socket)
        assert heard["text"] == "b"
        await send(socket, "response.created", response=answer(3, "", "in_progress", metadata=heard["metadata"]))
        await send(socket, "response.done", response=answer(3, "To b."))
        await socket.wait_closed()

    async def talk() -> None:
        async with scripted(handler) as (_, conversation):
            async with conversation:
                first, second = await asyncio.gather(conversation.say("a"), conversation.say("b"))
            expected = "completed" if case == "its beginning was missed" else "failed"
            assert (first.status, second.text) == (expected, "To b.")
            assert first.text == ("At last." if expected == "completed" else "")

    run(talk())


def test_texts_that_the_service_does_not_take_are_refused_at_once() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)  # session.update
        script.item = await script.receive(socket)
        await socket.close(1000, "end_call")

    async def talk() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                for text, code in (("ä" * 32_001, "invalid_value"), ("a\0b", "invalid_value"), (" ", "missing_required_parameter")):
                    with pytest.raises(parlance.ParlanceError) as caught:
                        await conversation.say(text)
                    assert caught.value.reason == code
                with pytest.raises(parlance.ParlanceError) as caught:
                    await conversation.send_event({"type": "x", "a": "b" * (1 << 20)})
                assert caught.value.reason is Reason.BODY_TOO_LARGE
                wrong: Any = b"bytes"
                with pytest.raises(TypeError):
                    await conversation.say(wrong)
                await conversation.send_event({"type": "fits"})
                _ = [event async for event in conversation]
            assert script.item["type"] == "fits"

    run(talk())


@pytest.mark.parametrize("side", ["service", "client"])
def test_an_event_that_is_too_large_is_not_tried_again(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "MAX_EVENT_BYTES", 1000)

    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)
        await script.receive(socket)
        if side == "service":
            return await socket.close(1009, "frame_too_large")  # type: ignore[no-any-return]
        await send(socket, "x", a="b" * 2000)
        await socket.wait_closed()

    async def talk() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                with pytest.raises(parlance.ParlanceError) as caught:
                    await conversation.say("x")
            assert caught.value.reason is Reason.BODY_TOO_LARGE and len(script.queries) == 1

    run(talk())


def test_a_conversation_is_used_within_async_with() -> None:
    async def handler(script: Script, socket: Any, number: int) -> None:
        pass

    async def talk() -> None:
        async with scripted(handler) as (_, conversation):
            for call in (conversation.say("x"), conversation.send_event({"type": "x"}), conversation.__aiter__().__anext__()):
                with pytest.raises(RuntimeError, match="async with"):
                    await call

    run(talk())


def test_a_socket_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handshake of a stalled connection is accepted, and no event comes."""
    monkeypatch.setattr(_socket, "HANDSHAKE_SECONDS", 0.5)
    stalled: "list[int]" = []

    async def handler(script: Script, socket: Any, number: int) -> None:
        await script.receive(socket)
        await socket.close(*((1012, "reconnect") if number == 0 else (1000, "end_call")))

    class Stalling(Script):
        """It stalls the second connection."""

        async def serve(self, socket: Any) -> None:
            if len(self.queries) == 1 and not stalled:
                stalled.append(1)
                await socket.wait_closed()
            else:
                await super().serve(socket)

    monkeypatch.setattr("sockets.Script", Stalling)

    async def talk() -> None:
        async with scripted(handler) as (script, conversation):
            async with conversation:
                _ = [event async for event in conversation]
            assert conversation.end_reason == "end_call" and stalled and len(script.queries) == 2

    run(talk())


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(302, b"", {"Location": "ws://127.0.0.1:1/"}), parlance.NOT_PARLANCE),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), parlance.NOT_PARLANCE),
        (Reply(404, b"<html>", {"Content-Type": "text/html"}), Reason.NOT_FOUND),
        (Reply(429, b'{"code": "rate-limited"}', {"Content-Type": "application/problem+json"}), Reason.RATE_LIMITED),
    ],
)
def test_sockets_that_others_refuse(serve: Serve, reply: Reply, reason: str) -> None:
    """The token goes nowhere but to the service's address, and in no URL."""
    server = serve(reply)
    url = server.base_url.replace("http", "ws") + "/v1/realtime/chat/ses_1?token=secret"

    async def talk() -> None:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x", max_retries=0) as client:
            async with client.sessions.connect(session=CreateSessionResponse(id="ses_1", chat_url=url)):
                pass

    with pytest.raises(parlance.ParlanceError) as caught:
        run(talk())
    assert caught.value.reason == reason and len(server.seen) == 2  # the handshake, and the question why
    assert all("secret" not in seen.path and seen.headers["authorization"] == "Bearer secret" for seen in server.seen)


def test_a_session_without_a_socket_is_refused_at_once() -> None:
    async def talk(url: str) -> None:
        async with parlance.AsyncClient(base_url="http://127.0.0.1:1", api_key="prl_x") as client:
            async with client.sessions.connect(session=CreateSessionResponse(id="ses_1", chat_url=url)):
                pass

    for url in ("", "http://a/b?token=secret", "ws://?token=secret"):
        with pytest.raises(ValueError) as caught:
            run(talk(url))
        assert "secret" not in str(caught.value)


def test_no_log_has_the_token_or_what_is_said(service: live.Service, caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> str:
        async with parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            session = await client.sessions.create_session(agent_id=service.agent_id, user_id="py", modality="text")
            async with client.sessions.connect(session=session) as conversation:
                await conversation.say("Do not write this down.")
            return session.token

    with caplog.at_level(logging.DEBUG):
        logging.getLogger("websockets").setLevel(logging.DEBUG)
        token = run(talk())
    assert token and token not in caplog.text and "write this down" not in caplog.text


class Rerouted:
    """A client whose new sessions have their sockets at another address."""

    def __init__(self, service: live.Service, address: str, **options: Any) -> None:
        self.client = parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key, **options)
        create = self.client.sessions.create_session
        self.created: "list[str]" = []

        async def create_session(**fields: Any) -> CreateSessionResponse:
            session = await create(**fields)
            self.created.append(session.id)
            session.chat_url = session.chat_url.replace(service.base_url.replace("http", "ws").removesuffix("/v1"), address)
            return session

        self.client.sessions.create_session = create_session  # type: ignore[assignment]

    async def session(self) -> Session:
        """The session that was created."""
        return await self.client.sessions.get_session(session_id=self.created[0])


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_lost_connection_is_hung_up(
    service: live.Service, proxy: live.Proxy, monkeypatch: pytest.MonkeyPatch, comes_back: bool
) -> None:
    """Over another connection, or by a call when there is none."""
    if not comes_back:
        monkeypatch.setattr(_realtime, "HANG_UP_SECONDS", 0.5)

    async def talk() -> None:
        rerouted = Rerouted(service, proxy.base_url.replace("http", "ws"))
        async with rerouted.client as client:
            async with client.sessions.connect(agent_id=service.agent_id, user_id="py") as conversation:
                await conversation.say("What is Parlance?")
                if comes_back:
                    proxy.cut()
                else:
                    proxy.close()
                while conversation._ready.is_set():
                    await asyncio.sleep(0.01)
            session = await rerouted.session()
            assert (session.status, session.end_reason) == ("completed", "hang_up")
            assert conversation.end_reason == "hang_up"
            assert proxy.connections == (2 if comes_back else 1)

    run(talk())


def test_a_session_whose_socket_cannot_be_opened_is_ended(service: live.Service) -> None:
    async def talk() -> None:
        rerouted = Rerouted(service, f"ws://127.0.0.1:{live.unused_port()}", max_retries=0)
        async with rerouted.client as client:
            with pytest.raises(parlance.ParlanceError) as caught:
                async with client.sessions.connect(agent_id=service.agent_id, user_id="py"):
                    pass
            assert caught.value.reason == parlance.CONNECTION_FAILED
            assert (await rerouted.session()).status == "completed"

    run(talk())


@pytest.mark.parametrize("is_created", [True, False])
def test_connecting_can_be_cancelled(service: live.Service, is_created: bool) -> None:
    """A session that connect created is ended then, and another one is not."""

    async def talk() -> None:
        reached = asyncio.Event()

        async def stall(*_: Any) -> None:
            reached.set()
            await asyncio.Event().wait()

        silent = await asyncio.start_server(stall, "127.0.0.1", 0)
        rerouted = Rerouted(service, "ws://127.0.0.1:{}".format(silent.sockets[0].getsockname()[1]))
        async with rerouted.client as client:
            fields: "dict[str, Any]" = {"agent_id": service.agent_id, "user_id": "py"}
            session = None if is_created else await client.sessions.create_session(**fields, modality="text")
            connecting = asyncio.create_task(client.sessions.connect(**fields, session=session).__aenter__())
            await reached.wait()
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting
            assert (await rerouted.session()).status == ("completed" if is_created else "pending")
        silent.close()

    run(talk())


def test_a_session_that_was_left_is_not_ended(service: live.Service) -> None:
    async def talk() -> None:
        async with parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            async with client.sessions.connect(agent_id=service.agent_id, user_id="py") as conversation:
                await conversation.leave()
            session = await client.sessions.get_session(session_id=conversation.session_id)
            assert session.status == "in_progress" and conversation.end_reason is None

    run(talk())


def test_the_authority_of_the_caller_is_trusted_by_sockets(serve: Serve, tmp_path: pathlib.Path) -> None:
    """A server with a certificate of its own: it is reached with its authority, and not without."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run(
        [*make, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    created = message(CreateSessionResponse(id="ses_1"))

    async def handler(script: Script, socket: Any, number: int) -> None:
        await socket.close(1000, "end_call")

    async def talk(trusted: "ssl.SSLContext | None") -> "str | None":
        async with scripted(handler, serving) as (script, _):
            async with parlance.AsyncClient(
                base_url=serve(created).base_url, api_key="prl_x", ssl_context=trusted, max_retries=0
            ) as client:
                session = CreateSessionResponse(id="ses_1", chat_url=script.url)
                async with client.sessions.connect(session=session) as conversation:
                    _ = [event async for event in conversation]
                return conversation.end_reason

    assert run(talk(ssl.create_default_context(cafile=certificate))) == "end_call"
    with pytest.raises(parlance.ParlanceError) as caught:
        run(talk(None))
    assert caught.value.reason == parlance.CONNECTION_FAILED
