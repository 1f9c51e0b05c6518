"""Opening a push: `Docs/Format.md`, Opening, steps 1 to 7, and what an opened message says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ._envelope import (
    BODY,
    CONTENT,
    LARGEST_TIME,
    LONGEST_TIME_TO_LIVE,
    MOST_STATEMENTS,
    NEVER,
    PAYLOAD,
    STATEMENTS,
    check_topic,
    content_hash,
    decode,
    envelope_info,
    later,
    milliseconds_now,
    number,
    signed,
)
from ._errors import Code, PushcryptError
from ._hpke import not_authentic, setup_base_r
from ._json import parse_object
from .attachments import Reference, attachments_in, full_body_in
from .keys import DeviceKey, SenderPublicKey
from .messages import Person, person_in, withdrawals_in
from .trust import RECOVERS, STATEMENT, TOLERANCE, Trust

__all__ = ["HeldKey", "Opened", "open_push"]

LONGEST_PUSH = 65536


@dataclass(frozen=True)
class HeldKey:
    """A device key and the end of a retiring one: the last millisecond at which it opens."""

    key: DeviceKey
    end: int = NEVER


@dataclass(frozen=True)
class Opened:
    """An authentic, fresh message.

    The app's guard decides by `sender` and `message_id` whether it was shown before; this package has none. Whatever the
    guard says, the app, under one lock, lets the *currently* stored trust follow the accepted `statements`, with the
    topic and the time of the opening, and stores it [O-9.1]; a pending `device` key becomes active [O-9.2]; and the
    conflicts in `told` are reported to the app [R-7], [R-19].
    """

    #: The payload as it was sealed. Its member `pushcrypt` holds keys of files: no log or other code may get it [A-15].
    payload: bytes = field(repr=False)
    message_id: bytes
    #: Milliseconds since 1970.
    sent_at: int
    #: Seconds.
    time_to_live: int
    sender: SenderPublicKey
    device: DeviceKey
    statements: list[bytes]
    told: list[Code]

    @property
    def expires_at(self) -> int:
        """The last millisecond at which the message may be shown."""
        return self.sent_at + 1000 * self.time_to_live

    @cached_property
    def _members(self) -> dict[str, Any]:
        return check_payload(self.payload)

    @property
    def attachments(self) -> tuple[list[Reference], list[Code]]:
        """The references to files, and a code for each item that was dropped [A-11] to [A-14]."""
        return attachments_in(self._members)

    def full_body(self) -> Reference | None:
        """The reference of a text that was too long for the push, or `None` [A-28], [A-31]."""
        return full_body_in(self._members)

    @property
    def withdraws(self) -> list[bytes]:
        """The ids of the messages to withdraw: of this sender, or of a key that it had before [O-8.11], [O-8.12]."""
        return withdrawals_in(self._members, self.message_id)

    @property
    def is_dropped(self) -> bool:
        """Whether the message is not to be shown [O-8.15]."""
        own = self._members.get("pushcrypt")
        return isinstance(own, dict) and own.get("drop") is True

    @property
    def person(self) -> Person | None:
        """The person that the notification is from, or `None` [N-9]."""
        return person_in(self._members)[0]


def open_push(
    push: bytes | str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, at: int | None = None
) -> Opened:
    """Opens a push as received. `topic` is the app's own bundle id, never a value from the push [O-0.2].

    Reads nothing of the push but the envelope [O-0.1], and changes nothing: see `Opened`. `at` is the present time in
    milliseconds, by default the system's.
    """
    data = push.encode("utf-8", "surrogatepass") if isinstance(push, str) else bytes(push)
    if len(data) > LONGEST_PUSH:
        raise PushcryptError(Code.MALFORMED_NOTIFICATION, f"the push has over {LONGEST_PUSH} bytes")
    text = parse_object(data, Code.MALFORMED_NOTIFICATION).get("ENCRYPTED_DATA")
    if type(text) is not str:
        raise PushcryptError(Code.NOT_ENCRYPTED, "ENCRYPTED_DATA is missing or not a string")
    return open_envelope(text, topic=topic, devices=devices, trust=trust, at=at)


def open_envelope(
    text: str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, at: int | None = None
) -> Opened:
    """Opens the text of an envelope, the value of `ENCRYPTED_DATA`: steps 2 to 7."""
    check_topic(topic)
    now = milliseconds_now() if at is None else at
    envelope = decode(text)
    header, enc, sealed = envelope[:5], envelope[5:37], envelope[37:]

    # Step 3. Exactly one key is tried [O-3.2].
    held = [key if isinstance(key, HeldKey) else HeldKey(key) for key in devices]
    device = next((key.key for key in held if key.key.public_key.id_bytes == header[1:] and now <= key.end), None)
    if device is None:
        raise PushcryptError(Code.UNKNOWN_RECIPIENT_KEY, "this device does not have the key; have it register again")
    recipient = bytes(device.public_key)

    # Step 4.
    inner = setup_base_r(enc, device.exchange_key(), recipient, envelope_info(header, topic)).open(b"", sealed)

    # Step 5.
    end = BODY + number(inner, 97, 99)
    if end > len(inner):
        raise not_authentic()
    body = inner[BODY:end]
    statements, payload = split(inner[CONTENT], body)
    hash = content_hash(inner)
    read = statements or ()
    while True:
        after = trust.copy()
        accepted, told = after.follow(read, topic, now)
        candidates = after.candidates(inner[:4], now)
        is_recovered = any(statement[0] == RECOVERS for statement in accepted)
        if not is_recovered:
            candidates += trust.candidates(inner[:4], now)
        data = [(key, signed(header, enc, recipient, bytes(key), topic, hash)) for key in candidates]
        sender = next((key for key, data in data if key.verifies(inner[4:68], data)), None)
        if sender is not None or not is_recovered:
            break
        # Again without recoveries: they would revoke the key of a phone that was enrolled since.
        read = [statement for statement in read if statement[0] != RECOVERS]
    if not candidates and told:
        raise PushcryptError(told[0], "a key that the phone trusts signed two different statements; see Docs/KeyRotation.md")
    if sender is None or any(inner[end:]):
        raise not_authentic()

    # Step 6.
    sent_at, time_to_live = number(inner, 85, 93), number(inner, 93, 97)
    if inner[CONTENT] not in (PAYLOAD, STATEMENTS):
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE, "authentic, but of an unknown type; update this package")
    if not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE or sent_at > LARGEST_TIME:
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE, "authentic, but its times are out of range")
    if now > later(sent_at, time_to_live):
        raise PushcryptError(Code.EXPIRED, "authentic, but past its time to live")
    if sent_at > later(now, TOLERANCE):
        raise PushcryptError(Code.NOT_YET_VALID, "authentic, but sent more than 24 hours from now; one clock is wrong")

    # Step 7.
    if statements is None:
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "authentic, but its statements cannot be read")
    check_payload(payload)
    return Opened(payload, inner[69:85], sent_at, time_to_live, sender, device, accepted, told)


def split(content_type: int, body: bytes) -> tuple[list[bytes] | None, bytes]:
    """The statements and the payload of a body. The statements are `None` if they are unreadable [O-7.1]; the trust
    ignores those of an unknown version."""
    if content_type != STATEMENTS:
        return [], body
    count = body[0] if body else 0
    start = 1 + STATEMENT * count
    statements = [body[1 + STATEMENT * index :][:STATEMENT] for index in range(count)]
    if not 1 <= count <= MOST_STATEMENTS or len(body) < start:
        return None, b""
    return statements, body[start:]


def check_payload(data: bytes) -> dict[str, Any]:
    """Parses a payload by [J-1] to [J-7]. Returns its members."""
    members = parse_object(data, Code.MALFORMED_PAYLOAD)
    if not isinstance(members.get("aps"), dict):
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "the payload has no aps object")
    return members
