"""A Parlance of its own for the tests, and a connection to it that can be cut."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True)
class Service:
    """Where a Parlance is, and what there is in it."""

    base_url: str
    api_key: str
    workspace_id: str
    agent_id: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that a program finds it by."""
        return {
            "PARLANCE_BASE_URL": self.base_url,
            "PARLANCE_API_KEY": self.api_key,
            "PARLANCE_WORKSPACE_ID": self.workspace_id,
            "PARLANCE_AGENT_ID": self.agent_id,
        }


def read_environment(variables: dict[str, str]) -> Service:
    """The service that variables name."""
    names = ("PARLANCE_BASE_URL", "PARLANCE_API_KEY", "PARLANCE_WORKSPACE_ID", "PARLANCE_AGENT_ID")
    return Service(*(variables[name] for name in names))


def start() -> Iterator[Service]:
    """Gives the service that the environment names, or one that BINARY starts for as long."""
    if os.environ.get("PARLANCE_BASE_URL"):
        yield read_environment(dict(os.environ))
        return
    binary = os.environ.get("BINARY")
    if not binary:
        raise RuntimeError("set BINARY to a built parlance, or PARLANCE_BASE_URL and the others to a running one")
    with tempfile.TemporaryDirectory(prefix="parlance-python-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o711)  # Postgres runs as another user
        command = [binary, "dev", "--data-dir", f"{folder}/data", "--port", "0", "--yes", "--model", "none"]
        with open(f"{folder}/log", "w+b") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                yield _until_started(process, folder)
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)


def _until_started(process: subprocess.Popen[str], folder: str) -> Service:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Ctrl-C"):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            with open(f"{folder}/data/dev.env", encoding="utf-8") as variables:
                return read_environment(dict(re.findall(r"^(?:export )?(\w+)=(.*)$", variables.read(), re.MULTILINE)))
    with open(f"{folder}/log", encoding="utf-8") as log:
        raise RuntimeError(f"parlance dev did not start: {log.read()}")


class Proxy:
    """A TCP connection to a service. It breaks all connections once the service has sent some bytes
    over one of them; the next ones are not broken, unless cut_after is set again."""

    def __init__(self, base_url: str) -> None:
        host, _, port = base_url.split("://")[1].split("/")[0].partition(":")
        self._to = (host, int(port))
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.cut_after: int | None = None
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def through(self, url: str) -> str:
        """A URL of the service by way of the proxy."""
        return url.replace("{}:{}".format(*self._to), self.base_url[len("http://") :])

    def cut(self) -> None:
        """Breaks all connections."""
        with self._lock:
            for one in self._open:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is broken already

    def close(self) -> None:
        """Ends it."""
        try:
            self._server.shutdown(socket.SHUT_RDWR)  # or it would accept once more
        except OSError:
            pass  # it was ended before
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            upstream = socket.create_connection(self._to)
            self.connections += 1
            with self._lock:
                self._open |= {client, upstream}
            threading.Thread(target=self._pump, args=(client, upstream, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(upstream, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        sent = 0
        try:
            while data := source.recv(256 if counts else 65536):
                target.sendall(data)
                sent += len(data)
                if counts and self.cut_after is not None and sent >= self.cut_after:
                    self.cut_after = None
                    self.cut()
        except OSError:
            pass  # it was cut
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def unused_port() -> int:
    """A port on which nothing listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])
