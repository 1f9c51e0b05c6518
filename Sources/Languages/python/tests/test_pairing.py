"""Pairing: the vectors of pairing.json, and phones that pair with a server."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pushcrypt import (
    Certificate, Code, Credential, DevicePublicKey, DeviceRecord, ProviderKey, ProviderPublicKey, PushcryptError, Reply, SigningKey, StoredDevice, accept, issue_certificate,
)
from pushcrypt._envelope import encode, lp16
from pushcrypt._identity import Identity
from pushcrypt.pairing import Pairing, is_url, pairing_id, seal_reply, _signed_reply
from pushcrypt.testing import DeviceKey
from vectors import base64url, cases

TOPIC, TIME, URL, MINUTES = "com.example.app", 1_767_225_600_000, "https://home.example.net/pair", 60_000
KEY = ProviderKey(b"\3" * 32)
PROVIDER = KEY.public_key
PAIRING = Pairing.new(PROVIDER, url=URL, topic=TOPIC, at=TIME)


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
    return PAIRING.open(CODE.request(record), KEY, at=at).seal(dataclasses.replace(REPLY, acknowledged=record.public_key))[0]


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
    assert pairing_id(case["post"]) == pairing_id(case["post"].encode()) == pairing.id
    signed = _signed_reply(Identity(key, case["topic"]), case["topic"], case["record"].encode(), case["replyRecord"].encode())
    assert signed == case["signedReply"]
    assert seal_reply(bytes.fromhex(case["secret"]), pairing._scene, base64url(case["request"]), signed.encode()) == case["reply"]
    given, request = json.loads(case["replyRecord"]), pairing.open(case["post"], key, at=TIME)
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
        assert pairing.open(sent, key, at=TIME).record is not None
    else:
        refused("authentication-failed", pairing.open, sent, key, at=TIME)


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
        assert PAIRING.open(REQUEST, KEY, at=now).record == RECORD
    for late in (TIME - 10 * MINUTES - 1, TIME + 10 * MINUTES, TIME + 86_400_000):
        refused("expired", PAIRING.open, REQUEST, KEY, at=late)
    # From the claim on, which was late, the reply is there for 10 more minutes.
    claimed = paired(at=TIME + 9 * MINUTES)
    assert claimed.open(REQUEST, KEY, at=TIME + 19 * MINUTES - 1).answer is not None
    refused("expired", claimed.open, REQUEST, KEY, at=TIME + 19 * MINUTES)


def test_one_phone_claims_a_code() -> None:
    """[P-6]: with the same device, key and update key it gets the acknowledgement again, and nothing of its record is stored."""
    claimed, answer = PAIRING.open(REQUEST, KEY, at=TIME).seal(REPLY)
    claimed = Pairing.from_json(claimed.to_json())
    again = claimed.open(REQUEST, KEY, at=TIME + MINUTES)
    assert (again.record, again.answer) == (None, answer) and again.seal(Reply(refused="a")) == (claimed, answer)
    second = dataclasses.replace(RECORD, grant="g", sequence=TIME + 1)
    renewed = claimed.open(CODE.request(second), KEY, at=TIME + MINUTES)
    assert renewed.record is None and CODE.open(CODE.request(second), renewed.answer, second) == json.loads(REPLY.to_json())
    for changes in ({"device": "other"}, {"public_key": DeviceKey(b"\6" * 32).public_key}, {"update_key": bytes(PROVIDER)}):
        used = claimed.open(sent := CODE.request(dataclasses.replace(RECORD, **changes)), KEY, at=TIME + MINUTES)  # type: ignore[arg-type]
        assert used.record is None and used.seal(REPLY) == (claimed, used.answer)
        assert CODE.open(sent, used.answer)["refused"] == "pairing-used"


def test_the_key_that_signs_now_signs() -> None:
    """With its own certificate in the reply, whatever accept was given, and in a repeated one [P-7]."""
    def credential(seed: int, **named: Any) -> Credential:
        key = SigningKey(bytes([seed]) * 32)
        return Credential(key, issue_certificate(KEY, key.public_bytes(), topic=TOPIC, at=TIME, **named), PROVIDER)

    first = credential(6)
    second = credential(7, current=first.certificate)
    claimed, answer = PAIRING.open(REQUEST, first, at=TIME).seal(dataclasses.replace(REPLY, certificate=second.certificate))
    assert CODE.open(REQUEST, answer, RECORD, first)["acknowledged"] == str(RECORD.public_key)
    again = claimed.open(REQUEST, second, at=TIME)
    assert CODE.open(REQUEST, again.answer, RECORD, second)["push_key"] == encode(REPLY.push_key or b"")
    used = claimed.open(other := CODE.request("{}"), second, at=TIME)
    assert CODE.open(other, used.answer, "{}", second)["refused"] == "malformed-record"


class Server:
    """The server of the module's documentation."""

    def __init__(self) -> None:
        self.rows, self.devices, self.may_replace = {PAIRING.id: PAIRING.to_json()}, dict[str, StoredDevice](), False

    def post(self, body: str) -> str:
        request = Pairing.from_json(self.rows[pairing_id(body)]).open(body, KEY, at=TIME)
        if request.record is None or request.record.device is None:
            return request.answer or ""
        held = self.devices.get(request.record.device)
        try:
            if held is not None and not held.is_removed and not self.may_replace:
                raise PushcryptError(Code.USER_MISMATCH)
            accepted = accept(request.record, held, "alice", topic=TOPIC, provider=PROVIDER, replace=self.may_replace)
            self.devices[request.record.device], reply = accepted.device, accepted.reply
        except PushcryptError as refused:
            reply = Reply.refusal(refused)
        pairing, answer = request.seal(reply)
        self.rows[pairing.id] = pairing.to_json()
        return answer


def test_a_server_replaces_a_device_only_if_its_operator_said_so() -> None:
    server, stranger = Server(), dataclasses.replace(RECORD, public_key=DeviceKey(b"\7" * 32).public_key, suites=(), generation=2)
    server.devices["phone"] = accept(stranger, None, "alice", topic=TOPIC, provider=PROVIDER).device
    later = CODE.request(dataclasses.replace(RECORD, generation=3))
    assert CODE.open(later, server.post(later))["refused"] == "user-mismatch"
    assert server.devices["phone"].public_key == stranger.public_key and server.rows[PAIRING.id] == PAIRING.to_json()
    server.may_replace = True
    assert CODE.open(REQUEST, server.post(REQUEST))["acknowledged"] == str(RECORD.public_key)
    server.may_replace = False
    with_grant, stored = CODE.request(dataclasses.replace(RECORD, grant="g")), server.devices["phone"]
    assert CODE.open(with_grant, server.post(with_grant)) == CODE.open(REQUEST, server.post(REQUEST))
    assert server.devices["phone"] == stored and (stored.user, stored.generation, stored.update_key) == ("alice", 1, RECORD.update_key)


def test_a_refusal_leaves_the_code_open_and_has_a_key_of_its_own() -> None:
    request = PAIRING.open(REQUEST, KEY, at=TIME)
    pairing, answer = request.seal(Reply(refused="user-mismatch"))
    assert pairing == PAIRING and CODE.open(REQUEST, answer, RECORD)["refused"] == "user-mismatch"
    assert base64url(request.seal(REPLY)[1])[:16] != base64url(answer)[:16]
    without = [posted(RECORD).replace(f'"{name}"', '"name"') for name in ("device", "update_key", "sequence", "nonce")]
    for text in ("{}", "[", *without, posted(RECORD).replace("AAAA", "AAA")):
        sent = CODE.request(text)
        for one in (PAIRING, paired()):
            opened = one.open(sent, KEY, at=TIME)
            assert opened.record is None and CODE.open(sent, opened.answer, text)["refused"] == "malformed-record"


def test_a_changed_request_is_not_found(refused: Any) -> None:
    data = bytes_of(REQUEST)
    for place in range(len(data)):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        refused("authentication-failed", PAIRING.open, post(changed), KEY, at=TIME)
        assert (pairing_id(post(changed)) == PAIRING.id) is (place >= 8)
    for cut in range(len(data)):
        refused("malformed-envelope" if cut < 40 else "authentication-failed", PAIRING.open, post(data[:cut]), KEY, at=TIME)
    text = encode(data)
    for wrong in ("", text + "=", " " + text, text + "\n", text + "é", encode(bytes(40))[:-1] + "B", encode(data + bytes(16_385 - len(data)))):
        refused("malformed-envelope", PAIRING.open, json.dumps({"pairing": wrong}), KEY, at=TIME)
    for longer in (data + data, data + bytes(16_384 - len(data))):
        refused("authentication-failed", PAIRING.open, post(longer), KEY, at=TIME)
    refused("authentication-failed", Pairing.new(PROVIDER, url=URL, topic=TOPIC, at=TIME).open, REQUEST, KEY, at=TIME)


def test_what_is_no_post_of_a_pairing(refused: Any) -> None:
    """[D-17]"""
    text = encode(bytes_of(REQUEST))
    for members in ({}, {"pairing": 7}, {"record": "e30"}, {"hello": "A" * 22}, {"pairing": text, "answer": "a"}, {"pairing": text, "record": "e30"}):
        refused("malformed-record", PAIRING.open, json.dumps(members), KEY, at=TIME)
    for body in ("", text, "[]", REQUEST + "a" * 32_768, b"\xff", '{"pairing":"a","pairing":"a"}'):
        refused("malformed-record", pairing_id, body)
    assert PAIRING.open(json.dumps({"pairing": text, "record": None, "more": 1}), KEY, at=TIME).record == RECORD


def test_a_reply_that_breaks_the_rules_is_not_sealed(refused: Any) -> None:
    refused("invalid-request", PAIRING.open(REQUEST, KEY, at=TIME).seal, dataclasses.replace(REPLY, acknowledged=DeviceKey.generate().public_key))
    refused("invalid-request", PAIRING.open, REQUEST, ProviderKey.generate(), at=TIME)


def test_what_is_given_is_checked_and_not_printed(refused: Any) -> None:
    secret = PAIRING.code[13:34]
    assert secret not in f"{PAIRING!r} {PAIRING.open(REQUEST, KEY, at=TIME)!r}"
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
        lambda: PAIRING.open(7, KEY), lambda: PAIRING.open(REQUEST, PROVIDER), lambda: pairing_id(None),  # type: ignore[arg-type]
        lambda: PAIRING.open(REQUEST, KEY, at=TIME).seal("{}"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            call()
