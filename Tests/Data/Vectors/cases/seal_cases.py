"""Seals: every input, the randomness included, and every byte that must come of it.

What goes into an envelope is in envelopes.json, the envelope and what opening it gives in a file of the kit.
"""

import hashlib
from typing import NamedTuple

from reference import hpke
from reference.envelope import (
    BODY_OFFSET,
    BUCKETS,
    MAXIMUM_TTL,
    PAYLOAD_CONTENT,
    ROTATION_CONTENT,
    TIME_LIMIT,
    Message,
    content,
    content_hash,
    ephemeral_ikm,
    header,
    hedge_key,
    hedge_signature,
    info,
    inner_plaintext,
    message_id,
    message_id_of_name,
    seal,
    signed_bytes,
    smallest_bucket,
)
from reference.opening import Receiver
from reference.rotation import Statement

from . import witness
from .forge import open_case
from .material import (
    CHAIN,
    GENERATIONS,
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SENT_AT,
    TABLET,
    TOPIC,
    Case,
    Device,
    Sender,
    seed,
    trust_in,
)
from .vector import Vector

MULTILINGUAL = '{"aps":{"alert":{"title":"두 명 예약","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"}}'.encode()
ESCAPED = (
    rb'{"aps":{"alert":{"title":"\uc608\uc57d","body":"\ud83d\udeb2 \"at 8\"\n\u0000"}},'
    rb'"n":[1.50E+2,-0,12345678901234567890]}'
)


def filler(size: int) -> bytes:
    """A payload of exactly `size` bytes, which is minimal JSON already."""
    frame = b'{"aps":{"alert":"%s"}}'
    room = size - len(frame % b"")
    return frame % (b"0123456789" * (room // 10 + 1))[:room]


class Seal(NamedTuple):
    case: Case
    envelope: Vector


def seal_case(
    name: str,
    payload: bytes = PAYLOAD,
    *,
    rules: str = "O-7.2",
    device: Device = PHONE,
    sender: Sender = PROVIDER,
    topic: str = TOPIC,
    sent_at: int = SENT_AT,
    now: int = NOW,
    ttl: int = MAXIMUM_TTL,
    caller_id: str | None = None,
    statements: tuple[Statement, ...] = (),
    pinned: Sender | None = None,
    signs_elsewhere: bool = False,
) -> Seal:
    body, content_type = payload, PAYLOAD_CONTENT
    if statements:
        body = bytes([len(statements)]) + b"".join(statement.data for statement in statements) + payload
        content_type = ROTATION_CONTENT

    hedge_origin = {"hedgeSignature": hedge_signature(sender.seed).hex()} if signs_elsewhere else {}
    hedge = hedge_key(hedge_signature(sender.seed) if signs_elsewhere else sender.seed)
    r_message_id, r_ephemeral = seed(f"seal {name} r message id"), seed(f"seal {name} r ephemeral")
    if caller_id is None:
        identifier = message_id(hedge, r_message_id, sent_at, body)
        origin = {"rMessageID": r_message_id.hex()}
    else:
        identifier = message_id_of_name(caller_id)
        origin = {"callerID": caller_id}

    message = Message(body, identifier, sent_at, ttl, content_type)
    bucket = smallest_bucket(len(body))
    signed_content = content(message, bucket)
    ikm_e = ephemeral_ikm(hedge, r_ephemeral, device.public, topic, sender.key_id, signed_content)
    envelope = seal(message, device.public, sender.seed, topic, ikm_e, bucket)

    enc = hpke.public_key(hpke.derive_secret_key(ikm_e))
    inner = inner_plaintext(enc, device.public, sender.seed, topic, signed_content)
    hpke_info = info(header(device.public), topic)
    assert envelope == header(device.public) + b"".join(witness.seal(ikm_e, device.public, hpke_info, b"", inner))

    receiver = Receiver(topic, (device.secret,), trust_in(pinned or sender))
    comment = "A seal with every input known: the case of this name in envelopes.json."
    opened = open_case(f"sealed: {name}", "opened", rules, envelope, comment, receiver=receiver, now=now)
    assert dict(opened.header)["payload-sha256"] == hashlib.sha256(payload).hexdigest()
    case = {
        "name": name,
        "topic": topic,
        "deviceSecret": device.secret.hex(),
        "devicePublic": device.public.hex(),
        "recipientKeyID": device.key_id.hex(),
        "senderSeed": sender.seed.hex(),
        "senderPublic": sender.public.hex(),
        "senderKeyID": sender.key_id.hex(),
        "sentAt": sent_at,
        "ttl": ttl,
        "contentType": content_type,
        "statements": [statement.data.hex() for statement in statements],
        "body": body.hex(),
        **hedge_origin,
        "hedgeKey": hedge.hex(),
        **origin,
        "messageID": identifier.hex(),
        "rEphemeral": r_ephemeral.hex(),
        "contentHash": content_hash(signed_content).hex(),
        "ikmE": ikm_e.hex(),
        "enc": enc.hex(),
        "info": hpke_info.hex(),
        "signed": signed_bytes(header(device.public), enc, device.public, sender.public, topic, signed_content).hex(),
        "signature": inner[4:68].hex(),
        "inner": inner.hex(),
        "payload": payload.decode(),
        "file": f"kit/{opened.path}",
    }
    return Seal(case, opened)


def bucket_cases() -> list[Seal]:
    smallest = len(filler(0)) + 1
    cases = []
    for bucket in BUCKETS:
        largest = bucket - BODY_OFFSET
        cases.append(seal_case(f"the smallest body of bucket {bucket}", filler(smallest), rules="O-2.5"))
        cases.append(seal_case(f"the largest body of bucket {bucket}", filler(largest), rules="O-2.5 O-5.1"))
        smallest = largest + 1
    return cases


def worked_envelope() -> Seal:
    return seal_case("the worked example")


def seal_cases() -> list[Seal]:
    longest_topic = ("com.example." * 22)[:254] + "z"
    latest = TIME_LIMIT - 1
    return [
        worked_envelope(),
        *bucket_cases(),
        seal_case("Korean, a dash and an emoji", MULTILINGUAL, rules="J-1"),
        seal_case("escapes and numbers stay as they were written", ESCAPED, rules="J-2"),
        seal_case("a context of one character", rules="K-2", topic="a"),
        seal_case("a context of 255 characters", rules="K-2", topic=longest_topic),
        seal_case("a context with capitals, digits and hyphens", rules="K-2", topic="Com.Example-2.App-01"),
        seal_case("the shortest time to live", rules="O-6.2", ttl=1, now=SENT_AT + 1000),
        seal_case("sent at the beginning of time", rules="O-6.2", sent_at=0, now=0),
        seal_case("sent at the end of time", rules="O-6.2 K-3", sent_at=latest, now=latest),
        seal_case("another device", rules="O-3.1", device=TABLET),
        seal_case("another sender", rules="O-5.4", sender=SECOND_PROVIDER),
        seal_case("a device key of zero bytes", rules="O-3.1", device=Device(bytes(32))),
        seal_case("a message that its caller named", caller_id="order-7731"),
        seal_case(
            "a message that its caller named, for another device: the same message id",
            device=TABLET,
            caller_id="order-7731",
        ),
        seal_case("a message whose name is not ASCII", caller_id="주문 7731 🚲"),
        seal_case("a sender whose key is in a service: the hedge key comes of a signature", signs_elsewhere=True),
        seal_case(
            "one statement before the payload", sender=GENERATIONS[1], pinned=PROVIDER, statements=tuple(CHAIN[:1])
        ),
        seal_case(
            "four statements before the payload", sender=GENERATIONS[4], pinned=PROVIDER, statements=tuple(CHAIN)
        ),
    ]
