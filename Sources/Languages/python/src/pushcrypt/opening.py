"""Opening a push: `Docs/Format.md`, Opening, steps 1 to 7, and what an opened message says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ._envelope import (
    BODY,
    CERTIFIED,
    CLASS,
    CLASSES,
    CONTENT,
    LARGEST_TIME,
    LONGEST_TIME_TO_LIVE,
    NEVER,
    RESERVED,
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
from .certificates import LENGTH, TOLERANCE, Certificate
from .keys import DeviceKey, ProviderPublicKey, verifies
from .messages import Person, person_in, withdrawals_in
from .trust import Learned, Trust

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

    The app's guard decides by `provider` and `message_id` whether it was shown before; this package has none. Whatever the
    guard says, the app stores, for the provider key and the topic, what is stored `merged` with `learned`, under one lock
    [O-9.1]; a pending `device` key becomes active [O-9.2]; and a conflict is reported to the app [T-3].
    """

    #: The payload as it was sealed. Its member `pushcrypt` holds keys of files: no log or other code may get it [A-15].
    payload: bytes = field(repr=False)
    message_id: bytes
    #: Milliseconds since 1970.
    sent_at: int
    #: Seconds.
    time_to_live: int
    #: The pin under which it verified.
    provider: ProviderPublicKey
    #: A guard counts what it remembers of lower epochs than `learned.floor` as absent.
    epoch: int
    #: What is known of the provider now, the message's certificate included.
    learned: Learned
    #: Whether another certificate of the message's epoch is known, which is of a restored store or a stolen provider key.
    has_certificate_conflict: bool
    device: DeviceKey

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
        """The ids of the messages to withdraw: of this provider [O-8.11], [O-8.12]."""
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
    push: bytes | str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, push_type: str = "alert",
    at: int | None = None,
) -> Opened:
    """Opens a push as received. `topic` is the app's own bundle id, never a value from the push [O-0.2]. `push_type` is that with
    which the push came: a message sealed as another is refused [O-6.1].

    Reads nothing of the push but the envelope [O-0.1], and changes nothing: see `Opened`. `at` is the present time in
    milliseconds, by default the system's.
    """
    data = push.encode("utf-8", "surrogatepass") if isinstance(push, str) else bytes(push)
    if len(data) > LONGEST_PUSH:
        raise PushcryptError(Code.MALFORMED_NOTIFICATION, f"the push has over {LONGEST_PUSH} bytes")
    text = parse_object(data, Code.MALFORMED_NOTIFICATION).get("ENCRYPTED_DATA")
    if type(text) is not str:
        raise PushcryptError(Code.NOT_ENCRYPTED, "ENCRYPTED_DATA is missing or not a string")
    return open_envelope(text, topic=topic, devices=devices, trust=trust, push_type=push_type, at=at)


def open_envelope(
    text: str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, push_type: str = "alert", at: int | None = None
) -> Opened:
    """Opens the text of an envelope, the value of `ENCRYPTED_DATA`: steps 2 to 7."""
    check_topic(topic)
    if push_type not in CLASSES:
        raise ValueError(f"push_type is one of {', '.join(CLASSES)}")
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
    sent_at, time_to_live = number(inner, 85, 93), number(inner, 93, 97)
    kind, epoch, body = inner[CONTENT], number(inner, 0, 4), inner[BODY:end]
    certificate = certificate_in(kind, epoch, body)
    payload, hash = body[LENGTH:] if certificate else body, content_hash(inner)

    def is_from(pin: ProviderPublicKey) -> bool:
        known, signing_key = trust.learned(pin), bytes(pin)
        if certificate is not None:
            signing_key = certificate.signing_key
            try:
                # The one that is stored was verified before.
                if certificate != known.certificate:
                    certificate.check(pin, topic)
            except PushcryptError:
                return False
        message = signed(header, enc, recipient, bytes(pin), signing_key, epoch, topic, hash)
        if not verifies(signing_key, inner[4:68], message):
            return False
        return known.after(certificate).opens(epoch, certificate, sent_at, now)

    provider = next(filter(is_from, trust.pins), None)
    if provider is None or any(inner[end:]):
        raise not_authentic()

    # Step 6.
    if not 1 <= kind & CLASS <= len(CLASSES):
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE, "authentic, but of an unknown kind; update this package")
    if kind & CLASS != CLASSES[push_type]:
        raise PushcryptError(Code.WRONG_PUSH_CLASS, "authentic, but sealed for another push type; somebody sent it as this one")
    if not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE or sent_at > LARGEST_TIME:
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE, "authentic, but its times are out of range")
    if now > later(sent_at, time_to_live):
        raise PushcryptError(Code.EXPIRED, "authentic, but past its time to live")
    if sent_at > later(now, TOLERANCE):
        raise PushcryptError(Code.NOT_YET_VALID, "authentic, but sent more than 24 hours from now; one clock is wrong")

    # Step 7.
    check_payload(payload)
    known = trust.learned(provider)
    conflict = certificate is not None and certificate.conflicts(known.certificate)
    return Opened(payload, inner[69:85], sent_at, time_to_live, provider, epoch, known.after(certificate), conflict, device)


def certificate_in(kind: int, epoch: int, body: bytes) -> Certificate | None:
    """The certificate with which the body of a message of epoch 1 or more begins, and of no other [O-5.1]."""
    if kind & RESERVED or (epoch > 0) != (kind & CERTIFIED > 0):
        raise not_authentic()
    if not kind & CERTIFIED:
        return None
    try:
        certificate = Certificate(body[:LENGTH])
    except PushcryptError:
        raise not_authentic() from None
    if certificate.epoch != epoch:
        raise not_authentic()
    return certificate


def check_payload(data: bytes) -> dict[str, Any]:
    """Parses a payload by [J-1] to [J-7]. Returns its members."""
    members = parse_object(data, Code.MALFORMED_PAYLOAD)
    if not isinstance(members.get("aps"), dict):
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "the payload has no aps object")
    return members
