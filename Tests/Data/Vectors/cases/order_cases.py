"""Messages with two faults: the order of the steps decides which one is reported."""

from typing import Any

from reference.envelope import to_text
from reference.opening import Receiver

from .forge import flip, forge, open_case, put
from .inner_cases import FAILED
from .material import DAY, SENT_AT, STRANGER, TABLET, TRUST
from .vector import Vector


def order_cases() -> list[Vector]:
    """Two faults each: the one that an earlier step finds is reported."""
    other_topic = Receiver("com.example.other", (TABLET.secret,), TRUST)
    later = SENT_AT - DAY - 1
    faults: list[tuple[str, str, str, bytes | str, dict[str, Any]]] = [
        (
            "padding before an unknown suite",
            "malformed-envelope",
            "O-2.2",
            to_text(put(0, b"\x04")(forge(bucket=512))) + "==",
            {},
        ),
        (
            "an unknown suite before an unknown recipient key",
            "unsupported-suite",
            "O-2.4",
            put(0, b"\x04")(forge(device=TABLET)),
            {},
        ),
        (
            "a wrong length before an unknown recipient key",
            "malformed-envelope",
            "O-2.5",
            forge(device=TABLET)[:-1],
            {},
        ),
        (
            "an unknown recipient key before a wrong context",
            "unknown-recipient-key",
            "O-3.1",
            forge(),
            {"receiver": other_topic},
        ),
        ("a wrong sender before an unknown content type", FAILED, "O-5.4", forge(sender=STRANGER, content_type=3), {}),
        ("a wrong sender before an expired message", FAILED, "O-5.4", forge(sender=STRANGER, ttl=1), {}),
        (
            "padding that is not zero before an expired message",
            FAILED,
            "O-5.5",
            forge(ttl=1, edit_content=flip(-1)),
            {},
        ),
        (
            "an unknown content type before an expired message",
            "unsupported-message",
            "O-6.1",
            forge(ttl=1, content_type=3),
            {},
        ),
        (
            "an unknown content type before a malformed payload",
            "unsupported-message",
            "O-6.1",
            forge(b"{", content_type=3),
            {},
        ),
        ("an expired message before a malformed payload", "expired", "O-6.3", forge(b"{", ttl=1), {}),
        ("a message from the future before a malformed payload", "not-yet-valid", "O-6.4", forge(b"{"), {"now": later}),
    ]
    return [
        open_case(name, expected, rule, envelope, "Two faults; the earlier step decides the code.", **setting)
        for name, expected, rule, envelope, setting in faults
    ]
