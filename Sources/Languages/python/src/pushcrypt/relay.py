"""A publisher's relay: requests of a self-hosted server to it, and grants for endpoints that issue them. `Docs/Relay.md` has the rules.

    from pushcrypt.relay import PushKey, relay_message, relay_request

    push_key = PushKey.generate()  # once; its public half goes into accept(…, push_key=push_key.public_key)
    request = relay_request("https://push.example.com", push_key, [relay_message(device.grant, sealer.request(push))])
    answers = httpx.post(request.url, content=request.body, headers=request.headers, timeout=30).json()["answers"]

Follow no redirect, and post only to origins in your own configuration.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ._envelope import TOPIC, decode, encode, lp16, time_or_now
from ._errors import Code, PushcryptError
from ._format import LARGEST_TIME
from ._json import write
from ._keys import bytes32, verifies
from ._sealing import PushRequest
from ._signing import Signer, check_signer, checked
from ._types import check_type, checked_tuple

__all__ = [
    "Environment", "Grant", "Kind", "PushKey", "RelayError", "RelayRequest", "open_grant", "relay_message", "relay_request", "seal_grant",
    "verify_relay_request",
]

Environment = Literal["production", "development"]
Kind = Literal["alert", "background"]

PATH = "/v1/push"
MOST_MESSAGES = 45
LIFE = 180 * 86_400_000
CLOCK = 3_600_000
GRANT_LENGTH, PLAINTEXT_LENGTH, HEADER_LENGTH, ID_LENGTH = 444, 407, 5, 16
ENVIRONMENTS: tuple[Environment, ...] = ("production", "development")
KINDS: tuple[Kind, ...] = ("alert", "background")
TOKEN = re.compile(r"(?:[0-9a-f][0-9a-f]){1,100}")
TIME = re.compile(r"0|[1-9][0-9]{0,15}")
ORIGIN = re.compile(r"https?://[a-z0-9.:\[\]-]{1,247}")


class RelayError(Exception):
    """A grant or a request to a relay is refused. `code` and `status` are those of the protocol, such as `bad-signature` and 401."""

    code: str
    status: int

    def __init__(self, code: str, status: int) -> None:
        super().__init__(code)
        self.code, self.status = code, status

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.status)


class PushKey:
    """The key with which a server signs its requests to relays: a `Signer`, used for nothing else. It is not printed."""

    __slots__ = ("_private", "_seed", "public_key")

    #: The public half, 32 bytes: `accept` and `Reply` have it as `push_key`.
    public_key: bytes

    def __init__(self, seed: bytes) -> None:
        self._seed, self._private = bytes32(seed, "a push key"), Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._private.public_key().public_bytes_raw()

    @classmethod
    def generate(cls) -> PushKey:
        """Creates a key from the system's random source."""
        return cls(secrets.token_bytes(32))

    def secret_bytes(self) -> bytes:
        """The 32 bytes from which the key can be made again: for a file that only its owner reads."""
        return self._seed

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature, 64 bytes."""
        check_type(message, bytes, "the message")
        return self._private.sign(message)

    def __repr__(self) -> str:
        return "<PushKey>"


@dataclass(frozen=True)
class RelayRequest:
    """A signed request to a relay: a POST. Follow no redirect, and wait for 30 seconds."""

    #: The relay's address.
    url: str
    #: The headers.
    headers: dict[str, str]
    #: The body, unchanged.
    body: bytes


def relay_message(grant: str, request: PushRequest) -> dict[str, Any]:
    """A message for a relay, of the device's grant and what `Sealer.request` returned.

    The relay writes what the phone shows if it cannot open the push: of the placeholder only the sound is used. A call, `voip`, is
    refused: `push-type-not-sealable`.
    """
    check_type(grant, str, "the grant")
    check_type(request, PushRequest, "the request")
    if request.push_type not in KINDS:
        raise PushcryptError(Code.PUSH_TYPE_NOT_SEALABLE, "a relay passes alerts and background pushes on, and no calls")
    push = json.loads(request.payload)
    message: dict[str, Any] = {
        "grant": grant, "data": push["ENCRYPTED_DATA"], "kind": request.push_type, "priority": request.priority,
        "expiration": request.expiration, "collapse_id": request.collapse_id,
    }
    if request.push_type == "alert":
        sound = push["aps"].get("sound")
        message |= {"sound": sound} if isinstance(sound, str) else {}
        message |= {"content_available": True} if "content-available" in push["aps"] else {}
    return message


def relay_request(origin: str, key: PushKey | Signer, messages: Iterable[Mapping[str, Any]], *, at: int | None = None) -> RelayRequest:
    """Signs a request with 1 to 45 messages.

    Args:
        origin: The relay's, from your configuration, such as `https://push.example.com`.
        key: The push key that the grants name.
        messages: What `relay_message` returned.
        at: The present time in milliseconds since 1970; by default the system's. After the refusal `clock` add the difference that its
            `now` shows.
    """
    check_origin(origin)
    check_signer(key, False)
    every = checked_tuple(messages, dict, "messages")
    if not 1 <= len(every) <= MOST_MESSAGES:
        raise PushcryptError(Code.INVALID_REQUEST, f"a request has 1 to {MOST_MESSAGES} messages, not {len(every)}")
    body, time = write({"messages": every}).encode(), time_or_now(at)
    to_sign = signed(origin, PATH, key.public_key, time, body)
    headers = {
        "content-type": "application/json", "pushcrypt-key": encode(key.public_key), "pushcrypt-time": str(time),
        "pushcrypt-signature": encode(checked(key.sign(to_sign), key.public_key, to_sign)),
    }
    return RelayRequest(origin + PATH, headers, body)


def verify_relay_request(origin: str, path: str, headers: Mapping[str, str], body: bytes, *, at: int | None = None) -> bytes:
    """The push key, 32 bytes, that signed a request to your own endpoint; raises a `RelayError` otherwise: `clock`, `bad-signature`.

    Call it before the body is parsed. `origin` and `path` are your own, never the client's `Host`.
    """
    check_origin(origin)
    check_type(body, bytes, "the body")
    given = {name.lower(): value for name, value in headers.items()}
    key, signature = decoded(given.get("pushcrypt-key"), 32), decoded(given.get("pushcrypt-signature"), 64)
    time = given.get("pushcrypt-time", "")
    if key is None or signature is None or not TIME.fullmatch(time) or int(time) > LARGEST_TIME:
        raise RelayError("bad-signature", 401)
    if abs(int(time) - time_or_now(at)) > CLOCK:
        raise RelayError("clock", 401)
    if not is_signed(key, signature, signed(origin, path, key, int(time), body)):
        raise RelayError("bad-signature", 401)
    return key


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        return verifies(key, signature, message)
    except ValueError:
        # The key is no point of the curve.
        return False


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a grant says. Whether it has expired or was revoked is for the caller to check."""

    #: 32 hexadecimal digits, under which a revocation is kept.
    id: str
    #: The device token.
    token: str
    #: Where it is valid.
    environment: Environment
    #: The app's bundle id.
    topic: str
    #: The push key, 32 bytes.
    push_key: bytes
    #: What may be sent.
    kinds: tuple[Kind, ...]
    #: Milliseconds since 1970.
    issued: int
    #: Milliseconds since 1970.
    expires: int

    def __repr__(self) -> str:
        return f"<Grant {self.id}>"


def seal_grant(
    relay_key: bytes, origin: str, *, token: str, environment: Environment, topic: str, push_key: bytes, kinds: Sequence[Kind] = ("alert",),
    issued: int | None = None, expires: int | None = None,
) -> str:
    """Makes a grant. What the app has to prove, such as an account or App Attest, is checked before.

    Args:
        relay_key: The relay's newest key, 32 bytes.
        origin: The relay's.
        token: The device token, lower-case hexadecimal digits.
        environment: Where the token is valid.
        topic: The app's bundle id.
        push_key: The server's, 32 bytes.
        kinds: What the server may send.
        issued: The present time in milliseconds since 1970; by default the system's.
        expires: By default 180 days later.
    """
    return seal(relay_key, origin, plaintext(token, environment, topic, push_key, kinds, issued, expires), secrets.token_bytes(16))


def open_grant(relay_keys: Iterable[bytes], origin: str, grant: str) -> Grant:
    """What a grant says, if one of the relay keys sealed it for this origin. Otherwise a `RelayError`: `malformed-grant`, `grant-unknown-key`."""
    check_origin(origin)
    data, malformed = decoded(grant, GRANT_LENGTH), RelayError("malformed-grant", 400)
    if data is None or data[0] != 1:
        raise malformed
    start = HEADER_LENGTH + ID_LENGTH
    named = [key for key in relay_keys if hmac.compare_digest(header_of(bytes32(key, "a relay key")), data[:HEADER_LENGTH])]
    if not named:
        raise RelayError("grant-unknown-key", 410)
    for key in named:
        try:
            plain = cipher(key, data[HEADER_LENGTH:start]).decrypt(bytes(12), data[start:], data[:start] + origin.encode())
            break
        except InvalidTag:
            continue
    else:
        raise malformed
    token_at = 51 + plain[50]
    end = token_at + 1 + plain[token_at]
    if end > PLAINTEXT_LENGTH or any(plain[end:]):
        raise malformed
    return Grant(
        id=data[HEADER_LENGTH:start].hex(), environment=ENVIRONMENTS[plain[0] - 1],
        kinds=tuple(kind for bit, kind in enumerate(KINDS) if plain[1] >> bit & 1), issued=int.from_bytes(plain[2:10], "big"),
        expires=int.from_bytes(plain[10:18], "big"), push_key=plain[18:50], topic=plain[51:token_at].decode(), token=plain[token_at + 1 : end].hex(),
    )


def plaintext(
    token: str, environment: Environment, topic: str, push_key: bytes, kinds: Sequence[Kind], issued: int | None, expires: int | None
) -> bytes:
    for value, kind, what in ((token, str, "the token"), (topic, str, "the topic"), (push_key, bytes, "the push key")):
        check_type(value, kind, what)
    every = checked_tuple(kinds, str, "kinds")
    issued = time_or_now(issued)
    expires = time_or_now(issued + LIFE if expires is None else expires)
    is_good = TOKEN.fullmatch(token) and TOPIC.fullmatch(topic) and len(push_key) == 32 and environment in ENVIRONMENTS
    if not is_good or not every or len(set(every)) != len(every) or not set(every) <= set(KINDS):
        raise RelayError("malformed-request", 400)
    bits = sum(1 << KINDS.index(kind) for kind in every)
    start = bytes([ENVIRONMENTS.index(environment) + 1, bits]) + issued.to_bytes(8, "big") + expires.to_bytes(8, "big") + push_key
    return (start + lp8(topic.encode()) + lp8(bytes.fromhex(token))).ljust(PLAINTEXT_LENGTH, b"\0")


def seal(relay_key: bytes, origin: str, plain: bytes, random: bytes) -> str:
    """Hedged: a random source that repeats gives two grants the same key only if they say the same."""
    check_origin(origin)
    grant_id = hmac.digest(bytes32(relay_key, "a relay key"), b"pushcrypt/1 grant id\0" + random + plain, "sha256")[:ID_LENGTH]
    header = header_of(relay_key) + grant_id
    return encode(header + cipher(relay_key, grant_id).encrypt(bytes(12), plain, header + origin.encode()))


def cipher(relay_key: bytes, grant_id: bytes) -> AESGCM:
    return AESGCM(HKDF(hashes.SHA256(), 32, grant_id, b"pushcrypt/1 grant\0").derive(relay_key))


def header_of(relay_key: bytes) -> bytes:
    return b"\1" + hmac.digest(relay_key, b"pushcrypt/1 relay key id\0", "sha256")[:4]


def signed(origin: str, path: str, key: bytes, time: int, body: bytes) -> bytes:
    start = b"pushcrypt/1 relay request\0" + lp16(origin.encode()) + lp16(path.encode()) + key
    return start + time.to_bytes(8, "big") + hashlib.sha256(body).digest()


def check_origin(origin: str) -> None:
    check_type(origin, str, "the origin")
    if not ORIGIN.fullmatch(origin):
        raise PushcryptError(Code.INVALID_REQUEST, "the origin is not like https://push.example.com: lower case, without a path")


def decoded(text: object, length: int) -> bytes | None:
    """The bytes of a base64url text, if they are so many."""
    data = decode(text) if isinstance(text, str) else b""
    return data if len(data) == length else None


def lp8(data: bytes) -> bytes:
    return bytes([len(data)]) + data
