"""Registration records, sender records and replies: JSON that a phone and its provider exchange."""

import re
import unicodedata
from dataclasses import dataclass

from . import keys, payload
from .envelope import TIME_LIMIT, is_topic
from .keys import KeyRefused, Kind

SUITE = 1
MAXIMUM_SUITES = 16
MAXIMUM_VERSION = 64
MAXIMUM_DEVICE_ID = 255
REASON = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


class Refused(Exception):
    """The argument is the error code."""


@dataclass(frozen=True)
class Record:
    key: bytes
    device: str | None
    suites: list[int]
    topic: str | None
    generation: int
    created: int | None
    sender: bytes | None
    app_version: str | None


@dataclass(frozen=True)
class Reply:
    acknowledged: bytes | None
    refused: str | None
    sender: bytes | None


def members(text: bytes) -> dict[str, object]:
    """The present members. A null value counts as absent."""
    try:
        return {name: value for name, value in payload.parse_object(text).items() if value is not None}
    except payload.MalformedPayload as error:
        raise Refused("malformed-record") from error


def require(condition: bool) -> None:
    if not condition:
        raise Refused("malformed-record")


def text_of(record: dict[str, object], name: str) -> str | None:
    value = record.get(name)
    require(value is None or isinstance(value, str))
    return value if isinstance(value, str) else None


def number_of(record: dict[str, object], name: str) -> int | None:
    """A number that is written as an integer: Python reads 1.0 and 1e0 as others."""
    value = record.get(name)
    if value is None:
        return None
    require(isinstance(value, int) and not isinstance(value, bool))
    assert isinstance(value, int)
    require(0 <= value < TIME_LIMIT)
    return value


def key_of(record: dict[str, object], name: str, kind: Kind) -> bytes | None:
    text = text_of(record, name)
    if text is None:
        return None
    try:
        return keys.import_text(kind, text)
    except KeyRefused as error:
        raise Refused(error.args[0]) from error


def read_record(text: bytes, kind: Kind) -> Record:
    """A device's record or a sender's."""
    record = members(text)
    suite = record.get("suite", SUITE)
    require(suite == SUITE and isinstance(suite, int) and not isinstance(suite, bool))
    key = key_of(record, "public_key", kind)
    if key is None:
        raise Refused("malformed-record")
    key_id = keys.device_key_id(key) if kind is Kind.DEVICE_PUBLIC else keys.sender_key_id(key)
    require(text_of(record, "key_id") in (None, key_id.hex()))
    topic = text_of(record, "topic")
    require(topic is None or is_topic(topic))
    generation = number_of(record, "generation")
    created = number_of(record, "created")
    is_device = kind is Kind.DEVICE_PUBLIC
    device = text_of(record, "device") if is_device else None
    require(device is None or is_device_id(device))
    version = text_of(record, "app_version") if is_device else None
    require(version is None or is_label(version, MAXIMUM_VERSION))
    return Record(
        key,
        device,
        suites_of(record) if is_device else [],
        topic,
        1 if generation is None else generation,
        created,
        key_of(record, "sender", Kind.SENDER_PUBLIC) if is_device else None,
        version,
    )


def is_label(text: str, maximum: int) -> bool:
    has_control = any(unicodedata.category(character) == "Cc" for character in text)
    return 1 <= len(text.encode()) <= maximum and not has_control


def is_device_id(text: str) -> bool:
    """It is neither a key nor an empty line."""
    return is_label(text, MAXIMUM_DEVICE_ID) and not text.startswith("pcr1") and bool(text.strip(" "))


def suites_of(record: dict[str, object]) -> list[int]:
    value = record.get("suites")
    if value is None:
        return [SUITE]
    require(isinstance(value, list) and 1 <= len(value) <= MAXIMUM_SUITES)
    assert isinstance(value, list)
    require(all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= 255 for one in value))
    require(value == sorted(set(value)) and SUITE in value)
    return value


def read_reply(text: bytes) -> Reply:
    reply = members(text)
    require(number_of(reply, "version") == 1)
    acknowledged, refused = text_of(reply, "acknowledged"), text_of(reply, "refused")
    require((acknowledged is None) != (refused is None))
    require(refused is None or REASON.fullmatch(refused) is not None)
    return Reply(
        key_of(reply, "acknowledged", Kind.DEVICE_PUBLIC), refused, key_of(reply, "sender", Kind.SENDER_PUBLIC)
    )


# What a provider holds.


@dataclass(frozen=True)
class Held:
    key: bytes
    generation: int
    topic: str | None


def register(record: Record, held: Held | None, is_replaced: bool) -> None:
    """Raises Refused if a provider must not accept the record."""
    if held is None or is_replaced:
        return
    if record.generation < held.generation or record.generation == held.generation and record.key != held.key:
        raise Refused("generation-rollback")
    if record.topic is not None and held.topic is not None and record.topic != held.topic:
        raise Refused("topic-mismatch")
