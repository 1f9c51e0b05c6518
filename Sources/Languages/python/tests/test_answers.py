"""Answers: the vectors of answers.json, and messages that can be answered."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pushcrypt import DevicePublicKey, ProviderKey, Sealer
from pushcrypt._envelope import moment
from pushcrypt.answers import Answer, AnswerSecret, open_answer
from pushcrypt.testing import DeviceKey, open_push
from vectors import cases, stored

TOPIC, TIME = "com.example.app", 1_767_225_600_000
SECRET, DEVICE = AnswerSecret(b"\7" * 32), DeviceKey(b"\5" * 32)
PHONE = stored(DEVICE.public_key, TOPIC)
SEALER = Sealer(ProviderKey(b"\3" * 32), topic=TOPIC)
PAYLOAD = {"aps": {"alert": "Deploy?"}}


def arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "secrets": [AnswerSecret(bytes.fromhex(one)) for one in case["secrets"]], "devices": [DevicePublicKey(bytes.fromhex(one)) for one in case["devices"]],
        "topic": case["topic"], "within": None if case.get("within") is None else timedelta(seconds=case["within"]),
    }


@pytest.mark.parametrize("case", cases("answers.json", "keys"))
def test_keys(case: dict[str, Any]) -> None:
    secret, device, message_id = AnswerSecret(bytes.fromhex(case["secret"])), bytes.fromhex(case["devicePublic"]), bytes.fromhex(case["messageID"])
    answer_id = secret.id_for(device, case["topic"], message_id, case["sentAt"])
    assert (answer_id.hex(), secret.key_for(device, case["topic"], answer_id).hex()) == (case["answerID"], case["answerKey"])
    assert secret.member_for(device, case["topic"], message_id, case["sentAt"]) == case["answer"]


@pytest.mark.parametrize("case", cases("answers.json", "answers"))
def test_answers(case: dict[str, Any], set_clock: Callable[[int], None]) -> None:
    set_clock(case["now"])
    device, members = DevicePublicKey(bytes.fromhex(case["device"])), case["members"]
    assert open_answer(case["text"], **arguments(case)) == Answer(
        device, bytes.fromhex(members["message_id"]), moment(members["sent_at"]), members["action"], members.get("text"), moment(members["at"]))


@pytest.mark.parametrize("case", cases("answers.json", "refused"))
def test_answers_that_are_refused(case: dict[str, Any], set_clock: Callable[[int], None], refused: Any) -> None:
    set_clock(case["now"])
    refused(case["code"], open_answer, case["text"], **arguments(case))


@pytest.mark.parametrize("name", ["deploy-17", None])
def test_a_message_that_can_be_answered(name: str | None) -> None:
    """It has what answers.json proves of its id, and is the same message as without."""
    push = SEALER.seal(PAYLOAD, PHONE, message_id=name, answers=SECRET)
    opened = open_push(push.payload, topic=TOPIC, device=DEVICE, provider=SEALER.provider)
    member = SECRET.member_for(bytes(DEVICE.public_key), TOPIC, push.message_id, TIME)
    assert opened.message_id == push.message_id and json.loads(opened.payload) == PAYLOAD | {"pushcrypt": {"answer": member}}
    plain = SEALER.seal(PAYLOAD, PHONE, message_id=name)
    assert name is None or plain.message_id == push.message_id


def test_an_answer_ends_after_31_days_whatever_is_allowed(set_clock: Callable[[int], None], refused: Any) -> None:
    case = next(one.values[0] for one in cases("answers.json", "answers") if one.values[0]["name"] == "an action")
    good = arguments(case) | {"within": timedelta(days=40)}
    end = case["members"]["sent_at"] + 31 * 86_400_000
    set_clock(end)
    assert open_answer(case["text"], **good).action == case["members"]["action"]
    set_clock(end + 1)
    refused("expired", open_answer, case["text"], **good)


def test_what_is_given_is_checked(refused: Any) -> None:
    for length in (0, 31, 33):
        refused("malformed-key", AnswerSecret, bytes(length))
    good: dict[str, Any] = {"secrets": [SECRET], "devices": [DEVICE.public_key], "topic": TOPIC}
    for name, value in (("secrets", [b"\7" * 32]), ("secrets", SECRET), ("devices", ["pcr1"]), ("topic", 7), ("within", "10m"), ("within", 600), ("at", TIME)):
        with pytest.raises(TypeError):
            open_answer("a", **(good | {name: value}))
    with pytest.raises(TypeError):
        open_answer(b"a", **good)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        SEALER.seal(PAYLOAD, PHONE, answers=b"\7" * 32)  # type: ignore[arg-type]
    refused("malformed-envelope", open_answer, "a" * 10_000_000, **good)
    with pytest.raises(TypeError):
        pickle.dumps(SECRET)
    assert SECRET.secret_bytes().hex() not in repr(SECRET) and AnswerSecret.generate().secret_bytes() != SECRET.secret_bytes()
