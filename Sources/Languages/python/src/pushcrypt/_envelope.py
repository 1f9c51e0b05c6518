"""The layout of envelopes: `Docs/Format.md`, Envelope, Construction, Inner plaintext and Times."""

from __future__ import annotations

import base64
import hashlib
import re
import time

from ._errors import Code, PushcryptError
from ._format import LABEL_CALLER_ID, LABEL_ENVELOPE, LABEL_SIGNATURE, LARGEST_TIME
from ._types import check_type

NEVER = 2**64 - 1
TOPIC = re.compile(r"[A-Za-z0-9.-]{1,255}")


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of base64url; none if this is not the one text that they have."""
    try:
        data = base64.urlsafe_b64decode(text + "==")
    except ValueError:
        return b""
    return data if encode(data) == text else b""


def fingerprint(text: str) -> str:
    """Names an envelope, by its text, in the logs of a provider and of phones. Never decide anything by it."""
    check_type(text, str, "the envelope")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def check_topic(topic: str) -> None:
    """Refuses what is not a bundle id [K-2]."""
    check_type(topic, str, "the topic")
    if not TOPIC.fullmatch(topic):
        raise PushcryptError(Code.WRONG_TOPIC, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'")


def lp16(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def envelope_info(header: bytes, topic: str) -> bytes:
    return LABEL_ENVELOPE + header + lp16(topic.encode())


def signed(
    header: bytes, enc: bytes, recipient: bytes, provider: bytes, signing_key: bytes, whose: bytes, content_hash: bytes
) -> bytes:
    """What the signing key signs; `whose` is the epoch and the context."""
    return LABEL_SIGNATURE + header + enc + recipient + provider + signing_key + whose + content_hash


def named_message(name: str) -> bytes:
    """The id of a message that its caller named."""
    return hashlib.sha256(LABEL_CALLER_ID + name.encode()).digest()[:16]


def later(time: int, seconds: int) -> int:
    """Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]."""
    return min(time + 1000 * seconds, NEVER)


def number(data: bytes, start: int, end: int) -> int:
    return int.from_bytes(data[start:end], "big")


def time_or_now(at: int | None, latest: int = LARGEST_TIME) -> int:
    """A caller's time in milliseconds, or the system's."""
    now = time.time_ns() // 1_000_000 if at is None else at
    if type(now) is not int or not 0 <= now <= latest:
        raise PushcryptError(Code.INVALID_TIME, "the time is in milliseconds since 1970, below 2**53; set the clock")
    return now
