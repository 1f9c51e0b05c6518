"""Registration records, provider records and replies: JSON that a phone and its provider exchange."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import keys, payload, trust
from .characters import CONTROL, INVISIBLE, has_none
from .envelope import TIME_LIMIT, is_topic
from .keys import KeyRefused, Kind
from .trust import Certificate, Learned

SUITE, XWING_SUITE = 1, 2
MAXIMUM_SUITES = 16
MAXIMUM_VERSION = 64
MAXIMUM_DEVICE_ID = 255
MAXIMUM_FOREIGN = 16
GENERATION_STEP = 1024
REASON = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)
TOKEN = re.compile(r"([0-9a-f]{2}){1,100}", re.ASCII)
ENVIRONMENT = re.compile("production|development")
NONCE = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
END_SEQUENCE = TIME_LIMIT - 1
GRANT = re.compile(r"[A-Za-z0-9_-]{1,1024}", re.ASCII)
SIGNATURE_KEY = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
CERTIFICATE = re.compile(r"[A-Za-z0-9_-]{162}", re.ASCII)


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
    provider: bytes | None
    certificate: Certificate | None
    app_version: str | None
    token: str | None
    environment: str | None
    update_key: bytes | None
    sequence: int | None
    nonce: str | None
    grant: str | None


@dataclass(frozen=True)
class End:
    """What ends a device."""

    device: str
    provider: bytes
    nonce: str


@dataclass(frozen=True)
class Reply:
    acknowledged: bytes | None
    refused: str | None
    ended: str | None
    hello: str | None
    sequence: int | None
    provider: bytes | None
    certificate: Certificate | None
    certificate_fault: str | None
    push_key: bytes | None
    next_push_key: bytes | None
    grant: str | None
    suites: list[int]
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


def matching(record: dict[str, object], name: str, pattern: re.Pattern[str]) -> str | None:
    text = text_of(record, name)
    require(text is None or pattern.fullmatch(text) is not None)
    return text


def from_base64url(text: str) -> bytes:
    """The bytes of a text in the alphabet, and none if its unused bits are not zero."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64.urlsafe_b64encode(data).decode().rstrip("=") == text else b""


def certificate_of(text: str | None) -> tuple[Certificate | None, str | None]:
    """D-12: the certificate, or why there is none."""
    if text is None:
        return None, None
    try:
        return trust.parse(from_base64url(text) if CERTIFICATE.fullmatch(text) else b""), None
    except trust.Refused as error:
        return None, str(error.args[0])


def nonce_of(record: dict[str, object]) -> str | None:
    nonce = matching(record, "nonce", NONCE)
    require(nonce is None or len(from_base64url(nonce)) == 16)
    return nonce


def is_end(record: dict[str, object]) -> bool:
    """D-15."""
    require("ended" not in record or record["ended"] is True)
    return "ended" in record


def read_end(record: dict[str, object]) -> End:
    """D-15."""
    device, provider_text, nonce = text_of(record, "device"), text_of(record, "provider"), nonce_of(record)
    require(device is not None and is_device_id(device) and provider_text is not None and nonce is not None)
    require(number_of(record, "sequence") == END_SEQUENCE)
    provider = key_of(provider_text, Kind.PROVIDER_PUBLIC)
    assert device and provider and nonce
    return End(device, provider, nonce)


def read_record(text: bytes, kind: Kind) -> Record:
    """A device's record or a provider's. What is no text of a key comes first, then these, then what follows of them."""
    record = members(text)
    is_device = kind is Kind.DEVICE_PUBLIC
    public_key, key_id, topic = (text_of(record, name) for name in ("public_key", "key_id", "topic"))
    require(public_key is not None)
    its_suite = XWING_SUITE if is_device and public_key.startswith("pcrx1") else SUITE
    suite = record.get("suite", its_suite)
    require(is_integer(suite) and suite == its_suite)
    require(topic is None or is_topic(topic))
    generation, created = number_of(record, "generation"), number_of(record, "created")
    certificate_text = text_of(record, "certificate")
    mine = record if is_device else {}
    device, version, provider_text = (text_of(mine, name) for name in ("device", "app_version", "provider"))
    require(device is None or is_device_id(device))
    require(version is None or is_label(version, MAXIMUM_VERSION))
    suites = suites_of(mine, its_suite) if is_device else []
    token, environment = matching(mine, "token", TOKEN), matching(mine, "environment", ENVIRONMENT)
    update_text, sequence = text_of(mine, "update_key"), number_of(mine, "sequence")
    require(sequence is None or 1 <= sequence < END_SEQUENCE)
    nonce, grant = nonce_of(mine), matching(mine, "grant", GRANT)
    require(not is_device or not is_end(record))

    key, provider = key_of(public_key, kind), key_of(provider_text, Kind.PROVIDER_PUBLIC)
    update_key = signature_key_of(update_text)
    certificate, _ = certificate_of(certificate_text)
    assert key is not None
    its_id = keys.device_key_id(key) if is_device else keys.provider_key_id(key)
    require(key_id in (None, its_id.hex()))
    return Record(
        key, device, suites, topic, 1 if generation is None else generation, created, provider, certificate, version, token,
        environment, update_key, sequence, nonce, grant,
    )


def is_label(text: str, maximum: int, without: set[int] = CONTROL) -> bool:
    return 1 <= len(text.encode()) <= maximum and has_none(text, without)


def is_device_id(text: str) -> bool:
    """It is neither a key nor an empty line."""
    is_key = text.startswith(("pcr1", "pcrx1"))
    return is_label(text, MAXIMUM_DEVICE_ID, INVISIBLE) and not is_key and bool(text.strip(" "))


def suites_of(record: dict[str, object], its_suite: int | None) -> list[int]:
    value = record.get("suites")
    if value is None:
        return [its_suite or SUITE]
    require(isinstance(value, list) and 1 <= len(value) <= MAXIMUM_SUITES)
    assert isinstance(value, list)
    require(all(is_integer(one) and 1 <= one <= 255 for one in value))
    require(value == sorted(set(value)) and its_suite in (None, *value))
    return value


def read_reply(text: bytes) -> Reply:
    reply = members(text)
    require(number_of(reply, "version") == 1)
    acknowledged, refused, provider, certificate = (
        text_of(reply, name) for name in ("acknowledged", "refused", "provider", "certificate")
    )
    ended, hello, grant = (text_of(reply, name) for name in ("ended", "hello", "grant"))
    require([acknowledged, refused, ended, hello].count(None) == 3)
    require((ended is None or is_device_id(ended)) and grant in (None, "ended"))
    sequence = number_of(reply, "sequence")
    require(refused is None or REASON.fullmatch(refused) is not None)
    foreign = texts_of(reply, "foreign", MAXIMUM_FOREIGN)
    suites = suites_of(reply, None)
    push_key, next_push_key = text_of(reply, "push_key"), text_of(reply, "next_push_key")
    device_key, provider_key = key_of(acknowledged, Kind.DEVICE_PUBLIC), key_of(provider, Kind.PROVIDER_PUBLIC)
    return Reply(
        device_key, refused, ended, hello, sequence, provider_key, *certificate_of(certificate), signature_key_of(push_key),
        signature_key_of(next_push_key), grant, suites, foreign,
    )


def signature_key_of(text: str | None) -> bytes | None:
    """D-13."""
    if text is None:
        return None
    key = from_base64url(text) if SIGNATURE_KEY.fullmatch(text) else b""
    if not key:
        raise Refused("malformed-key")
    if not keys.is_acceptable_signature_key(key):
        raise Refused("weak-key")
    return key


# What a provider holds.


@dataclass(frozen=True)
class Held:
    """A provider's device. Without a key the provider does not have it yet; a removed one binds the id alike."""

    key: bytes | None = None
    generation: int = 0
    topic: str | None = None
    user: str | None = None
    update_key: bytes | None = None


@dataclass(frozen=True)
class Provider:
    """What else it has. `elsewhere` is the user of another device with the same key, empty if it knows none; `seals` are the suites
    that it can seal to, where that matters; `issued` are the certificates that its first own key signed."""

    held: Held = Held()
    is_replaced: bool = False
    user: str | None = None
    elsewhere: str | None = None
    own_keys: tuple[bytes, ...] = ()
    issued: tuple[Certificate, ...] = ()
    is_removed: bool = False
    seals: tuple[int, ...] | None = None


def suite_of_key(key: bytes) -> int:
    return SUITE if len(key) == 32 else XWING_SUITE


def register(record: Record, provider: Provider) -> None:
    """Raises Refused if a provider must not accept a bare record."""
    check_user(record, provider)
    check_generation(record, provider)
    check_key(record, provider)


def check_user(record: Record, provider: Provider) -> None:
    """D-22."""
    held = provider.held
    if held.key is None or provider.is_replaced:
        return
    is_same = record.key == held.key and record.update_key in (None, held.update_key)
    if provider.user != held.user and (provider.user or not is_same):
        raise Refused("user-mismatch")


def check_generation(record: Record, provider: Provider) -> None:
    """D-27, D-28, D-29."""
    held = provider.held
    if provider.is_replaced:
        return
    if record.generation < held.generation or (
        held.key and record.generation == held.generation and record.key != held.key
    ):
        raise Refused("generation-rollback")
    if record.generation > held.generation + GENERATION_STEP:
        raise Refused("generation-too-high")
    if held.key and suite_of_key(record.key) < suite_of_key(held.key):
        raise Refused("suite-downgrade")


def check_key(record: Record, provider: Provider) -> None:
    """D-30, D-31, D-32."""
    held = provider.held
    if provider.seals and suite_of_key(record.key) not in provider.seals and record.key != held.key:
        raise Refused("unsupported-suite")
    is_bound = not provider.is_replaced and not provider.is_removed
    if is_bound and record.topic and held.topic and record.topic != held.topic:
        raise Refused("topic-mismatch")
    if provider.elsewhere is not None and not (provider.elsewhere and provider.elsewhere == (provider.user or held.user)):
        raise Refused("key-taken")


def foreign_members(record: Record, provider: Provider) -> list[str]:
    """D-35."""
    return ["provider"] if record.provider and record.provider not in provider.own_keys else []


def is_stale(record: Record, provider: Provider, topic: str) -> bool:
    """D-36: whether the record proves a certificate that the provider never issued."""
    if record.certificate is None or record.certificate.claim in [one.claim for one in provider.issued]:
        return False
    if record.certificate.epoch < max((one.floor for one in provider.issued), default=0):
        return False
    try:
        record.certificate.check(provider.own_keys[0], topic)
    except trust.Refused:
        return False
    return True


# What a phone holds.


@dataclass(frozen=True)
class Phone:
    key: bytes
    topic: str
    pins: tuple[bytes, ...] = ()
    learned: Mapping[bytes, Learned] = field(default_factory=dict)
    has_built_in: bool = False


def apply(reply: Reply, phone: Phone) -> tuple[bool, Phone, str | None]:
    """Whether the reply confirms the phone's key, what the phone holds then, and what the app is told of the certificate."""
    confirms = reply.acknowledged == phone.key
    if reply.acknowledged and not confirms:
        return False, phone, None
    if confirms and reply.provider and not phone.pins and not phone.has_built_in:
        phone = replace(phone, pins=(reply.provider,))
    if not reply.certificate:
        return confirms, phone, reply.certificate_fault
    codes = []
    for pin in phone.pins:
        try:
            reply.certificate.check(pin, phone.topic)
        except trust.Refused as error:
            codes.append(error.args[0])
            continue
        learned, said = phone.learned.get(pin, Learned()).learning(reply.certificate)
        told = said if said == trust.CONFLICT else None
        return confirms, replace(phone, learned={**phone.learned, pin: learned}), told
    return confirms, phone, codes[0] if codes else None
