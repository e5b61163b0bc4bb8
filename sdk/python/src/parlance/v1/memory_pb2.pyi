from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AddMemoryRequest(_message.Message):
    __slots__ = ["attribute", "category", "confidence", "expires_at", "kind", "tags", "text", "user_id", "workspace_id"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    category: str
    confidence: float
    expires_at: _timestamp_pb2.Timestamp
    kind: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    text: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., category: _Optional[str] = ..., attribute: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ApproveMemoryRequest(_message.Message):
    __slots__ = ["memory_id", "user_id", "workspace_id"]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class DeleteMemoriesRequest(_message.Message):
    __slots__ = ["user_id", "workspace_id"]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class DeleteMemoriesResponse(_message.Message):
    __slots__ = ["deleted"]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    def __init__(self, deleted: _Optional[int] = ...) -> None: ...

class DeleteMemoryRequest(_message.Message):
    __slots__ = ["memory_id", "user_id", "workspace_id"]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class FoundMemory(_message.Message):
    __slots__ = ["memory", "score", "similarity"]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    memory: Memory
    score: float
    similarity: float
    def __init__(self, memory: _Optional[_Union[Memory, _Mapping]] = ..., similarity: _Optional[float] = ..., score: _Optional[float] = ...) -> None: ...

class GetMemoryRequest(_message.Message):
    __slots__ = ["memory_id", "user_id", "workspace_id"]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class GetUserRequest(_message.Message):
    __slots__ = ["user_id", "workspace_id"]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListMemoriesRequest(_message.Message):
    __slots__ = ["category", "kind", "page_size", "page_token", "q", "status", "user_id", "workspace_id"]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    category: str
    kind: str
    page_size: int
    page_token: str
    q: str
    status: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., category: _Optional[str] = ..., status: _Optional[str] = ..., q: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMemoriesResponse(_message.Message):
    __slots__ = ["memories", "next_page_token"]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    next_page_token: str
    def __init__(self, memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListUsersRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "prefix", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    prefix: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., prefix: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListUsersResponse(_message.Message):
    __slots__ = ["next_page_token", "users"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    USERS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    users: _containers.RepeatedCompositeFieldContainer[User]
    def __init__(self, users: _Optional[_Iterable[_Union[User, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ["agent_id", "attribute", "category", "confidence", "created_at", "created_by", "embedding_model", "expires_at", "id", "kind", "session_id", "status", "superseded_by", "tags", "text", "turn_id", "updated_at", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    attribute: str
    category: str
    confidence: float
    created_at: _timestamp_pb2.Timestamp
    created_by: str
    embedding_model: str
    expires_at: _timestamp_pb2.Timestamp
    id: str
    kind: str
    session_id: str
    status: str
    superseded_by: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    text: str
    turn_id: str
    updated_at: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., status: _Optional[str] = ..., text: _Optional[str] = ..., category: _Optional[str] = ..., attribute: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., created_by: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., superseded_by: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., embedding_model: _Optional[str] = ...) -> None: ...

class SearchMemoriesRequest(_message.Message):
    __slots__ = ["query", "top_k", "user_id", "workspace_id"]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    top_k: int
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., query: _Optional[str] = ..., top_k: _Optional[int] = ...) -> None: ...

class SearchMemoriesResponse(_message.Message):
    __slots__ = ["results"]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[FoundMemory]
    def __init__(self, results: _Optional[_Iterable[_Union[FoundMemory, _Mapping]]] = ...) -> None: ...

class UpdateMemoryRequest(_message.Message):
    __slots__ = ["attribute", "category", "confidence", "expires_at", "memory_id", "tags", "text", "update_mask", "user_id", "workspace_id"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    category: str
    confidence: float
    expires_at: _timestamp_pb2.Timestamp
    memory_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    text: str
    update_mask: _field_mask_pb2.FieldMask
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., text: _Optional[str] = ..., category: _Optional[str] = ..., attribute: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class User(_message.Message):
    __slots__ = ["first_seen_at", "input_tokens", "last_seen_at", "memories", "output_tokens", "sessions", "turns", "user_id", "workspace_id"]
    FIRST_SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    LAST_SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    first_seen_at: _timestamp_pb2.Timestamp
    input_tokens: float
    last_seen_at: _timestamp_pb2.Timestamp
    memories: int
    output_tokens: float
    sessions: int
    turns: int
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., first_seen_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., last_seen_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sessions: _Optional[int] = ..., turns: _Optional[int] = ..., input_tokens: _Optional[float] = ..., output_tokens: _Optional[float] = ..., memories: _Optional[int] = ...) -> None: ...
