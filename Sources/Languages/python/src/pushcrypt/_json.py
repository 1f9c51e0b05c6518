"""Strict JSON: `Docs/Format.md`, Body, [J-1] to [J-6].

It is built on CPython's reader, which alone accepts more than RFC 8259: duplicate names, NaN and lone surrogates. The
reader of interpreters without its part in C takes more still: digits outside ASCII, and odd escapes.
"""

from __future__ import annotations

import json
import json.scanner
import re
from typing import Any, NoReturn

from ._errors import Code, PushcryptError
from ._format import DEEPEST_JSON as DEPTH

if getattr(json.scanner, "c_make_scanner", None) is None:
    raise ImportError("pushcrypt: json has no scanner in C here, and the other is not strict enough")


# A string. An unterminated one includes the rest of the text, so that no quotation mark is read twice.
STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
STRING_OR_BRACKET = re.compile(STRING + r"|[\[\]{}]", re.DOTALL)
SPACES = re.compile(rb"(%b)|[ \t\n\r]+" % STRING.encode(), re.DOTALL)
# Escapes that follow each other, as those of a pair of surrogates do.
ESCAPES = re.compile(rb"(?:\\(?:u....|[^u]))+")
# Each repetition begins with another character than the one before it ends with, or what does not match would take exponential time.
MINIMAL = re.compile(rb'[^" \t\n\r]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^" \t\n\r]*)*', re.DOTALL)


class Number(str):
    """A number as written, so that none is rounded and none is too long."""

    __slots__ = ()

    def at_most(self, limit: int) -> int | None:
        """The value of an integer up to the limit, which is written with digits alone; `None` for any other number."""
        is_short = self.isascii() and self.isdigit() and len(self) <= len(str(limit))
        return int(self) if is_short and int(self) <= limit else None

    def whole(self) -> int | None:
        """The value, from 0 to 2^63 - 1, of a whole number that may be written as `3.0` or `3e0` [J-8]."""
        integer, number = self.at_most(2**63 - 1), float(self)
        return integer if integer is not None or not 0 <= number < 2**53 or number % 1 else int(number)


class Refused(Exception):
    """A rule that a text breaks."""


def refuse(text: str) -> NoReturn:
    raise Refused(text)


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    object = dict(pairs)
    return object if len(object) == len(pairs) else refuse("an object has two members of one name")


def no_constant(_: str) -> NoReturn:
    refuse("NaN and Infinity are not JSON")


# Making one takes a third of the time of a payload.
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
DECODER = json.JSONDecoder(object_pairs_hook=members, parse_int=Number, parse_float=Number, parse_constant=no_constant)


def parse_object(data: bytes, code: Code) -> dict[str, Any]:
    """Parses a JSON object; strings are `str`, numbers `Number`. Refuses anything else with the code."""
    try:
        text = data.decode("utf-8")
        if is_too_deep(text):
            refuse(f"objects and arrays are nested deeper than {DEPTH}")
        value = DECODER.decode(text)
        if not isinstance(value, dict):
            refuse("it is not a JSON object")
        # UTF-8 has no surrogates, so only an escape can be one.
        if "\\u" in text:
            check_surrogates(value)
    except Refused as refused:
        raise PushcryptError(code, str(refused)) from None
    except UnicodeError:
        raise PushcryptError(code, "a text is not valid UTF-8, or has half a surrogate pair") from None
    except json.JSONDecodeError as error:
        # Its text quotes the input.
        raise PushcryptError(code, f"it is not JSON, at character {error.pos}") from None
    return value


def is_too_deep(text: str) -> bool:
    """Whether objects and arrays are nested too deep. Checked before the text is parsed, to limit the stack."""
    if text.count("{") + text.count("[") <= DEPTH:
        return False
    level = 0
    for token in STRING_OR_BRACKET.finditer(text):
        first = text[token.start()]
        if first != '"':
            level += 1 if first in "[{" else -1
            if level > DEPTH:
                return True
    return False


def check_surrogates(value: object) -> None:
    """Raises a `UnicodeError` if a name or a string has a lone surrogate [J-6]."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for name, member in value.items():
            check_surrogates(name)
            check_surrogates(member)
    elif isinstance(value, list):
        for element in value:
            check_surrogates(element)


def minify(data: bytes) -> bytes:
    """A checked JSON text without white space between its tokens, and with the fewest bytes in its strings; numbers stay as written [S-7]."""
    if b"\\u" in data or b"\\/" in data:
        data = ESCAPES.sub(lambda escapes: write(json.loads(b'"%b"' % escapes[0]))[1:-1].encode(), data)
    return data if MINIMAL.fullmatch(data) else SPACES.sub(rb"\1", data)


def is_unicode(text: str) -> bool:
    """Whether a text can be encoded as UTF-8: it has no lone surrogate."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def write(value: object) -> str:
    """Minimal JSON. The value has no lone surrogates and no NaN."""
    return ENCODER.encode(value)


def write_object(value: dict[str, Any]) -> bytes:
    """The JSON of a caller's object, if it can be written without a change; otherwise `malformed-payload`.

    `json.dumps` alone would write the key 1 as "1", perhaps beside another "1", and half a surrogate pair.
    """
    check_writable(value, 1)
    try:
        return write(value).encode("utf-8")
    except UnicodeError:
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "a string of the payload has half a surrogate pair") from None
    except ValueError:
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "the payload has a number that JSON cannot express") from None


#: What JSON has, and needs no other check.
PLAIN = frozenset({str, int, float, bool, type(None)})


def check_writable(value: object, level: int) -> None:
    """Refuses what `json.dumps` would change, and what it would fail on."""
    if not isinstance(value, (dict, list, tuple)):
        if not isinstance(value, (str, int, float)):
            kind = type(value).__name__
            raise PushcryptError(Code.MALFORMED_PAYLOAD, f"the payload has a {kind}, which JSON cannot express; convert it first")
        return
    if level > DEPTH:
        raise PushcryptError(Code.MALFORMED_PAYLOAD, f"the payload is nested deeper than {DEPTH}")
    for name in value if isinstance(value, dict) else ():
        if not isinstance(name, str):
            raise PushcryptError(Code.MALFORMED_PAYLOAD, "a key of the payload is not a string")
    for member in value.values() if isinstance(value, dict) else value:
        if type(member) not in PLAIN:
            check_writable(member, level + 1)
