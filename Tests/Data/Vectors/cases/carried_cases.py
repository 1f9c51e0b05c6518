"""Messages with rotation statements, from senders that are unknown without them."""

from typing import Any

from reference.envelope import ROTATION_CONTENT
from reference.opening import Receiver
from reference.rotation import MAXIMUM_OVERLAP, Rotation, Statement
from reference.trust import Trust

from .forge import flip, forge, open_case, put
from .material import (
    CHAIN,
    COLLIDING_SENDERS,
    DAY,
    GENERATIONS,
    NOW,
    PAYLOAD,
    PHONE,
    STRANGER,
    TOPIC,
    Sender,
    announce,
    trust_in,
)
from .vector import Vector

FIRST, SECOND, THIRD = GENERATIONS[:3]
GOOD = CHAIN[0]
FAILED = "authentication-failed"


def block(*statements: Statement, count: int | None = None) -> bytes:
    return bytes([len(statements) if count is None else count]) + b"".join(statement.data for statement in statements)


def receiver(trust: Trust) -> Receiver:
    return Receiver(TOPIC, (PHONE.secret,), trust)


KNOWS_FIRST = receiver(trust_in(FIRST))
REPLACED = trust_in(SECOND, superseded=((FIRST, None),))
KNOWS_SECOND = receiver(trust_in(SECOND, superseded=((FIRST, GOOD),)))


def carry(sender: Sender, head: bytes, payload: bytes = PAYLOAD, **fields: Any) -> bytes:
    return forge(head + payload, sender=sender, content_type=ROTATION_CONTENT, **fields)


def unknown_sender_cases() -> list[Vector]:
    """The sender's key becomes known, or does not, through what the message carries."""
    twin, other_twin = COLLIDING_SENDERS
    opened = [
        ("a new key announced by one statement", SECOND, block(GOOD), KNOWS_FIRST),
        ("a new key announced by two statements", THIRD, block(*CHAIN[:2]), KNOWS_FIRST),
        (
            "a new key announced by four statements, of which this receiver needs the last",
            GENERATIONS[4],
            block(*CHAIN),
            receiver(trust_in(GENERATIONS[3])),
        ),
        (
            "a new key announced by two statements, of which the first was accepted before",
            THIRD,
            block(*CHAIN[:2]),
            KNOWS_SECOND,
        ),
        (
            "a new key announced beside a statement that has no effect",
            SECOND,
            block(announce(STRANGER, THIRD), GOOD),
            KNOWS_FIRST,
        ),
        (
            "a new key announced before a statement of an unknown version",
            SECOND,
            put(1 + 181, b"\x03")(block(GOOD, CHAIN[1])),
            KNOWS_FIRST,
        ),
        (
            "a new key announced after a statement of an unknown version",
            SECOND,
            put(1, b"\xff")(block(CHAIN[1], GOOD)),
            KNOWS_FIRST,
        ),
        (
            "a new key announced after a conflict in the same message",
            THIRD,
            block(announce(FIRST, GENERATIONS[4]), announce(SECOND, THIRD)),
            KNOWS_SECOND,
        ),
        (
            "a new key announced before a conflict in the same message",
            THIRD,
            block(announce(SECOND, THIRD), announce(FIRST, GENERATIONS[4])),
            KNOWS_SECOND,
        ),
        (
            "a new key whose id another pinned key has",
            other_twin,
            block(announce(FIRST, other_twin)),
            receiver(trust_in(twin, FIRST)),
        ),
    ]
    refused = [
        ("two statements in the wrong order", "R-3", THIRD, block(CHAIN[1], CHAIN[0])),
        ("a statement that is accepted no longer", "R-11", SECOND, block(announce(FIRST, SECOND, accept_for=3600))),
        (
            "a statement with too long an overlap",
            "R-9",
            SECOND,
            block(announce(FIRST, SECOND, overlap=MAXIMUM_OVERLAP + 1)),
        ),
        (
            "a statement issued too far in the future",
            "R-10",
            SECOND,
            block(announce(FIRST, SECOND, NOW + DAY + 1)),
        ),
        ("a statement by an old key that is not pinned", "R-3", SECOND, block(announce(STRANGER, SECOND))),
        ("a statement whose old key did not sign", "R-4", SECOND, block(Rotation(flip(53)(GOOD.data)))),
        ("a statement whose new key did not sign", "R-6", SECOND, block(Rotation(flip(117)(GOOD.data)))),
        ("good statements in a stranger's message", "R-0", STRANGER, block(GOOD)),
        ("a count of 0", "O-7.1", SECOND, block(GOOD, count=0)),
        ("a count of 5", "S-12 O-7.1", SECOND, block(*CHAIN, GOOD)),
        ("a count of 255", "O-7.1", SECOND, block(GOOD, count=255)),
        ("a count of 2 and one statement", "O-7.1", SECOND, block(GOOD, count=2)),
        ("an unknown statement version", "R-1", SECOND, put(1, b"\x03")(block(GOOD))),
        ("a version of a recovery in a rotation", "R-15", SECOND, put(1, b"\x02")(block(GOOD))),
    ]
    becomes_known = "The statements are evaluated on a copy of the trust, and the sender is looked up there."
    stays_unknown = "The sender is known only through statements, and these do not lead to a key."
    genuine, other = block(GOOD), block(announce(FIRST, THIRD))
    forged = block(Rotation(flip(53)(announce(FIRST, THIRD).data)))
    return [
        *(
            open_case(name, "opened", "O-5.2 O-9.1", carry(sender, head), becomes_known, receiver=holder)
            for name, sender, head, holder in opened
        ),
        *(
            open_case(
                f"unknown sender: {name}",
                FAILED,
                f"O-5.2 O-9.3 {rules}",
                carry(sender, head),
                stays_unknown,
                receiver=KNOWS_FIRST,
            )
            for name, rules, sender, head in refused
        ),
        open_case(
            "unknown sender: a body that ends inside a statement",
            FAILED,
            "O-5.2",
            carry(SECOND, block(GOOD)[:-1], b""),
            stays_unknown,
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "unknown sender: a body without a count",
            FAILED,
            "O-5.2",
            carry(SECOND, b"", b""),
            stays_unknown,
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "unknown sender: a good statement behind content type 0x01",
            FAILED,
            "O-5.2",
            forge(genuine + PAYLOAD, sender=SECOND),
            "Only a body of content type 0x02 has statements.",
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement, and a stranger's signature under the new key's id",
            FAILED,
            "O-5.4 O-9.3",
            carry(SECOND, genuine, signing_seed=STRANGER.seed),
            "Anyone can put a statement into their own message; it does not take effect.",
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a second statement for a superseded key",
            "rotation-conflict",
            "O-5.3 R-7",
            carry(THIRD, other),
            "The old key signed two different statements: somebody else has it.",
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "a statement for a superseded key that the old key did not sign",
            FAILED,
            "O-5.3 R-4",
            carry(THIRD, forged),
            "No conflict: anyone could have written this.",
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "a statement by a key that the app replaced itself",
            FAILED,
            "O-5.3 R-7",
            carry(THIRD, other),
            "A replaced key states nothing new about itself.",
            receiver=receiver(REPLACED),
        ),
        open_case(
            "a conflict, and a candidate whose signature is wrong",
            FAILED,
            "O-5.3 O-5.4",
            carry(SECOND, other, signing_seed=STRANGER.seed),
            "The conflict is the code only when nobody is a candidate.",
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "a good statement in an expired message",
            "expired",
            "O-6.3 O-9.3",
            carry(SECOND, genuine, ttl=1),
            "Statements take effect when every step has passed.",
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement in a message of the future",
            "not-yet-valid",
            "O-6.4 O-9.3",
            carry(SECOND, genuine, sent_at=NOW + DAY + 1),
            "Statements take effect when every step has passed.",
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement before a malformed payload",
            "malformed-payload",
            "O-7.2 O-9.3",
            carry(SECOND, genuine, b"{"),
            "Statements take effect when every step has passed.",
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement before no payload",
            "malformed-payload",
            "O-7.2 O-9.3",
            carry(SECOND, genuine, b""),
            "Statements take effect when every step has passed.",
            receiver=KNOWS_FIRST,
        ),
    ]
