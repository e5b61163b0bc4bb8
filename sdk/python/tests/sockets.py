"""A server of sockets that does what a test says."""

from __future__ import annotations

import json
import ssl
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

import parlance
import websockets
from parlance.v1 import CreateSessionResponse

Handler = Callable[["Script", Any, int], Awaitable[None]]


class Script:
    """A server of sockets that does what a test says with each connection, counted from 0."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.queries: "list[dict[str, list[str]]]" = []
        self.tokens: "list[str]" = []
        self.received: "list[dict[str, Any]]" = []
        self.item: "dict[str, Any]" = {}
        self.url = ""

    async def serve(self, socket: Any) -> None:
        """One connection."""
        path = getattr(socket, "path", None) or socket.request.path  # in websockets before 14, and since
        headers = getattr(socket, "request_headers", None) or socket.request.headers
        self.queries.append(parse_qs(urlsplit(path).query))
        self.tokens.append(headers.get("Authorization", ""))
        await socket.send(json.dumps({"type": "session.created", "event_id": "e0", "session": {"id": "ses_1"}}))
        await self.handler(self, socket, len(self.queries) - 1)

    async def receive(self, socket: Any) -> "dict[str, Any]":
        """The next event of the client."""
        event: "dict[str, Any]" = json.loads(await socket.recv())
        self.received.append(event)
        return event


@asynccontextmanager
async def scripted(
    handler: Handler, certificate: ssl.SSLContext | None = None
) -> AsyncIterator["tuple[Script, parlance.Conversation]"]:
    """A conversation with a script."""
    script = Script(handler)
    serve: Any = getattr(websockets, "serve")
    async with serve(script.serve, "127.0.0.1", 0, subprotocols=["realtime"], ssl=certificate) as server:
        address = "ws://127.0.0.1" if certificate is None else "wss://localhost"
        script.url = f"{address}:{server.sockets[0].getsockname()[1]}/v1/realtime/chat/ses_1?token=t"
        session = CreateSessionResponse(id="ses_1", chat_url=script.url)
        async with parlance.AsyncClient(base_url="http://127.0.0.1:1", api_key="prl_x") as client:
            yield script, client.sessions.connect(session=session, settings={"tools": [{"name": "t"}]})


def said(answer: str, status: str, **others: Any) -> "dict[str, Any]":
    """A response with a text."""
    text = {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}
    return {"id": answer, "status": status, "conversation_id": "conv_1", "output": [text], **others}
