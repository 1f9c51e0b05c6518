"""Messages of a known sender that carry statements, and messages of superseded senders."""

from reference.rotation import DEFAULT_OVERLAP, Rotation

from .carried_cases import (
    FAILED,
    FIRST,
    GOOD,
    KNOWS_FIRST,
    KNOWS_SECOND,
    REPLACED,
    SECOND,
    THIRD,
    block,
    carry,
    receiver,
)
from .forge import flip, forge, open_case, put
from .material import CHAIN, DAY, NOW, PAYLOAD, SECOND_PROVIDER, SENT_AT, STRANGER, announce, trust_in
from .vector import Vector


def known_sender_cases() -> list[Vector]:
    """The message is genuine without the statements. They must still be well formed."""
    late = announce(FIRST, SECOND, accept_for=3600)
    opened = [
        ("the new key repeats its statement", "R-2", SECOND, block(GOOD), KNOWS_SECOND),
        ("the old key announces the new one", "O-9.1", FIRST, block(GOOD), KNOWS_FIRST),
        ("a statement that is accepted no longer", "O-7.1 R-11", FIRST, block(late), KNOWS_FIRST),
        (
            "a statement by an old key that is not pinned",
            "O-7.1 R-3",
            FIRST,
            block(announce(STRANGER, SECOND)),
            KNOWS_FIRST,
        ),
        (
            "a statement whose old key did not sign",
            "O-7.1 R-4",
            FIRST,
            block(Rotation(flip(53)(GOOD.data))),
            KNOWS_FIRST,
        ),
        ("a statement in conflict", "R-7", SECOND, block(announce(FIRST, THIRD)), KNOWS_SECOND),
        (
            "a statement by a key that the app replaced itself",
            "R-7",
            SECOND,
            block(announce(FIRST, THIRD)),
            receiver(REPLACED),
        ),
        ("the largest number of statements", "S-12 O-7.1", FIRST, block(*CHAIN), KNOWS_FIRST),
        ("a statement of an unknown version", "O-7.1 R-1", FIRST, put(1, b"\x03")(block(GOOD)), KNOWS_FIRST),
        ("a statement of no version", "O-7.1 R-1", FIRST, put(1, b"\x00")(block(GOOD)), KNOWS_FIRST),
        (
            "four statements of unknown versions",
            "O-7.1 R-1",
            FIRST,
            b"\x04" + (b"\x7f" + bytes(180)) * 4,
            KNOWS_FIRST,
        ),
        (
            "the old key announces the new one without any overlap",
            "O-5.2 R-12",
            FIRST,
            block(announce(FIRST, SECOND, overlap=0)),
            KNOWS_FIRST,
        ),
        (
            "a statement about another pin",
            "S-12",
            SECOND_PROVIDER,
            block(GOOD),
            receiver(trust_in(FIRST, SECOND_PROVIDER)),
        ),
    ]
    malformed = [
        ("a count of 0", block(count=0), PAYLOAD),
        ("a count of 0 before a statement", block(GOOD, count=0), PAYLOAD),
        ("a count of 5", block(*CHAIN, GOOD), PAYLOAD),
        ("a count of 2 and one statement", block(GOOD, count=2), PAYLOAD),
        ("a body that ends inside a statement", block(GOOD)[:-1], b""),
        ("a body without a count", b"", b""),
        ("a payload without statements", b"", PAYLOAD),
        ("statements without a payload", block(GOOD), b""),
    ]
    readable = "The message is genuine without its statements, which have to be readable."
    return [
        *(
            open_case(
                f"known sender: {name}",
                "opened",
                rules,
                carry(sender, head),
                "Invalid statements do not stop the message.",
                receiver=holder,
            )
            for name, rules, sender, head, holder in opened
        ),
        *(
            open_case(
                f"known sender: {name}",
                "malformed-payload",
                "O-7.2" if head == block(GOOD) else "O-7.1",
                carry(FIRST, head, payload),
                readable,
                receiver=KNOWS_FIRST,
            )
            for name, head, payload in malformed
        ),
        open_case(
            "a superseded sender within the overlap: a count of 0",
            "malformed-payload",
            "O-7.1",
            carry(FIRST, block(GOOD, count=0)),
            readable,
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "known sender: an expired message before malformed statements",
            "expired",
            "O-6.3 O-7.1",
            carry(FIRST, block(GOOD, count=0), ttl=1),
            "Two faults; the earlier step decides the code.",
            receiver=KNOWS_FIRST,
        ),
    ]


def overlap_cases() -> list[Vector]:
    """Messages signed by a superseded key, around the end of its overlap."""
    end = GOOD.issued_at + DEFAULT_OVERLAP * 1000
    message = forge(sender=FIRST, sent_at=end - DAY)
    forever = announce(FIRST, SECOND, issued_at=2**64 - 1)
    cases = [
        ("a superseded sender within the overlap", "opened", forge(sender=FIRST), NOW),
        ("a superseded sender at the last millisecond of the overlap", "opened", message, end),
        ("a superseded sender one millisecond after the overlap", FAILED, message, end + 1),
        ("the new sender after the overlap", "opened", forge(sender=SECOND, sent_at=end - DAY), end + 1),
        (
            "a superseded sender after the overlap, with the statement that superseded it",
            FAILED,
            carry(FIRST, block(GOOD), sent_at=end - DAY),
            end + 1,
        ),
        (
            "a message sent before the rotation, by the key of then",
            "opened",
            forge(sender=FIRST, sent_at=SENT_AT - 10 * DAY),
            NOW,
        ),
    ]
    return [
        *(
            open_case(
                name,
                expected,
                "O-5.4 R-12",
                envelope,
                "A superseded key verifies up to issued at + overlap, and no longer.",
                receiver=KNOWS_SECOND,
                now=now,
            )
            for name, expected, envelope, now in cases
        ),
        open_case(
            "a sender that the app replaced itself",
            FAILED,
            "O-5.4 R-0",
            forge(sender=FIRST),
            "A superseded key without an end of its overlap verifies nothing.",
            receiver=receiver(REPLACED),
        ),
        open_case(
            "a superseded sender whose overlap ends beyond 2^64",
            "opened",
            "K-3",
            forge(sender=FIRST),
            "The sum counts as 2^64 - 1. No receiver accepts such a statement; one that has it must not wrap around.",
            receiver=receiver(trust_in(SECOND, superseded=((FIRST, forever),))),
        ),
    ]
