"""The types of what a caller gives: another one would be sealed, stored or compared as something else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from ._format import LONGEST_LABEL

#: Control characters, and halves of surrogate pairs.
UNSHOWN = r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]"


@dataclass(frozen=True, eq=False, repr=False)
class Value:
    """Values are equal if their fields are.

    These methods are here once: those that `dataclass` writes for each class take a sixth of the package's import.
    """

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"


def check_type(value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Raises a `TypeError` that quotes nothing. `True` and `False` are no numbers."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{what} is {' or '.join(kind.__name__ for kind in kinds)}, not {type(value).__name__}")


def check_optional(value: object, kind: type, what: str) -> None:
    """The same, or `None`."""
    if value is not None:
        check_type(value, kind, what)


def checked_tuple(values: Iterable[Any], kinds: type | tuple[type, ...], what: str) -> tuple[Any, ...]:
    """The values of a list, a tuple or another collection that is no text."""
    if values == ():
        return ()
    if isinstance(values, (str, bytes, bytearray, memoryview)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what} is a list, not {type(values).__name__}")
    values = tuple(values)
    for value in values:
        check_type(value, kinds, f"one of {what}")
    return values


def utf8(data: bytes | str, what: str) -> bytes:
    """JSON as bytes. A number is no JSON here: as many zero bytes would be made of it."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    check_type(data, (bytes, bytearray, memoryview, str), what)
    return bytes(data)


def is_label(text: object, longest: int = LONGEST_LABEL) -> bool:
    """Whether a text has 1 to so many bytes of UTF-8, and no control characters."""
    if not isinstance(text, str) or len(text) > longest or re.search(UNSHOWN, text):
        return False
    return 1 <= len(text.encode()) <= longest
