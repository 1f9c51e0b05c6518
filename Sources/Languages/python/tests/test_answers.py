"""Answers: the vectors of answers.json, and a message that is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushcrypt import DevicePublicKey, ProviderKey, Sealer, SealedPush
from pushcrypt.answers import Answer, AnswerSecret, open_answer, padded
from pushcrypt.testing import DeviceKey, Opened, Trust, open_push, seal_answer
from pushcrypt.testing import _answers as phone
from vectors import base64url, cases

TOPIC, TIME = "com.example.app", 1_767_225_600_000
SECRET, DEVICE = AnswerSecret(b"\7" * 32), DeviceKey(b"\5" * 32)
SEALER = Sealer(ProviderKey(b"\3" * 32), topic=TOPIC)
PAYLOAD = {"aps": {"alert": "Deploy?"}}


def arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "secrets": [AnswerSecret(bytes.fromhex(one)) for one in case["secrets"]], "devices": [DevicePublicKey(bytes.fromhex(one)) for one in case["devices"]],
        "topic": case["topic"], "at": case["now"], "within": case.get("within"),
    }


def opened(push: SealedPush, device: DeviceKey = DEVICE) -> Opened:
    return open_push(push.payload, topic=TOPIC, devices=[device], trust=Trust([SEALER.provider]), at=TIME)


@pytest.mark.parametrize("case", cases("answers.json", "keys"))
def test_keys(case: dict[str, Any]) -> None:
    secret, device, message_id = AnswerSecret(bytes.fromhex(case["secret"])), bytes.fromhex(case["devicePublic"]), bytes.fromhex(case["messageID"])
    answer_id = secret.id_for(device, case["topic"], message_id, case["sentAt"])
    assert (answer_id.hex(), secret.key_for(device, case["topic"], answer_id).hex()) == (case["answerID"], case["answerKey"])
    assert secret.member_for(device, case["topic"], message_id, case["sentAt"]) == case["answer"]


@pytest.mark.parametrize("case", cases("answers.json", "answers"))
def test_answers(case: dict[str, Any]) -> None:
    device, members = DevicePublicKey(bytes.fromhex(case["device"])), case["members"]
    assert phone.seal(base64url(case["given"]), device.id_bytes, padded(case["json"].encode()), bytes.fromhex(case["random"])) == case["text"]
    assert open_answer(case["text"], **arguments(case)) == Answer(
        device, bytes.fromhex(members["message_id"]), members["sent_at"], members["action"], members.get("text"), members["at"])


@pytest.mark.parametrize("case", cases("answers.json", "refused"))
def test_answers_that_are_refused(case: dict[str, Any], refused: Any) -> None:
    refused(case["code"], open_answer, case["text"], **arguments(case))


@pytest.mark.parametrize("name", ["deploy-17", None])
def test_a_message_is_answered(name: str | None) -> None:
    push = SEALER.seal(PAYLOAD, DEVICE.public_key, message_id=name, at=TIME, answers=SECRET)
    text = seal_answer(opened(push), "approve", text="go 🚲", at=TIME + 5)
    assert text != seal_answer(opened(push), "approve", text="go 🚲", at=TIME + 5)
    answer = open_answer(text, secrets=[SECRET], devices=[DEVICE.public_key], topic=TOPIC, at=TIME + 9)
    assert answer == Answer(DEVICE.public_key, push.message_id, TIME, "approve", "go 🚲", TIME + 5)
    assert open_answer(seal_answer(opened(push), "no"), secrets=[SECRET], devices=[DEVICE.public_key], topic=TOPIC, at=TIME).text is None


def test_an_answer_ends_after_31_days_whatever_is_allowed(refused: Any) -> None:
    push = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, message_id="a", at=TIME, answers=SECRET))
    good: dict[str, Any] = {"secrets": [SECRET], "devices": [DEVICE.public_key], "topic": TOPIC, "within": 40 * 86_400}
    end = TIME + 31 * 86_400_000
    assert open_answer(seal_answer(push, "a"), **good, at=end).action == "a"
    refused("expired", open_answer, seal_answer(push, "a"), **good, at=end + 1)


def test_each_phone_of_a_fan_out_answers_as_itself(refused: Any) -> None:
    tablet = DeviceKey(b"\6" * 32)
    both = [DEVICE.public_key, tablet.public_key]
    answers = [
        seal_answer(opened(SEALER.seal(PAYLOAD, one.public_key, message_id="a", at=TIME, answers=SECRET), one), "approve") for one in (DEVICE, tablet)
    ]
    assert [open_answer(one, secrets=[SECRET], devices=both, topic=TOPIC, at=TIME).device for one in answers] == both
    # The key of one message opens no answer to another, although both are of one device and secret.
    first = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, message_id="a", at=TIME, answers=SECRET))
    second = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, message_id="b", at=TIME, answers=SECRET))
    given = phone.given_of(first)
    assert given is not None
    body = json.dumps({"message_id": second.message_id.hex(), "sent_at": TIME, "action": "approve", "at": TIME}).encode()
    forged = phone.seal(given, DEVICE.public_key.id_bytes, padded(body), bytes(16))
    refused("authentication-failed", open_answer, forged, secrets=[SECRET], devices=both, topic=TOPIC, at=TIME)


def test_messages_without_answers_stay_as_they_are(refused: Any) -> None:
    plain = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, message_id="a", at=TIME))
    assert b"pushcrypt" not in plain.payload
    refused("invalid-request", seal_answer, plain, "approve")
    answerable = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, message_id="a", at=TIME, answers=SECRET))
    assert json.loads(answerable.payload)["pushcrypt"].keys() == {"answer"} and answerable.message_id == plain.message_id


def test_what_is_given_is_checked(refused: Any) -> None:
    message = opened(SEALER.seal(PAYLOAD, DEVICE.public_key, at=TIME, answers=SECRET))
    for action in ("", "a" * 256):
        refused("invalid-request", seal_answer, message, action)
    refused("invalid-request", seal_answer, message, "a", text="a" * 4096)
    for length in (0, 31, 33):
        refused("malformed-key", AnswerSecret, bytes(length))
    text = seal_answer(message, "a")
    good: dict[str, Any] = {"secrets": [SECRET], "devices": [DEVICE.public_key], "topic": TOPIC, "at": TIME}
    for name, value in (("secrets", [b"\7" * 32]), ("secrets", SECRET), ("devices", ["pcr1"]), ("topic", 7), ("within", "10m"), ("within", True)):
        with pytest.raises(TypeError):
            open_answer(text, **(good | {name: value}))
    with pytest.raises(TypeError):
        open_answer(b"a", **good)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        SEALER.seal(PAYLOAD, DEVICE.public_key, answers=b"\7" * 32)  # type: ignore[arg-type]
    refused("malformed-envelope", open_answer, "a" * 10_000_000, **good)
    assert SECRET.secret_bytes().hex() not in repr(SECRET) and AnswerSecret.generate().secret_bytes() != SECRET.secret_bytes()
