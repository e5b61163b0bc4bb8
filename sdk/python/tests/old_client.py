"""A client of the contract of an older version: its messages, and the Connect protocol. Run by
test_contract.py in a process of its own, because Python takes only one version of a message."""

from __future__ import annotations

import os
import sys
from typing import Any, TypeVar

import httpx
from google.protobuf.message import Message
from parlance.v1 import agents_pb2 as agents
from parlance.v1 import sessions_pb2 as sessions

M = TypeVar("M", bound=Message)
base = os.environ["PARLANCE_BASE_URL"].rstrip("/").removesuffix("/v1")
http = httpx.Client(headers={"Authorization": f"Bearer {os.environ['PARLANCE_API_KEY']}"}, timeout=60)


def call(method: str, request: Message, answer: M) -> M:
    """Calls a method."""
    headers = {"Content-Type": "application/proto", "Connect-Protocol-Version": "1"}
    response = http.post(f"{base}/parlance.v1.{method}", content=request.SerializeToString(), headers=headers)
    assert response.status_code == 200, response.text
    answer.ParseFromString(response.content)
    return answer


def differences(sent: Any, got: Any, place: str = "") -> "list[str]":
    """The fields of a message that another one does not have as they are."""
    found: "list[str]" = []
    for field, value in sent.ListFields():
        name = f"{place}{field.name}"
        if not any(field.name == one.name for one in got.DESCRIPTOR.fields):
            continue
        other = getattr(got, field.name)
        if isinstance(value, Message) and not field.message_type.full_name.startswith("google."):
            found += differences(value, other, name + ".")
        elif value != other:
            found.append(f"{name} is {other!r} and was sent as {value!r}")
    return found


def main() -> None:
    """Makes an agent, a session and a turn, and reads them back."""
    create = agents.CreateAgentRequest(
        workspace_id=os.environ["PARLANCE_WORKSPACE_ID"],
        name="Old",
        instructions="Answer with what you know.",
        first_message="Hello from {{place}}.",
        language="en",
        max_duration_seconds=600,
        idle_timeout_seconds=120,
        locked_overrides=["instructions"],
        model=agents.AgentModel(temperature=0.25, max_output_tokens=200),
        retrieval=agents.AgentRetrieval(top_k=3),
    )
    agent = call("AgentService/CreateAgent", create, agents.Agent())
    same = call(
        "AgentService/GetAgent",
        agents.GetAgentRequest(workspace_id=agent.workspace_id, agent_id=agent.id),
        agents.Agent(),
    )
    assert agent == same
    assert not (lost := differences(create, same)), lost

    begin = sessions.CreateSessionRequest(
        agent_id=agent.id, user_id="old", modality="text", dynamic_variables={"place": "the harbour"}
    )
    session = call("SessionService/CreateSession", begin, sessions.CreateSessionResponse())
    said = sessions.CreateTurnRequest(session_id=session.id, text="When was the lamp lit?")
    turn = call("SessionService/CreateTurn", said, sessions.CreateTurnResponse())
    assert turn.text and turn.turn_id.startswith("turn_")

    transcript = call(
        "SessionService/GetTranscript",
        sessions.GetTranscriptRequest(session_id=session.id),
        sessions.GetTranscriptResponse(),
    )
    assert [one.agent_text for one in transcript.turns] == ["Hello from the harbour.", turn.text]
    assert transcript.turns[1].user_text == said.text and transcript.turns[1].id == turn.turn_id
    read = call("SessionService/GetSession", sessions.GetSessionRequest(session_id=session.id), sessions.Session())
    assert not (lost := differences(begin, read)), lost
    assert (read.status, read.turn_count) == ("in_progress", 2)
    print("ok", sys.modules["parlance.v1"].__path__)


main()
