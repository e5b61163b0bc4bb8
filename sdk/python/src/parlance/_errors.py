"""Errors of calls."""

from __future__ import annotations

import base64
import json
import math
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Iterator, Mapping, Sequence, Tuple, Union

from ._reasons import RETRYABLE, Reason

CONNECTION_FAILED = "connection-failed"
"""The reason of an error when there was no answer: no connection, or a broken one."""
NOT_PARLANCE = "not-parlance"
"""The reason of an error when somebody else answered, such as a proxy or a web server."""


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field of a request."""

    field: str
    """The path of the field, such as "guards[0].name"."""
    code: str
    """The rule that it breaks, such as "min_len"."""
    message: str


class ParlanceError(Exception):
    """A call that failed.

    Attributes:
        reason: The code of the problem: a Reason, or a text for one that this version does not know,
            for "connection-failed" and "not-parlance". docs/errors.md says what to do about each.
        message: What is wrong, in a sentence.
        code: The code of the Connect protocol, such as "not_found".
        status: The HTTP status; None when there was no answer. Streams fail with 200.
        fields: The fields at fault.
        metadata: Further values of the problem.
        request_id: What to name when the problem is reported; "" when there was no answer.
        retry_after: Seconds after which another try makes sense; None when it is not said.
    """

    def __init__(
        self,
        reason: Union[Reason, str],
        message: str,
        *,
        code: str = "",
        status: int | None = None,
        fields: Sequence[FieldError] = (),
        metadata: Mapping[str, str] | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason, message)  # what copy and pickle make it of again
        self.reason = _known(reason)
        self.message = message
        self.code = code
        self.status = status
        self.fields = tuple(fields)
        self.metadata = dict(metadata or {})
        self.request_id = request_id
        self.retry_after = retry_after

    def is_reason(self, *reasons: Union[Reason, str]) -> bool:
        """Whether the reason is one of these."""
        return self.reason in reasons

    @property
    def may_be_repeated(self) -> bool:
        """Whether the same call may succeed later."""
        return self.reason == CONNECTION_FAILED or self.reason in RETRYABLE

    def __str__(self) -> str:
        notes = [str(getattr(self.reason, "value", self.reason))]
        if self.request_id:
            notes.append(f"request {self.request_id}")
        return f"{self.message} ({', '.join(notes)})"


def is_reason(error: BaseException | None, *reasons: Union[Reason, str]) -> bool:
    """Whether an error is a ParlanceError for one of these reasons."""
    return isinstance(error, ParlanceError) and error.is_reason(*reasons)


def _known(reason: str) -> Union[Reason, str]:
    try:
        return Reason(reason)
    except ValueError:
        return reason


_reasons_of_codes = {
    "canceled": Reason.CANCELED,
    "invalid_argument": Reason.INVALID_REQUEST,
    "out_of_range": Reason.INVALID_REQUEST,
    "deadline_exceeded": Reason.DEADLINE_EXCEEDED,
    "not_found": Reason.NOT_FOUND,
    "already_exists": Reason.CONFLICT,
    "aborted": Reason.CONFLICT,
    "failed_precondition": Reason.CONFLICT,
    "permission_denied": Reason.AUTH_SCOPE,
    "unauthenticated": Reason.AUTH_INVALID_KEY,
    "resource_exhausted": Reason.RATE_LIMITED,
    "unimplemented": Reason.NOT_IMPLEMENTED,
    "unavailable": Reason.UNAVAILABLE,
}
"""The nearest reason for an error of the protocol itself."""

_connect_codes = frozenset((*_reasons_of_codes, "unknown", "internal", "data_loss"))

_strangers = {
    400: ("internal", NOT_PARLANCE),
    401: ("unauthenticated", Reason.AUTH_INVALID_KEY),
    403: ("permission_denied", Reason.AUTH_SCOPE),
    404: ("unimplemented", Reason.NOT_FOUND),
    408: ("deadline_exceeded", Reason.DEADLINE_EXCEEDED),
    413: ("resource_exhausted", Reason.BODY_TOO_LARGE),
    415: ("invalid_argument", Reason.UNSUPPORTED_MEDIA_TYPE),
    429: ("unavailable", Reason.RATE_LIMITED),
    502: ("unavailable", Reason.UNAVAILABLE),
    503: ("unavailable", Reason.UNAVAILABLE),
    504: ("unavailable", Reason.UNAVAILABLE),
}
"""What a status means when the answer is not one of Parlance: the code, which is that of the Connect
protocol where it has one, and the reason."""


def from_stranger(status: int, headers: Mapping[str, str]) -> ParlanceError:
    """The error for an answer that the service did not give: of a proxy, or of another server."""
    code, reason = _strangers.get(status, ("unknown", NOT_PARLANCE))
    kind = media_type(headers)
    what = f"HTTP {status}, {kind}" if kind else f"HTTP {status}"
    return ParlanceError(
        reason,
        f"The answer ({what}) is not that of a Parlance service: look at the base URL and what is in between.",
        code=code,
        status=status,
        request_id=headers.get("x-request-id", ""),
        retry_after=_seconds(headers),
    )


def media_type(headers: Mapping[str, str]) -> str:
    """The type of an answer without its parameters, in lower case and short."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()[:80]


def from_connect(status: int, headers: Mapping[str, str], body: bytes) -> ParlanceError:
    """The error in an answer that is none of the Connect protocol's messages."""
    problem = _object(body) if media_type(headers) == "application/json" else None
    if status == 200 or problem is None or str(problem.get("code")) not in _connect_codes:
        return from_stranger(status, headers)
    return from_end(problem, headers, status)


def from_end(problem: Mapping[str, Any], headers: Mapping[str, str], status: int) -> ParlanceError:
    """The error of a Connect answer, or of the last message of a stream."""
    code = str(problem.get("code", "unknown"))
    reason: str = _reasons_of_codes.get(code, Reason.INTERNAL)
    metadata: dict[str, str] = {}
    fields: list[FieldError] = []
    for detail in _objects(problem.get("details")):
        kind = str(detail.get("type", ""))
        try:
            value = base64.b64decode(str(detail.get("value", "")) + "==")
            if kind == "google.rpc.ErrorInfo":
                reason, metadata = _error_info(value)
            elif kind == "google.rpc.BadRequest":
                fields = [_violation(one) for number, one in _parts(value) if number == 1]
        except (ValueError, IndexError):
            continue  # the code still says what kind of error it is
    return ParlanceError(
        reason,
        str(problem.get("message") or code),
        code=code,
        status=status,
        fields=fields,
        metadata=metadata,
        request_id=headers.get("x-request-id", ""),
        retry_after=_seconds(headers),
    )


def from_problem(status: int, headers: Mapping[str, str], body: bytes) -> ParlanceError:
    """The error in an answer of the REST interface."""
    problem = _object(body) if media_type(headers) == "application/problem+json" else None
    if problem is None or not isinstance(problem.get("code"), str):
        return from_stranger(status, headers)
    fields = [
        FieldError(str(one.get("field", "")), str(one.get("code", "")), str(one.get("message", "")))
        for one in _objects(problem.get("errors"))
    ]
    return ParlanceError(
        str(problem["code"]),
        str(problem.get("detail") or problem.get("title") or problem["code"]),
        status=status,
        fields=fields,
        request_id=str(problem.get("request_id") or headers.get("x-request-id", "")),
        retry_after=_seconds(headers),
    )


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list that came from outside."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Retry-After: seconds, also with a fraction, or the time of an HTTP date."""
    text = str(headers.get("retry-after", "")).strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _error_info(value: bytes) -> Tuple[str, dict[str, str]]:
    reason, metadata = "", {}
    for number, part in _parts(value):
        if number == 1:
            reason = part.decode()
        elif number == 3:
            entry = dict(_parts(part))
            metadata[entry.get(1, b"").decode()] = entry.get(2, b"").decode()
    return reason, metadata


def _violation(value: bytes) -> FieldError:
    parts = dict(_parts(value))
    return FieldError(*(parts.get(number, b"").decode() for number in (1, 3, 2)))


def _parts(value: bytes) -> Iterator[Tuple[int, bytes]]:
    """The fields of an encoded message, all of which are texts or messages. The details of errors
    are read like this because their messages are in no package that Debian installs with protobuf."""
    at = 0
    while at < len(value):
        key, at = _varint(value, at)
        if key & 7 != 2:
            raise ValueError("neither a text nor a message")
        size, at = _varint(value, at)
        yield key >> 3, value[at : at + size]
        at += size


def _varint(value: bytes, at: int) -> Tuple[int, int]:
    number = shift = 0
    while True:
        byte = value[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
