"""Messages with two faults: the order of the steps decides which one is reported."""

from typing import Any

from dataclasses import replace

from reference.envelope import to_text

from .forge import flip, forge, open_case, put
from .inner_cases import FAILED
from .material import DAY, PROVIDER, SENT_AT, STRANGER, TABLET, pinned, signer
from .vector import Vector


def order_cases() -> list[Vector]:
    """Two faults each: the one that an earlier step finds is reported."""
    other_topic = replace(pinned(PROVIDER, devices=(TABLET,)), topic="com.example.other")
    later, stranger = SENT_AT - DAY - 1, signer(provider=STRANGER)
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
        ("a stranger before an unknown push class", FAILED, "O-5.4", forge(signer=stranger, kind=4), {}),
        ("a stranger before a wrong push class", FAILED, "O-5.4", forge(signer=stranger, push_type="voip"), {}),
        ("a stranger before an expired message", FAILED, "O-5.4", forge(signer=stranger, ttl=1), {}),
        ("padding that is not zero before a wrong push class", FAILED, "O-5.5", forge(push_type="voip", edit_content=flip(-1)), {}),
        ("an unknown push class before a time to live of 0", "unsupported-message", "O-6.1", forge(kind=4, ttl=0), {}),
        ("a wrong push class before a time to live of 0", "wrong-push-class", "O-6.2", forge(push_type="voip", ttl=0), {}),
        ("a wrong push class before an expired message", "wrong-push-class", "O-6.2", forge(push_type="voip", ttl=1), {}),
        ("a wrong push class before a malformed payload", "wrong-push-class", "O-6.2", forge(b"{", push_type="background"), {}),
        (
            "padding that is not zero before an expired message",
            FAILED,
            "O-5.5",
            forge(ttl=1, edit_content=flip(-1)),
            {},
        ),
        (
            "an unknown push class before an expired message",
            "unsupported-message",
            "O-6.1",
            forge(ttl=1, kind=4),
            {},
        ),
        (
            "an unknown push class before a malformed payload",
            "unsupported-message",
            "O-6.1",
            forge(b"{", kind=15),
            {},
        ),
        ("an expired message before a malformed payload", "expired", "O-6.4", forge(b"{", ttl=1), {}),
        ("a message from the future before a malformed payload", "not-yet-valid", "O-6.5", forge(b"{"), {"now": later}),
    ]
    return [
        open_case(name, expected, rule, envelope, "Two faults; the earlier step decides the code.", **setting)
        for name, expected, rule, envelope, setting in faults
    ]
