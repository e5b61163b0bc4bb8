from typing import Iterable, MutableSequence

from google.protobuf.message import Message

class FieldMask(Message):
    paths: MutableSequence[str]
    def __init__(self, paths: Iterable[str] = ...) -> None: ...
