#!/usr/bin/env python3
"""A webhook endpoint as a customer would write it: HTTPS, the signature checked over the raw body before
anything in it is believed, each event kept once, and an answer of 2xx only when it is on disk. It uses nothing
but the standard library."""

import argparse
import base64
import hashlib
import hmac
import json
import os
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 1 << 20
MAX_AGE_SECONDS = 300  # an old delivery is a replay


class Refused(Exception):
    """The delivery is not in order."""


def verify(headers, body, secrets, now):
    """Raises Refused unless the delivery is from who knows one of the secrets, and not an old one."""
    stamp = headers.get("webhook-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit()) or abs(now - int(stamp)) > MAX_AGE_SECONDS:
        raise Refused("webhook-timestamp is missing or too far from now")
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        if not key:
            continue  # anybody knows that one
        want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        for one in headers.get("webhook-signature", "").split():  # two while a secret is rotated
            if hmac.compare_digest(one.encode(), want.encode()):  # in constant time
                return
    raise Refused("webhook-signature does not match")


class Store:
    """Keeps events in a file, each once; what it has accepted survives a crash."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        with open(path, "rb") as kept:
            text = kept.read()
        self.end = text.rfind(b"\n") + 1  # a line without an end was never answered for
        os.ftruncate(self.file, self.end)
        self.seen = {json.loads(line)["event_id"] for line in text[:self.end].splitlines()}
        directory = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)  # the file's name must survive, too
        os.fsync(directory)
        os.close(directory)

    def keep(self, event_id, body):
        """Returns when the event is on disk."""
        event = json.loads(body)
        if not event_id or event.get("event_id") != event_id:
            raise ValueError("the body is not the event that webhook-id names")
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            if event_id in self.seen:
                return  # kept before: say thank you and do nothing
            # What a full disk left of another event goes, or this one would be the end of a broken
            # line.
            os.ftruncate(self.file, self.end)
            written = 0
            while written < len(line):
                written += os.write(self.file, line[written:])
            os.fsync(self.file)
            self.end += len(line)
            self.seen.add(event_id)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are used again
    timeout = 75
    secret_file = store = None

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        try:
            with open(self.secret_file, encoding="ascii") as secrets:
                verify(self.headers, body, secrets.read().split(), time.time())
            # webhook-id is signed, and it is the event's: the same for every attempt.
            self.store.keep(self.headers["webhook-id"], body)
        except Refused as refused:
            self.log_error("refused: %s", refused)
            return self.answer(400, str(refused))
        except (OSError, ValueError) as failed:
            self.log_error("not kept: %s", failed)
            return self.answer(500, "try again")  # so that it comes again
        return self.answer(204)

    def answer(self, status, text=""):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_request(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cert", required=True, help="certificate (PEM)")
    parser.add_argument("--key", required=True, help="its private key (PEM)")
    parser.add_argument("--listen", default="127.0.0.1:0", help="address to listen on; port 0: any. The URL is printed")
    parser.add_argument("--secret-file", required=True,
                        help="the endpoint's secret, whsec_…; two lines while it is rotated; read for every delivery")
    parser.add_argument("--out", required=True, help="file to append the events to, one line of JSON each")
    options = parser.parse_args()
    Handler.secret_file, Handler.store = options.secret_file, Store(options.out)
    host, _, port = options.listen.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
    # The handshake is the thread's of the connection, or one slow caller would stop all.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(f"https://{host}:{server.server_address[1]}/hook", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
