"""Seals of suite 0x02: every input, the randomness included, and every byte in between, in suite-2-seals.json."""

from reference import hpke, xwing
from reference.envelope import (
    BODY_OFFSET,
    HEADER_SIZE,
    MAXIMUM_TTL,
    PAYLOAD_CONTENT,
    ROTATION_CONTENT,
    XWING_BUCKETS,
    XWING_SUITE,
    Message,
    collapse_id,
    content,
    content_hash,
    ephemeral_ikm,
    header,
    hedge_key,
    hpke_suite,
    in_32_bytes,
    info,
    inner_plaintext,
    message_id,
    message_id_of_name,
    seal,
    signed_bytes,
    smallest_bucket,
    to_text,
)
from reference.opening import Receiver, open_text

from .material import CHAIN, GENERATIONS, NOW, PAYLOAD, PROVIDER, SENT_AT, TOPIC, Case, Device, Sender, seed, trust_in
from .seal_cases import MULTILINGUAL, filler
from .suite2_cases import NEW_PHONE, NEW_TABLET


def seal_case(
    name: str,
    payload: bytes = PAYLOAD,
    *,
    device: Device = NEW_PHONE,
    sender: Sender = PROVIDER,
    topic: str = TOPIC,
    caller_id: str | None = None,
    statements: tuple[bytes, ...] = (),
) -> Case:
    body, content_type = payload, PAYLOAD_CONTENT
    if statements:
        body, content_type = bytes([len(statements)]) + b"".join(statements) + payload, ROTATION_CONTENT
    hedge = hedge_key(sender.seed)
    r_message_id, r_ephemeral = (seed(f"suite 2 seal {name} r {which}") for which in ("message id", "ephemeral"))
    if caller_id is None:
        identifier, origin = message_id(hedge, r_message_id, SENT_AT, body), {"rMessageID": r_message_id.hex()}
    else:
        identifier, origin = message_id_of_name(caller_id), {"callerID": caller_id}
    signed_content = content(
        Message(body, identifier, SENT_AT, MAXIMUM_TTL, content_type), smallest_bucket(len(body), XWING_SUITE)
    )
    ikm_e = ephemeral_ikm(hedge, r_ephemeral, device.public, topic, sender.key_id, signed_content)
    shared_secret, enc = xwing.encapsulate(xwing.randomness(ikm_e), device.public)
    # The other half of the KEM is another program's.
    assert xwing.decapsulate(enc, device.secret) == shared_secret
    inner = inner_plaintext(enc, device.public, sender.seed, topic, signed_content)
    hpke_info = info(header(device.public), topic)
    context = hpke.key_schedule(shared_secret, hpke_info, hpke_suite(XWING_SUITE))
    message = Message(body, identifier, SENT_AT, MAXIMUM_TTL, content_type)
    envelope = seal(message, device.public, sender.seed, topic, ikm_e, len(inner))
    assert envelope == header(device.public) + enc + context.seal(b"", inner)
    pinned = PROVIDER if statements else sender
    opened = open_text(to_text(envelope), Receiver(topic, (device.secret,), trust_in(pinned)), NOW)
    assert (opened.payload, opened.sender) == (payload, sender.public)
    return {
        "name": name,
        "topic": topic,
        "deviceSeed": device.secret.hex(),
        "devicePublic": device.public.hex(),
        "recipientKeyID": device.key_id.hex(),
        "senderSeed": sender.seed.hex(),
        "sentAt": SENT_AT,
        "ttl": MAXIMUM_TTL,
        "statements": [statement.hex() for statement in statements],
        "hedgeKey": hedge.hex(),
        **origin,
        "messageID": identifier.hex(),
        "rEphemeral": r_ephemeral.hex(),
        "contentHash": content_hash(signed_content).hex(),
        "recipientHash": in_32_bytes(device.public).hex(),
        "ikmE": ikm_e.hex(),
        "randomness": xwing.randomness(ikm_e).hex(),
        "enc": enc.hex(),
        "encHash": in_32_bytes(enc).hex(),
        "sharedSecret": shared_secret.hex(),
        "info": hpke_info.hex(),
        "key": context.key.hex(),
        "nonce": context.base_nonce.hex(),
        "signed": signed_bytes(envelope[:HEADER_SIZE], enc, device.public, sender.public, topic, signed_content).hex(),
        "inner": inner.hex(),
        "payload": payload.decode(),
        "envelope": to_text(envelope),
        "collapseID": collapse_id(hedge, topic, None, device.public, None, identifier),
    }


def seal_cases() -> list[Case]:
    cases = [
        seal_case("a payload"),
        seal_case("another device", device=NEW_TABLET),
        seal_case("Korean, a dash and an emoji", MULTILINGUAL),
        seal_case("a message that its caller named", caller_id="order-7731"),
        seal_case("a context of one character", topic="a"),
        seal_case(
            "one statement before the payload", sender=GENERATIONS[1], statements=tuple(one.data for one in CHAIN[:1])
        ),
    ]
    for bucket in XWING_BUCKETS:
        cases.append(seal_case(f"the largest body of bucket {bucket}", filler(bucket - BODY_OFFSET)))
    return cases
