#!/usr/bin/env python3
"""A receiver of webhooks, with the Python SDK and http.server. It verifies each delivery, keeps each
event once in a file, and answers when the event is on the disk.

Put a proxy with TLS in front of it: endpoints have https URLs. On your own machine:

    parlance listen --forward-to http://127.0.0.1:8091/hook
"""

from __future__ import annotations

import argparse
import os
import pathlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from parlance.v1 import Event
from parlance.webhooks import WebhookError, WebhookFailure, verify

MAX_BODY_BYTES = 1 << 20


class Store:
    """The events that came, one line each: id, type and data."""

    def __init__(self, path: pathlib.Path) -> None:
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._file = open(path, "a+b", buffering=0)
        self._file.seek(0)
        kept = self._file.read()
        self._end = kept.rfind(b"\n") + 1  # a line without an end was never answered for
        for line in kept[: self._end].splitlines():
            self._seen.add(line.split(b"\t")[0].decode())

    def keep(self, event: Event) -> bool:
        """Returns when the event is on the disk. False: it was there, because an event can come twice."""
        with self._lock:
            if event.event_id in self._seen:
                return False
            # What a full disk left of another event goes, or this one would end a broken line.
            self._file.truncate(self._end)
            line = f"{event.event_id}\t{event.type}\t{event.data_json}\n".encode()
            written = 0
            while written < len(line):
                written += self._file.write(line[written:])
            os.fsync(self._file.fileno())
            self._end += len(line)
            self._seen.add(event.event_id)
            return True


def describe(event: Event) -> str:
    """An event in a line; the work that follows from it belongs here."""
    if event.WhichOneof("payload") == "kb_source_ingested":
        return f"{event.kb_source_ingested.name} is ready"
    if event.WhichOneof("payload") == "post_call_transcription":
        call = event.post_call_transcription
        return f"{call.session_id} is over after {len(call.transcript)} utterances"
    return event.type


class Handler(BaseHTTPRequestHandler):
    """Answers the deliveries."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    store: Store
    secret_file: pathlib.Path

    def do_POST(self) -> None:
        """Takes a delivery."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self._answer(413)
        body = self.rfile.read(int(length))
        try:
            # Read for each delivery, so that a rotated secret is a second line in the file.
            event = verify(self.headers, body, self.secret_file.read_text(encoding="ascii").split())
        except WebhookError as error:
            print(f"refused: {error.failure.value}", flush=True)
            return self._answer(500 if error.failure is WebhookFailure.SECRET_INVALID else 400)
        if self.store.keep(event):
            print(f"{event.event_id} {describe(event)}", flush=True)
        self._answer(204)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Deliveries are printed by do_POST."""


def main() -> None:
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(description="Receives webhooks of Parlance.")
    parser.add_argument("--port", type=int, default=8091, help="0: any")
    parser.add_argument("--secret-file", type=pathlib.Path, required=True, help="whsec_…; two lines while it is rotated")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="file to append the events to")
    options = parser.parse_args()
    Handler.store, Handler.secret_file = Store(options.out), options.secret_file
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}/hook", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
