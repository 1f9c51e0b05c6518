"""Requests of a self-hosted server to the relay of its app's publisher. `Docs/Relay.md` has the rules.

    from pushcrypt.relay import PushKey, relay_message, relay_request

    push_key = PushKey.generate()  # once; its public half goes into accept(…, push_key=push_key.public_key)
    request = relay_request("https://push.example.com", push_key, [relay_message(sealer.request(push))])
    answers = httpx.post(request.url, content=request.body, headers=request.headers, timeout=30).json()["answers"]

What users answered while their phones could not reach the server is there too: texts for `open_answer`, for an hour.

    request = relay_answers("https://push.example.com", push_key, wait=25)
    texts = httpx.post(request.url, content=request.body, headers=request.headers, timeout=60).json()["answers"]

Act on them, then name them in the next request's `done`: until then they come again.

Follow no redirect, and post only to origins in your own configuration.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ._envelope import clock, encode, lp16, milliseconds
from ._errors import Code, PushcryptError
from ._json import write
from ._keys import bytes32
from ._sealing import PushRequest
from ._types import check_type, checked_tuple

__all__ = ["PushKey", "RelayRequest", "relay_answers", "relay_message", "relay_request"]

PATH, ANSWERS_PATH = "/v1/push", "/v1/answers/take"
MOST_MESSAGES, MOST_DONE, LONGEST_WAIT = 45, 200, 25
KINDS = ("alert", "background")
ORIGIN = re.compile(r"https?://[a-z0-9.:\[\]-]{1,247}")


class PushKey:
    """The key with which a server signs its requests to relays, used for nothing else. It is not printed."""

    __slots__ = ("_private", "_seed", "public_key")

    #: The public half, 32 bytes: `accept` and `Reply` have it as `push_key`.
    public_key: bytes

    def __init__(self, seed: bytes) -> None:
        self._seed, self._private = bytes32(seed, "a push key"), Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._private.public_key().public_bytes_raw()

    @classmethod
    def generate(cls) -> PushKey:
        """Creates a key from the system's random source."""
        return cls(os.urandom(32))

    def secret_bytes(self) -> bytes:
        """The 32 bytes from which the key can be made again: for a file that only its owner reads."""
        return self._seed

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature, 64 bytes."""
        check_type(message, bytes, "the message")
        return self._private.sign(message)

    def __repr__(self) -> str:
        return "<PushKey>"


@dataclass(frozen=True, eq=False)
class RelayRequest:
    """A signed request to a relay: a POST. Follow no redirect, and wait for 30 seconds."""

    #: The relay's address.
    url: str
    #: The headers.
    headers: dict[str, str]
    #: The body, unchanged. It has the grants.
    body: bytes = field(repr=False)


def relay_message(request: PushRequest) -> dict[str, Any]:
    """A message for a relay, of what `Sealer.request` returned for a device with a grant.

    The relay writes what the phone shows if it cannot open the push: of the placeholder only the sound is used. A call, `voip`, is
    refused: `push-type-not-sealable`.
    """
    check_type(request, PushRequest, "the request")
    if request.grant is None:
        raise PushcryptError(Code.INVALID_REQUEST, "the device has no grant: wait for its next record")
    if request.push_type not in KINDS:
        raise PushcryptError(Code.PUSH_TYPE_NOT_SEALABLE, "a relay passes alerts and background pushes on, and no calls")
    push = json.loads(request.payload)
    message: dict[str, Any] = {
        "grant": request.grant, "data": push["ENCRYPTED_DATA"], "kind": request.push_type, "priority": request.priority,
        "expiration": request.expiration, "collapse_id": request.collapse_id,
    }
    if request.push_type == "alert":
        sound = push["aps"].get("sound")
        message |= {"sound": sound} if isinstance(sound, str) else {}
        message |= {"content_available": True} if "content-available" in push["aps"] else {}
    return message


def relay_request(origin: str, key: PushKey, messages: Iterable[Mapping[str, Any]], *, at: datetime | None = None) -> RelayRequest:
    """Signs a request with 1 to 45 messages.

    Args:
        origin: The relay's, from your configuration, such as `https://push.example.com`.
        key: The push key that the grants name.
        messages: What `relay_message` returned.
        at: The present time; by default the system's. After the refusal `clock` add the difference that its `now` shows.
    """
    every = checked_tuple(messages, dict, "messages")
    if not 1 <= len(every) <= MOST_MESSAGES:
        raise PushcryptError(Code.INVALID_REQUEST, f"a request has 1 to {MOST_MESSAGES} messages, not {len(every)}")
    return post(origin, PATH, key, {"messages": every}, at)


def relay_answers(origin: str, key: PushKey, *, wait: int = 0, done: Iterable[str] = (), at: datetime | None = None) -> RelayRequest:
    """Signs a request for the answers that phones have left for a push key; allow `wait` seconds more for the response.

    Args:
        origin: The relay's, from your configuration, such as `https://push.example.com`.
        key: The push key.
        wait: How many seconds the relay waits if there are no answers, up to 25.
        done: Up to 200 texts of the last response, which the relay then forgets.
        at: The present time, as of `relay_request`.
    """
    check_type(wait, int, "wait")
    texts = checked_tuple(done, str, "done")
    if not 0 <= wait <= LONGEST_WAIT or len(texts) > MOST_DONE:
        raise PushcryptError(Code.INVALID_REQUEST, f"a relay waits for 0 to {LONGEST_WAIT} seconds, and up to {MOST_DONE} texts are done")
    names = [encode(hashlib.sha256(text.encode()).digest()[:16]) for text in texts]
    return post(origin, ANSWERS_PATH, key, {"wait": wait, "done": names}, at)


def post(origin: str, path: str, key: PushKey, content: Mapping[str, Any], at: datetime | None) -> RelayRequest:
    check_origin(origin)
    check_type(key, PushKey, "the key")
    body, time = write(content).encode(), clock() if at is None else milliseconds(at, "at")
    headers = {
        "content-type": "application/json", "pushcrypt-key": encode(key.public_key), "pushcrypt-time": str(time),
        "pushcrypt-signature": encode(key.sign(signed(origin, path, key.public_key, time, body))),
    }
    return RelayRequest(origin + path, headers, body)


def signed(origin: str, path: str, key: bytes, time: int, body: bytes) -> bytes:
    start = b"pushcrypt/1 relay request\0" + lp16(origin.encode()) + lp16(path.encode()) + key
    return start + time.to_bytes(8, "big") + hashlib.sha256(body).digest()


def check_origin(origin: str) -> None:
    check_type(origin, str, "the origin")
    if not ORIGIN.fullmatch(origin):
        raise PushcryptError(Code.INVALID_REQUEST, "the origin is not like https://push.example.com: lower case, without a path")
