"""envelopes.json, "open", steps 5 and 6, and cases with two faults, which show the order of the steps.

The encryption is right in all cases of steps 5 and 6: anyone can encrypt to a public key.
"""

from reference.curve25519 import L
from reference.envelope import BODY_OFFSET, BUCKETS, MAXIMUM_TTL, TIME_LIMIT, header, to_text
from reference.opening import Receiver

from .forge import flip, forge, open_case, put
from .material import (
    COLLIDING_SENDERS,
    DAY,
    HOUR,
    PAYLOAD,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SENT_AT,
    STRANGER,
    TABLET,
    TOPIC,
    TRUST,
    Case,
    trust_in,
)

FAILED = "authentication-failed"
BOTH_PINNED = Receiver(TOPIC, (PHONE.secret,), trust_in(PROVIDER, SECOND_PROVIDER))


def signature_cases() -> list[Case]:
    """Step 5, the sender."""
    twin, other = COLLIDING_SENDERS
    both_twins = Receiver(TOPIC, (PHONE.secret,), trust_in(twin, other))
    one_twin = Receiver(TOPIC, (PHONE.secret,), trust_in(twin))

    def plus_order(signature: bytes) -> bytes:
        return signature[:32] + (int.from_bytes(signature[32:], "little") + L).to_bytes(32, "little")

    faults: list[tuple[str, Case]] = [
        ("a sender who is not pinned", {"sender": STRANGER}),
        (
            "a stranger's signature under a pinned sender's id",
            {"sender_id": PROVIDER.key_id, "signing_seed": STRANGER.seed},
        ),
        (
            "a stranger's signature under a pinned sender's id, made for the stranger's key",
            {"sender": STRANGER, "sender_id": PROVIDER.key_id},
        ),
        ("a signature over another suite", {"signed_header": flip(0)(header(PHONE.public))}),
        ("a signature over another recipient key id", {"signed_header": header(TABLET.public)}),
        ("a signature over another enc", {"signed_enc": forge()[5:37]}),
        (
            "a signature over another recipient: a message passed on by one who could read it",
            {"signed_recipient": TABLET.public},
        ),
        ("a signature over another sender", {"signed_sender": SECOND_PROVIDER.public}),
        ("a signature over another topic", {"signed_topic": "com.example.other"}),
        ("a signature of zeros", {"edit_signature": lambda signature: bytes(64)}),
        ("R of the signature changed", {"edit_signature": flip(0)}),
        ("S of the signature changed", {"edit_signature": flip(32)}),
        ("S of the signature with the group order added", {"edit_signature": plus_order}),
        ("the content type changed after signing", {"edit_inner": put(68, b"\x02")}),
        ("the message id changed after signing", {"edit_inner": flip(69)}),
        ("sent at changed after signing", {"edit_inner": flip(92)}),
        ("the time to live changed after signing", {"edit_inner": flip(96)}),
        ("the body length changed after signing", {"edit_inner": flip(98, 1)}),
        ("the body changed after signing", {"edit_inner": flip(BODY_OFFSET + 20)}),
        ("the padding changed after signing", {"edit_inner": flip(-1)}),
    ]
    return [
        *(open_case(name, FAILED, forge(**fault)) for name, fault in faults),
        open_case(
            "the id of one pinned sender, the signature of another",
            FAILED,
            forge(sender_id=SECOND_PROVIDER.key_id),
            receiver=BOTH_PINNED,
        ),
        open_case("the second of two pinned senders", "opened", forge(sender=SECOND_PROVIDER), receiver=BOTH_PINNED),
        open_case("the first of two pinned senders with one id", "opened", forge(sender=twin), receiver=both_twins),
        open_case("the second of two pinned senders with one id", "opened", forge(sender=other), receiver=both_twins),
        open_case("a sender who shares an id with the pinned one", FAILED, forge(sender=other), receiver=one_twin),
        open_case("a receiver without a pinned sender", FAILED, forge(), receiver=Receiver(TOPIC, (PHONE.secret,))),
    ]


def structure_cases() -> list[Case]:
    """Step 5, lengths and padding, all of it signed as it is sent."""
    room, start = 256 - BODY_OFFSET, BODY_OFFSET - 68
    end = start + len(PAYLOAD)

    def claim(length: int) -> bytes:
        return forge(edit_content=put(start - 2, length.to_bytes(2, "big")))

    full = b'{"aps":{}}'.ljust(room)
    return [
        open_case("a body that ends with the inner plaintext", "opened", forge(full)),
        open_case("a body length one beyond the inner plaintext", FAILED, claim(room + 1)),
        open_case("a body length of 65535", FAILED, claim(65535)),
        open_case("the first byte of the padding is not zero", FAILED, forge(edit_content=flip(end))),
        open_case(
            "a byte in the middle of the padding is not zero", FAILED, forge(edit_content=flip((end + 188) // 2, 7))
        ),
        open_case("the last byte of the padding is not zero", FAILED, forge(edit_content=flip(-1))),
        *(open_case(f"a short body in bucket {bucket}", "opened", forge(bucket=bucket)) for bucket in BUCKETS),
    ]


def message_cases() -> list[Case]:
    """Step 6."""
    unsupported: list[tuple[str, Case]] = [
        ("a time to live of 0", {"ttl": 0}),
        ("a time to live one second over the maximum", {"ttl": MAXIMUM_TTL + 1}),
        ("a time to live of 2^32 - 1", {"ttl": 2**32 - 1}),
        ("sent at 2^53", {"sent_at": TIME_LIMIT}),
        ("sent at 2^63", {"sent_at": 2**63}),
        ("sent at 2^64 - 1", {"sent_at": 2**64 - 1}),
        *((f"content type 0x{number:02x}", {"content_type": number}) for number in (0x00, 0x03, 0x80, 0xFF)),
    ]
    hour = forge(ttl=3600)
    return [
        *(open_case(name, "unsupported-message", forge(**fault)) for name, fault in unsupported),
        open_case("at the last millisecond of its time to live", "opened", hour, now=SENT_AT + HOUR),
        open_case("one millisecond after its time to live", "expired", hour, now=SENT_AT + HOUR + 1),
        open_case("at the last millisecond of the longest time to live", "opened", forge(), now=SENT_AT + 30 * DAY),
        open_case("one millisecond after the longest time to live", "expired", forge(), now=SENT_AT + 30 * DAY + 1),
        open_case("exactly 24 hours from the future", "opened", forge(), now=SENT_AT - DAY),
        open_case("24 hours and a millisecond from the future", "not-yet-valid", forge(), now=SENT_AT - DAY - 1),
        open_case("sent at 2^53 - 1, which is far in the future", "not-yet-valid", forge(sent_at=TIME_LIMIT - 1)),
        open_case("a clock at 0", "not-yet-valid", forge(), now=0),
        open_case("a clock at 2^53 - 1", "expired", forge(), now=TIME_LIMIT - 1),
    ]


def order_cases() -> list[Case]:
    """Two faults each: the one that an earlier step finds is reported."""
    other_topic = Receiver("com.example.other", (TABLET.secret,), TRUST)
    return [
        open_case(
            "padding before an unknown suite", "malformed-envelope", to_text(put(0, b"\x02")(forge(bucket=512))) + "=="
        ),
        open_case(
            "an unknown suite before an unknown recipient key",
            "unsupported-suite",
            put(0, b"\x02")(forge(device=TABLET)),
        ),
        open_case("a wrong length before an unknown recipient key", "malformed-envelope", forge(device=TABLET)[:-1]),
        open_case(
            "an unknown recipient key before a wrong topic", "unknown-recipient-key", forge(), receiver=other_topic
        ),
        open_case("a wrong sender before an unknown content type", FAILED, forge(sender=STRANGER, content_type=3)),
        open_case("a wrong sender before an expired message", FAILED, forge(sender=STRANGER, ttl=1)),
        open_case("padding that is not zero before an expired message", FAILED, forge(ttl=1, edit_content=flip(-1))),
        open_case(
            "an unknown content type before an expired message", "unsupported-message", forge(ttl=1, content_type=3)
        ),
        open_case(
            "an unknown content type before a malformed payload", "unsupported-message", forge(b"{", content_type=3)
        ),
        open_case("an expired message before a malformed payload", "expired", forge(b"{", ttl=1)),
        open_case(
            "a message from the future before a malformed payload", "not-yet-valid", forge(b"{"), now=SENT_AT - DAY - 1
        ),
    ]
