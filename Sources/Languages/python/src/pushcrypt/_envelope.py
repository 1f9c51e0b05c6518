"""The layout of envelopes: `Docs/Format.md`, Envelope, Construction, Inner plaintext and Times."""

from __future__ import annotations

import base64
import hashlib
import re
import time

from ._errors import Code, PushcryptError

SUITE = 0x01
BUCKETS = (256, 512, 1024, 1536, 2048, 2560, 2816, 3584)
OUTSIDE = 53
CONTENT = 68
BODY = 99
LONGEST_TEXT = 4850
LONGEST_TIME_TO_LIVE = 2_592_000
LARGEST_TIME = 2**53 - 1
NEVER = 2**64 - 1
CLASSES = {"alert": 1, "background": 2, "voip": 3}
CLASS, RESERVED, CERTIFIED = 0x0F, 0x70, 0x80

TEXT = re.compile(r"[A-Za-z0-9_-]+")
TOPIC = re.compile(r"[A-Za-z0-9.-]{1,255}")


def decode(text: str) -> bytes:
    """Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text."""
    if not 1 <= len(text) <= LONGEST_TEXT or not TEXT.fullmatch(text) or len(text) % 4 == 1:
        raise malformed()
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(envelope) != text:
        raise malformed()
    if envelope[0] != SUITE:
        raise PushcryptError(Code.UNSUPPORTED_SUITE, "the envelope's suite is not known; update this package")
    if len(envelope) - OUTSIDE not in BUCKETS:
        raise malformed()
    return envelope


def malformed() -> PushcryptError:
    return PushcryptError(Code.MALFORMED_ENVELOPE, "ENCRYPTED_DATA is not an envelope; it was cut, or encoded twice")


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def fingerprint(text: str) -> str:
    """Names an envelope, by its text, in the logs of a provider and of phones. Never decide anything by it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def check_topic(topic: str) -> None:
    """Refuses what is not a bundle id [K-2]."""
    if not isinstance(topic, str):
        raise TypeError(f"the topic is a str, not {type(topic).__name__}")
    if not TOPIC.fullmatch(topic):
        raise PushcryptError(
            Code.WRONG_TOPIC, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'"
        )


def lp16(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def envelope_info(header: bytes, topic: str) -> bytes:
    return b"pushcrypt/1 envelope\0" + header + lp16(topic.encode())


def signed(
    header: bytes, enc: bytes, recipient: bytes, provider: bytes, signing_key: bytes, epoch: int, topic: str, content_hash: bytes
) -> bytes:
    context = epoch.to_bytes(4, "big") + lp16(topic.encode())
    return b"pushcrypt/1 signature\0" + header + enc + recipient + provider + signing_key + context + content_hash


def content_hash(inner: bytes) -> bytes:
    return hashlib.sha256(inner[CONTENT:]).digest()


def named_message(name: str) -> bytes:
    """The id of a message that its caller named."""
    return hashlib.sha256(b"pushcrypt/1 caller id\0" + name.encode()).digest()[:16]


def later(time: int, seconds: int) -> int:
    """Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]."""
    return min(time + 1000 * seconds, NEVER)


def number(data: bytes, start: int, end: int) -> int:
    return int.from_bytes(data[start:end], "big")


def milliseconds_now() -> int:
    return time.time_ns() // 1_000_000
