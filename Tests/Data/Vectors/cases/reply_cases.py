"""A provider's replies to records, and what becomes of what the phone holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Phone, Refused

from .material import PHONE, PROVIDER, RECOVERY, SECOND_PROVIDER, SECOND_RECOVERY, TABLET
from .record_cases import GOOD, MALFORMED, device_text
from .vector import Header, Vector, recovery_text, sender_text, vector

ACKNOWLEDGED = {"version": 1, "acknowledged": GOOD["public_key"], "sender": sender_text(PROVIDER.public)}


def reply_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    text: str,
    pinned: bytes | None = None,
    recovery: tuple[bytes, ...] = (),
    built_in: tuple[str, ...] = (),
) -> Vector:
    """A phone whose record named the key of `device` gets the text."""
    header: list[Header] = [
        ("device", keys.text_form(Kind.DEVICE_SECRET, PHONE.secret)),
        ("pinned", sender_text(pinned) if pinned else None),
        *(("held-recovery", recovery_text(key)) for key in recovery),
        *(("built-in", what) for what in built_in),
    ]
    try:
        reply = records.read_reply(text.encode())
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        phone = Phone(PHONE.public, pinned, recovery, "sender" in built_in, "recovery" in built_in)
        confirms, after = records.apply(reply, phone)
        header += [
            ("acknowledged", device_text(reply.acknowledged) if reply.acknowledged else None),
            ("refused", reply.refused),
            ("sender", sender_text(reply.sender) if reply.sender else None),
            *(("recovery", recovery_text(key)) for key in reply.recovery),
            *(("foreign", member) for member in reply.foreign),
            ("confirms", "yes" if confirms else "no"),
            ("pinned-after", sender_text(after.pinned) if after.pinned else None),
            *(("recovery-after", recovery_text(key)) for key in after.recovery),
        ]
    return vector("replies", name, expected, rules, comment, header, text.encode())


def reply_cases() -> list[Vector]:
    provider, other = PROVIDER.public, SECOND_PROVIDER.public
    reads, one = "The requirements for a reply.", "A reply with one fault. It confirms no key and pins no sender."
    nothing = "It concerns another key: nothing changes."
    keeps = "A reply never replaces a pinned sender."
    first = "Recovery keys come with the first pin of their sender, and never later."
    one_recovery, second_recovery = recovery_text(RECOVERY.public), recovery_text(SECOND_RECOVERY.public)

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
        ("a version with a fraction", MALFORMED, "D-11", changed().replace('"version": 1', '"version": 1.0')),
        ("a version with an exponent", MALFORMED, "D-11", changed().replace('"version": 1', '"version": 1e0')),
        ("a version that is true", MALFORMED, "D-11", changed(version=True)),
        ("recovery keys that are a string", MALFORMED, "D-16", changed(recovery=one_recovery)),
        ("no recovery key in the array", MALFORMED, "D-16", changed(recovery=[])),
        ("three recovery keys", MALFORMED, "D-16", changed(recovery=[one_recovery] * 3)),
        ("a recovery key that is the sender's", MALFORMED, "K-10", changed(recovery=[recovery_text(provider)])),
        ("one recovery key twice", MALFORMED, "K-10", changed(recovery=[one_recovery] * 2)),
        ("a weak recovery key", "weak-key", "D-1 K-7", changed(recovery=[recovery_text(b"\x01" + bytes(31))])),
        ("a sender's key among the recovery keys", "wrong-kind-of-key", "D-1 K-6", changed(recovery=[sender_text(other)])),
        ("foreign that is a string", MALFORMED, "D-19", changed(foreign="sender")),
        ("foreign that is empty", MALFORMED, "D-19", changed(foreign=[])),
        ("foreign of 17 strings", MALFORMED, "D-19", changed(foreign=["sender"] * 17)),
        ("foreign of a number", MALFORMED, "D-19", changed(foreign=[1])),
        ("both acknowledged and refused, before a weak sender", MALFORMED, "D-11 D-1", changed(refused="a", sender=sender_text(b"\x01" + bytes(31)))),
        ("a weak key acknowledged before a sender of the wrong kind", "weak-key", "D-1", changed(acknowledged=device_text(bytes(32)), sender=GOOD["public_key"])),
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
        *(
            reply_case(name, "accepted", rules, first, text, pinned, recovery, built_in)
            for name, rules, text, pinned, recovery, built_in in [
                ("the first pin, with a recovery key", "D-20 R-22", changed(recovery=[one_recovery]), None, (), ()),
                ("the first pin, with two recovery keys", "D-20", changed(recovery=[one_recovery, second_recovery]), None, (), ()),
                ("a recovery key for a sender that is pinned", "D-20 R-22", changed(recovery=[one_recovery]), provider, (), ()),
                ("a recovery key, and another sender is pinned", "D-13 D-20", changed(recovery=[one_recovery]), other, (), ()),
                ("another recovery key than the one held", "D-20 R-22", changed(recovery=[second_recovery]), provider, (RECOVERY.public,), ()),
                ("another recovery key for a sender whose pin was removed", "D-20 R-22", changed(recovery=[second_recovery]), None, (RECOVERY.public,), ()),
                ("a recovery key, and the app has one built in", "D-20 R-22", changed(recovery=[second_recovery]), None, (), ("recovery",)),
                ("a recovery key without a sender", "D-20", changed(sender=..., recovery=[one_recovery]), None, (), ()),
                ("a recovery key, and another key is acknowledged", "D-12 D-20", changed(acknowledged=device_text(TABLET.public), recovery=[one_recovery]), None, (), ()),
                ("a sender, and the app has one built in", "D-13 D-20 R-0", changed(recovery=[one_recovery]), None, (), ("sender",)),
            ]
        ),
        reply_case("the phone trusts a foreign sender", "accepted", "D-19", "It changes no trust.", changed(foreign=["sender", "later"]), other),
        reply_case("the key is taken", "accepted", "D-11 D-17 D-21", reads, changed(acknowledged=..., refused="key-taken")),
    ]
