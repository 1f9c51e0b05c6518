"""Registration records, sender records and replies: JSON that a phone and its provider exchange."""

import re
import unicodedata
from dataclasses import dataclass, replace

from . import keys, payload
from .envelope import TIME_LIMIT, is_topic
from .keys import KeyRefused, Kind

SUITE, XWING_SUITE = 1, 2
MAXIMUM_SUITES = 16
MAXIMUM_VERSION = 64
MAXIMUM_DEVICE_ID = 255
MAXIMUM_RECOVERY = 2
MAXIMUM_FOREIGN = 16
GENERATION_STEP = 1024
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
    recovery: list[bytes]
    app_version: str | None


@dataclass(frozen=True)
class Reply:
    acknowledged: bytes | None
    refused: str | None
    sender: bytes | None
    recovery: list[bytes]
    foreign: list[str]


def members(text: bytes) -> dict[str, object]:
    """The present members. A null value counts as absent."""
    try:
        return {name: value for name, value in payload.parse_object(text).items() if value is not None}
    except payload.MalformedPayload as error:
        raise Refused("malformed-record") from error


def require(condition: bool) -> None:
    if not condition:
        raise Refused("malformed-record")


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def text_of(record: dict[str, object], name: str) -> str | None:
    value = record.get(name)
    require(value is None or isinstance(value, str))
    return value if isinstance(value, str) else None


def texts_of(record: dict[str, object], name: str, maximum: int) -> list[str]:
    value = record.get(name)
    if value is None:
        return []
    require(isinstance(value, list) and 1 <= len(value) <= maximum and all(isinstance(one, str) for one in value))
    assert isinstance(value, list)
    return value


def number_of(record: dict[str, object], name: str) -> int | None:
    value = record.get(name)
    if value is None:
        return None
    require(is_integer(value))
    assert isinstance(value, int)
    require(0 <= value < TIME_LIMIT)
    return value


def key_of(text: str | None, kind: Kind) -> bytes | None:
    if text is None:
        return None
    try:
        return keys.import_text(kind, text)
    except KeyRefused as error:
        raise Refused(error.args[0]) from error


def keys_of(texts: list[str], kind: Kind) -> list[bytes]:
    return [key for text in texts if (key := key_of(text, kind))]


def require_different(*groups: bytes | list[bytes] | None) -> None:
    """K-10, and no recovery key twice."""
    every = [key for group in groups if group for key in (group if isinstance(group, list) else [group])]
    require(len(set(every)) == len(every))


def read_record(text: bytes, kind: Kind) -> Record:
    """A device's record or a sender's. What is no text of a key comes first, then these, then what follows of them."""
    record = members(text)
    is_device = kind is Kind.DEVICE_PUBLIC
    public_key, key_id, topic = (text_of(record, name) for name in ("public_key", "key_id", "topic"))
    require(public_key is not None)
    its_suite = XWING_SUITE if is_device and public_key.startswith("pcrx1") else SUITE
    suite = record.get("suite", its_suite)
    require(is_integer(suite) and suite == its_suite)
    require(topic is None or is_topic(topic))
    generation, created = number_of(record, "generation"), number_of(record, "created")
    recovery_texts = texts_of(record, "recovery", MAXIMUM_RECOVERY)
    device = text_of(record, "device") if is_device else None
    require(device is None or is_device_id(device))
    version = text_of(record, "app_version") if is_device else None
    require(version is None or is_label(version, MAXIMUM_VERSION))
    suites = suites_of(record, its_suite) if is_device else []
    sender_key = text_of(record, "sender") if is_device else None

    key, sender = key_of(public_key, kind), key_of(sender_key, Kind.SENDER_PUBLIC)
    recovery = keys_of(recovery_texts, Kind.RECOVERY_PUBLIC)
    assert key is not None
    its_id = keys.device_key_id(key) if is_device else keys.sender_key_id(key)
    require(key_id in (None, its_id.hex()))
    require_different(sender if is_device else key, recovery)
    return Record(
        key, device, suites, topic, 1 if generation is None else generation, created, sender, recovery, version
    )


def is_label(text: str, maximum: int) -> bool:
    has_control = any(unicodedata.category(character) == "Cc" for character in text)
    return 1 <= len(text.encode()) <= maximum and not has_control


def is_device_id(text: str) -> bool:
    """It is neither a key nor an empty line."""
    return is_label(text, MAXIMUM_DEVICE_ID) and not text.startswith(("pcr1", "pcrx1")) and bool(text.strip(" "))


def suites_of(record: dict[str, object], its_suite: int) -> list[int]:
    value = record.get("suites")
    if value is None:
        return [its_suite]
    require(isinstance(value, list) and 1 <= len(value) <= MAXIMUM_SUITES)
    assert isinstance(value, list)
    require(all(is_integer(one) and 1 <= one <= 255 for one in value))
    require(value == sorted(set(value)) and its_suite in value)
    return value


def read_reply(text: bytes) -> Reply:
    reply = members(text)
    require(number_of(reply, "version") == 1)
    acknowledged, refused, sender = (text_of(reply, name) for name in ("acknowledged", "refused", "sender"))
    require((acknowledged is None) != (refused is None))
    require(refused is None or REASON.fullmatch(refused) is not None)
    recovery_texts = texts_of(reply, "recovery", MAXIMUM_RECOVERY)
    foreign = texts_of(reply, "foreign", MAXIMUM_FOREIGN)
    device_key, sender_key = key_of(acknowledged, Kind.DEVICE_PUBLIC), key_of(sender, Kind.SENDER_PUBLIC)
    recovery = keys_of(recovery_texts, Kind.RECOVERY_PUBLIC)
    require_different(sender_key, recovery)
    return Reply(device_key, refused, sender_key, recovery, foreign)


# What a provider holds.


@dataclass(frozen=True)
class Held:
    """A provider's device. Without a key the provider does not have it yet."""

    key: bytes | None = None
    generation: int = 0
    topic: str | None = None
    user: str | None = None


@dataclass(frozen=True)
class Provider:
    """What else it has. `elsewhere` is the user of another device with the same key, empty if it knows none; `seals` are the suites
    that it can seal to, where that matters."""

    held: Held = Held()
    is_replaced: bool = False
    user: str | None = None
    elsewhere: str | None = None
    own_keys: tuple[bytes, ...] = ()
    seals: tuple[int, ...] | None = None


def suite_of_key(key: bytes) -> int:
    return SUITE if len(key) == 32 else XWING_SUITE


def register(record: Record, provider: Provider) -> None:
    """Raises Refused if a provider must not accept the record."""
    held = provider.held
    if not provider.is_replaced:
        if held.user and provider.user and held.user != provider.user:
            raise Refused("user-mismatch")
        if record.generation < held.generation or (
            held.key and record.generation == held.generation and record.key != held.key
        ):
            raise Refused("generation-rollback")
        if record.generation > held.generation + GENERATION_STEP:
            raise Refused("generation-too-high")
        if held.key and suite_of_key(record.key) < suite_of_key(held.key):
            raise Refused("suite-downgrade")
    if provider.seals and suite_of_key(record.key) not in provider.seals and record.key != held.key:
        raise Refused("unsupported-suite")
    if not provider.is_replaced:
        if record.topic is not None and held.topic is not None and record.topic != held.topic:
            raise Refused("topic-mismatch")
    if provider.elsewhere is not None and not (provider.elsewhere and provider.elsewhere == (provider.user or held.user)):
        raise Refused("key-taken")


def foreign_members(record: Record, provider: Provider) -> list[str]:
    """D-22."""
    sender = [record.sender] if record.sender else []
    return [
        name
        for name, found in (("sender", sender), ("recovery", record.recovery))
        if any(key not in provider.own_keys for key in found)
    ]


# What a phone holds.


@dataclass(frozen=True)
class Phone:
    key: bytes
    pinned: bytes | None = None
    recovery: tuple[bytes, ...] = ()
    has_sender_built_in: bool = False
    has_recovery_built_in: bool = False


def apply(reply: Reply, phone: Phone) -> tuple[bool, Phone]:
    """Whether the reply confirms the phone's key, and what the phone trusts then."""
    if reply.acknowledged != phone.key:
        return False, phone
    if phone.pinned or phone.has_sender_built_in or not reply.sender:
        return True, phone
    recovery = phone.recovery
    if not recovery and not phone.has_recovery_built_in:
        recovery = tuple(reply.recovery)
    return True, replace(phone, pinned=reply.sender, recovery=recovery)
