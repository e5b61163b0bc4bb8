"""Answers that are none of the service, errors as values, and clients in other processes and loops."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import ssl
from email.utils import formatdate
from time import time
from typing import Any, Callable

import live
import parlance
import pytest
from parlance import FieldError, Reason
from parlance.v1 import Agent
from scripted import Reply, Scripted, message, refusal, stream

Serve = Callable[..., Scripted]
Calling = Callable[..., Any]
HTML = {"Content-Type": "text/html"}
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(200, b"", HTML), parlance.NOT_PARLANCE),
        (Reply(200, b""), parlance.NOT_PARLANCE),
        (Reply(200, b'{"code": "not_found"}', JSON), parlance.NOT_PARLANCE),
        (Reply(204), parlance.NOT_PARLANCE),
        (Reply(301, b"", {"Location": "/"}), parlance.NOT_PARLANCE),
        (Reply(400, b"<html>", HTML), parlance.NOT_PARLANCE),
        (Reply(402, b"<html>", HTML), parlance.NOT_PARLANCE),
        (Reply(405, b'{"code": "not_found"}', HTML), parlance.NOT_PARLANCE),
        (Reply(418, b'{"code": ["x"]}', JSON), parlance.NOT_PARLANCE),
        (Reply(500, b'{"code": "oops"}', JSON), parlance.NOT_PARLANCE),
        (Reply(401, b"<html>", HTML), Reason.AUTH_INVALID_KEY),
        (Reply(403, b"<html>", HTML), Reason.AUTH_SCOPE),
        (Reply(404, b"<html>", HTML), Reason.NOT_FOUND),
        (Reply(413, b"<html>", HTML), Reason.BODY_TOO_LARGE),
        (Reply(415, b"<html>", HTML), Reason.UNSUPPORTED_MEDIA_TYPE),
    ],
)
def test_answers_of_others_say_so_and_are_not_tried_again(serve: Serve, calling: Calling, reply: Reply, reason: str) -> None:
    server = serve(reply)
    client, _ = calling(server)
    calls: "list[Callable[[], Any]]" = [
        lambda: client.agents.delete_agent(agent_id="agt_1"),
        lambda: list(client.agents.all_agents()),
        lambda: list(client.sessions.stream_turn(session_id="ses_1", text="x")),
        lambda: b"".join(part.data for part in client.knowledge.download_source(source_id="src_1")),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(parlance.ParlanceError) as caught:
            call()
        assert (caught.value.reason, caught.value.status) == (reason, reply.status)
        kind = reply.headers.get("Content-Type")
        what = f"(HTTP {reply.status}, {kind})" if kind else f"(HTTP {reply.status})"
        assert what in str(caught.value) and "base URL" in str(caught.value)
        assert len(server.seen) == number + 1


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
@pytest.mark.parametrize("wait", ["7", "7.5", "date"])
def test_busy_proxies_are_tried_again_when_they_say(serve: Serve, calling: Calling, status: int, wait: str) -> None:
    value = formatdate(time() + 9, usegmt=True) if wait == "date" else wait
    server = serve(Reply(status, b"<html>", {**HTML, "Retry-After": value}), message(Agent(id="agt_1")))
    client, pauses = calling(server)
    assert client.agents.get_agent(agent_id="agt_1").id == "agt_1"
    assert 7 <= pauses[0] <= 9


def test_a_message_that_ends_in_the_middle_with_its_connection_is_asked_for_again(serve: Serve, calling: Calling) -> None:
    whole = message(Agent(id="agt_1", name="Ada"))
    whole.is_endless = True
    half = Reply(200, whole.body[:-1], whole.headers, is_endless=True)
    server = serve(half, whole)
    client, _ = calling(server)
    assert client.agents.get_agent(agent_id="agt_1").name == "Ada"
    assert len(server.seen) == 2
    with pytest.raises(parlance.ParlanceError) as caught:
        calling(serve(half))[0].agents.get_agent(agent_id="agt_1")
    assert caught.value.reason == parlance.CONNECTION_FAILED


def test_a_message_of_its_length_that_cannot_be_read_is_of_somebody_else(serve: Serve, calling: Calling) -> None:
    server = serve(Reply(200, message(Agent(id="agt_1")).body[:-1], {"Content-Type": "application/proto"}))
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert (caught.value.reason, len(server.seen)) == (parlance.NOT_PARLANCE, 1)


PACKED = {"Content-Encoding": "gzip", "Content-Type": "application/proto"}


@pytest.mark.parametrize(
    ("status", "reason", "tries"), [(200, parlance.NOT_PARLANCE, 1), (403, Reason.AUTH_SCOPE, 1), (503, Reason.UNAVAILABLE, 3)]
)
def test_of_what_cannot_be_unpacked_the_status_counts(
    serve: Serve, calling: Calling, status: int, reason: str, tries: int
) -> None:
    server = serve(Reply(status, b"not packed", PACKED))
    client, _ = calling(server)
    calls: "list[Callable[[], Any]]" = [
        lambda: client.agents.get_agent(agent_id="agt_1"),
        lambda: list(client.sessions.stream_turn(session_id="ses_1", text="x")),
        lambda: client.knowledge.upload(b"x", workspace_id="ws_1", filename="a.md"),
    ]
    for number, call in enumerate(calls[: 1 if status == 200 else 3]):
        with pytest.raises(parlance.ParlanceError) as caught:
            call()
        assert (caught.value.reason, caught.value.status) == (reason, status)
        assert len(server.seen) == tries * (number + 1)


def test_of_what_cannot_be_unpacked_the_status_counts_with_asyncio(serve: Serve) -> None:
    server = serve(Reply(403, b"not packed", PACKED))

    async def run() -> None:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x") as client:
            for call in (client.agents.get_agent(agent_id="agt_1"), anext(client.sessions.stream_turn(session_id="s", text="x"))):
                with pytest.raises(parlance.ParlanceError) as caught:
                    await call
                assert caught.value.reason is Reason.AUTH_SCOPE

    asyncio.run(run())
    assert len(server.seen) == 2


def test_a_limit_without_details_is_tried_again(serve: Serve, calling: Calling) -> None:
    server = serve(refusal(429, "resource_exhausted", "Slowly."))
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert caught.value.reason is Reason.RATE_LIMITED and len(server.seen) == 3


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", "1e999", "Thu, 99 Foo 2026"])
def test_a_retry_after_that_says_nothing(serve: Serve, calling: Calling, value: str) -> None:
    server = serve(Reply(503, b"", {"Retry-After": value}), message(Agent(id="agt_1")))
    client, pauses = calling(server)
    assert client.agents.get_agent(agent_id="agt_1").id == "agt_1" and pauses[0] <= 0.5


@pytest.mark.parametrize("details", [["a"], "a", [None, {"type": 1, "value": {}}], {"a": 1}, 7])
def test_odd_details_do_no_harm(serve: Serve, calling: Calling, details: Any) -> None:
    end = {"code": "not_found", "message": "No.", "details": details}
    client, _ = calling(serve(refusal(404, "not_found", "No.", None, details if isinstance(details, list) else [])))
    with pytest.raises(parlance.ParlanceError, match="No"):
        client.agents.get_agent(agent_id="agt_1")
    client, _ = calling(serve(stream([], end)))
    with pytest.raises(parlance.ParlanceError, match="No"):
        list(client.knowledge.watch_source(source_id="src_1"))
    problem = b'{"code": "not-found", "detail": "No.", "errors": ["a", 7]}'
    client, _ = calling(serve(Reply(404, problem, {"Content-Type": "application/problem+json"})))
    with pytest.raises(parlance.ParlanceError, match="No"):
        client.knowledge.upload(b"x", workspace_id="ws_1", filename="a.md")


def test_errors_can_be_copied_and_pickled() -> None:
    error = parlance.ParlanceError(
        Reason.RATE_LIMITED, "Slowly.", code="resource_exhausted", status=429, fields=[FieldError("a", "b", "c")],
        metadata={"a": "b"}, request_id="req_1", retry_after=2.5,
    )
    for again in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is parlance.ParlanceError and again.__dict__ == error.__dict__ and str(again) == str(error)
        assert again.reason is Reason.RATE_LIMITED


@pytest.mark.parametrize(
    "url", ["localhost:8080", "example.com", "ftp://a", "http://", "http://a b", "http://a\nb", "http://a:x", "http://a?b=c", "prl_secret"]
)
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="base_url is not the URL of a service") as caught:
        parlance.Client(base_url=url, api_key="prl_x")
    assert "prl" not in str(caught.value)


def test_white_space_around_settings_is_cut_off(serve: Serve) -> None:
    server = serve(message(Agent(id="agt_1")))
    with parlance.Client(base_url=f" {server.base_url}/v1/\n", api_key="prl_x\r\n") as client:
        assert client.agents.get_agent(agent_id="agt_1").id == "agt_1"
    assert server.seen[0].headers["authorization"] == "Bearer prl_x"
    with pytest.raises(ValueError, match="api_key is missing"):
        parlance.Client(base_url=server.base_url, api_key="  \n")


def test_a_forked_process_has_its_own_connections(service: live.Service, proxy: live.Proxy) -> None:
    with parlance.Client(base_url=proxy.base_url, api_key=service.api_key) as client:
        def name() -> str:
            return client.agents.get_agent(workspace_id=service.workspace_id, agent_id=service.agent_id).name

        assert name() == name() and proxy.connections == 1
        child = os.fork()
        if child == 0:
            os._exit(0 if name() == "Ada" else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert name() == "Ada" and proxy.connections == 2


def test_a_client_belongs_to_one_event_loop(serve: Serve) -> None:
    server = serve(message(Agent(id="agt_1")))
    client = parlance.AsyncClient(base_url=server.base_url, api_key="prl_x")

    async def use() -> None:
        await client.agents.get_agent(agent_id="agt_1")

    asyncio.run(use())
    with pytest.raises(RuntimeError, match="asyncio.run"):
        asyncio.run(use())
    asyncio.run(client.close())


def test_the_authority_of_the_caller_is_trusted() -> None:
    context = ssl.create_default_context()
    with parlance.Client(base_url="https://a", api_key="prl_x", ssl_context=context) as client:
        pool: Any = client._calls.http._transport_for_url(client._calls.http.base_url)
        assert pool._pool._ssl_context is context
