"""Requests to a relay, and grants: the vectors of relay.json, and what is refused."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from pushcrypt import Placeholder, ProviderKey, Sealer
from pushcrypt import relay as module
from pushcrypt.relay import Grant, PushKey, RelayError, open_grant, relay_message, relay_request, seal_grant, verify_relay_request
from pushcrypt.testing import DeviceKey
from vectors import base64url, cases

ORIGIN = "https://push.example.com"
KEY, RELAY_KEY = PushKey(bytes(range(32))), b"\x07" * 32
GRANT: dict[str, Any] = {"token": "0a0b", "environment": "production", "topic": "com.example.app", "push_key": KEY.public_key}


def code_of(function: Any, *arguments: Any, **named: Any) -> tuple[str, int]:
    with pytest.raises(RelayError) as caught:
        function(*arguments, **named)
    return caught.value.code, caught.value.status


@pytest.mark.parametrize("case", cases("relay.json", "grants"))
def test_grants(case: dict[str, Any]) -> None:
    said = {
        "token": case["token"], "environment": case["environment"], "topic": case["topic"], "push_key": base64url(case["pushKey"]),
        "kinds": tuple(case["kinds"]), "issued": case["issued"], "expires": case["expires"],
    }
    key, grant = bytes.fromhex(case["relayKey"]), case["grant"]
    assert module.seal(key, case["origin"], module.plaintext(**said), bytes.fromhex(case["random"])) == grant
    assert open_grant([bytes(32), key], case["origin"], grant) == Grant(id=base64url(grant)[5:21].hex(), **said)
    again = seal_grant(key, case["origin"], **said)
    assert again != grant and open_grant([key], case["origin"], again).expires == case["expires"]


@pytest.mark.parametrize("case", cases("relay.json", "refusedGrants"))
def test_grants_that_are_refused(case: dict[str, Any]) -> None:
    keys = [bytes.fromhex(key) for key in case["relayKeys"]]
    status = 410 if case["code"] == "grant-unknown-key" else 400
    assert code_of(open_grant, keys, case["origin"], case["grant"]) == (case["code"], status)


@pytest.mark.parametrize("case", cases("relay.json", "requests"))
def test_requests(case: dict[str, Any]) -> None:
    key, body = PushKey(bytes.fromhex(case["seed"])), case["body"].encode()
    assert key.public_key == base64url(case["pushKey"])
    signed = module.signed(case["origin"], "/v1/push", key.public_key, case["time"], body)
    assert module.encode(key.sign(signed)) == case["signature"]
    headers = {"Pushcrypt-Key": case["pushKey"], "Pushcrypt-Time": str(case["time"]), "PUSHCRYPT-SIGNATURE": case["signature"]}
    assert verify_relay_request(case["origin"], "/v1/push", headers, body, at=case["time"]) == key.public_key


@pytest.mark.parametrize("case", cases("relay.json", "refusedRequests"))
def test_requests_that_are_refused(case: dict[str, Any]) -> None:
    found = code_of(verify_relay_request, case["origin"], "/v1/push", case["headers"], case["body"].encode(), at=case["now"])
    assert found == (case["code"], 401)


def test_a_request_of_a_sealed_push() -> None:
    sealer = Sealer(ProviderKey.generate(), topic="com.example.app", placeholder=Placeholder(sound="default"))
    device = DeviceKey.generate()
    push = sealer.seal({"aps": {"alert": "a", "content-available": 1}}, device.public_key)
    silent = sealer.seal({"aps": {"content-available": 1}}, device.public_key, push_type="background")
    request = sealer.request(push, device_id="phone1", priority=5)
    messages = [relay_message("grant1", request), relay_message("grant2", sealer.request(silent))]
    made = relay_request(ORIGIN, KEY, messages)
    assert made.url == f"{ORIGIN}/v1/push" and verify_relay_request(ORIGIN, "/v1/push", made.headers, made.body) == KEY.public_key
    alert, background = json.loads(made.body)["messages"]
    assert alert == {
        "grant": "grant1", "data": json.loads(request.payload)["ENCRYPTED_DATA"], "kind": "alert", "priority": 5, "expiration": request.expiration,
        "collapse_id": request.collapse_id, "sound": "default", "content_available": True,
    }
    assert background.keys() == {"grant", "data", "kind", "priority", "expiration", "collapse_id"} and background["kind"] == "background"
    assert made.headers["content-type"] == "application/json" and len(made.headers) == 4
    quiet = relay_message("grant", Sealer(ProviderKey.generate(), topic="com.example.app").request(sealer.seal({"aps": {"alert": "a"}}, device.public_key)))
    assert quiet.keys() & {"sound", "content_available"} == ({"sound"} if "sound" in json.loads(push.payload)["aps"] else set())


def test_a_signature_is_for_its_origin_its_path_and_an_hour() -> None:
    made = relay_request(ORIGIN, KEY, [{}] * 45, at=10_000_000)
    verify = lambda origin=ORIGIN, path="/v1/push", at=10_000_000: verify_relay_request(origin, path, made.headers, made.body, at=at)  # noqa: E731
    assert verify() == KEY.public_key and verify(at=10_000_000 + 3_600_000) == verify(at=10_000_000 - 3_600_000) == KEY.public_key
    assert code_of(verify, path="/v1/other") == code_of(verify, "https://push.example.org") == ("bad-signature", 401)
    assert code_of(verify, at=10_000_000 + 3_600_001) == code_of(verify, at=10_000_000 - 3_600_001) == ("clock", 401)


def test_a_grant_is_for_alerts_and_half_a_year_by_default() -> None:
    grant = open_grant([RELAY_KEY], ORIGIN, seal_grant(RELAY_KEY, ORIGIN, **GRANT, issued=1))
    assert (grant.kinds, grant.issued, grant.expires) == (("alert",), 1, 1 + 180 * 86_400_000)


def test_calls_are_not_for_relays(refused: Any) -> None:
    sealer = Sealer(ProviderKey.generate(), topic="com.example.app")
    push = sealer.seal({"aps": {}}, DeviceKey.generate().public_key, push_type="voip")
    refused("push-type-not-sealable", relay_message, "grant", sealer.request(push))


def test_what_is_given_is_checked(refused: Any) -> None:
    for origin in ("", "push.example.com", "https://push.example.com/", "HTTPS://push.example.com", "https://a b", "https://", "ftp://a"):
        refused("invalid-request", relay_request, origin, KEY, [{}])
        refused("invalid-request", seal_grant, RELAY_KEY, origin, **GRANT)
    for messages in ([], [{}] * 46):
        refused("invalid-request", relay_request, ORIGIN, KEY, messages)
    for key in (RELAY_KEY[1:], RELAY_KEY + b"\0", b""):
        refused("malformed-key", seal_grant, key, ORIGIN, **GRANT)
        refused("malformed-key", PushKey, key)
        refused("malformed-key", open_grant, [key], ORIGIN, seal_grant(RELAY_KEY, ORIGIN, **GRANT))
    wrong: list[dict[str, Any]] = [
        {"token": ""}, {"token": "0"}, {"token": "0A"}, {"token": "aa" * 101}, {"environment": "sandbox"}, {"topic": ""}, {"topic": "a" * 256},
        {"push_key": b""}, {"kinds": []}, {"kinds": ["alert", "alert"]}, {"kinds": ["voip"]},
    ]
    for other in wrong:
        assert code_of(seal_grant, RELAY_KEY, ORIGIN, **(GRANT | other)) == ("malformed-request", 400)
    refused("invalid-time", seal_grant, RELAY_KEY, ORIGIN, **GRANT, issued=-1)
    refused("invalid-time", relay_request, ORIGIN, KEY, [{}], at=2**53)
    types: list[Any] = [
        lambda: relay_request(ORIGIN, b"a" * 32, [{}]), lambda: relay_request(ORIGIN, KEY, 7), lambda: relay_request(ORIGIN, KEY, ["a"]),
        lambda: relay_message(7, 7), lambda: PushKey("a" * 32), lambda: seal_grant("a" * 32, ORIGIN, **GRANT), lambda: seal_grant(RELAY_KEY, 7, **GRANT),
        lambda: verify_relay_request(ORIGIN, "/v1/push", {}, "a"), lambda: seal_grant(RELAY_KEY, ORIGIN, **(GRANT | {"kinds": "alert"})),
    ]
    for wrong_type in types:
        with pytest.raises(TypeError):
            wrong_type()
    assert code_of(open_grant, [RELAY_KEY], ORIGIN, 7) == ("malformed-grant", 400)


def test_a_signer_elsewhere_that_signs_something_else_is_noticed(refused: Any) -> None:
    class Other:
        public_key = KEY.public_key

        def sign(self, message: bytes) -> bytes:
            return KEY.sign(message + b"a")

    refused("wrong-signature", relay_request, ORIGIN, Other(), [{}])


def test_a_push_key_that_is_no_point_signs_nothing() -> None:
    headers = {"pushcrypt-key": module.encode(b"\x02" + bytes(31)), "pushcrypt-time": "0", "pushcrypt-signature": module.encode(bytes(64))}
    assert code_of(verify_relay_request, ORIGIN, "/v1/push", headers, b"", at=0) == ("bad-signature", 401)


def test_secrets_are_not_printed() -> None:
    grant = open_grant([RELAY_KEY], ORIGIN, seal_grant(RELAY_KEY, ORIGIN, **GRANT))
    assert "0a0b" not in repr(grant) and KEY.secret_bytes().hex() not in repr(KEY)
    assert PushKey(KEY.secret_bytes()).public_key == KEY.public_key and PushKey.generate().public_key != KEY.public_key
    error = pickle.loads(pickle.dumps(RelayError("clock", 401)))
    assert (error.code, error.status) == ("clock", 401)
