from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Caller(_message.Message):
    __slots__ = ["email", "id", "kind", "name", "plan", "role", "scope", "tenant_id", "tenant_name", "workspace_id"]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_NAME_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    email: str
    id: str
    kind: str
    name: str
    plan: str
    role: str
    scope: str
    tenant_id: str
    tenant_name: str
    workspace_id: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., email: _Optional[str] = ..., scope: _Optional[str] = ..., role: _Optional[str] = ..., tenant_id: _Optional[str] = ..., tenant_name: _Optional[str] = ..., workspace_id: _Optional[str] = ..., plan: _Optional[str] = ...) -> None: ...

class DeletePersonRequest(_message.Message):
    __slots__ = ["person_id"]
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    person_id: str
    def __init__(self, person_id: _Optional[str] = ...) -> None: ...

class GetCallerRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetPersonRequest(_message.Message):
    __slots__ = ["person_id"]
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    person_id: str
    def __init__(self, person_id: _Optional[str] = ...) -> None: ...

class ListPeopleRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPeopleResponse(_message.Message):
    __slots__ = ["next_page_token", "people"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    people: _containers.RepeatedCompositeFieldContainer[Person]
    def __init__(self, people: _Optional[_Iterable[_Union[Person, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Person(_message.Message):
    __slots__ = ["assigned_role", "created_at", "disabled", "email", "group_role", "groups", "id", "issuer", "name", "role", "sign_ins", "signed_in_at"]
    ASSIGNED_ROLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    GROUP_ROLE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SIGNED_IN_AT_FIELD_NUMBER: _ClassVar[int]
    SIGN_INS_FIELD_NUMBER: _ClassVar[int]
    assigned_role: str
    created_at: _timestamp_pb2.Timestamp
    disabled: bool
    email: str
    group_role: str
    groups: _containers.RepeatedScalarFieldContainer[str]
    id: str
    issuer: str
    name: str
    role: str
    sign_ins: int
    signed_in_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., email: _Optional[str] = ..., role: _Optional[str] = ..., group_role: _Optional[str] = ..., assigned_role: _Optional[str] = ..., disabled: bool = ..., groups: _Optional[_Iterable[str]] = ..., issuer: _Optional[str] = ..., sign_ins: _Optional[int] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., signed_in_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UpdatePersonRequest(_message.Message):
    __slots__ = ["assigned_role", "disabled", "person_id", "update_mask"]
    ASSIGNED_ROLE_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    assigned_role: str
    disabled: bool
    person_id: str
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, person_id: _Optional[str] = ..., assigned_role: _Optional[str] = ..., disabled: bool = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...
