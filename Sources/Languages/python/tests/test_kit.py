"""The test kit of the format: each test has the outcome that it claims."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import vectors
from pushcrypt import (
    Certificate, CertificateRequest, Credential, DevicePublicKey, DeviceRecord, Placeholder, ProviderKey, ProviderPublicKey,
    ProviderRecord, PushcryptError, Reference, Reply, SealedFile, Sealer, SigningKey, StoredDevice, accept, fingerprint,
)
from pushcrypt._certificates import certify
from pushcrypt.testing import (
    Change, DeviceKey, FileOpener, HeldKey, Learned, Opened, Trust, apply_reply, check_full_body, open_envelope, open_push,
)
from pushcrypt.testing._opening import decoded, person_in
from vectors import DEVICE_PUBLIC, DEVICE_SECRET, PROVIDER_PUBLIC, PROVIDER_SECRET, Test, parameters

KINDS: dict[str, Any] = {
    "device-public": DevicePublicKey, "provider-public": ProviderPublicKey, "device-secret": DeviceKey, "provider-secret": ProviderKey,
    "signing-secret": SigningKey,
}
CHANGES = {Change.RAISED: "accepted", Change.UNCHANGED: "unchanged", Change.CONFLICT: "certificate-conflict"}


def test_every_group_is_known() -> None:
    if not vectors.FOLDER.is_dir():
        pytest.skip(vectors.MISSING)
    assert {path.stem for path in (vectors.FOLDER / "kit").glob("*.json")} == set(vectors.GROUPS) | vectors.NOT_ASKED


@pytest.mark.parametrize(
    "group, members",
    [
        ("envelopes", {"expect": "expired", "payload-sha256": "00"}),
        ("pushes", {"expect": "not-encrypted", "told": "certificate-conflict"}),
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


def trust_of(test: Test) -> Trust:
    lines = [line.split(" ") for line in test.all("learned")]
    learned = {ProviderPublicKey.parse(key): Learned(Certificate.parse(text), int(floor)) for key, text, floor in lines}
    trust = Trust([ProviderPublicKey.parse(pin) for pin in test.all("pin")], learned)
    assert Trust.from_json(trust.to_json()) == trust
    return trust


def check_learned(test: Test, trust: Trust) -> None:
    """What is known afterwards of pins, and of other keys as before."""
    keys = {ProviderPublicKey.parse(line.split(" ")[0]) for line in test.all("learned")} | set(trust.pins)
    known = [(key, trust.learned(key)) for key in keys]
    lines = sorted(f"{key} {one.certificate} {one.floor}" for key, one in known if one.certificate)
    assert lines == sorted(test.all("learned-after") or test.all("learned"))


def check_opening(test: Test, open_it: Callable[..., Opened], what: Any) -> None:
    pairs = [line.partition(" ") for line in test.all("device")]
    devices = [HeldKey(DeviceKey.parse(key), int(end)) if end else DeviceKey.parse(key) for key, _, end in pairs]
    trust = trust_of(test)
    opened = run(test, lambda: open_it(
        what, topic=test.one("context"), devices=devices, trust=trust, push_type=test.one("push-type", "alert"), at=int(test.one("time"))
    ))
    if opened is not None:
        assert hashlib.sha256(opened.payload).hexdigest() == test.one("payload-sha256")
        found = [opened.message_id.hex(), opened.sent_at, opened.time_to_live, opened.provider, opened.epoch]
        assert list(map(str, found)) == [test.one(name) for name in ("message-id", "sent-at", "time-to-live", "provider", "epoch")]
        assert ["certificate-conflict"] * opened.has_certificate_conflict == test.all("told")
        trust.learn(opened.provider, opened.learned)
    check_learned(test, trust)


@pytest.mark.parametrize("test", parameters("envelopes"))
def test_envelopes(test: Test) -> None:
    text = test.body.decode()
    assert fingerprint(text) == test.one("fingerprint")
    if "bucket" in test.members:
        assert [decoded(text)[1:5].hex(), str(len(decoded(text)) - 53)] == [test.one("recipient-key-id"), test.one("bucket")]
    else:
        with pytest.raises(PushcryptError) as refusal:
            decoded(text)
        assert refusal.value.code == test.outcome
    check_opening(test, open_envelope, text)


@pytest.mark.parametrize("test", parameters("pushes"))
def test_pushes(test: Test) -> None:
    check_opening(test, open_push, test.body)


@pytest.mark.parametrize("test", parameters("certificates"))
def test_certificates(test: Test) -> None:
    trust, lines = trust_of(test), test.body.decode().split("\n")
    assert len(lines) == len(test.expected)
    for line, expected in zip(lines, test.expected):
        try:
            outcome = CHANGES[trust.accept(Certificate(vectors.base64url(line)), topic=test.one("context"))]
        except PushcryptError as error:
            outcome = str(error.code)
        assert outcome == expected
    check_learned(test, trust)


@pytest.mark.parametrize("test", parameters("plans"))
def test_plans(test: Test) -> None:
    def certificate(text: str | None) -> Certificate | None:
        return None if text in (None, "-") else Certificate.parse(text)

    lifetime = test.maybe("lifetime")
    past = [line.split(" ") for line in test.all("past")]
    request = CertificateRequest(
        topic="a", provider=ProviderPublicKey.parse(PROVIDER_PUBLIC), signing_key=SigningKey(bytes([9]) * 32).public_bytes(),
        current=certificate(test.maybe("certificate")), past=[(certificate(text), int(at)) for text, at in past],
        proven=certificate(test.maybe("proven")), stolen=test.one("kind") == "stolen", lifetime=None if lifetime is None else int(lifetime),
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


@pytest.mark.parametrize("test", parameters("attachments"))
def test_attachments(test: Test) -> None:
    """In several pieces each, because the outcome must not depend on them."""
    body, some = test.body, random.Random(test.name)
    for size in {max(len(body), 1), 65552, 1 if len(body) < 3000 else 4099, some.randrange(1, len(body) + 2)}:
        pieces = [body[start : start + size] for start in range(0, len(body), size)]

        def opened() -> bytes:
            file = SealedFile(bytes.fromhex(test.one("key")), int(test.one("size")), bytes.fromhex(test.one("sha256")))
            return FileOpener(file).open(pieces)

        plain = run(test, opened)
        if plain is not None:
            assert [str(len(plain)), hashlib.sha256(plain).hexdigest()] == [test.one("plain-size"), test.one("plain-sha256")]


@pytest.mark.parametrize("test", parameters("references"))
def test_references(test: Test) -> None:
    found = run(test, lambda: Reference.from_json(test.body))
    if found is not None:
        members = [found.url, found.key.hex(), str(found.size), found.sha256.hex(), found.type, found.name]
        assert members == [test.one(name) for name in ("url", "key", "size", "sha256", "type", "file-name")]
        assert Reference.from_json(found.to_json()) == found


def opened_payload(body: bytes) -> Opened:
    provider = ProviderPublicKey.parse(PROVIDER_PUBLIC)
    return Opened(body, bytes(16), 0, 1, provider, 0, Learned(), False, DeviceKey.parse(DEVICE_SECRET))


@pytest.mark.parametrize("test", parameters("attachment-lists"))
def test_attachment_lists(test: Test) -> None:
    opened = opened_payload(test.body)
    references, codes = opened.attachments
    dropped, body = [str(code) for code in codes], None
    try:
        body = opened.full_body()
    except PushcryptError as error:
        dropped.append(str(error.code))
    assert test.outcome == "opened"
    assert ([one.name for one in references], dropped) == (test.all("attachment"), test.all("dropped"))
    assert (body and body.url) == test.maybe("full-body")


@pytest.mark.parametrize("test", parameters("full-bodies"))
def test_full_bodies(test: Test) -> None:
    run(test, lambda: check_full_body(test.body))


def check_members(test: Test, found: dict[str, Any]) -> None:
    """Compares everything that the test says of what was read."""
    texts = {name: value if isinstance(value, list) else [value] for name, value in found.items() if value is not None and value != []}
    expected = {name: test.all(name) for name in vectors.GROUPS[test.group][1] if name in test.members}
    assert {name: list(map(str, values)) for name, values in texts.items()} == expected


def members_of(record: DeviceRecord | ProviderRecord) -> dict[str, Any]:
    members = {
        "key": record.public_key, "topic": record.topic, "generation": record.generation, "created": record.created,
        "certificate": record.certificate,
    }
    if isinstance(record, DeviceRecord):
        names = ("device", "provider", "app-version", "token", "environment", "withdrawal", "grant")
        members |= {name: getattr(record, name.replace("-", "_")) for name in names}
        members["suites"] = " ".join(map(str, record.suites))
    return members


@pytest.mark.parametrize("test", parameters("records"))
def test_records(test: Test) -> None:
    if test.one("kind") == "provider":
        announced = run(test, lambda: ProviderRecord.from_json(test.body))
        if announced is not None:
            assert ProviderRecord.from_json(announced.to_json()) == announced
            check_members(test, members_of(announced))
        return
    if test.maybe("seals") == "1 2" and test.outcome == "accepted":
        pytest.skip("this package does not seal to suite 2")
    provider_side = {"held-key", "user", "elsewhere", "replace", "removed", "provider-has", "issued", "seals"} & test.members.keys()
    if not provider_side and test.outcome == "accepted":
        record = DeviceRecord.from_json(test.body)
        assert DeviceRecord.from_json(record.to_json()) == record
        check_members(test, members_of(record))
        return
    # The outcome of reading comes first; then a provider decides.
    decided = run(test, lambda: decide(test, DeviceRecord.from_json(test.body)))
    if decided is not None:
        check_members(test, decided)


def decide(test: Test, record: DeviceRecord) -> dict[str, Any]:
    held, elsewhere, held_user = None, None, test.maybe("held-user")
    topic = record.topic or test.maybe("held-topic") or "com.example.app"
    if "held-key" in test.members:
        held = StoredDevice(
            public_key=DevicePublicKey.parse(test.one("held-key")), generation=int(test.one("held-generation")),
            topic=test.maybe("held-topic") or topic, user=held_user, device=record.device,
        )
        held = held.removed() if test.maybe("removed") == "yes" else held
        assert StoredDevice.from_json(held.to_json()) == held
    if "elsewhere" in test.members:
        other = test.one("elsewhere")
        elsewhere = StoredDevice(public_key=record.public_key, topic=topic, user=None if other == "-" else other)
    own = [ProviderPublicKey.parse(text) for text in test.all("provider-has")]
    provider = own[0] if own else record.provider or ProviderPublicKey.parse(PROVIDER_PUBLIC)
    # A test of a device that is held leaves out a user who is not known, and then means the one who has the device.
    user = test.maybe("user") or (held_user if "removed" not in test.members else None)
    accepted = accept(
        record, held, user, topic=topic, provider=provider, own_keys=own, issued=[Certificate.parse(text) for text in test.all("issued")],
        elsewhere=elsewhere, replace=test.maybe("replace") == "yes",
    )
    device, replied = accepted.device, Reply.from_json(accepted.reply.to_json())
    assert (replied.acknowledged, replied.provider, replied.foreign) == (record.public_key, provider, accepted.foreign)
    assert StoredDevice.from_json(device.to_json()) == device
    assert (device.user, device.public_key, device.generation) == (user or held_user, record.public_key, record.generation)
    assert accepted.removes_elsewhere == (elsewhere is not None)
    is_own = bool(own) and accepted.stale_store is not None
    return members_of(record) | {"topic": device.topic, "foreign": list(accepted.foreign), "stale": "yes" if is_own else None}


@pytest.mark.parametrize("test", parameters("replies"))
def test_replies(test: Test) -> None:
    trust, key = trust_of(test), DeviceKey.parse(test.one("device")).public_key
    pins = trust.pins
    reply = run(test, lambda: Reply.from_json(test.body))
    if reply is None:
        return
    assert Reply.from_json(reply.to_json()) == reply
    confirms, told = apply_reply(reply, key, trust, topic=test.one("context", "a"), is_built_in=test.maybe("built-in") == "yes")
    assert list(map(str, trust.pins)) == (test.all("pin-after") or list(map(str, pins)))
    check_learned(test, trust)
    test.members.setdefault("suites", "1")
    after = {name: test.all(name) for name in ("pin-after", "learned-after") if name in test.members}
    check_members(test, after | {
        "acknowledged": reply.acknowledged, "refused": reply.refused, "provider": reply.provider, "certificate": reply.certificate,
        "push-key": reply.push_key and reply.push_key.hex(), "suites": " ".join(map(str, reply.suites)), "foreign": list(reply.foreign),
        "confirms": "yes" if confirms else "no", "told": told,
    })


@pytest.mark.parametrize("test", parameters("reserved"))
def test_reserved(test: Test) -> None:
    opened = run(test, lambda: opened_payload(test.body))
    person, codes = person_in(opened._members)
    assert person == opened.person
    check_members(test, {
        "withdraws": [id.hex() for id in opened.withdraws], "drop": "yes" if opened.is_dropped else None,
        "sender-name": person and person.name, "handle": person and person.handle, "conversation": person and person.conversation,
        "recipient": list(person.recipients) if person else [], "avatar": person and person.avatar and person.avatar.url,
        "dropped": [str(code) for code in codes],
    })


def credential() -> Credential:
    """A signing key that the worked example's provider certified."""
    provider, key = ProviderKey.parse(PROVIDER_SECRET), SigningKey(bytes([7]) * 32)
    made = certify(provider, provider.public_key, "com.example.app", 1, 0, 1, 2**64 - 1, key.public_bytes())
    return Credential(key, made, provider.public_key)


@pytest.mark.parametrize("test", parameters("payloads"))
def test_payloads(test: Test) -> None:
    key = credential() if test.maybe("certificate") == "yes" else ProviderKey.parse(PROVIDER_SECRET)
    push_type: Any = test.one("push-type", "alert")

    def seal() -> Any:
        sound = {"none": None, None: "matching"}.get(test.maybe("clear-sound"), test.maybe("clear-sound"))
        placeholder = Placeholder(title=test.one("title", "New message"), sound=sound, clear=test.all("kept"))  # type: ignore[arg-type]
        sealer = Sealer(key, topic="com.example.app", placeholder=placeholder)
        return sealer.seal(
            test.body, DevicePublicKey.parse(DEVICE_PUBLIC), push_type=push_type, at=int(test.one("time")),
            time_to_live=int(test.one("time-to-live", "2592000")), exact=test.maybe("sent-exactly") == "yes",
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
    found = [len(push.payload), push.widest, len(decoded(push.envelope)) - 53]
    assert list(map(str, found)) == [test.one(name) for name in ("length", "widest-length", "bucket")]
    opened = open_push(
        push.payload, topic="com.example.app", devices=[DeviceKey.parse(DEVICE_SECRET)],
        trust=Trust([ProviderPublicKey.parse(PROVIDER_PUBLIC)]), push_type=push_type, at=int(test.one("time")),
    )
    assert hashlib.sha256(opened.payload).hexdigest() == test.one("payload-sha256")
