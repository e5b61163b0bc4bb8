from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallTransfer(_message.Message):
    __slots__ = ["connected_at", "end_reason", "mode", "requested_at", "status", "summary", "to"]
    CONNECTED_AT_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    connected_at: _timestamp_pb2.Timestamp
    end_reason: str
    mode: str
    requested_at: _timestamp_pb2.Timestamp
    status: str
    summary: str
    to: str
    def __init__(self, status: _Optional[str] = ..., to: _Optional[str] = ..., mode: _Optional[str] = ..., summary: _Optional[str] = ..., end_reason: _Optional[str] = ..., requested_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., connected_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreatePhoneNumberRequest(_message.Message):
    __slots__ = ["agent_id", "dynamic_variables", "enabled", "lookup_url", "name", "phone_number", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    LOOKUP_URL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    lookup_url: str
    name: str
    phone_number: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., lookup_url: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., enabled: bool = ...) -> None: ...

class DeletePhoneNumberRequest(_message.Message):
    __slots__ = ["number_id", "workspace_id"]
    NUMBER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    number_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., number_id: _Optional[str] = ...) -> None: ...

class GetCallRequest(_message.Message):
    __slots__ = ["call_id", "workspace_id"]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class GetPhoneNumberRequest(_message.Message):
    __slots__ = ["number_id", "workspace_id"]
    NUMBER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    number_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., number_id: _Optional[str] = ...) -> None: ...

class HangUpCallRequest(_message.Message):
    __slots__ = ["call_id", "workspace_id"]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class ListCallsRequest(_message.Message):
    __slots__ = ["agent_id", "direction", "page_size", "page_token", "status", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    direction: str
    page_size: int
    page_token: str
    status: str
    user_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., direction: _Optional[str] = ..., status: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListCallsResponse(_message.Message):
    __slots__ = ["calls", "next_page_token"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[PhoneCall]
    next_page_token: str
    def __init__(self, calls: _Optional[_Iterable[_Union[PhoneCall, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListPhoneNumbersRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPhoneNumbersResponse(_message.Message):
    __slots__ = ["next_page_token", "phone_numbers"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    phone_numbers: _containers.RepeatedCompositeFieldContainer[PhoneNumber]
    def __init__(self, phone_numbers: _Optional[_Iterable[_Union[PhoneNumber, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PhoneCall(_message.Message):
    __slots__ = ["agent_id", "answered_at", "answered_by", "callback_id", "carrier", "carrier_call_id", "created_at", "direction", "duration_seconds", "end_reason", "ended_at", "id", "number_id", "pstn_minutes", "session_id", "status", "to", "transfer", "user_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_AT_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_BY_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    CARRIER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CARRIER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_ID_FIELD_NUMBER: _ClassVar[int]
    PSTN_MINUTES_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    answered_at: _timestamp_pb2.Timestamp
    answered_by: str
    callback_id: str
    carrier: str
    carrier_call_id: str
    created_at: _timestamp_pb2.Timestamp
    direction: str
    duration_seconds: int
    end_reason: str
    ended_at: _timestamp_pb2.Timestamp
    id: str
    number_id: str
    pstn_minutes: int
    session_id: str
    status: str
    to: str
    transfer: CallTransfer
    user_id: str
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., user_id: _Optional[str] = ..., direction: _Optional[str] = ..., to: _Optional[str] = ..., status: _Optional[str] = ..., end_reason: _Optional[str] = ..., session_id: _Optional[str] = ..., callback_id: _Optional[str] = ..., number_id: _Optional[str] = ..., answered_by: _Optional[str] = ..., carrier: _Optional[str] = ..., carrier_call_id: _Optional[str] = ..., transfer: _Optional[_Union[CallTransfer, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., answered_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., duration_seconds: _Optional[int] = ..., pstn_minutes: _Optional[int] = ..., **kwargs) -> None: ...

class PhoneNumber(_message.Message):
    __slots__ = ["agent_id", "configure_url", "configured", "created_at", "dynamic_variables", "enabled", "id", "lookup_secret", "lookup_secret_hint", "lookup_url", "name", "phone_number", "updated_at", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIGURED_FIELD_NUMBER: _ClassVar[int]
    CONFIGURE_URL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LOOKUP_SECRET_FIELD_NUMBER: _ClassVar[int]
    LOOKUP_SECRET_HINT_FIELD_NUMBER: _ClassVar[int]
    LOOKUP_URL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PHONE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    configure_url: str
    configured: bool
    created_at: _timestamp_pb2.Timestamp
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    id: str
    lookup_secret: str
    lookup_secret_hint: str
    lookup_url: str
    name: str
    phone_number: str
    updated_at: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., phone_number: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., enabled: bool = ..., lookup_url: _Optional[str] = ..., lookup_secret: _Optional[str] = ..., lookup_secret_hint: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., configured: bool = ..., configure_url: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RotatePhoneNumberSecretRequest(_message.Message):
    __slots__ = ["number_id", "workspace_id"]
    NUMBER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    number_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., number_id: _Optional[str] = ...) -> None: ...

class TransferCallRequest(_message.Message):
    __slots__ = ["call_id", "mode", "summary", "to", "workspace_id"]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    mode: str
    summary: str
    to: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., call_id: _Optional[str] = ..., to: _Optional[str] = ..., mode: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class UpdatePhoneNumberRequest(_message.Message):
    __slots__ = ["agent_id", "dynamic_variables", "enabled", "lookup_url", "name", "number_id", "update_mask", "workspace_id"]
    class DynamicVariablesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    LOOKUP_URL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    dynamic_variables: _containers.ScalarMap[str, str]
    enabled: bool
    lookup_url: str
    name: str
    number_id: str
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., number_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., lookup_url: _Optional[str] = ..., dynamic_variables: _Optional[_Mapping[str, str]] = ..., enabled: bool = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...
