"""Messages made of plain values."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Mapping, Type, TypeVar

from google.protobuf import message_factory
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

M = TypeVar("M", bound=Message)


def build(message: Type[M], fields: Mapping[str, Any]) -> M:
    """Makes a message. None leaves a field out. At any depth a mapping may stand for a message or a
    Struct, a datetime for a Timestamp, and a list of names for a FieldMask. A datetime without a
    zone is of this machine's zone.

    Raises TypeError or ValueError for a value that does not fit its field.
    """
    types = message.DESCRIPTOR.fields_by_name
    values = {name: _value(types.get(name), value) for name, value in fields.items() if value is not None}
    return message(**values)


def _value(field: Any, value: Any) -> Any:
    """The value as the constructors of protobuf 3.20 and later take it. A field that is not known
    is left to the constructor, which refuses it."""
    if field is None or field.message_type is None or isinstance(value, Message):
        return value
    kind = field.message_type
    if kind.GetOptions().map_entry:
        entry = kind.fields_by_name["value"]
        return {key: _value(entry, one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and kind.full_name != "google.protobuf.FieldMask":
        return [_single(kind, one) for one in value]
    return _single(kind, value)


def _single(kind: Any, value: Any) -> Any:
    if isinstance(value, Message):
        return value
    if kind.full_name == "google.protobuf.Timestamp" and isinstance(value, datetime):
        stamp = Timestamp()
        stamp.FromDatetime(value.astimezone(timezone.utc))
        return stamp
    if kind.full_name == "google.protobuf.Struct" and isinstance(value, Mapping):
        struct = Struct()
        struct.update(dict(value))
        return struct
    if kind.full_name == "google.protobuf.FieldMask" and isinstance(value, (list, tuple)):
        return FieldMask(paths=value)
    if isinstance(value, Mapping):
        return build(_class_of(kind), value)
    raise TypeError(f"a {kind.full_name} cannot be made of a {type(value).__name__}")


def _class_of(kind: Any) -> Any:
    if hasattr(message_factory, "GetMessageClass"):  # since protobuf 4.22
        return message_factory.GetMessageClass(kind)
    return kind._concrete_class
