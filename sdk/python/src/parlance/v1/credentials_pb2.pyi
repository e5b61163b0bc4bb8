from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateProviderCredentialRequest(_message.Message):
    __slots__ = ["account_id", "api_key", "base_url", "default_model", "kind", "name", "provider", "workspace_id"]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_MODEL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    account_id: str
    api_key: str
    base_url: str
    default_model: str
    kind: str
    name: str
    provider: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., kind: _Optional[str] = ..., provider: _Optional[str] = ..., name: _Optional[str] = ..., base_url: _Optional[str] = ..., api_key: _Optional[str] = ..., account_id: _Optional[str] = ..., default_model: _Optional[str] = ...) -> None: ...

class DeleteProviderCredentialRequest(_message.Message):
    __slots__ = ["credential_id", "workspace_id"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., credential_id: _Optional[str] = ...) -> None: ...

class GetProviderCredentialRequest(_message.Message):
    __slots__ = ["credential_id", "workspace_id"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., credential_id: _Optional[str] = ...) -> None: ...

class ListProviderCredentialsRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListProviderCredentialsResponse(_message.Message):
    __slots__ = ["next_page_token", "provider_credentials"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    provider_credentials: _containers.RepeatedCompositeFieldContainer[ProviderCredential]
    def __init__(self, provider_credentials: _Optional[_Iterable[_Union[ProviderCredential, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ProviderCredential(_message.Message):
    __slots__ = ["account_id", "api_key_hint", "api_key_set", "base_url", "created_at", "default_model", "id", "kind", "name", "provider", "updated_at", "workspace_id"]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    API_KEY_HINT_FIELD_NUMBER: _ClassVar[int]
    API_KEY_SET_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_MODEL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    account_id: str
    api_key_hint: str
    api_key_set: bool
    base_url: str
    created_at: _timestamp_pb2.Timestamp
    default_model: str
    id: str
    kind: str
    name: str
    provider: str
    updated_at: _timestamp_pb2.Timestamp
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., kind: _Optional[str] = ..., provider: _Optional[str] = ..., name: _Optional[str] = ..., base_url: _Optional[str] = ..., account_id: _Optional[str] = ..., default_model: _Optional[str] = ..., api_key_set: bool = ..., api_key_hint: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TestProviderCredentialRequest(_message.Message):
    __slots__ = ["credential_id", "workspace_id"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., credential_id: _Optional[str] = ...) -> None: ...

class TestProviderCredentialResponse(_message.Message):
    __slots__ = ["detail", "latency_ms", "model", "ok"]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    detail: str
    latency_ms: int
    model: str
    ok: bool
    def __init__(self, ok: bool = ..., detail: _Optional[str] = ..., model: _Optional[str] = ..., latency_ms: _Optional[int] = ...) -> None: ...

class UpdateProviderCredentialRequest(_message.Message):
    __slots__ = ["account_id", "api_key", "base_url", "credential_id", "default_model", "name", "update_mask", "workspace_id"]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_MODEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    account_id: str
    api_key: str
    base_url: str
    credential_id: str
    default_model: str
    name: str
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., credential_id: _Optional[str] = ..., name: _Optional[str] = ..., base_url: _Optional[str] = ..., api_key: _Optional[str] = ..., account_id: _Optional[str] = ..., default_model: _Optional[str] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...
