"""A small HTTP server that answers as a test says, and remembers what it was sent."""

from __future__ import annotations

import json
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Sequence

from google.protobuf.message import Message


@dataclass
class Reply:
    """An answer. Without a status the connection is broken instead."""

    status: int | None = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False
    """The connection is broken behind the body, which announces one byte more than it has."""
    is_stalled: bool = False
    """The connection stays behind such a body, and nothing comes."""
    pause_seconds: float = 0.0
    """Before each byte of the body."""
    is_endless: bool = False
    """Nothing but the end of the connection says where the body ends."""


@dataclass(frozen=True)
class Seen:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


def message(answer: Message) -> Reply:
    """An answer of one message."""
    return Reply(200, answer.SerializeToString(), {"Content-Type": "application/proto"})


def refusal(status: int, code: str, text: str, headers: dict[str, str] | None = None, details: Sequence[Any] = ()) -> Reply:
    """A refusal of the Connect protocol."""
    body = json.dumps({"code": code, "message": text, "details": list(details)}).encode()
    return Reply(status, body, {"Content-Type": "application/json", **(headers or {})})


def info(reason: str) -> dict[str, str]:
    """The detail that has the reason of a refusal: a google.rpc.ErrorInfo."""
    import base64

    encoded = bytes([0x0A, len(reason)]) + reason.encode() + b"\x12\x0cparlance.dev"
    return {"type": "google.rpc.ErrorInfo", "value": base64.b64encode(encoded).decode().rstrip("=")}


def stream(
    messages: Sequence[Message], error: dict[str, Any] | None = None, is_cut: bool = False, is_stalled: bool = False
) -> Reply:
    """A stream, which ends in order, with an error, in the middle, or not at all."""
    parts = []
    for one in messages:
        encoded = one.SerializeToString()
        parts.append(struct.pack(">BI", 0, len(encoded)) + encoded)
    if not is_cut and not is_stalled:
        end = json.dumps({"error": error} if error else {}).encode()
        parts.append(struct.pack(">BI", 2, len(end)) + end)
    return Reply(200, b"".join(parts), {"Content-Type": "application/connect+proto"}, is_cut, is_stalled)


class Scripted:
    """The server. It gives its replies one after the other, and the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[Seen] = []
        self._changed = threading.Condition()
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # header and body go together

            def do_POST(self) -> None:
                outer._answer(self)

            do_GET = do_PUT = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def wait(self, count: int) -> None:
        """Waits until so many requests have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.seen) >= count, 30)

    def close(self) -> None:
        """Stops it."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = self._read(handler)
        with self._changed:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.seen.append(Seen(handler.path, headers, body))
            self._changed.notify_all()
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.status is None:
            handler.close_connection = True
            handler.connection.close()
            return
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        if not reply.is_endless:
            handler.send_header("Content-Length", str(len(reply.body) + (reply.is_cut or reply.is_stalled)))
        handler.end_headers()
        if reply.pause_seconds:
            handler.wfile.flush()
            for byte in reply.body:
                if self._closing.wait(reply.pause_seconds):
                    break
                handler.connection.sendall(bytes([byte]))
        else:
            handler.wfile.write(reply.body)
        if reply.is_stalled:
            handler.wfile.flush()
            self._closing.wait()
        handler.close_connection = reply.is_cut or reply.is_stalled or reply.is_endless

    @staticmethod
    def _read(handler: BaseHTTPRequestHandler) -> bytes:
        if handler.headers.get("Transfer-Encoding") != "chunked":
            return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        body = b""
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
        return body
