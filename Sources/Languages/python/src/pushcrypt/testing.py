"""A phone for your tests: it opens what a `Sealer` sealed.

    phone = DeviceKey.generate()
    push = sealer.seal(payload, StoredDevice(device="phone1", topic=sealer.topic, public_key=phone.public_key))
    opened = open_push(push.payload, topic=sealer.topic, device=phone, provider=sealer.provider)

It may change in any version and is not for phones: it remembers no message, no certificate and no key. Apps use the Swift library.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ._certificates import Certificate
from ._envelope import check_topic, decode, envelope_info, lp16, moment, number, signed, time_or_now
from ._errors import Code, PushcryptError
from ._format import (
    BUCKETS, CERTIFICATE_LENGTH, CLASSES, ENVELOPE_OVERHEAD, INNER_BODY, INNER_CONTENT, KIND_CERTIFIED, KIND_CLASS, SUITE,
)
from ._hpke import dh, extract_and_expand, key_schedule
from ._json import parse_object
from ._keys import DevicePublicKey, ProviderPublicKey, SecretKey, verifies
from ._types import check_type, utf8

__all__ = ["DeviceKey", "Opened", "open_push"]


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


@dataclass(frozen=True)
class Opened:
    """What an authentic message says."""

    #: The payload as it was sealed. Its member `pushcrypt` holds keys of files.
    payload: bytes = field(repr=False)
    message_id: bytes
    sent_at: datetime
    #: The last moment at which a phone shows the message.
    expires_at: datetime


def open_push(
    push: bytes | str, *, topic: str, device: DeviceKey, provider: ProviderPublicKey, push_type: str = "alert", at: datetime | None = None
) -> Opened:
    """Opens a push that the provider sealed for the device and the app `topic`.

    `at` is the present time, by default the system's. The text of a refusal has its code.
    """
    check_topic(topic)
    check_type(device, DeviceKey, "the device's key")
    check_type(provider, ProviderPublicKey, "provider")
    text = parse_object(utf8(push, "the push"), Code.MALFORMED_PAYLOAD).get("ENCRYPTED_DATA")
    envelope = decode(text) if type(text) is str else b""
    if len(envelope) - ENVELOPE_OVERHEAD not in BUCKETS:
        raise PushcryptError(Code.MALFORMED_ENVELOPE)
    header, enc, recipient = envelope[:5], envelope[5:37], bytes(device.public_key)
    if header != bytes([SUITE]) + device.public_key.id_bytes:
        raise PushcryptError(Code.UNKNOWN_RECIPIENT_KEY)
    aead, nonce = key_schedule(extract_and_expand(dh(device._private, enc), enc + recipient), envelope_info(header, topic))
    try:
        inner = aead.decrypt(nonce, envelope[37:], b"")
    except InvalidTag:
        raise PushcryptError(Code.AUTHENTICATION_FAILED) from None
    kind, body, certified = inner[INNER_CONTENT], inner[INNER_BODY : INNER_BODY + number(inner, 97, 99)], 0
    signing_key = bytes(provider)
    if kind & KIND_CERTIFIED:
        certificate, body = Certificate(body[:CERTIFICATE_LENGTH]), body[CERTIFICATE_LENGTH:]
        certificate.check(provider, topic)
        signing_key, certified = certificate.signing_key, certificate.epoch
    whose, content_hash = inner[:4] + lp16(topic.encode()), hashlib.sha256(inner[INNER_CONTENT:]).digest()
    message = signed(header, enc, recipient, bytes(provider), signing_key, whose, content_hash)
    if certified != number(inner, 0, 4) or not verifies(signing_key, inner[4:INNER_CONTENT], message):
        raise PushcryptError(Code.AUTHENTICATION_FAILED)
    if kind & KIND_CLASS != CLASSES.get(push_type):
        raise PushcryptError(Code.WRONG_PUSH_CLASS)
    sent_at = number(inner, 85, 93)
    expires_at = sent_at + 1000 * number(inner, 93, 97)
    if time_or_now(at) > expires_at:
        raise PushcryptError(Code.EXPIRED)
    return Opened(body, inner[69:85], moment(sent_at), moment(expires_at))
