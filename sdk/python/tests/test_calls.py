"""Calls with one answer: what is sent, which failures are tried again, and what errors say."""

from __future__ import annotations

import asyncio
import socket
import traceback
from typing import Any, Callable

import httpx
import live
import parlance
import pytest
from parlance import Reason, _oldhttp
from parlance.v1 import Agent, ListAgentsResponse
from scripted import Reply, Scripted, info, message, refusal

Serve = Callable[..., Scripted]
Calling = Callable[..., Any]
JSON = {"Content-Type": "application/json"}
BUSY = refusal(503, "unavailable", "Not now.", {"Retry-After": "2"}, [info("unavailable")])


def test_every_call_names_key_version_and_program(serve: Serve, calling: Calling) -> None:
    server = serve(message(Agent(id="agt_1")))
    client, _ = calling(server)
    assert client.agents.get_agent(workspace_id="ws_1", agent_id="agt_1").id == "agt_1"
    seen = server.seen[0]
    assert seen.path == "/parlance.v1.AgentService/GetAgent"
    assert seen.headers["authorization"] == "Bearer prl_test"
    assert seen.headers["parlance-version"] == "2026-11-28"
    assert seen.headers["user-agent"] == f"parlance-python/{parlance.__version__}"
    assert seen.headers["content-type"] == "application/proto"
    assert seen.headers["idempotency-key"]


def test_a_call_is_tried_again_with_the_same_key(serve: Serve, calling: Calling) -> None:
    server = serve(Reply(None), BUSY, message(Agent(id="agt_1")))
    client, pauses = calling(server)
    assert client.agents.create_agent(workspace_id="ws_1", name="Ada").id == "agt_1"
    assert len({seen.headers["idempotency-key"] for seen in server.seen}) == 1
    assert len({seen.body for seen in server.seen}) == 1
    assert 0 < pauses[0] <= 0.5
    assert pauses[1] >= 2  # as Retry-After says


def test_requests_are_not_held_back_by_the_system(serve: Serve) -> None:
    with _oldhttp.new_client() as http:
        with http.stream("GET", serve(Reply()).base_url) as response:
            connection = response.extensions["network_stream"].get_extra_info("socket")
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_another_call_has_another_key_and_the_caller_s_goes_before(serve: Serve, calling: Calling) -> None:
    server = serve(message(Agent()))
    client, _ = calling(server)
    client.agents.create_agent(name="Ada")
    client.agents.create_agent(name="Ada")
    client.agents.create_agent(name="Ada", idempotency_key="mine")
    keys = [seen.headers["idempotency-key"] for seen in server.seen]
    assert len(set(keys)) == 3 and keys[2] == "mine"


def test_tries_end(serve: Serve, calling: Calling) -> None:
    server = serve(BUSY)
    client, pauses = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert caught.value.reason is Reason.UNAVAILABLE
    assert len(server.seen) == 3 and len(pauses) == 2


@pytest.mark.parametrize(
    "reply",
    [
        refusal(404, "not_found", "No such agent.", None, [info("not-found")]),
        refusal(429, "resource_exhausted", "The plan is used up.", None, [info("quota-exceeded-usage")]),
        refusal(499, "canceled", "Stopped.", None, [info("canceled")]),
        refusal(429, "resource_exhausted", "Take a break.", {"Retry-After": "3600"}, [info("fatigue-window-used-up")]),
    ],
    ids=["not-found", "quota", "canceled", "long Retry-After"],
)
def test_final_refusals_are_not_tried_again(serve: Serve, calling: Calling, reply: Reply) -> None:
    server = serve(reply)
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError):
        client.agents.get_agent(agent_id="agt_1")
    assert len(server.seen) == 1


def test_a_key_in_flight_is_waited_out(serve: Serve, calling: Calling) -> None:
    flying = refusal(409, "aborted", "Still at it.", None, [info("idempotency-key-in-flight")])
    server = serve(*[flying] * 7, message(Agent(id="agt_1")))
    client, _ = calling(server)
    assert client.agents.create_agent(name="Ada").id == "agt_1"
    assert len(server.seen) == 8

    stuck = serve(flying)
    client, pauses = calling(stuck)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.create_agent(name="Ada")
    assert caught.value.is_reason(Reason.IDEMPOTENCY_KEY_IN_FLIGHT)
    assert 290 < sum(pauses) <= 300


def test_a_try_has_a_time_out(serve: Serve, calling: Calling) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    with parlance.Client(
        base_url=f"http://127.0.0.1:{silent.getsockname()[1]}", api_key="prl_x", timeout=0.2, max_retries=0
    ) as client:
        with pytest.raises(parlance.ParlanceError) as caught:
            client.agents.get_agent(agent_id="agt_1")
    assert caught.value.reason == parlance.CONNECTION_FAILED
    assert caught.value.status is None and caught.value.code == "unavailable"
    silent.close()


def test_a_try_has_a_time_out_also_when_its_answer_drips(serve: Serve, calling: Calling) -> None:
    """Each byte comes in time, and the whole does not."""
    dripping = message(Agent(id="agt_" + "1" * 60))
    dripping.pause_seconds = 0.1
    client, _ = calling(serve(dripping), timeout=2.0, max_retries=0)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert isinstance(caught.value.__cause__, httpx.ReadTimeout)

    async def run() -> None:
        async with parlance.AsyncClient(base_url=client._calls.config.base_url, api_key="k", timeout=2.0, max_retries=0) as other:
            await other.agents.get_agent(agent_id="agt_1")

    with pytest.raises(parlance.ParlanceError) as caught:
        asyncio.run(run())
    assert isinstance(caught.value.__cause__, httpx.ReadTimeout)


def test_errors_say_what_they_know(client: parlance.Client, service: live.Service) -> None:
    with pytest.raises(parlance.ParlanceError) as caught:
        client.sessions.create_session(agent_id="", user_id="u")
    error = caught.value
    assert error.reason is Reason.INVALID_REQUEST and error.code == "invalid_argument" and error.status == 400
    assert (error.fields[0].field, error.fields[0].code) == ("agent_id", "min_len") and " " in error.fields[0].message
    assert error.request_id.startswith("req_") and error.request_id in str(error)
    assert parlance.is_reason(error, Reason.NOT_FOUND, Reason.INVALID_REQUEST)
    assert parlance.is_reason(error, "invalid-request")
    assert not parlance.is_reason(error, Reason.NOT_FOUND) and not parlance.is_reason(ValueError(), "invalid-request")


def test_an_unknown_reason_stays_a_text(serve: Serve, calling: Calling) -> None:
    client, _ = calling(serve(refusal(400, "invalid_argument", "New.", None, [info("of-next-year")])))
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert caught.value.reason == "of-next-year" and not isinstance(caught.value.reason, Reason)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(502, b"<html>Bad gateway</html>"), "unavailable"),
        (Reply(401, b""), "unauthenticated"),
        (Reply(200, b"\xff\xff<html>", {"Content-Type": "application/proto"}), "unknown"),
        (Reply(404, b'{"code": 404}'), "unimplemented"),
        (
            Reply(400, b'{"code": "invalid_argument", "details": [{"type": "google.rpc.ErrorInfo", "value": "!!"}]}', JSON),
            "invalid_argument",
        ),
    ],
)
def test_answers_of_others_are_errors(serve: Serve, calling: Calling, reply: Reply, code: str) -> None:
    client, _ = calling(serve(reply), max_retries=0)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.agents.get_agent(agent_id="agt_1")
    assert caught.value.code == code


def test_no_error_shows_the_key(serve: Serve) -> None:
    secret = "prl_secretsecretsecret"
    with parlance.Client(base_url=f"http://127.0.0.1:{live.unused_port()}", api_key=secret, max_retries=0) as client:
        with pytest.raises(parlance.ParlanceError) as caught:
            client.agents.get_agent(agent_id="agt_1")
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(client._calls.config)
    assert "secretsecret" not in shown


def test_a_header_that_cannot_be_sent_is_refused_without_its_value(serve: Serve, calling: Calling) -> None:
    server = serve(message(Agent()))
    client, _ = calling(server)
    with pytest.raises(ValueError) as caught:
        client.agents.get_agent(agent_id="agt_1", extra_headers={"Authorization": "Bearer secret\r\nX: y"})
    assert "secret" not in str(caught.value) and "Authorization" in str(caught.value)
    assert server.seen == []


def test_a_header_of_the_caller_goes_before(serve: Serve, calling: Calling) -> None:
    server = serve(message(Agent()))
    client, _ = calling(server)
    client.agents.get_agent(agent_id="agt_1", extra_headers={"authorization": "Bearer token"})
    assert server.seen[0].headers["authorization"] == "Bearer token"


@pytest.mark.parametrize("key", ["", "prl_x\r\nHost: evil", "prl x", "prl_ä"])
def test_a_key_that_is_none_is_refused_without_showing_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARLANCE_API_KEY", raising=False)
    with pytest.raises(ValueError) as caught:
        parlance.Client(base_url="http://127.0.0.1:1", api_key=key)
    assert "prl" not in str(caught.value)


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch, service: live.Service) -> None:
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    with parlance.Client() as client:
        assert client.agents.get_agent(workspace_id=service.workspace_id, agent_id=service.agent_id).name == "Ada"
    monkeypatch.setenv("PARLANCE_BASE_URL", "")
    with pytest.raises(ValueError, match="PARLANCE_BASE_URL"):
        parlance.Client()


def test_pages_are_read_as_they_are_needed(serve: Serve, calling: Calling) -> None:
    pages = [
        ListAgentsResponse(agents=[Agent(id="agt_1"), Agent(id="agt_2")], next_page_token="two"),
        ListAgentsResponse(next_page_token="three"),
        ListAgentsResponse(agents=[Agent(id="agt_3")]),
    ]
    server = serve(*map(message, pages))
    client, _ = calling(server)
    agents = client.agents.all_agents(workspace_id="ws_1", page_size=2)
    assert len(server.seen) == 0
    assert next(agents).id == "agt_1" and next(agents).id == "agt_2"
    assert len(server.seen) == 1
    assert [agent.id for agent in agents] == ["agt_3"]
    assert b"two" in server.seen[1].body and b"three" in server.seen[2].body


def test_pages_of_the_service(client: parlance.Client, service: live.Service) -> None:
    made = {client.agents.create_agent(workspace_id=service.workspace_id, name=f"Page {i}").id for i in range(3)}
    found = [agent.id for agent in client.agents.all_agents(workspace_id=service.workspace_id, page_size=1, q="Page")]
    assert set(found) >= made and len(found) == len(set(found))

    async def of_async() -> "list[str]":
        async with parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key) as other:
            pages = other.agents.all_agents(workspace_id=service.workspace_id, page_size=1, q="Page")
            return [agent.id async for agent in pages]

    assert asyncio.run(of_async()) == found


def test_the_async_client_tries_again(serve: Serve) -> None:
    server = serve(Reply(None), BUSY, message(Agent(id="agt_1")))
    pauses: "list[float]" = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    async def run() -> str:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_test") as client:
            client._calls.sleep = note
            return (await client.agents.create_agent(name="Ada")).id

    assert asyncio.run(run()) == "agt_1"
    assert len({seen.headers["idempotency-key"] for seen in server.seen}) == 1 and len(pauses) == 2


def test_a_call_of_the_async_client_can_be_cancelled(service: live.Service) -> None:
    silent = socket.create_server(("127.0.0.1", 0))

    async def run() -> None:
        async with parlance.AsyncClient(
            base_url=f"http://127.0.0.1:{silent.getsockname()[1]}", api_key="prl_x"
        ) as client:
            await asyncio.wait_for(client.agents.get_agent(agent_id="agt_1"), 0.2)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(run())
    silent.close()


def test_a_wrong_key_is_refused(service: live.Service) -> None:
    with parlance.Client(base_url=service.base_url, api_key="prl_wrong") as client:
        with pytest.raises(parlance.ParlanceError) as caught:
            client.agents.get_agent(workspace_id=service.workspace_id, agent_id=service.agent_id)
    assert caught.value.reason is Reason.AUTH_INVALID_KEY
