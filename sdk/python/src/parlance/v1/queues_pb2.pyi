from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Backlog(_message.Message):
    __slots__ = ["kinds"]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    kinds: _containers.RepeatedCompositeFieldContainer[BacklogKind]
    def __init__(self, kinds: _Optional[_Iterable[_Union[BacklogKind, _Mapping]]] = ...) -> None: ...

class BacklogKind(_message.Message):
    __slots__ = ["failed", "kind", "oldest_at", "retrying", "running", "waiting"]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OLDEST_AT_FIELD_NUMBER: _ClassVar[int]
    RETRYING_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    failed: int
    kind: str
    oldest_at: _timestamp_pb2.Timestamp
    retrying: int
    running: int
    waiting: int
    def __init__(self, kind: _Optional[str] = ..., waiting: _Optional[int] = ..., running: _Optional[int] = ..., retrying: _Optional[int] = ..., failed: _Optional[int] = ..., oldest_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetBacklogRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListQueuesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListQueuesResponse(_message.Message):
    __slots__ = ["queues", "workers"]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    queues: _containers.RepeatedCompositeFieldContainer[Queue]
    workers: _containers.RepeatedCompositeFieldContainer[Worker]
    def __init__(self, queues: _Optional[_Iterable[_Union[Queue, _Mapping]]] = ..., workers: _Optional[_Iterable[_Union[Worker, _Mapping]]] = ...) -> None: ...

class Queue(_message.Message):
    __slots__ = ["active", "archived", "failed_today", "latency_ms", "name", "paused", "pending", "processed_today", "retrying", "scheduled"]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    FAILED_TODAY_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    PROCESSED_TODAY_FIELD_NUMBER: _ClassVar[int]
    RETRYING_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FIELD_NUMBER: _ClassVar[int]
    active: int
    archived: int
    failed_today: int
    latency_ms: int
    name: str
    paused: bool
    pending: int
    processed_today: int
    retrying: int
    scheduled: int
    def __init__(self, name: _Optional[str] = ..., pending: _Optional[int] = ..., active: _Optional[int] = ..., scheduled: _Optional[int] = ..., retrying: _Optional[int] = ..., archived: _Optional[int] = ..., processed_today: _Optional[int] = ..., failed_today: _Optional[int] = ..., latency_ms: _Optional[int] = ..., paused: bool = ...) -> None: ...

class Worker(_message.Message):
    __slots__ = ["active", "concurrency", "host", "pid", "queues", "started_at"]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    active: int
    concurrency: int
    host: str
    pid: int
    queues: _containers.RepeatedScalarFieldContainer[str]
    started_at: _timestamp_pb2.Timestamp
    def __init__(self, host: _Optional[str] = ..., pid: _Optional[int] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., concurrency: _Optional[int] = ..., active: _Optional[int] = ..., queues: _Optional[_Iterable[str]] = ...) -> None: ...
