"""Opening an envelope. The steps and their order are part of the format, because they decide which error is reported.

Step 8, replay, depends on what the receiver saw before: `replay` has it.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from . import hpke, keys, payload, rotation, xwing
from .envelope import (
    BODY_OFFSET,
    HEADER_SIZE,
    MAXIMUM_TEXT,
    MAXIMUM_TTL,
    PAYLOAD_CONTENT,
    ROTATION_CONTENT,
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
from .rotation import CLOCK_TOLERANCE, Recovery, Statement
from .trust import Evaluation, Trust, evaluate_all


class Refused(Exception):
    """The argument is the error code."""


@dataclass(frozen=True)
class Receiver:
    """A receiver's state: its topic, its device secrets (pending, active and retiring alike) and its trust.

    `ends` has the last moment at which a retiring key opens.
    """

    topic: str
    device_secrets: tuple[bytes, ...]
    trust: Trust = field(default_factory=Trust)
    ends: Mapping[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Opened:
    """A message that passed every step but replay, the trust after its statements, and the conflicts among them."""

    payload: bytes
    message: Message
    sender: bytes
    recipient: bytes
    trust: Trust
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
    sender, evaluation = authenticate(envelope, inner, recipient, receiver, now)
    message = read_message(inner)
    check_freshness(message, now)
    return read_body(message, sender, recipient, evaluation)


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
    envelope: bytes, inner: bytes, recipient: bytes, receiver: Receiver, now: int
) -> tuple[bytes, Evaluation]:
    """Step 5: body length, sender, signature, padding. Returns the sender's key, and what the statements change."""
    body, sender_id, signature = body_of(inner), inner[:4], inner[4:SIGNED_OFFSET]
    if len(body) != body_length(inner):
        raise Refused("authentication-failed")

    def signed_by(sender: bytes) -> bytes:
        header, enc = envelope[:HEADER_SIZE], envelope[HEADER_SIZE : layout(envelope[0])[1]]
        return signed_bytes(header, enc, recipient, sender, receiver.topic, inner[SIGNED_OFFSET:])

    statements = read_statements(inner)
    while True:
        evaluation = evaluate_all(statements, receiver.trust, receiver.topic, now)
        senders = evaluation.trust.candidates(sender_id, now)
        if not evaluation.is_recovered:
            senders += receiver.trust.candidates(sender_id, now)
        sender = next((key for key in senders if keys.verifies(key, signature, signed_by(key))), None)
        if sender is not None or not evaluation.is_recovered:
            break
        # The phone may have enrolled since the recovery, which would revoke its key.
        statements = [statement for statement in statements if not isinstance(statement, Recovery)]
    if not senders and evaluation.told:
        raise Refused(min(evaluation.told))
    if sender is None or any(inner[BODY_OFFSET + len(body) :]):
        raise Refused("authentication-failed")
    return sender, evaluation


def read_statements(inner: bytes) -> list[Statement | None]:
    """O-5.2. What cannot be read changes nothing here."""
    if inner[SIGNED_OFFSET] != ROTATION_CONTENT:
        return []
    try:
        return rotation.split(body_of(inner))[0]
    except rotation.MalformedStatements:
        return []


def body_length(inner: bytes) -> int:
    return int.from_bytes(inner[BODY_OFFSET - 2 : BODY_OFFSET], "big")


def body_of(inner: bytes) -> bytes:
    return inner[BODY_OFFSET : BODY_OFFSET + body_length(inner)]


def read_message(inner: bytes) -> Message:
    """Step 6, first half: a genuine message may still be one that this version does not understand."""
    message = Message(
        content_type=inner[68],
        message_id=inner[69:85],
        sent_at=int.from_bytes(inner[85:93], "big"),
        ttl=int.from_bytes(inner[93:97], "big"),
        body=body_of(inner),
    )
    known = message.content_type in (PAYLOAD_CONTENT, ROTATION_CONTENT)
    if not known or not 1 <= message.ttl <= MAXIMUM_TTL or message.sent_at >= TIME_LIMIT:
        raise Refused("unsupported-message")
    return message


def check_freshness(message: Message, now: int) -> None:
    """Step 6, second half."""
    if now > message.sent_at + message.ttl * 1000:
        raise Refused("expired")
    if message.sent_at > now + CLOCK_TOLERANCE:
        raise Refused("not-yet-valid")


def read_body(message: Message, sender: bytes, recipient: bytes, evaluation: Evaluation) -> Opened:
    """Step 7: the payload, and the trust after the statements that came with it."""
    body = message.body
    try:
        if message.content_type == ROTATION_CONTENT:
            _, body = rotation.split(body)
        payload.parse(body)
    except (rotation.MalformedStatements, payload.MalformedPayload) as error:
        raise Refused("malformed-payload") from error
    return Opened(body, message, sender, recipient, evaluation.trust, evaluation.told)
