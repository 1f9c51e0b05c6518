"""Opening an envelope. The steps and their order are part of the format, because they decide which error is reported.

Step 8, replay, depends on what the receiver saw before: `replay` has it.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import hpke, keys, payload, trust, xwing
from .envelope import (
    BODY_OFFSET,
    CERTIFICATE_BIT,
    CLASS_BITS,
    HEADER_SIZE,
    MAXIMUM_TEXT,
    KIND_OFFSET,
    MAXIMUM_TTL,
    PUSH_CLASSES,
    RESERVED_BITS,
    SIGNED_OFFSET,
    SUITE,
    TIME_LIMIT,
    XWING_SUITE,
    Message,
    hpke_suite,
    info,
    layout,
    signed_bytes,
    to_text,
)
from .trust import CONFLICT, DAY, Learned

CLOCK_TOLERANCE = DAY


class Refused(Exception):
    """The argument is the error code."""


@dataclass(frozen=True)
class Receiver:
    """A receiver's state: its topic, its device secrets (pending, active and retiring alike), its pins, and what it keeps.

    `ends` has the last moment at which a retiring key opens, `account_pins` the pins of secrets that have others.
    """

    topic: str
    device_secrets: tuple[bytes, ...]
    pins: tuple[bytes, ...] = ()
    learned: Mapping[bytes, Learned] = field(default_factory=dict)
    ends: Mapping[bytes, int] = field(default_factory=dict)
    account_pins: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    push_type: str = "alert"

    def keeping(self, provider: bytes, learned: Learned) -> "Receiver":
        if learned == self.learned.get(provider, Learned()):
            return self
        return replace(self, learned={**self.learned, provider: learned})


@dataclass(frozen=True)
class Opened:
    """A message that passed every step but replay, and what is kept for its provider then."""

    payload: bytes
    message: Message
    provider: bytes
    epoch: int
    recipient: bytes
    learned: Learned
    told: tuple[str, ...]


def open_push(data: bytes, receiver: Receiver, now: int) -> Opened:
    """Step 1 and all later steps, for the bytes of a push."""
    try:
        push = payload.parse_object(data)
    except payload.MalformedPayload as error:
        raise Refused("malformed-notification") from error
    text = push.get("ENCRYPTED_DATA")
    if not isinstance(text, str):
        raise Refused("not-encrypted")
    return open_text(text, receiver, now)


def open_text(text: str, receiver: Receiver, now: int) -> Opened:
    envelope = parse(text)
    secret = select_device_key(envelope, receiver, now)
    inner = decrypt(envelope, secret, receiver.topic)
    recipient = keys.device_public_key(secret)
    opened = authenticate(envelope, inner, recipient, receiver.account_pins.get(secret, receiver.pins), receiver, now)
    check_message(opened.message, receiver.push_type)
    check_freshness(opened.message, now)
    try:
        payload.parse(opened.payload)
    except payload.MalformedPayload as error:
        raise Refused("malformed-payload") from error
    return opened


def parse(text: str) -> bytes:
    """Step 2: text form, suite and length, before any cryptography."""
    if not 1 <= len(text) <= MAXIMUM_TEXT or not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        raise Refused("malformed-envelope")
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_text(envelope) != text:
        raise Refused("malformed-envelope")
    if envelope[0] not in (SUITE, XWING_SUITE):
        raise Refused("unsupported-suite")
    buckets, offset = layout(envelope[0])
    if len(envelope) - offset - 16 not in buckets:
        raise Refused("malformed-envelope")
    return envelope


def select_device_key(envelope: bytes, receiver: Receiver, now: int) -> bytes:
    """Step 3: the key id selects one private key."""
    for secret in receiver.device_secrets:
        if (
            now <= receiver.ends.get(secret, now)
            and keys.device_key_id(keys.device_public_key(secret)) == envelope[1:HEADER_SIZE]
            and isinstance(secret, xwing.Seed) == (envelope[0] == XWING_SUITE)
        ):
            return secret
    raise Refused("unknown-recipient-key")


def decrypt(envelope: bytes, secret: bytes, topic: str) -> bytes:
    """Step 4: HPKE open."""
    _, offset = layout(envelope[0])
    enc, ciphertext = envelope[HEADER_SIZE:offset], envelope[offset:]
    try:
        shared_secret = (xwing if isinstance(secret, xwing.Seed) else hpke).decapsulate(enc, secret)
        context = hpke.key_schedule(shared_secret, info(envelope[:HEADER_SIZE], topic), hpke_suite(envelope[0]))
        return context.open(b"", ciphertext)
    except hpke.OpenError as error:
        raise Refused("authentication-failed") from error


def authenticate(
    envelope: bytes, inner: bytes, recipient: bytes, pins: tuple[bytes, ...], receiver: Receiver, now: int
) -> Opened:
    """Step 5: the first pin under which everything holds."""
    for provider in pins:
        try:
            return under(provider, envelope, inner, recipient, receiver, now)
        except (Refused, trust.Refused):
            continue
    raise Refused("authentication-failed")


def under(
    provider: bytes, envelope: bytes, inner: bytes, recipient: bytes, receiver: Receiver, now: int
) -> Opened:
    kind, epoch = inner[KIND_OFFSET], int.from_bytes(inner[:4], "big")
    end = BODY_OFFSET + int.from_bytes(inner[BODY_OFFSET - 2 : BODY_OFFSET], "big")
    message = Message(inner[BODY_OFFSET:end], inner[69:85], number(inner[85:93]), number(inner[93:97]), kind)
    require(end <= len(inner) and not kind & RESERVED_BITS)
    require((epoch > 0) == bool(kind & CERTIFICATE_BIT))

    learned, certificate, told, content = receiver.learned.get(provider, Learned()), None, "", message.body
    if epoch:
        certificate, content = trust.parse(content[: trust.SIZE]), content[trust.SIZE :]
        require(certificate.epoch == epoch)
        certificate.check(provider, receiver.topic)
        learned, told = learned.learning(certificate)
    require(learned.opens(epoch, certificate, message.sent_at, now))

    header, enc = envelope[:HEADER_SIZE], envelope[HEADER_SIZE : layout(envelope[0])[1]]
    signing_key = certificate.signing_key if certificate else provider
    signed = signed_bytes(
        header, enc, recipient, provider, signing_key, epoch, receiver.topic, inner[SIGNED_OFFSET:]
    )
    require(keys.verifies(signing_key, inner[4:SIGNED_OFFSET], signed))
    require(not any(inner[end:]))
    return Opened(content, message, provider, epoch, recipient, learned, (CONFLICT,) if told == CONFLICT else ())


def require(condition: bool) -> None:
    if not condition:
        raise Refused("authentication-failed")


def number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def check_message(message: Message, push_type: str) -> None:
    """Step 6, first half: a genuine message may still be one that this version does not understand."""
    push_class = message.kind & CLASS_BITS
    if push_class not in PUSH_CLASSES.values():
        raise Refused("unsupported-message")
    if push_class != PUSH_CLASSES[push_type]:
        raise Refused("wrong-push-class")
    if not 1 <= message.ttl <= MAXIMUM_TTL or message.sent_at >= TIME_LIMIT:
        raise Refused("unsupported-message")


def check_freshness(message: Message, now: int) -> None:
    """Step 6, second half."""
    if now > message.sent_at + message.ttl * 1000:
        raise Refused("expired")
    if message.sent_at > now + CLOCK_TOLERANCE:
        raise Refused("not-yet-valid")
