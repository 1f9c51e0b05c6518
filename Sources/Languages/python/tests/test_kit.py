"""The test kit of the format: each test has the outcome that it claims."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import vectors
from pushcrypt import (
    Certificate, CertificateRequest, Credential, DevicePublicKey, DeviceRecord, Placeholder, ProviderKey, ProviderPublicKey,
    PushcryptError, Reference, Sealer, SigningKey, StoredDevice, accept, seal_full_body,
)
from pushcrypt._certificates import certify
from pushcrypt._envelope import moment
from pushcrypt.testing import DeviceKey, open_push
from vectors import DEVICE_PUBLIC, DEVICE_SECRET, PROVIDER_PUBLIC, PROVIDER_SECRET, Test, parameters

KINDS: dict[str, Any] = {
    "device-public": DevicePublicKey, "provider-public": ProviderPublicKey, "device-secret": DeviceKey, "provider-secret": ProviderKey,
    "signing-secret": SigningKey,
}


def test_every_group_is_known() -> None:
    if not vectors.FOLDER.is_dir():
        pytest.skip(vectors.MISSING)
    assert {path.stem for path in (vectors.FOLDER / "kit").glob("*.json")} == set(vectors.GROUPS) | vectors.NOT_ASKED


@pytest.mark.parametrize(
    "group, members",
    [
        ("references", {"expect": "malformed-reference", "url": "https://a"}),
        ("certificates", {"expect": ["weak-key", "weak-key"], "learned-after": "pcs1"}),
        ("keys", {"expect": "weak-key", "key-id": "00"}),
        ("records", {"expect": "malformed-record", "generation": "1"}),
        ("contexts", {"expect": "accepted", "tmie": "1"}),
        ("contexts", {"expect": ["accepted", "accepted"]}),
        ("contexts", {}),
    ],
)
def test_the_reader_refuses_what_it_does_not_know(group: str, members: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Test(group, {"name": "a", "body": ""} | members)


def run(test: Test, call: Callable[[], Any]) -> Any:
    """What the call returns, if the test has a good outcome; otherwise its code is the outcome."""
    try:
        result = call()
    except PushcryptError as error:
        assert str(error.code) == test.outcome
        return None
    assert test.outcome in vectors.GOOD
    return result


@pytest.mark.parametrize("test", parameters("certificates"))
def test_certificates(test: Test) -> None:
    """One at a time, under the first pin that verifies it."""
    lines = test.body.decode().split("\n")
    assert len(lines) == len(test.expected)
    for line, expected in zip(lines, test.expected):
        codes = []
        for pin in test.all("pin"):
            try:
                Certificate(vectors.base64url(line)).check(ProviderPublicKey.parse(pin), test.one("context"))
                codes.append("accepted")
            except PushcryptError as error:
                codes.append(str(error.code))
        assert "accepted" in codes if expected in vectors.GOOD else codes[-1:] == [expected] and "accepted" not in codes


@pytest.mark.skipif(not vectors.FOLDER.is_dir(), reason=vectors.MISSING)
def test_a_certificate_of_another_key_opens_nothing(set_clock: Callable[[int], None]) -> None:
    """In messages that are signed well, and whose certificates the provider did not make."""
    set_clock(0)
    kit = vectors.read("kit/envelopes.json")
    provider, device = ProviderPublicKey.parse(kit["shared"]["pin"][0]), DeviceKey.parse(DEVICE_SECRET)

    def opened(text: str) -> Any:
        return open_push(json.dumps({"ENCRYPTED_DATA": text}), topic="com.example.app", device=device, provider=provider)

    texts = {test["name"]: test.get("body") for test in kit["tests"]}
    assert opened(texts["a-message-with-the-first-certificate"])
    wrong = [text for name, text in texts.items() if name.startswith("a-message-whose-certificate-")]
    assert len(wrong) > 15
    for text in wrong:
        with pytest.raises(PushcryptError):
            opened(text)


@pytest.mark.parametrize("test", parameters("plans"))
def test_plans(test: Test) -> None:
    def certificate(text: str | None) -> Certificate | None:
        return None if text in (None, "-") else Certificate.parse(text)

    lifetime = test.maybe("lifetime")
    past = [line.split(" ") for line in test.all("past")]
    request = CertificateRequest(
        topic="a", provider=ProviderPublicKey.parse(PROVIDER_PUBLIC), signing_key=SigningKey(bytes([9]) * 32).public_bytes(),
        current=certificate(test.maybe("certificate")), past=[(certificate(text), moment(int(at))) for text, at in past],
        proven=certificate(test.maybe("proven")), stolen=test.one("kind") == "stolen", lifetime=None if lifetime is None else timedelta(seconds=int(lifetime)),
    )
    assert CertificateRequest.from_json(request.to_json()) == request
    plan = run(test, lambda: request.plan(int(test.one("time"))))
    if plan is not None:
        assert list(map(str, plan)) == [test.one(name) for name in ("epoch", "floor", "grace-until", "expires-at")]


@pytest.mark.parametrize("test", parameters("contexts"))
def test_contexts(test: Test) -> None:
    try:
        Sealer(ProviderKey(bytes(32)), topic=test.body.decode())
        outcome = "accepted"
    except PushcryptError:
        # The code for a topic is not part of the format.
        outcome = "refused"
    assert outcome == test.outcome


def check_key(test: Test) -> None:
    kind = KINDS[test.one("kind")]
    text = test.body.decode("utf-8", "surrogateescape")
    key = run(test, lambda: kind.parse(text))
    is_public = test.one("kind").endswith("public")
    if key is not None:
        assert (str(key) if is_public else key.secret_text()) == text.removesuffix("\n")
        assert key._bytes.hex() == test.one("bytes")
        if is_public:
            assert key.key_id == test.one("key-id") and "public-key" not in test.members
        else:
            public = key.public_bytes() if isinstance(key, SigningKey) else bytes(key.public_key)
            assert public.hex() == test.one("public-key") and "key-id" not in test.members
    if is_public and "bytes" in test.members:
        run(test, lambda: kind(bytes.fromhex(test.one("bytes"))))


@pytest.mark.parametrize("test", parameters("keys"))
def test_keys(test: Test) -> None:
    check_key(test)


@pytest.mark.parametrize("test", parameters("suite-2-keys"))
def test_suite_2_keys(test: Test, refused: Any) -> None:
    """Public keys, which a provider may hold, are read; secret ones are refused as what they are."""
    if test.one("kind") == "device-public":
        check_key(test)
    else:
        expected = "unsupported-suite" if test.outcome in ("accepted", "weak-key") else test.outcome
        refused(expected, KINDS[test.one("kind")].parse, test.body.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("test", parameters("references"))
def test_references(test: Test) -> None:
    found = run(test, lambda: Reference.from_json(test.body))
    if found is not None:
        members = [found.url, found.key.hex(), str(found.size), found.sha256.hex(), found.type, found.name]
        assert members == [test.one(name) for name in ("url", "key", "size", "sha256", "type", "file-name")]
        assert Reference.from_json(found.to_json()) == found


@pytest.mark.parametrize("test", parameters("full-bodies"))
def test_full_bodies(test: Test) -> None:
    try:
        text = test.body.decode()
    except UnicodeDecodeError:
        assert test.outcome == "malformed-file"
        return
    expected = "body-too-long" if len(test.body) > 65_536 else test.outcome
    try:
        seal_full_body(text, url="https://a", key=ProviderKey(bytes(32)))
        assert expected == "accepted"
    except PushcryptError as error:
        assert error.code == expected


def check_members(test: Test, found: dict[str, Any]) -> None:
    """Compares everything that the test says of what was read."""
    texts = {name: value if isinstance(value, list) else [value] for name, value in found.items() if value is not None and value != []}
    # A nonce is checked, and not kept.
    expected = {name: test.all(name) for name in vectors.GROUPS[test.group][1] if name in test.members and name != "nonce"}
    assert {name: list(map(str, values)) for name, values in texts.items()} == expected


def members_of(record: DeviceRecord) -> dict[str, Any]:
    names = (
        "device", "topic", "generation", "created", "provider", "certificate", "app-version", "token", "environment", "grant", "sequence")
    members = {name: getattr(record, name.replace("-", "_")) for name in names}
    members["update-key"] = None if record.update_key is None else record.update_key.hex()
    return members | {"key": record.public_key, "suites": " ".join(map(str, record.suites))}


@pytest.mark.parametrize("test", parameters("records"))
def test_records(test: Test) -> None:
    if test.one("kind") == "provider":
        pytest.skip("phones read it")
    if test.maybe("seals") == "1 2" and test.outcome == "accepted":
        pytest.skip("this package does not seal to suite 2")
    if "checked" not in test.members and test.outcome == "accepted":
        record = DeviceRecord.from_json(test.body)
        assert DeviceRecord.from_json(record.to_json()) == record
        check_members(test, members_of(record))
        return
    # The outcome of reading comes first; then a provider decides.
    decided = run(test, lambda: decide(test, DeviceRecord.from_json(test.body)))
    if decided is not None:
        check_members(test, decided)


def decide(test: Test, record: DeviceRecord) -> dict[str, Any]:
    id, store, held_user = record.device or "phone1", vectors.Store(), test.maybe("held-user")
    topic = record.topic or test.maybe("held-topic") or "com.example.app"
    if "held-key" in test.members:
        held = vectors.stored(
            DevicePublicKey.parse(test.one("held-key")), test.maybe("held-topic") or topic, generation=int(test.one("held-generation")),
            user=held_user, device=id)
        held = held.ended(None) if test.maybe("removed") == "yes" else held
        assert StoredDevice.from_json(held.to_json()) == held
        store.rows[id] = held
    if "elsewhere" in test.members:
        other = test.one("elsewhere")
        store.rows["elsewhere"] = vectors.stored(record.public_key, topic, device="elsewhere", user=None if other == "-" else other)
    own = [ProviderPublicKey.parse(text) for text in test.all("provider-has")]
    provider = own[0] if own else record.provider or ProviderPublicKey.parse(PROVIDER_PUBLIC)
    user = test.maybe("user")
    issued = [Certificate.parse(text) for text in test.all("issued")]
    accepted = accept(
        record, store, user, topic=topic, provider=provider, device=id, own_keys=own, issued=issued,
        certificate=max(issued, key=lambda one: one.epoch, default=None), replace=test.maybe("replace") == "yes",
    )
    device, replied = accepted.device, json.loads(accepted.reply.to_json())
    assert (replied["acknowledged"], replied["provider"], replied.get("foreign", [])) == (str(record.public_key), str(provider), [*accepted.foreign])
    assert StoredDevice.from_json(device.to_json()) == device
    assert (device.user, device.public_key, device.generation) == (user or held_user, record.public_key, record.generation)
    assert [one.device for one in accepted.changes] == [id, *(["elsewhere"] if "elsewhere" in test.members else [])]
    is_own = bool(own) and accepted.stale_store is not None
    return members_of(record) | {"topic": device.topic, "foreign": list(accepted.foreign), "stale": "yes" if is_own else None}


def credential(expires_at: int) -> Credential:
    """A signing key that the worked example's provider certified."""
    provider, key = ProviderKey.parse(PROVIDER_SECRET), SigningKey(bytes([7]) * 32)
    made = certify(provider, "com.example.app", 1, 0, 1, expires_at, key.public_bytes())
    return Credential(key, made, provider.public_key)


@pytest.mark.parametrize("test", parameters("payloads"))
def test_payloads(test: Test, set_clock: Callable[[int], None]) -> None:
    set_clock(int(test.one("time")))
    expires_at = int(test.one("certificate-expires-at", f"{2**64 - 1}"))
    key = credential(expires_at) if test.maybe("certificate") == "yes" else ProviderKey.parse(PROVIDER_SECRET)
    push_type: Any = test.one("push-type", "alert")

    def seal() -> Any:
        sound = {"none": None, None: "matching"}.get(test.maybe("clear-sound"), test.maybe("clear-sound"))
        placeholder = Placeholder(title=test.one("title", "New message"), sound=sound, clear=test.all("kept"))  # type: ignore[arg-type]
        sealer = Sealer(key, topic="com.example.app", placeholder=placeholder)
        return sealer.seal(
            test.body, vectors.stored(DevicePublicKey.parse(DEVICE_PUBLIC), "com.example.app"), push_type=push_type,
            time_to_live=timedelta(seconds=int(test.one("time-to-live", "2592000"))), exact=test.maybe("sent-exactly") == "yes",
            attachments=[Reference.from_json(text) for text in test.all("attachment")],
        )

    if test.outcome == "refused":
        with pytest.raises(PushcryptError):
            seal()
        return
    push = run(test, seal)
    members = json.loads(push.payload)
    assert members.pop("ENCRYPTED_DATA") == push.envelope
    assert members == json.loads(test.one("clear"))
    found = [len(push.payload), push.widest, len(vectors.base64url(push.envelope)) - 53]
    assert list(map(str, found)) == [test.one(name) for name in ("length", "widest-length", "bucket")]
    opened = open_push(
        push.payload, topic="com.example.app", device=DeviceKey.parse(DEVICE_SECRET), provider=ProviderPublicKey.parse(PROVIDER_PUBLIC),
        push_type=push_type,
    )
    assert hashlib.sha256(opened.payload).hexdigest() == test.one("payload-sha256")
