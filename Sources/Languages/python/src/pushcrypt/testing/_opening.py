"""Opening a push: `Docs/Format.md`, Opening, steps 1 to 7, and what an opened message says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from .._attachments import Reference, parse_reference
from .._certificates import Certificate
from .._envelope import NEVER, check_topic, decode, envelope_info, later, lp16, named_message, number, signed, time_or_now
from .._errors import Code, PushcryptError
from .._format import (
    BUCKETS, CERTIFICATE_LENGTH, CLASSES, CLOCK_TOLERANCE, ENVELOPE_OVERHEAD, INNER_BODY, INNER_CONTENT, INVISIBLE,
    KIND_CERTIFIED, KIND_CLASS, KIND_RESERVED, LARGEST_TIME, LONGEST_ENVELOPE_TEXT, LONGEST_PUSH, LONGEST_TIME_TO_LIVE,
    MOST_WITHDRAWN, SUITE,
)
from .._hpke import Context, dh, extract_and_expand, key_schedule, not_authentic
from .._json import parse_object
from .._keys import DevicePublicKey, ProviderPublicKey, SecretKey, verifies
from .._messages import Person, check_avatar, is_label
from .._types import check_type, checked_tuple, utf8
from ._files import attachments_in, full_body_in, own_member
from ._trust import Learned, Trust

#: What a title or a name loses [N-4].
HIDDEN = re.compile(INVISIBLE)


class DeviceKey(SecretKey):
    """A device's secret key, `PCR-SECRET-1…`. Made from its 32 bytes, by `parse` from its text, or by `generate`."""

    __slots__ = ("public_key", "_private")
    KIND: ClassVar[str] = "pcr-secret-"

    #: The public half, to register.
    public_key: DevicePublicKey

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._private = X25519PrivateKey.from_private_bytes(self._bytes)
        self.public_key = DevicePublicKey(self._private.public_key().public_bytes_raw())

    def setup_base_r(self, enc: bytes, info: bytes) -> Context:
        """HPKE's context of the recipient. The KEM context is enc as received [O-4.1]."""
        return key_schedule(extract_and_expand(dh(self._private, enc), enc + bytes(self.public_key)), info)


@dataclass(frozen=True)
class HeldKey:
    """A device key and the end of a retiring one: the last millisecond at which it opens."""

    key: DeviceKey
    end: int = NEVER

    def __post_init__(self) -> None:
        check_type(self.key, DeviceKey, "the key")
        check_type(self.end, int, "the end")


@dataclass(frozen=True)
class Opened:
    """An authentic, fresh message. `Trust.learn` takes over what is `learned` [O-9.1]."""

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
        return own_member(self._members).get("drop") is True

    @property
    def person(self) -> Person | None:
        """The person that the notification is from, or `None` [N-9]."""
        return person_in(self._members)[0]


def open_push(
    push: bytes | str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, push_type: str = "alert",
    at: int | None = None,
) -> Opened:
    """Opens a push of a type for the app `topic`, at a time in milliseconds, by default the system's. Changes nothing."""
    data = utf8(push, "the push")
    if len(data) > LONGEST_PUSH:
        raise PushcryptError(Code.MALFORMED_NOTIFICATION)
    text = parse_object(data, Code.MALFORMED_NOTIFICATION).get("ENCRYPTED_DATA")
    if type(text) is not str:
        raise PushcryptError(Code.NOT_ENCRYPTED)
    return open_envelope(text, topic=topic, devices=devices, trust=trust, push_type=push_type, at=at)


def open_envelope(
    text: str, *, topic: str, devices: Iterable[DeviceKey | HeldKey], trust: Trust, push_type: str = "alert", at: int | None = None
) -> Opened:
    """Opens the text of an envelope, the value of `ENCRYPTED_DATA`: steps 2 to 7."""
    check_type(text, str, "the envelope")
    check_topic(topic)
    check_type(trust, Trust, "trust")
    devices = checked_tuple(devices, (DeviceKey, HeldKey), "devices")
    if push_type not in CLASSES:
        raise ValueError(f"push_type is one of {', '.join(CLASSES)}")
    now = time_or_now(at, NEVER)
    envelope = decoded(text)
    header, enc, sealed = envelope[:5], envelope[5:37], envelope[37:]

    # Step 3. Exactly one key is tried [O-3.2].
    held = [key if isinstance(key, HeldKey) else HeldKey(key) for key in devices]
    device = next((key.key for key in held if key.key.public_key.id_bytes == header[1:] and now <= key.end), None)
    if device is None:
        raise PushcryptError(Code.UNKNOWN_RECIPIENT_KEY)
    recipient = bytes(device.public_key)

    # Step 4.
    inner = device.setup_base_r(enc, envelope_info(header, topic)).open(b"", sealed)

    # Step 5.
    end = INNER_BODY + number(inner, 97, 99)
    if end > len(inner):
        raise not_authentic()
    sent_at, time_to_live = number(inner, 85, 93), number(inner, 93, 97)
    kind, epoch, body = inner[INNER_CONTENT], number(inner, 0, 4), inner[INNER_BODY:end]
    certificate = certificate_in(kind, epoch, body)
    payload = body[CERTIFICATE_LENGTH:] if certificate else body
    whose, hash = inner[:4] + lp16(topic.encode()), hashlib.sha256(inner[INNER_CONTENT:]).digest()

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
        message = signed(header, enc, recipient, bytes(pin), signing_key, whose, hash)
        if not verifies(signing_key, inner[4:68], message):
            return False
        return known.after(certificate).opens(epoch, certificate, sent_at, now)

    provider = next(filter(is_from, trust.pins), None)
    if provider is None or any(inner[end:]):
        raise not_authentic()

    # Step 6.
    if not 1 <= kind & KIND_CLASS <= len(CLASSES):
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE)
    if kind & KIND_CLASS != CLASSES[push_type]:
        raise PushcryptError(Code.WRONG_PUSH_CLASS)
    if not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE or sent_at > LARGEST_TIME:
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE)
    if now > later(sent_at, time_to_live):
        raise PushcryptError(Code.EXPIRED)
    if sent_at > later(now, CLOCK_TOLERANCE):
        raise PushcryptError(Code.NOT_YET_VALID)

    # Step 7.
    check_payload(payload)
    known = trust.learned(provider)
    conflict = certificate is not None and certificate.conflicts(known.certificate)
    return Opened(payload, inner[69:85], sent_at, time_to_live, provider, epoch, known.after(certificate), conflict, device)


def decoded(text: str) -> bytes:
    """Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text."""
    envelope = decode(text) if len(text) <= LONGEST_ENVELOPE_TEXT else b""
    if not envelope:
        raise PushcryptError(Code.MALFORMED_ENVELOPE)
    if envelope[0] != SUITE:
        raise PushcryptError(Code.UNSUPPORTED_SUITE)
    if len(envelope) - ENVELOPE_OVERHEAD not in BUCKETS:
        raise PushcryptError(Code.MALFORMED_ENVELOPE)
    return envelope


def certificate_in(kind: int, epoch: int, body: bytes) -> Certificate | None:
    """The certificate with which the body of a message of epoch 1 or more begins, and of no other [O-5.1]."""
    if kind & KIND_RESERVED or (epoch > 0) != (kind & KIND_CERTIFIED > 0):
        raise not_authentic()
    try:
        certificate = Certificate(body[:CERTIFICATE_LENGTH]) if kind & KIND_CERTIFIED else None
    except PushcryptError:
        raise not_authentic() from None
    if certificate is not None and certificate.epoch != epoch:
        raise not_authentic()
    return certificate


def check_payload(data: bytes) -> dict[str, Any]:
    """Parses a payload by [J-1] to [J-7]. Returns its members."""
    members = parse_object(data, Code.MALFORMED_PAYLOAD)
    if not isinstance(members.get("aps"), dict):
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "the payload has no aps object")
    return members


def withdrawals_in(members: dict[str, Any], own_id: bytes) -> list[bytes]:
    """The ids of the messages that an opened payload withdraws, each once."""
    names = own_member(members).get("withdraw")
    ids = [] if not isinstance(names, list) else [named_message(name) for name in names[:MOST_WITHDRAWN] if type(name) is str and name]
    return [id for id in dict.fromkeys(ids) if id != own_id]


def person_in(members: dict[str, Any]) -> tuple[Person | None, list[Code]]:
    """The person that an opened payload is from, and the code of an avatar that is left out."""
    value = own_member(members).get("sender")
    if not isinstance(value, dict):
        return None, []
    avatar, dropped = None, []
    if value.get("avatar") is not None:
        try:
            avatar = parse_reference(value["avatar"])
            check_avatar(avatar)
        except PushcryptError as refused:
            avatar, dropped = None, [refused.code]
    texts = [value.get(name) for name in ("name", "handle", "conversation")]
    recipients = [] if value.get("recipients") is None else value["recipients"]
    if not isinstance(recipients, list) or any(type(text) not in (str, type(None)) for text in [*texts, *recipients]):
        return None, dropped
    name, handle, conversation = texts
    if name is None or not is_label(name):
        return None, dropped
    handle, shown, others = name if handle is None else handle, HIDDEN.sub("", name), [HIDDEN.sub("", one or "") for one in recipients]
    try:
        return Person(name=shown, handle=handle, conversation=conversation, recipients=others, avatar=avatar), dropped
    except PushcryptError:
        return None, dropped
