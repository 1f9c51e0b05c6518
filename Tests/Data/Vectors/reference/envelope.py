"""The envelope: layout, hedged randomness, sealing."""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from . import hpke, keys, xwing
from .trust import Certificate

ENVELOPE_LABEL = b"pushcrypt/1 envelope\x00"
SIGNATURE_LABEL = b"pushcrypt/1 signature\x00"
HEDGE_LABEL = b"pushcrypt/1 hedge\x00"
EPHEMERAL_LABEL = b"pushcrypt/1 ephemeral\x00"
MESSAGE_ID_LABEL = b"pushcrypt/1 message id\x00"
COLLAPSE_LABEL = b"pushcrypt/1 collapse\x00"
CALLER_ID_LABEL = b"pushcrypt/1 caller id\x00"

SUITE, XWING_SUITE = 0x01, 0x02
PUSH_CLASSES = {"alert": 1, "background": 2, "voip": 3}
CLASS_BITS, RESERVED_BITS, CERTIFICATE_BIT = 0x0F, 0x70, 0x80
BUCKETS = (256, 512, 1024, 1536, 2048, 2560, 2816, 3584)

HEADER_SIZE = 1 + 4
CIPHERTEXT_OFFSET = HEADER_SIZE + 32
OUTER_OVERHEAD = CIPHERTEXT_OFFSET + 16
XWING_BUCKETS = (256, 512, 1024, 1536, 1728, 2048, 2496)
XWING_CIPHERTEXT_OFFSET = HEADER_SIZE + xwing.ENC_SIZE
SIGNED_OFFSET = 4 + 64
BODY_OFFSET = SIGNED_OFFSET + 1 + 16 + 8 + 4 + 2
KIND_OFFSET = SIGNED_OFFSET

MAXIMUM_TEXT = 4850
MAXIMUM_TTL = 2_592_000
TIME_LIMIT = 2**53

TOPIC = re.compile(r"[A-Za-z0-9.-]{1,255}", re.ASCII)


@dataclass(frozen=True)
class Message:
    """The content of one message, whatever its recipient."""

    body: bytes
    message_id: bytes
    sent_at: int
    ttl: int = MAXIMUM_TTL
    kind: int = PUSH_CLASSES["alert"]


@dataclass(frozen=True)
class Signer:
    """A key that signs messages. Without a certificate it is the provider key itself."""

    seed: bytes
    provider: bytes
    certificate: Certificate | None = None

    @property
    def public(self) -> bytes:
        return keys.signature_public_key(self.seed)

    @property
    def epoch(self) -> int:
        return self.certificate.epoch if self.certificate else 0

    def kind(self, push_type: str) -> int:
        return PUSH_CLASSES[push_type] | (CERTIFICATE_BIT if self.certificate else 0)

    def body(self, payload: bytes) -> bytes:
        return (self.certificate.data if self.certificate else b"") + payload


# Building blocks, each a line of the specification.


def lp16(text: str) -> bytes:
    return len(text.encode()).to_bytes(2, "big") + text.encode()


def is_topic(text: str) -> bool:
    return TOPIC.fullmatch(text) is not None


def layout(suite: int) -> tuple[tuple[int, ...], int]:
    """The buckets, and the offset of the ciphertext."""
    return (BUCKETS, CIPHERTEXT_OFFSET) if suite == SUITE else (XWING_BUCKETS, XWING_CIPHERTEXT_OFFSET)


def suite_of(recipient_public: bytes) -> int:
    return SUITE if len(recipient_public) == 32 else XWING_SUITE


def header(recipient_public: bytes) -> bytes:
    return bytes([suite_of(recipient_public)]) + keys.device_key_id(recipient_public)


def in_32_bytes(data: bytes) -> bytes:
    """What a signature and the hedge cover: a share or key of suite 0x02 by its hash."""
    return data if len(data) == 32 else hashlib.sha256(data).digest()


def info(envelope_header: bytes, topic: str) -> bytes:
    return ENVELOPE_LABEL + envelope_header + lp16(topic)


def signed_bytes(
    envelope_header: bytes,
    enc: bytes,
    recipient: bytes,
    provider: bytes,
    signing_key: bytes,
    epoch: int,
    topic: str,
    content: bytes,
) -> bytes:
    shares = in_32_bytes(enc) + in_32_bytes(recipient)
    by = provider + signing_key + epoch.to_bytes(4, "big")
    return SIGNATURE_LABEL + envelope_header + shares + by + lp16(topic) + content_hash(content)


def smallest_bucket(body_size: int, suite: int = SUITE) -> int:
    return next(bucket for bucket in layout(suite)[0] if BODY_OFFSET + body_size <= bucket)


def content(message: Message, bucket: int) -> bytes:
    """inner[68...]: everything that is signed of the inner plaintext, padding included."""
    fields = (
        bytes([message.kind])
        + message.message_id
        + message.sent_at.to_bytes(8, "big")
        + message.ttl.to_bytes(4, "big")
        + len(message.body).to_bytes(2, "big")
        + message.body
    )
    return fields.ljust(bucket - SIGNED_OFFSET, b"\x00")


def content_hash(signed_content: bytes) -> bytes:
    """The hash that represents the content for a signer and in the hedge."""
    return hashlib.sha256(signed_content).digest()


def to_text(envelope: bytes) -> str:
    return base64.urlsafe_b64encode(envelope).decode().rstrip("=")


# Hedged randomness.


def hedge_key(seed: bytes) -> bytes:
    """Of the seed of the key that signs."""
    return hmac.digest(seed, HEDGE_LABEL, "sha256")


def message_id(hedge: bytes, r: bytes, sent_at: int, body: bytes) -> bytes:
    data = MESSAGE_ID_LABEL + r + sent_at.to_bytes(8, "big") + hashlib.sha256(body).digest()
    return hmac.digest(hedge, data, "sha256")[:16]


def message_id_of_name(name: str) -> bytes:
    return hashlib.sha256(CALLER_ID_LABEL + name.encode()).digest()[:16]


def ephemeral_ikm(hedge: bytes, r: bytes, recipient: bytes, topic: str, epoch: int, signed_content: bytes) -> bytes:
    where = header(recipient) + in_32_bytes(recipient)
    data = EPHEMERAL_LABEL + r + where + epoch.to_bytes(4, "big") + lp16(topic) + content_hash(signed_content)
    return hmac.digest(hedge, data, "sha256")


# The request around the push.


def collapse_id(
    provider: bytes, topic: str, device_id: str | None, device: bytes | None, name: str | None, identifier: bytes
) -> str:
    """A device without an id is its key, pushes without a name are the copies of one message; a device without a key has
    only those."""
    of_pushes = b"\x02" + identifier if name is None else b"\x01" + lp16(name)
    if device is None:
        of_device, of_pushes = b"", b"\x03" + identifier
    elif device_id is None:
        of_device = (b"\x02" if len(device) == 32 else b"\x04") + in_32_bytes(device)
    else:
        of_device = b"\x01" + lp16(device_id)
    return to_text(hashlib.sha256(COLLAPSE_LABEL + provider + lp16(topic) + of_device + of_pushes).digest())


# Sealing.


def signed_by(signer: Signer, enc: bytes, recipient: bytes, topic: str, signed_content: bytes) -> bytes:
    return signed_bytes(
        header(recipient), enc, recipient, signer.provider, signer.public, signer.epoch, topic, signed_content
    )


def inner_plaintext(enc: bytes, recipient: bytes, signer: Signer, topic: str, signed_content: bytes) -> bytes:
    signature = keys.sign(signer.seed, signed_by(signer, enc, recipient, topic, signed_content))
    return signer.epoch.to_bytes(4, "big") + signature + signed_content


def hpke_suite(suite: int) -> bytes:
    return hpke.HPKE_SUITE if suite == SUITE else hpke.suite_id(xwing.KEM_ID)


def encapsulate(ikm: bytes, recipient: bytes) -> tuple[bytes, bytes]:
    """The shared secret and enc."""
    if suite_of(recipient) == SUITE:
        return hpke.encapsulate(hpke.derive_secret_key(ikm), recipient)
    return xwing.encapsulate(xwing.randomness(ikm), recipient)


def seal(message: Message, recipient: bytes, signer: Signer, topic: str, ikm: bytes, bucket: int) -> bytes:
    """The envelope, for ephemeral input keying material that the caller derived."""
    shared_secret, enc = encapsulate(ikm, recipient)
    inner = inner_plaintext(enc, recipient, signer, topic, content(message, bucket))
    context = hpke.key_schedule(shared_secret, info(header(recipient), topic), hpke_suite(suite_of(recipient)))
    return header(recipient) + enc + context.seal(b"", inner)
