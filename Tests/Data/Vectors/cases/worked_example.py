"""worked-example.md: one envelope and one rotation statement, byte by byte.

Both are the first cases of their files. Every table is cut out of the bytes it describes, from the first to the last.
"""

import hashlib
import json

from reference import hpke
from reference.envelope import (
    BODY_OFFSET,
    ENVELOPE_LABEL,
    EPHEMERAL_LABEL,
    HEDGE_LABEL,
    MESSAGE_ID_LABEL,
    SIGNATURE_LABEL,
    lp16,
)
from reference.keys import KEY_ID_LABEL, Kind, text_form
from reference.rotation import LABEL as ROTATION_LABEL

from .material import PAYLOAD, PHONE, PROVIDER, TOPIC
from .rotation_cases import worked_statement
from .seal_cases import worked_envelope
from .worked_layout import Row, layout, listing


def labelled(label: bytes) -> Row:
    return len(label), f"label `{label[:-1].decode()}` and a zero byte"


def topic_rows() -> list[Row]:
    return [(2, f"lp16: {len(TOPIC)} bytes follow"), (len(TOPIC), f"topic `{TOPIC}`")]


def envelope_part() -> str:
    seal = worked_envelope()
    case, text = seal.case, seal.envelope.body.decode()
    enc, inner, info, hedge, identifier, r_message_id, r_ephemeral, digest, ikm_e, to_sign = (
        bytes.fromhex(case[name])
        for name in (
            "enc",
            "inner",
            "info",
            "hedgeKey",
            "messageID",
            "rMessageID",
            "rEphemeral",
            "contentHash",
            "ikmE",
            "signed",
        )
    )
    header = bytes([1]) + PHONE.key_id

    ephemeral_secret = hpke.derive_secret_key(ikm_e)
    shared_secret, _ = hpke.encapsulate(ephemeral_secret, PHONE.public)
    context = hpke.key_schedule(shared_secret, info)
    envelope = header + enc + context.seal(b"", inner)

    sent_at, ttl = case["sentAt"], case["ttl"]
    received = {
        "aps": {"mutable-content": 1, "alert": {"title": "New message", "body": "(Encrypted)"}, "sound": "default"},
        "ENCRYPTED_DATA": text,
    }
    sent = json.dumps(received, separators=(",", ":"))
    body, padding = len(PAYLOAD), len(inner) - BODY_OFFSET - len(PAYLOAD)
    return f"""## The keys

{
        listing(
            [
                ("device secret", PHONE.secret.hex()),
                ("device public", PHONE.public.hex()),
                ("", text_form(Kind.DEVICE_PUBLIC, PHONE.public)),
                ("device key id", PHONE.key_id.hex()),
                ("sender seed", PROVIDER.seed.hex()),
                ("sender public", PROVIDER.public.hex()),
                ("", text_form(Kind.SENDER_PUBLIC, PROVIDER.public)),
                ("sender key id", PROVIDER.key_id.hex()),
            ]
        )
    }

A key id is the first 4 bytes of SHA-256. For the device:

{layout(KEY_ID_LABEL + bytes([1]) + PHONE.public, [labelled(KEY_ID_LABEL), (1, "type: X25519"), (32, "public key")])}

## The message

{
        listing(
            [
                ("topic", TOPIC),
                ("sent at", f"{sent_at} (2026-01-01 00:00:00 UTC)"),
                ("time to live", f"{ttl} seconds (30 days)"),
                ("payload", PAYLOAD.decode()),
            ]
        )
    }

## Hedged randomness

A receiver cannot see how these came about. An implementation that derives them in the same way gets the same bytes.

{
        listing(
            [
                ("hedge key", hedge.hex()),
                ("", f'HMAC-SHA256(sender seed, "{HEDGE_LABEL[:-1].decode()}" || 0x00)'),
                ("r, message id", r_message_id.hex()),
                ("message id", identifier.hex()),
                ("r, ephemeral", r_ephemeral.hex()),
                ("ikmE", ikm_e.hex()),
                ("skE", ephemeral_secret.hex()),
                ("pkE = enc", enc.hex()),
            ]
        )
    }

The message id is the first 16 bytes of HMAC-SHA256 under the hedge key, over

{
        layout(
            MESSAGE_ID_LABEL + r_message_id + sent_at.to_bytes(8, "big") + hashlib.sha256(PAYLOAD).digest(),
            [labelled(MESSAGE_ID_LABEL), (32, "r"), (8, "sent at"), (32, "SHA-256 of the body")],
        )
    }

ikmE is HMAC-SHA256 under the hedge key, over

{
        layout(
            EPHEMERAL_LABEL + r_ephemeral + header + PHONE.public + PROVIDER.key_id + lp16(TOPIC) + digest,
            [
                labelled(EPHEMERAL_LABEL),
                (32, "r"),
                (1, "envelope[0]: suite"),
                (4, "envelope[1..<5]: recipient key id"),
                (32, "recipient public key"),
                (4, "sender key id"),
                *topic_rows(),
                (32, "content hash"),
            ],
        )
    }

The content hash is SHA-256 of inner[68...], which the next table shows: from the content type to the last byte of the padding.

## The inner plaintext, {len(inner)} bytes

{
        layout(
            inner,
            [
                (4, "sender key id"),
                (64, "Ed25519 signature"),
                (1, "content type: payload"),
                (16, "message id"),
                (8, f"sent at: {sent_at}"),
                (4, f"time to live: {ttl} seconds"),
                (2, f"body length: {body}"),
                (body, "body: the payload"),
                (padding, f"zero bytes up to the bucket of {len(inner)}"),
            ],
        )
    }

## What the sender signs, {len(to_sign)} bytes

{
        layout(
            to_sign,
            [
                labelled(SIGNATURE_LABEL),
                (1, "envelope[0]: suite"),
                (4, "envelope[1..<5]: recipient key id"),
                (32, "enc"),
                (32, "recipient public key"),
                (32, "sender public key"),
                *topic_rows(),
                (32, "content hash"),
            ],
        )
    }

## HPKE

The info, {len(info)} bytes. The associated data is empty.

{
        layout(
            info,
            [
                labelled(ENVELOPE_LABEL),
                (1, "envelope[0]: suite"),
                (4, "envelope[1..<5]: recipient key id"),
                *topic_rows(),
            ],
        )
    }

{
        listing(
            [
                ("shared secret", shared_secret.hex()),
                ("key", context.key.hex()),
                ("nonce", context.base_nonce.hex()),
            ]
        )
    }

## The envelope, {len(envelope)} bytes

{
        layout(
            envelope,
            [
                (1, "suite: X25519, HKDF-SHA256, ChaCha20-Poly1305, Ed25519"),
                (4, "recipient key id"),
                (32, "enc"),
                (len(inner), "ciphertext"),
                (16, "Poly1305 tag"),
            ],
        )
    }

As text, {len(text)} characters:

```
{text}
```

The payload to send, {len(sent)} bytes. Everything outside `ENCRYPTED_DATA` is a placeholder and the sender's choice:

```
{sent}
```
"""


def statement_part() -> str:
    case = worked_statement()
    statement = bytes.fromhex(case["statement"])
    signed = bytes.fromhex(case["signedByOld"])
    rows = [
        (1, "version"),
        (4, "old key id"),
        (32, "new Ed25519 public key"),
        (8, f"issued at: {case['issuedAt']}"),
        (4, f"accept for: {case['acceptFor']} seconds (400 days)"),
        (4, f"overlap: {case['overlap']} seconds (31 days)"),
    ]
    return f"""## A rotation statement, {len(statement)} bytes

The sender of above hands over to a new key.

{
        listing(
            [
                ("old seed", case["oldSeed"]),
                ("old public", case["oldPublic"]),
                ("new seed", case["newSeed"]),
                ("new public", case["newPublic"]),
            ]
        )
    }

{layout(statement, [*rows, (64, "signature by the old key, role 0x01"), (64, "signature by the new key, role 0x02")])}

The old key signs these {len(signed)} bytes. The new key signs the same with the role 0x02:

{layout(signed, [labelled(ROTATION_LABEL), (1, "role: old key"), (32, "old public key"), *rows])}
"""


def document() -> str:
    return f"""# One envelope, byte by byte

Written by `generate.py`: the first `seal` case of `envelopes.json` and the first statement of `rotation.json`, both
called "the worked example". Integers are big-endian, bytes are hexadecimal, offsets count from 0.

{envelope_part()}
{statement_part()}"""
