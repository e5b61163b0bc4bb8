from typing import Any, Sequence

class FieldDescriptor:
    name: str
    message_type: Descriptor | None

class OneofDescriptor:
    fields: Sequence[FieldDescriptor]

class Descriptor:
    full_name: str
    fields_by_name: dict[str, FieldDescriptor]
    oneofs_by_name: dict[str, OneofDescriptor]
    def GetOptions(self) -> Any: ...

class FileDescriptor: ...
