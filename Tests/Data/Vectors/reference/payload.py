"""The body of a payload: UTF-8 JSON without a byte order mark, one object, bounded depth, no name twice.

Python's own reader checks the grammar; what it accepts too liberally is refused here.
"""

import json

MAXIMUM_DEPTH = 32


class MalformedPayload(Exception):
    pass


def object_without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Names are compared code point by code point after unescaping: no normalization, no case folding."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedPayload
    return members


def integer(text: str) -> int | float:
    """An integer of the format has digits alone. What it reads is never as long as Python's limit."""
    return int(text) if len(text) < 20 and text != "-0" else float(text)


def refuse_constant(name: str) -> None:
    """NaN and the infinities, which Python reads and JSON does not have."""
    raise MalformedPayload


def check(value: object, depth: int) -> None:
    """The outermost object has depth 1. A surrogate that survives decoding had no partner."""
    if isinstance(value, (dict, list)) and depth > MAXIMUM_DEPTH:
        raise MalformedPayload
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise MalformedPayload from error
    elif isinstance(value, dict):
        for name, member in value.items():
            check(name, depth)
            check(member, depth + 1)
    elif isinstance(value, list):
        for element in value:
            check(element, depth + 1)


def parse_object(text: bytes) -> dict[str, object]:
    """A JSON object by the rules J-1 to J-6. Raises MalformedPayload."""
    try:
        value = json.loads(
            text.decode(),
            object_pairs_hook=object_without_duplicates,
            parse_constant=refuse_constant,
            parse_int=integer,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedPayload from error
    if not isinstance(value, dict):
        raise MalformedPayload
    check(value, 1)
    return value


def parse(body: bytes) -> dict[str, object]:
    """The payload, with an object under `aps`. Raises MalformedPayload."""
    value = parse_object(body)
    if not isinstance(value.get("aps"), dict):
        raise MalformedPayload
    return value
