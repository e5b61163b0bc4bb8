from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from parlance.v1 import agents_pb2 as _agents_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AgentTool(_message.Message):
    __slots__ = ["description", "disabled_detail", "disabled_reason", "enabled", "input_schema", "input_schema_json", "max_calls_per_session", "name", "needs_approval", "remote_tool", "tool"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DISABLED_DETAIL_FIELD_NUMBER: _ClassVar[int]
    DISABLED_REASON_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_PER_SESSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEEDS_APPROVAL_FIELD_NUMBER: _ClassVar[int]
    REMOTE_TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    description: str
    disabled_detail: str
    disabled_reason: str
    enabled: bool
    input_schema: _struct_pb2.Struct
    input_schema_json: str
    max_calls_per_session: int
    name: str
    needs_approval: bool
    remote_tool: str
    tool: Tool
    def __init__(self, tool: _Optional[_Union[Tool, _Mapping]] = ..., enabled: bool = ..., max_calls_per_session: _Optional[int] = ..., disabled_reason: _Optional[str] = ..., name: _Optional[str] = ..., remote_tool: _Optional[str] = ..., needs_approval: bool = ..., disabled_detail: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., input_schema_json: _Optional[str] = ...) -> None: ...

class AttachToolRequest(_message.Message):
    __slots__ = ["agent_id", "enabled", "max_calls_per_session", "tool_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_PER_SESSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    enabled: bool
    max_calls_per_session: int
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., enabled: bool = ..., max_calls_per_session: _Optional[int] = ...) -> None: ...

class CreateToolRequest(_message.Message):
    __slots__ = ["allow_dynamic_vars", "allowed_tools", "approval", "approval_tools", "assignments", "auth_header", "breaker", "description", "hardcoded_body_params", "hardcoded_body_params_json", "hardcoded_query_params", "headers", "input_schema", "input_schema_json", "kind", "mcp_server_url", "mcp_tool_name", "method", "path_params", "query_params", "requires_user_intent", "response_max_bytes", "retry", "secret_headers", "slug", "timeout_seconds", "webhook_url", "workspace_id"]
    class HardcodedQueryParamsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class SecretHeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ALLOWED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_DYNAMIC_VARS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    AUTH_HEADER_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVER_URL_FIELD_NUMBER: _ClassVar[int]
    MCP_TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_PARAMS_FIELD_NUMBER: _ClassVar[int]
    QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_USER_INTENT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    SECRET_HEADERS_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    allow_dynamic_vars: bool
    allowed_tools: _containers.RepeatedScalarFieldContainer[str]
    approval: str
    approval_tools: _containers.RepeatedScalarFieldContainer[str]
    assignments: _containers.RepeatedCompositeFieldContainer[ToolAssignment]
    auth_header: str
    breaker: ToolBreaker
    description: str
    hardcoded_body_params: _struct_pb2.Struct
    hardcoded_body_params_json: str
    hardcoded_query_params: _containers.ScalarMap[str, str]
    headers: _containers.ScalarMap[str, str]
    input_schema: _struct_pb2.Struct
    input_schema_json: str
    kind: str
    mcp_server_url: str
    mcp_tool_name: str
    method: str
    path_params: _containers.RepeatedScalarFieldContainer[str]
    query_params: _containers.RepeatedScalarFieldContainer[str]
    requires_user_intent: bool
    response_max_bytes: int
    retry: ToolRetry
    secret_headers: _containers.ScalarMap[str, str]
    slug: str
    timeout_seconds: int
    webhook_url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., slug: _Optional[str] = ..., description: _Optional[str] = ..., kind: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., webhook_url: _Optional[str] = ..., method: _Optional[str] = ..., path_params: _Optional[_Iterable[str]] = ..., query_params: _Optional[_Iterable[str]] = ..., hardcoded_query_params: _Optional[_Mapping[str, str]] = ..., hardcoded_body_params: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., headers: _Optional[_Mapping[str, str]] = ..., mcp_server_url: _Optional[str] = ..., mcp_tool_name: _Optional[str] = ..., allowed_tools: _Optional[_Iterable[str]] = ..., auth_header: _Optional[str] = ..., allow_dynamic_vars: bool = ..., timeout_seconds: _Optional[int] = ..., response_max_bytes: _Optional[int] = ..., assignments: _Optional[_Iterable[_Union[ToolAssignment, _Mapping]]] = ..., approval: _Optional[str] = ..., approval_tools: _Optional[_Iterable[str]] = ..., secret_headers: _Optional[_Mapping[str, str]] = ..., requires_user_intent: bool = ..., retry: _Optional[_Union[ToolRetry, _Mapping]] = ..., breaker: _Optional[_Union[ToolBreaker, _Mapping]] = ..., input_schema_json: _Optional[str] = ..., hardcoded_body_params_json: _Optional[str] = ...) -> None: ...

class DeleteToolRequest(_message.Message):
    __slots__ = ["tool_id", "workspace_id"]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., tool_id: _Optional[str] = ...) -> None: ...

class DetachToolRequest(_message.Message):
    __slots__ = ["agent_id", "tool_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., tool_id: _Optional[str] = ...) -> None: ...

class DiscoverMcpToolsRequest(_message.Message):
    __slots__ = ["auth_header", "headers", "mcp_server_url", "tool_id", "workspace_id"]
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AUTH_HEADER_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVER_URL_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    auth_header: str
    headers: _containers.ScalarMap[str, str]
    mcp_server_url: str
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., mcp_server_url: _Optional[str] = ..., auth_header: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., tool_id: _Optional[str] = ...) -> None: ...

class DiscoverMcpToolsResponse(_message.Message):
    __slots__ = ["server_name", "server_version", "tools", "truncated"]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    server_name: str
    server_version: str
    tools: _containers.RepeatedCompositeFieldContainer[McpTool]
    truncated: bool
    def __init__(self, server_name: _Optional[str] = ..., server_version: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[McpTool, _Mapping]]] = ..., truncated: bool = ...) -> None: ...

class GetToolRequest(_message.Message):
    __slots__ = ["tool_id", "workspace_id"]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., tool_id: _Optional[str] = ...) -> None: ...

class ListAgentToolsRequest(_message.Message):
    __slots__ = ["agent_id", "page_size", "page_token", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAgentToolsResponse(_message.Message):
    __slots__ = ["next_page_token", "tools"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tools: _containers.RepeatedCompositeFieldContainer[AgentTool]
    def __init__(self, tools: _Optional[_Iterable[_Union[AgentTool, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListToolCallsRequest(_message.Message):
    __slots__ = ["agent_id", "error_code", "page_size", "page_token", "session_id", "started_after", "started_before", "status", "tool_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    STARTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    error_code: str
    page_size: int
    page_token: str
    session_id: str
    started_after: _timestamp_pb2.Timestamp
    started_before: _timestamp_pb2.Timestamp
    status: str
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., session_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., status: _Optional[str] = ..., error_code: _Optional[str] = ..., started_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListToolCallsResponse(_message.Message):
    __slots__ = ["next_page_token", "tool_calls"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ["include_hidden", "order_by", "page_size", "page_token", "q", "workspace_id"]
    INCLUDE_HIDDEN_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    include_hidden: bool
    order_by: str
    page_size: int
    page_token: str
    q: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., include_hidden: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., q: _Optional[str] = ..., order_by: _Optional[str] = ...) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ["next_page_token", "tools"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    def __init__(self, tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListWorkspaceToolCallsRequest(_message.Message):
    __slots__ = ["agent_id", "error_code", "page_size", "page_token", "session_id", "started_after", "started_before", "status", "tool_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    STARTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    error_code: str
    page_size: int
    page_token: str
    session_id: str
    started_after: _timestamp_pb2.Timestamp
    started_before: _timestamp_pb2.Timestamp
    status: str
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., tool_id: _Optional[str] = ..., session_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., status: _Optional[str] = ..., error_code: _Optional[str] = ..., started_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListWorkspaceToolCallsResponse(_message.Message):
    __slots__ = ["next_page_token", "tool_calls"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class McpTool(_message.Message):
    __slots__ = ["description", "input_schema", "input_schema_json", "name", "reason", "title", "usable"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    description: str
    input_schema: _struct_pb2.Struct
    input_schema_json: str
    name: str
    reason: str
    title: str
    usable: bool
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., usable: bool = ..., reason: _Optional[str] = ..., input_schema_json: _Optional[str] = ...) -> None: ...

class OpenApiOperation(_message.Message):
    __slots__ = ["authentication", "changed_fields", "deprecated", "notes", "operation", "operation_id", "reason", "summary", "tool", "tool_id"]
    AUTHENTICATION_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    authentication: str
    changed_fields: _containers.RepeatedScalarFieldContainer[str]
    deprecated: bool
    notes: _containers.RepeatedScalarFieldContainer[str]
    operation: str
    operation_id: str
    reason: str
    summary: str
    tool: CreateToolRequest
    tool_id: str
    def __init__(self, operation: _Optional[str] = ..., operation_id: _Optional[str] = ..., summary: _Optional[str] = ..., deprecated: bool = ..., tool: _Optional[_Union[CreateToolRequest, _Mapping]] = ..., reason: _Optional[str] = ..., tool_id: _Optional[str] = ..., changed_fields: _Optional[_Iterable[str]] = ..., authentication: _Optional[str] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadOpenApiRequest(_message.Message):
    __slots__ = ["document", "prefix", "server", "url", "workspace_id"]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    document: str
    prefix: str
    server: str
    url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., document: _Optional[str] = ..., url: _Optional[str] = ..., server: _Optional[str] = ..., prefix: _Optional[str] = ...) -> None: ...

class ReadOpenApiResponse(_message.Message):
    __slots__ = ["operations", "server", "title"]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    operations: _containers.RepeatedCompositeFieldContainer[OpenApiOperation]
    server: str
    title: str
    def __init__(self, title: _Optional[str] = ..., server: _Optional[str] = ..., operations: _Optional[_Iterable[_Union[OpenApiOperation, _Mapping]]] = ...) -> None: ...

class RunToolRequest(_message.Message):
    __slots__ = ["args", "args_json", "dynamic_variables", "remote_tool", "tool_id", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGS_FIELD_NUMBER: _ClassVar[int]
    ARGS_JSON_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    REMOTE_TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    args: _struct_pb2.Struct
    args_json: str
    dynamic_variables: _containers.ScalarMap[str, str]
    remote_tool: str
    tool_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., remote_tool: _Optional[str] = ..., args_json: _Optional[str] = ...) -> None: ...

class RunToolResponse(_message.Message):
    __slots__ = ["attempts", "error", "latency_ms", "output", "output_json", "output_text", "request", "status_code"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TEXT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    error: ToolError
    latency_ms: int
    output: _struct_pb2.Value
    output_json: str
    output_text: str
    request: ToolRequest
    status_code: int
    def __init__(self, output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., output_text: _Optional[str] = ..., status_code: _Optional[int] = ..., latency_ms: _Optional[int] = ..., attempts: _Optional[int] = ..., error: _Optional[_Union[ToolError, _Mapping]] = ..., request: _Optional[_Union[ToolRequest, _Mapping]] = ..., output_json: _Optional[str] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ["allow_dynamic_vars", "allowed_tools", "approval", "approval_tools", "assignments", "auth_header_set", "breaker", "bucket", "created_at", "description", "hardcoded_body_params", "hardcoded_body_params_json", "hardcoded_query_params", "headers", "id", "input_schema", "input_schema_json", "kind", "mcp_server_url", "mcp_tool_name", "method", "path_params", "query_params", "requires_user_intent", "response_max_bytes", "retry", "secret_header_names", "slug", "timeout_seconds", "updated_at", "webhook_url"]
    class HardcodedQueryParamsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ALLOWED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_DYNAMIC_VARS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    AUTH_HEADER_SET_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVER_URL_FIELD_NUMBER: _ClassVar[int]
    MCP_TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_PARAMS_FIELD_NUMBER: _ClassVar[int]
    QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_USER_INTENT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    SECRET_HEADER_NAMES_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_URL_FIELD_NUMBER: _ClassVar[int]
    allow_dynamic_vars: bool
    allowed_tools: _containers.RepeatedScalarFieldContainer[str]
    approval: str
    approval_tools: _containers.RepeatedScalarFieldContainer[str]
    assignments: _containers.RepeatedCompositeFieldContainer[ToolAssignment]
    auth_header_set: bool
    breaker: ToolBreaker
    bucket: str
    created_at: _timestamp_pb2.Timestamp
    description: str
    hardcoded_body_params: _struct_pb2.Struct
    hardcoded_body_params_json: str
    hardcoded_query_params: _containers.ScalarMap[str, str]
    headers: _containers.ScalarMap[str, str]
    id: str
    input_schema: _struct_pb2.Struct
    input_schema_json: str
    kind: str
    mcp_server_url: str
    mcp_tool_name: str
    method: str
    path_params: _containers.RepeatedScalarFieldContainer[str]
    query_params: _containers.RepeatedScalarFieldContainer[str]
    requires_user_intent: bool
    response_max_bytes: int
    retry: ToolRetry
    secret_header_names: _containers.RepeatedScalarFieldContainer[str]
    slug: str
    timeout_seconds: int
    updated_at: _timestamp_pb2.Timestamp
    webhook_url: str
    def __init__(self, id: _Optional[str] = ..., slug: _Optional[str] = ..., description: _Optional[str] = ..., kind: _Optional[str] = ..., bucket: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., webhook_url: _Optional[str] = ..., method: _Optional[str] = ..., path_params: _Optional[_Iterable[str]] = ..., query_params: _Optional[_Iterable[str]] = ..., hardcoded_query_params: _Optional[_Mapping[str, str]] = ..., hardcoded_body_params: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., headers: _Optional[_Mapping[str, str]] = ..., mcp_server_url: _Optional[str] = ..., mcp_tool_name: _Optional[str] = ..., allowed_tools: _Optional[_Iterable[str]] = ..., allow_dynamic_vars: bool = ..., timeout_seconds: _Optional[int] = ..., response_max_bytes: _Optional[int] = ..., auth_header_set: bool = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., assignments: _Optional[_Iterable[_Union[ToolAssignment, _Mapping]]] = ..., approval: _Optional[str] = ..., approval_tools: _Optional[_Iterable[str]] = ..., secret_header_names: _Optional[_Iterable[str]] = ..., requires_user_intent: bool = ..., retry: _Optional[_Union[ToolRetry, _Mapping]] = ..., breaker: _Optional[_Union[ToolBreaker, _Mapping]] = ..., input_schema_json: _Optional[str] = ..., hardcoded_body_params_json: _Optional[str] = ...) -> None: ...

class ToolAssignment(_message.Message):
    __slots__ = ["dynamic_variable", "value_path"]
    DYNAMIC_VARIABLE_FIELD_NUMBER: _ClassVar[int]
    VALUE_PATH_FIELD_NUMBER: _ClassVar[int]
    dynamic_variable: str
    value_path: str
    def __init__(self, dynamic_variable: _Optional[str] = ..., value_path: _Optional[str] = ...) -> None: ...

class ToolAttachment(_message.Message):
    __slots__ = ["agent_id", "created_at", "enabled", "max_calls_per_session", "slug", "tool_id", "updated_at"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_PER_SESSION_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    created_at: _timestamp_pb2.Timestamp
    enabled: bool
    max_calls_per_session: int
    slug: str
    tool_id: str
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, agent_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., slug: _Optional[str] = ..., enabled: bool = ..., max_calls_per_session: _Optional[int] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolBreaker(_message.Message):
    __slots__ = ["disabled", "failure_ratio", "min_calls", "pause_seconds", "window_seconds"]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_RATIO_FIELD_NUMBER: _ClassVar[int]
    MIN_CALLS_FIELD_NUMBER: _ClassVar[int]
    PAUSE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_SECONDS_FIELD_NUMBER: _ClassVar[int]
    disabled: bool
    failure_ratio: float
    min_calls: int
    pause_seconds: int
    window_seconds: int
    def __init__(self, disabled: bool = ..., failure_ratio: _Optional[float] = ..., min_calls: _Optional[int] = ..., window_seconds: _Optional[int] = ..., pause_seconds: _Optional[int] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ["agent_id", "approval", "assigned_variables", "attempts", "error", "id", "input", "input_json", "latency_ms", "output", "session_id", "slug", "started_at", "status_code", "tool_id", "turn_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    ASSIGNED_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SLUG_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    approval: ToolCallApproval
    assigned_variables: _containers.RepeatedScalarFieldContainer[str]
    attempts: int
    error: ToolError
    id: str
    input: _struct_pb2.Struct
    input_json: str
    latency_ms: int
    output: str
    session_id: str
    slug: str
    started_at: _timestamp_pb2.Timestamp
    status_code: int
    tool_id: str
    turn_id: str
    def __init__(self, id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., slug: _Optional[str] = ..., input: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., output: _Optional[str] = ..., status_code: _Optional[int] = ..., latency_ms: _Optional[int] = ..., attempts: _Optional[int] = ..., error: _Optional[_Union[ToolError, _Mapping]] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., agent_id: _Optional[str] = ..., assigned_variables: _Optional[_Iterable[str]] = ..., approval: _Optional[_Union[ToolCallApproval, _Mapping]] = ..., input_json: _Optional[str] = ...) -> None: ...

class ToolCallApproval(_message.Message):
    __slots__ = ["decided_at", "decided_by", "reason", "status"]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    decided_at: _timestamp_pb2.Timestamp
    decided_by: str
    reason: str
    status: str
    def __init__(self, status: _Optional[str] = ..., decided_by: _Optional[str] = ..., reason: _Optional[str] = ..., decided_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolError(_message.Message):
    __slots__ = ["code", "message"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ToolRequest(_message.Message):
    __slots__ = ["body", "headers", "method", "url"]
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    BODY_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    body: str
    headers: _containers.ScalarMap[str, str]
    method: str
    url: str
    def __init__(self, method: _Optional[str] = ..., url: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., body: _Optional[str] = ...) -> None: ...

class ToolRetry(_message.Message):
    __slots__ = ["max_attempts", "statuses"]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    max_attempts: int
    statuses: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, max_attempts: _Optional[int] = ..., statuses: _Optional[_Iterable[int]] = ...) -> None: ...

class UpdateToolRequest(_message.Message):
    __slots__ = ["allow_dynamic_vars", "allowed_tools", "approval", "approval_tools", "assignments", "auth_header", "breaker", "description", "hardcoded_body_params", "hardcoded_body_params_json", "hardcoded_query_params", "headers", "input_schema", "input_schema_json", "mcp_server_url", "mcp_tool_name", "method", "path_params", "query_params", "requires_user_intent", "response_max_bytes", "retry", "secret_headers", "timeout_seconds", "tool_id", "update_mask", "webhook_url", "workspace_id"]
    class HardcodedQueryParamsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class SecretHeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ALLOWED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_DYNAMIC_VARS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    AUTH_HEADER_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_BODY_PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    HARDCODED_QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVER_URL_FIELD_NUMBER: _ClassVar[int]
    MCP_TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_PARAMS_FIELD_NUMBER: _ClassVar[int]
    QUERY_PARAMS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_USER_INTENT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    SECRET_HEADERS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    allow_dynamic_vars: bool
    allowed_tools: _containers.RepeatedScalarFieldContainer[str]
    approval: str
    approval_tools: _containers.RepeatedScalarFieldContainer[str]
    assignments: _containers.RepeatedCompositeFieldContainer[ToolAssignment]
    auth_header: str
    breaker: ToolBreaker
    description: str
    hardcoded_body_params: _struct_pb2.Struct
    hardcoded_body_params_json: str
    hardcoded_query_params: _containers.ScalarMap[str, str]
    headers: _containers.ScalarMap[str, str]
    input_schema: _struct_pb2.Struct
    input_schema_json: str
    mcp_server_url: str
    mcp_tool_name: str
    method: str
    path_params: _containers.RepeatedScalarFieldContainer[str]
    query_params: _containers.RepeatedScalarFieldContainer[str]
    requires_user_intent: bool
    response_max_bytes: int
    retry: ToolRetry
    secret_headers: _containers.ScalarMap[str, str]
    timeout_seconds: int
    tool_id: str
    update_mask: _field_mask_pb2.FieldMask
    webhook_url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., webhook_url: _Optional[str] = ..., method: _Optional[str] = ..., path_params: _Optional[_Iterable[str]] = ..., query_params: _Optional[_Iterable[str]] = ..., hardcoded_query_params: _Optional[_Mapping[str, str]] = ..., hardcoded_body_params: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., headers: _Optional[_Mapping[str, str]] = ..., mcp_server_url: _Optional[str] = ..., mcp_tool_name: _Optional[str] = ..., allowed_tools: _Optional[_Iterable[str]] = ..., auth_header: _Optional[str] = ..., allow_dynamic_vars: bool = ..., timeout_seconds: _Optional[int] = ..., response_max_bytes: _Optional[int] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., assignments: _Optional[_Iterable[_Union[ToolAssignment, _Mapping]]] = ..., approval: _Optional[str] = ..., approval_tools: _Optional[_Iterable[str]] = ..., secret_headers: _Optional[_Mapping[str, str]] = ..., requires_user_intent: bool = ..., retry: _Optional[_Union[ToolRetry, _Mapping]] = ..., breaker: _Optional[_Union[ToolBreaker, _Mapping]] = ..., input_schema_json: _Optional[str] = ..., hardcoded_body_params_json: _Optional[str] = ...) -> None: ...

class UpdateToolsConfigRequest(_message.Message):
    __slots__ = ["agent_id", "disabled_tools", "update_mask", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    DISABLED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    disabled_tools: _containers.RepeatedScalarFieldContainer[str]
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., disabled_tools: _Optional[_Iterable[str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...
