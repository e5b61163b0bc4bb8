"""Verification of webhooks: of the documented scheme, and each way to fail."""

from __future__ import annotations

import base64
import copy
import hashlib
import hmac
import json
import pathlib
import pickle
import time
from typing import Any

import pytest
from parlance.webhooks import WebhookError, WebhookFailure, verify
from parlance.v1 import Event

SECRET = "whsec_" + base64.b64encode(b"a secret of some bytes").decode()
OTHER = "whsec_" + base64.b64encode(b"another one").decode()
NOW = 1_800_000_000
EXAMPLES = json.loads((pathlib.Path(__file__).parents[3] / "events/examples.json").read_text(encoding="utf-8"))


def signed(body: bytes, *secrets: str, at: int = NOW, event_id: str = "evt_1") -> dict[str, str]:
    """The headers of a delivery."""
    signatures = []
    for secret in secrets or (SECRET,):
        key = base64.b64decode(secret[len("whsec_") :])
        digest = hmac.new(key, f"{event_id}.{at}.".encode() + body, hashlib.sha256).digest()
        signatures.append("v1," + base64.b64encode(digest).decode())
    return {"Webhook-Id": event_id, "Webhook-Timestamp": str(at), "Webhook-Signature": " ".join(signatures)}


def body_of(kind: str = "kb.source_ingested", **data: Any) -> bytes:
    """The body of an event."""
    event = {"type": kind, "event_id": "evt_1", "workspace_id": "ws_1", "created_at": "2026-01-02T03:04:05Z", "data": data}
    return json.dumps(event).encode()


def failure(headers: dict[str, str], body: bytes, secret: Any = SECRET, **options: Any) -> WebhookFailure:
    """Why a delivery is refused."""
    with pytest.raises(WebhookError) as caught:
        verify(headers, body, secret, now=NOW, **options)
    assert "whsec" not in str(caught.value) or "form whsec_…" in str(caught.value)
    return caught.value.failure


def test_an_event_is_typed() -> None:
    body = body_of(source_id="src_1")
    event = verify(signed(body), body, SECRET, now=NOW)
    assert event.type == "kb.source_ingested" and event.event_id == "evt_1" and event.workspace_id == "ws_1"
    assert event.WhichOneof("payload") == "kb_source_ingested" and event.kb_source_ingested.source_id == "src_1"
    assert event.data["source_id"] == "src_1" and json.loads(event.data_json) == {"source_id": "src_1"}


def test_every_event_of_the_catalogue_is_typed() -> None:
    payloads = set()
    for kind, data in EXAMPLES.items():
        body = json.dumps({"type": kind, "event_id": "evt_1", "data": data}).encode()
        payloads.add(verify(signed(body), body, SECRET, now=NOW).WhichOneof("payload"))
    assert payloads == {field.name for field in Event.DESCRIPTOR.oneofs_by_name["payload"].fields}


def test_an_unknown_event_and_unknown_members_are_kept() -> None:
    body = body_of("moon.landed", crater="Tycho")
    event = verify(signed(body), body, SECRET, now=NOW)
    assert event.type == "moon.landed" and event.WhichOneof("payload") is None and event.data["crater"] == "Tycho"
    body = body_of(source_id="src_1", of_next_year=True)
    assert verify(signed(body), body, SECRET, now=NOW).data["of_next_year"] is True


def test_both_secrets_are_good_while_one_is_rotated() -> None:
    body = body_of()
    verify(signed(body, OTHER, SECRET), body, SECRET, now=NOW)
    verify(signed(body, OTHER), body, [SECRET, OTHER], now=NOW)
    assert failure(signed(body, OTHER), body) is WebhookFailure.SIGNATURE_INVALID


@pytest.mark.parametrize("age", [-300, 0, 300])
def test_the_tolerance_is_five_minutes_both_ways(age: int) -> None:
    body = body_of()
    verify(signed(body, at=NOW - age), body, SECRET, now=NOW)
    assert failure(signed(body, at=NOW - 301), body) is WebhookFailure.TOO_OLD
    assert failure(signed(body, at=NOW + 301), body) is WebhookFailure.TOO_NEW
    assert failure(signed(body, at=NOW - 11), body, tolerance=10) is WebhookFailure.TOO_OLD


def test_the_clock_is_the_machine_s() -> None:
    body = body_of()
    verify(signed(body, at=int(time.time())), body, SECRET)
    with pytest.raises(WebhookError):
        verify(signed(body, at=int(time.time()) - 400), body, SECRET)


def test_what_was_changed_is_refused() -> None:
    body = body_of()
    assert failure(signed(body), body + b" ") is WebhookFailure.SIGNATURE_INVALID
    assert failure({**signed(body), "Webhook-Id": "evt_2"}, body) is WebhookFailure.SIGNATURE_INVALID
    assert failure({**signed(body), "Webhook-Timestamp": str(NOW - 1)}, body) is WebhookFailure.SIGNATURE_INVALID
    unversioned = signed(body)["Webhook-Signature"].replace("v1,", "v2,")
    assert failure({**signed(body), "Webhook-Signature": unversioned}, body) is WebhookFailure.SIGNATURE_INVALID


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_missing_header_is_named(name: str) -> None:
    body = body_of()
    headers = signed(body)
    del headers[name]
    assert failure(headers, body) is WebhookFailure.HEADER_MISSING


@pytest.mark.parametrize("stamp", ["soon", "-1", "1.5", "١٢٣", "9" * 400])
def test_a_time_that_is_none(stamp: str) -> None:
    body = body_of()
    assert failure({**signed(body), "Webhook-Timestamp": stamp}, body) is WebhookFailure.TIMESTAMP_INVALID


@pytest.mark.parametrize(
    "secret",
    ["", None, "whsec_", [], ["", None, " "], [SECRET, "whsec_***"], "geheim-ä", SECRET.removeprefix("whsec_")],
)
def test_a_secret_that_is_none(secret: Any) -> None:
    body = body_of()
    assert failure(signed(body), body, secret) is WebhookFailure.SECRET_INVALID


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"event_id": "evt_2"}', b'{"event_id": "evt_1", "data": 7}'])
def test_a_signed_body_that_is_no_event(body: bytes) -> None:
    assert failure(signed(body), body) is WebhookFailure.BODY_INVALID


def test_a_parsed_body_is_not_taken() -> None:
    body: Any = body_of().decode()
    with pytest.raises(TypeError):
        verify(signed(body_of()), body, SECRET, now=NOW)


def test_headers_of_every_kind_are_read() -> None:
    body = body_of()
    headers = signed(body)
    asgi = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    others: "list[Any]" = [dict(asgi), list(headers.items()), {**headers, "Accept": None}]
    for one in [asgi, *others]:
        assert verify(one, body, [SECRET, "", None], now=NOW).event_id == "evt_1"


@pytest.mark.parametrize("value", ["\ud800", "evt_ü", b"\xff", ""])
def test_no_header_makes_another_error(value: Any) -> None:
    body = body_of()
    for name in ("Webhook-Id", "Webhook-Signature"):
        assert failure({**signed(body), name: value}, body) in (
            WebhookFailure.SIGNATURE_INVALID, WebhookFailure.HEADER_MISSING,
        )


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"event_id": "evt_1", "data": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
        b'{"event_id":"evt_1","type":"\\ud800"}',
    ],
)
def test_no_body_makes_another_error(body: bytes) -> None:
    assert failure(signed(body), body) is WebhookFailure.BODY_INVALID


def test_arguments_of_the_wrong_kind() -> None:
    body = body_of()
    headers = signed(body)
    lists: Any = {name: [value] for name, value in headers.items()}
    wrong: "list[Any]" = [lists, None, 7, "headers", {"wsgi.version": (1, 0)}, {**headers, 7: "x"}]
    for one in wrong:
        with pytest.raises(TypeError):
            verify(one, body, SECRET, now=NOW)
    secrets: "list[Any]" = [SECRET.encode(), [SECRET.encode()], 7]
    for secret in secrets:
        with pytest.raises(TypeError):
            verify(headers, body, secret, now=NOW)
    for tolerance in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="tolerance"):
            verify(headers, body, SECRET, now=NOW, tolerance=tolerance)


def test_a_refusal_can_be_copied_and_pickled() -> None:
    error = WebhookError(WebhookFailure.TOO_OLD, "The delivery is 301 s old.")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (again.failure, str(again)) == (WebhookFailure.TOO_OLD, "The delivery is 301 s old.")
