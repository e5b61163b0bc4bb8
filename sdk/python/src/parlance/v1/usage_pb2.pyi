from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateUsageAlertRequest(_message.Message):
    __slots__ = ["meter", "percent", "quantity"]
    METER_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    meter: str
    percent: int
    quantity: float
    def __init__(self, meter: _Optional[str] = ..., quantity: _Optional[float] = ..., percent: _Optional[int] = ...) -> None: ...

class DeleteUsageAlertRequest(_message.Message):
    __slots__ = ["alert_id"]
    ALERT_ID_FIELD_NUMBER: _ClassVar[int]
    alert_id: str
    def __init__(self, alert_id: _Optional[str] = ...) -> None: ...

class GetUsageRequest(_message.Message):
    __slots__ = ["agent_id", "month", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MONTH_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    month: str
    workspace_id: str
    def __init__(self, month: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class ListUsageAlertsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListUsageAlertsResponse(_message.Message):
    __slots__ = ["alerts"]
    ALERTS_FIELD_NUMBER: _ClassVar[int]
    alerts: _containers.RepeatedCompositeFieldContainer[UsageAlert]
    def __init__(self, alerts: _Optional[_Iterable[_Union[UsageAlert, _Mapping]]] = ...) -> None: ...

class ListUsageDaysRequest(_message.Message):
    __slots__ = ["agent_id", "group_by", "meter", "to", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    GROUP_BY_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    group_by: _containers.RepeatedScalarFieldContainer[str]
    meter: str
    to: str
    workspace_id: str
    def __init__(self, to: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., meter: _Optional[str] = ..., group_by: _Optional[_Iterable[str]] = ..., **kwargs) -> None: ...

class ListUsageDaysResponse(_message.Message):
    __slots__ = ["currency", "rows"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    currency: str
    rows: _containers.RepeatedCompositeFieldContainer[UsageRow]
    def __init__(self, rows: _Optional[_Iterable[_Union[UsageRow, _Mapping]]] = ..., currency: _Optional[str] = ...) -> None: ...

class MeterUsage(_message.Message):
    __slots__ = ["expected", "limit", "limit_reached_on", "meter", "percent", "plan_with_more", "quantity"]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_REACHED_ON_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    PLAN_WITH_MORE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    expected: float
    limit: float
    limit_reached_on: str
    meter: str
    percent: float
    plan_with_more: str
    quantity: float
    def __init__(self, meter: _Optional[str] = ..., quantity: _Optional[float] = ..., limit: _Optional[float] = ..., percent: _Optional[float] = ..., expected: _Optional[float] = ..., limit_reached_on: _Optional[str] = ..., plan_with_more: _Optional[str] = ...) -> None: ...

class PlanFeatures(_message.Message):
    __slots__ = ["audio_days", "mcp", "models", "tools", "transcript_days"]
    AUDIO_DAYS_FIELD_NUMBER: _ClassVar[int]
    MCP_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_DAYS_FIELD_NUMBER: _ClassVar[int]
    audio_days: int
    mcp: bool
    models: _containers.RepeatedScalarFieldContainer[str]
    tools: bool
    transcript_days: int
    def __init__(self, tools: bool = ..., mcp: bool = ..., models: _Optional[_Iterable[str]] = ..., transcript_days: _Optional[int] = ..., audio_days: _Optional[int] = ...) -> None: ...

class PlanLimit(_message.Message):
    __slots__ = ["limit", "name", "plan_with_more", "used"]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PLAN_WITH_MORE_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    limit: float
    name: str
    plan_with_more: str
    used: float
    def __init__(self, name: _Optional[str] = ..., limit: _Optional[float] = ..., used: _Optional[float] = ..., plan_with_more: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ["begins_at", "cost", "currency", "ends_at", "features", "limits", "meters", "month", "plan", "timezone"]
    BEGINS_AT_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    METERS_FIELD_NUMBER: _ClassVar[int]
    MONTH_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    begins_at: _timestamp_pb2.Timestamp
    cost: str
    currency: str
    ends_at: _timestamp_pb2.Timestamp
    features: PlanFeatures
    limits: _containers.RepeatedCompositeFieldContainer[PlanLimit]
    meters: _containers.RepeatedCompositeFieldContainer[MeterUsage]
    month: str
    plan: str
    timezone: str
    def __init__(self, month: _Optional[str] = ..., begins_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., timezone: _Optional[str] = ..., plan: _Optional[str] = ..., meters: _Optional[_Iterable[_Union[MeterUsage, _Mapping]]] = ..., cost: _Optional[str] = ..., currency: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[PlanLimit, _Mapping]]] = ..., features: _Optional[_Union[PlanFeatures, _Mapping]] = ...) -> None: ...

class UsageAlert(_message.Message):
    __slots__ = ["created_at", "id", "meter", "percent", "quantity"]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    created_at: _timestamp_pb2.Timestamp
    id: str
    meter: str
    percent: int
    quantity: float
    def __init__(self, id: _Optional[str] = ..., meter: _Optional[str] = ..., quantity: _Optional[float] = ..., percent: _Optional[int] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UsageRow(_message.Message):
    __slots__ = ["agent_id", "cost", "day", "meter", "model", "month", "quantity", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MONTH_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    cost: str
    day: str
    meter: str
    model: str
    month: str
    quantity: float
    workspace_id: str
    def __init__(self, day: _Optional[str] = ..., month: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., model: _Optional[str] = ..., meter: _Optional[str] = ..., quantity: _Optional[float] = ..., cost: _Optional[str] = ...) -> None: ...
