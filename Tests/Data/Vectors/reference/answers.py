"""Answers: `Docs/FormatRecords.md`, Answers."""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import keys, payload

SIZES = (128, 512, 2048, 4098)
LIFE = 31 * 86_400_000
HEADER = 37


@dataclass(frozen=True)
class AnswerRefused(Exception):
    code: str


def hkdf(ikm: bytes, salt: bytes, info: bytes) -> bytes:
    """One block of output, written out."""
    return hmac.digest(hmac.digest(salt, ikm, "sha256"), info + b"\x01", "sha256")


def whose(recipient: bytes, context: str) -> bytes:
    return hashlib.sha256(recipient).digest() + len(context).to_bytes(2, "big") + context.encode()


def answer_id(secret: bytes, recipient: bytes, context: str, message_id: bytes, sent_at: int) -> bytes:
    data = b"pushcrypt/1 answer id\x00" + whose(recipient, context) + message_id + sent_at.to_bytes(8, "big")
    return hmac.digest(secret, data, "sha256")[:16]


def answer_key(secret: bytes, recipient: bytes, context: str, identifier: bytes) -> bytes:
    return hkdf(secret, identifier, b"pushcrypt/1 answer\x00" + whose(recipient, context))


def padded(text: bytes, size: int | None = None) -> bytes:
    size = size or next(size for size in SIZES if size >= 2 + len(text))
    return (len(text).to_bytes(2, "big") + text).ljust(size, b"\x00")


def seal(identifier: bytes, key: bytes, recipient: bytes, plaintext: bytes, random: bytes) -> bytes:
    salt = hmac.digest(key, b"pushcrypt/1 answer salt\x00" + random + plaintext, "sha256")[:16]
    header = b"\x01" + identifier + keys.device_key_id(recipient) + salt
    sealing = hkdf(key, salt, b"pushcrypt/1 answer message\x00")
    return header + ChaCha20Poly1305(sealing).encrypt(bytes(12), plaintext, header)


def open_answer(
    text: str, secrets: list[bytes], devices: list[bytes], context: str, now: int, within: int | None = None
) -> tuple[bytes, dict[str, object]]:
    """The device's key and the members."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        raise AnswerRefused("malformed-envelope")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text or len(data) - HEADER - 16 not in SIZES:
        raise AnswerRefused("malformed-envelope")
    if data[0] != 1:
        raise AnswerRefused("unsupported-message")
    named = [device for device in devices if keys.device_key_id(device) == data[17:21]]
    if not named:
        raise AnswerRefused("unknown-recipient-key")
    for device in named:
        for secret in secrets:
            key = hkdf(answer_key(secret, device, context, data[1:17]), data[21:HEADER], b"pushcrypt/1 answer message\x00")
            try:
                plaintext = ChaCha20Poly1305(key).decrypt(bytes(12), data[HEADER:], data[:HEADER])
            except InvalidTag:
                continue
            return device, checked(plaintext, secret, device, context, data[1:17], now, within)
    raise AnswerRefused("authentication-failed")


def checked(
    plaintext: bytes, secret: bytes, device: bytes, context: str, identifier: bytes, now: int, within: int | None
) -> dict[str, object]:
    length = int.from_bytes(plaintext[:2], "big")
    text = plaintext[2 : 2 + length]
    if length > 4096 or plaintext != padded(text):
        raise AnswerRefused("authentication-failed")
    try:
        members = payload.parse_object(text)
    except payload.MalformedPayload:
        raise AnswerRefused("malformed-payload") from None
    times = [members.get("sent_at"), members.get("at")]
    if members.get("text") is None:
        members.pop("text", None)
    action, reply, name = members.get("action"), members.get("text", ""), members.get("message_id")
    is_good = (
        all(type(time) is int and 0 <= time < 2**53 for time in times)
        and isinstance(action, str) and 1 <= len(action.encode()) <= 255
        and isinstance(reply, str)
        and isinstance(name, str) and re.fullmatch(r"[0-9a-f]{32}", name)
    )
    if not is_good:
        raise AnswerRefused("malformed-payload")
    if answer_id(secret, device, context, bytes.fromhex(name), members["sent_at"]) != identifier:
        raise AnswerRefused("authentication-failed")
    if now > members["sent_at"] + LIFE or (within is not None and now > members["sent_at"] + 1000 * within):
        raise AnswerRefused("expired")
    return {name: members[name] for name in ("message_id", "sent_at", "action", "text", "at") if name in members}
