"""The layout of envelopes: `Docs/Format.md`, Envelope, Construction, Inner plaintext and Times."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from datetime import datetime, timedelta, timezone

from ._errors import Code, PushcryptError
from ._format import LABEL_CALLER_ID, LABEL_ENVELOPE, LABEL_SIGNATURE, LARGEST_TIME, LATEST_CLOCK, TIME_FIELD_END
from ._types import check_type

NEVER = 2**64 - 1
EPOCH, LAST = datetime.fromtimestamp(0, timezone.utc), 253_402_300_799_999
#: Milliseconds, and in them the year within which a wrong unit is recognised.
DAY, YEAR = 86_400_000, 366 * 86_400_000
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


def clock() -> int:
    """The system's time in milliseconds. Tests replace it."""
    return time.time_ns() // 1_000_000


def time_or_now(at: datetime | None) -> int:
    """A caller's time in milliseconds, or the system's. One that is more than a day from the system's is a mistake."""
    now = clock()
    if not 0 <= now <= LARGEST_TIME:
        raise PushcryptError(Code.INVALID_TIME, "the system's clock is before 1970 or far ahead; set it")
    given = now if at is None else milliseconds(at, "at")
    if abs(given - now) <= DAY:
        return given
    guess = "seconds were taken for milliseconds" if abs(1000 * given - now) < YEAR else "or set this machine's clock"
    raise PushcryptError(Code.IMPLAUSIBLE_TIME, f"at is {at}, {abs(given - now) // DAY} days from the clock: {guess}")


def past_time(at: datetime, what: str) -> int:
    """A past time in milliseconds. One before 1973 or after 2100 was in another unit."""
    given = milliseconds(at, what)
    if not TIME_FIELD_END <= given <= 1000 * LATEST_CLOCK:
        raise PushcryptError(Code.IMPLAUSIBLE_TIME, f"{what} is {at}: seconds and milliseconds were confused")
    return given


def milliseconds(at: datetime, what: str) -> int:
    """Milliseconds since 1970."""
    check_type(at, datetime, what)
    if at.tzinfo is None:
        raise TypeError(f"{what} has no time zone; use datetime.now(timezone.utc)")
    if at < EPOCH:
        raise PushcryptError(Code.INVALID_TIME, f"{what} is before 1970")
    return (at - EPOCH) // timedelta(milliseconds=1)


def moment(milliseconds: int) -> datetime:
    """The same back, at most the last of the year 9999."""
    return EPOCH + timedelta(milliseconds=min(milliseconds, LAST))


def whole_seconds(duration: timedelta, what: str, most: int) -> int:
    """The seconds of a duration, from 0."""
    check_type(duration, timedelta, what)
    if duration % timedelta(seconds=1) or not 0 <= duration // timedelta(seconds=1) <= most:
        raise PushcryptError(Code.INVALID_TIME, f"{what} is whole seconds, from 0 to {most:,}")
    return duration // timedelta(seconds=1)
