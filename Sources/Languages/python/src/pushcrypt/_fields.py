"""The members of JSON objects with keys, certificates and numbers: records, replies, requests and what is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from ._envelope import decode, encode
from ._errors import Code, PushcryptError
from ._format import KEY_LENGTH, LARGEST_TIME
from ._json import Number, parse_object
from ._types import utf8

Value = TypeVar("Value")


class Fields:
    """The members of an object. One that is `null` counts as absent [D-6]. What breaks a rule is refused with the code."""

    def __init__(
        self, data: bytes | str, what: str, code: Code = Code.MALFORMED_RECORD, members: dict[str, Any] | None = None
    ) -> None:
        """Parses JSON, or takes what was parsed before."""
        members = parse_object(utf8(data, what), code) if members is None else members
        self.members: dict[str, Any] = {name: value for name, value in members.items() if value is not None}
        self.what, self.code = what, code

    def refuse(self, name: str) -> NoReturn:
        raise PushcryptError(self.code, f"{name} breaks the rules of {self.what}")

    def require(self, condition: bool, name: str) -> None:
        if not condition:
            self.refuse(name)

    def text(self, name: str, rule: Callable[[str], object] | None = None) -> str | None:
        value = self.members.get(name)
        if value is None:
            return None
        if type(value) is not str or rule is not None and not rule(value):
            self.refuse(name)
        return value

    def needed(self, value: Value | None, name: str) -> Value:
        return self.refuse(name) if value is None else value

    def number(self, name: str, most: int = LARGEST_TIME) -> int | None:
        value = self.members.get(name)
        number = value.at_most(most) if type(value) is Number else None
        self.require(value is None or number is not None, name)
        return number

    def flag(self, name: str) -> bool:
        value = self.members.get(name, False)
        self.require(isinstance(value, bool), name)
        return value is True

    def items(self, name: str, kind: type, most: int) -> list[Any]:
        """The elements of an array, which is not empty."""
        value = self.members.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not 1 <= len(value) <= most or any(type(one) is not kind for one in value):
            self.refuse(name)
        return value

    def objects(self, name: str, most: int) -> list[Fields]:
        return [Fields(b"", self.what, self.code, one) for one in self.items(name, dict, most)]

    def bytes32(self, name: str) -> bytes | None:
        return self.read(name, decode, lambda text: len(decode(text)) == KEY_LENGTH)

    def read(self, name: str, parse: Callable[[str], Value], rule: Callable[[str], object] | None = None) -> Value | None:
        """A text that `parse` reads, with its own codes."""
        text = self.text(name, rule)
        return None if text is None else parse(text)


def written(members: dict[str, Any]) -> str:
    """Minimal JSON without what is absent; bytes are base64url. What cannot be read again is not written either."""
    kept = {name: value for name, value in members.items() if value is not None and value is not False and value not in ([], ())}
    try:
        text = ENCODER.encode({name: encode(value) if isinstance(value, bytes) else value for name, value in kept.items()})
        text.encode()
    except UnicodeEncodeError:
        raise PushcryptError(Code.MALFORMED_RECORD, "a text has half a surrogate pair") from None
    return text


# Keys and certificates are written as their texts.
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
