"""The programs of examples/python, with a real service."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import Any, Iterator

import live
import parlance
import pytest
from parlance.v1 import Event

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples/python"
SOURCES = pathlib.Path(__file__).parents[1] / "src"
LINE_SECONDS = 180
"""A line that does not come within as long ends the program, and so the test."""


def environment(service: live.Service) -> dict[str, str]:
    """What a program is started with."""
    return {**os.environ, **service.environment, "PYTHONPATH": str(SOURCES)}


class Program:
    """A program that runs beside the test."""

    def __init__(self, service: live.Service, *command: "str | pathlib.Path") -> None:
        self._process = subprocess.Popen(
            command, env=environment(service), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._timer = threading.Timer(LINE_SECONDS, self._process.kill)

    def line(self, with_text: str) -> str:
        """The next line of its output with a text."""
        assert self._process.stdout is not None
        self._timer.cancel()
        self._timer = threading.Timer(LINE_SECONDS, self._process.kill)
        self._timer.start()
        others = []
        for line in self._process.stdout:
            if with_text in line:
                return line.strip()
            others.append(line)
        raise AssertionError(f"no line with {with_text!r} in {others}")

    def stop(self) -> None:
        """Ends it."""
        self._timer.cancel()
        self._process.terminate()
        self._process.communicate()


@pytest.fixture
def receiver(service: live.Service, tmp_path: pathlib.Path) -> Iterator[Program]:
    """The receiver, with the file `secret` for its secret and `events` for what it keeps."""
    (tmp_path / "secret").touch()
    started = Program(
        service, sys.executable, EXAMPLES / "receiver.py", "--port", "0",
        "--secret-file", tmp_path / "secret", "--out", tmp_path / "events",
    )
    yield started
    started.stop()


def test_the_receiver(client: parlance.Client, service: live.Service, receiver: Program, tmp_path: pathlib.Path) -> None:
    binary = os.environ.get("BINARY")
    assert binary, "set BINARY to a built parlance, whose `listen` delivers the events"
    url = receiver.line("http://")
    listen = Program(service, binary, "listen", "--forward-to", url, "--events", "kb.source_ingested", "--json")
    try:
        (tmp_path / "secret").write_text(json.loads(listen.line("secret"))["secret"], encoding="ascii")
        source = client.knowledge.upload(b"# Hooks\n\nA text.", workspace_id=service.workspace_id, filename="hooks.md")
        assert receiver.line("hooks.md is ready").startswith("evt_")
        listen.line("204")
    finally:
        listen.stop()
    kept = (tmp_path / "events").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 1 and json.loads(kept[0].split("\t")[2])["source_id"] == source.id

    request = urllib.request.Request(url, data=b"{}", headers={"webhook-id": "evt_1"}, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 400
    assert receiver.line("refused") == "refused: header-missing"


def test_the_receiver_after_a_torn_line(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a crash or a full disk left of an event goes, so that the event is kept when it comes again."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    receiver: Any = importlib.import_module("receiver")
    path = tmp_path / "events"
    path.write_text("evt_0\tx\t{}\nevt_1\tx\t{", encoding="utf-8")
    store = receiver.Store(path)
    assert store.keep(Event(event_id="evt_1", type="x", data_json="{}"))
    with open(path, "a", encoding="utf-8") as other:
        other.write("evt_2\tx")
    assert store.keep(Event(event_id="evt_2", type="x", data_json='{"a": "ä"}'))
    assert not receiver.Store(path).keep(Event(event_id="evt_2"))
    assert path.read_text(encoding="utf-8") == 'evt_0\tx\t{}\nevt_1\tx\t{}\nevt_2\tx\t{"a": "ä"}\n'


def test_the_chat(service: live.Service) -> None:
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "chat.py"],
        input="How are webhooks signed?\n\nWhat is Parlance?\n",
        env=environment(service),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "HMAC-SHA256" in ran.stdout and "from Webhooks" in ran.stdout.replace("  ", "")
    assert ran.stdout.splitlines()[-1].endswith("is completed, 3 turns.")
