"""A provider's replies to records, and what becomes of what the phone holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Refused

from .material import PHONE, PROVIDER, SECOND_PROVIDER, TABLET
from .record_cases import GOOD, MALFORMED, device_text
from .vector import Header, Vector, sender_text, vector

ACKNOWLEDGED = {"version": 1, "acknowledged": GOOD["public_key"], "sender": sender_text(PROVIDER.public)}


def reply_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    text: str,
    pinned: bytes | None = None,
) -> Vector:
    """A phone whose record named the key of `device` gets the text."""
    header: list[Header] = [
        ("device", keys.text_form(Kind.DEVICE_SECRET, PHONE.secret)),
        ("pinned", sender_text(pinned) if pinned else None),
    ]
    try:
        reply = records.read_reply(text.encode())
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        confirms = reply.acknowledged == PHONE.public
        pins = confirms and reply.sender and not pinned
        after = reply.sender if pins else pinned
        header += [
            ("acknowledged", device_text(reply.acknowledged) if reply.acknowledged else None),
            ("refused", reply.refused),
            ("sender", sender_text(reply.sender) if reply.sender else None),
            ("confirms", "yes" if confirms else "no"),
            ("pinned-after", sender_text(after) if after else None),
        ]
    return vector("replies", name, expected, rules, comment, header, text.encode())


def reply_cases() -> list[Vector]:
    provider, other = PROVIDER.public, SECOND_PROVIDER.public
    reads, one = "The requirements for a reply.", "A reply with one fault. It confirms no key and pins no sender."
    nothing = "It concerns another key: nothing changes."
    keeps = "A reply never replaces a pinned sender."

    def changed(**members: object) -> str:
        return json.dumps({name: value for name, value in (ACKNOWLEDGED | members).items() if value is not ...})

    faults: list[tuple[str, str, str, str]] = [
        ("a reply without a version", MALFORMED, "D-11", changed(version=...)),
        ("a reply of version 2", MALFORMED, "D-11", changed(version=2)),
        ("a version that is a string", MALFORMED, "D-11", changed(version="1")),
        ("neither acknowledged nor refused", MALFORMED, "D-11", changed(acknowledged=...)),
        ("both acknowledged and refused", MALFORMED, "D-11", changed(refused="generation-rollback")),
        ("acknowledged that is null", MALFORMED, "D-11 D-6", changed(acknowledged=None)),
        ("an empty reason", MALFORMED, "D-11", changed(acknowledged=..., refused="")),
        ("a reason of 65 characters", MALFORMED, "D-11", changed(acknowledged=..., refused="a" * 65)),
        ("a reason with a capital", MALFORMED, "D-11", changed(acknowledged=..., refused="Rollback")),
        ("a reason with a space", MALFORMED, "D-11", changed(acknowledged=..., refused="try again")),
        ("a reason that is a number", MALFORMED, "D-11", changed(acknowledged=..., refused=7)),
        ("a weak key acknowledged", "weak-key", "D-11 K-8", changed(acknowledged=device_text(bytes(32)))),
        ("a sender's key acknowledged", "wrong-kind-of-key", "D-11 K-6", changed(acknowledged=sender_text(provider))),
        ("a weak sender", "weak-key", "D-11 K-7", changed(sender=sender_text(b"\x01" + bytes(31)))),
        ("a sender that is a number", MALFORMED, "D-11", changed(sender=1)),
        ("a reply that is an array", MALFORMED, "J-3", f"[{changed()}]"),
        ("a reply with a member twice", MALFORMED, "J-5", changed()[:-1] + ', "version": 1}'),
    ]
    return [
        reply_case("the key is acknowledged, and the first sender pinned", "accepted", "D-11 D-13", reads, changed()),
        reply_case("no sender in the reply", "accepted", "D-11", reads, changed(sender=...)),
        reply_case("members that nobody knows", "accepted", "D-6", reads, changed(later=[1])),
        reply_case(
            "the record is refused",
            "accepted",
            "D-11 D-7",
            reads,
            changed(acknowledged=..., refused="generation-rollback"),
        ),
        reply_case(
            "the record is refused for a reason of the provider's",
            "accepted",
            "D-11",
            reads,
            changed(acknowledged=..., refused="a" * 64),
        ),
        reply_case(
            "another key is acknowledged", "accepted", "D-12", nothing, changed(acknowledged=device_text(TABLET.public))
        ),
        reply_case(
            "another key is acknowledged while a sender is pinned",
            "accepted",
            "D-12",
            nothing,
            changed(acknowledged=device_text(TABLET.public)),
            other,
        ),
        reply_case("another sender than the pinned one", "accepted", "D-13", keeps, changed(), other),
        reply_case("the sender that is pinned already", "accepted", "D-13", keeps, changed(), provider),
        *(reply_case(name, expected, rules, one, text) for name, expected, rules, text in faults),
    ]
