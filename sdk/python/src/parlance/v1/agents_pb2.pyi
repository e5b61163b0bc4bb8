from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from parlance.v1 import workspaces_pb2 as _workspaces_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Agent(_message.Message):
    __slots__ = ["analysis", "budgets", "callbacks", "client_overrides", "created_at", "fatigue", "first_message", "guards", "handover", "id", "idle_timeout_seconds", "injection_policy", "instructions", "language", "locked_overrides", "max_duration_seconds", "memory", "model", "name", "privacy", "retrieval", "tools_config", "updated_at", "version", "voice", "widget", "workspace_id"]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    BUDGETS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    FATIGUE_FIELD_NUMBER: _ClassVar[int]
    FIRST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    GUARDS_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INJECTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    LOCKED_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    MAX_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_CONFIG_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    WIDGET_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    analysis: AgentAnalysis
    budgets: _containers.RepeatedCompositeFieldContainer[AgentBudget]
    callbacks: AgentCallbacks
    client_overrides: _containers.RepeatedScalarFieldContainer[str]
    created_at: _timestamp_pb2.Timestamp
    fatigue: _containers.RepeatedCompositeFieldContainer[FatigueWindow]
    first_message: str
    guards: _containers.RepeatedCompositeFieldContainer[AgentGuard]
    handover: AgentHandover
    id: str
    idle_timeout_seconds: int
    injection_policy: str
    instructions: str
    language: str
    locked_overrides: _containers.RepeatedScalarFieldContainer[str]
    max_duration_seconds: int
    memory: AgentMemory
    model: AgentModel
    name: str
    privacy: PrivacySettings
    retrieval: AgentRetrieval
    tools_config: ToolsConfig
    updated_at: _timestamp_pb2.Timestamp
    version: int
    voice: AgentVoice
    widget: AgentWidget
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., name: _Optional[str] = ..., instructions: _Optional[str] = ..., first_message: _Optional[str] = ..., language: _Optional[str] = ..., model: _Optional[_Union[AgentModel, _Mapping]] = ..., voice: _Optional[_Union[AgentVoice, _Mapping]] = ..., retrieval: _Optional[_Union[AgentRetrieval, _Mapping]] = ..., tools_config: _Optional[_Union[ToolsConfig, _Mapping]] = ..., guards: _Optional[_Iterable[_Union[AgentGuard, _Mapping]]] = ..., fatigue: _Optional[_Iterable[_Union[FatigueWindow, _Mapping]]] = ..., memory: _Optional[_Union[AgentMemory, _Mapping]] = ..., max_duration_seconds: _Optional[int] = ..., idle_timeout_seconds: _Optional[int] = ..., locked_overrides: _Optional[_Iterable[str]] = ..., client_overrides: _Optional[_Iterable[str]] = ..., version: _Optional[int] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., analysis: _Optional[_Union[AgentAnalysis, _Mapping]] = ..., injection_policy: _Optional[str] = ..., privacy: _Optional[_Union[PrivacySettings, _Mapping]] = ..., budgets: _Optional[_Iterable[_Union[AgentBudget, _Mapping]]] = ..., callbacks: _Optional[_Union[AgentCallbacks, _Mapping]] = ..., handover: _Optional[_Union[AgentHandover, _Mapping]] = ..., widget: _Optional[_Union[AgentWidget, _Mapping]] = ...) -> None: ...

class AgentAnalysis(_message.Message):
    __slots__ = ["criteria", "data", "enabled", "language"]
    CRITERIA_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    criteria: _containers.RepeatedCompositeFieldContainer[AnalysisCriterion]
    data: _containers.RepeatedCompositeFieldContainer[AnalysisField]
    enabled: bool
    language: str
    def __init__(self, enabled: bool = ..., criteria: _Optional[_Iterable[_Union[AnalysisCriterion, _Mapping]]] = ..., data: _Optional[_Iterable[_Union[AnalysisField, _Mapping]]] = ..., language: _Optional[str] = ...) -> None: ...

class AgentBudget(_message.Message):
    __slots__ = ["degrade_model", "degrade_percent", "max_cost", "max_tokens", "message", "per"]
    DEGRADE_MODEL_FIELD_NUMBER: _ClassVar[int]
    DEGRADE_PERCENT_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PER_FIELD_NUMBER: _ClassVar[int]
    degrade_model: ModelRef
    degrade_percent: int
    max_cost: float
    max_tokens: float
    message: str
    per: str
    def __init__(self, per: _Optional[str] = ..., max_tokens: _Optional[float] = ..., max_cost: _Optional[float] = ..., degrade_model: _Optional[_Union[ModelRef, _Mapping]] = ..., degrade_percent: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class AgentCallbacks(_message.Message):
    __slots__ = ["countries", "from_number", "min_interval_minutes", "press_keys", "quiet_from", "quiet_until", "require_consent", "ring_seconds", "voicemail", "voicemail_message"]
    COUNTRIES_FIELD_NUMBER: _ClassVar[int]
    FROM_NUMBER_FIELD_NUMBER: _ClassVar[int]
    MIN_INTERVAL_MINUTES_FIELD_NUMBER: _ClassVar[int]
    PRESS_KEYS_FIELD_NUMBER: _ClassVar[int]
    QUIET_FROM_FIELD_NUMBER: _ClassVar[int]
    QUIET_UNTIL_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_CONSENT_FIELD_NUMBER: _ClassVar[int]
    RING_SECONDS_FIELD_NUMBER: _ClassVar[int]
    VOICEMAIL_FIELD_NUMBER: _ClassVar[int]
    VOICEMAIL_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    countries: _containers.RepeatedScalarFieldContainer[str]
    from_number: str
    min_interval_minutes: int
    press_keys: bool
    quiet_from: str
    quiet_until: str
    require_consent: bool
    ring_seconds: int
    voicemail: str
    voicemail_message: str
    def __init__(self, countries: _Optional[_Iterable[str]] = ..., quiet_from: _Optional[str] = ..., quiet_until: _Optional[str] = ..., min_interval_minutes: _Optional[int] = ..., require_consent: bool = ..., from_number: _Optional[str] = ..., voicemail: _Optional[str] = ..., voicemail_message: _Optional[str] = ..., ring_seconds: _Optional[int] = ..., press_keys: bool = ...) -> None: ...

class AgentClientTool(_message.Message):
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

class AgentDraft(_message.Message):
    __slots__ = ["agent", "agent_id", "created_at", "revision", "stale", "updated_at", "updated_by"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_BY_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    agent_id: str
    created_at: _timestamp_pb2.Timestamp
    revision: int
    stale: bool
    updated_at: _timestamp_pb2.Timestamp
    updated_by: str
    def __init__(self, agent_id: _Optional[str] = ..., agent: _Optional[_Union[Agent, _Mapping]] = ..., revision: _Optional[int] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_by: _Optional[str] = ..., stale: bool = ...) -> None: ...

class AgentGuard(_message.Message):
    __slots__ = ["action", "examples", "judge", "min_similarity", "name", "patterns", "phrases", "reply"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    JUDGE_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    PHRASES_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    action: str
    examples: _containers.RepeatedScalarFieldContainer[str]
    judge: GuardJudge
    min_similarity: float
    name: str
    patterns: _containers.RepeatedScalarFieldContainer[str]
    phrases: _containers.RepeatedScalarFieldContainer[str]
    reply: str
    def __init__(self, name: _Optional[str] = ..., phrases: _Optional[_Iterable[str]] = ..., patterns: _Optional[_Iterable[str]] = ..., examples: _Optional[_Iterable[str]] = ..., action: _Optional[str] = ..., reply: _Optional[str] = ..., min_similarity: _Optional[float] = ..., judge: _Optional[_Union[GuardJudge, _Mapping]] = ...) -> None: ...

class AgentHandover(_message.Message):
    __slots__ = ["destinations", "enabled", "mode", "ring_seconds"]
    DESTINATIONS_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    RING_SECONDS_FIELD_NUMBER: _ClassVar[int]
    destinations: _containers.RepeatedCompositeFieldContainer[HandoverDestination]
    enabled: bool
    mode: str
    ring_seconds: int
    def __init__(self, enabled: bool = ..., destinations: _Optional[_Iterable[_Union[HandoverDestination, _Mapping]]] = ..., mode: _Optional[str] = ..., ring_seconds: _Optional[int] = ...) -> None: ...

class AgentLatency(_message.Message):
    __slots__ = ["answers", "stages"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    answers: int
    stages: _containers.RepeatedCompositeFieldContainer[LatencyStage]
    def __init__(self, answers: _Optional[int] = ..., stages: _Optional[_Iterable[_Union[LatencyStage, _Mapping]]] = ...) -> None: ...

class AgentMemory(_message.Message):
    __slots__ = ["confirm_categories", "enabled", "max_tokens", "skip_extraction"]
    CONFIRM_CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SKIP_EXTRACTION_FIELD_NUMBER: _ClassVar[int]
    confirm_categories: _containers.RepeatedScalarFieldContainer[str]
    enabled: bool
    max_tokens: int
    skip_extraction: bool
    def __init__(self, enabled: bool = ..., confirm_categories: _Optional[_Iterable[str]] = ..., max_tokens: _Optional[int] = ..., skip_extraction: bool = ...) -> None: ...

class AgentModel(_message.Message):
    __slots__ = ["fallbacks", "history_tokens", "max_output_tokens", "name", "provider", "temperature"]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    fallbacks: _containers.RepeatedCompositeFieldContainer[ModelRef]
    history_tokens: int
    max_output_tokens: int
    name: str
    provider: str
    temperature: float
    def __init__(self, provider: _Optional[str] = ..., name: _Optional[str] = ..., temperature: _Optional[float] = ..., max_output_tokens: _Optional[int] = ..., fallbacks: _Optional[_Iterable[_Union[ModelRef, _Mapping]]] = ..., history_tokens: _Optional[int] = ...) -> None: ...

class AgentRecording(_message.Message):
    __slots__ = ["enabled", "notice"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    notice: str
    def __init__(self, enabled: bool = ..., notice: _Optional[str] = ...) -> None: ...

class AgentRetrieval(_message.Message):
    __slots__ = ["min_similarity", "ranking", "rerank", "tags", "top_k"]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    min_similarity: float
    ranking: str
    rerank: bool
    tags: TagFilter
    top_k: int
    def __init__(self, top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., ranking: _Optional[str] = ..., rerank: bool = ..., tags: _Optional[_Union[TagFilter, _Mapping]] = ...) -> None: ...

class AgentVersion(_message.Message):
    __slots__ = ["agent", "agent_id", "created_at", "version"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    agent_id: str
    created_at: _timestamp_pb2.Timestamp
    version: int
    def __init__(self, agent_id: _Optional[str] = ..., version: _Optional[int] = ..., agent: _Optional[_Union[Agent, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AgentVoice(_message.Message):
    __slots__ = ["input_audio_format", "output_audio_format", "recording", "stt", "tts", "turn_detection", "vad", "waiting"]
    INPUT_AUDIO_FORMAT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_AUDIO_FORMAT_FIELD_NUMBER: _ClassVar[int]
    RECORDING_FIELD_NUMBER: _ClassVar[int]
    STT_FIELD_NUMBER: _ClassVar[int]
    TTS_FIELD_NUMBER: _ClassVar[int]
    TURN_DETECTION_FIELD_NUMBER: _ClassVar[int]
    VAD_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    input_audio_format: str
    output_audio_format: str
    recording: AgentRecording
    stt: _struct_pb2.Struct
    tts: _struct_pb2.Struct
    turn_detection: _struct_pb2.Struct
    vad: _struct_pb2.Struct
    waiting: AgentWaiting
    def __init__(self, stt: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tts: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., vad: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., turn_detection: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., input_audio_format: _Optional[str] = ..., output_audio_format: _Optional[str] = ..., recording: _Optional[_Union[AgentRecording, _Mapping]] = ..., waiting: _Optional[_Union[AgentWaiting, _Mapping]] = ...) -> None: ...

class AgentWaiting(_message.Message):
    __slots__ = ["filler_after_ms", "fillers", "goodbye_message", "protect_first_message", "reengage_after_ms", "reengage_message"]
    FILLERS_FIELD_NUMBER: _ClassVar[int]
    FILLER_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROTECT_FIRST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REENGAGE_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    REENGAGE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    filler_after_ms: int
    fillers: _containers.RepeatedScalarFieldContainer[str]
    goodbye_message: str
    protect_first_message: bool
    reengage_after_ms: int
    reengage_message: str
    def __init__(self, filler_after_ms: _Optional[int] = ..., fillers: _Optional[_Iterable[str]] = ..., reengage_after_ms: _Optional[int] = ..., reengage_message: _Optional[str] = ..., goodbye_message: _Optional[str] = ..., protect_first_message: bool = ...) -> None: ...

class AgentWidget(_message.Message):
    __slots__ = ["allowed_origins"]
    ALLOWED_ORIGINS_FIELD_NUMBER: _ClassVar[int]
    allowed_origins: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, allowed_origins: _Optional[_Iterable[str]] = ...) -> None: ...

class AnalysisCriterion(_message.Message):
    __slots__ = ["id", "name", "prompt"]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    prompt: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., prompt: _Optional[str] = ...) -> None: ...

class AnalysisField(_message.Message):
    __slots__ = ["description", "enum", "id", "type"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ENUM_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    description: str
    enum: _containers.RepeatedScalarFieldContainer[str]
    id: str
    type: str
    def __init__(self, id: _Optional[str] = ..., type: _Optional[str] = ..., description: _Optional[str] = ..., enum: _Optional[_Iterable[str]] = ...) -> None: ...

class CheckGuardsRequest(_message.Message):
    __slots__ = ["agent_id", "text", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    text: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class CheckGuardsResponse(_message.Message):
    __slots__ = ["reply", "verdicts"]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    reply: str
    verdicts: _containers.RepeatedCompositeFieldContainer[GuardVerdict]
    def __init__(self, verdicts: _Optional[_Iterable[_Union[GuardVerdict, _Mapping]]] = ..., reply: _Optional[str] = ...) -> None: ...

class CompareAgentDraftRequest(_message.Message):
    __slots__ = ["agent_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class CompareAgentVersionsRequest(_message.Message):
    __slots__ = ["against", "agent_id", "version", "workspace_id"]
    AGAINST_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    against: int
    agent_id: str
    version: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., version: _Optional[int] = ..., against: _Optional[int] = ...) -> None: ...

class CompareAgentVersionsResponse(_message.Message):
    __slots__ = ["changes"]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[VersionChange]
    def __init__(self, changes: _Optional[_Iterable[_Union[VersionChange, _Mapping]]] = ...) -> None: ...

class CreateAgentRequest(_message.Message):
    __slots__ = ["analysis", "budgets", "callbacks", "client_overrides", "fatigue", "first_message", "guards", "handover", "idle_timeout_seconds", "injection_policy", "instructions", "language", "locked_overrides", "max_duration_seconds", "memory", "model", "name", "privacy", "retrieval", "tools_config", "voice", "widget", "workspace_id"]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    BUDGETS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    FATIGUE_FIELD_NUMBER: _ClassVar[int]
    FIRST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    GUARDS_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INJECTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    LOCKED_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    MAX_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_CONFIG_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    WIDGET_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    analysis: AgentAnalysis
    budgets: _containers.RepeatedCompositeFieldContainer[AgentBudget]
    callbacks: AgentCallbacks
    client_overrides: _containers.RepeatedScalarFieldContainer[str]
    fatigue: _containers.RepeatedCompositeFieldContainer[FatigueWindow]
    first_message: str
    guards: _containers.RepeatedCompositeFieldContainer[AgentGuard]
    handover: AgentHandover
    idle_timeout_seconds: int
    injection_policy: str
    instructions: str
    language: str
    locked_overrides: _containers.RepeatedScalarFieldContainer[str]
    max_duration_seconds: int
    memory: AgentMemory
    model: AgentModel
    name: str
    privacy: PrivacySettings
    retrieval: AgentRetrieval
    tools_config: ToolsConfig
    voice: AgentVoice
    widget: AgentWidget
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., name: _Optional[str] = ..., instructions: _Optional[str] = ..., first_message: _Optional[str] = ..., language: _Optional[str] = ..., model: _Optional[_Union[AgentModel, _Mapping]] = ..., voice: _Optional[_Union[AgentVoice, _Mapping]] = ..., retrieval: _Optional[_Union[AgentRetrieval, _Mapping]] = ..., tools_config: _Optional[_Union[ToolsConfig, _Mapping]] = ..., guards: _Optional[_Iterable[_Union[AgentGuard, _Mapping]]] = ..., fatigue: _Optional[_Iterable[_Union[FatigueWindow, _Mapping]]] = ..., memory: _Optional[_Union[AgentMemory, _Mapping]] = ..., max_duration_seconds: _Optional[int] = ..., idle_timeout_seconds: _Optional[int] = ..., locked_overrides: _Optional[_Iterable[str]] = ..., client_overrides: _Optional[_Iterable[str]] = ..., analysis: _Optional[_Union[AgentAnalysis, _Mapping]] = ..., injection_policy: _Optional[str] = ..., privacy: _Optional[_Union[PrivacySettings, _Mapping]] = ..., budgets: _Optional[_Iterable[_Union[AgentBudget, _Mapping]]] = ..., callbacks: _Optional[_Union[AgentCallbacks, _Mapping]] = ..., handover: _Optional[_Union[AgentHandover, _Mapping]] = ..., widget: _Optional[_Union[AgentWidget, _Mapping]] = ...) -> None: ...

class DeleteAgentDraftRequest(_message.Message):
    __slots__ = ["agent_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class DeleteAgentRequest(_message.Message):
    __slots__ = ["agent_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class FatigueWindow(_message.Message):
    __slots__ = ["action", "max_minutes", "max_sessions", "max_turns", "message", "window"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    MAX_MINUTES_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    action: str
    max_minutes: int
    max_sessions: int
    max_turns: int
    message: str
    window: str
    def __init__(self, window: _Optional[str] = ..., max_turns: _Optional[int] = ..., max_sessions: _Optional[int] = ..., max_minutes: _Optional[int] = ..., action: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class GetAgentDraftRequest(_message.Message):
    __slots__ = ["agent_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class GetAgentLatencyRequest(_message.Message):
    __slots__ = ["agent_id", "agent_version", "since", "until", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    agent_version: int
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., agent_version: _Optional[int] = ...) -> None: ...

class GetAgentRequest(_message.Message):
    __slots__ = ["agent_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class GuardJudge(_message.Message):
    __slots__ = ["instructions", "model", "on_failure"]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ON_FAILURE_FIELD_NUMBER: _ClassVar[int]
    instructions: str
    model: ModelRef
    on_failure: str
    def __init__(self, instructions: _Optional[str] = ..., model: _Optional[_Union[ModelRef, _Mapping]] = ..., on_failure: _Optional[str] = ...) -> None: ...

class GuardVerdict(_message.Message):
    __slots__ = ["action", "guard", "matched", "matched_by", "similarity"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    GUARD_FIELD_NUMBER: _ClassVar[int]
    MATCHED_BY_FIELD_NUMBER: _ClassVar[int]
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    action: str
    guard: str
    matched: str
    matched_by: str
    similarity: float
    def __init__(self, guard: _Optional[str] = ..., action: _Optional[str] = ..., matched: _Optional[str] = ..., matched_by: _Optional[str] = ..., similarity: _Optional[float] = ...) -> None: ...

class HandoverDestination(_message.Message):
    __slots__ = ["name", "phone_number"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    name: str
    phone_number: str
    def __init__(self, name: _Optional[str] = ..., phone_number: _Optional[str] = ...) -> None: ...

class LatencyStage(_message.Message):
    __slots__ = ["answers", "max_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "stage"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    MAX_MS_FIELD_NUMBER: _ClassVar[int]
    MIN_MS_FIELD_NUMBER: _ClassVar[int]
    P50_MS_FIELD_NUMBER: _ClassVar[int]
    P90_MS_FIELD_NUMBER: _ClassVar[int]
    P95_MS_FIELD_NUMBER: _ClassVar[int]
    P99_MS_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    answers: int
    max_ms: int
    min_ms: int
    p50_ms: int
    p90_ms: int
    p95_ms: int
    p99_ms: int
    stage: str
    def __init__(self, stage: _Optional[str] = ..., answers: _Optional[int] = ..., min_ms: _Optional[int] = ..., p50_ms: _Optional[int] = ..., p90_ms: _Optional[int] = ..., p95_ms: _Optional[int] = ..., p99_ms: _Optional[int] = ..., max_ms: _Optional[int] = ...) -> None: ...

class ListAgentVersionsRequest(_message.Message):
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

class ListAgentVersionsResponse(_message.Message):
    __slots__ = ["next_page_token", "versions"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    versions: _containers.RepeatedCompositeFieldContainer[AgentVersion]
    def __init__(self, versions: _Optional[_Iterable[_Union[AgentVersion, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListAgentsRequest(_message.Message):
    __slots__ = ["order_by", "page_size", "page_token", "q", "workspace_id"]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    order_by: str
    page_size: int
    page_token: str
    q: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., q: _Optional[str] = ..., order_by: _Optional[str] = ...) -> None: ...

class ListAgentsResponse(_message.Message):
    __slots__ = ["agents", "next_page_token"]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    next_page_token: str
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ModelRef(_message.Message):
    __slots__ = ["name", "provider"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    name: str
    provider: str
    def __init__(self, provider: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class PrivacySettings(_message.Message):
    __slots__ = ["redact", "retention", "zero_retention"]
    REDACT_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    ZERO_RETENTION_FIELD_NUMBER: _ClassVar[int]
    redact: _containers.RepeatedScalarFieldContainer[str]
    retention: _workspaces_pb2.RetentionSettings
    zero_retention: bool
    def __init__(self, redact: _Optional[_Iterable[str]] = ..., zero_retention: bool = ..., retention: _Optional[_Union[_workspaces_pb2.RetentionSettings, _Mapping]] = ...) -> None: ...

class PublishAgentDraftRequest(_message.Message):
    __slots__ = ["agent_id", "overwrite", "revision", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    OVERWRITE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    overwrite: bool
    revision: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., revision: _Optional[int] = ..., overwrite: bool = ...) -> None: ...

class RollbackAgentRequest(_message.Message):
    __slots__ = ["agent_id", "version", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    version: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class SaveAgentDraftRequest(_message.Message):
    __slots__ = ["agent", "agent_id", "base_version", "revision", "workspace_id"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent: CreateAgentRequest
    agent_id: str
    base_version: int
    revision: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent: _Optional[_Union[CreateAgentRequest, _Mapping]] = ..., revision: _Optional[int] = ..., base_version: _Optional[int] = ...) -> None: ...

class TagFilter(_message.Message):
    __slots__ = ["all_of", "any_of", "none_of"]
    ALL_OF_FIELD_NUMBER: _ClassVar[int]
    ANY_OF_FIELD_NUMBER: _ClassVar[int]
    NONE_OF_FIELD_NUMBER: _ClassVar[int]
    all_of: _containers.RepeatedScalarFieldContainer[str]
    any_of: _containers.RepeatedScalarFieldContainer[str]
    none_of: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, all_of: _Optional[_Iterable[str]] = ..., any_of: _Optional[_Iterable[str]] = ..., none_of: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolsConfig(_message.Message):
    __slots__ = ["client_tool_timeout_seconds", "client_tools", "disabled_tools"]
    CLIENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_TOOL_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    DISABLED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    client_tool_timeout_seconds: int
    client_tools: _containers.RepeatedCompositeFieldContainer[AgentClientTool]
    disabled_tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, disabled_tools: _Optional[_Iterable[str]] = ..., client_tool_timeout_seconds: _Optional[int] = ..., client_tools: _Optional[_Iterable[_Union[AgentClientTool, _Mapping]]] = ...) -> None: ...

class UpdateAgentRequest(_message.Message):
    __slots__ = ["agent_id", "analysis", "budgets", "callbacks", "client_overrides", "fatigue", "first_message", "guards", "handover", "idle_timeout_seconds", "injection_policy", "instructions", "language", "locked_overrides", "max_duration_seconds", "memory", "model", "name", "privacy", "retrieval", "tools_config", "update_mask", "voice", "widget", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    BUDGETS_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    FATIGUE_FIELD_NUMBER: _ClassVar[int]
    FIRST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    GUARDS_FIELD_NUMBER: _ClassVar[int]
    HANDOVER_FIELD_NUMBER: _ClassVar[int]
    IDLE_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INJECTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    LOCKED_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    MAX_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_CONFIG_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    WIDGET_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    analysis: AgentAnalysis
    budgets: _containers.RepeatedCompositeFieldContainer[AgentBudget]
    callbacks: AgentCallbacks
    client_overrides: _containers.RepeatedScalarFieldContainer[str]
    fatigue: _containers.RepeatedCompositeFieldContainer[FatigueWindow]
    first_message: str
    guards: _containers.RepeatedCompositeFieldContainer[AgentGuard]
    handover: AgentHandover
    idle_timeout_seconds: int
    injection_policy: str
    instructions: str
    language: str
    locked_overrides: _containers.RepeatedScalarFieldContainer[str]
    max_duration_seconds: int
    memory: AgentMemory
    model: AgentModel
    name: str
    privacy: PrivacySettings
    retrieval: AgentRetrieval
    tools_config: ToolsConfig
    update_mask: _field_mask_pb2.FieldMask
    voice: AgentVoice
    widget: AgentWidget
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., instructions: _Optional[str] = ..., first_message: _Optional[str] = ..., language: _Optional[str] = ..., model: _Optional[_Union[AgentModel, _Mapping]] = ..., voice: _Optional[_Union[AgentVoice, _Mapping]] = ..., retrieval: _Optional[_Union[AgentRetrieval, _Mapping]] = ..., tools_config: _Optional[_Union[ToolsConfig, _Mapping]] = ..., guards: _Optional[_Iterable[_Union[AgentGuard, _Mapping]]] = ..., fatigue: _Optional[_Iterable[_Union[FatigueWindow, _Mapping]]] = ..., memory: _Optional[_Union[AgentMemory, _Mapping]] = ..., max_duration_seconds: _Optional[int] = ..., idle_timeout_seconds: _Optional[int] = ..., locked_overrides: _Optional[_Iterable[str]] = ..., client_overrides: _Optional[_Iterable[str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., analysis: _Optional[_Union[AgentAnalysis, _Mapping]] = ..., injection_policy: _Optional[str] = ..., privacy: _Optional[_Union[PrivacySettings, _Mapping]] = ..., budgets: _Optional[_Iterable[_Union[AgentBudget, _Mapping]]] = ..., callbacks: _Optional[_Union[AgentCallbacks, _Mapping]] = ..., handover: _Optional[_Union[AgentHandover, _Mapping]] = ..., widget: _Optional[_Union[AgentWidget, _Mapping]] = ...) -> None: ...

class VersionChange(_message.Message):
    __slots__ = ["path", "to"]
    FROM_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    path: str
    to: _struct_pb2.Value
    def __init__(self, path: _Optional[str] = ..., to: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., **kwargs) -> None: ...
