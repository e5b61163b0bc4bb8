"""Uploads: what arrives, progress, refusals that come early, and failures."""

from __future__ import annotations

import asyncio
import io
import pathlib
import threading
from typing import Any, Callable, Tuple

import httpx
import live
import parlance
import pytest
from parlance import Reason
from scripted import Reply, Scripted

Serve = Callable[..., Scripted]
Calling = Callable[..., Any]
TEXT = b"# Lamps\n\nThe lamp of the harbour was first lit in 1893.\n"
CREATED = Reply(202, b'{"id": "src_1", "status": "queued", "of_next_year": 1}', {"Content-Type": "application/json"})
HTML = {"Content-Type": "text/html; charset=utf-8"}
Progress = Tuple[int, "int | None"]


def test_a_file_arrives_whole(client: parlance.Client, service: live.Service, tmp_path: pathlib.Path) -> None:
    content = TEXT * 5000
    path = tmp_path / "lam\"ps ü.md"
    path.write_bytes(content)
    progress: "list[Progress]" = []
    source = client.knowledge.upload(
        path,
        workspace_id=service.workspace_id,
        name="Lamps",
        tags=["a", "lang:de"],
        on_progress=lambda sent, size: progress.append((sent, size)),
    )
    assert source.name == "Lamps" and sorted(source.tags) == ["a", "lang:de"] and source.size_bytes == len(content)
    assert progress[-1] == (len(content), len(content)) and len(progress) > 2
    assert [sent for sent, _ in progress] == sorted({sent for sent, _ in progress})
    parts = client.knowledge.download_source(workspace_id=service.workspace_id, source_id=source.id)
    assert b"".join(part.data for part in parts) == content
    for seen in client.knowledge.watch_source(workspace_id=service.workspace_id, source_id=source.id):
        status = seen.source.status
    assert status == "ready"


def test_bytes_files_and_streams(client: parlance.Client, service: live.Service) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    behind = io.BytesIO(b"skipped" + TEXT)
    behind.seek(7)
    progress: "list[Progress]" = []
    files: "list[bytes | io.BytesIO]" = [TEXT, io.BytesIO(TEXT), behind, Pipe(TEXT)]
    for file in files:
        source = client.knowledge.upload(
            file,
            workspace_id=service.workspace_id,
            filename="lamps.md",
            on_progress=lambda sent, size: progress.append((sent, size)),
        )
        assert source.size_bytes == len(TEXT)
    assert progress == 3 * [(len(TEXT), len(TEXT))] + [(len(TEXT), None)]


def test_content_is_replaced(client: parlance.Client, service: live.Service) -> None:
    workspace = service.workspace_id
    source = client.knowledge.upload(TEXT, workspace_id=workspace, filename="old.md", name="Kept")
    list(client.knowledge.watch_source(workspace_id=workspace, source_id=source.id))
    replaced = client.knowledge.replace_content(
        TEXT * 2, workspace_id=workspace, source_id=source.id, filename="new.md"
    )
    assert (replaced.id, replaced.name, replaced.size_bytes) == (source.id, "Kept", 2 * len(TEXT))


@pytest.mark.parametrize("size_mb", [0, 90])
def test_a_type_that_is_not_accepted(client: parlance.Client, service: live.Service, size_mb: int) -> None:
    """90 MiB is more than the service reads of a refused upload, so that the connection breaks."""
    content = b"MZ" + bytes(size_mb << 20)
    file = io.BytesIO(content)
    progress: "list[int]" = []
    with pytest.raises(parlance.ParlanceError) as caught:
        client.knowledge.upload(
            file,
            workspace_id=service.workspace_id,
            filename="setup.exe",
            on_progress=lambda sent, _: progress.append(sent),
        )
    assert caught.value.reason is Reason.KB_UNSUPPORTED_MEDIA_TYPE and caught.value.status == 415
    assert caught.value.request_id
    if size_mb:
        assert progress[-1] < len(content) and file.tell() < len(content)  # it did not go on to the end


def test_a_type_that_is_not_accepted_with_asyncio(service: live.Service) -> None:
    async def run() -> None:
        async with parlance.AsyncClient(base_url=service.base_url, api_key=service.api_key) as client:
            await client.knowledge.upload(
                b"MZ" + bytes(90 << 20), workspace_id=service.workspace_id, filename="setup.exe"
            )

    with pytest.raises(parlance.ParlanceError) as caught:
        asyncio.run(run())
    assert caught.value.reason is Reason.KB_UNSUPPORTED_MEDIA_TYPE


def test_a_key_that_is_not_good(service: live.Service) -> None:
    with parlance.Client(base_url=service.base_url, api_key="prl_wrong") as client:
        with pytest.raises(parlance.ParlanceError) as caught:
            client.knowledge.upload(bytes(8 << 20), workspace_id=service.workspace_id, filename="a.md")
    assert caught.value.reason is Reason.AUTH_INVALID_KEY


@pytest.mark.parametrize(
    ("status", "code"),
    [(413, "body-too-large"), (402, "quota-exceeded-kb-storage"), (402, "quota-exceeded-kb-upload-size")],
)
def test_refusals_are_read(serve: Serve, calling: Calling, status: int, code: str) -> None:
    body = b'{"code": "%s", "detail": "Too much.", "request_id": "req_1"}' % code.encode()
    server = serve(Reply(status, body, {"Content-Type": "application/problem+json"}))
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md")
    assert caught.value.reason == code and caught.value.status == status and caught.value.message == "Too much."
    assert caught.value.request_id == "req_1" and len(server.seen) == 1


def test_a_lost_upload_is_sent_again_with_its_key(serve: Serve, calling: Calling) -> None:
    busy = Reply(503, b'{"code": "unavailable"}', {"Retry-After": "1", "Content-Type": "application/problem+json"})
    server = serve(Reply(None), busy, CREATED)
    client, _ = calling(server)
    progress: "list[int]" = []
    source = client.knowledge.upload(
        io.BytesIO(TEXT), workspace_id="ws_1", filename="a.md", on_progress=lambda sent, _: progress.append(sent)
    )
    assert source.id == "src_1" and progress == 3 * [len(TEXT)]
    assert len({seen.headers["idempotency-key"] for seen in server.seen}) == 1
    assert len({seen.body for seen in server.seen}) == 1 and TEXT in server.seen[0].body


def test_what_cannot_be_rewound_is_sent_once(serve: Serve, calling: Calling) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    server = serve(Reply(503, b'{"code": "unavailable"}'))
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError):
        client.knowledge.upload(Pipe(TEXT), workspace_id="ws_1", filename="a.md")
    assert len(server.seen) == 1


def test_names_cannot_leave_their_place(serve: Serve, calling: Calling) -> None:
    server = serve(CREATED)
    client, _ = calling(server)
    client.knowledge.upload(TEXT, workspace_id="ws/../x", filename='a"\r\nX-Evil: 1.md')
    assert server.seen[0].path == "/v1/workspaces/ws%2F..%2Fx/knowledge-base/sources/upload"
    assert b'filename="a%22%0D%0AX-Evil: 1.md"' in server.seen[0].body


def test_files_that_are_none(serve: Serve, calling: Calling, tmp_path: pathlib.Path) -> None:
    server = serve(CREATED)
    client, _ = calling(server)
    with pytest.raises(FileNotFoundError):
        client.knowledge.upload(tmp_path / "none.md", workspace_id="ws_1")
    with pytest.raises(ValueError, match="filename"):
        client.knowledge.upload(TEXT, workspace_id="ws_1")
    assert server.seen == []


def test_an_upload_can_be_cancelled(serve: Serve) -> None:
    """The upload stops before it has sent everything."""
    server = serve(Reply(None))
    content = bytes(256 << 20)

    async def run() -> None:
        begun = asyncio.Event()
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x") as client:
            upload = asyncio.create_task(
                client.knowledge.upload(
                    content, workspace_id="ws_1", filename="a.txt", on_progress=lambda *_: begun.set()
                )
            )
            await begun.wait()
            upload.cancel()
            with pytest.raises(asyncio.CancelledError):
                await upload

    asyncio.run(run())
    server.wait(1)
    assert 0 < len(server.seen[0].body) < len(content)


def test_a_cancelled_upload_leaves_no_thread_behind(serve: Serve) -> None:
    """It waited for its answer, and its thread with it: asyncio.run ended minutes later."""
    server = serve(Reply(202, is_stalled=True))

    async def run() -> None:
        async with parlance.AsyncClient(base_url=server.base_url, api_key="prl_x", timeout=600) as client:
            upload = asyncio.create_task(client.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md"))
            await asyncio.to_thread(server.wait, 1)
            upload.cancel()
            with pytest.raises(asyncio.CancelledError):
                await upload

    before = set(threading.enumerate())
    asyncio.run(run())
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("ThreadPool"):
            thread.join(60)
            assert not thread.is_alive()


def test_what_is_no_file_is_refused_at_once(serve: Serve, calling: Calling, tmp_path: pathlib.Path) -> None:
    server = serve(CREATED)
    client, _ = calling(server)
    (tmp_path / "a.md").write_bytes(TEXT)
    with open(tmp_path / "a.md", encoding="utf-8") as text:
        wrong: "list[Any]" = [text, io.StringIO("x"), (part for part in [TEXT]), [TEXT], None, 7]
        for file in wrong:
            with pytest.raises(TypeError):
                client.knowledge.upload(file, workspace_id="ws_1", filename="a.md")
    options: "list[Any]" = [{"tags": ["a,b"]}, {"tags": "faq"}]
    for one in options:
        with pytest.raises((TypeError, ValueError)):
            client.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md", **one)
    assert server.seen == []
    for content in (bytearray(TEXT), memoryview(TEXT)):
        assert client.knowledge.upload(content, workspace_id="ws_1", filename="a.md").id == "src_1"
        assert TEXT in server.seen[-1].body


class Odd(io.BytesIO):
    """A file that goes on as a test says."""

    def __init__(self, content: bytes, piece: Any) -> None:
        super().__init__(content)
        self._piece = piece

    def read(self, size: "int | None" = -1) -> bytes:
        """Bytes, or what is none."""
        if isinstance(self._piece, Exception):
            raise self._piece
        return self._piece  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("piece", "error", "says"),
    [(TEXT * 2, ValueError, "grown"), ("text", TypeError, "rb"), (OSError(5, "I/O error"), OSError, "I/O")],
)
def test_a_file_that_goes_wrong_is_not_tried_again(piece: Any, error: Any, says: str, serve: Serve, calling: Calling) -> None:
    client, pauses = calling(serve(CREATED))
    with pytest.raises(error, match=says):
        client.knowledge.upload(Odd(TEXT, piece), workspace_id="ws_1", filename="a.md")
    assert pauses == []


@pytest.mark.parametrize("error", [RuntimeError("mine"), httpx.ConnectError("mine"), parlance.ParlanceError("unavailable", "mine")])
def test_what_on_progress_raises_comes_out(error: Exception, serve: Serve, calling: Calling) -> None:
    def fail(*_: Any) -> None:
        raise error

    client, pauses = calling(serve(CREATED))
    with pytest.raises(type(error)) as caught:
        client.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md", on_progress=fail)
    assert caught.value is error and pauses == []

    async def run() -> None:
        async with parlance.AsyncClient(base_url=client._calls.config.base_url, api_key="prl_x") as other:
            await other.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md", on_progress=fail)

    with pytest.raises(type(error)) as caught:
        asyncio.run(run())
    assert caught.value is error


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(413, b"<html>", HTML), Reason.BODY_TOO_LARGE),
        (Reply(402, b"<html>", HTML), parlance.NOT_PARLANCE),
        (Reply(302, b"", {"Location": "/"}), parlance.NOT_PARLANCE),
        (Reply(200, b'{"id": "src_1"}', HTML), parlance.NOT_PARLANCE),
        (Reply(200, b"[]", {"Content-Type": "application/json"}), parlance.NOT_PARLANCE),
        (Reply(204), parlance.NOT_PARLANCE),
    ],
)
def test_answers_of_others_are_not_tried_again(serve: Serve, calling: Calling, reply: Reply, reason: str) -> None:
    server = serve(reply)
    client, _ = calling(server)
    with pytest.raises(parlance.ParlanceError) as caught:
        client.knowledge.upload(TEXT, workspace_id="ws_1", filename="a.md")
    assert (caught.value.reason, caught.value.status) == (reason, reply.status) and len(server.seen) == 1
