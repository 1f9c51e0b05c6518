"""Seals of suite 0x02: every input, the randomness included, and every byte in between, in suite-2-seals.json."""

from dataclasses import replace

from reference import hpke, xwing
from reference.envelope import (
    BODY_OFFSET,
    MAXIMUM_TTL,
    XWING_BUCKETS,
    XWING_SUITE,
    Message,
    Signer,
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
    signed_by,
    smallest_bucket,
    to_text,
)
from reference.opening import open_text

from .material import NOW, PAYLOAD, PROVIDER, PROVIDER_SIGNER, SENT_AT, TOPIC, Case, Device, pinned, seed, signer
from .seal_cases import MULTILINGUAL, filler
from .suite2_cases import NEW_PHONE, NEW_TABLET


def seal_case(
    name: str,
    payload: bytes = PAYLOAD,
    *,
    device: Device = NEW_PHONE,
    by: Signer = PROVIDER_SIGNER,
    topic: str = TOPIC,
    caller_id: str | None = None,
    push_type: str = "voip",
) -> Case:
    body = by.body(payload)
    hedge = hedge_key(by.seed)
    r_message_id, r_ephemeral = (seed(f"suite 2 seal {name} r {which}") for which in ("message id", "ephemeral"))
    if caller_id is None:
        identifier, origin = message_id(hedge, r_message_id, SENT_AT, body), {"rMessageID": r_message_id.hex()}
    else:
        identifier, origin = message_id_of_name(caller_id), {"callerID": caller_id}
    message = Message(body, identifier, SENT_AT, MAXIMUM_TTL, by.kind(push_type))
    signed_content = content(message, smallest_bucket(len(body), XWING_SUITE))
    ikm_e = ephemeral_ikm(hedge, r_ephemeral, device.public, topic, by.epoch, signed_content)
    shared_secret, enc = xwing.encapsulate(xwing.randomness(ikm_e), device.public)
    # The other half of the KEM is another program's.
    assert xwing.decapsulate(enc, device.secret) == shared_secret
    inner = inner_plaintext(enc, device.public, by, topic, signed_content)
    hpke_info = info(header(device.public), topic)
    context = hpke.key_schedule(shared_secret, hpke_info, hpke_suite(XWING_SUITE))
    envelope = seal(message, device.public, by, topic, ikm_e, len(inner))
    assert envelope == header(device.public) + enc + context.seal(b"", inner)
    receiver = replace(pinned(PROVIDER, devices=(device,)), topic=topic, push_type=push_type)
    opened = open_text(to_text(envelope), receiver, NOW)
    assert (opened.payload, opened.provider, opened.epoch) == (payload, by.provider, by.epoch)
    signing = {}
    if by.certificate:
        signing = {"signingSeed": by.seed.hex(), "certificate": by.certificate.data.hex()}
    return {
        "name": name,
        "topic": topic,
        "deviceSeed": device.secret.hex(),
        "devicePublic": device.public.hex(),
        "recipientKeyID": device.key_id.hex(),
        "providerSeed": PROVIDER.seed.hex(),
        "epoch": by.epoch,
        **signing,
        "sentAt": SENT_AT,
        "ttl": MAXIMUM_TTL,
        "pushType": push_type,
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
        "signed": signed_by(by, enc, device.public, topic, signed_content).hex(),
        "inner": inner.hex(),
        "payload": payload.decode(),
        "envelope": to_text(envelope),
        "collapseID": collapse_id(by.provider, topic, None, device.public, None, identifier),
    }


def seal_cases() -> list[Case]:
    cases = [
        seal_case("a payload"),
        seal_case("another device", device=NEW_TABLET),
        seal_case("Korean, a dash and an emoji", MULTILINGUAL),
        seal_case("a message that its caller named", caller_id="order-7731"),
        seal_case("a context of one character", topic="a"),
        seal_case("a certificate before the payload", by=signer(1)),
        seal_case("an alert", push_type="alert"),
        seal_case("an alert with a certificate", by=signer(3), push_type="alert"),
        seal_case("the largest body beside a certificate", filler(2276), by=signer(1)),
    ]
    for bucket in XWING_BUCKETS:
        cases.append(seal_case(f"the largest body of bucket {bucket}", filler(min(bucket - BODY_OFFSET, 2276))))
    return cases
