"""Answers: what a user did with a notification, sealed by the phone for the provider: `Docs/FormatRecords.md`, Answers.

    from pushcrypt.answers import AnswerSecret, open_answer

    secret = AnswerSecret.generate()  # once for each app
    push = sealer.seal(payload, device, message_id="deploy-17", answers=secret)
    …
    answer = open_answer(text, secrets=[secret], devices=[device.public_key], topic="com.example.app", within=timedelta(minutes=10))

Nothing is kept for a message. A caller that wants one answer keeps the first of a message: a relay decides which comes first.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ._envelope import check_topic, decode, encode, lp16, moment, time_or_now, whole_seconds
from ._errors import Code, PushcryptError
from ._format import LARGEST_TIME, TAG_LENGTH
from ._hpke import expand, extract
from ._json import Number, parse_object
from ._keys import DevicePublicKey, bytes32
from ._types import Value, check_type, checked_tuple

__all__ = ["Answer", "AnswerSecret", "open_answer"]

LIFE = 31 * 86_400
SIZES = (128, 512, 2048, 4098)
LONGEST_JSON, LONGEST_ACTION, LONGEST_TEXT = 4096, 255, 5535
HEADER_LENGTH, ID_LENGTH = 37, 16
MESSAGE_ID = re.compile(r"[0-9a-f]{32}")


class AnswerSecret:
    """What a provider has to open answers, for each app. A thief of it reads and forges answers, but no messages. It is not printed."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = bytes32(secret, "an answer secret")

    @classmethod
    def generate(cls) -> AnswerSecret:
        """Creates a secret from the system's random source."""
        return cls(os.urandom(32))

    def secret_bytes(self) -> bytes:
        """The 32 bytes from which the secret can be made again: for a file that only its owner reads."""
        return self._secret

    def id_for(self, device: bytes, topic: str, message_id: bytes, sent_at: int) -> bytes:
        data = b"pushcrypt/1 answer id\0" + whose(device, topic) + message_id + sent_at.to_bytes(8, "big")
        return hmac.digest(self._secret, data, "sha256")[:ID_LENGTH]

    def key_for(self, device: bytes, topic: str, answer_id: bytes) -> bytes:
        return derived(self._secret, answer_id, b"pushcrypt/1 answer\0" + whose(device, topic))

    def member_for(self, device: bytes, topic: str, message_id: bytes, sent_at: int) -> str:
        """The member `answer` of the sealed payload."""
        answer_id = self.id_for(device, topic, message_id, sent_at)
        return encode(answer_id + self.key_for(device, topic, answer_id))

    def __repr__(self) -> str:
        return "<AnswerSecret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an answer secret is not pickled; store secret_bytes()")


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Value):
    """What a user did with a notification. The phone that got the message sealed it; it proves nothing to others."""

    #: The key of the device that answered.
    device: DevicePublicKey
    #: The message, as `SealedPush.message_id`.
    message_id: bytes
    #: When the message was sealed.
    sent_at: datetime
    #: The action's id.
    action: str
    #: What the user typed, or `None`.
    text: str | None
    #: When the user answered, by the phone's clock.
    at: datetime


def open_answer(
    text: str, *, secrets: Iterable[AnswerSecret], devices: Iterable[DevicePublicKey], topic: str,
    within: timedelta | None = None, at: datetime | None = None,
) -> Answer:
    """Opens an answer.

    Args:
        text: What the app sent.
        secrets: The app's secret, and for 32 days those before it.
        devices: The keys of the device, or of all devices, the replaced ones for 32 days.
        topic: The app's bundle id.
        within: How long after sealing an answer counts, such as 10 minutes for an approval; by default 31 days.
        at: The present time; by default the system's.
    """
    check_type(text, str, "the answer")
    check_topic(topic)
    life = LIFE if within is None else min(whole_seconds(within, "within", timedelta.max // timedelta(seconds=1)), LIFE)
    every, keys = checked_tuple(secrets, AnswerSecret, "secrets"), checked_tuple(devices, DevicePublicKey, "devices")
    now, data = time_or_now(at), decoded(text)
    header, answer_id, sealed = data[:HEADER_LENGTH], data[1:17], data[HEADER_LENGTH:]
    if data[0] != 1:
        raise PushcryptError(Code.UNSUPPORTED_MESSAGE)
    named = [key for key in keys if key.id_bytes == data[17:21]]
    if not named:
        raise PushcryptError(Code.UNKNOWN_RECIPIENT_KEY)
    for device in named:
        for secret in every:
            try:
                plain = cipher(secret.key_for(bytes(device), topic, answer_id), data[21:HEADER_LENGTH]).decrypt(bytes(12), sealed, header)
            except InvalidTag:
                continue
            answer, sent_at = read(device, plain)
            # A key of another message opens no answer to this one.
            if not hmac.compare_digest(secret.id_for(bytes(device), topic, answer.message_id, sent_at), answer_id):
                raise PushcryptError(Code.AUTHENTICATION_FAILED)
            if now > sent_at + 1000 * life:
                raise PushcryptError(Code.EXPIRED, "the time for an answer to this message has ended")
            return answer
    raise PushcryptError(Code.AUTHENTICATION_FAILED)


def decoded(text: str) -> bytes:
    data = decode(text) if len(text) <= LONGEST_TEXT else b""
    if len(data) - HEADER_LENGTH - TAG_LENGTH in SIZES:
        return data
    raise PushcryptError(Code.MALFORMED_ENVELOPE, "the answer was cut, encoded again, or has a wrong length")


def read(device: DevicePublicKey, plain: bytes) -> tuple[Answer, int]:
    length = int.from_bytes(plain[:2], "big")
    if length > LONGEST_JSON or plain != padded(plain[2 : 2 + length]):
        raise PushcryptError(Code.AUTHENTICATION_FAILED)
    members = parse_object(plain[2 : 2 + length], Code.MALFORMED_PAYLOAD)
    message_id, action, text = members.get("message_id"), members.get("action"), members.get("text")
    is_good = type(message_id) is str and MESSAGE_ID.fullmatch(message_id) and type(action) is str and 1 <= len(action.encode()) <= LONGEST_ACTION
    if not is_good or not (type(text) is str or text is None):
        raise PushcryptError(Code.MALFORMED_PAYLOAD, "a member of the answer is missing, or has another form")
    sent_at, at = time_of(members, "sent_at"), time_of(members, "at")
    return Answer(device, bytes.fromhex(str(message_id)), moment(sent_at), str(action), text, moment(at)), sent_at


def time_of(members: dict[str, Any], name: str) -> int:
    value = members.get(name)
    time = value.at_most(LARGEST_TIME) if isinstance(value, Number) else None
    if time is None:
        raise PushcryptError(Code.MALFORMED_PAYLOAD, f"{name} of the answer is not a time")
    return time


def padded(text: bytes) -> bytes:
    """The plaintext; empty for what is too long."""
    size = next((size for size in SIZES if size >= 2 + len(text)), 0)
    return lp16(text).ljust(size, b"\0") if size else b""


def cipher(answer_key: bytes, salt: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(derived(answer_key, salt, b"pushcrypt/1 answer message\0"))


def whose(device: bytes, topic: str) -> bytes:
    return hashlib.sha256(device).digest() + lp16(topic.encode())


def derived(key: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 to 32 bytes."""
    return expand(extract(salt, b"", key), b"", info)
