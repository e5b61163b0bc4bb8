from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreatePrivacyRequestRequest(_message.Message):
    __slots__ = ["dry_run", "kind", "user_id", "workspace_id"]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    dry_run: bool
    kind: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., dry_run: bool = ...) -> None: ...

class ErasureCertificate(_message.Message):
    __slots__ = ["erased", "erased_at", "not_covered", "remaining", "request_id"]
    ERASED_AT_FIELD_NUMBER: _ClassVar[int]
    ERASED_FIELD_NUMBER: _ClassVar[int]
    NOT_COVERED_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    erased: PrivacyCounts
    erased_at: _timestamp_pb2.Timestamp
    not_covered: _containers.RepeatedScalarFieldContainer[str]
    remaining: PrivacyCounts
    request_id: str
    def __init__(self, request_id: _Optional[str] = ..., erased_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., erased: _Optional[_Union[PrivacyCounts, _Mapping]] = ..., remaining: _Optional[_Union[PrivacyCounts, _Mapping]] = ..., not_covered: _Optional[_Iterable[str]] = ...) -> None: ...

class GetPrivacyRequestRequest(_message.Message):
    __slots__ = ["request_id", "workspace_id"]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ListPrivacyRequestsRequest(_message.Message):
    __slots__ = ["kind", "page_size", "page_token", "status", "user_id", "workspace_id"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    page_size: int
    page_token: str
    status: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., kind: _Optional[str] = ..., status: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListPrivacyRequestsResponse(_message.Message):
    __slots__ = ["next_page_token", "requests"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    requests: _containers.RepeatedCompositeFieldContainer[PrivacyRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[PrivacyRequest, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PrivacyCounts(_message.Message):
    __slots__ = ["answers", "callbacks", "events", "exports", "memories", "recordings", "sessions", "tool_calls", "turns", "undelivered"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    EXPORTS_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    RECORDINGS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    UNDELIVERED_FIELD_NUMBER: _ClassVar[int]
    answers: int
    callbacks: int
    events: int
    exports: int
    memories: int
    recordings: int
    sessions: int
    tool_calls: int
    turns: int
    undelivered: int
    def __init__(self, sessions: _Optional[int] = ..., turns: _Optional[int] = ..., tool_calls: _Optional[int] = ..., memories: _Optional[int] = ..., events: _Optional[int] = ..., undelivered: _Optional[int] = ..., answers: _Optional[int] = ..., exports: _Optional[int] = ..., callbacks: _Optional[int] = ..., recordings: _Optional[int] = ...) -> None: ...

class PrivacyRequest(_message.Message):
    __slots__ = ["certificate", "counts", "created_at", "download_url", "dry_run", "error", "expires_at", "finished_at", "id", "kind", "requested_by", "sha256", "size_bytes", "started_at", "status", "user_hash", "user_id", "workspace_id"]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DOWNLOAD_URL_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USER_HASH_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    certificate: ErasureCertificate
    counts: PrivacyCounts
    created_at: _timestamp_pb2.Timestamp
    download_url: str
    dry_run: bool
    error: str
    expires_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    id: str
    kind: str
    requested_by: str
    sha256: str
    size_bytes: float
    started_at: _timestamp_pb2.Timestamp
    status: str
    user_hash: str
    user_id: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., status: _Optional[str] = ..., dry_run: bool = ..., counts: _Optional[_Union[PrivacyCounts, _Mapping]] = ..., download_url: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., size_bytes: _Optional[float] = ..., sha256: _Optional[str] = ..., certificate: _Optional[_Union[ErasureCertificate, _Mapping]] = ..., error: _Optional[str] = ..., requested_by: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., user_hash: _Optional[str] = ...) -> None: ...
