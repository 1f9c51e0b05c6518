"""Envelopes with one fault. Everything the fault does not touch is right: signed, sealed and encoded as it should be.

The faults are the arguments of `forge`. Without one it gives a genuine envelope, and that is asserted on every import.
"""

import json
from collections.abc import Callable

from reference import hpke, keys
from reference.envelope import (
    MAXIMUM_TTL,
    PAYLOAD_CONTENT,
    Message,
    content,
    header,
    info,
    signed_bytes,
    smallest_bucket,
    to_text,
)
from reference.opening import Receiver, Refused, open_payload

from . import witness
from .material import (
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER,
    RECEIVER,
    SENT_AT,
    TOPIC,
    Case,
    Device,
    Sender,
    describe_trust,
    seed,
)

Edit = Callable[[bytes], bytes]


def unchanged(data: bytes) -> bytes:
    return data


def flip(position: int, bit: int = 0) -> Edit:
    """One bit of one byte. A negative position counts from the end."""

    def edit(data: bytes) -> bytes:
        changed = bytearray(data)
        changed[position] ^= 1 << bit
        return bytes(changed)

    return edit


def put(position: int, value: bytes) -> Edit:
    return lambda data: data[:position] + value + data[position + len(value) :]


def forge(
    body: bytes = PAYLOAD,
    *,
    device: Device = PHONE,
    sender: Sender = PROVIDER,
    topic: str = TOPIC,
    content_type: int = PAYLOAD_CONTENT,
    sent_at: int = SENT_AT,
    ttl: int = MAXIMUM_TTL,
    bucket: int | None = None,
    sender_id: bytes | None = None,
    signing_seed: bytes | None = None,
    signed_header: bytes | None = None,
    signed_enc: bytes | None = None,
    signed_recipient: bytes | None = None,
    signed_sender: bytes | None = None,
    signed_topic: str | None = None,
    edit_content: Edit = unchanged,
    edit_signature: Edit = unchanged,
    edit_inner: Edit = unchanged,
    zero_share: bytes | None = None,
    edit_envelope: Edit = unchanged,
) -> bytes:
    """The bytes of one envelope.

    The signed_… arguments replace what the signature covers. `edit_content` changes inner[68...] before it is signed,
    `edit_signature` the signature, `edit_inner` the inner plaintext before it is encrypted, `edit_envelope` what is
    sent. `zero_share` stands for enc, and the Diffie-Hellman result is taken to be zero.
    """
    message = Message(body, seed("forge message id")[:16], sent_at, ttl, content_type)
    signed_content = edit_content(content(message, bucket or smallest_bucket(len(body))))

    # The faults take part, so that no two different plaintexts ever share an ephemeral key.
    faults = repr((signed_content, topic, sender, sender_id, signing_seed, signed_header, signed_enc, signed_recipient))
    faults += repr((signed_sender, signed_topic, edit_signature(bytes(64)), edit_inner(bytes(256))))
    ikm_e = seed(f"forge {device.public.hex()} {faults}")
    enc = zero_share or hpke.public_key(hpke.derive_secret_key(ikm_e))

    signature = keys.sign(
        signing_seed or sender.seed,
        signed_bytes(
            signed_header or header(device.public),
            signed_enc or enc,
            signed_recipient or device.public,
            signed_sender or sender.public,
            signed_topic or topic,
            signed_content,
        ),
    )
    inner = edit_inner((sender_id or sender.key_id) + edit_signature(signature) + signed_content)
    hpke_info = info(header(device.public), topic)
    if zero_share:
        context = hpke.key_schedule(hpke.extract_and_expand(bytes(32), enc, device.public), hpke_info)
        ciphertext = context.seal(b"", inner)
        assert witness.opens(enc, device.secret, hpke_info, b"", ciphertext) is None
    else:
        enc, ciphertext = witness.seal(ikm_e, device.public, hpke_info, b"", inner)
    return edit_envelope(header(device.public) + enc + ciphertext)


def outcome(received: dict[str, object], receiver: Receiver, now: int) -> Case:
    """What the reference makes of a received payload."""
    try:
        payload, trust = open_payload(received, receiver, now)
    except Refused as error:
        return {"result": error.args[0]}
    return {"result": "opened", "payload": payload.decode(), "trustAfter": describe_trust(trust)}


def describe_receiver(receiver: Receiver) -> Case:
    return {
        "topic": receiver.topic,
        "deviceSecrets": [secret.hex() for secret in receiver.device_secrets],
        "trust": describe_trust(receiver.trust),
    }


def open_case(
    name: str,
    expected: str,
    envelope: bytes | str,
    *,
    receiver: Receiver = RECEIVER,
    now: int = NOW,
) -> Case:
    """A case that says `expected`, after the reference has said so too."""
    text = envelope if isinstance(envelope, str) else to_text(envelope)
    actual = outcome({"ENCRYPTED_DATA": text}, receiver, now)
    assert actual["result"] == expected, (name, actual["result"])
    return {"name": name, "receiver": describe_receiver(receiver), "now": now, "envelope": text, **actual}


def received_case(name: str, expected: str, received: str) -> Case:
    """The same for a whole received payload."""
    actual = outcome(json.loads(received), RECEIVER, NOW)
    assert actual["result"] == expected, (name, actual["result"])
    return {"name": name, "receiver": describe_receiver(RECEIVER), "now": NOW, "received": received, **actual}


assert outcome({"ENCRYPTED_DATA": to_text(forge())}, RECEIVER, NOW)["result"] == "opened"
