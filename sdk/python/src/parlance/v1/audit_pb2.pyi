from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditEntry(_message.Message):
    __slots__ = ["action", "actor_id", "actor_kind", "actor_name", "after", "at", "before", "begun_at", "hash", "id", "number", "outcome", "parent_id", "previous_hash", "remote_address", "request_id", "resource_id", "resource_type", "user_agent", "user_hash", "workspace_id"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_KIND_FIELD_NUMBER: _ClassVar[int]
    ACTOR_NAME_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    BEGUN_AT_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    REMOTE_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    USER_AGENT_FIELD_NUMBER: _ClassVar[int]
    USER_HASH_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    action: str
    actor_id: str
    actor_kind: str
    actor_name: str
    after: _struct_pb2.Struct
    at: _timestamp_pb2.Timestamp
    before: _struct_pb2.Struct
    begun_at: _timestamp_pb2.Timestamp
    hash: str
    id: str
    number: int
    outcome: str
    parent_id: str
    previous_hash: str
    remote_address: str
    request_id: str
    resource_id: str
    resource_type: str
    user_agent: str
    user_hash: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., number: _Optional[int] = ..., at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., begun_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., workspace_id: _Optional[str] = ..., actor_kind: _Optional[str] = ..., actor_id: _Optional[str] = ..., actor_name: _Optional[str] = ..., action: _Optional[str] = ..., resource_type: _Optional[str] = ..., resource_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., user_hash: _Optional[str] = ..., remote_address: _Optional[str] = ..., user_agent: _Optional[str] = ..., request_id: _Optional[str] = ..., outcome: _Optional[str] = ..., before: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., after: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., previous_hash: _Optional[str] = ..., hash: _Optional[str] = ...) -> None: ...

class ExportAuditLogRequest(_message.Message):
    __slots__ = ["after_number"]
    AFTER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    after_number: int
    def __init__(self, after_number: _Optional[int] = ...) -> None: ...

class ExportAuditLogResponse(_message.Message):
    __slots__ = ["line"]
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: bytes
    def __init__(self, line: _Optional[bytes] = ...) -> None: ...

class ListAuditEntriesRequest(_message.Message):
    __slots__ = ["action", "actor", "page_size", "page_token", "resource_id", "since", "until", "user_id", "workspace_id"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    action: str
    actor: str
    page_size: int
    page_token: str
    resource_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., actor: _Optional[str] = ..., action: _Optional[str] = ..., resource_id: _Optional[str] = ..., user_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditEntriesResponse(_message.Message):
    __slots__ = ["entries", "next_page_token"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[AuditEntry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[AuditEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListWorkspaceAuditEntriesRequest(_message.Message):
    __slots__ = ["action", "actor", "page_size", "page_token", "resource_id", "since", "until", "user_id", "workspace_id"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    action: str
    actor: str
    page_size: int
    page_token: str
    resource_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., actor: _Optional[str] = ..., action: _Optional[str] = ..., resource_id: _Optional[str] = ..., user_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkspaceAuditEntriesResponse(_message.Message):
    __slots__ = ["entries", "next_page_token"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[AuditEntry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[AuditEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
