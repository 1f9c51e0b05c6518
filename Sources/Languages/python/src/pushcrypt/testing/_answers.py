"""The phone's half of answers, for tests: `Docs/FormatAnswers.md`."""

from __future__ import annotations

import hmac
import secrets

from .._envelope import decode, encode, time_or_now
from .._errors import Code, PushcryptError
from .._json import write
from .._types import check_type
from ..answers import ID_LENGTH, LONGEST_ACTION, LONGEST_JSON, cipher, padded
from ._files import own_member
from ._opening import Opened


def seal_answer(opened: Opened, action: str, *, text: str | None = None, at: int | None = None) -> str:
    """Answers a message that was opened; refuses one without an `answer`, or an answer that is too long (`invalid-request`)."""
    check_type(opened, Opened, "the message")
    check_type(action, str, "the action")
    if (given := given_of(opened)) is None:
        raise PushcryptError(Code.INVALID_REQUEST, "the message cannot be answered")
    if not 1 <= len(action.encode()) <= LONGEST_ACTION:
        raise PushcryptError(Code.INVALID_REQUEST, f"the action's id has not 1 to {LONGEST_ACTION} bytes")
    members = {"message_id": opened.message_id.hex(), "sent_at": opened.sent_at, "action": action, "text": text, "at": time_or_now(at)}
    body = write({name: value for name, value in members.items() if value is not None}).encode()
    if len(body) > LONGEST_JSON:
        raise PushcryptError(Code.INVALID_REQUEST, f"the answer has {len(body)} bytes, over {LONGEST_JSON}; shorten the text")
    return seal(given, opened.device.public_key.id_bytes, padded(body), secrets.token_bytes(16))


def given_of(opened: Opened) -> bytes | None:
    """The answer id and key of a message; what is malformed counts as absent [Q-1]."""
    text = own_member(opened._members).get("answer")
    given = decode(text) if isinstance(text, str) else b""
    return given if len(given) == 48 else None


def seal(given: bytes, key_id: bytes, plain: bytes, random: bytes) -> str:
    answer_id, answer_key = given[:ID_LENGTH], given[ID_LENGTH:]
    salt = hmac.digest(answer_key, b"pushcrypt/1 answer salt\0" + random + plain, "sha256")[:16]
    header = b"\1" + answer_id + key_id + salt
    return encode(header + cipher(answer_key, salt).encrypt(bytes(12), plain, header))
