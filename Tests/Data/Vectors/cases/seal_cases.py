"""Seals: every input, the randomness included, and every byte that must come of it.

What goes into an envelope is in envelopes.json, the envelope and what opening it gives in a file of the kit.
"""

import hashlib
from dataclasses import replace
from typing import NamedTuple

from reference import hpke
from reference.envelope import (
    BODY_OFFSET,
    BUCKETS,
    MAXIMUM_TTL,
    TIME_LIMIT,
    Message,
    Signer,
    collapse_id,
    content,
    content_hash,
    ephemeral_ikm,
    header,
    hedge_key,
    info,
    inner_plaintext,
    message_id,
    message_id_of_name,
    seal,
    signed_by,
    smallest_bucket,
    to_text,
)
from reference.sealing import LARGEST_BUCKETS, Request, plan
from reference.trust import SIZE

from . import witness
from .forge import open_case
from .material import (
    EPOCHS,
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER,
    PROVIDER_SIGNER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    TABLET,
    TOPIC,
    Case,
    Device,
    Pair,
    by,
    certify,
    pinned,
    seed,
    signer,
)
from .vector import Vector

MULTILINGUAL = '{"aps":{"alert":{"title":"두 명 예약","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"}}'.encode()
ESCAPED = (
    r'{"aps":{"alert":{"title":"예약","body":"🚲 \"at 8\"\n\u0000"}},'
    r'"n":[1.50E+2,-0,12345678901234567890]}'
).encode()

CONTENT_AVAILABLE = b'{"aps":{"content-available":1},"n":1}'
FULL = (
    b'{"aps":{"alert":{"title":"Anna","body":"Look"},"badge":7,"category":"CHAT","thread-id":"c41","sound":"bell.caf",'
    b'"interruption-level":"time-sensitive","relevance-score":1,"target-content-id":"w","filter-criteria":"work"},"x":1}'
)

EXPIRING = by(SIGNING[1], certify(EPOCHS[1], SIGNING[1], expires_at=SENT_AT + 1))
OTHER = by(
    SIGNING[4], certify(EPOCHS[1], SIGNING[4], provider=SECOND_PROVIDER, topic="com.example.other"), SECOND_PROVIDER
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
    rules: str = "O-7.1",
    device: Device = PHONE,
    by: Signer = PROVIDER_SIGNER,
    provider: Pair = PROVIDER,
    topic: str = TOPIC,
    sent_at: int = SENT_AT,
    now: int = NOW,
    ttl: int = MAXIMUM_TTL,
    caller_id: str | None = None,
    push_type: str = "alert",
    title: str = "New message",
    clear_sound: str | None = None,
    kept: tuple[str, ...] = (),
    device_name: str | None = None,
    collapse_name: str | None = None,
) -> Seal:
    """`clear_sound` is None for one that fits the payload, and empty for none."""
    request = Request(payload, push_type, title, clear_sound, kept, (), by.certificate is not None, sent_at, ttl)
    planned = plan(request)
    assert planned.payload == payload, f"{name}: the payload has more bytes than it needs"
    body, kind = by.body(payload), by.kind(push_type)

    hedge = hedge_key(by.seed)
    r_message_id, r_ephemeral = seed(f"seal {name} r message id"), seed(f"seal {name} r ephemeral")
    if caller_id is None:
        identifier = message_id(hedge, r_message_id, sent_at, body)
        origin = {"rMessageID": r_message_id.hex()}
    else:
        identifier = message_id_of_name(caller_id)
        origin = {"callerID": caller_id}

    message = Message(body, identifier, sent_at, ttl, kind)
    bucket = smallest_bucket(len(body))
    assert bucket == planned.bucket
    signed_content = content(message, bucket)
    ikm_e = ephemeral_ikm(hedge, r_ephemeral, device.public, topic, by.epoch, signed_content)
    envelope = seal(message, device.public, by, topic, ikm_e, bucket)

    secret_e = hpke.derive_secret_key(ikm_e)
    enc = hpke.public_key(secret_e)
    inner = inner_plaintext(enc, device.public, by, topic, signed_content)
    hpke_info = info(header(device.public), topic)
    assert envelope == header(device.public) + b"".join(witness.seal(ikm_e, device.public, hpke_info, b"", inner))

    receiver = replace(pinned(provider, devices=(device,)), topic=topic, push_type=push_type)
    comment = "A seal with every input known: the case of this name in envelopes.json."
    opened = open_case(f"sealed: {name}", "opened", rules, envelope, comment, receiver=receiver, now=now)
    assert dict(opened.header)["payload-sha256"] == hashlib.sha256(payload).hexdigest()
    push = planned.clear[:-1] + f',"ENCRYPTED_DATA":"{to_text(envelope)}"}}'
    assert len(push.encode()) == planned.length
    signing = {}
    if by.certificate:
        signing = {"signingSeed": by.seed.hex(), "signingPublic": by.public.hex(), "certificate": by.certificate.data.hex()}
    optional = {
        "clearSound": clear_sound,
        "kept": list(kept) or None,
        "device": device_name,
        "collapseName": collapse_name,
    }
    case = {
        "name": name,
        "topic": topic,
        "pushType": push_type,
        "title": title,
        **{key: value for key, value in optional.items() if value is not None},
        "deviceSecret": device.secret.hex(),
        "devicePublic": device.public.hex(),
        "recipientKeyID": device.key_id.hex(),
        "providerSeed": provider.seed.hex(),
        "providerPublic": provider.public.hex(),
        "epoch": by.epoch,
        **signing,
        "sentAt": sent_at,
        "ttl": ttl,
        "kind": kind,
        "body": body.hex(),
        "hedgeKey": hedge.hex(),
        **origin,
        "messageID": identifier.hex(),
        "rEphemeral": r_ephemeral.hex(),
        "contentHash": content_hash(signed_content).hex(),
        "ikmE": ikm_e.hex(),
        "skE": secret_e.hex(),
        "enc": enc.hex(),
        "info": hpke_info.hex(),
        "signed": signed_by(by, enc, device.public, topic, signed_content).hex(),
        "signature": inner[4:68].hex(),
        "inner": inner.hex(),
        "payload": payload.decode(),
        "envelope": envelope.hex(),
        "clear": planned.clear,
        "push": push,
        "length": planned.length,
        "widestLength": planned.widest_length,
        "collapseID": collapse_id(by.provider, topic, device_name, device.public, collapse_name, identifier),
        "test": opened.member_name,
    }
    return Seal(case, opened)


def bucket_cases() -> list[Seal]:
    smallest = len(filler(0)) + 1
    cases = []
    for bucket in BUCKETS:
        push_type = "voip" if bucket == BUCKETS[-1] else "alert"
        largest = min(bucket, LARGEST_BUCKETS[push_type] - SIZE) - BODY_OFFSET
        for size, rules, which in ((smallest, "O-2.5", "smallest"), (largest, "O-2.5 O-5.1", "largest")):
            name = f"the {which} body of bucket {bucket}"
            cases.append(seal_case(name, filler(size), rules=rules, push_type=push_type))
        smallest = bucket - BODY_OFFSET + 1
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
        seal_case("the escapes that stay, and numbers as they were written", ESCAPED, rules="J-2"),
        seal_case("a context of one character", rules="K-2", topic="a"),
        seal_case("a context of 255 characters", rules="K-2", topic=longest_topic),
        seal_case("a context with capitals, digits and hyphens", rules="K-2", topic="Com.Example-2.App-01"),
        seal_case("the shortest time to live", rules="O-6.3", ttl=1, now=SENT_AT + 1000),
        seal_case("sent at the beginning of time", rules="O-6.3", sent_at=0, now=0),
        seal_case("sent at the end of time", rules="O-6.3 K-3", sent_at=latest, now=latest),
        seal_case("another device", rules="O-3.1", device=TABLET),
        seal_case("another provider", rules="O-5.4", by=signer(provider=SECOND_PROVIDER), provider=SECOND_PROVIDER),
        seal_case("a device key of zero bytes", rules="O-3.1", device=Device(bytes(32))),
        seal_case("a message that its caller named", caller_id="order-7731"),
        seal_case(
            "a message that its caller named, for another device: the same message id",
            device=TABLET,
            caller_id="order-7731",
        ),
        seal_case("a message whose name is not ASCII", caller_id="주문 7731 🚲"),
        seal_case("a certificate before the payload", rules="O-5.2 S-9", by=signer(1)),
        seal_case("the certificate after a theft before the payload", rules="O-5.2 S-9", by=signer(3)),
        seal_case("a certificate that expires before the payload", rules="O-5.2 S-9", by=EXPIRING),
        seal_case("a certificate of another provider, for another app", rules="O-5.2 S-9", by=OTHER, provider=SECOND_PROVIDER, topic="com.example.other"),
        seal_case("the largest payload beside a certificate in bucket 256", filler(157 - SIZE), rules="S-6 S-9", by=signer(1)),
        seal_case("a payload one byte larger than bucket 256 holds beside a certificate", filler(158 - SIZE), rules="S-6 S-9", by=signer(1)),
        seal_case("the largest payload of an alert beside a certificate", filler(2596), rules="S-6 S-9", by=signer(1)),
        seal_case("the largest payload of a call beside a certificate", filler(3364), rules="S-6 S-9", by=signer(1), push_type="voip"),
        seal_case("a background push with a certificate", CONTENT_AVAILABLE, rules="S-9 O-6.2", by=signer(2), push_type="background"),
        seal_case("a voip push with a certificate", b'{"aps":{},"call":"c1"}', rules="S-9 O-6.2", by=signer(2), push_type="voip"),
        seal_case("a named message with a certificate: the message id is that of its name", rules="S-9", by=signer(2), caller_id="order-7731"),
        seal_case("a background push", CONTENT_AVAILABLE, rules="S-9 O-6.2", push_type="background"),
        seal_case("a voip push", b'{"aps":{},"call":"c1"}', rules="S-9 O-6.2", push_type="voip"),
        seal_case("a voip push that wakes the app", CONTENT_AVAILABLE, push_type="voip"),
        seal_case("an alert that wakes the app", b'{"aps":{"alert":"hi","content-available":1}}'),
        seal_case("an alert without a sound", b'{"aps":{"alert":"hi"}}'),
        seal_case("a title of the caller", title="Bank"),
        seal_case("a title that is not ASCII", title='예약 "🚲" / <1>'),
        seal_case("no sound in the clear", clear_sound=""),
        seal_case("a sound of the caller in the clear", clear_sound="tap.caf"),
        seal_case("fields kept in the clear", FULL, kept=("badge", "category", "thread-id", "relevance-score")),
        seal_case("a device with a name", device_name="phone1"),
        seal_case("a device with a name, pushes with a name", device_name="phone1", collapse_name="chat-c41"),
        seal_case("a device without a name, pushes with a name", collapse_name="채팅 🚲"),
        seal_case(
            "a retry for a device with a name: the same message id and collapse id, another envelope",
            device_name="phone1",
            caller_id="order-7731",
        ),
        seal_case(
            "everything at once",
            FULL,
            device=TABLET,
            by=OTHER,
            provider=SECOND_PROVIDER,
            topic="com.example.other",
            sent_at=SENT_AT + 1,
            ttl=86_400,
            caller_id="주문",
            title="Café",
            clear_sound="tap.caf",
            kept=("category",),
            device_name="전화 1",
            collapse_name="chat",
        ),
    ]
