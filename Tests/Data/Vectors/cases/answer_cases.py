"""answers.json: answer ids and keys of messages, and the answers to them."""

import json

from reference import answers

from .material import COLLIDING_DEVICES, DAY, PHONE, SENT_AT, STRANGERS_PHONE, TABLET, TOPIC, Case, Device, seed
from .vector import base64url

SECRET, OLD_SECRET, STRANGE_SECRET = (seed(f"answer secret {number}") for number in (1, 2, 3))
MESSAGE_ID = seed("message that is answered")[:16]
AT = SENT_AT + 60_000
APPROVED = {"message_id": MESSAGE_ID.hex(), "sent_at": SENT_AT, "action": "approve", "at": AT}


def key_case(
    name: str, *, secret: bytes = SECRET, device: Device = PHONE, topic: str = TOPIC, message_id: bytes = MESSAGE_ID, sent_at: int = SENT_AT
) -> Case:
    identifier = answers.answer_id(secret, device.public, topic, message_id, sent_at)
    key = answers.answer_key(secret, device.public, topic, identifier)
    return {
        "name": name,
        "secret": secret.hex(),
        "devicePublic": device.public.hex(),
        "topic": topic,
        "messageID": message_id.hex(),
        "sentAt": sent_at,
        "answerID": identifier.hex(),
        "answerKey": key.hex(),
        "answer": base64url(identifier + key),
    }


def key_cases() -> list[Case]:
    return [
        key_case("a message"),
        key_case("the same to another device", device=TABLET),
        key_case("another message", message_id=bytes(16)),
        key_case("the same at another time", sent_at=SENT_AT + 1),
        key_case("another app", topic="com.example.other"),
        key_case("another secret", secret=OLD_SECRET),
        key_case("the largest time and the longest topic", sent_at=2**53 - 1, topic="a" * 255),
    ]


def sealed(plaintext: bytes, random: bytes, device: Device = PHONE, secret: bytes = SECRET, topic: str = TOPIC, message_id: bytes = MESSAGE_ID) -> bytes:
    identifier = answers.answer_id(secret, device.public, topic, message_id, SENT_AT)
    key = answers.answer_key(secret, device.public, topic, identifier)
    return answers.seal(identifier, key, device.public, plaintext, random)


def answer_case(
    name: str,
    members: dict[str, object],
    *,
    device: Device = PHONE,
    devices: tuple[Device, ...] = (TABLET, PHONE),
    secret: bytes = SECRET,
    more: dict[str, object] | None = None,
    now: int = AT,
    within: int | None = None,
) -> Case:
    random = seed(f"random bytes of the answer: {name}")[:16]
    body = json.dumps(members | (more or {}), ensure_ascii=False, separators=(",", ":"))
    data = sealed(answers.padded(body.encode()), random, device, secret)
    text = base64url(data)
    found, opened = answers.open_answer(text, [OLD_SECRET, SECRET], [one.public for one in devices], TOPIC, now, within)
    assert (found, opened) == (device.public, members), name
    identifier = answers.answer_id(secret, device.public, TOPIC, MESSAGE_ID, SENT_AT)
    return {
        "name": name,
        "secrets": [OLD_SECRET.hex(), SECRET.hex()],
        "devices": [one.public.hex() for one in devices],
        "topic": TOPIC,
        "now": now,
        **({"within": within} if within is not None else {}),
        "device": device.public.hex(),
        "given": base64url(identifier + answers.answer_key(secret, device.public, TOPIC, identifier)),
        "random": random.hex(),
        "members": members,
        "json": body,
        "text": text,
    }


def reply(length: int) -> dict[str, object]:
    """An answer whose JSON has this length."""
    empty = json.dumps(APPROVED | {"text": ""}, separators=(",", ":"))
    return {name: (APPROVED | {"text": "a" * (length - len(empty))})[name] for name in ("message_id", "sent_at", "action", "text", "at")}


def ordered(members: dict[str, object]) -> dict[str, object]:
    return {name: members[name] for name in ("message_id", "sent_at", "action", "text", "at") if name in members}


def answer_cases() -> list[Case]:
    first, second = COLLIDING_DEVICES
    return [
        answer_case("an action", APPROVED),
        answer_case("a typed reply", ordered(APPROVED | {"action": "reply", "text": "On my way — 곧 🚲"})),
        answer_case("a reply that is null", APPROVED, more={"text": None}),
        answer_case("answered at the largest time", APPROVED | {"at": 2**53 - 1}),
        answer_case("answered at 0", APPROVED | {"at": 0}),
        answer_case("an empty reply", ordered(APPROVED | {"text": ""})),
        answer_case("the longest JSON of 128 bytes", reply(126)),
        answer_case("the shortest JSON of 512 bytes", reply(127)),
        answer_case("the longest JSON of 512 bytes", reply(510)),
        answer_case("the shortest JSON of 2,048 bytes", reply(511)),
        answer_case("the shortest JSON of 4,098 bytes", reply(2047)),
        answer_case("the longest JSON", reply(4096)),
        answer_case("other members are ignored", APPROVED, more={"later": {"a": [1]}}),
        answer_case("of another device", APPROVED, device=TABLET),
        answer_case("with a replaced secret", APPROVED, secret=OLD_SECRET),
        answer_case("of the second device with one key id", APPROVED, device=second, devices=(first, second)),
        answer_case("after 31 days", APPROVED, now=SENT_AT + 31 * DAY),
        answer_case("within ten minutes", APPROVED, now=SENT_AT + 600_000, within=600),
    ]


def refused_answer(
    name: str, code: str, data: bytes | str, *, secrets: tuple[bytes, ...] = (SECRET,), devices: tuple[Device, ...] = (PHONE, TABLET), topic: str = TOPIC,
    now: int = AT, within: int | None = None,
) -> Case:
    text = data if isinstance(data, str) else base64url(data)
    try:
        answers.open_answer(text, list(secrets), [one.public for one in devices], topic, now, within)
        raise AssertionError(name)
    except answers.AnswerRefused as refusal:
        assert refusal.code == code, (name, refusal)
    return {
        "name": name,
        "secrets": [one.hex() for one in secrets],
        "devices": [one.public.hex() for one in devices],
        "topic": topic,
        "now": now,
        **({"within": within} if within is not None else {}),
        "text": text,
        "code": code,
    }


def refused_cases() -> list[Case]:
    random = seed("random bytes of a refused answer")[:16]

    def of(members: dict[str, object] | str | bytes, **more: bytes) -> bytes:
        body = members if isinstance(members, (str, bytes)) else json.dumps(members, separators=(",", ":"))
        return sealed(answers.padded(body.encode() if isinstance(body, str) else body), random, **more)

    def without(name: str) -> dict[str, object]:
        return {other: value for other, value in APPROVED.items() if other != name}

    good = of(APPROVED)
    text, body = base64url(good), json.dumps(APPROVED, separators=(",", ":")).encode()
    malformed, failed, wrong = "malformed-envelope", "authentication-failed", "malformed-payload"

    def changed(place: int) -> bytes:
        return good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]

    members: dict[str, dict[str, object] | str] = {
        "no message id": without("message_id"),
        "a message id in upper case": APPROVED | {"message_id": MESSAGE_ID.hex().upper()},
        "a message id that was cut": APPROVED | {"message_id": MESSAGE_ID.hex()[2:]},
        "no sent at": without("sent_at"),
        "a sent at that is a text": APPROVED | {"sent_at": str(SENT_AT)},
        "no action": without("action"),
        "an empty action": APPROVED | {"action": ""},
        "an action of 256 bytes": APPROVED | {"action": "a" * 256},
        "an action that is null": APPROVED | {"action": None},
        "a text that is a number": APPROVED | {"text": 7},
        "a sent at of 2^53": APPROVED | {"sent_at": 2**53},
        "a sent at below 0": APPROVED | {"sent_at": -1},
        "no at": without("at"),
        "an at of 2^53": APPROVED | {"at": 2**53},
        "an at that is null": APPROVED | {"at": None},
        "an at with a fraction": body.decode().replace(f'"at":{AT}', f'"at":{AT}.0'),
        "a member twice": body.decode()[:-1] + ',"action":"decline"}',
        "an array": "[]",
        "JSON that was cut": body.decode()[:-1],
        "an empty JSON": "",
    }
    return [
        refused_answer("an empty text", malformed, ""),
        refused_answer("a text that was cut", malformed, text[:-1]),
        refused_answer("a text with padding", malformed, text + "="),
        refused_answer("a text with a character of base64", malformed, text[:-1] + "+"),
        refused_answer("a text with unused bits", malformed, text[:-1] + chr(ord(text[-1]) + 1)),
        refused_answer("a byte more", malformed, good + b"\x00"),
        refused_answer("another version", "unsupported-message", b"\x02" + good[1:]),
        refused_answer("of a device that is not known", "unknown-recipient-key", good, devices=(STRANGERS_PHONE,)),
        refused_answer("of no device", "unknown-recipient-key", good, devices=()),
        refused_answer("a changed answer id", failed, changed(1)),
        refused_answer("a changed salt", failed, changed(21)),
        refused_answer("a changed ciphertext", failed, changed(40)),
        refused_answer("a changed tag", failed, changed(len(good) - 1)),
        refused_answer("another secret", failed, good, secrets=(STRANGE_SECRET, OLD_SECRET)),
        refused_answer("no secret", failed, good, secrets=()),
        refused_answer("another app", failed, good, topic="com.example.other"),
        refused_answer("of another device with the same key id", failed, of(APPROVED, device=COLLIDING_DEVICES[0]), devices=(COLLIDING_DEVICES[1],)),
        refused_answer("nonzero padding", failed, sealed(answers.padded(body)[:-1] + b"\x01", random)),
        refused_answer("more padding than needed", failed, sealed(answers.padded(body, 512), random)),
        refused_answer("a length beyond the end", failed, sealed(b"\xff\xff" + answers.padded(body)[2:], random)),
        refused_answer("a length of 4,097 bytes", failed, sealed((4097).to_bytes(2, "big") + body.ljust(4096), random)),
        refused_answer("an answer to another message, after 31 days", failed, of(APPROVED | {"message_id": "00" * 16}), now=SENT_AT + 31 * DAY + 1),
        refused_answer("an answer to another message", failed, of(APPROVED | {"message_id": "00" * 16})),
        refused_answer("an answer to the message at another time", failed, of(APPROVED | {"sent_at": SENT_AT + 1})),
        *(refused_answer(name, wrong, of(value)) for name, value in members.items()),
        refused_answer("JSON that is not UTF-8", wrong, of(body.replace(b"approve", b"approv\xff"))),
        refused_answer("JSON with a byte order mark", wrong, of(b"\xef\xbb\xbf" + body)),
        refused_answer("a millisecond after 31 days", "expired", good, now=SENT_AT + 31 * DAY + 1),
        refused_answer("a millisecond after ten minutes", "expired", good, now=SENT_AT + 600_001, within=600),
    ]
