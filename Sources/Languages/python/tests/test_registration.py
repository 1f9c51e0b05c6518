"""Records, replies, and what a provider stores."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from pushcrypt import (
    Certificate, DevicePublicKey, DeviceRecord, ProviderKey, ProviderRecord, PushcryptError, Reply, Sealer, SigningKey, StoredDevice,
    accept, issue_certificate,
)
from pushcrypt.testing import DeviceKey
from vectors import label

NOW = 1_767_225_600_000
PROVIDER = ProviderKey(bytes([1]) * 32)
PIN = PROVIDER.public_key
FIRST, SECOND = (DeviceKey(bytes([2 + number]) * 32).public_key for number in range(2))
RECORD = DeviceRecord(
    public_key=FIRST, device="phone1", generation=2, created=NOW, provider=PIN, app_version="2.3.1", token="8f3a", environment="production",
    grant="abc", topic="a", update_key=bytes(ProviderKey(bytes([4]) * 32).public_key), sequence=7,
)
PLAIN = DeviceRecord(public_key=FIRST, device="phone1")
NAMED: dict[str, Any] = {"topic": "a", "provider": PIN}
HALF = "\ud800"


def stored(record: DeviceRecord = RECORD, user: str | None = "alice", **named: Any) -> StoredDevice:
    return accept(record, None, user, **NAMED | named).device


def test_a_new_device() -> None:
    accepted = accept(RECORD, None, "alice", **NAMED)
    device = accepted.device
    for name in ("public_key", "device", "generation", "created", "provider", "app_version", "token", "environment", "grant", "update_key", "sequence"):
        assert getattr(device, name) == getattr(RECORD, name)
    assert (device.user, device.topic, device.suites, device.is_removed) == ("alice", "a", (1,), False)
    assert accepted.reply == Reply(acknowledged=FIRST, provider=PIN)
    assert (accepted.removes_elsewhere, accepted.stale_store, accepted.foreign) == (False, None, ())


def test_what_is_held_stays() -> None:
    """The owner above all: a record has none, and a session may have none."""
    held = stored()
    again = accept(DeviceRecord(public_key=FIRST, device="phone1", generation=2), held, None, **NAMED).device
    assert again == dataclasses.replace(held, provider=None)
    rotated = accept(DeviceRecord(public_key=SECOND, device="phone1", generation=3, token="00"), held, "alice", **NAMED).device
    assert (rotated.public_key, rotated.generation, rotated.user) == (SECOND, 3, "alice")
    # A token is of one environment, and a creation time of one key.
    assert (rotated.token, rotated.environment, rotated.created) == ("00", None, None)
    assert (rotated.app_version, rotated.grant) == ("2.3.1", "abc")


def test_a_users_session_takes_no_device_of_nobody(refused: Any) -> None:
    """[D-22]: also of one that was removed."""
    for held in (stored(user=None), stored(user=None).removed()):
        refused("user-mismatch", accept, RECORD, held, "alice", **NAMED)
    assert accept(RECORD, stored(user=None), "alice", replace=True, **NAMED).device.user == "alice"


def test_update_keys_and_sequences() -> None:
    """A record without them keeps what is held; of two sequences the higher one is stored."""
    other = bytes(ProviderKey(bytes([6]) * 32).public_key)
    for held in (stored(), stored().removed(at=0)):
        for record, key, sequence in (
            (DeviceRecord(public_key=FIRST, generation=2), RECORD.update_key, held.sequence),
            (DeviceRecord(public_key=FIRST, generation=2, update_key=other, sequence=6), other, held.sequence),
            (DeviceRecord(public_key=FIRST, generation=2, sequence=10**12), RECORD.update_key, 10**12),
        ):
            device = accept(record, held, "alice", **NAMED).device
            assert (device.update_key, device.sequence) == (key, sequence)
    assert (stored().removed(at=NOW).sequence, stored(dataclasses.replace(RECORD, sequence=NOW * 2)).removed(at=NOW).sequence) == (NOW + 86_400_000, NOW * 2)


@pytest.mark.parametrize("code, change", [
    ("malformed-record", {"sequence": 0}), ("malformed-record", {"sequence": 2**53 - 1}), ("malformed-record", {"sequence": "7"}), ("malformed-record", {"sequence": 7.0}),
    ("malformed-record", {"update_key": 7}), ("malformed-key", {"update_key": ""}), ("malformed-key", {"update_key": "A" * 42}), ("malformed-key", {"update_key": "A" * 42 + "B"}),
    ("weak-key", {"update_key": "A" * 43}), ("malformed-record", {"nonce": 7}), ("malformed-record", {"nonce": "A" * 21}), ("malformed-record", {"nonce": "A" * 21 + "B"}),
    ("malformed-record", {"ended": True}), ("malformed-record", {"ended": False}),
], ids=label)
def test_members_of_a_post_that_are_refused(code: str, change: dict[str, Any], refused: Any) -> None:
    good = json.loads(RECORD.to_json()) | {"nonce": "A" * 22}
    assert DeviceRecord.from_json(json.dumps(good)) == RECORD
    refused(code, DeviceRecord.from_json, json.dumps(good | change))


def test_what_is_held_of_a_removed_device(refused: Any) -> None:
    held = stored().removed()
    assert held.is_removed and held.user == "alice" and held.generation == 2
    assert (held.token, held.grant, held.app_version, held.provider) == (None,) * 4
    refused("user-mismatch", accept, RECORD, held, "bob", **NAMED)
    for named in ("b", None):
        record = DeviceRecord(public_key=SECOND, device="phone1", generation=3, topic=named)
        back = accept(record, held, "alice", topic="b", provider=PIN).device
        assert (back.is_removed, back.topic, back.token, back.user) == (False, "b", None, "alice")


def test_a_device_that_was_set_up_again() -> None:
    device = accept(PLAIN, stored(), "bob", replace=True, **NAMED).device
    assert (device.user, device.token, device.generation) == ("bob", None, 1)


@pytest.mark.parametrize("code, record, user, named", [
    ("user-mismatch", RECORD, "bob", {}),
    ("user-mismatch", dataclasses.replace(RECORD, public_key=SECOND, generation=3), None, {}),
    ("generation-rollback", dataclasses.replace(RECORD, generation=1), "alice", {}),
    ("generation-rollback", dataclasses.replace(RECORD, public_key=SECOND), "alice", {}),
    ("generation-too-high", dataclasses.replace(RECORD, generation=1027), "alice", {}),
    ("topic-mismatch", dataclasses.replace(RECORD, topic="b"), "alice", {}),
    ("topic-mismatch", dataclasses.replace(RECORD, topic="b"), "alice", {"topic": "b"}),
    ("topic-mismatch", dataclasses.replace(RECORD, topic="b"), "alice", {"replace": True}),
    ("key-taken", RECORD, "alice", {"elsewhere": StoredDevice(public_key=FIRST, topic="a", user="bob")}),
    ("key-taken", RECORD, "alice", {"elsewhere": StoredDevice(public_key=FIRST, topic="a")}),
], ids=label)
def test_refusals(code: str, record: DeviceRecord, user: str | None, named: dict[str, Any], refused: Any) -> None:
    held = stored()
    error = refused(code, accept, record, held, user, **NAMED | named)
    assert Reply.refusal(error) == Reply(refused=code)
    assert held == stored()


def test_a_first_record_of_another_app(refused: Any) -> None:
    refused("topic-mismatch", accept, RECORD, None, "alice", topic="b", provider=PIN)
    assert accept(PLAIN, None, "alice", topic="b", provider=PIN).device.topic == "b"


def test_the_key_under_another_id() -> None:
    other = StoredDevice(public_key=FIRST, topic="a", user="alice", device="phone0")
    assert accept(RECORD, None, "alice", elsewhere=other, **NAMED).removes_elsewhere


def test_a_foreign_provider() -> None:
    stranger = ProviderKey(bytes([9]) * 32).public_key
    record = dataclasses.replace(RECORD, provider=stranger)
    accepted = accept(record, None, "alice", **NAMED)
    assert accepted.foreign == accepted.reply.foreign == ("provider",)
    assert accept(record, None, "alice", own_keys=[stranger], **NAMED).foreign == ()


def issued(provider: ProviderKey = PROVIDER, *, topic: str = "a", at: int = NOW, seed: int = 5, **named: Any) -> Certificate:
    return issue_certificate(provider, SigningKey(bytes([seed]) * 32).public_bytes(), topic=topic, at=at, **named)


def test_a_stale_store(refused: Any) -> None:
    """A certificate by the own key that was never issued: the store is an old one, or the key was stolen [D-36]."""
    current, older, unknown = issued(at=NOW + 10_000), issued(), issued(at=NOW + 5_000, seed=6)

    def shown(by_phone: Certificate, **named: Any) -> Certificate | None:
        record = dataclasses.replace(RECORD, certificate=by_phone)
        accepted = accept(record, None, "alice", **NAMED | named)
        assert accepted.reply.certificate == named.get("certificate") and accepted.device.public_key == FIRST
        return accepted.stale_store

    assert shown(unknown, certificate=current, issued=[older, current]) == unknown
    assert shown(older, certificate=current, issued=[older]) is None
    assert shown(current, certificate=current, issued=[]) is None
    # At epoch 0 none was ever issued; later, without a list, it is not known.
    assert shown(unknown) == unknown
    assert shown(unknown, certificate=current) is None
    # Of another key or app, or ended by the floor.
    assert shown(issued(ProviderKey(bytes([8]) * 32))) is None
    assert shown(issued(topic="b")) is None
    ending = issued(at=NOW + 20_000, stolen=True, current=current)
    assert shown(unknown, certificate=ending, issued=[ending]) is None
    assert issued(proven=unknown, at=NOW + 30_000, current=current).floor > unknown.epoch


def test_a_refusal_has_the_certificate() -> None:
    current = issued()
    with pytest.raises(PushcryptError) as caught:
        DeviceRecord.from_json("{}")
    reply = Reply.refusal(caught.value, certificate=current)
    assert json.loads(reply.to_json()) == {"version": 1, "refused": "malformed-record", "certificate": str(current)}


def test_without_a_token() -> None:
    assert (stored().without_token().token, stored().without_token().environment) == (None, None)


@pytest.mark.parametrize("device", [
    stored(), stored().removed(), stored(PLAIN, None), StoredDevice(public_key=SECOND, topic="a", generation=0, suites=[1, 2], created=0),
    StoredDevice(public_key=SECOND, topic="a", user='é"\U0001f6b2'),
], ids=range(5))
def test_stored_devices_are_json_both_ways(device: StoredDevice) -> None:
    text = device.to_json()
    assert StoredDevice.from_json(text) == StoredDevice.from_json(text.encode()) == device
    assert hash(StoredDevice.from_json(text)) == hash(device)
    with pytest.raises(AttributeError):
        device.user = "bob"  # type: ignore[misc]


@pytest.mark.parametrize("code, change", [
    ("malformed-record", {"topic": None}), ("malformed-record", {"topic": "a b"}), ("malformed-record", {"generation": None}),
    ("malformed-record", {"generation": "1"}), ("malformed-record", {"generation": 1.0}), ("malformed-record", {"removed": 1}),
    ("malformed-record", {"public_key": None}), ("malformed-record", {"public_key": 7}), ("wrong-checksum", {"public_key": "pcr1" + "q" * 58}),
    ("malformed-record", {"user": 5}), ("malformed-record", {"suites": [2]}), ("malformed-record", {"token": "x"}),
    ("wrong-kind-of-key", {"provider": str(FIRST)}),
], ids=label)
def test_stored_devices_that_are_refused(code: str, change: dict[str, Any], refused: Any) -> None:
    refused(code, StoredDevice.from_json, json.dumps(json.loads(stored().to_json()) | change))


def test_numbers_0_are_written() -> None:
    assert DeviceRecord.from_json(DeviceRecord(public_key=FIRST, generation=0, created=0).to_json()).generation == 0
    assert ProviderRecord.from_json(ProviderRecord(public_key=PIN, generation=0, created=0).to_json()).created == 0


READERS = [DeviceRecord.from_json, ProviderRecord.from_json, StoredDevice.from_json]


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__self__.__name__)
@pytest.mark.parametrize("wrong", [1_500_000_000, None, 7.5, True, {}, [], object()], ids=label)
def test_readers_take_no_numbers(read: Any, wrong: Any) -> None:
    """As many zero bytes would be made of one."""
    with pytest.raises(TypeError):
        read(wrong)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__self__.__name__)
@pytest.mark.parametrize("wrong", [
    b"", "", "[]", "7", b"\xff", HALF, "[" * 10_000_000, '"' + "secret-word" * 1_000_000 + '"', '{"public_key":"' + "q" * 10_000_000 + '"}',
    '{"version":1,"refused":"' + "a" * 10_000_000 + '"}', '{"generation":' + "1" * 1_000_000 + "}",
], ids=label)
def test_readers_refuse(read: Any, wrong: Any, refused: Any) -> None:
    with pytest.raises(PushcryptError) as caught:
        read(wrong)
    assert caught.value.code in ("malformed-record", "malformed-key") and len(str(caught.value)) < 200


@pytest.mark.parametrize("make, named", [
    (Reply, {"acknowledged": FIRST, "provider": 7}), (Reply, {"acknowledged": str(FIRST)}), (Reply, {"acknowledged": FIRST, "certificate": "AWgK"}),
    (Reply, {"acknowledged": FIRST, "suites": "1"}), (Reply, {"acknowledged": FIRST, "foreign": "provider"}), (Reply, {"refused": 7}),
    (Reply, {"acknowledged": FIRST, "push_key": "a" * 32}),
    (DeviceRecord, {"public_key": FIRST, "generation": "5"}), (DeviceRecord, {"public_key": FIRST, "generation": True}),
    (DeviceRecord, {"public_key": FIRST, "topic": b"a"}), (DeviceRecord, {"public_key": PIN}), (DeviceRecord, {"public_key": str(FIRST)}),
    (DeviceRecord, {"public_key": FIRST, "token": 7}), (DeviceRecord, {"public_key": FIRST, "suites": 1}),
    (DeviceRecord, {"public_key": FIRST, "provider": str(PIN)}), (DeviceRecord, {"public_key": FIRST, "created": 1.5}),
    (ProviderRecord, {"public_key": FIRST}), (ProviderRecord, {"public_key": PIN, "certificate": "AWgK"}),
    (StoredDevice, {"public_key": FIRST, "topic": b"a"}), (StoredDevice, {"public_key": FIRST, "topic": None}),
    (StoredDevice, {"public_key": str(FIRST), "topic": "a"}), (StoredDevice, {"public_key": FIRST, "topic": "a", "user": 5}),
    (StoredDevice, {"public_key": FIRST, "topic": "a", "is_removed": "false"}), (StoredDevice, {"public_key": FIRST, "topic": "a", "device": 5}),
    (StoredDevice, {"public_key": FIRST, "topic": "a", "update_key": "A" * 43}), (StoredDevice, {"public_key": FIRST, "topic": "a", "sequence": "7"}),
], ids=label)
def test_values_of_another_type(make: Any, named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        make(**named)


@pytest.mark.parametrize("make, named", [
    (Reply, {"acknowledged": FIRST, "push_key": bytes(31)}), (Reply, {}), (Reply, {"acknowledged": FIRST, "refused": "key-taken"}),
    (Reply, {"refused": "KEY"}), (Reply, {"acknowledged": FIRST, "foreign": ["a"] * 17}), (Reply, {"acknowledged": FIRST, "suites": [2, 1]}),
    (Reply, {"acknowledged": FIRST, "suites": []}),
    (DeviceRecord, {"public_key": FIRST, "device": " "}), (DeviceRecord, {"public_key": FIRST, "device": "a\u200b"}),
    *((DeviceRecord, {"public_key": FIRST, "device": f"a{invisible}"}) for invisible in "\0\x9f\xad\u2028\u206f\U000e007f"),
    (DeviceRecord, {"public_key": FIRST, "device": "a" * 10_000_000}), (DeviceRecord, {"public_key": FIRST, "device": HALF}),
    (DeviceRecord, {"public_key": FIRST, "token": "a"}), (DeviceRecord, {"public_key": FIRST, "environment": "sandbox"}),
    (DeviceRecord, {"public_key": FIRST, "suites": [2, 1]}), (DeviceRecord, {"public_key": FIRST, "suites": [2]}),
    (DeviceRecord, {"public_key": FIRST, "generation": -1}), (DeviceRecord, {"public_key": FIRST, "generation": 10**5000}),
    (DeviceRecord, {"public_key": FIRST, "topic": "a b"}), (DeviceRecord, {"public_key": FIRST, "app_version": ""}),
    (StoredDevice, {"public_key": FIRST, "topic": "a", "update_key": bytes(31)}), (StoredDevice, {"public_key": FIRST, "topic": "a", "sequence": 2**53 - 1}), (StoredDevice, {"public_key": FIRST, "topic": "a", "generation": -1}),
], ids=label)
def test_values_that_are_refused(make: Any, named: dict[str, Any], refused: Any) -> None:
    refused("malformed-record", make, **named)


@pytest.mark.parametrize("position, named", [
    ((b"{}", None, None), {}), ((RECORD, RECORD, None), {}), ((RECORD, None, 5), {}), ((RECORD, None, b"a"), {}), ((RECORD, None, None), {"replace": "false"}),
    ((RECORD, None, None), {"own_keys": [str(PIN)]}), ((RECORD, None, None), {"own_keys": PIN}), ((RECORD, None, None), {"provider": str(PIN)}),
    ((RECORD, None, None), {"provider": None}), ((RECORD, None, None), {"topic": b"a"}), ((RECORD, None, None), {"certificate": "AWgK"}),
    ((RECORD, None, None), {"issued": ["AWgK"]}), ((RECORD, None, None), {"elsewhere": "phone0"}), ((RECORD, None, None), {"push_key": "a"}),
], ids=label)
def test_accept_checks_types(position: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        accept(*position, **NAMED | named)


@pytest.mark.parametrize("user", ["", HALF])
def test_an_empty_user_is_nobody(user: str) -> None:
    with pytest.raises(ValueError):
        accept(RECORD, None, user, **NAMED)
    with pytest.raises(ValueError):
        StoredDevice(public_key=FIRST, topic="a", user=user)


def test_a_refusal_is_of_an_error() -> None:
    with pytest.raises(TypeError):
        Reply.refusal("key-taken")  # type: ignore[arg-type]


def test_secrets_of_a_record_are_not_printed() -> None:
    for value in (RECORD, stored()):
        assert not any(text in repr(value) for text in ("8f3a", "abc"))


def test_reading_records_is_fast() -> None:
    """2,000 a second would be 500 µs; one took 4,900 µs while points were decoded in big integers."""
    import time

    text = dataclasses.replace(RECORD, certificate=issued()).to_json()
    start = time.process_time()
    for _ in range(100):
        DeviceRecord.from_json(text)
    assert (time.process_time() - start) / 100 < 0.0025


@pytest.fixture
def post_quantum() -> DevicePublicKey:
    import vectors

    if not vectors.FOLDER.is_dir():
        pytest.skip(vectors.MISSING)
    return DevicePublicKey.parse(next(test for test in vectors.tests_of("suite-2-keys") if test.name == "the-phones-public-key").body.decode())


def test_records_of_a_key_of_suite_2(post_quantum: DevicePublicKey, refused: Any) -> None:
    key, id = str(post_quantum), post_quantum.key_id
    held = StoredDevice(public_key=post_quantum, topic="a", user="alice", suites=[1, 2])
    record = DeviceRecord(public_key=post_quantum, suites=[1, 2])
    assert StoredDevice.from_json(held.to_json()) == held and DeviceRecord.from_json(record.to_json()) == record

    def decide(held: StoredDevice | None, members: dict[str, Any], user: str | None = "alice", **named: Any) -> StoredDevice:
        return accept(DeviceRecord.from_json(json.dumps(members)), held, user, **NAMED | named).device

    for code, members in (
        ("unsupported-suite", {"public_key": key, "suite": 2, "suites": [1, 2]}), ("unsupported-suite", {"public_key": key}),
        ("unsupported-suite", {"public_key": key, "key_id": id, "suites": [2]}), ("malformed-key", {"public_key": key, "provider": "pcs1"}),
        ("malformed-record", {"public_key": key, "key_id": "0be3735e"}), ("malformed-record", {"public_key": key, "suite": 1}),
        ("malformed-record", {"public_key": key, "suites": [1]}), ("malformed-record", {"public_key": str(FIRST), "suite": 2}),
        ("malformed-record", {"public_key": str(FIRST), "suites": [2]}), ("malformed-record", {"public_key": str(FIRST), "device": "pcrx1abc"}),
    ):
        refused(code, decide, None, members)
    for code, members in (
        ("generation-rollback", {"public_key": str(FIRST), "suites": [1, 2]}), ("suite-downgrade", {"public_key": str(FIRST), "generation": 2}),
        ("suite-downgrade", {"public_key": str(FIRST), "generation": 2, "topic": "b"}), ("topic-mismatch", {"public_key": key, "topic": "b"}),
    ):
        refused(code, decide, held, members)
    assert decide(held, {"public_key": key}) == decide(held, {"public_key": key}, None)
    assert decide(held, {"public_key": str(FIRST)}, replace=True).public_key == FIRST
    refused("unsupported-suite", Sealer(PROVIDER, topic="a").seal, b'{"aps":{"alert":"a"}}', post_quantum)
    # What was learned of a removed device holds, but nothing seals to its key any more.
    refused("unsupported-suite", decide, held.removed(), {"public_key": key})
    refused("suite-downgrade", decide, held.removed(), {"public_key": str(FIRST), "generation": 2})
