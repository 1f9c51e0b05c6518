"""envelopes.json, "open": messages that carry rotation statements, and messages of keys that were rotated."""

from typing import Any

from reference.envelope import ROTATION_CONTENT
from reference.opening import Receiver
from reference.rotation import DEFAULT_OVERLAP, MAXIMUM_OVERLAP, Statement, Trust

from .forge import flip, forge, open_case, put
from .material import (
    CHAIN,
    DAY,
    GENERATIONS,
    NOW,
    PAYLOAD,
    PHONE,
    SECOND_PROVIDER,
    SENT_AT,
    STRANGER,
    TOPIC,
    Case,
    Sender,
    announce,
    trust_in,
)

FIRST, SECOND, THIRD = GENERATIONS[:3]
GOOD = CHAIN[0]
FAILED = "authentication-failed"


def block(*statements: Statement, count: int | None = None) -> bytes:
    return bytes([len(statements) if count is None else count]) + b"".join(statement.data for statement in statements)


def receiver(trust: Trust) -> Receiver:
    return Receiver(TOPIC, (PHONE.secret,), trust)


KNOWS_FIRST = receiver(trust_in(FIRST))
KNOWS_SECOND = receiver(trust_in(SECOND, superseded=((FIRST, GOOD),)))


def carry(sender: Sender, head: bytes, payload: bytes = PAYLOAD, **fields: Any) -> bytes:
    return forge(head + payload, sender=sender, content_type=ROTATION_CONTENT, **fields)


def unknown_sender_cases() -> list[Case]:
    """The sender's key becomes known, or does not, through what the message carries."""
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
    ]
    refused = [
        ("two statements in the wrong order", THIRD, block(CHAIN[1], CHAIN[0])),
        ("a statement that is accepted no longer", SECOND, block(announce(FIRST, SECOND, accept_for=3600))),
        ("a statement with too long an overlap", SECOND, block(announce(FIRST, SECOND, overlap=MAXIMUM_OVERLAP + 1))),
        ("a statement issued too far in the future", SECOND, block(announce(FIRST, SECOND, NOW + DAY + 1))),
        ("a statement by an old key that is not pinned", SECOND, block(announce(STRANGER, SECOND))),
        ("a statement whose old key did not sign", SECOND, block(Statement(flip(53)(GOOD.data)))),
        ("a statement whose new key did not sign", SECOND, block(Statement(flip(117)(GOOD.data)))),
        ("good statements in a stranger's message", STRANGER, block(GOOD)),
        ("a count of 0", SECOND, block(GOOD, count=0)),
        ("a count of 5", SECOND, block(*CHAIN, GOOD)),
        ("a count of 255", SECOND, block(GOOD, count=255)),
        ("a count of 2 and one statement", SECOND, block(GOOD, count=2)),
        ("an unknown statement version", SECOND, put(1, b"\x02")(block(GOOD))),
        ("an unknown version in the second statement", SECOND, put(1 + 181, b"\x02")(block(GOOD, CHAIN[1]))),
    ]
    genuine, other = block(GOOD), block(announce(FIRST, THIRD))
    forged = block(Statement(flip(53)(announce(FIRST, THIRD).data)))
    return [
        *(open_case(name, "opened", carry(sender, head), receiver=holder) for name, sender, head, holder in opened),
        *(
            open_case(f"unknown sender: {name}", FAILED, carry(sender, head), receiver=KNOWS_FIRST)
            for name, sender, head in refused
        ),
        open_case(
            "unknown sender: a body that ends inside a statement",
            FAILED,
            carry(SECOND, block(GOOD)[:-1], b""),
            receiver=KNOWS_FIRST,
        ),
        open_case("unknown sender: a body without a count", FAILED, carry(SECOND, b"", b""), receiver=KNOWS_FIRST),
        open_case(
            "unknown sender: a good statement behind content type 0x01",
            FAILED,
            forge(genuine + PAYLOAD, sender=SECOND),
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement, and a stranger's signature under the new key's id",
            FAILED,
            carry(SECOND, genuine, signing_seed=STRANGER.seed),
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a second statement for a superseded key", "rotation-conflict", carry(THIRD, other), receiver=KNOWS_SECOND
        ),
        open_case(
            "a statement for a superseded key that the old key did not sign",
            FAILED,
            carry(THIRD, forged),
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "a good statement in an expired message", "expired", carry(SECOND, genuine, ttl=1), receiver=KNOWS_FIRST
        ),
        open_case(
            "a good statement before a malformed payload",
            "malformed-payload",
            carry(SECOND, genuine, b"{"),
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "a good statement before no payload", "malformed-payload", carry(SECOND, genuine, b""), receiver=KNOWS_FIRST
        ),
    ]


def known_sender_cases() -> list[Case]:
    """The message is genuine without the statements. They must still be well formed."""
    opened = [
        ("the new key repeats its statement", SECOND, block(GOOD), KNOWS_SECOND),
        ("the old key announces the new one", FIRST, block(GOOD), KNOWS_FIRST),
        ("a statement that is accepted no longer", FIRST, block(announce(FIRST, SECOND, accept_for=3600)), KNOWS_FIRST),
        ("a statement by an old key that is not pinned", FIRST, block(announce(STRANGER, SECOND)), KNOWS_FIRST),
        ("a statement whose old key did not sign", FIRST, block(Statement(flip(53)(GOOD.data))), KNOWS_FIRST),
    ]
    malformed = [
        ("a count of 0", block(count=0), PAYLOAD),
        ("a count of 0 before a statement", block(GOOD, count=0), PAYLOAD),
        ("a count of 5", block(*CHAIN, GOOD), PAYLOAD),
        ("a count of 2 and one statement", block(GOOD, count=2), PAYLOAD),
        ("an unknown statement version", put(1, b"\x02")(block(GOOD)), PAYLOAD),
        ("a body that ends inside a statement", block(GOOD)[:-1], b""),
        ("a body without a count", b"", b""),
        ("a payload without statements", b"", PAYLOAD),
        ("statements without a payload", block(GOOD), b""),
    ]
    return [
        *(
            open_case(f"known sender: {name}", "opened", carry(sender, head), receiver=holder)
            for name, sender, head, holder in opened
        ),
        *(
            open_case(f"known sender: {name}", "malformed-payload", carry(FIRST, head, payload), receiver=KNOWS_FIRST)
            for name, head, payload in malformed
        ),
        open_case(
            "a superseded sender within the overlap: a count of 0",
            "malformed-payload",
            carry(FIRST, block(GOOD, count=0)),
            receiver=KNOWS_SECOND,
        ),
        open_case(
            "known sender: an expired message before malformed statements",
            "expired",
            carry(FIRST, block(GOOD, count=0), ttl=1),
            receiver=KNOWS_FIRST,
        ),
        open_case(
            "known sender: a statement about another pin",
            "opened",
            carry(SECOND_PROVIDER, block(GOOD)),
            receiver=receiver(trust_in(FIRST, SECOND_PROVIDER)),
        ),
    ]


def overlap_cases() -> list[Case]:
    """Messages signed by a superseded key, around the end of its overlap."""
    end = GOOD.issued_at + DEFAULT_OVERLAP * 1000
    message = forge(sender=FIRST, sent_at=end - DAY)
    return [
        open_case("a superseded sender within the overlap", "opened", forge(sender=FIRST), receiver=KNOWS_SECOND),
        open_case(
            "a superseded sender at the last millisecond of the overlap",
            "opened",
            message,
            receiver=KNOWS_SECOND,
            now=end,
        ),
        open_case(
            "a superseded sender one millisecond after the overlap", FAILED, message, receiver=KNOWS_SECOND, now=end + 1
        ),
        open_case(
            "the new sender after the overlap",
            "opened",
            forge(sender=SECOND, sent_at=end - DAY),
            receiver=KNOWS_SECOND,
            now=end + 1,
        ),
        open_case(
            "a superseded sender after the overlap, with the statement that superseded it",
            FAILED,
            carry(FIRST, block(GOOD), sent_at=end - DAY),
            receiver=KNOWS_SECOND,
            now=end + 1,
        ),
        open_case(
            "a message sent before the rotation, by the key of then",
            "opened",
            forge(sender=FIRST, sent_at=SENT_AT - 10 * DAY),
            receiver=KNOWS_SECOND,
        ),
    ]
