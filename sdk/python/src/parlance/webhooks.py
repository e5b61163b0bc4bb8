"""Webhooks: whether a delivery is from Parlance, and what it says. docs/webhooks.md has the rules."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from enum import Enum
from typing import Any, Iterable, Mapping, Protocol, Sequence, Tuple, Union

from google.protobuf import json_format

from .v1.webhooks_pb2 import Event

__all__ = ["TOLERANCE_SECONDS", "WebhookError", "WebhookFailure", "verify"]

TOLERANCE_SECONDS = 300.0
"""How far the time of a delivery may be from this machine's, both ways."""


_other_names = {"usage.threshold": "usage_threshold_crossed"}
"""The members of the oneof that are not called as their event is."""


class WebhookFailure(str, Enum):
    """Why a delivery is refused."""

    SECRET_INVALID = "secret-invalid"
    """No secret was given, or one is not of the form whsec_…: the receiver is set up wrongly."""
    HEADER_MISSING = "header-missing"
    """webhook-id, webhook-timestamp or webhook-signature is missing."""
    TIMESTAMP_INVALID = "timestamp-invalid"
    """webhook-timestamp is not a number."""
    TOO_OLD = "too-old"
    """The delivery is older than the tolerance. It may be sent again by somebody else."""
    TOO_NEW = "too-new"
    """The delivery is from the future: one of the clocks is wrong."""
    SIGNATURE_INVALID = "signature-invalid"
    """No signature was made with one of the secrets, of this body."""
    BODY_INVALID = "body-invalid"
    """The signature is right, but the body is not the event that webhook-id names."""


class WebhookError(ValueError):
    """A delivery that is not in order; failure says why. Answer it with 400, after which it does not
    come again; and with 500 when it is SECRET_INVALID, so that it comes again when the secret is right."""

    def __init__(self, failure: WebhookFailure, message: str) -> None:
        super().__init__(failure, message)  # what copy and pickle make it of again
        self.failure = failure
        self.message = message

    def __str__(self) -> str:
        return self.message


class HeaderItems(Protocol):
    """The headers of a request as most frameworks have them: a mapping, or what is like one."""

    def items(self) -> Iterable[Tuple[Any, Any]]:
        """The names and values."""


Headers = Union[HeaderItems, Iterable[Tuple[Any, Any]]]
"""A mapping of names to values, or the pairs of both as ASGI has them; str or bytes."""


def verify(
    headers: Headers,
    body: bytes,
    secret: Union[str, Sequence[Union[str, None]], None],
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> Event:
    """Returns the event of a delivery after checking its signature.

    Args:
        headers: The headers of the request, whatever the case of their names: a mapping, or a list of
            pairs as ASGI has them.
        body: The body as it came, before anything has parsed it.
        secret: The endpoint's secret, whsec_…; several while it is rotated, of which empty ones are
            left out.
        tolerance: How many seconds the delivery's time may be from now, both ways.
        now: The time in seconds since 1970; without it the machine's.

    The event has its data twice: as the Struct data, and as the message that the oneof payload
    names, such as post_call_transcription. The oneof is empty for an event that this version does
    not know. Keep the event_id: the same event can come again.

    Raises WebhookError, whatever was sent; and TypeError or ValueError for arguments of another kind.
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the bytes of the request as they came")
    if not tolerance >= 0:
        raise ValueError("tolerance must be 0 or more seconds")
    keys = _keys(secret)
    given = _headers(headers)
    event_id, stamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not event_id or not stamp or not signatures:
        raise WebhookError(
            WebhookFailure.HEADER_MISSING, "webhook-id, webhook-timestamp and webhook-signature are required."
        )
    signed = _bytes(f"{event_id}.{stamp}.") + bytes(body)
    _check_time(stamp, time.time() if now is None else now, tolerance)
    wanted = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    # Each is compared with each, so that the time does not tell which one was right.
    matches = [hmac.compare_digest(_bytes(one), want) for one in signatures.split() for want in wanted]
    if not any(matches):
        raise WebhookError(WebhookFailure.SIGNATURE_INVALID, "webhook-signature was not made with the secret.")
    return _event(bytes(body), event_id)


def _headers(headers: Headers) -> dict[str, str]:
    """The headers of a delivery by their names in lower case."""
    pairs: Any = headers.items() if hasattr(headers, "items") else headers
    given = {}
    try:
        for name, value in pairs:
            lower = _text(name).lower()
            if lower == "wsgi.version":
                raise TypeError("headers must be those of the request, not the environ of WSGI")
            if lower.startswith("webhook-") and value is not None:
                given[lower] = _text(value)
    except ValueError:  # not pairs
        raise TypeError("headers must be a mapping or pairs of names and values") from None
    return given


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if not isinstance(value, str):
        raise TypeError(f"names and values of headers must be str or bytes, not {type(value).__name__}")
    return value


def _bytes(text: str) -> bytes:
    """What was signed, if it can have been: a header that is no text of UTF-8 fits no signature."""
    return text.encode(errors="replace")


def _keys(secret: Union[str, Sequence[Union[str, None]], None]) -> list[bytes]:
    secrets = [secret] if isinstance(secret, (str, bytes)) or secret is None else list(secret)
    keys = []
    for one in secrets:
        if one is not None and not isinstance(one, str):
            raise TypeError(f"a secret must be a str, not {type(one).__name__}")
        if not one or not one.strip():
            continue
        try:
            prefix, _, rest = one.strip().partition("whsec_")
            key = b"" if prefix else base64.b64decode(rest, validate=True)
        except ValueError:
            key = b""
        if not key:
            raise WebhookError(WebhookFailure.SECRET_INVALID, "A secret is not of the form whsec_… .")
        keys.append(key)
    if not keys:
        raise WebhookError(WebhookFailure.SECRET_INVALID, "No secret was given.")
    return keys


def _check_time(stamp: str, now: float, tolerance: float) -> None:
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise WebhookError(WebhookFailure.TIMESTAMP_INVALID, "webhook-timestamp is not a number of seconds.")
    age = now - int(stamp)
    if age > tolerance:
        raise WebhookError(WebhookFailure.TOO_OLD, f"The delivery is {age:.0f} s old.")
    if age < -tolerance:
        raise WebhookError(WebhookFailure.TOO_NEW, f"The delivery is {-age:.0f} s from the future.")


def _event(body: bytes, event_id: str) -> Event:
    try:
        values: Any = json.loads(body)
        if not isinstance(values, dict) or values.get("event_id") != event_id:
            raise ValueError("another event")
        event = json_format.ParseDict(values, Event(), ignore_unknown_fields=True)
        if isinstance(values.get("data"), dict):
            event.data_json = json.dumps(values["data"], ensure_ascii=False)
            _set_payload(event, values["data"])
    except Exception as error:  # json and protobuf raise many kinds, RecursionError too
        message = "The body is not the event that webhook-id names."
        raise WebhookError(WebhookFailure.BODY_INVALID, message) from error
    return event


def _set_payload(event: Event, data: Mapping[str, Any]) -> None:
    """Reads the data as the message of its event, if this version knows it."""
    name = _other_names.get(event.type) or event.type.replace(".", "_")
    known = [field.name for field in Event.DESCRIPTOR.oneofs_by_name["payload"].fields]
    if name in known:
        payload = getattr(event, name)
        payload.SetInParent()
        json_format.ParseDict(dict(data), payload, ignore_unknown_fields=True)
