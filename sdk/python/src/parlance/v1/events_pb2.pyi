from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallAnalysis(_message.Message):
    __slots__ = ["call_successful", "data_collection_results", "data_collection_results_json", "error", "evaluation_criteria_results", "status", "transcript_summary"]
    CALL_SUCCESSFUL_FIELD_NUMBER: _ClassVar[int]
    DATA_COLLECTION_RESULTS_FIELD_NUMBER: _ClassVar[int]
    DATA_COLLECTION_RESULTS_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_CRITERIA_RESULTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    call_successful: str
    data_collection_results: _struct_pb2.Struct
    data_collection_results_json: str
    error: str
    evaluation_criteria_results: _struct_pb2.Struct
    status: str
    transcript_summary: str
    def __init__(self, evaluation_criteria_results: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., data_collection_results: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., call_successful: _Optional[str] = ..., transcript_summary: _Optional[str] = ..., status: _Optional[str] = ..., error: _Optional[str] = ..., data_collection_results_json: _Optional[str] = ...) -> None: ...

class CallFeedback(_message.Message):
    __slots__ = ["dislikes", "likes", "overall_score"]
    DISLIKES_FIELD_NUMBER: _ClassVar[int]
    LIKES_FIELD_NUMBER: _ClassVar[int]
    OVERALL_SCORE_FIELD_NUMBER: _ClassVar[int]
    dislikes: int
    likes: int
    overall_score: str
    def __init__(self, overall_score: _Optional[str] = ..., likes: _Optional[int] = ..., dislikes: _Optional[int] = ...) -> None: ...

class CallMemory(_message.Message):
    __slots__ = ["extraction", "forgotten", "learnt"]
    EXTRACTION_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    LEARNT_FIELD_NUMBER: _ClassVar[int]
    extraction: str
    forgotten: _containers.RepeatedScalarFieldContainer[str]
    learnt: _containers.RepeatedCompositeFieldContainer[LearntMemory]
    def __init__(self, learnt: _Optional[_Iterable[_Union[LearntMemory, _Mapping]]] = ..., forgotten: _Optional[_Iterable[str]] = ..., extraction: _Optional[str] = ...) -> None: ...

class CallMetadata(_message.Message):
    __slots__ = ["call_duration_secs", "feedback", "input_tokens", "main_language", "output_tokens", "start_time_unix_secs", "termination_reason", "text_only", "turn_count"]
    CALL_DURATION_SECS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAIN_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_UNIX_SECS_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_REASON_FIELD_NUMBER: _ClassVar[int]
    TEXT_ONLY_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    call_duration_secs: int
    feedback: CallFeedback
    input_tokens: int
    main_language: str
    output_tokens: int
    start_time_unix_secs: float
    termination_reason: str
    text_only: bool
    turn_count: int
    def __init__(self, start_time_unix_secs: _Optional[float] = ..., call_duration_secs: _Optional[int] = ..., termination_reason: _Optional[str] = ..., main_language: _Optional[str] = ..., text_only: bool = ..., turn_count: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., feedback: _Optional[_Union[CallFeedback, _Mapping]] = ...) -> None: ...

class ConversationInitiation(_message.Message):
    __slots__ = ["conversation_config_override", "dynamic_variables"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONVERSATION_CONFIG_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    conversation_config_override: _struct_pb2.Struct
    dynamic_variables: _containers.ScalarMap[str, str]
    def __init__(self, conversation_config_override: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ...) -> None: ...

class DsarReady(_message.Message):
    __slots__ = ["download_url", "expires_at", "kind", "request_id", "size_bytes", "user_id"]
    DOWNLOAD_URL_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    download_url: str
    expires_at: _timestamp_pb2.Timestamp
    kind: str
    request_id: str
    size_bytes: float
    user_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[str] = ..., download_url: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., size_bytes: _Optional[float] = ...) -> None: ...

class ElapsedTime(_message.Message):
    __slots__ = ["elapsed_time"]
    ELAPSED_TIME_FIELD_NUMBER: _ClassVar[int]
    elapsed_time: float
    def __init__(self, elapsed_time: _Optional[float] = ...) -> None: ...

class EntryFeedback(_message.Message):
    __slots__ = ["score", "time_in_call_secs"]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TIME_IN_CALL_SECS_FIELD_NUMBER: _ClassVar[int]
    score: str
    time_in_call_secs: int
    def __init__(self, score: _Optional[str] = ..., time_in_call_secs: _Optional[int] = ...) -> None: ...

class EscalationTriggered(_message.Message):
    __slots__ = ["agent_id", "guard", "matched_by", "session_id", "side", "triggered_at", "turn_id", "user_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    GUARD_FIELD_NUMBER: _ClassVar[int]
    MATCHED_BY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    TRIGGERED_AT_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    guard: str
    matched_by: str
    session_id: str
    side: str
    triggered_at: _timestamp_pb2.Timestamp
    turn_id: str
    user_id: str
    def __init__(self, session_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., guard: _Optional[str] = ..., side: _Optional[str] = ..., matched_by: _Optional[str] = ..., triggered_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class FatigueAlert(_message.Message):
    __slots__ = ["agent_id", "limit", "measure", "session_id", "user_id", "value", "window"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    limit: float
    measure: str
    session_id: str
    user_id: str
    value: float
    window: str
    def __init__(self, user_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window: _Optional[str] = ..., measure: _Optional[str] = ..., value: _Optional[float] = ..., limit: _Optional[float] = ...) -> None: ...

class InvoiceFailed(_message.Message):
    __slots__ = ["amount_due", "attempt_count", "currency", "customer_id", "failed_at", "failure_message", "invoice_id", "next_attempt_at", "subscription_id"]
    AMOUNT_DUE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    FAILED_AT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INVOICE_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    amount_due: float
    attempt_count: int
    currency: str
    customer_id: str
    failed_at: _timestamp_pb2.Timestamp
    failure_message: str
    invoice_id: str
    next_attempt_at: _timestamp_pb2.Timestamp
    subscription_id: str
    def __init__(self, invoice_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., subscription_id: _Optional[str] = ..., amount_due: _Optional[float] = ..., currency: _Optional[str] = ..., attempt_count: _Optional[int] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., failure_message: _Optional[str] = ..., failed_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class InvoicePaid(_message.Message):
    __slots__ = ["amount_paid", "currency", "customer_id", "hosted_invoice_url", "invoice_id", "paid_at", "subscription_id"]
    AMOUNT_PAID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    HOSTED_INVOICE_URL_FIELD_NUMBER: _ClassVar[int]
    INVOICE_ID_FIELD_NUMBER: _ClassVar[int]
    PAID_AT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    amount_paid: float
    currency: str
    customer_id: str
    hosted_invoice_url: str
    invoice_id: str
    paid_at: _timestamp_pb2.Timestamp
    subscription_id: str
    def __init__(self, invoice_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., subscription_id: _Optional[str] = ..., amount_paid: _Optional[float] = ..., currency: _Optional[str] = ..., hosted_invoice_url: _Optional[str] = ..., paid_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class KbSourceIngested(_message.Message):
    __slots__ = ["chunk_count", "duration_ms", "embedding_model", "kind", "media_type", "name", "page_count", "ready_at", "size_bytes", "source_id", "status"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    READY_AT_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    duration_ms: int
    embedding_model: str
    kind: str
    media_type: str
    name: str
    page_count: int
    ready_at: _timestamp_pb2.Timestamp
    size_bytes: int
    source_id: str
    status: str
    def __init__(self, source_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., media_type: _Optional[str] = ..., status: _Optional[str] = ..., size_bytes: _Optional[int] = ..., page_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., embedding_model: _Optional[str] = ..., duration_ms: _Optional[int] = ..., ready_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class LearntMemory(_message.Message):
    __slots__ = ["category", "created_by", "id", "kind", "status", "text", "turn_id"]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    category: str
    created_by: str
    id: str
    kind: str
    status: str
    text: str
    turn_id: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., category: _Optional[str] = ..., status: _Optional[str] = ..., created_by: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class PostCallTranscription(_message.Message):
    __slots__ = ["agent_id", "agent_version", "analysis", "conversation_id", "conversation_initiation_client_data", "draft_revision", "has_audio", "has_auxiliary_audio", "has_response_audio", "has_user_audio", "memory", "metadata", "modality", "session_id", "status", "transcript", "transcript_url", "truncated", "user_id", "withheld"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_INITIATION_CLIENT_DATA_FIELD_NUMBER: _ClassVar[int]
    DRAFT_REVISION_FIELD_NUMBER: _ClassVar[int]
    HAS_AUDIO_FIELD_NUMBER: _ClassVar[int]
    HAS_AUXILIARY_AUDIO_FIELD_NUMBER: _ClassVar[int]
    HAS_RESPONSE_AUDIO_FIELD_NUMBER: _ClassVar[int]
    HAS_USER_AUDIO_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_URL_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    agent_version: int
    analysis: CallAnalysis
    conversation_id: str
    conversation_initiation_client_data: ConversationInitiation
    draft_revision: int
    has_audio: bool
    has_auxiliary_audio: bool
    has_response_audio: bool
    has_user_audio: bool
    memory: CallMemory
    metadata: CallMetadata
    modality: str
    session_id: str
    status: str
    transcript: _containers.RepeatedCompositeFieldContainer[TranscriptEntry]
    transcript_url: str
    truncated: bool
    user_id: str
    withheld: str
    def __init__(self, agent_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., session_id: _Optional[str] = ..., status: _Optional[str] = ..., user_id: _Optional[str] = ..., transcript: _Optional[_Iterable[_Union[TranscriptEntry, _Mapping]]] = ..., metadata: _Optional[_Union[CallMetadata, _Mapping]] = ..., analysis: _Optional[_Union[CallAnalysis, _Mapping]] = ..., conversation_initiation_client_data: _Optional[_Union[ConversationInitiation, _Mapping]] = ..., has_audio: bool = ..., has_user_audio: bool = ..., has_response_audio: bool = ..., truncated: bool = ..., transcript_url: _Optional[str] = ..., agent_version: _Optional[int] = ..., modality: _Optional[str] = ..., memory: _Optional[_Union[CallMemory, _Mapping]] = ..., withheld: _Optional[str] = ..., draft_revision: _Optional[int] = ..., has_auxiliary_audio: bool = ...) -> None: ...

class SubscriptionChanged(_message.Message):
    __slots__ = ["current_period_end", "customer_id", "plan", "previous_status", "status", "subscription_id"]
    CURRENT_PERIOD_END_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    current_period_end: _timestamp_pb2.Timestamp
    customer_id: str
    plan: str
    previous_status: str
    status: str
    subscription_id: str
    def __init__(self, subscription_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., previous_status: _Optional[str] = ..., status: _Optional[str] = ..., plan: _Optional[str] = ..., current_period_end: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TranscriptEntry(_message.Message):
    __slots__ = ["conversation_turn_metrics", "feedback", "interrupted", "message", "operator", "role", "time_in_call_secs", "tool_calls", "tool_results", "turn_id"]
    class ConversationTurnMetricsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ElapsedTime
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ElapsedTime, _Mapping]] = ...) -> None: ...
    CONVERSATION_TURN_METRICS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TIME_IN_CALL_SECS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_turn_metrics: _containers.MessageMap[str, ElapsedTime]
    feedback: EntryFeedback
    interrupted: bool
    message: str
    operator: str
    role: str
    time_in_call_secs: int
    tool_calls: _containers.RepeatedCompositeFieldContainer[TranscriptToolCall]
    tool_results: _containers.RepeatedCompositeFieldContainer[TranscriptToolResult]
    turn_id: str
    def __init__(self, role: _Optional[str] = ..., message: _Optional[str] = ..., turn_id: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[TranscriptToolCall, _Mapping]]] = ..., tool_results: _Optional[_Iterable[_Union[TranscriptToolResult, _Mapping]]] = ..., feedback: _Optional[_Union[EntryFeedback, _Mapping]] = ..., time_in_call_secs: _Optional[int] = ..., conversation_turn_metrics: _Optional[_Mapping[str, ElapsedTime]] = ..., interrupted: bool = ..., operator: _Optional[str] = ...) -> None: ...

class TranscriptToolCall(_message.Message):
    __slots__ = ["params_as_json", "request_id", "tool_has_been_called", "tool_name"]
    PARAMS_AS_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_HAS_BEEN_CALLED_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    params_as_json: str
    request_id: str
    tool_has_been_called: bool
    tool_name: str
    def __init__(self, request_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., params_as_json: _Optional[str] = ..., tool_has_been_called: bool = ...) -> None: ...

class TranscriptToolResult(_message.Message):
    __slots__ = ["is_error", "request_id", "result_value", "tool_has_been_called", "tool_latency_ms", "tool_latency_secs", "tool_name"]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    TOOL_HAS_BEEN_CALLED_FIELD_NUMBER: _ClassVar[int]
    TOOL_LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    TOOL_LATENCY_SECS_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    is_error: bool
    request_id: str
    result_value: str
    tool_has_been_called: bool
    tool_latency_ms: int
    tool_latency_secs: float
    tool_name: str
    def __init__(self, request_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., result_value: _Optional[str] = ..., is_error: bool = ..., tool_latency_ms: _Optional[int] = ..., tool_has_been_called: bool = ..., tool_latency_secs: _Optional[float] = ...) -> None: ...

class TurnPersistenceFailed(_message.Message):
    __slots__ = ["agent_id", "failed_at", "recovered", "session_id", "turn_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    FAILED_AT_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    failed_at: _timestamp_pb2.Timestamp
    recovered: bool
    session_id: str
    turn_id: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., recovered: bool = ..., failed_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UsageThresholdCrossed(_message.Message):
    __slots__ = ["alert_id", "limit", "limit_reached_on", "meter", "period", "threshold_percent", "value", "workspace_id"]
    ALERT_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_REACHED_ON_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_PERCENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    alert_id: str
    limit: float
    limit_reached_on: str
    meter: str
    period: str
    threshold_percent: float
    value: float
    workspace_id: str
    def __init__(self, meter: _Optional[str] = ..., period: _Optional[str] = ..., value: _Optional[float] = ..., limit: _Optional[float] = ..., threshold_percent: _Optional[float] = ..., alert_id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., limit_reached_on: _Optional[str] = ...) -> None: ...

class WebhookDisabled(_message.Message):
    __slots__ = ["consecutive_failures", "disabled_at", "endpoint_id", "last_success_at", "reason", "url"]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    DISABLED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SUCCESS_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    consecutive_failures: int
    disabled_at: _timestamp_pb2.Timestamp
    endpoint_id: str
    last_success_at: _timestamp_pb2.Timestamp
    reason: str
    url: str
    def __init__(self, endpoint_id: _Optional[str] = ..., url: _Optional[str] = ..., reason: _Optional[str] = ..., consecutive_failures: _Optional[int] = ..., last_success_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., disabled_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
