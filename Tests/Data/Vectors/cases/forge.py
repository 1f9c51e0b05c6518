"""Envelopes with one fault. Everything else is correctly signed, sealed and encoded.

The faults are the arguments of `forge`. Without one it returns a genuine envelope, which is asserted on every import.
"""

import hashlib
from collections.abc import Callable

from reference import hpke, keys, xwing
from reference.envelope import (
    MAXIMUM_TTL,
    SUITE,
    Message,
    Signer,
    content,
    info,
    layout,
    signed_bytes,
    smallest_bucket,
    to_text,
)
from reference.keys import Kind, text_form
from reference.opening import Opened, Receiver, Refused, open_push, open_text, parse

from . import witness
from .material import (
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER_SIGNER,
    RECEIVER,
    SENT_AT,
    TOPIC,
    Device,
    seed,
)
from .vector import Header, Vector, learned_after_header, provider_text, trust_header, vector

# Every message has this id unless it says otherwise.
MESSAGE_ID = seed("forge message id")[:16]

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
    signer: Signer = PROVIDER_SIGNER,
    topic: str = TOPIC,
    push_type: str = "alert",
    kind: int | None = None,
    epoch: int | None = None,
    head: bytes | None = None,
    sent_at: int = SENT_AT,
    ttl: int = MAXIMUM_TTL,
    message_id: bytes = MESSAGE_ID,
    bucket: int | None = None,
    stated_id: bytes | None = None,
    signing_seed: bytes | None = None,
    signed_header: bytes | None = None,
    signed_enc: bytes | None = None,
    signed_recipient: bytes | None = None,
    signed_provider: bytes | None = None,
    signed_signing_key: bytes | None = None,
    signed_epoch: int | None = None,
    signed_topic: str | None = None,
    sign: Edit | None = None,
    edit_content: Edit = unchanged,
    edit_signature: Edit = unchanged,
    edit_inner: Edit = unchanged,
    zero_share: bytes | None = None,
    edit_envelope: Edit = unchanged,
) -> bytes:
    """The bytes of one envelope.

    `kind`, `epoch` and `head` stand for the signer's, everywhere; `head` is what the body has before the payload. `stated_id` stands for
    the recipient's key id everywhere. The signed_… arguments replace what the signature covers.
    `sign` signs in the place of the seed. `edit_content` changes inner[68...] before it is signed, `edit_signature` the signature, `edit_inner` the inner
    plaintext before it is encrypted, `edit_envelope` what is sent. `zero_share` stands for enc, and the Diffie-Hellman
    result is taken to be zero.
    """
    body = signer.body(body) if head is None else head + body
    message = Message(body, message_id, sent_at, ttl, signer.kind(push_type) if kind is None else kind)
    epoch = signer.epoch if epoch is None else epoch
    signed_content = edit_content(content(message, bucket or smallest_bucket(len(body))))

    stated = bytes([SUITE]) + (stated_id or device.key_id)

    # The faults take part, so that no two different plaintexts ever share an ephemeral key.
    faults = repr((signed_content, topic, signer, epoch, signing_seed, signed_header, signed_enc, signed_recipient))
    faults += repr(sign(b"")) if sign else ""
    faults += repr((stated, signed_provider, signed_signing_key, signed_epoch, signed_topic))
    faults += repr((edit_signature(bytes(64)), edit_inner(bytes(256))))
    ikm_e = seed(f"forge {device.public.hex()} {faults}")
    enc = zero_share or hpke.public_key(hpke.derive_secret_key(ikm_e))

    to_sign = signed_bytes(
        signed_header or stated,
        signed_enc or enc,
        signed_recipient or device.public,
        signed_provider or signer.provider,
        signed_signing_key or signer.public,
        epoch if signed_epoch is None else signed_epoch,
        signed_topic or topic,
        signed_content,
    )
    signature = sign(to_sign) if sign else keys.sign(signing_seed or signer.seed, to_sign)
    inner = edit_inner(epoch.to_bytes(4, "big") + edit_signature(signature) + signed_content)
    hpke_info = info(stated, topic)
    if zero_share:
        context = hpke.key_schedule(hpke.extract_and_expand(bytes(32), enc, device.public), hpke_info)
        ciphertext = context.seal(b"", inner)
        assert witness.opens(enc, device.secret, hpke_info, b"", ciphertext) is None
    else:
        enc, ciphertext = witness.seal(ikm_e, device.public, hpke_info, b"", inner)
    return edit_envelope(stated + enc + ciphertext)


def opening(received: str | bytes, receiver: Receiver, now: int) -> Opened | str:
    """The reference's result for the text of an envelope or the bytes of a push: the message, or an error code."""
    try:
        if isinstance(received, bytes):
            return open_push(received, receiver, now)
        return open_text(received, receiver, now)
    except Refused as error:
        return str(error.args[0])


def receiver_header(receiver: Receiver, now: int) -> list[Header]:
    def device(secret: bytes) -> str:
        kind = Kind.XWING_SECRET if isinstance(secret, xwing.Seed) else Kind.DEVICE_SECRET
        text = text_form(kind, secret)
        return f"{text} {receiver.ends[secret]}" if secret in receiver.ends else text

    return [
        ("time", now),
        ("context", receiver.topic),
        *(("device", device(secret)) for secret in receiver.device_secrets),
        *trust_header(receiver.pins, receiver.learned),
        ("push-type", receiver.push_type if receiver.push_type != "alert" else None),
    ]


def structure_header(text: str) -> list[Header]:
    """The properties of a text that need no key."""
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:8]
    try:
        envelope = parse(text)
    except Refused:
        return [("fingerprint", fingerprint)]
    return [
        ("fingerprint", fingerprint),
        ("recipient-key-id", envelope[1:5].hex()),
        ("bucket", len(envelope) - layout(envelope[0])[1] - 16),
    ]


def opened_header(opened: Opened, receiver: Receiver) -> list[Header]:
    after = receiver.keeping(opened.provider, opened.learned)
    return [
        ("payload-sha256", hashlib.sha256(opened.payload).hexdigest()),
        ("message-id", opened.message.message_id.hex()),
        ("sent-at", opened.message.sent_at),
        ("time-to-live", opened.message.ttl),
        ("provider", provider_text(opened.provider)),
        ("epoch", opened.epoch),
        *(("told", code) for code in opened.told),
        *learned_after_header(receiver.learned, after.learned),
    ]


def received(
    group: str, name: str, expected: str, rules: str, comment: str, body: str | bytes, receiver: Receiver, now: int
) -> Vector:
    result = opening(body, receiver, now)
    assert (result if isinstance(result, str) else "opened") == expected, (name, result)
    header = receiver_header(receiver, now)
    if isinstance(body, str):
        header += structure_header(body)
    if isinstance(result, Opened):
        header += opened_header(result, receiver)
    return vector(group, name, expected, rules, comment, header, body.encode() if isinstance(body, str) else body)


def open_case(
    name: str,
    expected: str,
    rules: str,
    envelope: bytes | str,
    comment: str,
    *,
    receiver: Receiver = RECEIVER,
    now: int = NOW,
    group: str = "envelopes",
) -> Vector:
    """An envelope with the outcome `expected`, which the reference must confirm."""
    text = envelope if isinstance(envelope, str) else to_text(envelope)
    return received(group, name, expected, rules, comment, text, receiver, now)


def push_case(
    name: str, expected: str, rules: str, push: str | bytes, comment: str, receiver: Receiver = RECEIVER
) -> Vector:
    """The same for a whole push."""
    data = push if isinstance(push, bytes) else push.encode()
    return received("pushes", name, expected, rules, comment, data, receiver, NOW)


assert isinstance(opening(to_text(forge()), RECEIVER, NOW), Opened)
