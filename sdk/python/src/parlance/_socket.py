"""One WebSocket of a session, and what its end means. docs/realtime.md, Connecting and Closing."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any, AsyncIterator, Mapping, Tuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import websockets
from websockets.exceptions import ConnectionClosed, InvalidHandshake, WebSocketException
from websockets.typing import Subprotocol

from ._config import pause
from ._errors import CONNECTION_FAILED, ParlanceError, from_problem, from_stranger, media_type
from ._reasons import Reason

MAX_EVENT_BYTES = 4 << 20
"""More than the largest event of the service."""
HANDSHAKE_SECONDS = 15.0
"""For the handshake, and again for the first event."""
PING_SECONDS = 20.0
"""Between pings, and for their answers: a connection without a sign of life is lost after twice that."""
CLOSE_SECONDS = 3.0
FLOOD_SECONDS = 5.0
TOO_LARGE = 1009
REPLACED = "replaced"
"""The reason of an error when another connection of the session has taken over."""

_log = logging.getLogger("parlance.socket")
_log.setLevel(logging.INFO)  # at DEBUG websockets writes the token and what is said


class _Redirected(InvalidHandshake):
    status_code = 302


def _refuse_redirect(connecting: Any, to: str) -> None:
    raise _Redirected("a redirect")


# A redirect is not followed: the token would go to wherever it leads. The two methods are those of
# websockets before version 14, and since.
_connect: Any = type(
    "connect",
    (getattr(websockets, "connect"),),
    {"handle_redirect": _refuse_redirect, "process_redirect": lambda connecting, refused: refused},
)
_headers_argument = "extra_headers" if int(str(getattr(websockets, "__version__")).split(".")[0]) < 14 else "additional_headers"

_refusals = {
    401: Reason.SESSION_TOKEN_INVALID,
    403: Reason.SESSION_MODALITY,
    404: Reason.ROUTE_NOT_FOUND,
    405: Reason.METHOD_NOT_ALLOWED,
    409: Reason.SESSION_CLOSED,
    429: Reason.RATE_LIMITED,
    500: Reason.UNAVAILABLE,
    502: Reason.UNAVAILABLE,
    503: Reason.UNAVAILABLE,
    504: Reason.UNAVAILABLE,
}
"""What a status says when the problem cannot be read."""


class Ended(Exception):
    """The session has ended; the reason is empty when the other side gave none."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Lost(Exception):
    """The connection was lost or not made; another one may go on."""

    def __init__(self, message: str, code: int = 1006, error: ParlanceError | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.error = error or ParlanceError(CONNECTION_FAILED, message, code="unavailable")


def wait_before(attempts: int, lost: Lost) -> float:
    """The seconds to wait before an attempt."""
    return max(pause(attempts, 0.5, 8.0), FLOOD_SECONDS if lost.code == 4429 else 0.0, lost.error.retry_after or 0.0)


def check_close(code: int, reason: str) -> None:
    """Raises what the close of a socket means."""
    if code == 1000 or (code == 1011 and reason not in ("", "internal_error")):
        raise Ended(reason)
    if code == 1008:
        raise Ended(reason or "session-closed")
    if code == TOO_LARGE:  # on a new connection it would be too large again
        raise ParlanceError(Reason.BODY_TOO_LARGE, "An event was larger than the connection takes.", code="resource_exhausted")
    if code == 4409:
        raise ParlanceError(REPLACED, "Another connection of this session has taken over.", code="aborted")
    raise Lost(f"The connection was lost ({code} {reason or 'without a reason'}).", code)


class Socket:
    """An open socket. Its URL never has the session's token, so that nobody writes that down."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    async def connect(
        cls, url: str, last_event_id: str, ssl_context: ssl.SSLContext | None, http: httpx.AsyncClient, within: float
    ) -> "Socket":
        """Opens a socket that goes on behind an event. Raises Lost, Ended or ParlanceError."""
        address, headers = target(url, last_event_id)
        options: dict[str, Any] = {_headers_argument: headers}
        if ssl_context is not None and address.startswith("wss:"):
            options["ssl"] = ssl_context
        try:
            return cls(
                await _connect(
                    address,
                    subprotocols=[Subprotocol("realtime")],
                    max_size=MAX_EVENT_BYTES,
                    open_timeout=min(within, HANDSHAKE_SECONDS),
                    close_timeout=CLOSE_SECONDS,
                    ping_interval=PING_SECONDS,
                    ping_timeout=PING_SECONDS,
                    logger=_log,
                    **options,
                )
            )
        except InvalidHandshake as refused:
            answer = getattr(refused, "response", refused)  # since websockets 14, and before
        except (OSError, WebSocketException, asyncio.TimeoutError) as failed:
            raise Lost(f"The session's socket could not be opened: {type(failed).__name__}.") from None
        error = await _refusal(answer, address, headers, http, min(within, HANDSHAKE_SECONDS))
        if error.is_reason(Reason.SESSION_CLOSED) and last_event_id:
            raise Ended(Reason.SESSION_CLOSED.value)
        if error.may_be_repeated:
            raise Lost(error.message, error=error)
        raise error

    async def receive(self, first_within: float) -> AsyncIterator[str]:
        """The events as they come. Raises what the end of the socket means."""
        try:
            try:
                yield str(await asyncio.wait_for(self._connection.recv(), min(first_within, HANDSHAKE_SECONDS)))
            except asyncio.TimeoutError:
                raise Lost("The session's socket was opened, and nothing came.") from None
            while True:
                yield str(await self._connection.recv())
        except ConnectionClosed as closed:
            received, sent = closed.rcvd, closed.sent
        if sent is not None and sent.code == TOO_LARGE:
            received = sent
        check_close(1006 if received is None else received.code, "" if received is None else received.reason)

    async def send(self, text: str) -> bool:
        """Sends an event. False: the connection is lost."""
        try:
            await self._connection.send(text)
        except ConnectionClosed:
            return False
        return True

    async def close(self, code: int, reason: str) -> None:
        """Closes the socket, and waits for the other side to do so."""
        await self._connection.close(code, reason)

    def abort(self) -> None:
        """Gives the connection up, if it is there."""
        self._connection.transport.abort()


def target(url: str, last_event_id: str) -> Tuple[str, "dict[str, str]"]:
    """The URL without the session's token, and the headers with it. Raises ValueError for a URL that
    is not one of a session."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError("the session has no URL for such a socket: see its chat_url and ws_url")
    values = parse_qsl(parts.query, keep_blank_values=True)
    token = dict(values).get("token", "")
    query = [(name, value) for name, value in values if name != "token"]
    if last_event_id:
        query.append(("last_event_id", last_event_id))
    address = urlunsplit(parts._replace(query=urlencode(query)))
    return address, {"Authorization": f"Bearer {token}"} if token else {}


async def _refusal(
    answer: Any, address: str, headers: Mapping[str, str], http: httpx.AsyncClient, within: float
) -> ParlanceError:
    """Asks over HTTP why a handshake was refused, because not every version of websockets tells."""
    status, seen = int(getattr(answer, "status_code", 0)), getattr(answer, "headers", None) or {}
    if not status:
        return ParlanceError(CONNECTION_FAILED, "The session's socket was refused.", code="unavailable")
    refused = from_stranger(status, {name.lower(): value for name, value in seen.items()})
    problem: ParlanceError | None = None
    try:
        asked = await http.get(f"http{address[len('ws'):]}", headers=dict(headers), timeout=within)
        if media_type(asked.headers) != "application/problem+json":
            return refused
        problem = from_problem(asked.status_code, asked.headers, asked.content)
    except httpx.RequestError:
        pass  # the status says enough
    if problem is not None and not problem.is_reason(Reason.INVALID_REQUEST):  # which says that this was no handshake
        return problem
    if status not in _refusals:
        return refused
    message = f"The session's socket was refused with the status {status}."
    return ParlanceError(_refusals[status], message, status=status, retry_after=refused.retry_after)
