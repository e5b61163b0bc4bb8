from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CalendarEntry(_message.Message):
    __slots__ = ["agent_id", "at", "callback_id", "reason", "schedule_id", "status", "timezone", "user_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    at: _timestamp_pb2.Timestamp
    callback_id: str
    reason: str
    schedule_id: str
    status: str
    timezone: str
    user_id: str
    def __init__(self, at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., callback_id: _Optional[str] = ..., schedule_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., status: _Optional[str] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CallConsent(_message.Message):
    __slots__ = ["granted", "note", "recorded_at", "user_id", "workspace_id"]
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    granted: bool
    note: str
    recorded_at: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., granted: bool = ..., note: _Optional[str] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Callback(_message.Message):
    __slots__ = ["agent_id", "at", "attempts", "batch_id", "created_at", "created_by", "dynamic_variables", "end_reason", "ended_at", "id", "max_attempts", "next_attempt_at", "origin_session_id", "phone_number", "reason", "schedule_id", "session_id", "status", "timezone", "updated_at", "user_id", "waits_for", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    at: _timestamp_pb2.Timestamp
    attempts: _containers.RepeatedCompositeFieldContainer[CallbackAttempt]
    batch_id: str
    created_at: _timestamp_pb2.Timestamp
    created_by: str
    dynamic_variables: _containers.ScalarMap[str, str]
    end_reason: str
    ended_at: _timestamp_pb2.Timestamp
    id: str
    max_attempts: int
    next_attempt_at: _timestamp_pb2.Timestamp
    origin_session_id: str
    phone_number: str
    reason: str
    schedule_id: str
    session_id: str
    status: str
    timezone: str
    updated_at: _timestamp_pb2.Timestamp
    user_id: str
    waits_for: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., status: _Optional[str] = ..., at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., created_by: _Optional[str] = ..., origin_session_id: _Optional[str] = ..., schedule_id: _Optional[str] = ..., batch_id: _Optional[str] = ..., session_id: _Optional[str] = ..., attempts: _Optional[_Iterable[_Union[CallbackAttempt, _Mapping]]] = ..., max_attempts: _Optional[int] = ..., end_reason: _Optional[str] = ..., waits_for: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CallbackAttempt(_message.Message):
    __slots__ = ["answered_at", "call_id", "duration_seconds", "end_reason", "ended_at", "number", "session_id", "started_at", "status"]
    ANSWERED_AT_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    answered_at: _timestamp_pb2.Timestamp
    call_id: str
    duration_seconds: int
    end_reason: str
    ended_at: _timestamp_pb2.Timestamp
    number: int
    session_id: str
    started_at: _timestamp_pb2.Timestamp
    status: str
    def __init__(self, number: _Optional[int] = ..., call_id: _Optional[str] = ..., session_id: _Optional[str] = ..., status: _Optional[str] = ..., end_reason: _Optional[str] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., answered_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., duration_seconds: _Optional[int] = ...) -> None: ...

class CallbackBatch(_message.Message):
    __slots__ = ["agent_id", "concurrency", "created_at", "ended_at", "id", "name", "progress", "reason", "starts_at", "status", "timezone", "updated_at", "window_from", "window_until", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FROM_FIELD_NUMBER: _ClassVar[int]
    WINDOW_UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    concurrency: int
    created_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    id: str
    name: str
    progress: CallbackBatchProgress
    reason: str
    starts_at: _timestamp_pb2.Timestamp
    status: str
    timezone: str
    updated_at: _timestamp_pb2.Timestamp
    window_from: str
    window_until: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., window_from: _Optional[str] = ..., window_until: _Optional[str] = ..., timezone: _Optional[str] = ..., concurrency: _Optional[int] = ..., progress: _Optional[_Union[CallbackBatchProgress, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CallbackBatchProgress(_message.Message):
    __slots__ = ["canceled", "completed", "dialing", "failed", "in_progress", "no_answer", "scheduled", "total"]
    CANCELED_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    DIALING_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    IN_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    NO_ANSWER_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    canceled: int
    completed: int
    dialing: int
    failed: int
    in_progress: int
    no_answer: int
    scheduled: int
    total: int
    def __init__(self, total: _Optional[int] = ..., scheduled: _Optional[int] = ..., dialing: _Optional[int] = ..., in_progress: _Optional[int] = ..., completed: _Optional[int] = ..., no_answer: _Optional[int] = ..., failed: _Optional[int] = ..., canceled: _Optional[int] = ...) -> None: ...

class CallbackRecipient(_message.Message):
    __slots__ = ["dynamic_variables", "phone_number", "timezone", "user_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    dynamic_variables: _containers.ScalarMap[str, str]
    phone_number: str
    timezone: str
    user_id: str
    def __init__(self, phone_number: _Optional[str] = ..., user_id: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., timezone: _Optional[str] = ...) -> None: ...

class CallbackSchedule(_message.Message):
    __slots__ = ["agent_id", "created_at", "cron", "dynamic_variables", "enabled", "ends_at", "exceptions", "id", "last_skipped_at", "next_runs", "phone_number", "reason", "skipped_runs", "starts_at", "timezone", "updated_at", "user_id", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CRON_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    EXCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SKIPPED_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUNS_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_RUNS_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    created_at: _timestamp_pb2.Timestamp
    cron: str
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    ends_at: _timestamp_pb2.Timestamp
    exceptions: _containers.RepeatedScalarFieldContainer[str]
    id: str
    last_skipped_at: _timestamp_pb2.Timestamp
    next_runs: _containers.RepeatedCompositeFieldContainer[_timestamp_pb2.Timestamp]
    phone_number: str
    reason: str
    skipped_runs: int
    starts_at: _timestamp_pb2.Timestamp
    timezone: str
    updated_at: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., cron: _Optional[str] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., exceptions: _Optional[_Iterable[str]] = ..., enabled: bool = ..., next_runs: _Optional[_Iterable[_Union[_timestamp_pb2.Timestamp, _Mapping]]] = ..., skipped_runs: _Optional[int] = ..., last_skipped_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CancelCallbackRequest(_message.Message):
    __slots__ = ["callback_id", "workspace_id"]
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    callback_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., callback_id: _Optional[str] = ...) -> None: ...

class ControlCallbackBatchRequest(_message.Message):
    __slots__ = ["action", "batch_id", "workspace_id"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    action: str
    batch_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., batch_id: _Optional[str] = ..., action: _Optional[str] = ...) -> None: ...

class CreateCallbackBatchRequest(_message.Message):
    __slots__ = ["agent_id", "concurrency", "name", "reason", "recipients", "starts_at", "timezone", "window_from", "window_until", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECIPIENTS_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FROM_FIELD_NUMBER: _ClassVar[int]
    WINDOW_UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    concurrency: int
    name: str
    reason: str
    recipients: _containers.RepeatedCompositeFieldContainer[CallbackRecipient]
    starts_at: _timestamp_pb2.Timestamp
    timezone: str
    window_from: str
    window_until: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., recipients: _Optional[_Iterable[_Union[CallbackRecipient, _Mapping]]] = ..., reason: _Optional[str] = ..., starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., window_from: _Optional[str] = ..., window_until: _Optional[str] = ..., timezone: _Optional[str] = ..., concurrency: _Optional[int] = ...) -> None: ...

class CreateCallbackRequest(_message.Message):
    __slots__ = ["agent_id", "at", "dynamic_variables", "ignore_limits", "in_minutes", "phone_number", "reason", "timezone", "user_id", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LIMITS_FIELD_NUMBER: _ClassVar[int]
    IN_MINUTES_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    at: str
    dynamic_variables: _containers.ScalarMap[str, str]
    ignore_limits: bool
    in_minutes: int
    phone_number: str
    reason: str
    timezone: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., at: _Optional[str] = ..., in_minutes: _Optional[int] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., ignore_limits: bool = ...) -> None: ...

class CreateCallbackScheduleRequest(_message.Message):
    __slots__ = ["agent_id", "cron", "dynamic_variables", "enabled", "ends_at", "exceptions", "phone_number", "reason", "starts_at", "timezone", "user_id", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CRON_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    EXCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    cron: str
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    ends_at: _timestamp_pb2.Timestamp
    exceptions: _containers.RepeatedScalarFieldContainer[str]
    phone_number: str
    reason: str
    starts_at: _timestamp_pb2.Timestamp
    timezone: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., cron: _Optional[str] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., exceptions: _Optional[_Iterable[str]] = ..., enabled: bool = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ...) -> None: ...

class DeleteCallbackScheduleRequest(_message.Message):
    __slots__ = ["schedule_id", "workspace_id"]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., schedule_id: _Optional[str] = ...) -> None: ...

class ExportCallbackBatchRequest(_message.Message):
    __slots__ = ["batch_id", "workspace_id"]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., batch_id: _Optional[str] = ...) -> None: ...

class ExportCallbackBatchResponse(_message.Message):
    __slots__ = ["data"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class ExportCallbackCalendarRequest(_message.Message):
    __slots__ = ["until", "workspace_id"]
    FROM_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    until: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class ExportCallbackCalendarResponse(_message.Message):
    __slots__ = ["data"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class GetCallConsentRequest(_message.Message):
    __slots__ = ["user_id", "workspace_id"]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class GetCallbackBatchRequest(_message.Message):
    __slots__ = ["batch_id", "workspace_id"]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., batch_id: _Optional[str] = ...) -> None: ...

class GetCallbackCalendarRequest(_message.Message):
    __slots__ = ["until", "workspace_id"]
    FROM_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    until: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class GetCallbackCalendarResponse(_message.Message):
    __slots__ = ["entries", "truncated"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[CalendarEntry]
    truncated: bool
    def __init__(self, entries: _Optional[_Iterable[_Union[CalendarEntry, _Mapping]]] = ..., truncated: bool = ...) -> None: ...

class GetCallbackRequest(_message.Message):
    __slots__ = ["callback_id", "workspace_id"]
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    callback_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., callback_id: _Optional[str] = ...) -> None: ...

class GetCallbackScheduleRequest(_message.Message):
    __slots__ = ["schedule_id", "workspace_id"]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., schedule_id: _Optional[str] = ...) -> None: ...

class ListCallbackBatchesRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListCallbackBatchesResponse(_message.Message):
    __slots__ = ["batches", "next_page_token"]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    batches: _containers.RepeatedCompositeFieldContainer[CallbackBatch]
    next_page_token: str
    def __init__(self, batches: _Optional[_Iterable[_Union[CallbackBatch, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListCallbackSchedulesRequest(_message.Message):
    __slots__ = ["agent_id", "page_size", "page_token", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListCallbackSchedulesResponse(_message.Message):
    __slots__ = ["next_page_token", "schedules"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEDULES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    schedules: _containers.RepeatedCompositeFieldContainer[CallbackSchedule]
    def __init__(self, schedules: _Optional[_Iterable[_Union[CallbackSchedule, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListCallbacksRequest(_message.Message):
    __slots__ = ["agent_id", "batch_id", "page_size", "page_token", "schedule_id", "status", "until", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    batch_id: str
    page_size: int
    page_token: str
    schedule_id: str
    status: str
    until: _timestamp_pb2.Timestamp
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., schedule_id: _Optional[str] = ..., batch_id: _Optional[str] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class ListCallbacksResponse(_message.Message):
    __slots__ = ["callbacks", "next_page_token"]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    callbacks: _containers.RepeatedCompositeFieldContainer[Callback]
    next_page_token: str
    def __init__(self, callbacks: _Optional[_Iterable[_Union[Callback, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SetCallConsentRequest(_message.Message):
    __slots__ = ["granted", "note", "user_id", "workspace_id"]
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    granted: bool
    note: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., user_id: _Optional[str] = ..., granted: bool = ..., note: _Optional[str] = ...) -> None: ...

class UpdateCallbackRequest(_message.Message):
    __slots__ = ["at", "callback_id", "ignore_limits", "phone_number", "reason", "timezone", "update_mask", "workspace_id"]
    AT_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LIMITS_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    at: str
    callback_id: str
    ignore_limits: bool
    phone_number: str
    reason: str
    timezone: str
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., callback_id: _Optional[str] = ..., at: _Optional[str] = ..., phone_number: _Optional[str] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., ignore_limits: bool = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateCallbackScheduleRequest(_message.Message):
    __slots__ = ["agent_id", "cron", "dynamic_variables", "enabled", "ends_at", "exceptions", "phone_number", "reason", "schedule_id", "starts_at", "timezone", "update_mask", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CRON_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    EXCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    STARTS_AT_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    cron: str
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    ends_at: _timestamp_pb2.Timestamp
    exceptions: _containers.RepeatedScalarFieldContainer[str]
    phone_number: str
    reason: str
    schedule_id: str
    starts_at: _timestamp_pb2.Timestamp
    timezone: str
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., schedule_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., cron: _Optional[str] = ..., timezone: _Optional[str] = ..., reason: _Optional[str] = ..., starts_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ends_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., exceptions: _Optional[_Iterable[str]] = ..., enabled: bool = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...
