"""Requests to a relay: the vectors of relay.json, and what is refused."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pushcrypt import Placeholder, ProviderKey, Sealer
from pushcrypt import relay as module
from pushcrypt._envelope import moment
from pushcrypt._keys import verifies
from pushcrypt.relay import PushKey, RelayRequest, relay_answers, relay_message, relay_request
from pushcrypt.testing import DeviceKey
from vectors import base64url, cases, stored

ORIGIN = "https://push.example.com"
KEY = PushKey(bytes(range(32)))


def is_signed(made: RelayRequest, at: int, origin: str = ORIGIN) -> bool:
    return verifies(KEY.public_key, base64url(made.headers["pushcrypt-signature"]), module.signed(origin, "/v1/push", KEY.public_key, at, made.body))


@pytest.mark.parametrize("case", cases("relay.json", "requests"))
def test_requests(case: dict[str, Any]) -> None:
    key, body = PushKey(bytes.fromhex(case["seed"])), case["body"].encode()
    assert key.public_key == base64url(case["pushKey"])
    signed = module.signed(case["origin"], case["path"], key.public_key, case["time"], body)
    assert module.encode(key.sign(signed)) == case["signature"]


def test_answers_are_taken_and_done() -> None:
    requests, answers = ([case.values[0] for case in cases("relay.json", name)] for name in ("requests", "answers"))
    [vector] = [request for request in requests if request["path"] == "/v1/answers/take"]
    key, at = PushKey(bytes.fromhex(vector["seed"])), moment(vector["time"])
    made = relay_answers(vector["origin"], key, wait=25, at=at)
    assert made.url == f"{ORIGIN}/v1/answers/take" and made.body.decode() == vector["body"]
    assert made.headers["pushcrypt-signature"] == vector["signature"]
    done = json.loads(relay_answers(ORIGIN, key, done=[case["answer"] for case in answers]).body)
    assert done == {"wait": 0, "done": [case["done"] for case in answers]}


def test_a_request_of_a_sealed_push() -> None:
    sealer = Sealer(ProviderKey.generate(), topic="com.example.app", placeholder=Placeholder(sound="default"))
    device = stored(DeviceKey.generate().public_key, "com.example.app", grant="grant1")
    push = sealer.seal({"aps": {"alert": "a", "content-available": 1}}, device)
    silent = sealer.seal({"aps": {"content-available": 1}}, device, push_type="background")
    request = sealer.request(push, priority=5)
    messages = [relay_message(request), relay_message(sealer.request(silent))]
    made = relay_request(ORIGIN, KEY, messages, at=moment(10_000_000))
    assert "grant1" not in repr(made) and len({made, made}) == 1
    assert made.url == f"{ORIGIN}/v1/push" and is_signed(made, 10_000_000) and not is_signed(made, 10_000_001)
    assert (made.headers["pushcrypt-key"], made.headers["pushcrypt-time"]) == (module.encode(KEY.public_key), "10000000")
    alert, background = json.loads(made.body)["messages"]
    assert alert == {
        "grant": "grant1", "data": json.loads(request.payload)["ENCRYPTED_DATA"], "kind": "alert", "priority": 5, "expiration": request.expiration,
        "collapse_id": request.collapse_id, "sound": "default", "content_available": True,
    }
    assert background.keys() == {"grant", "data", "kind", "priority", "expiration", "collapse_id"} and background["kind"] == "background"
    assert made.headers["content-type"] == "application/json" and len(made.headers) == 4
    quiet = relay_message(Sealer(ProviderKey.generate(), topic="com.example.app").request(sealer.seal({"aps": {"alert": "a"}}, device)))
    assert quiet.keys() & {"sound", "content_available"} == ({"sound"} if "sound" in json.loads(push.payload)["aps"] else set())


def test_calls_are_not_for_relays(refused: Any) -> None:
    sealer = Sealer(ProviderKey.generate(), topic="com.example.app")
    device = stored(DeviceKey.generate().public_key, "com.example.app", grant="grant1")
    push = sealer.seal({"aps": {}}, device, push_type="voip")
    refused("push-type-not-sealable", relay_message, sealer.request(push))
    without = sealer.seal({"aps": {"alert": "a"}}, stored(device.public_key, "com.example.app"))
    refused("invalid-request", relay_message, sealer.request(without))


def test_what_is_given_is_checked(refused: Any) -> None:
    for origin in ("", "push.example.com", "https://push.example.com/", "HTTPS://push.example.com", "https://a b", "https://", "ftp://a"):
        refused("invalid-request", relay_request, origin, KEY, [{}])
    for messages in ([], [{}] * 46):
        refused("invalid-request", relay_request, ORIGIN, KEY, messages)
    for options in ({"wait": -1}, {"wait": 26}, {"done": ["A"] * 201}):
        refused("invalid-request", lambda given: relay_answers(ORIGIN, KEY, **given), options)
    refused("invalid-request", relay_answers, "https://", KEY)
    for length in (0, 31, 33):
        refused("malformed-key", PushKey, bytes(length))
    refused("invalid-time", relay_request, ORIGIN, KEY, [{}], at=moment(0) - timedelta(seconds=1))
    types: list[Any] = [
        lambda: relay_request(ORIGIN, b"a" * 32, [{}]), lambda: relay_request(ORIGIN, KEY, 7), lambda: relay_request(ORIGIN, KEY, ["a"]),
        lambda: relay_request(ORIGIN, ProviderKey.generate(), [{}]), lambda: relay_message(7), lambda: relay_answers(ORIGIN, KEY, wait="1"),
        lambda: relay_answers(ORIGIN, KEY, done=[7]), lambda: relay_answers(ORIGIN, b"a" * 32), lambda: PushKey("a" * 32),
    ]
    for wrong_type in types:
        with pytest.raises(TypeError):
            wrong_type()


def test_a_push_key_is_not_printed_and_can_be_made_again() -> None:
    assert KEY.secret_bytes().hex() not in repr(KEY)
    assert PushKey(KEY.secret_bytes()).public_key == KEY.public_key and PushKey.generate().public_key != KEY.public_key
