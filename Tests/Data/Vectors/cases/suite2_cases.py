"""Suite 0x02: every rule that differs from suite 0x01, in groups of its own, because a receiver need not know the suite.

Encapsulation is the reference's, decapsulation and keys are `cryptography`'s: a file is written only where they agree.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from reference import bech32, curve25519, hpke, keys, mlkem, xwing
from reference.envelope import (
    BODY_OFFSET,
    MAXIMUM_TTL,
    XWING_BUCKETS,
    XWING_SUITE,
    Message,
    Signer,
    content,
    hpke_suite,
    info,
    signed_bytes,
    smallest_bucket,
    to_text,
)
from reference.keys import KeyRefused, Kind
from reference.opening import Receiver

from .forge import MESSAGE_ID, Edit, flip, open_case, put, unchanged
from .forge import forge as forge_suite_1
from .hpke_cases import zero_result_points
from .material import (
    CHAIN,
    DAY,
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER,
    PROVIDER_SIGNER,
    SENT_AT,
    STRANGER,
    TOPIC,
    Device,
    kept,
    pinned,
    seed,
    signer,
)
from .vector import Header, Vector, vector

GROUP, KEYS = "suite-2-envelopes", "suite-2-keys"
MALFORMED, UNKNOWN, FAILED, OPENED = "malformed-envelope", "unknown-recipient-key", "authentication-failed", "opened"

NEW_PHONE, NEW_TABLET = (Device(xwing.Seed(seed(f"suite 2 device {name}"))) for name in ("phone", "tablet"))
RECEIVES = pinned(PROVIDER, devices=(NEW_PHONE,))
BOTH = pinned(PROVIDER, devices=(PHONE, NEW_PHONE))

Secret = Callable[[bytes, bytes, bytes, bytes], bytes]


def combined(lattice: bytes, dh: bytes, enc: bytes, public: bytes) -> bytes:
    return xwing.combine(lattice, dh, enc, public)


def forge(
    body: bytes = PAYLOAD,
    *,
    device: Device = NEW_PHONE,
    signer: Signer = PROVIDER_SIGNER,
    topic: str = TOPIC,
    kind: int | None = None,
    signing_seed: bytes | None = None,
    sent_at: int = SENT_AT,
    ttl: int = MAXIMUM_TTL,
    bucket: int | None = None,
    stated: bytes | None = None,
    signed_header: bytes | None = None,
    signed_enc: bytes | None = None,
    signed_recipient: bytes | None = None,
    signed_topic: str | None = None,
    share: bytes | None = None,
    dh_of: bytes | None = None,
    secret: Secret = combined,
    schedule: bytes = hpke_suite(XWING_SUITE),
    info_topic: str | None = None,
    edit_inner: Edit = unchanged,
    edit_envelope: Edit = unchanged,
) -> bytes:
    """An envelope with one fault. `share` stands for the X25519 half of enc, and `dh_of` for the Diffie-Hellman result;
    `secret` makes the shared secret of ML-KEM's, the Diffie-Hellman result, enc and the public key."""
    public = device.public
    header = stated or bytes([XWING_SUITE]) + device.key_id
    body = signer.body(body)
    message = Message(body, MESSAGE_ID, sent_at, ttl, signer.kind("alert") if kind is None else kind)
    signed_content = content(message, bucket or smallest_bucket(len(body), XWING_SUITE))
    label = repr((public, header, signed_content, topic, signed_header, signed_enc, signed_recipient, signed_topic, share, info_topic))
    label += repr((signer, signing_seed))
    randomness = hashlib.sha512(b"pushcrypt vectors/suite 2 " + label.encode() + edit_inner(bytes(256))).digest()
    lattice, ciphertext = mlkem.encapsulate(public[: xwing.MLKEM_PUBLIC_SIZE], randomness[:32])
    enc = ciphertext + (share or hpke.public_key(randomness[32:]))
    dh = dh_of if dh_of is not None else hpke.diffie_hellman(randomness[32:], public[xwing.MLKEM_PUBLIC_SIZE :])
    to_sign = signed_bytes(
        signed_header or header,
        signed_enc or enc,
        signed_recipient or public,
        signer.provider,
        signer.public,
        signer.epoch,
        signed_topic or topic,
        signed_content,
    )
    signature = keys.sign(signing_seed or signer.seed, to_sign)
    inner = edit_inner(signer.epoch.to_bytes(4, "big") + signature + signed_content)
    context = hpke.key_schedule(secret(lattice, dh, enc, public), info(header, info_topic or topic), schedule)
    return edit_envelope(header + enc + context.seal(b"", inner))


def case(
    name: str, expected: str, rules: str, envelope: bytes | str, comment: str, receiver: Receiver = RECEIVES, now: int = NOW
) -> Vector:
    return open_case(name, expected, rules, envelope, comment, receiver=receiver, now=now, group=GROUP)


def filler(size: int) -> bytes:
    frame = b'{"aps":{"alert":"%s"}}'
    room = size - len(frame % b"")
    return frame % (b"0123456789" * (room // 10 + 1))[:room]


def opened_cases() -> list[Vector]:
    genuine, smallest = "A genuine envelope of suite 0x02.", len(filler(0)) + 1
    cases = [case("a genuine envelope", OPENED, "O-4.1 O-5.4", forge(), genuine)]
    for bucket in XWING_BUCKETS:
        largest = bucket - BODY_OFFSET
        cases.append(case(f"the smallest body of bucket {bucket}", OPENED, "O-2.5", forge(filler(smallest)), genuine))
        cases.append(case(f"the largest body of bucket {bucket}", OPENED, "O-2.5 O-5.1", forge(filler(largest)), genuine))
        smallest = largest + 1
    cases += [
        case(f"a small body in bucket {bucket}", OPENED, "O-2.5", forge(bucket=bucket), "A receiver takes any bucket.")
        for bucket in XWING_BUCKETS[1:]
    ]
    ended = replace(RECEIVES, ends={NEW_PHONE.secret: NOW})
    return [
        *cases,
        case("for a device with keys of both suites", OPENED, "O-3.1", forge(), genuine, BOTH),
        case("for a retiring key at its end", OPENED, "O-3.1", forge(), "The end is inclusive.", ended),
        case("another device", OPENED, "O-3.1", forge(device=NEW_TABLET), genuine, pinned(PROVIDER, devices=(NEW_TABLET,))),
        case("a certificate before the payload", OPENED, "O-5.2 T-3", forge(signer=signer(1)), genuine),
        case("the certificate that the phone has", OPENED, "O-5.2 T-3", forge(signer=signer(1)), genuine, replace(RECEIVES, learned=kept(CHAIN[1]))),
        case("a certificate after a theft", OPENED, "O-5.2 T-3", forge(signer=signer(3)), genuine, replace(RECEIVES, learned=kept(CHAIN[1]))),
        case("a context of one character", OPENED, "K-2", forge(topic="a"), genuine, replace(RECEIVES, topic="a")),
    ]


def outer_cases() -> list[Vector]:
    lengths, envelope = "The decoded length minus 1141 is one of the suite's buckets.", forge(bucket=XWING_BUCKETS[-1])
    sizes = {1, 5, 37, 53, 309, 1125, 1140, 1141, 1141 + 99, 1141 + 2560, 1141 + 2816}
    sizes |= {1141 + bucket + by for bucket in XWING_BUCKETS for by in (-1, 1)}
    long = envelope + bytes(400)
    cases = [
        case(f"a decoded length of {size}", MALFORMED, "O-2.1 O-2.5" if size > 3637 else "O-2.5", long[:size].ljust(size, b"\x00"), lengths)
        for size in sorted(sizes)
    ]
    one, other = bytes([XWING_SUITE]), forge_suite_1()
    suite = "The suite decides the lengths, and a key opens its suite only."
    stated = put(1, NEW_PHONE.key_id)
    ended = replace(RECEIVES, ends={NEW_PHONE.secret: NOW - 1})
    half = Device(PHONE.secret)
    return [
        *cases,
        case("an envelope of suite 0x01 with this suite's byte", MALFORMED, "O-2.5", one + other[1:], suite),
        case("an envelope of this suite with the byte of suite 0x01", MALFORMED, "O-2.5", b"\x01" + forge()[1:], suite),
        case("an envelope of this suite with the byte of suite 0x03", "unsupported-suite", "O-2.4", b"\x03" + forge()[1:], suite),
        case("suite 0x01 under the id of a key of suite 0x02", UNKNOWN, "O-3.1", stated(other), suite, BOTH),
        case("suite 0x01 to the X25519 half, under the id of the key", UNKNOWN, "O-3.1", stated(forge_suite_1(device=half)), suite),
        case("suite 0x02 under the id of a key of suite 0x01", UNKNOWN, "O-3.1", put(1, PHONE.key_id)(forge()), suite, BOTH),
        case("an envelope for a key that is not here", UNKNOWN, "O-3.1", forge(device=NEW_TABLET), suite, BOTH),
        case("for a retiring key after its end", UNKNOWN, "O-3.1", forge(), "The end is inclusive.", ended),
        case("the first byte of the key id changed", UNKNOWN, "O-3.1", flip(1)(forge()), suite),
        case("the last byte of the key id changed", UNKNOWN, "O-3.1", flip(4)(forge()), suite),
        case("the key id of the key as if it were of type 0x01", UNKNOWN, "K-1 O-3.1", put(1, id_of(b"\x01"))(forge()), suite),
        case("padding after the text", MALFORMED, "O-2.2", to_text(forge()) + "=", "An envelope has exactly one text."),
    ]


def id_of(kind: bytes) -> bytes:
    return hashlib.sha256(keys.KEY_ID_LABEL + kind + NEW_PHONE.public).digest()[:4]


def hpke_cases() -> list[Vector]:
    changed, other = "One bit changed on the way.", "Another construction, and everything else is right."
    place = {
        "the first byte of ML-KEM's share": 5,
        "the last byte of u in ML-KEM's share": 5 + 959,
        "the first byte of v in ML-KEM's share": 5 + 960,
        "the last byte of ML-KEM's share": 5 + 1087,
        "the first byte of the X25519 share": 5 + 1088,
        "the last byte of the X25519 share": 5 + 1119,
        "the first byte of the ciphertext": 5 + 1120,
        "the last byte of the ciphertext": -17,
        "the first byte of the tag": -16,
        "the last byte of the tag": -1,
    }
    cases = [case(f"a bit of {name}", FAILED, "O-4.1 O-4.3", flip(position)(forge()), changed) for name, position in place.items()]
    cases.append(case("bit 255 of the X25519 share", FAILED, "O-4.1", flip(5 + 1119, 7)(forge()), "enc counts as it was received."))

    zero = "The ciphertext is right for a Diffie-Hellman result of zero, so only the refusal stands before the plaintext."
    for name, point in zero_result_points():
        envelope = forge(share=point, dh_of=bytes(32))
        cases.append(case(f"an X25519 share of {name}", FAILED, "O-4.2", envelope, zero))

    kept = "enc is not normalised: what the provider wrote is what both sides hash."
    high = seed("suite 2 high share")
    share = hpke.public_key(high)
    raised = share[:31] + bytes([share[31] | 0x80])
    dh = hpke.diffie_hellman(high, NEW_PHONE.public[xwing.MLKEM_PUBLIC_SIZE :])
    _, scalar = xwing.expand(NEW_PHONE.secret)
    beyond = (curve25519.P + 9).to_bytes(32, "little")
    cases += [
        case("an X25519 share with bit 255 set", OPENED, "O-4.1 O-4.2", forge(share=raised, dh_of=dh), kept),
        case("an X25519 share above p", OPENED, "O-4.1 O-4.2", forge(share=beyond, dh_of=hpke.diffie_hellman(scalar, beyond)), kept),
    ]

    def extracted(lattice: bytes, dh: bytes, enc: bytes, public: bytes) -> bytes:
        prk = hpke.labeled_extract(b"KEM" + xwing.KEM_ID.to_bytes(2, "big"), b"", b"eae_prk", combined(lattice, dh, enc, public))
        return hpke.labeled_expand(b"KEM" + xwing.KEM_ID.to_bytes(2, "big"), prk, b"shared_secret", enc + public, 32)

    def hashed(*order: int) -> Secret:
        def secret(lattice: bytes, dh: bytes, enc: bytes, public: bytes) -> bytes:
            parts = [lattice, dh, enc[xwing.MLKEM_ENC_SIZE :], public[xwing.MLKEM_PUBLIC_SIZE :], xwing.LABEL]
            return hashlib.sha3_256(b"".join(parts[index] for index in order)).digest()

        return secret

    assert hashed(0, 1, 2, 3, 4)(b"a", b"b", bytes(1120), bytes(1216)) == combined(b"a", b"b", bytes(1120), bytes(1216))
    faults: list[tuple[str, Secret]] = [
        ("the KEM's output, hashed once more", extracted),
        ("ML-KEM's secret alone", lambda lattice, dh, enc, public: lattice),
        ("the Diffie-Hellman result alone", lambda lattice, dh, enc, public: dh),
        ("the combiner without ML-KEM's secret", hashed(1, 2, 3, 4)),
        ("the combiner without the Diffie-Hellman result", hashed(0, 2, 3, 4)),
        ("the combiner without the X25519 share", hashed(0, 1, 3, 4)),
        ("the combiner without the X25519 key", hashed(0, 1, 2, 4)),
        ("the combiner without its label", hashed(0, 1, 2, 3)),
        ("the combiner with its label first", hashed(4, 0, 1, 2, 3)),
        ("the combiner with the shared secrets exchanged", hashed(1, 0, 2, 3, 4)),
    ]
    cases += [case(name, FAILED, "O-4.1 O-4.3", forge(secret=secret), other) for name, secret in faults]
    return [
        *cases,
        case("the key schedule of suite 0x01", FAILED, "O-4.3", forge(schedule=hpke.HPKE_SUITE), other),
        case("the key schedule of ML-KEM-768 alone", FAILED, "O-4.3", forge(schedule=hpke.suite_id(0x0041)), other),
        case("another context in the info", FAILED, "O-4.3", forge(info_topic="com.example.other"), other),
        case("another topic", FAILED, "O-4.3", forge(topic="com.example.other"), "Sealed for another app."),
    ]


def inner_cases() -> list[Vector]:
    signature = "The signature covers the SHA-256 of enc and of the recipient's key."
    good = forge()
    enc, public = good[5 : 5 + xwing.ENC_SIZE], NEW_PHONE.public
    share = enc[xwing.MLKEM_ENC_SIZE :]
    later = "The steps after the suite are those of suite 0x01."
    cases = [
        ("a signature over the X25519 share for enc", {"signed_enc": share}),
        ("a signature over the X25519 half for the recipient", {"signed_recipient": public[xwing.MLKEM_PUBLIC_SIZE :]}),
        ("a signature over another enc", {"signed_enc": flip(0)(enc)}),
        ("a signature over another recipient", {"signed_recipient": NEW_TABLET.public}),
        ("a signature over the header of suite 0x01", {"signed_header": b"\x01" + NEW_PHONE.key_id}),
        ("a signature over another key id", {"signed_header": bytes([XWING_SUITE]) + PHONE.key_id}),
        ("a signature over another context", {"signed_topic": "com.example.other"}),
        ("a stranger's signature", {"signing_seed": STRANGER.seed}),
        ("a stranger's signature under a certificate", {"signer": signer(1), "signing_seed": STRANGER.seed}),
        ("the provider key's signature under a certificate", {"signer": signer(1), "signing_seed": PROVIDER.seed}),
        ("a bit of the signature", {"edit_inner": flip(4)}),
        ("a bit of the padding", {"edit_inner": flip(-1)}),
        ("a bit of the body", {"edit_inner": flip(99)}),
        ("a body length beyond the bucket", {"edit_inner": put(97, b"\xff\xff")}),
    ]
    return [
        *(case(name, FAILED, "O-5.4" if "length" not in name else "O-5.1", forge(**fault), signature) for name, fault in cases),  # type: ignore[arg-type]
        case("past its time to live", "expired", "O-6.4", forge(ttl=1), later, now=SENT_AT + 1001),
        case("a day ahead and a bit", "not-yet-valid", "O-6.5", forge(), later, now=SENT_AT - DAY - 1),
        case("an unknown push class", "unsupported-message", "O-6.1", forge(kind=4), later),
        case("another push class", "wrong-push-class", "O-6.2", forge(kind=3), later),
        case("a kind with bit 4", FAILED, "O-5.1", forge(kind=0x11), later),
        case("a kind that promises a certificate, at epoch 0", FAILED, "O-5.2", forge(kind=0x81), later),
        case("an epoch below the floor", FAILED, "O-5.3 T-4", forge(signer=signer(0)), later, replace(RECEIVES, learned=kept(CHAIN[2]))),
        case("a time to live of zero", "unsupported-message", "O-6.3", forge(ttl=0), later),
        case("a payload without aps", "malformed-payload", "J-7", forge(b'{"a":1}'), later),
    ]


# Keys.


def key_case(name: str, kind: Kind, expected: str, rules: str, comment: str, text: str) -> Vector:
    """`kind` is what a reader wants: a device's key of either suite, or a provider's."""
    key: bytes | None = None
    try:
        key = keys.import_text(kind, text)
    except KeyRefused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
    header: list[Header] = [("kind", kind.value)]
    if key is not None:
        public = keys.device_public_key(key) if kind is Kind.DEVICE_SECRET else key
        header += [
            ("bytes", key.hex()),
            ("key-id", keys.device_key_id(public).hex()),
            ("public-key", public.hex() if kind is Kind.DEVICE_SECRET else None),
        ]
    return vector(KEYS, name, expected, rules, comment, header, text.encode())


def coefficient(public: bytes, index: int, value: int) -> bytes:
    """The key with one of the 768 numbers changed."""
    start = index // 2 * 3
    pair = int.from_bytes(public[start : start + 3], "little")
    shift = 12 * (index % 2)
    pair = pair & ~(0xFFF << shift) | value << shift
    return public[:start] + pair.to_bytes(3, "little") + public[start + 3 :]


def key_cases() -> list[Vector]:
    plain, weak = "A key and its text.", "No device makes this key."
    public_kind, secret_kind = Kind.DEVICE_PUBLIC, Kind.DEVICE_SECRET

    def text_of(key: bytes) -> str:
        return keys.text_form(Kind.XWING_PUBLIC, key)

    public = NEW_PHONE.public
    text, secret = text_of(public), keys.text_form(Kind.XWING_SECRET, NEW_PHONE.secret)
    cases = [
        key_case("the phones public key", public_kind, "accepted", "K-4 K-6 K-8", plain, text),
        key_case("the tablets public key", public_kind, "accepted", "K-4 K-6 K-8", plain, text_of(NEW_TABLET.public)),
        key_case("the phones seed", secret_kind, "accepted", "K-4 K-6", plain, secret),
        key_case("a seed of zero bytes", secret_kind, "accepted", "K-4", "Every 32 bytes are a secret key.", keys.text_form(Kind.XWING_SECRET, xwing.Seed(32))),
        key_case("a seed of bytes 0xff", secret_kind, "accepted", "K-4", "Every 32 bytes are a secret key.", keys.text_form(Kind.XWING_SECRET, xwing.Seed(b"\xff" * 32))),
        key_case("one newline after a public key", public_kind, "accepted", "K-4", "Files of keys end with a newline.", text + "\n"),
        key_case("one newline after a seed", secret_kind, "accepted", "K-4", "Files of keys end with a newline.", secret + "\n"),
    ]
    for index, name in ((0, "first"), (1, "second"), (256, "257th"), (511, "512th"), (766, "last but one"), (767, "last")):
        cases.append(key_case(f"the {name} coefficient at 3328", public_kind, "accepted", "K-8", "The largest there is.", text_of(coefficient(public, index, 3328))))
        cases.append(key_case(f"the {name} coefficient at 3329", public_kind, "weak-key", "K-8", weak, text_of(coefficient(public, index, 3329))))
    cases += [
        key_case("the first coefficient at 4095", public_kind, "weak-key", "K-8", weak, text_of(coefficient(public, 0, 4095))),
        key_case("an ML-KEM half of bytes 0xff", public_kind, "weak-key", "K-8", weak, text_of(b"\xff" * 1184 + public[1184:])),
        key_case("the last 32 bytes of the ML-KEM half at 0xff", public_kind, "accepted", "K-8", "They are a seed.", text_of(public[:1152] + b"\xff" * 32 + public[1184:])),
    ]
    for name, point in zero_result_points():
        cases.append(key_case(f"an X25519 half of {name}", public_kind, "weak-key", "K-8", weak, text_of(public[:1184] + point)))
    raised = public[:-1] + bytes([public[-1] | 0x80])
    beyond = public[:1184] + (curve25519.P + 9).to_bytes(32, "little")
    cases += [
        key_case("an X25519 half with bit 255 set", public_kind, "weak-key", "K-8", weak, text_of(raised)),
        key_case("an X25519 half above p", public_kind, "weak-key", "K-8", weak, text_of(beyond)),
    ]

    def spelled(prefix: str, data: bytes, constant: int = bech32.BECH32) -> str:
        return bech32.spell(prefix, bech32.to_groups(data), constant)

    groups = bech32.to_groups(public)
    letter = "q" if text[-1] != "q" else "p"
    malformed = [
        ("1215 bytes", spelled("pcrx", public[:-1])),
        ("1217 bytes", spelled("pcrx", public + b"\x00")),
        ("the 32 bytes of an X25519 key under this prefix", spelled("pcrx", PHONE.public)),
        ("1216 bytes under the prefix of suite 0x01", spelled("pcr", public)),
        ("the lowest padding bit set", bech32.spell("pcrx", [*groups[:-1], groups[-1] | 1])),
        ("upper case", text.upper()),
        ("mixed case", text[:-1] + text[-1].upper() if text[-1].isalpha() else text[:10] + text[10:].upper()),
        ("a space inside", text[:1000] + " " + text[1000:]),
        ("two trailing newlines", text + "\n\n"),
        ("a character outside the alphabet", text[:1000] + "b" + text[1001:]),
        ("the last character cut off", text[:-1]),
        ("the prefix alone", "pcrx1"),
    ]
    checksums = [
        ("the last character changed", text[:-1] + letter),
        ("one character in the middle changed", text[:1000] + ("q" if text[1000] != "q" else "p") + text[1001:]),
        ("the checksum of Bech32m", spelled("pcrx", public, bech32.BECH32M)),
        ("the checksum of the prefix pcr", "pcrx1" + bech32.spell("pcr", groups).removeprefix("pcr1")),
    ]
    one = "A key has one text, and one newline may follow."
    cases += [key_case(name, public_kind, "malformed-key", "K-4", one, fault) for name, fault in malformed]
    cases += [key_case(name, public_kind, "wrong-checksum", "K-5", "The checksum detects a typing error.", fault) for name, fault in checksums]
    cases += [
        key_case("a seed in lower case", secret_kind, "malformed-key", "K-6", one, secret.lower()),
        key_case("a seed of 31 bytes", secret_kind, "malformed-key", "K-4", one, spelled("pcrx-secret-", NEW_PHONE.secret[:31]).upper()),
        key_case("a seed with a wrong checksum", secret_kind, "wrong-checksum", "K-5", one, secret[:-1] + ("Q" if secret[-1] != "Q" else "P")),
    ]
    says = "The prefix says what it is."
    for kind in (Kind.PROVIDER_PUBLIC, Kind.PROVIDER_SECRET, Kind.SIGNING_SECRET):
        cases.append(key_case(f"a public key where a {kind.value} is wanted", kind, "wrong-kind-of-key", "K-6", says, text))
        cases.append(key_case(f"a seed where a {kind.value} is wanted", kind, "wrong-kind-of-key", "K-6", says, secret))
    return [
        *cases,
        key_case("a seed where a public key is wanted", public_kind, "wrong-kind-of-key", "K-6", says, secret),
        key_case("a public key where a seed is wanted", secret_kind, "wrong-kind-of-key", "K-6", says, text),
        key_case("the beginning of a public key where a seed is wanted", secret_kind, "wrong-kind-of-key", "K-6", says, "pcrx1!"),
    ]


def suite_2_cases() -> list[Vector]:
    return [*opened_cases(), *outer_cases(), *hpke_cases(), *inner_cases(), *key_cases()]
