from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from parlance.v1 import tools_pb2 as _tools_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Approval(_message.Message):
    __slots__ = ["call_id", "created_at", "decided_at", "decided_by", "expires_at", "input", "input_json", "reason", "session_id", "slug", "status", "turn_id"]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    created_at: _timestamp_pb2.Timestamp
    decided_at: _timestamp_pb2.Timestamp
    decided_by: str
    expires_at: _timestamp_pb2.Timestamp
    input: _struct_pb2.Struct
    input_json: str
    reason: str
    session_id: str
    slug: str
    status: str
    turn_id: str
    def __init__(self, call_id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., slug: _Optional[str] = ..., input: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., decided_by: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., decided_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., input_json: _Optional[str] = ...) -> None: ...

class CancelTurnRequest(_message.Message):
    __slots__ = ["session_id", "turn_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ["chunk_id", "excerpt", "heading", "page_end", "page_start", "quoted", "similarity", "source_id", "source_name"]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    PAGE_END_FIELD_NUMBER: _ClassVar[int]
    PAGE_START_FIELD_NUMBER: _ClassVar[int]
    QUOTED_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    excerpt: str
    heading: str
    page_end: int
    page_start: int
    quoted: bool
    similarity: float
    source_id: str
    source_name: str
    def __init__(self, source_id: _Optional[str] = ..., source_name: _Optional[str] = ..., chunk_id: _Optional[str] = ..., heading: _Optional[str] = ..., page_start: _Optional[int] = ..., page_end: _Optional[int] = ..., similarity: _Optional[float] = ..., excerpt: _Optional[str] = ..., quoted: bool = ...) -> None: ...

class ClientTool(_message.Message):
    __slots__ = ["description", "name", "parameters", "parameters_json"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    description: str
    name: str
    parameters: _struct_pb2.Struct
    parameters_json: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., parameters_json: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ["agent_id", "draft", "dynamic_variables", "modality", "overrides", "ttl_seconds", "user_id", "voice_stack_override"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    VOICE_STACK_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    draft: bool
    dynamic_variables: _containers.ScalarMap[str, str]
    modality: str
    overrides: _struct_pb2.Struct
    ttl_seconds: int
    user_id: str
    voice_stack_override: _struct_pb2.Struct
    def __init__(self, agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., modality: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., ttl_seconds: _Optional[int] = ..., overrides: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., voice_stack_override: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., draft: bool = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ["chat_url", "expires_at", "id", "status", "token", "ws_url"]
    CHAT_URL_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    WS_URL_FIELD_NUMBER: _ClassVar[int]
    chat_url: str
    expires_at: _timestamp_pb2.Timestamp
    id: str
    status: str
    token: str
    ws_url: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[str] = ..., ws_url: _Optional[str] = ..., chat_url: _Optional[str] = ..., token: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateTurnRequest(_message.Message):
    __slots__ = ["client_tools", "session_id", "text", "tool_outputs"]
    CLIENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    client_tools: _containers.RepeatedCompositeFieldContainer[ClientTool]
    session_id: str
    text: str
    tool_outputs: _containers.RepeatedCompositeFieldContainer[ToolOutput]
    def __init__(self, session_id: _Optional[str] = ..., text: _Optional[str] = ..., client_tools: _Optional[_Iterable[_Union[ClientTool, _Mapping]]] = ..., tool_outputs: _Optional[_Iterable[_Union[ToolOutput, _Mapping]]] = ...) -> None: ...

class CreateTurnResponse(_message.Message):
    __slots__ = ["citations", "client_tool_calls", "handover", "incomplete_reason", "receipt_hash", "status", "text", "tool_calls", "turn_id", "usage"]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_HASH_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    client_tool_calls: _containers.RepeatedCompositeFieldContainer[_tools_pb2.ToolCall]
    handover: str
    incomplete_reason: str
    receipt_hash: str
    status: str
    text: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[_tools_pb2.ToolCall]
    turn_id: str
    usage: TurnUsage
    def __init__(self, turn_id: _Optional[str] = ..., text: _Optional[str] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., tool_calls: _Optional[_Iterable[_Union[_tools_pb2.ToolCall, _Mapping]]] = ..., usage: _Optional[_Union[TurnUsage, _Mapping]] = ..., status: _Optional[str] = ..., client_tool_calls: _Optional[_Iterable[_Union[_tools_pb2.ToolCall, _Mapping]]] = ..., receipt_hash: _Optional[str] = ..., incomplete_reason: _Optional[str] = ..., handover: _Optional[str] = ...) -> None: ...

class CriterionResult(_message.Message):
    __slots__ = ["id", "name", "rationale", "result"]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RATIONALE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    rationale: str
    result: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., result: _Optional[str] = ..., rationale: _Optional[str] = ...) -> None: ...

class DataResult(_message.Message):
    __slots__ = ["id", "rationale", "type", "value", "value_json"]
    ID_FIELD_NUMBER: _ClassVar[int]
    RATIONALE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    rationale: str
    type: str
    value: _struct_pb2.Value
    value_json: str
    def __init__(self, id: _Optional[str] = ..., type: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., rationale: _Optional[str] = ..., value_json: _Optional[str] = ...) -> None: ...

class DecideApprovalRequest(_message.Message):
    __slots__ = ["approve", "call_id", "reason", "session_id"]
    APPROVE_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    approve: bool
    call_id: str
    reason: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., call_id: _Optional[str] = ..., approve: bool = ..., reason: _Optional[str] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ["session_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class DownloadRecordingRequest(_message.Message):
    __slots__ = ["session_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class DownloadRecordingResponse(_message.Message):
    __slots__ = ["data"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ["reason", "session_id", "status"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    reason: str
    session_id: str
    status: str
    def __init__(self, session_id: _Optional[str] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class FollowTurnRequest(_message.Message):
    __slots__ = ["last_event_id", "session_id", "turn_id"]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    last_event_id: str
    session_id: str
    turn_id: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., last_event_id: _Optional[str] = ...) -> None: ...

class GetRecordingMarksRequest(_message.Message):
    __slots__ = ["from_ms", "session_id", "to_ms"]
    FROM_MS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TO_MS_FIELD_NUMBER: _ClassVar[int]
    from_ms: int
    session_id: str
    to_ms: int
    def __init__(self, session_id: _Optional[str] = ..., from_ms: _Optional[int] = ..., to_ms: _Optional[int] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ["session_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetTranscriptRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "session_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetTranscriptResponse(_message.Message):
    __slots__ = ["next_page_token", "turns"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    turns: _containers.RepeatedCompositeFieldContainer[Turn]
    def __init__(self, turns: _Optional[_Iterable[_Union[Turn, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetTurnReceiptRequest(_message.Message):
    __slots__ = ["session_id", "turn_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class GetTurnRequest(_message.Message):
    __slots__ = ["session_id", "turn_id"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "session_id", "status"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    session_id: str
    status: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[str] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ["approvals", "next_page_token"]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[Approval]
    next_page_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[Approval, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSessionToolCallsRequest(_message.Message):
    __slots__ = ["error_code", "page_size", "page_token", "session_id", "started_after", "started_before", "status", "tool_id"]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    STARTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    error_code: str
    page_size: int
    page_token: str
    session_id: str
    started_after: _timestamp_pb2.Timestamp
    started_before: _timestamp_pb2.Timestamp
    status: str
    tool_id: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., tool_id: _Optional[str] = ..., status: _Optional[str] = ..., error_code: _Optional[str] = ..., started_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListSessionToolCallsResponse(_message.Message):
    __slots__ = ["next_page_token", "tool_calls"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[_tools_pb2.ToolCall]
    def __init__(self, tool_calls: _Optional[_Iterable[_Union[_tools_pb2.ToolCall, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ["agent_id", "created_after", "created_before", "end_reason", "handover", "modality", "page_size", "page_token", "status", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    created_after: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    end_reason: str
    handover: str
    modality: str
    page_size: int
    page_token: str
    status: str
    user_id: str
    workspace_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., status: _Optional[str] = ..., modality: _Optional[str] = ..., end_reason: _Optional[str] = ..., created_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., handover: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ["next_page_token", "sessions"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ReceiptApproval(_message.Message):
    __slots__ = ["decided_by", "status"]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    decided_by: str
    status: str
    def __init__(self, status: _Optional[str] = ..., decided_by: _Optional[str] = ...) -> None: ...

class ReceiptAttempt(_message.Message):
    __slots__ = ["duration_ms", "error_code", "model", "provider"]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    duration_ms: int
    error_code: str
    model: str
    provider: str
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., error_code: _Optional[str] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class ReceiptCost(_message.Message):
    __slots__ = ["amount", "currency"]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    amount: str
    currency: str
    def __init__(self, amount: _Optional[str] = ..., currency: _Optional[str] = ...) -> None: ...

class ReceiptGuard(_message.Message):
    __slots__ = ["guard", "rule", "subject", "verdict"]
    GUARD_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    guard: str
    rule: str
    subject: str
    verdict: str
    def __init__(self, guard: _Optional[str] = ..., verdict: _Optional[str] = ..., subject: _Optional[str] = ..., rule: _Optional[str] = ...) -> None: ...

class ReceiptHistory(_message.Message):
    __slots__ = ["summarized_turns", "summary_hash", "tokens", "turns"]
    SUMMARIZED_TURNS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_HASH_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    summarized_turns: int
    summary_hash: str
    tokens: int
    turns: int
    def __init__(self, turns: _Optional[int] = ..., tokens: _Optional[int] = ..., summarized_turns: _Optional[int] = ..., summary_hash: _Optional[str] = ...) -> None: ...

class ReceiptModelCall(_message.Message):
    __slots__ = ["attempts", "duration_ms", "error_code", "estimated", "finish_reason", "first_token_ms", "input_tokens", "messages", "model", "output_tokens", "prompt_hash", "provider", "purpose", "start_ms", "tools"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_HASH_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    attempts: _containers.RepeatedCompositeFieldContainer[ReceiptAttempt]
    duration_ms: int
    error_code: str
    estimated: bool
    finish_reason: str
    first_token_ms: int
    input_tokens: int
    messages: int
    model: str
    output_tokens: int
    prompt_hash: str
    provider: str
    purpose: str
    start_ms: int
    tools: int
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., prompt_hash: _Optional[str] = ..., messages: _Optional[int] = ..., tools: _Optional[int] = ..., start_ms: _Optional[int] = ..., first_token_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., finish_reason: _Optional[str] = ..., error_code: _Optional[str] = ..., attempts: _Optional[_Iterable[_Union[ReceiptAttempt, _Mapping]]] = ..., purpose: _Optional[str] = ..., estimated: bool = ...) -> None: ...

class ReceiptPassage(_message.Message):
    __slots__ = ["char_end", "char_start", "chunk_id", "page_end", "page_start", "quoted", "similarity", "source_id", "source_name", "text_hash"]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_END_FIELD_NUMBER: _ClassVar[int]
    PAGE_START_FIELD_NUMBER: _ClassVar[int]
    QUOTED_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_HASH_FIELD_NUMBER: _ClassVar[int]
    char_end: int
    char_start: int
    chunk_id: str
    page_end: int
    page_start: int
    quoted: bool
    similarity: float
    source_id: str
    source_name: str
    text_hash: str
    def __init__(self, source_id: _Optional[str] = ..., source_name: _Optional[str] = ..., chunk_id: _Optional[str] = ..., text_hash: _Optional[str] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ..., page_start: _Optional[int] = ..., page_end: _Optional[int] = ..., similarity: _Optional[float] = ..., quoted: bool = ...) -> None: ...

class ReceiptStage(_message.Message):
    __slots__ = ["duration_ms", "stage", "start_ms"]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    duration_ms: int
    stage: str
    start_ms: int
    def __init__(self, stage: _Optional[str] = ..., start_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class ReceiptToolCall(_message.Message):
    __slots__ = ["approval", "arguments_hash", "attempts", "error_code", "id", "latency_ms", "output_hash", "slug", "start_ms", "status", "status_code", "tool_id"]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_HASH_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HASH_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    approval: ReceiptApproval
    arguments_hash: str
    attempts: int
    error_code: str
    id: str
    latency_ms: int
    output_hash: str
    slug: str
    start_ms: int
    status: str
    status_code: int
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., tool_id: _Optional[str] = ..., slug: _Optional[str] = ..., arguments_hash: _Optional[str] = ..., output_hash: _Optional[str] = ..., status: _Optional[str] = ..., error_code: _Optional[str] = ..., status_code: _Optional[int] = ..., attempts: _Optional[int] = ..., start_ms: _Optional[int] = ..., latency_ms: _Optional[int] = ..., approval: _Optional[_Union[ReceiptApproval, _Mapping]] = ...) -> None: ...

class ReceiptToolLeftOut(_message.Message):
    __slots__ = ["reason", "slug", "tool_id"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    reason: str
    slug: str
    tool_id: str
    def __init__(self, tool_id: _Optional[str] = ..., slug: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ReceiptToolsLeftOut(_message.Message):
    __slots__ = ["tools"]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ReceiptToolLeftOut]
    def __init__(self, tools: _Optional[_Iterable[_Union[ReceiptToolLeftOut, _Mapping]]] = ...) -> None: ...

class RecordingMark(_message.Message):
    __slots__ = ["from_char", "from_ms", "item_id", "role", "to_char", "to_ms"]
    FROM_CHAR_FIELD_NUMBER: _ClassVar[int]
    FROM_MS_FIELD_NUMBER: _ClassVar[int]
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TO_CHAR_FIELD_NUMBER: _ClassVar[int]
    TO_MS_FIELD_NUMBER: _ClassVar[int]
    from_char: int
    from_ms: int
    item_id: str
    role: str
    to_char: int
    to_ms: int
    def __init__(self, role: _Optional[str] = ..., item_id: _Optional[str] = ..., from_char: _Optional[int] = ..., to_char: _Optional[int] = ..., from_ms: _Optional[int] = ..., to_ms: _Optional[int] = ...) -> None: ...

class RecordingMarks(_message.Message):
    __slots__ = ["marks"]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    marks: _containers.RepeatedCompositeFieldContainer[RecordingMark]
    def __init__(self, marks: _Optional[_Iterable[_Union[RecordingMark, _Mapping]]] = ...) -> None: ...

class RecordingPart(_message.Message):
    __slots__ = ["duration_ms", "from_ms", "incomplete", "offset_ms"]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    FROM_MS_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_MS_FIELD_NUMBER: _ClassVar[int]
    duration_ms: int
    from_ms: int
    incomplete: bool
    offset_ms: int
    def __init__(self, offset_ms: _Optional[int] = ..., from_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ..., incomplete: bool = ...) -> None: ...

class ReleaseSessionRequest(_message.Message):
    __slots__ = ["note", "session_id"]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    note: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class RetrievedChunk(_message.Message):
    __slots__ = ["chunk_id", "fused_score", "rerank_score", "similarity", "similarity_place", "source_id", "use", "word_place", "word_score"]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    FUSED_SCORE_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_PLACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    WORD_PLACE_FIELD_NUMBER: _ClassVar[int]
    WORD_SCORE_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    fused_score: float
    rerank_score: float
    similarity: float
    similarity_place: int
    source_id: str
    use: str
    word_place: int
    word_score: float
    def __init__(self, chunk_id: _Optional[str] = ..., source_id: _Optional[str] = ..., similarity: _Optional[float] = ..., similarity_place: _Optional[int] = ..., word_place: _Optional[int] = ..., word_score: _Optional[float] = ..., fused_score: _Optional[float] = ..., rerank_score: _Optional[float] = ..., use: _Optional[str] = ...) -> None: ...

class SendOperatorMessageRequest(_message.Message):
    __slots__ = ["session_id", "text"]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    text: str
    def __init__(self, session_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ["agent_id", "agent_version", "analysis", "assigned_variables", "content_deleted_at", "created_at", "draft_revision", "duration_ms", "dynamic_variables", "end_reason", "ended_at", "feedback", "handover", "id", "idle_timeout_seconds", "language", "max_duration_seconds", "modality", "recording", "started_at", "status", "turn_count", "usage", "user_id", "workspace_id"]
    class AssignedVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNED_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    CONTENT_DELETED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DRAFT_REVISION_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    MAX_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    RECORDING_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    agent_version: int
    analysis: SessionAnalysis
    assigned_variables: _containers.ScalarMap[str, str]
    content_deleted_at: _timestamp_pb2.Timestamp
    created_at: _timestamp_pb2.Timestamp
    draft_revision: int
    duration_ms: int
    dynamic_variables: _containers.ScalarMap[str, str]
    end_reason: str
    ended_at: _timestamp_pb2.Timestamp
    feedback: SessionFeedback
    handover: SessionHandover
    id: str
    idle_timeout_seconds: int
    language: str
    max_duration_seconds: int
    modality: str
    recording: SessionRecording
    started_at: _timestamp_pb2.Timestamp
    status: str
    turn_count: int
    usage: SessionUsage
    user_id: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent_version: _Optional[int] = ..., user_id: _Optional[str] = ..., modality: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_reason: _Optional[str] = ..., duration_ms: _Optional[int] = ..., turn_count: _Optional[int] = ..., language: _Optional[str] = ..., usage: _Optional[_Union[SessionUsage, _Mapping]] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., assigned_variables: _Optional[_Mapping[str, str]] = ..., analysis: _Optional[_Union[SessionAnalysis, _Mapping]] = ..., feedback: _Optional[_Union[SessionFeedback, _Mapping]] = ..., idle_timeout_seconds: _Optional[int] = ..., max_duration_seconds: _Optional[int] = ..., content_deleted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., recording: _Optional[_Union[SessionRecording, _Mapping]] = ..., handover: _Optional[_Union[SessionHandover, _Mapping]] = ..., draft_revision: _Optional[int] = ...) -> None: ...

class SessionAnalysis(_message.Message):
    __slots__ = ["criteria", "data", "ended_at", "error", "status", "success", "summary", "usage"]
    CRITERIA_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    criteria: _containers.RepeatedCompositeFieldContainer[CriterionResult]
    data: _containers.RepeatedCompositeFieldContainer[DataResult]
    ended_at: _timestamp_pb2.Timestamp
    error: str
    status: str
    success: str
    summary: str
    usage: TurnUsage
    def __init__(self, status: _Optional[str] = ..., summary: _Optional[str] = ..., success: _Optional[str] = ..., criteria: _Optional[_Iterable[_Union[CriterionResult, _Mapping]]] = ..., data: _Optional[_Iterable[_Union[DataResult, _Mapping]]] = ..., usage: _Optional[_Union[TurnUsage, _Mapping]] = ..., error: _Optional[str] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SessionFeedback(_message.Message):
    __slots__ = ["dislikes", "likes", "overall_score"]
    DISLIKES_FIELD_NUMBER: _ClassVar[int]
    LIKES_FIELD_NUMBER: _ClassVar[int]
    OVERALL_SCORE_FIELD_NUMBER: _ClassVar[int]
    dislikes: int
    likes: int
    overall_score: str
    def __init__(self, overall_score: _Optional[str] = ..., likes: _Optional[int] = ..., dislikes: _Optional[int] = ...) -> None: ...

class SessionHandover(_message.Message):
    __slots__ = ["destination", "operator", "reason", "requested_at", "status", "summary", "taken_at"]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TAKEN_AT_FIELD_NUMBER: _ClassVar[int]
    destination: str
    operator: str
    reason: str
    requested_at: _timestamp_pb2.Timestamp
    status: str
    summary: str
    taken_at: _timestamp_pb2.Timestamp
    def __init__(self, status: _Optional[str] = ..., reason: _Optional[str] = ..., summary: _Optional[str] = ..., destination: _Optional[str] = ..., operator: _Optional[str] = ..., requested_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., taken_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SessionRecording(_message.Message):
    __slots__ = ["created_at", "duration_ms", "parts", "size_bytes", "status", "url"]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    created_at: _timestamp_pb2.Timestamp
    duration_ms: int
    parts: _containers.RepeatedCompositeFieldContainer[RecordingPart]
    size_bytes: float
    status: str
    url: str
    def __init__(self, status: _Optional[str] = ..., duration_ms: _Optional[int] = ..., size_bytes: _Optional[float] = ..., url: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., parts: _Optional[_Iterable[_Union[RecordingPart, _Mapping]]] = ...) -> None: ...

class SessionUsage(_message.Message):
    __slots__ = ["cost", "currency", "input_tokens", "output_tokens", "tool_calls"]
    COST_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    cost: str
    currency: str
    input_tokens: int
    output_tokens: int
    tool_calls: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., tool_calls: _Optional[int] = ..., cost: _Optional[str] = ..., currency: _Optional[str] = ...) -> None: ...

class StreamTurnRequest(_message.Message):
    __slots__ = ["client_tools", "last_event_id", "session_id", "text", "tool_outputs"]
    CLIENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    client_tools: _containers.RepeatedCompositeFieldContainer[ClientTool]
    last_event_id: str
    session_id: str
    text: str
    tool_outputs: _containers.RepeatedCompositeFieldContainer[ToolOutput]
    def __init__(self, session_id: _Optional[str] = ..., text: _Optional[str] = ..., last_event_id: _Optional[str] = ..., client_tools: _Optional[_Iterable[_Union[ClientTool, _Mapping]]] = ..., tool_outputs: _Optional[_Iterable[_Union[ToolOutput, _Mapping]]] = ...) -> None: ...

class StreamTurnResponse(_message.Message):
    __slots__ = ["approval", "approval_requested", "client_tool_called", "delta", "done", "event_id", "started", "text_delta", "tool_call", "tool_called", "turn", "turn_id", "type"]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    CLIENT_TOOL_CALLED_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLED_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    approval_requested: TurnApprovalRequested
    client_tool_called: TurnClientToolCalled
    delta: str
    done: TurnDone
    event_id: str
    started: TurnStarted
    text_delta: TurnTextDelta
    tool_call: _tools_pb2.ToolCall
    tool_called: TurnToolCalled
    turn: CreateTurnResponse
    turn_id: str
    type: str
    def __init__(self, type: _Optional[str] = ..., event_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., delta: _Optional[str] = ..., tool_call: _Optional[_Union[_tools_pb2.ToolCall, _Mapping]] = ..., turn: _Optional[_Union[CreateTurnResponse, _Mapping]] = ..., approval: _Optional[_Union[Approval, _Mapping]] = ..., started: _Optional[_Union[TurnStarted, _Mapping]] = ..., text_delta: _Optional[_Union[TurnTextDelta, _Mapping]] = ..., approval_requested: _Optional[_Union[TurnApprovalRequested, _Mapping]] = ..., tool_called: _Optional[_Union[TurnToolCalled, _Mapping]] = ..., client_tool_called: _Optional[_Union[TurnClientToolCalled, _Mapping]] = ..., done: _Optional[_Union[TurnDone, _Mapping]] = ...) -> None: ...

class TakeOverSessionRequest(_message.Message):
    __slots__ = ["operator", "session_id"]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    operator: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., operator: _Optional[str] = ...) -> None: ...

class ToolOutput(_message.Message):
    __slots__ = ["call_id", "is_error", "output"]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    is_error: bool
    output: str
    def __init__(self, call_id: _Optional[str] = ..., output: _Optional[str] = ..., is_error: bool = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ["agent_text", "citations", "ended_at", "error", "feedback", "id", "incomplete_reason", "index", "items", "metrics", "operator", "operator_text", "receipt_hash", "retrieval", "session_id", "spilled", "started_at", "status", "tool_calls", "usage", "user_text"]
    AGENT_TEXT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_TEXT_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_HASH_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SPILLED_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    USER_TEXT_FIELD_NUMBER: _ClassVar[int]
    agent_text: str
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    ended_at: _timestamp_pb2.Timestamp
    error: TurnError
    feedback: str
    id: str
    incomplete_reason: str
    index: int
    items: _containers.RepeatedCompositeFieldContainer[TurnItem]
    metrics: TurnMetrics
    operator: str
    operator_text: str
    receipt_hash: str
    retrieval: TurnRetrieval
    session_id: str
    spilled: bool
    started_at: _timestamp_pb2.Timestamp
    status: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[_tools_pb2.ToolCall]
    usage: TurnUsage
    user_text: str
    def __init__(self, id: _Optional[str] = ..., session_id: _Optional[str] = ..., index: _Optional[int] = ..., user_text: _Optional[str] = ..., agent_text: _Optional[str] = ..., status: _Optional[str] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., tool_calls: _Optional[_Iterable[_Union[_tools_pb2.ToolCall, _Mapping]]] = ..., usage: _Optional[_Union[TurnUsage, _Mapping]] = ..., metrics: _Optional[_Union[TurnMetrics, _Mapping]] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., error: _Optional[_Union[TurnError, _Mapping]] = ..., retrieval: _Optional[_Union[TurnRetrieval, _Mapping]] = ..., receipt_hash: _Optional[str] = ..., items: _Optional[_Iterable[_Union[TurnItem, _Mapping]]] = ..., spilled: bool = ..., incomplete_reason: _Optional[str] = ..., feedback: _Optional[str] = ..., operator: _Optional[str] = ..., operator_text: _Optional[str] = ...) -> None: ...

class TurnApprovalRequested(_message.Message):
    __slots__ = ["approval"]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class TurnClientToolCalled(_message.Message):
    __slots__ = ["call"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: _tools_pb2.ToolCall
    def __init__(self, call: _Optional[_Union[_tools_pb2.ToolCall, _Mapping]] = ...) -> None: ...

class TurnDone(_message.Message):
    __slots__ = ["turn"]
    TURN_FIELD_NUMBER: _ClassVar[int]
    turn: CreateTurnResponse
    def __init__(self, turn: _Optional[_Union[CreateTurnResponse, _Mapping]] = ...) -> None: ...

class TurnError(_message.Message):
    __slots__ = ["code", "message"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class TurnItem(_message.Message):
    __slots__ = ["audio_ms", "call_id", "heard", "id", "kind", "name", "previous_item_id", "put_in", "removed", "spoken", "text"]
    AUDIO_MS_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    HEARD_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    PUT_IN_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    SPOKEN_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    audio_ms: int
    call_id: str
    heard: TurnItemHeard
    id: str
    kind: str
    name: str
    previous_item_id: str
    put_in: bool
    removed: bool
    spoken: bool
    text: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., call_id: _Optional[str] = ..., name: _Optional[str] = ..., put_in: bool = ..., previous_item_id: _Optional[str] = ..., removed: bool = ..., spoken: bool = ..., audio_ms: _Optional[int] = ..., heard: _Optional[_Union[TurnItemHeard, _Mapping]] = ...) -> None: ...

class TurnItemHeard(_message.Message):
    __slots__ = ["audio_end_ms", "text"]
    AUDIO_END_MS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    audio_end_ms: int
    text: str
    def __init__(self, audio_end_ms: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class TurnMetrics(_message.Message):
    __slots__ = ["model_first_token_ms", "retrieval_ms", "speech", "tool_rounds", "tool_rounds_exhausted", "tools_ms", "total_ms"]
    MODEL_FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MS_FIELD_NUMBER: _ClassVar[int]
    SPEECH_FIELD_NUMBER: _ClassVar[int]
    TOOLS_MS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ROUNDS_EXHAUSTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_ROUNDS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MS_FIELD_NUMBER: _ClassVar[int]
    model_first_token_ms: int
    retrieval_ms: int
    speech: TurnSpeech
    tool_rounds: int
    tool_rounds_exhausted: bool
    tools_ms: int
    total_ms: int
    def __init__(self, retrieval_ms: _Optional[int] = ..., model_first_token_ms: _Optional[int] = ..., tools_ms: _Optional[int] = ..., total_ms: _Optional[int] = ..., tool_rounds: _Optional[int] = ..., tool_rounds_exhausted: bool = ..., speech: _Optional[_Union[TurnSpeech, _Mapping]] = ...) -> None: ...

class TurnReceipt(_message.Message):
    __slots__ = ["agent_id", "agent_version", "begun_by", "cost", "draft_revision", "ended_at", "error_code", "guard_verdicts", "hash", "history", "index", "memory_read", "memory_written", "model_calls", "passages", "session_id", "spilled", "stages", "started_at", "status", "tool_calls", "tools_left_out", "turn_id", "usage", "version", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    BEGUN_BY_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    DRAFT_REVISION_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    GUARD_VERDICTS_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_READ_FIELD_NUMBER: _ClassVar[int]
    MEMORY_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SPILLED_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    agent_version: int
    begun_by: str
    cost: ReceiptCost
    draft_revision: int
    ended_at: _timestamp_pb2.Timestamp
    error_code: str
    guard_verdicts: _containers.RepeatedCompositeFieldContainer[ReceiptGuard]
    hash: str
    history: ReceiptHistory
    index: int
    memory_read: _containers.RepeatedScalarFieldContainer[str]
    memory_written: _containers.RepeatedScalarFieldContainer[str]
    model_calls: _containers.RepeatedCompositeFieldContainer[ReceiptModelCall]
    passages: _containers.RepeatedCompositeFieldContainer[ReceiptPassage]
    session_id: str
    spilled: bool
    stages: _containers.RepeatedCompositeFieldContainer[ReceiptStage]
    started_at: _timestamp_pb2.Timestamp
    status: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ReceiptToolCall]
    tools_left_out: ReceiptToolsLeftOut
    turn_id: str
    usage: TurnUsage
    version: int
    workspace_id: str
    def __init__(self, version: _Optional[int] = ..., turn_id: _Optional[str] = ..., session_id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent_version: _Optional[int] = ..., index: _Optional[int] = ..., begun_by: _Optional[str] = ..., status: _Optional[str] = ..., error_code: _Optional[str] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., model_calls: _Optional[_Iterable[_Union[ReceiptModelCall, _Mapping]]] = ..., passages: _Optional[_Iterable[_Union[ReceiptPassage, _Mapping]]] = ..., tool_calls: _Optional[_Iterable[_Union[ReceiptToolCall, _Mapping]]] = ..., memory_read: _Optional[_Iterable[str]] = ..., memory_written: _Optional[_Iterable[str]] = ..., guard_verdicts: _Optional[_Iterable[_Union[ReceiptGuard, _Mapping]]] = ..., history: _Optional[_Union[ReceiptHistory, _Mapping]] = ..., stages: _Optional[_Iterable[_Union[ReceiptStage, _Mapping]]] = ..., usage: _Optional[_Union[TurnUsage, _Mapping]] = ..., cost: _Optional[_Union[ReceiptCost, _Mapping]] = ..., hash: _Optional[str] = ..., spilled: bool = ..., draft_revision: _Optional[int] = ..., tools_left_out: _Optional[_Union[ReceiptToolsLeftOut, _Mapping]] = ...) -> None: ...

class TurnRetrieval(_message.Message):
    __slots__ = ["chunks", "embedding_model", "min_similarity", "ranking", "rerank"]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[RetrievedChunk]
    embedding_model: str
    min_similarity: float
    ranking: str
    rerank: str
    def __init__(self, ranking: _Optional[str] = ..., embedding_model: _Optional[str] = ..., min_similarity: _Optional[float] = ..., rerank: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[RetrievedChunk, _Mapping]]] = ...) -> None: ...

class TurnSpeech(_message.Message):
    __slots__ = ["endpointing_ms", "first_audio_ms", "first_token_ms", "transcript_ms"]
    ENDPOINTING_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_AUDIO_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_MS_FIELD_NUMBER: _ClassVar[int]
    endpointing_ms: int
    first_audio_ms: int
    first_token_ms: int
    transcript_ms: int
    def __init__(self, endpointing_ms: _Optional[int] = ..., transcript_ms: _Optional[int] = ..., first_token_ms: _Optional[int] = ..., first_audio_ms: _Optional[int] = ...) -> None: ...

class TurnStarted(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class TurnTextDelta(_message.Message):
    __slots__ = ["text"]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class TurnToolCalled(_message.Message):
    __slots__ = ["call"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: _tools_pb2.ToolCall
    def __init__(self, call: _Optional[_Union[_tools_pb2.ToolCall, _Mapping]] = ...) -> None: ...

class TurnUsage(_message.Message):
    __slots__ = ["input_tokens", "model", "output_tokens"]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    model: str
    output_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., model: _Optional[str] = ...) -> None: ...
