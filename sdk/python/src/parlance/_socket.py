"""One WebSocket of a session, and what its end means. docs/realtime.md, Connecting and Closing."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator
from urllib.parse import quote, urlsplit, urlunsplit

import httpx
import websockets
from websockets.exceptions import ConnectionClosed, InvalidHandshake, WebSocketException
from websockets.typing import Subprotocol

from ._config import pause
from ._errors import ParlanceError
from ._reasons import Reason

MAX_EVENT_BYTES = 4 << 20
"""More than the largest event of the service."""
HANDSHAKE_SECONDS = 15.0
FLOOD_SECONDS = 5.0

_connect: Any = getattr(websockets, "connect")  # loaded when it is asked for, which hides its type

_refusals = {
    401: Reason.SESSION_TOKEN_INVALID,
    403: Reason.SESSION_MODALITY,
    404: Reason.ROUTE_NOT_FOUND,
    405: Reason.METHOD_NOT_ALLOWED,
    409: Reason.SESSION_CLOSED,
}
"""What a status says when the problem cannot be read."""


class Ended(Exception):
    """The session has ended; the reason is empty when the other side gave none."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Lost(Exception):
    """The connection was lost or not made; another one may go on."""

    def __init__(self, message: str, code: int = 1006) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def wait_before(attempts: int, code: int) -> float:
    """The seconds to wait before an attempt."""
    return max(pause(attempts, 0.5, 8.0), FLOOD_SECONDS if code == 4429 else 0.0)


def check_close(code: int, reason: str) -> None:
    """Raises what the close of a socket means."""
    if code == 1000 or (code == 1011 and reason not in ("", "internal_error")):
        raise Ended(reason)
    if code == 1008:
        raise Ended(reason or "session-closed")
    if code == 4409:
        raise ParlanceError("replaced", "Another connection of this session has taken over.", code="aborted")
    raise Lost(f"The connection was lost ({code} {reason or 'without a reason'}).", code)


class Socket:
    """An open socket. Errors never name its URL, which holds the session's token."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    async def connect(cls, url: str, last_event_id: str) -> "Socket":
        """Opens a socket that goes on behind an event. Raises Lost, Ended or ParlanceError."""
        address = f"{url}&last_event_id={quote(last_event_id, safe='')}" if last_event_id else url
        try:
            return cls(
                await _connect(
                    address,
                    subprotocols=[Subprotocol("realtime")],
                    max_size=MAX_EVENT_BYTES,
                    open_timeout=HANDSHAKE_SECONDS,
                )
            )
        except InvalidHandshake as refused:
            status = _status(refused)
        except (OSError, WebSocketException, asyncio.TimeoutError) as error:
            raise Lost(f"The session's socket could not be opened: {type(error).__name__}.") from None
        if status not in _refusals:
            raise Lost(f"The session's socket was refused with the status {status}.")
        reason, message = await _problem(url, status)
        if reason == Reason.SESSION_CLOSED and last_event_id:
            raise Ended(Reason.SESSION_CLOSED.value)
        raise ParlanceError(reason, message, status=status)

    async def receive(self) -> AsyncIterator[str]:
        """The events as they come. Raises what the end of the socket means."""
        try:
            while True:
                yield str(await self._connection.recv())
        except ConnectionClosed as closed:
            received = closed.rcvd
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


def _status(refused: InvalidHandshake) -> int:
    """The status of a refused handshake; websockets has it in another place since version 14."""
    response = getattr(refused, "response", None)
    return int(getattr(refused, "status_code", 0) or getattr(response, "status_code", 0))


async def _problem(url: str, status: int) -> "tuple[str, str]":
    """Asks over HTTP why a handshake was refused, because not every version of websockets tells."""
    parts = urlsplit(url)
    address = urlunsplit(parts._replace(scheme="https" if parts.scheme == "wss" else "http"))
    reason, message = _refusals[status].value, f"The session's socket was refused with the status {status}."
    try:
        async with httpx.AsyncClient(timeout=HANDSHAKE_SECONDS) as http:
            problem = (await http.get(address)).json()
        if problem["code"] != Reason.INVALID_REQUEST.value:  # which only says that this was no handshake
            reason, message = str(problem["code"]), str(problem["detail"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        pass  # the status says enough
    return reason, message
