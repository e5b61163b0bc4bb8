"""Requests of plain values."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from parlance._messages import build
from parlance.v1 import CreateAgentRequest, CreateSessionRequest, CreateToolRequest, ListSessionsRequest, UpdateAgentRequest


def test_values_become_messages() -> None:
    fields = {"name": "Ada", "model": {"temperature": 0.5}, "guards": [{"name": "g"}], "instructions": None}
    request = build(CreateAgentRequest, fields)
    assert request.name == "Ada" and request.model.temperature == 0.5 and request.guards[0].name == "g"
    assert request.instructions == ""


def test_structs_maps_masks_and_times() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = build(CreateToolRequest, {"slug": "t", "input_schema": schema, "headers": {"A": "b"}})
    assert tool.input_schema["properties"]["n"]["type"] == "integer" and tool.headers["A"] == "b"
    session = build(CreateSessionRequest, {"overrides": {"language": "de"}, "dynamic_variables": {"x": "y"}})
    assert session.overrides["language"] == "de" and session.dynamic_variables["x"] == "y"
    update = build(UpdateAgentRequest, {"update_mask": ["name", "guards"]})
    assert list(update.update_mask.paths) == ["name", "guards"]
    at = datetime(2026, 1, 2, 3, 4, 5, 600, timezone(timedelta(hours=2)))
    assert build(ListSessionsRequest, {"created_after": at}).created_after.ToJsonString() == "2026-01-02T01:04:05.000600Z"


@pytest.mark.parametrize("fields", [{"nome": "Ada"}, {"name": 7}, {"model": "gpt"}, {"model": {"temprature": 1}}])
def test_what_does_not_fit_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        build(CreateAgentRequest, fields)
