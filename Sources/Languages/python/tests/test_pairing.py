"""Pairing: the vectors of pairing.json, and phones that pair with a server."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import re
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import vectors
from conftest import clock_at
from pushcrypt import (
    Certificate, Credential, DevicePublicKey, DeviceRecord, ProviderKey, ProviderPublicKey, PushcryptError, Reply, Sealer, SigningKey, _envelope,
    accept, issue_certificate,
)
from pushcrypt._envelope import encode, lp16
from pushcrypt._identity import Identity
from pushcrypt.home import Posted, answer_post
from pushcrypt.pairing import Pairing, PairingRequest, decoded, is_url, seal_reply, _signed_reply
from pushcrypt.testing import DeviceKey
from vectors import Store, base64url, cases, label, stored as stored_device

TOPIC, TIME, URL, MINUTES = "com.example.app", 1_767_225_600_000, "https://home.example.net/pair", 60_000
KEY = ProviderKey(b"\3" * 32)
PROVIDER = KEY.public_key
PAIRING = Pairing.new(PROVIDER, url=URL, topic=TOPIC)


class Phone:
    """A phone that reads a code."""

    def __init__(self, code: str, topic: str = TOPIC) -> None:
        data, url = code.removeprefix("pushcrypt:1?").split("&", 1)
        self.topic = topic
        self.secret, fingerprint = base64url(data)[1:17], base64url(data)[17:]
        self.scene = lp16(url.encode()) + lp16(topic.encode()) + fingerprint

    def cipher(self, what: bytes, salt: bytes, more: bytes = b"") -> ChaCha20Poly1305:
        return ChaCha20Poly1305(HKDF(hashes.SHA256(), 32, salt, b"pushcrypt/1 pairing " + what + b"\0" + self.scene + more).derive(self.secret))

    def request(self, record: DeviceRecord | str, salt: bytes = bytes(16)) -> str:
        """A post."""
        text = record if isinstance(record, str) else posted(record)
        header = HKDF(hashes.SHA256(), 8, None, b"pushcrypt/1 pairing id\0").derive(self.secret) + salt
        return post(header + self.cipher(b"request", salt).encrypt(bytes(12), text.encode(), header))

    def open(self, request: str, answer: str | None, record: DeviceRecord | str | None = None, key: Any = KEY) -> Any:
        """The reply record, whose signature is right."""
        data, sent = base64url(answer or ""), bytes_of(request)
        cipher = self.cipher(b"reply", data[:16], hashlib.sha256(sent).digest())
        body = json.loads(cipher.decrypt(bytes(12), data[16:], data[:16]))
        assert list(body) == ["reply", "signature"]
        reply, members = base64url(body["reply"]), json.loads(base64url(body["reply"]))
        provider = key.public_key if isinstance(key, ProviderKey) else key.provider
        assert members["provider"] == str(provider)
        plain = self.cipher(b"request", sent[8:24]).decrypt(bytes(12), sent[24:], sent[:24])
        assert record is None or plain.decode() == (record if isinstance(record, str) else posted(record))
        signing, epoch = (key.public_key, 0) if isinstance(key, ProviderKey) else (ProviderPublicKey(key.key.public_bytes()), key.certificate.epoch)
        assert members.get("certificate") == (str(key.certificate) if epoch else None)
        whose = lp16(self.topic.encode()) + bytes(provider) + bytes(signing) + epoch.to_bytes(4, "big")
        signed = b"pushcrypt/1 reply\0" + whose + hashlib.sha256(plain).digest() + reply
        assert signing.verifies(base64url(body["signature"]), signed)
        return members


def posted(record: DeviceRecord) -> str:
    return json.dumps(json.loads(record.to_json()) | {"nonce": "A" * 22})


def post(request: bytes) -> str:
    return json.dumps({"pairing": encode(request)}, separators=(",", ":"))


def bytes_of(post: str) -> bytes:
    return base64url(json.loads(post)["pairing"])


def opened(body: str, at: int = TIME, pairing: Pairing = PAIRING, key: Any = KEY) -> PairingRequest:
    """What a pairing makes of a post at a time."""
    before, _envelope.time = _envelope.time, clock_at(at)  # type: ignore[attr-defined, assignment]
    try:
        return pairing._open(decoded(json.loads(body)["pairing"]), Identity(key, pairing.topic))
    finally:
        _envelope.time = before  # type: ignore[attr-defined]


CODE = Phone(PAIRING.code)
RECORD = DeviceRecord(
    public_key=DeviceKey(b"\5" * 32).public_key, device="phone", topic=TOPIC, update_key=bytes(ProviderKey(b"\x08" * 32).public_key), sequence=TIME)
REQUEST = CODE.request(RECORD)
REPLY = Reply(acknowledged=RECORD.public_key, provider=PROVIDER, push_key=bytes(ProviderKey(b"\4" * 32).public_key))


def stored(case: dict[str, Any]) -> str:
    """What each of the packages stores."""
    members = {"secret": encode(bytes.fromhex(case["secret"]))} | {name: case[name] for name in ("url", "topic", "provider")} | {"created": TIME}
    return json.dumps(members, separators=(",", ":"))


def paired(record: DeviceRecord = RECORD, at: int = TIME) -> Pairing:
    return opened(CODE.request(record), at).seal(dataclasses.replace(REPLY, acknowledged=record.public_key))[0]


def key_of(case: dict[str, Any]) -> ProviderKey | Credential:
    provider, certificate = ProviderKey(bytes.fromhex(case["providerSeed"])), json.loads(case["replyRecord"]).get("certificate")
    if certificate is None:
        return provider
    return Credential(SigningKey(bytes.fromhex(case["signingSeed"])), Certificate.parse(certificate), provider.public_key)


@pytest.mark.parametrize("case", cases("pairing.json", "pairings"))
def test_pairings(case: dict[str, Any]) -> None:
    pairing, code, key = Pairing.from_json(stored(case)), Phone(case["code"], case["topic"]), key_of(case)
    assert (pairing.code, pairing.id, pairing.to_json()) == (case["code"], case["id"], stored(case))
    assert code.request(case["record"], bytes.fromhex(case["salt"])) == case["post"] == post(base64url(case["request"]))
    assert decoded(json.loads(case["post"])["pairing"])[:8].hex() == pairing.id
    signed = _signed_reply(Identity(key, case["topic"]), case["topic"], case["record"].encode(), case["replyRecord"].encode())
    assert signed == case["signedReply"]
    assert seal_reply(bytes.fromhex(case["secret"]), pairing._scene, base64url(case["request"]), signed.encode()) == case["reply"]
    given, request = json.loads(case["replyRecord"]), opened(case["post"], pairing=pairing, key=key)
    if given.get("refused") == "malformed-record":
        assert request.record is None and code.open(case["post"], request.answer, case["record"], key) == given
        return
    assert request.record == DeviceRecord.from_json(case["record"]) and request.answer is None
    acknowledged, push_key = given.get("acknowledged"), given.get("push_key")
    reply = Reply(
        refused=given.get("refused"), acknowledged=acknowledged and DevicePublicKey.parse(acknowledged), push_key=push_key and base64url(push_key))
    after, answer = request.seal(reply)
    assert code.open(case["post"], answer, case["record"], key) == given
    claim = {"claimed": TIME, "device": "5d0f" * 8, "update_key": encode(request.record.update_key or b""), "reply": reply.to_json()}
    assert json.loads(after.to_json()) == json.loads(stored(case)) | ({} if reply.refused else claim)
    assert Pairing.from_json(after.to_json()) == after


@pytest.mark.parametrize("case", cases("pairing.json", "refused"))
def test_what_does_not_open(case: dict[str, Any], refused: Any) -> None:
    pairing, sent = Pairing.from_json(stored(case)), post(base64url(case["request"]))
    seed = next(one.values[0]["providerSeed"] for one in cases("pairing.json", "pairings") if one.values[0]["provider"] == case["provider"])
    key = ProviderKey(bytes.fromhex(seed))
    if case["requestOpens"]:
        assert opened(sent, pairing=pairing, key=key).record is not None
    else:
        refused("authentication-failed", opened, sent, pairing=pairing, key=key)


@pytest.mark.parametrize("case", cases("pairing.json", "urls"))
def test_urls(case: dict[str, Any], refused: Any) -> None:
    assert is_url(case["url"]) is case["accepted"]
    if case["accepted"]:
        assert Pairing.new(PROVIDER, url=case["url"], topic=TOPIC).code.endswith("&" + case["url"])
    else:
        refused("invalid-request", Pairing.new, PROVIDER, url=case["url"], topic=TOPIC)


def test_a_code_has_57_characters_and_the_address() -> None:
    assert re.fullmatch(r"pushcrypt:1\?AT?[A-Za-z0-9_-]{42,43}&" + re.escape(URL), PAIRING.code) and len(PAIRING.code) == 57 + len(URL)
    assert PAIRING.code != Pairing.new(PROVIDER, url=URL, topic=TOPIC).code


def test_a_code_ends_after_ten_minutes(refused: Any) -> None:
    for now in (TIME - 10 * MINUTES, TIME + 10 * MINUTES - 1):
        assert opened(REQUEST, now).record == RECORD
    for late in (TIME - 10 * MINUTES - 1, TIME + 10 * MINUTES, TIME + 86_400_000):
        refused("expired", opened, REQUEST, late)
    # From the claim on, which was late, the reply is there for 10 more minutes.
    claimed = paired(at=TIME + 9 * MINUTES)
    assert opened(REQUEST, TIME + 19 * MINUTES - 1, claimed).answer is not None
    refused("expired", opened, REQUEST, TIME + 19 * MINUTES, claimed)


def test_one_phone_claims_a_code() -> None:
    """[P-6]: with the same device, key and update key it gets the acknowledgement again, and nothing of its record is stored."""
    claimed, answer = opened(REQUEST).seal(REPLY)
    claimed = Pairing.from_json(claimed.to_json())
    again = opened(REQUEST, TIME + MINUTES, claimed)
    assert (again.record, again.answer) == (None, answer) and again.seal(Reply(refused="a")) == (claimed, answer)
    second = dataclasses.replace(RECORD, grant="g", sequence=TIME + 1)
    renewed = opened(CODE.request(second), TIME + MINUTES, claimed)
    assert renewed.record is None and CODE.open(CODE.request(second), renewed.answer, second) == json.loads(REPLY.to_json())
    for changes in ({"device": "other"}, {"public_key": DeviceKey(b"\6" * 32).public_key}, {"update_key": bytes(PROVIDER)}):
        used = opened(sent := CODE.request(dataclasses.replace(RECORD, **changes)), TIME + MINUTES, claimed)  # type: ignore[arg-type]
        assert used.record is None and used.seal(REPLY) == (claimed, used.answer)
        assert CODE.open(sent, used.answer)["refused"] == "pairing-used"


def test_the_key_that_signs_now_signs() -> None:
    """With its own certificate in the reply, whatever accept was given, and in a repeated one [P-7]."""
    def credential(seed: int, **named: Any) -> Credential:
        key = SigningKey(bytes([seed]) * 32)
        return Credential(key, issue_certificate(KEY, key.public_bytes(), topic=TOPIC, **named), PROVIDER)

    first = credential(6)
    second = credential(7, current=first.certificate)
    claimed, answer = opened(REQUEST, key=first).seal(dataclasses.replace(REPLY, certificate=second.certificate))
    assert CODE.open(REQUEST, answer, RECORD, first)["acknowledged"] == str(RECORD.public_key)
    again = opened(REQUEST, pairing=claimed, key=second)
    assert CODE.open(REQUEST, again.answer, RECORD, second)["push_key"] == encode(REPLY.push_key or b"")
    used = opened(other := CODE.request("{}"), pairing=claimed, key=second)
    assert CODE.open(other, used.answer, "{}", second)["refused"] == "malformed-record"


class Server(Store):
    """The server of the documentation of `pushcrypt.home`."""

    def __init__(self) -> None:
        super().__init__()
        self.pairings, self.answers = {PAIRING.id: PAIRING.to_json()}, list[str]()

    def pairing(self, id: str) -> Pairing | None:
        return Pairing.from_json(self.pairings[id]) if id in self.pairings else None

    def post(self, body: str | bytes, key: Any = KEY, **named: Any) -> Posted:
        posted = answer_post(body, self, key, topic=TOPIC, **named)
        assert len({posted, posted}) == 1
        self.rows |= {one.device: one for one in posted.changes}
        if posted.pairing:
            self.pairings[posted.pairing.id] = posted.pairing.to_json()
        self.answers += [posted.answer] if posted.answer else []
        return posted


def test_a_server_replaces_a_device_only_if_its_operator_said_so() -> None:
    server, stranger = Server(), dataclasses.replace(RECORD, public_key=DeviceKey(b"\7" * 32).public_key, suites=(), generation=2)
    server.rows["phone"] = accept(stranger, server, "alice", topic=TOPIC, provider=PROVIDER).device
    later = CODE.request(dataclasses.replace(RECORD, generation=3))
    assert CODE.open(later, server.post(later).body)["refused"] == "user-mismatch"
    assert server.rows["phone"].public_key == stranger.public_key and server.pairings[PAIRING.id] == PAIRING.to_json()
    allowing = dataclasses.replace(PAIRING, user="alice", replaces="phone")
    server.pairings[PAIRING.id] = allowing.to_json()
    assert CODE.open(REQUEST, server.post(REQUEST).body)["acknowledged"] == str(RECORD.public_key)
    with_grant, device = CODE.request(dataclasses.replace(RECORD, grant="g")), server.rows["phone"]
    assert CODE.open(with_grant, server.post(with_grant).body) == CODE.open(REQUEST, server.post(REQUEST).body)
    assert server.rows["phone"] == device and (device.user, device.generation, device.update_key) == ("alice", 1, RECORD.update_key)
    assert Pairing.from_json(server.pairings[PAIRING.id]).replaces == "phone"


@pytest.mark.parametrize("user, held, outcome", [
    ("alice", {"user": "alice", "sequence": TIME - 1}, "acknowledged"), (None, {"user": "alice", "sequence": 1}, "user-mismatch"),
    ("bob", {"user": "alice"}, "user-mismatch"), ("alice", {"user": "alice", "sequence": TIME}, "stale-record"),
], ids=label)
def test_a_removed_device_comes_back_by_a_code_of_its_user(user: str | None, held: dict[str, Any], outcome: str) -> None:
    """[P-9] [D-25]"""
    server = Server()
    server.rows["phone"] = stored_device(RECORD.public_key, TOPIC, device="phone", **held).ended(held.get("sequence"))
    server.pairings[PAIRING.id] = dataclasses.replace(PAIRING, user=user).to_json()
    reply = CODE.open(REQUEST, server.post(REQUEST).body)
    assert outcome in (reply.get("refused"), *reply) and server.rows["phone"].is_removed == (outcome != "acknowledged")


def test_a_refusal_leaves_the_code_open_and_has_a_key_of_its_own() -> None:
    request = opened(REQUEST)
    pairing, answer = request.seal(Reply(refused="user-mismatch"))
    assert pairing == PAIRING and CODE.open(REQUEST, answer, RECORD)["refused"] == "user-mismatch"
    assert base64url(request.seal(REPLY)[1])[:16] != base64url(answer)[:16]
    without = [posted(RECORD).replace(f'"{name}"', '"name"') for name in ("device", "update_key", "sequence", "nonce")]
    for text in ("{}", "[", *without, posted(RECORD).replace("AAAA", "AAA")):
        sent = CODE.request(text)
        for one in (PAIRING, paired()):
            found = opened(sent, pairing=one)
            assert found.record is None and CODE.open(sent, found.answer, text)["refused"] == "malformed-record"


def test_a_changed_request_is_not_found(refused: Any) -> None:
    data = bytes_of(REQUEST)
    for place in range(len(data)):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        refused("authentication-failed", opened, post(changed))
    for cut in range(len(data)):
        refused("malformed-envelope" if cut < 40 else "authentication-failed", opened, post(data[:cut]))
    text = encode(data)
    for wrong in ("", text + "=", " " + text, text + "\n", text + "é", encode(bytes(40))[:-1] + "B", encode(data + bytes(16_385 - len(data)))):
        refused("malformed-envelope", opened, json.dumps({"pairing": wrong}))
    for longer in (data + data, data + bytes(16_384 - len(data))):
        refused("authentication-failed", opened, post(longer))
    refused("authentication-failed", opened, REQUEST, pairing=Pairing.new(PROVIDER, url=URL, topic=TOPIC))


def test_what_is_no_post_of_a_phone() -> None:
    """[D-17]"""
    text, server = encode(bytes_of(REQUEST)), Server()
    unknown = Phone(Pairing.new(PROVIDER, url=URL, topic=TOPIC).code)
    posts = [{}, {"pairing": 7}, {"record": "e30"}, {"hello": "A" * 21}, {"pairing": text, "answer": "a"}, {"pairing": text, "record": "e30"}, {"answer": 7}]
    bodies = ["", text, "[]", REQUEST + "a" * 32_768, b"\xff", '{"pairing":"a","pairing":"a"}', unknown.request(RECORD), *map(json.dumps, posts)]
    for body in bodies:
        assert server.post(body) == Posted(status=404)
    assert server.rows == {} and server.pairings == {PAIRING.id: PAIRING.to_json()}
    assert server.post(json.dumps({"pairing": text, "record": None, "more": 1})).status == 200
    assert server.post('{"answer":"a"}') == Posted(status=200, answer="a") and server.answers == ["a"]


def test_push_keys_are_in_all_replies() -> None:
    both, server = {"push_key": REPLY.push_key, "next_push_key": bytes(PROVIDER)}, Server()
    hello = json.loads(base64url(json.loads(server.post(json.dumps({"hello": "A" * 22}), **both).body)["reply"]))
    for reply in (hello, CODE.open(REQUEST, server.post(REQUEST, **both).body)):
        assert {name: reply.get(name) for name in both} == {name: encode(key or b"") for name, key in both.items()}


def test_a_log_out_through_the_readme() -> None:
    """The phone signs an end, and needs no session for it [D-26]."""
    readme = pathlib.Path(__file__).resolve().parents[1] / "README.md"
    names: dict[str, Any] = {}
    exec(re.findall(r"<!-- example: register.py -->\n```python\n(.*?)```", readme.read_text(), re.DOTALL)[0], names)
    database = sqlite3.connect(":memory:")
    database.execute(names["SCHEMA"])
    reply = json.loads(names["register"](database, posted(RECORD), "alice", Sealer(KEY, topic=TOPIC)))
    assert reply["acknowledged"] == str(RECORD.public_key)
    record = json.dumps({"device": "phone", "provider": str(PROVIDER), "nonce": "A" * 22, "sequence": 2**53 - 1, "ended": True}).encode()
    signature = ProviderKey(b"\x08" * 32).sign(b"pushcrypt/1 record\0\x02" + lp16(TOPIC.encode()) + bytes(PROVIDER) + record)
    status, body = names["answer_signed"](database, json.dumps({"record": encode(record), "signature": encode(signature)}), KEY, TOPIC)
    assert (status, json.loads(base64url(json.loads(body)["reply"]))["ended"]) == (200, "phone")
    assert names["Table"](database).find("phone").is_removed
    database.close()


# The kit's group posts, but for what these packages leave to the command: signatures in a session, and removals because of APNs' answer.

#: How posts end that get no reply.
BROKEN = ("malformed-record", "malformed-key", "weak-key", "wrong-checksum", "wrong-kind-of-key")
NOT_OF_PACKAGES = "bad-record-signature"
#: A record with a sequence is no bare one to `accept`.
WITH_SEQUENCE = "a-bare-record-with-another-update-key"


def is_end(post: str) -> bool:
    """Whether it is an end, which counts as sent without a session, whoever brings it."""
    record = json.loads(post).get("record") if post.startswith("{") else None
    return isinstance(record, str) and b'"ended":true' in base64url(record)


def posts() -> list[Any]:
    found = []
    for one in vectors.tests_of("posts") if vectors.FOLDER.is_dir() else ():
        lines = one.body.decode().split("\n")
        is_session = any(line.split(" ")[1] == "session" and line.split(" ")[3] == NOT_OF_PACKAGES for line in lines)
        is_session = is_session or lines[-1].split(" ")[1] == "session" and not is_end(lines[-1].split(" ", 4)[-1])
        if not is_session and " removed-by-apns " not in one.body.decode() and one.maybe("seals") != "1 2" and one.name != WITH_SEQUENCE:
            found.append(pytest.param(one, id=one.name))
    return found


@pytest.mark.parametrize("test", posts())
def test_posts(test: vectors.Test, set_clock: Callable[[int], None]) -> None:
    server, key, reply = Server(), ProviderKey(bytes.fromhex(test.one("provider-seed"))), dict[str, Any]()
    topic = test.one("context")
    for line in test.body.decode().split("\n"):
        time, channel, *rest = line.split(" ", 2)
        set_clock(int(time))
        if channel == "removed-by-operator":
            server.rows[rest[0]] = server.rows[rest[0]].removed()
            continue
        user, outcome, post = rest[0].split(" ", 2)
        if channel == "open" or is_end(post):
            posted = answer_post(post, server, key, topic=topic)
            body = json.loads(posted.body) if posted.body else {}
            reply = json.loads(base64url(body["reply"])) if body else {}
            server.rows |= {one.device: one for one in posted.changes}
            assert (posted.status, reply.get("refused", outcome)) == (404 if outcome in BROKEN else 200, outcome)
        else:
            try:
                text = post if channel == "bare" else base64url(json.loads(post)["record"]).decode()
                accepted = accept(DeviceRecord.from_json(text), server, None if user == "-" else user, topic=topic, provider=key.public_key)
                server.rows |= {one.device: one for one in accepted.changes}
                reply = json.loads(accepted.reply.to_json())
            except PushcryptError as refused:
                assert channel != "session" or str(refused.code) == outcome
    held = server.rows.get(test.one("id"))
    removed, sequence = test.maybe("removed-after"), test.maybe("sequence-after")
    assert (held is not None and held.is_removed) == (removed is not None)
    if held is not None:
        assert (None if held.is_removed else str(held.public_key)) == test.maybe("key-after")
        assert (held.user, held.grant, str(held.sequence or 0)) == (test.maybe("user-after"), test.maybe("grant-after"), sequence or "0")
        assert (held.update_key and held.update_key.hex()) == test.maybe("update-key-after")
    assert reply.get("foreign", []) == test.all("foreign")


def test_posts_are_asked() -> None:
    assert len(posts()) > 100 or not vectors.FOLDER.is_dir()


def test_a_reply_that_breaks_the_rules_is_not_sealed(refused: Any) -> None:
    refused("invalid-request", opened(REQUEST).seal, dataclasses.replace(REPLY, acknowledged=DeviceKey.generate().public_key))
    refused("invalid-request", Server().post, REQUEST, ProviderKey.generate())


def test_what_is_given_is_checked_and_not_printed(refused: Any) -> None:
    secret = PAIRING.code[13:34]
    assert secret not in f"{PAIRING!r} {opened(REQUEST)!r}"
    good = json.loads(PAIRING.to_json())
    wrong = {"url": "http://a", "topic": "a b", "created": -1, "claimed": 1, "reply": "{}", "provider": None}
    for name, value in (("secret", "a"), ("secret", None), *wrong.items()):
        refused("malformed-record", Pairing.from_json, json.dumps(good | {name: value}))
    claim = {"claimed": 1, "device": "a", "reply": REPLY.to_json(), "update_key": encode(bytes(PROVIDER))}
    assert Pairing.from_json(json.dumps(good | claim)).update_key == bytes(PROVIDER)
    refused("malformed-record", Pairing.from_json, json.dumps(good | claim | {"reply": "{}"}))
    refused("malformed-key", Pairing.from_json, json.dumps(good | claim | {"update_key": "a"}))
    refused("wrong-topic", Pairing.new, PROVIDER, url=URL, topic="a b")
    for call in (
        lambda: Pairing.new(str(PROVIDER), url=URL, topic=TOPIC), lambda: Pairing.new(PROVIDER, url=URL.encode(), topic=TOPIC),  # type: ignore[arg-type]
        lambda: Server().post(7), lambda: Server().post(REQUEST, PROVIDER), lambda: Pairing.new(PROVIDER, url=URL, topic=TOPIC, user=7),  # type: ignore[arg-type]
        lambda: opened(REQUEST).seal("{}"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            call()
