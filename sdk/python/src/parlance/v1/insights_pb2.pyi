from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Activity(_message.Message):
    __slots__ = ["currency", "step", "steps", "timezone", "total"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    currency: str
    step: str
    steps: _containers.RepeatedCompositeFieldContainer[ActivityStep]
    timezone: str
    total: ActivityStep
    def __init__(self, step: _Optional[str] = ..., timezone: _Optional[str] = ..., currency: _Optional[str] = ..., steps: _Optional[_Iterable[_Union[ActivityStep, _Mapping]]] = ..., total: _Optional[_Union[ActivityStep, _Mapping]] = ...) -> None: ...

class ActivityStep(_message.Message):
    __slots__ = ["answers_without_passage", "cost", "deliveries", "failed_deliveries", "failed_sessions", "failed_sources", "failed_tool_calls", "failed_turns", "knowledge_answers", "sessions", "sources_ready", "starts_at", "tokens", "tool_calls", "turns", "voice_minutes"]
    ANSWERS_WITHOUT_PASSAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    FAILED_DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    FAILED_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    FAILED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    FAILED_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILED_TURNS_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_READY_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    VOICE_MINUTES_FIELD_NUMBER: _ClassVar[int]
    answers_without_passage: int
    cost: str
    deliveries: int
    failed_deliveries: int
    failed_sessions: int
    failed_sources: int
    failed_tool_calls: int
    failed_turns: int
    knowledge_answers: int
    sessions: int
    sources_ready: int
    starts_at: _timestamp_pb2.Timestamp
    tokens: float
    tool_calls: int
    turns: int
    voice_minutes: float
    def __init__(self, starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sessions: _Optional[int] = ..., failed_sessions: _Optional[int] = ..., voice_minutes: _Optional[float] = ..., turns: _Optional[int] = ..., failed_turns: _Optional[int] = ..., knowledge_answers: _Optional[int] = ..., answers_without_passage: _Optional[int] = ..., tokens: _Optional[float] = ..., cost: _Optional[str] = ..., tool_calls: _Optional[int] = ..., failed_tool_calls: _Optional[int] = ..., deliveries: _Optional[int] = ..., failed_deliveries: _Optional[int] = ..., sources_ready: _Optional[int] = ..., failed_sources: _Optional[int] = ...) -> None: ...

class GetActivityRequest(_message.Message):
    __slots__ = ["agent_id", "since", "step", "timezone", "until", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    since: _timestamp_pb2.Timestamp
    step: str
    timezone: str
    until: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., step: _Optional[str] = ..., timezone: _Optional[str] = ...) -> None: ...
