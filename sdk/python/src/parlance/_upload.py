"""Uploads of files. They go over REST, which takes an Idempotency-Key for them."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Callable, Iterator, Mapping, Tuple
from urllib.parse import quote

import httpx
from google.protobuf import json_format

from . import _oldhttp
from ._calls import CallOptions, Calls
from ._config import Tries, merged, new_key, no_answer
from ._errors import ParlanceError, from_problem, from_stranger, media_type
from ._form import File, Form, Names, Progress
from ._protocol import timeouts
from ._services.knowledge import AsyncKnowledgeService, KnowledgeService
from .v1.knowledge_pb2 import Source


class Knowledge(KnowledgeService):
    """The knowledge base, with uploads."""

    def upload(
        self,
        file: File,
        *,
        workspace_id: str,
        filename: str = "",
        media_type: str = "",
        name: str = "",
        force_ocr: bool = False,
        ocr_languages: Names = (),
        tags: Names = (),
        on_progress: Progress | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Source:
        """Uploads a file and returns its source, which is read in the background: watch_source
        says when it is ready.

        Args:
            file: A path, the bytes, or a file that was opened for reading bytes. One that cannot be
                rewound is tried once.
            workspace_id: ws_…
            filename: Its ending says what the file is; by default that of file.
            media_type: By default what the ending says.
            name: What the source is called; by default the filename.
            force_ocr: Reads every page of a PDF from its picture.
            ocr_languages: As tesseract names them, such as "deu".
            tags: At most 20.
            on_progress: Called with the bytes sent so far, and with all there are or None.
            timeout: Seconds for sending each piece and for the answer.
            idempotency_key: By default a new one, which is kept over all tries.

        Raises ParlanceError, such as kb-unsupported-media-type, quota-exceeded-kb-upload-size,
        quota-exceeded-kb-storage or body-too-large, and OSError for a file that cannot be read.
        """
        form = Form(file, filename, media_type, name, force_ocr, ocr_languages, tags, on_progress)
        return _send(self._calls, "POST", _upload_path(workspace_id), form, CallOptions(timeout, idempotency_key))

    def replace_content(
        self,
        file: File,
        *,
        workspace_id: str,
        source_id: str,
        filename: str = "",
        media_type: str = "",
        name: str = "",
        force_ocr: bool = False,
        ocr_languages: Names = (),
        tags: Names = (),
        on_progress: Progress | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Source:
        """Gives a source other content, as upload does. Its id and its agents stay, and so do its
        name and tags unless others are given. The old content answers until the new one is ready."""
        form = Form(file, filename, media_type, name, force_ocr, ocr_languages, tags, on_progress)
        path = _content_path(workspace_id, source_id)
        return _send(self._calls, "PUT", path, form, CallOptions(timeout, idempotency_key))


class AsyncKnowledge(AsyncKnowledgeService):
    """The knowledge base, with uploads. An upload runs in a thread of its own, because asyncio loses an
    answer that comes before everything was sent; on_progress is called in the event loop."""

    async def upload(
        self,
        file: File,
        *,
        workspace_id: str,
        filename: str = "",
        media_type: str = "",
        name: str = "",
        force_ocr: bool = False,
        ocr_languages: Names = (),
        tags: Names = (),
        on_progress: Progress | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Source:
        """As Knowledge.upload."""
        form = Form(file, filename, media_type, name, force_ocr, ocr_languages, tags, on_progress)
        return await self._send("POST", _upload_path(workspace_id), form, CallOptions(timeout, idempotency_key))

    async def replace_content(
        self,
        file: File,
        *,
        workspace_id: str,
        source_id: str,
        filename: str = "",
        media_type: str = "",
        name: str = "",
        force_ocr: bool = False,
        ocr_languages: Names = (),
        tags: Names = (),
        on_progress: Progress | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Source:
        """As Knowledge.replace_content."""
        form = Form(file, filename, media_type, name, force_ocr, ocr_languages, tags, on_progress)
        return await self._send("PUT", _content_path(workspace_id, source_id), form, CallOptions(timeout, idempotency_key))

    async def _send(self, method: str, path: str, form: Form, options: CallOptions) -> Source:
        loop, stop, connection = asyncio.get_running_loop(), threading.Event(), _Connection()
        report, faults = form.on_progress, list[Exception]()

        def deliver(sent: int, size: int | None) -> None:
            try:
                if report is not None and not faults:
                    report(sent, size)
            except Exception as error:
                faults.append(error)
                stop.set()

        def progress(sent: int, size: int | None) -> None:
            if stop.is_set():
                raise InterruptedError("the upload was cancelled")
            loop.call_soon_threadsafe(deliver, sent, size)

        def sleep(seconds: float) -> None:
            if stop.wait(seconds):
                raise InterruptedError("the upload was cancelled")

        def send() -> Source:
            calls = Calls(self._calls.config, self._calls.upload_http, self._calls.ssl_context, sleep)
            try:
                return _send(calls, method, path, form, options, connection.trace)
            finally:
                calls.close()

        form.on_progress = progress
        thread = ThreadPoolExecutor(1)
        try:
            source = await loop.run_in_executor(thread, send)
        except asyncio.CancelledError:
            stop.set()
            connection.cut()  # so that the thread ends
            raise
        except InterruptedError:
            if not faults:
                raise
        finally:
            thread.shutdown(wait=False)
        if faults:
            raise faults[0]
        return source


class _Connection:
    """The connection of an upload, for another thread to cut."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    def trace(self, event: str, about: Mapping[str, Any]) -> None:
        """Is told by httpcore what it does."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = about["return_value"].get_extra_info("socket")
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        """Ends what is read and written, which closing would not."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):  # it is over already
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _upload_path(workspace_id: str) -> str:
    return f"/v1/workspaces/{quote(workspace_id, safe='')}/knowledge-base/sources/upload"


def _content_path(workspace_id: str, source_id: str) -> str:
    return f"/v1/workspaces/{quote(workspace_id, safe='')}/knowledge-base/sources/{quote(source_id, safe='')}/content"


def _send(
    calls: Calls,
    method: str,
    path: str,
    form: Form,
    options: CallOptions,
    trace: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> Source:
    """Sends an upload until it is accepted or refused. trace is told what httpcore does."""
    config = calls.config
    headers = merged({**config.headers, "Idempotency-Key": options.idempotency_key or new_key()}, form.headers)
    timeout = timeouts(config.timeout if options.timeout is None else options.timeout)
    extensions = {} if trace is None else {"trace": trace}
    tries, what = Tries(config), f"No answer from {config.base_url} to the upload of {form.filename}"
    while True:
        try:
            with _client(calls) as (http, cut):
                url, content = config.base_url + path, form.body(cut)
                sending = http.stream(
                    method, url, content=content, headers=headers, timeout=timeout, extensions=extensions
                )
                with sending as response:
                    data = _read(response)
            return _source(response, data)
        except (httpx.RequestError, ParlanceError) as failed:
            if failed is form.fault:
                raise
            error = failed if isinstance(failed, ParlanceError) else no_answer(failed, what)
        if not form.may_rewind:
            raise error
        calls.sleep(tries.wait_after(error))


def _read(response: httpx.Response) -> bytes:
    """The answer. Of a refusal that cannot be read the status says enough."""
    try:
        return response.read()
    except httpx.RequestError:
        if response.is_success:
            raise
        return b""


def _source(response: httpx.Response, data: bytes) -> Source:
    status, headers = response.status_code, response.headers
    if not 200 <= status < 300 or media_type(headers) != "application/json":
        raise from_problem(status, headers, data)
    try:
        source = json_format.Parse(data, Source(), ignore_unknown_fields=True)
    except (json_format.ParseError, ValueError, RecursionError, AttributeError):
        raise from_stranger(status, headers) from None
    if not source.id:
        raise from_stranger(status, headers)
    return source


@contextmanager
def _client(calls: Calls) -> Iterator[Tuple[httpx.Client, _oldhttp.Cut]]:
    """The client for one try, which reads an answer that comes early."""
    cut = _oldhttp.Cut()
    if calls.owns_http and _oldhttp.is_needed():
        with _oldhttp.new_client(calls.ssl_context, cut) as http:
            yield http, cut
    else:
        yield calls.http, cut
