"""The relay protocol: `Docs/Relay.md`. Grants of this project's form, and who signed a request."""

import base64
import hashlib
import hmac
import re
import struct
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import keys, payload

GRANT_SIZE, PLAINTEXT_SIZE, HEADER_SIZE, ID_SIZE = 444, 407, 5, 16
ENVIRONMENTS = {"production": 1, "development": 2}
KINDS = {"alert": 1, "background": 2}
CLOCK = 3_600_000


@dataclass(frozen=True)
class RelayRefusal(Exception):
    code: str


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str, size: int) -> bytes | None:
    """The bytes of the only text of so many."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if len(data) == size and encode(data) == text else None


def lp(data: bytes, size: int) -> bytes:
    return len(data).to_bytes(size, "big") + data


def key_header(relay_key: bytes) -> bytes:
    return b"\x01" + hmac.digest(relay_key, b"pushcrypt/1 relay key id\x00", "sha256")[:4]


def grant_key(relay_key: bytes, grant_id: bytes) -> bytes:
    """HKDF with one block of output, written out."""
    extracted = hmac.digest(grant_id, relay_key, "sha256")
    return hmac.digest(extracted, b"pushcrypt/1 grant\x00" + b"\x01", "sha256")


def grant_plaintext(
    environment: str, topic: str, token: bytes, push_key: bytes, kinds: list[str], issued: int, expires: int
) -> bytes:
    start = bytes([ENVIRONMENTS[environment], sum(KINDS[kind] for kind in kinds)]) + struct.pack(">QQ", issued, expires)
    return (start + push_key + lp(topic.encode(), 1) + lp(token, 1)).ljust(PLAINTEXT_SIZE, b"\x00")


def seal(relay_key: bytes, origin: str, plaintext: bytes, random: bytes) -> bytes:
    header = key_header(relay_key)
    grant_id = hmac.digest(relay_key, b"pushcrypt/1 grant id\x00" + random + plaintext, "sha256")[:ID_SIZE]
    aad = header + grant_id + origin.encode()
    return header + grant_id + AESGCM(grant_key(relay_key, grant_id)).encrypt(bytes(12), plaintext, aad)


def open_grant(relay_keys: list[bytes], origin: str, text: str) -> bytes:
    """The plaintext without its padding."""
    data = decode(text, GRANT_SIZE)
    if data is None or data[0] != 1:
        raise RelayRefusal("malformed-grant")
    named = [key for key in relay_keys if key_header(key) == data[:HEADER_SIZE]]
    if not named:
        raise RelayRefusal("grant-unknown-key")
    start = HEADER_SIZE + ID_SIZE
    try:
        cipher = AESGCM(grant_key(named[0], data[HEADER_SIZE:start]))
        plaintext = cipher.decrypt(bytes(12), data[start:], data[:start] + origin.encode())
    except InvalidTag:
        raise RelayRefusal("malformed-grant") from None
    if plaintext[0] not in ENVIRONMENTS.values() or not 1 <= plaintext[1] <= sum(KINDS.values()):
        raise RelayRefusal("malformed-grant")
    token_at = 51 + plaintext[50]
    end = token_at + 1 + plaintext[token_at]
    if end > PLAINTEXT_SIZE or any(plaintext[end:]):
        raise RelayRefusal("malformed-grant")
    return plaintext[:end]


def secret(relay_key: bytes, grant: bytes) -> bytes:
    """What only the phone has beside the grant."""
    grant_id = grant[HEADER_SIZE : HEADER_SIZE + ID_SIZE]
    return hmac.digest(relay_key, b"pushcrypt/1 grant secret\x00" + grant_id, "sha256")[:16]


def done(answer: str) -> str:
    """How a server acknowledges the text of an answer."""
    return encode(hashlib.sha256(answer.encode()).digest()[:16])
MESSAGE_MEMBERS = {"grant", "data", "kind", "priority", "expiration", "collapse_id", "sound", "content_available"}


def check_message(text: str) -> None:
    """R-14 for one message of a request, and for its integers the rule of every JSON of the format."""
    try:
        message = payload.parse_object(text.encode())
    except payload.MalformedPayload:
        raise RelayRefusal("malformed-message") from None
    kind, collapse = message.get("kind", "alert"), message.get("collapse_id", "a")
    is_background = kind == "background"
    priority, expiration = message.get("priority", 5), message.get("expiration", 0)
    is_good = (
        message.keys() <= MESSAGE_MEMBERS
        and isinstance(message.get("grant"), str) and isinstance(message.get("data"), str)
        and kind in KINDS
        and type(priority) is int and priority in ((5,) if is_background else (10, 5, 1))
        and type(expiration) is int and 0 <= expiration < 2**32
        and isinstance(collapse, str) and re.fullmatch(r"[!-~]{1,64}", collapse)
        and isinstance(message.get("sound", ""), str) and type(message.get("content_available", True)) is bool
        and not (is_background and message.keys() & {"sound", "content_available"})
    )
    if not is_good:
        raise RelayRefusal("malformed-message")


def apns_collapse_id(push_key: bytes, collapse_id: str) -> str:
    """R-22."""
    return encode(hashlib.sha256(b"pushcrypt/1 relay collapse\x00" + push_key + collapse_id.encode()).digest())


def signed(origin: str, path: str, push_key: bytes, time: int, body: bytes) -> bytes:
    start = b"pushcrypt/1 relay request\x00" + lp(origin.encode(), 2) + lp(path.encode(), 2)
    return start + push_key + time.to_bytes(8, "big") + hashlib.sha256(body).digest()


def sign(seed: bytes, origin: str, path: str, push_key: bytes, time: int, body: bytes) -> bytes:
    return keys.sign(seed, signed(origin, path, push_key, time, body))


def verify(origin: str, path: str, headers: dict[str, str], body: bytes, now: int) -> bytes:
    """The push key."""
    key, signature = decode(headers.get("Pushcrypt-Key", ""), 32), decode(headers.get("Pushcrypt-Signature", ""), 64)
    time = headers.get("Pushcrypt-Time", "")
    if key is None or signature is None or not re.fullmatch(r"0|[1-9][0-9]{0,15}", time) or int(time) >= 2**53:
        raise RelayRefusal("bad-signature")
    if abs(int(time) - now) > CLOCK:
        raise RelayRefusal("clock")
    if not keys.verifies(key, signature, signed(origin, path, key, int(time), body)):
        raise RelayRefusal("bad-signature")
    return key
