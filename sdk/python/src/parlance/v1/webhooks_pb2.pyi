from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from parlance.v1 import events_pb2 as _events_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateWebhookEndpointRequest(_message.Message):
    __slots__ = ["agent_ids", "description", "events", "headers", "max_in_flight", "max_per_second", "ordered", "url", "workspace_id"]
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ORDERED_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    description: str
    events: _containers.RepeatedScalarFieldContainer[str]
    headers: _containers.ScalarMap[str, str]
    max_in_flight: int
    max_per_second: int
    ordered: bool
    url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., url: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., agent_ids: _Optional[_Iterable[str]] = ..., ordered: bool = ..., max_per_second: _Optional[int] = ..., max_in_flight: _Optional[int] = ...) -> None: ...

class DeleteWebhookEndpointRequest(_message.Message):
    __slots__ = ["endpoint_id", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ...) -> None: ...

class EnableWebhookEndpointRequest(_message.Message):
    __slots__ = ["endpoint_id", "since", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    since: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ["created_at", "cursor", "data", "data_json", "dsar_ready", "escalation_triggered", "event_id", "fatigue_alert", "invoice_failed", "invoice_paid", "kb_source_ingested", "post_call_transcription", "subscription_changed", "tenant_id", "turn_persistence_failed", "type", "usage_threshold_crossed", "webhook_disabled", "workspace_id"]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    DSAR_READY_FIELD_NUMBER: _ClassVar[int]
    ESCALATION_TRIGGERED_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    FATIGUE_ALERT_FIELD_NUMBER: _ClassVar[int]
    INVOICE_FAILED_FIELD_NUMBER: _ClassVar[int]
    INVOICE_PAID_FIELD_NUMBER: _ClassVar[int]
    KB_SOURCE_INGESTED_FIELD_NUMBER: _ClassVar[int]
    POST_CALL_TRANSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_CHANGED_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_PERSISTENCE_FAILED_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    USAGE_THRESHOLD_CROSSED_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_DISABLED_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    created_at: _timestamp_pb2.Timestamp
    cursor: str
    data: _struct_pb2.Struct
    data_json: str
    dsar_ready: _events_pb2.DsarReady
    escalation_triggered: _events_pb2.EscalationTriggered
    event_id: str
    fatigue_alert: _events_pb2.FatigueAlert
    invoice_failed: _events_pb2.InvoiceFailed
    invoice_paid: _events_pb2.InvoicePaid
    kb_source_ingested: _events_pb2.KbSourceIngested
    post_call_transcription: _events_pb2.PostCallTranscription
    subscription_changed: _events_pb2.SubscriptionChanged
    tenant_id: str
    turn_persistence_failed: _events_pb2.TurnPersistenceFailed
    type: str
    usage_threshold_crossed: _events_pb2.UsageThresholdCrossed
    webhook_disabled: _events_pb2.WebhookDisabled
    workspace_id: str
    def __init__(self, type: _Optional[str] = ..., event_id: _Optional[str] = ..., tenant_id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., cursor: _Optional[str] = ..., data_json: _Optional[str] = ..., post_call_transcription: _Optional[_Union[_events_pb2.PostCallTranscription, _Mapping]] = ..., escalation_triggered: _Optional[_Union[_events_pb2.EscalationTriggered, _Mapping]] = ..., dsar_ready: _Optional[_Union[_events_pb2.DsarReady, _Mapping]] = ..., fatigue_alert: _Optional[_Union[_events_pb2.FatigueAlert, _Mapping]] = ..., usage_threshold_crossed: _Optional[_Union[_events_pb2.UsageThresholdCrossed, _Mapping]] = ..., subscription_changed: _Optional[_Union[_events_pb2.SubscriptionChanged, _Mapping]] = ..., invoice_paid: _Optional[_Union[_events_pb2.InvoicePaid, _Mapping]] = ..., invoice_failed: _Optional[_Union[_events_pb2.InvoiceFailed, _Mapping]] = ..., kb_source_ingested: _Optional[_Union[_events_pb2.KbSourceIngested, _Mapping]] = ..., turn_persistence_failed: _Optional[_Union[_events_pb2.TurnPersistenceFailed, _Mapping]] = ..., webhook_disabled: _Optional[_Union[_events_pb2.WebhookDisabled, _Mapping]] = ...) -> None: ...

class GetWebhookDeliveryRequest(_message.Message):
    __slots__ = ["delivery_id", "endpoint_id", "workspace_id"]
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., delivery_id: _Optional[str] = ...) -> None: ...

class GetWebhookEndpointHealthRequest(_message.Message):
    __slots__ = ["endpoint_id", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ...) -> None: ...

class GetWebhookEndpointRequest(_message.Message):
    __slots__ = ["endpoint_id", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ["after", "events", "page_size", "page_token", "workspace_id"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    after: str
    events: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., after: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ["events", "next_page_token"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListWebhookDeliveriesRequest(_message.Message):
    __slots__ = ["endpoint_id", "event", "event_id", "limit", "omit_bodies", "page_token", "started_after", "started_before", "status", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OMIT_BODIES_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STARTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    STARTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    event: str
    event_id: str
    limit: int
    omit_bodies: bool
    page_token: str
    started_after: _timestamp_pb2.Timestamp
    started_before: _timestamp_pb2.Timestamp
    status: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., limit: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[str] = ..., event: _Optional[str] = ..., event_id: _Optional[str] = ..., started_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., omit_bodies: bool = ...) -> None: ...

class ListWebhookDeliveriesResponse(_message.Message):
    __slots__ = ["deliveries", "next_page_token"]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    deliveries: _containers.RepeatedCompositeFieldContainer[WebhookDelivery]
    next_page_token: str
    def __init__(self, deliveries: _Optional[_Iterable[_Union[WebhookDelivery, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListWebhookEndpointsRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWebhookEndpointsResponse(_message.Message):
    __slots__ = ["endpoints", "next_page_token"]
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    endpoints: _containers.RepeatedCompositeFieldContainer[WebhookEndpoint]
    next_page_token: str
    def __init__(self, endpoints: _Optional[_Iterable[_Union[WebhookEndpoint, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RecoverWebhookDeliveriesRequest(_message.Message):
    __slots__ = ["endpoint_id", "since", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    since: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RecoverWebhookDeliveriesResponse(_message.Message):
    __slots__ = ["more", "recovered"]
    MORE_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    more: bool
    recovered: int
    def __init__(self, recovered: _Optional[int] = ..., more: bool = ...) -> None: ...

class RedeliverWebhookRequest(_message.Message):
    __slots__ = ["delivery_id", "endpoint_id", "workspace_id"]
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., delivery_id: _Optional[str] = ...) -> None: ...

class RotateWebhookSecretRequest(_message.Message):
    __slots__ = ["endpoint_id", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ...) -> None: ...

class TestWebhookEndpointRequest(_message.Message):
    __slots__ = ["endpoint_id", "event", "workspace_id"]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    event: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., event: _Optional[str] = ...) -> None: ...

class UpdateWebhookEndpointRequest(_message.Message):
    __slots__ = ["agent_ids", "description", "endpoint_id", "events", "headers", "max_in_flight", "max_per_second", "ordered", "status", "update_mask", "url", "workspace_id"]
    class HeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ORDERED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    description: str
    endpoint_id: str
    events: _containers.RepeatedScalarFieldContainer[str]
    headers: _containers.ScalarMap[str, str]
    max_in_flight: int
    max_per_second: int
    ordered: bool
    status: str
    update_mask: _field_mask_pb2.FieldMask
    url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., url: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., headers: _Optional[_Mapping[str, str]] = ..., agent_ids: _Optional[_Iterable[str]] = ..., ordered: bool = ..., max_per_second: _Optional[int] = ..., max_in_flight: _Optional[int] = ..., status: _Optional[str] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ["after", "announce", "events", "last_event_id", "workspace_id"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    after: str
    announce: bool
    events: _containers.RepeatedScalarFieldContainer[str]
    last_event_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., after: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., last_event_id: _Optional[str] = ..., announce: bool = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ["cursor", "event", "type"]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    cursor: str
    event: Event
    type: str
    def __init__(self, event: _Optional[_Union[Event, _Mapping]] = ..., type: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class WebhookDelivery(_message.Message):
    __slots__ = ["attempt", "duration_ms", "endpoint_id", "error", "event", "event_id", "id", "next_attempt_at", "request_body", "request_headers", "response_body", "response_headers", "started_at", "status", "status_code"]
    class RequestHeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ResponseHeadersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_BODY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_HEADERS_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_BODY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_HEADERS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    duration_ms: int
    endpoint_id: str
    error: str
    event: str
    event_id: str
    id: str
    next_attempt_at: _timestamp_pb2.Timestamp
    request_body: str
    request_headers: _containers.ScalarMap[str, str]
    response_body: str
    response_headers: _containers.ScalarMap[str, str]
    started_at: _timestamp_pb2.Timestamp
    status: str
    status_code: int
    def __init__(self, id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., event_id: _Optional[str] = ..., event: _Optional[str] = ..., attempt: _Optional[int] = ..., status: _Optional[str] = ..., status_code: _Optional[int] = ..., error: _Optional[str] = ..., request_headers: _Optional[_Mapping[str, str]] = ..., request_body: _Optional[str] = ..., response_headers: _Optional[_Mapping[str, str]] = ..., response_body: _Optional[str] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ms: _Optional[int] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WebhookEndpoint(_message.Message):
    __slots__ = ["agent_ids", "consecutive_failures", "created_at", "description", "disable_progress", "disabled_reason", "events", "header_names", "health", "id", "last_failure_at", "last_success_at", "max_in_flight", "max_per_second", "ordered", "requeued", "secret", "secret_hint", "status", "updated_at", "url"]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DISABLED_REASON_FIELD_NUMBER: _ClassVar[int]
    DISABLE_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEADER_NAMES_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LAST_FAILURE_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_SUCCESS_AT_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ORDERED_FIELD_NUMBER: _ClassVar[int]
    REQUEUED_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    SECRET_HINT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    consecutive_failures: int
    created_at: _timestamp_pb2.Timestamp
    description: str
    disable_progress: float
    disabled_reason: str
    events: _containers.RepeatedScalarFieldContainer[str]
    header_names: _containers.RepeatedScalarFieldContainer[str]
    health: str
    id: str
    last_failure_at: _timestamp_pb2.Timestamp
    last_success_at: _timestamp_pb2.Timestamp
    max_in_flight: int
    max_per_second: int
    ordered: bool
    requeued: int
    secret: str
    secret_hint: str
    status: str
    updated_at: _timestamp_pb2.Timestamp
    url: str
    def __init__(self, id: _Optional[str] = ..., url: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ..., status: _Optional[str] = ..., disabled_reason: _Optional[str] = ..., consecutive_failures: _Optional[int] = ..., last_success_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., last_failure_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., secret_hint: _Optional[str] = ..., secret: _Optional[str] = ..., header_names: _Optional[_Iterable[str]] = ..., agent_ids: _Optional[_Iterable[str]] = ..., ordered: bool = ..., max_per_second: _Optional[int] = ..., max_in_flight: _Optional[int] = ..., requeued: _Optional[int] = ..., disable_progress: _Optional[float] = ..., health: _Optional[str] = ...) -> None: ...

class WebhookEndpointHealth(_message.Message):
    __slots__ = ["attempts", "consecutive_failures", "disable_failures", "disable_not_before", "disable_progress", "endpoint_id", "failed_events", "health", "p50_latency_ms", "p95_latency_ms", "pending", "succeeded", "success_rate", "window_start"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    DISABLE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    DISABLE_NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    DISABLE_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    FAILED_EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    P50_LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    P95_LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_RATE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    consecutive_failures: int
    disable_failures: int
    disable_not_before: _timestamp_pb2.Timestamp
    disable_progress: float
    endpoint_id: str
    failed_events: int
    health: str
    p50_latency_ms: float
    p95_latency_ms: float
    pending: int
    succeeded: int
    success_rate: float
    window_start: _timestamp_pb2.Timestamp
    def __init__(self, endpoint_id: _Optional[str] = ..., health: _Optional[str] = ..., window_start: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., attempts: _Optional[int] = ..., succeeded: _Optional[int] = ..., success_rate: _Optional[float] = ..., p50_latency_ms: _Optional[float] = ..., p95_latency_ms: _Optional[float] = ..., pending: _Optional[int] = ..., failed_events: _Optional[int] = ..., consecutive_failures: _Optional[int] = ..., disable_failures: _Optional[int] = ..., disable_not_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., disable_progress: _Optional[float] = ...) -> None: ...
