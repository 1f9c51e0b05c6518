"""worked-example.md: one envelope and one certificate, byte by byte.

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
from reference.trust import LABEL as CERTIFICATE_LABEL

from .certificate_cases import worked_certificate
from .material import PAYLOAD, PHONE, PROVIDER, TOPIC
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
                ("provider seed", PROVIDER.seed.hex()),
                ("provider public", PROVIDER.public.hex()),
                ("", text_form(Kind.PROVIDER_PUBLIC, PROVIDER.public)),
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
                ("", f'HMAC-SHA256(provider seed, "{HEDGE_LABEL[:-1].decode()}" || 0x00)'),
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
            EPHEMERAL_LABEL + r_ephemeral + header + PHONE.public + bytes(4) + lp16(TOPIC) + digest,
            [
                labelled(EPHEMERAL_LABEL),
                (32, "r"),
                (1, "envelope[0]: suite"),
                (4, "envelope[1..<5]: recipient key id"),
                (32, "recipient public key"),
                (4, "epoch 0"),
                *topic_rows(),
                (32, "content hash"),
            ],
        )
    }

The content hash is SHA-256 of inner[68...], which the next table shows: from the kind to the last byte of the padding.

## The inner plaintext, {len(inner)} bytes

{
        layout(
            inner,
            [
                (4, "epoch 0: the provider key signs"),
                (64, "Ed25519 signature"),
                (1, "kind: push class 1, an alert; no certificate"),
                (16, "message id"),
                (8, f"sent at: {sent_at}"),
                (4, f"time to live: {ttl} seconds"),
                (2, f"body length: {body}"),
                (body, "body: the payload"),
                (padding, f"zero bytes up to the bucket of {len(inner)}"),
            ],
        )
    }

## What is signed, {len(to_sign)} bytes

{
        layout(
            to_sign,
            [
                labelled(SIGNATURE_LABEL),
                (1, "envelope[0]: suite"),
                (4, "envelope[1..<5]: recipient key id"),
                (32, "enc"),
                (32, "recipient public key"),
                (32, "provider public key"),
                (32, "signing public key: at epoch 0 the provider key"),
                (4, "epoch"),
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

The payload to send, {len(sent)} bytes. Everything outside `ENCRYPTED_DATA` is a placeholder and the provider's choice:

```
{sent}
```
"""


def certificate_part() -> str:
    case = worked_certificate()
    certificate, signed = bytes.fromhex(case["certificate"]), bytes.fromhex(case["signed"])
    rows = [
        (1, "version"),
        (4, f"epoch: {case['epoch']}"),
        (4, f"floor: {case['floor']}"),
        (8, f"grace until: {case['graceUntil']}"),
        (8, "expires at: never"),
        (32, "signing public key"),
    ]
    return f"""## A certificate, {len(certificate)} bytes

The provider of above certifies a signing key. A message of this epoch has the epoch in its first 4 bytes, bit 7 of its kind set, and these
{len(certificate)} bytes before the payload; the signing key below stands in what is signed.

{
        listing(
            [
                ("provider public", case["providerPublic"]),
                ("signing seed", case["signingSeed"]),
                ("signing public", case["signingPublic"]),
                ("signing key id", case["signingKeyID"]),
            ]
        )
    }

{layout(certificate, [*rows, (64, "signature by the provider key")])}

The provider key signs these {len(signed)} bytes:

{layout(signed, [labelled(CERTIFICATE_LABEL), (32, "provider public key"), *topic_rows(), *rows])}

As text, {len(case["text"])} characters:

```
{case["text"]}
```
"""


def document() -> str:
    return f"""# One envelope, byte by byte

Written by `generate.py`: the first `seal` case of `envelopes.json` and the first certificate of `trust.json`, both
called "the worked example". Integers are big-endian, bytes are hexadecimal, offsets count from 0.

{envelope_part()}
{certificate_part()}"""
