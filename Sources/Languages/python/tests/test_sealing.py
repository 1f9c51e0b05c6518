"""Sealing: options, payloads, keys. What is refused does no harm, and is told without quoting anything."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import pickle
import time
import types
import warnings
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from unittest import mock

import pytest

from pushcrypt import (
    Certificate, Code, Credential, DevicePublicKey, Person, Placeholder, ProviderKey, PushcryptError, Reference,
    Sealer, SigningKey, StoredDevice, fingerprint, issue_certificate, seal_full_body,
)
from pushcrypt._envelope import moment
from pushcrypt.testing import DeviceKey, Opened, open_push
from vectors import label, stored

HALF = "\ud800"
NOW, MINUTE = moment(1_767_225_600_000), timedelta(minutes=1)
PROVIDER, PHONE = ProviderKey(bytes([1]) * 32), DeviceKey(bytes([2]) * 32)
DEVICE = stored(PHONE.public_key)
SEALER = Sealer(PROVIDER, topic="a")
PAYLOAD = b'{"aps":{"alert":"a","sound":"b"}}'
AVATAR = Reference(url="https://a", key=bytes(32), size=1_000_001, sha256=bytes(32), type="public.png", name="a")


def opened(payload: bytes | str, **named: Any) -> Opened:
    return open_push(payload, topic="a", device=PHONE, provider=PROVIDER.public_key, **named)


@pytest.mark.parametrize("code, named", [
    ("invalid-time", {"time_to_live": timedelta(milliseconds=1500)}),
    ("invalid-time", {"time_to_live": timedelta(seconds=-1)}),
    ("invalid-time", {"time_to_live": timedelta(days=30, seconds=1)}),
    ("invalid-time", {"time_to_live": timedelta.max}),
    ("invalid-time", {"at": moment(0) - timedelta(seconds=1)}),
    ("implausible-time", {"at": moment(0)}),
    ("implausible-time", {"at": NOW + timedelta(days=1, milliseconds=1)}),
    ("implausible-time", {"at": datetime.max.replace(tzinfo=timezone.utc)}),
    ("invalid-request", {"message_id": ""}),
    ("invalid-request", {"message_id": HALF}),
    ("invalid-request", {"withdraws": [str(number) for number in range(65)]}),
    ("invalid-request", {"withdraws": [""]}),
    ("invalid-request", {"withdraws": [HALF]}),
    ("invalid-request", {"withdraws": ["a"], "message_id": "a"}),
    ("malformed-reference", {"full_body": AVATAR}),
    ("push-type-not-sealable", {"push_type": "liveactivity"}),
    ("push-type-not-sealable", {"push_type": None}),
    ("too-many-attachments", {"attachments": [AVATAR] * 9}),
], ids=label)
def test_options_that_are_refused(code: str, named: dict[str, Any], refused: Any) -> None:
    refused(code, SEALER.seal, PAYLOAD, DEVICE, **named)


@pytest.mark.parametrize("named", [
    {"time_to_live": 60}, {"time_to_live": True}, {"at": 1_767_225_600}, {"at": "1"}, {"at": NOW.replace(tzinfo=None)}, {"at": NOW.date()},
    {"message_id": 17}, {"message_id": b"a"}, {"withdraws": "table-17"}, {"withdraws": [b"a"]}, {"withdraws": 5}, {"drop": "false"},
    {"drop": 1}, {"exact": "no"}, {"attachments": [{"url": "https://a"}]}, {"attachments": AVATAR}, {"person": "Anna"},
    {"full_body": "long"}, {"tll": 60},
], ids=label)
def test_options_of_another_type(named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        SEALER.seal(PAYLOAD, DEVICE, **named)


def test_a_payload_that_is_a_mapping() -> None:
    assert opened(SEALER.seal(types.MappingProxyType({"aps": {"alert": "a"}}), DEVICE).payload).payload == b'{"aps":{"alert":"a"}}'


@pytest.mark.parametrize("payload", [None, [], 7, 1_500_000_000, 1.5, True, {1}, object()])
def test_payloads_of_another_type(payload: Any) -> None:
    with pytest.raises(TypeError):
        SEALER.seal(payload, DEVICE)


@pytest.mark.parametrize("device", [DEVICE.public_key, str(DEVICE.public_key), PROVIDER.public_key, PHONE, None, 7, "phone1", DEVICE.to_json()])
def test_devices_of_another_type(device: Any) -> None:
    with pytest.raises(TypeError):
        SEALER.seal(PAYLOAD, device)


@pytest.mark.parametrize("code, payload", [
    ("invalid-field", b'{"aps":{"alert":"a","content-available":"1"}}'),
    ("invalid-field", b'{"aps":{"alert":"a","badge":"1"}}'),
    ("invalid-field", b'{"aps":{"alert":"a","sound":{"volume":1e400}}}'),
    ("nothing-to-show", b'{"aps":{"alert":{"title":""},"badge":1}}'),
    ("missing-aps", b'{"alert":"secret-word"}'),
    ("malformed-payload", b'"secret-word"'),
    ("malformed-payload", b"secret-word"),
    ("malformed-payload", b""),
    ("malformed-payload", HALF),
    ("malformed-payload", b"[" * 10_000_000),
    ("malformed-payload", b'"' * 10_000_001),
    ("malformed-payload", "secret-word" * 1_000_000),
    ("payload-too-large", '{"aps":{"alert":"' + "a" * 10_000_000 + '"}}'),
], ids=label)
def test_payloads_that_are_refused(code: str, payload: bytes | str, refused: Any) -> None:
    refused(code, SEALER.seal, payload, DEVICE)


class Name(enum.Enum):
    APS = "aps"


def in_itself() -> dict[str, Any]:
    value: dict[str, Any] = {"aps": {}}
    value["own"] = value
    return value


@pytest.mark.parametrize("payload", [
    {"aps": {}, "own": math.nan}, {"aps": {}, "own": [math.inf]}, {"aps": {}, "own": HALF}, {"aps": {}, HALF: 1},
    {"aps": {}, 1: "a", "1": "b"}, {"aps": {}, None: 1}, {"aps": {}, "own": b"secret-word"}, {"aps": {}, "own": Decimal("1.10")},
    {"aps": {"alert": "a"}, "own": 10**5000}, {Name.APS: {}}, in_itself(),
], ids=lambda payload: "payload")
def test_objects_that_json_would_change(payload: Any, refused: Any) -> None:
    refused("malformed-payload", SEALER.seal, payload, DEVICE)


@pytest.mark.parametrize("value", [2**70 + 1, 0.1, 1e22, "é예🚲\x00\x7f\u2028", True, None, [1, [2]], {"": {}}])
def test_objects_come_back(value: Any) -> None:
    push = SEALER.seal({"aps": {"alert": "a"}, "own": value}, DEVICE)
    assert json.loads(opened(push.payload).payload)["own"] == value


def test_bytes_stay() -> None:
    spaced = b' {"aps" : {"alert":"a"}, "own": [1.50, 1E400, "\\u00e9\\/ \\\\u00e9 \\uD83d\\ude00\\u001F\\u000A\\u0022"]} '
    push = SEALER.seal(spaced, DEVICE)
    assert opened(push.payload).payload == '{"aps":{"alert":"a"},"own":[1.50,1E400,"é/ \\\\u00e9 😀\\u001f\\n\\""]}'.encode()
    assert SEALER.seal(spaced.decode(), DEVICE).widest == SEALER.seal(memoryview(spaced), DEVICE).widest == push.widest


def test_a_retry_has_the_same_id() -> None:
    first, second = (SEALER.seal(PAYLOAD, DEVICE, message_id="a") for _ in range(2))
    assert first.message_id == second.message_id and first.envelope != second.envelope
    assert SEALER.seal(PAYLOAD, DEVICE).message_id != SEALER.seal(PAYLOAD, DEVICE).message_id


def test_a_message_with_everything() -> None:
    reference = Reference(url="https://a", key=bytes(32), size=22, sha256=bytes(32), type="public.jpeg", name="a")
    body = seal_full_body("Long…", url="https://b", key=SEALER)
    person = Person(name="Anna", handle="u17", conversation="c", recipients=["Ben"], avatar=reference)
    push = SEALER.seal(
        {"aps": {"alert": "a"}}, DEVICE, at=NOW, attachments=[reference] * 2, full_body=body, person=person, withdraws=["x", "y"], drop=True
    )
    got = opened(push.payload.decode(), at=NOW)
    assert json.loads(got.payload)["pushcrypt"] == {
        "body": body.reference.members(), "attachments": [reference.members()] * 2, "withdraw": ["x", "y"], "drop": True,
        "sender": {"name": "Anna", "handle": "u17", "conversation": "c", "recipients": ["Ben"], "avatar": reference.members()},
    }
    assert (got.sent_at, got.expires_at) == (NOW, push.expires_at)


@pytest.mark.parametrize("named", [
    {"title": HALF}, {"sound": HALF}, {"title": " \t"}, {"title": ""}, {"title": "é" * 2049}, {"clear": ("alert",)}, {"sound": "a" * 10_000_000},
], ids=label)
def test_placeholders_that_are_refused(named: dict[str, Any], refused: Any) -> None:
    refused("invalid-placeholder", Placeholder, **named)


@pytest.mark.parametrize("named", [{"title": 7}, {"title": None}, {"sound": b"a"}, {"clear": "badge"}, {"clear": [1]}, {"tilte": "a"}])
def test_placeholders_of_another_type(named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Placeholder(**named)


@pytest.mark.parametrize("named", [{"name": "a\nb"}, {"name": ""}, {"name": "a", "recipients": ["b"] * 9}, {"name": "a", "handle": HALF}])
def test_persons_that_are_refused(named: dict[str, Any], refused: Any) -> None:
    refused("invalid-request", Person, **named)


@pytest.mark.parametrize("named", [
    {"name": 7}, {"name": b"a"}, {"name": "a", "recipients": "b"}, {"name": "a", "handle": 5}, {"name": "a", "avatar": "https://a"},
], ids=label)
def test_persons_of_another_type(named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Person(**named)


def test_an_avatar_that_is_too_large(refused: Any) -> None:
    refused("malformed-reference", Person, name="a", avatar=AVATAR)


def test_requests_that_are_refused(refused: Any) -> None:
    background, push = SEALER.seal(b'{"aps":{}}', DEVICE, push_type="background"), SEALER.seal(PAYLOAD, DEVICE)
    refused("invalid-request", SEALER.request, background, priority=10)
    for named in (
        {"priority": True}, {"priority": 10.0}, {"priority": "10"}, {"priority": 7}, {"collapse_name": ""}, {"collapse_name": HALF},
    ):
        refused("invalid-request", SEALER.request, push, **named)
    for wrong in (None, push.payload, "a"):
        with pytest.raises(TypeError):
            SEALER.request(wrong)  # type: ignore[arg-type]
    for at in (NOW - timedelta(days=2), NOW + timedelta(days=32), datetime.max.replace(tzinfo=timezone.utc)):
        refused("implausible-time", SEALER.request, push, expiration=at)
    for expiration in (7, True, NOW.replace(tzinfo=None)):
        with pytest.raises(TypeError):
            SEALER.request(push, expiration=expiration)  # type: ignore[arg-type]


def test_a_request() -> None:
    call = SEALER.seal(b'{"aps":{"content-available":1}}', DEVICE, push_type="voip", at=NOW, time_to_live=MINUTE)
    request = SEALER.request(call)
    assert b'"content-available":1' in call.payload
    assert (request.topic, request.priority, request.expiration, len(request.collapse_id)) == ("a.voip", 10, int(NOW.timestamp()) + 60, 43)
    assert request.headers["apns-topic"] == "a.voip" and request.payload == call.payload


@pytest.mark.parametrize("push_type", ["alert", "background", "voip"])
def test_a_push_for_now_or_never(push_type: Any) -> None:
    """APNs tries once, and phones' clocks have ten minutes."""
    push = SEALER.seal(PAYLOAD, DEVICE, push_type=push_type, at=NOW + timedelta(milliseconds=1), time_to_live=timedelta(0))
    ends = [SEALER.request(push, expiration=at).expiration for at in (None, moment(0), NOW)]
    assert (push.expires_at, ends) == (NOW + timedelta(milliseconds=600_001), [0, 0, int(NOW.timestamp())])


def test_a_collapse_id_outlives_every_key() -> None:
    def collapse_id(key: Any, device: StoredDevice) -> str:
        sealer = Sealer(key, topic="a")
        return sealer.request(sealer.seal(PAYLOAD, device), collapse_name="c").collapse_id

    other = stored(DeviceKey(bytes([6]) * 32).public_key)
    ids = {collapse_id(key, device) for key in (PROVIDER, issued()) for device in (DEVICE, other)}
    assert len(ids) == 1 and ids != {collapse_id(PROVIDER, dataclasses.replace(DEVICE, device="phone2"))}


def test_a_request_has_all_that_the_device_says() -> None:
    for environment, host in (("production", "api.push.apple.com"), ("development", "api.sandbox.push.apple.com")):
        request = SEALER.request(SEALER.seal(PAYLOAD, dataclasses.replace(DEVICE, token="8f3a", environment=environment, grant="g")))
        assert (request.url, request.grant) == (f"https://{host}/3/device/8f3a", "g")
        assert "8f3a" not in repr(request)
    assert SEALER.request(SEALER.seal(PAYLOAD, DEVICE)).url is None


def test_a_removed_device_is_not_sealed_to(refused: Any) -> None:
    refused("removed-device", SEALER.seal, PAYLOAD, DEVICE.removed())
    refused("topic-mismatch", SEALER.seal, PAYLOAD, dataclasses.replace(DEVICE, topic="b"))


def test_the_smallest_message_that_withdraws(refused: Any) -> None:
    push = SEALER.withdraw(["table-17", "table-18"], DEVICE)
    assert json.loads(opened(push.payload, push_type="background").payload) == {"aps": {}, "pushcrypt": {"withdraw": ["table-17", "table-18"], "drop": True}}
    assert len(push.payload) < 600 and SEALER.request(push).priority == 5
    refused("invalid-request", SEALER.withdraw, [""], DEVICE)
    with pytest.raises(TypeError):
        SEALER.withdraw("table-17", DEVICE)


def test_what_a_sealer_says_of_itself_stays() -> None:
    for name in ("topic", "placeholder", "provider", "certificate"):
        with pytest.raises(AttributeError):
            setattr(SEALER, name, "b")
    assert (SEALER.topic, SEALER.provider, SEALER.certificate) == ("a", PROVIDER.public_key, None)


@pytest.mark.parametrize("topic", [None, 7, b"a"])
def test_topics_of_another_type(topic: Any) -> None:
    with pytest.raises(TypeError):
        Sealer(PROVIDER, topic=topic)


@pytest.mark.parametrize("topic", ["", "a" * 256, "ä", "a b", "a\n", "a" * 10_000_000])
def test_topics_that_are_refused(topic: str, refused: Any) -> None:
    refused("wrong-topic", Sealer, PROVIDER, topic=topic)


def test_a_topic_with_voip_warns() -> None:
    with pytest.warns(UserWarning, match="without .voip"):
        Sealer(PROVIDER, topic="a.voip")


# Keys


@pytest.mark.parametrize(
    "key", [None, 7, PROVIDER.secret_text(), SigningKey(bytes([3]) * 32), PROVIDER.public_key, ProviderKey, types.SimpleNamespace(sign=PROVIDER.sign)],
    ids=lambda key: "key",
)
def test_what_is_no_key_to_sign_with(key: Any) -> None:
    with pytest.raises(TypeError):
        Sealer(key, topic="a")


# Certificates


def issued(lifetime: timedelta | None = None) -> Credential:
    key = SigningKey(bytes([4]) * 32)
    return Credential(key, issue_certificate(PROVIDER, key.public_bytes(), topic="a", lifetime=lifetime, at=NOW), PROVIDER.public_key)


def test_an_expired_certificate_seals_nothing(refused: Any) -> None:
    """A phone would refuse the message, and say nothing [S-10]."""
    sealer = Sealer(issued(lifetime=MINUTE), topic="a")
    assert sealer.certificate is not None and sealer.certificate.expires_at == NOW + timedelta(milliseconds=60_000)
    opened(sealer.seal(PAYLOAD, DEVICE, at=NOW + timedelta(milliseconds=60_000)).payload, at=NOW + timedelta(milliseconds=60_000))
    refused("invalid-time", sealer.seal, PAYLOAD, DEVICE, at=NOW + timedelta(milliseconds=60_001))
    Sealer(issued(), topic="a").seal(PAYLOAD, DEVICE)


def test_a_certificate_travels_with_each_message(refused: Any) -> None:
    credential = issued()
    push = Sealer(credential, topic="a").seal(PAYLOAD, DEVICE)
    assert json.loads(opened(push.payload).payload) == json.loads(PAYLOAD)
    refused("bad-certificate-signature", Sealer, credential, topic="b")


# The phone for tests


def test_what_is_not_for_the_phone_does_not_open(refused: Any) -> None:
    push, stranger = SEALER.seal(PAYLOAD, DEVICE, at=NOW, time_to_live=MINUTE).payload, ProviderKey.generate()
    good: dict[str, Any] = {"topic": "a", "device": PHONE, "provider": PROVIDER.public_key, "at": NOW}
    assert open_push(push, **good).payload == PAYLOAD
    sealed = json.loads(push)["ENCRYPTED_DATA"]
    changed = sealed[:80] + ("A" if sealed[80] != "A" else "B") + sealed[81:]
    for code, body, other in (
        ("authentication-failed", push, {"topic": "b"}), ("authentication-failed", push, {"provider": stranger.public_key}),
        ("authentication-failed", push.replace(sealed.encode(), changed.encode()), {}), ("unknown-recipient-key", push, {"device": DeviceKey.generate()}),
        ("wrong-push-class", push, {"push_type": "voip"}), ("expired", push, {"at": NOW + timedelta(milliseconds=86_400_000)}), ("malformed-envelope", PAYLOAD, {}),
        ("authentication-failed", Sealer(stranger, topic="a").seal(PAYLOAD, DEVICE).payload, {}),
    ):
        refused(code, open_push, body, **(good | other))


# Secrets, errors, time


def test_secrets_are_not_printed() -> None:
    key = bytes(range(32))
    secret, credential = ProviderKey(key), issued()
    shown = f"{secret!r} {secret} {Sealer(secret, topic='a')!r} {credential!r} {Sealer(credential, topic='a')!r}"
    for text in (secret.secret_text(), key.hex(), repr(key), credential.key.secret_text()):
        assert text not in shown
    assert repr(bytes(32)) not in repr(AVATAR).replace("sha256=" + repr(bytes(32)), "")


def test_an_error_survives_pickling() -> None:
    with pytest.raises(PushcryptError) as caught:
        DevicePublicKey.parse("pcr1")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.code is Code.MALFORMED_KEY and str(again) == str(caught.value) and not again.retryable
    assert again.url == "https://example.com/pushcrypt/blob/main/Docs/Codes.md#malformed-key" and str(again.code) == "malformed-key" and f"{again.code}" == "malformed-key"


def test_the_fingerprint_of_half_a_pair() -> None:
    assert len(fingerprint(HALF)) == 8
    with pytest.raises(TypeError):
        fingerprint(b"a")  # type: ignore[arg-type]


def test_hard_texts_take_no_longer_than_others(refused: Any) -> None:
    wide = b'{"aps":{"alert":"' + b'a\\"' * 15_000 + b'" }, "own":"' + b"b" * 15_000 + b'" }'
    start = time.process_time()
    refused("malformed-payload", SEALER.seal, b'"' + b'\\"' * 25_000 + b"[" * 33, DEVICE)
    refused("payload-too-large", SEALER.seal, wide, DEVICE)
    assert time.process_time() - start < 2


def test_certificates_compare_by_value() -> None:
    first, second = issued().certificate, Certificate.parse(str(issued().certificate))
    assert first == second == mock.ANY and hash(first) == hash(second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert first != str(first)
