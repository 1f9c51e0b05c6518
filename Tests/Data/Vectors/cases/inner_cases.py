"""Steps 5 and 6 of opening.

The encryption is right in all cases: anyone can encrypt to a public key.
"""

from dataclasses import replace
from typing import Any

from reference.curve25519 import (
    BASE, IDENTITY, L, P, SIGN, Point, add, encode, key_with_torsion, multiply, secret_scalar, sign_with_nonce, sign_with_small_r, sign_with_torsion,
    torsion,
)
from reference.envelope import BODY_OFFSET, BUCKETS, MAXIMUM_TTL, PUSH_CLASSES, TIME_LIMIT, Signer, header

from .forge import Edit, flip, forge, open_case, put
from .key_point_cases import other_points
from .material import (
    DAY,
    HOUR,
    PAYLOAD,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    STRANGER,
    TABLET,
    pinned,
    signer,
)
from .vector import Vector

FAILED = "authentication-failed"
BOTH_PINNED = pinned(PROVIDER, SECOND_PROVIDER)
BY_SECOND, BY_STRANGER = signer(provider=SECOND_PROVIDER), signer(provider=STRANGER)


def signature_cases() -> list[Vector]:
    """Step 5, the provider."""

    def plus_order(signature: bytes) -> bytes:
        return signature[:32] + (int.from_bytes(signature[32:], "little") + L).to_bytes(32, "little")

    faults: list[tuple[str, dict[str, Any]]] = [
        ("a provider that is not pinned", {"signer": BY_STRANGER}),
        ("a stranger's signature", {"signing_seed": STRANGER.seed}),
        ("a stranger's signature, made for the stranger's key", {"signing_seed": STRANGER.seed, "signed_signing_key": STRANGER.public}),
        ("a signature over another suite", {"signed_header": flip(0)(header(PHONE.public))}),
        ("a signature over another recipient key id", {"signed_header": header(TABLET.public)}),
        ("a signature over another enc", {"signed_enc": forge()[5:37]}),
        (
            "a signature over another recipient: a message passed on by one who could read it",
            {"signed_recipient": TABLET.public},
        ),
        ("a signature over another provider key", {"signed_provider": SECOND_PROVIDER.public}),
        ("a signature over another signing key", {"signed_signing_key": SIGNING[0].public}),
        ("a signature over another epoch", {"signed_epoch": 1}),
        ("a signature over another context", {"signed_topic": "com.example.other"}),
        ("a signature of zeros", {"edit_signature": lambda signature: bytes(64)}),
        ("R of the signature changed", {"edit_signature": flip(0)}),
        ("S of the signature changed", {"edit_signature": flip(32)}),
        ("S of the signature with the group order added", {"edit_signature": plus_order}),
        ("the kind changed after signing", {"edit_inner": put(68, b"\x02")}),
        ("the message id changed after signing", {"edit_inner": flip(69)}),
        ("sent at changed after signing", {"edit_inner": flip(92)}),
        ("the time to live changed after signing", {"edit_inner": flip(96)}),
        ("the body length changed after signing", {"edit_inner": flip(98, 1)}),
        ("the body changed after signing", {"edit_inner": flip(BODY_OFFSET + 20)}),
        ("the padding changed after signing", {"edit_inner": flip(-1)}),
    ]
    return [
        *(
            open_case(
                name,
                FAILED,
                "O-5.4 O-5.6",
                forge(**fault),
                "Correctly encrypted, as anyone can do; only the signature is wrong.",
            )
            for name, fault in faults
        ),
        *(
            open_case(f"the {which} of two pins", "opened", "O-5.4 T-5", forge(signer=by), "Two providers are pinned.", receiver=BOTH_PINNED)
            for which, by in (("first", signer()), ("second", BY_SECOND))
        ),
        open_case(
            "the second of two pins, signed for the first",
            FAILED,
            "O-5.4 T-5",
            forge(signer=BY_SECOND, signed_provider=PROVIDER.public),
            "The signature is for one provider key.",
            receiver=BOTH_PINNED,
        ),
        open_case(
            "a stranger, and two pins", FAILED, "O-5.4 T-5", forge(signer=BY_STRANGER), "Neither pin is the provider's.", receiver=BOTH_PINNED
        ),
        open_case("a receiver without a pin", FAILED, "O-5.4 T-5", forge(), "A message never pins a provider.", receiver=pinned()),
    ]


def verification_cases() -> list[Vector]:
    """K-9: signatures about which implementations of Ed25519 differ. Only the holder of the key can make them."""
    scalar, public = secret_scalar(PROVIDER.seed), PROVIDER.public
    differ = "Implementations differ on it; here it has one verdict."

    def with_r(name: str, expected: str, nonce: int, commitment: bytes | None = None) -> Vector:
        def sign(message: bytes) -> bytes:
            return sign_with_nonce(scalar, public, message, nonce, commitment)

        return open_case(name, expected, "K-9 O-5.4", forge(sign=sign), differ)

    def moved(point: Point) -> bytes:
        return encode(add(multiply(nonce, BASE), point))

    nonce = 12345
    zero, order_two, order_four, order_eight = (torsion()[number] for number in (0, 4, 2, 1))
    assert zero == IDENTITY
    return [
        with_r("a signature with a nonce of the signer's choice", "opened", nonce),
        with_r("a signature whose R is the base point", "opened", 1),
        with_r("a signature whose R is the identity", FAILED, 0),
        with_r("a signature whose R is the identity, not canonical", FAILED, 0, (P + 1).to_bytes(32, "little")),
        with_r("a signature whose R is the identity with the sign bit", FAILED, 0, (1 | SIGN).to_bytes(32, "little")),
        with_r("a signature whose R is off by a point of order 2", FAILED, nonce, moved(order_two)),
        with_r("a signature whose R is off by a point of order 4", FAILED, nonce, moved(order_four)),
        with_r("a signature whose R is off by a point of order 8", FAILED, nonce, moved(order_eight)),
        with_r("a signature whose R is a point of order 8", FAILED, 0, encode(order_eight)),
        with_r("a signature whose R is the point of order 2", FAILED, 0, encode(order_two)),
        *mixed_order_cases(scalar, order_eight),
    ]


def mixed_order_cases(scalar: int, order_eight: Point) -> list[Vector]:
    """Under a key that is a good one plus a point of order 8, and one that is no point."""
    public = key_with_torsion(scalar, order_eight)
    alone = "A verifier with the cofactor takes it."
    by_it = Signer(PROVIDER.seed, public)

    def under(name: str, expected: str, sign: Edit, key: bytes = public, comment: str = "R is what K-9 computes.", **fields: Any) -> Vector:
        signer = replace(by_it, provider=key)
        fault = {"signed_signing_key": key, "sign": sign} | fields
        return open_case(name, expected, "K-7 K-9 O-5.4", forge(signer=signer, **fault), comment, receiver=replace(pinned(PROVIDER), pins=(key,)))

    def with_small_r(message: bytes) -> bytes:
        try:
            return sign_with_small_r(scalar, public, message, order_eight)
        except AssertionError:
            return bytes(64)

    def small_r() -> Vector:
        """Of several messages one has such a signature."""
        for number in range(16):
            found: list[bytes] = []

            def sign(message: bytes) -> bytes:
                found.append(with_small_r(message))
                return found[-1]

            case = under("a signature under a key of mixed order whose R is of small order", FAILED, sign, comment="Only the check of R refuses it.", message_id=bytes([number]) * 16)
            if any(found[-1]):
                return case
        raise AssertionError("no message has one")

    no_point = next(key for name, key in other_points() if name == "no point on the curve")
    return [
        under("a signature under a key of mixed order", "opened", lambda message: sign_with_torsion(scalar, public, message)),
        under("a signature under a key of mixed order that only the cofactor makes good", FAILED, lambda message: sign_with_torsion(scalar, public, message, divides=False), comment=alone),
        small_r(),
        under("a signature under a key that is no point", FAILED, lambda message: sign_with_nonce(scalar, no_point, message, 12345), no_point, "Nothing verifies under it."),
    ]


def structure_cases() -> list[Vector]:
    """Step 5, lengths and padding, all of it signed as it is sent."""
    room, start = 256 - BODY_OFFSET, BODY_OFFSET - 68
    end = start + len(PAYLOAD)

    def claim(length: int) -> bytes:
        return forge(edit_content=put(start - 2, length.to_bytes(2, "big")))

    full = b'{"aps":{}}'.ljust(room)
    lengths, padding = "The body ends inside the inner plaintext.", "Every byte after the body is zero."
    return [
        open_case("a body that ends with the inner plaintext", "opened", "O-5.1", forge(full), lengths),
        open_case("a body length one beyond the inner plaintext", FAILED, "O-5.1", claim(room + 1), lengths),
        open_case("a body length of 65535", FAILED, "O-5.1", claim(65535), lengths),
        *(
            open_case(f"a kind of 0x{kind:02x}", FAILED, "O-5.1", forge(kind=kind), "Bits 4 to 6 of the kind are zero.")
            for kind in (0x11, 0x21, 0x41, 0x71, 0x10)
        ),
        open_case("the first byte of the padding is not zero", FAILED, "O-5.5", forge(edit_content=flip(end)), padding),
        open_case(
            "a byte in the middle of the padding is not zero",
            FAILED,
            "O-5.5",
            forge(edit_content=flip((end + 188) // 2, 7)),
            padding,
        ),
        open_case("the last byte of the padding is not zero", FAILED, "O-5.5", forge(edit_content=flip(-1)), padding),
        *(
            open_case(
                f"a short body in bucket {bucket}",
                "opened",
                "O-2.5",
                forge(bucket=bucket),
                "A receiver accepts any bucket, whatever the length of the body.",
            )
            for bucket in BUCKETS
        ),
    ]


def message_cases() -> list[Vector]:
    """Step 6."""
    unsupported: list[tuple[str, str, dict[str, Any]]] = [
        ("a time to live of 0", "O-6.3", {"ttl": 0}),
        ("a time to live one second over the maximum", "O-6.3", {"ttl": MAXIMUM_TTL + 1}),
        ("a time to live of 2^32 - 1", "O-6.3", {"ttl": 2**32 - 1}),
        ("sent at 2^53", "O-6.3", {"sent_at": TIME_LIMIT}),
        ("sent at 2^63", "O-6.3", {"sent_at": 2**63}),
        ("sent at 2^64 - 1", "O-6.3 K-3", {"sent_at": 2**64 - 1}),
        *((f"push class {number}", "O-6.1", {"kind": number}) for number in (0, *range(4, 16))),
        *((f"push class {number} with a certificate", "O-6.1", {"kind": 0x80 | number, "signer": signer(3)}) for number in (0, 4, 15)),
    ]
    hour, longest = forge(ttl=3600), forge()
    classes = "A relay may put an envelope into a push of any type; the signed class is what counts."
    end, ahead = "The end of the time to live is inclusive.", "A provider's clock may be 24 hours ahead, and no more."
    return [
        *(
            open_case(name, "unsupported-message", rules, forge(**fault), "Authentic, but not of this version.")
            for name, rules, fault in unsupported
        ),
        *(
            open_case(name, expected, "O-6.4", message, end, now=now)
            for name, expected, message, now in [
                ("at the last millisecond of its time to live", "opened", hour, SENT_AT + HOUR),
                ("one millisecond after its time to live", "expired", hour, SENT_AT + HOUR + 1),
                ("at the last millisecond of the longest time to live", "opened", longest, SENT_AT + 30 * DAY),
                ("one millisecond after the longest time to live", "expired", longest, SENT_AT + 30 * DAY + 1),
                ("at the last millisecond of the shortest time to live", "opened", forge(ttl=1), SENT_AT + 1000),
                ("one millisecond after the shortest time to live", "expired", forge(ttl=1), SENT_AT + 1001),
            ]
        ),
        *(
            open_case(
                f"a message of push class {sealed} where {expected} is expected",
                "opened" if sealed == expected else "wrong-push-class",
                "O-6.2",
                forge(push_type=sealed, signer=by),
                classes,
                receiver=replace(pinned(PROVIDER), push_type=expected),
            )
            for sealed in PUSH_CLASSES
            for expected in PUSH_CLASSES
            for by in [signer(3) if sealed == "voip" else signer()]
        ),
        open_case("exactly 24 hours from the future", "opened", "O-6.5", longest, ahead, now=SENT_AT - DAY),
        open_case(
            "24 hours and a millisecond from the future",
            "not-yet-valid",
            "O-6.5",
            longest,
            ahead,
            now=SENT_AT - DAY - 1,
        ),
        open_case(
            "sent at 2^53 - 1, which is far in the future",
            "not-yet-valid",
            "O-6.3 O-6.5",
            forge(sent_at=TIME_LIMIT - 1),
            "The latest possible time of a message.",
        ),
        open_case("a clock at 0", "not-yet-valid", "O-6.5", longest, "A phone that lost its clock.", now=0),
        open_case(
            "a clock at 2^53 - 1", "expired", "O-6.4", longest, "A clock at the end of time.", now=TIME_LIMIT - 1
        ),
        open_case(
            "a clock at 2^64 - 1",
            "expired",
            "O-6.4 K-3",
            longest,
            "now + 24 hours does not wrap around.",
            now=2**64 - 1,
        ),
        open_case(
            "sent at 2^53 - 1 and opened then",
            "opened",
            "O-6.3 K-3",
            forge(sent_at=TIME_LIMIT - 1),
            "sent at + time to live is above 2^53.",
            now=TIME_LIMIT - 1,
        ),
    ]
