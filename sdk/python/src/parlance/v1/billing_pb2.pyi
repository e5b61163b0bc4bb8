from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Billing(_message.Message):
    __slots__ = ["grace_until", "payment_failed_at", "plan", "stripe_configured", "stripe_customer_id", "subscription", "usage_problem", "usage_reported_at"]
    GRACE_UNTIL_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_FAILED_AT_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    STRIPE_CONFIGURED_FIELD_NUMBER: _ClassVar[int]
    STRIPE_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    USAGE_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    USAGE_REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    grace_until: _timestamp_pb2.Timestamp
    payment_failed_at: _timestamp_pb2.Timestamp
    plan: str
    stripe_configured: bool
    stripe_customer_id: str
    subscription: Subscription
    usage_problem: str
    usage_reported_at: _timestamp_pb2.Timestamp
    def __init__(self, plan: _Optional[str] = ..., stripe_customer_id: _Optional[str] = ..., subscription: _Optional[_Union[Subscription, _Mapping]] = ..., grace_until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., payment_failed_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., stripe_configured: bool = ..., usage_reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., usage_problem: _Optional[str] = ...) -> None: ...

class Checkout(_message.Message):
    __slots__ = ["expires_at", "url"]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    expires_at: _timestamp_pb2.Timestamp
    url: str
    def __init__(self, url: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateCheckoutRequest(_message.Message):
    __slots__ = ["cancel_url", "plan", "success_url"]
    CANCEL_URL_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_URL_FIELD_NUMBER: _ClassVar[int]
    cancel_url: str
    plan: str
    success_url: str
    def __init__(self, plan: _Optional[str] = ..., success_url: _Optional[str] = ..., cancel_url: _Optional[str] = ...) -> None: ...

class CreatePortalRequest(_message.Message):
    __slots__ = ["return_url"]
    RETURN_URL_FIELD_NUMBER: _ClassVar[int]
    return_url: str
    def __init__(self, return_url: _Optional[str] = ...) -> None: ...

class GetBillingRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Portal(_message.Message):
    __slots__ = ["url"]
    URL_FIELD_NUMBER: _ClassVar[int]
    url: str
    def __init__(self, url: _Optional[str] = ...) -> None: ...

class Subscription(_message.Message):
    __slots__ = ["cancel_at_period_end", "current_period_end", "id", "plan", "price_id", "status"]
    CANCEL_AT_PERIOD_END_FIELD_NUMBER: _ClassVar[int]
    CURRENT_PERIOD_END_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PRICE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    cancel_at_period_end: bool
    current_period_end: _timestamp_pb2.Timestamp
    id: str
    plan: str
    price_id: str
    status: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[str] = ..., plan: _Optional[str] = ..., price_id: _Optional[str] = ..., current_period_end: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., cancel_at_period_end: bool = ...) -> None: ...
