"""Rotation statements that are rightly signed and must not be accepted all the same."""

from reference import keys
from reference.curve25519 import key_with_torsion, secret_scalar, sign_with_nonce, sign_with_torsion, torsion
from reference.rotation import (
    DEFAULT_ACCEPT_FOR,
    DEFAULT_OVERLAP,
    MAXIMUM_OVERLAP,
    NEW_ROLE,
    OLD_ROLE,
    Rotation,
    Statement,
    signed_bytes,
    unsigned,
)
from reference.trust import Trust, TrustedSender

from .forge import flip, put
from .material import (
    CHAIN,
    DAY,
    HOUR,
    NOW,
    RECOVERY,
    STRANGER,
    TRUST,
    Sender,
    announce,
    sender_in,
    sign_statement,
)
from .rotation_cases import ACCEPTED, BAD, FIRST, GOOD, ISSUED, REPLACED, ROTATED, SECOND, THIRD, evaluation
from .vector import Vector


def new_key_cases() -> list[Vector]:
    """New keys that sign very well and must not be accepted all the same."""
    cases = []
    for number, point in enumerate(torsion()):
        for scalar, kind in ((0, "small"), (2**251 + 1, "mixed")):
            if scalar and not number:
                continue
            public = key_with_torsion(scalar, point)
            first_53 = unsigned(FIRST.public, public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)
            by_old = keys.sign(FIRST.seed, signed_bytes(OLD_ROLE, FIRST.public, first_53))
            by_new = sign_with_torsion(scalar, public, signed_bytes(NEW_ROLE, FIRST.public, first_53))
            statement = Rotation(first_53 + by_old + by_new)
            assert statement.is_signed_by_old(FIRST.public), (kind, number)
            assert statement.is_signed_by_new(FIRST.public), (kind, number)
            cases.append(
                evaluation(
                    f"a new key of {kind} order, {number} times the generator of the eight",
                    "weak-key",
                    "R-5",
                    "The signature verifies; only the check of the key refuses it.",
                    statement,
                )
            )
    returned = "A superseded key is never pinned again."
    return [
        *cases,
        evaluation("the new key is the old one", "superseded-new-key", "R-8", returned, announce(FIRST, FIRST)),
        evaluation(
            "the new key was superseded before",
            "superseded-new-key",
            "R-8",
            returned,
            announce(SECOND, FIRST),
            before=ROTATED,
        ),
        evaluation(
            "the new key was replaced by the app before",
            "superseded-new-key",
            "R-8",
            returned,
            announce(SECOND, FIRST),
            before=REPLACED,
        ),
        evaluation(
            "there and back again in one chain",
            "accepted superseded-new-key",
            "R-8 R-13",
            returned,
            GOOD,
            announce(SECOND, FIRST),
        ),
    ]


def limit_cases() -> list[Vector]:
    early, late, long = "statement-not-yet-valid", "statement-expired", "overlap-too-long"
    limits = [
        ("issued 24 hours and a millisecond in the future", early, "R-10", {"issued_at": NOW + DAY + 1}),
        ("issued at 2^64 - 1", early, "R-10 K-3", {"issued_at": 2**64 - 1}),
        ("one millisecond after accept for", late, "R-11", {"issued_at": NOW - HOUR - 1, "accept_for": 3600}),
        ("accepted for no time at all", late, "R-11", {"accept_for": 0}),
        ("an overlap one second over the maximum", long, "R-9", {"overlap": MAXIMUM_OVERLAP + 1}),
        ("an overlap of 2^32 - 1", long, "R-9", {"overlap": 2**32 - 1}),
    ]
    malformed = [
        *((f"a statement of version {number}", put(0, bytes([number]))(GOOD.data)) for number in (0, 3, 255)),
        ("a statement of no bytes", b""),
        ("a statement of 180 bytes", GOOD.data[:-1]),
        ("a statement of 182 bytes", GOOD.data + b"\x00"),
    ]
    untrusted = "untrusted-old-key"
    return [
        *(
            evaluation(
                name,
                expected,
                rules,
                "Correctly signed by both keys, but outside a limit.",
                announce(FIRST, SECOND, **{"issued_at": ISSUED, **fields}),
            )
            for name, expected, rules, fields in limits
        ),
        evaluation(
            "issued at 2^64 - 1 at the end of time",
            ACCEPTED,
            "K-3",
            "Neither now + 24 hours nor issued at + accept for wraps around.",
            announce(FIRST, SECOND, issued_at=2**64 - 1),
            now=2**64 - 1,
        ),
        evaluation(
            "an old key that is not pinned", untrusted, "R-3", "No one has the key.", announce(STRANGER, SECOND)
        ),
        evaluation(
            "nothing is pinned", untrusted, "R-0 R-3", "A statement alone pins nothing.", GOOD, before=Trust()
        ),
        evaluation(
            "a chain in the wrong order",
            "untrusted-old-key accepted",
            "R-3 R-13",
            "Each statement is evaluated on the trust that the ones before it left.",
            CHAIN[1],
            CHAIN[0],
        ),
        *(
            evaluation(name, "malformed-statement", "R-1", "A statement has 181 bytes and a known version.", data)
            for name, data in malformed
        ),
    ]


def order_cases() -> list[Vector]:
    """Two faults each: the one of the earlier rule is reported."""
    stranger = announce(STRANGER, SECOND, overlap=MAXIMUM_OVERLAP + 1)
    weak = unsigned(FIRST.public, bytes(32), ISSUED, DEFAULT_ACCEPT_FOR, MAXIMUM_OVERLAP + 1)
    faults: list[tuple[str, str, str, Statement | bytes, Trust]] = [
        ("a wrong version before an unknown old key", "malformed-statement", "R-1", b"\x03" + stranger.data[1:], TRUST),
        ("an unknown old key before too long an overlap", "untrusted-old-key", "R-3", stranger, TRUST),
        (
            "a wrong first signature before a weak new key",
            BAD,
            "R-4",
            sign_statement(weak, STRANGER.seed, STRANGER.seed, signed_old_key=FIRST.public),
            TRUST,
        ),
        (
            "a weak new key before a wrong second signature",
            "weak-key",
            "R-5",
            sign_statement(weak, FIRST.seed, STRANGER.seed),
            TRUST,
        ),
        (
            "a wrong second signature before a conflict",
            BAD,
            "R-6",
            Rotation(flip(117)(announce(FIRST, THIRD).data)),
            ROTATED,
        ),
        (
            "a conflict before too long an overlap",
            "rotation-conflict",
            "R-7",
            announce(FIRST, THIRD, overlap=MAXIMUM_OVERLAP + 1),
            ROTATED,
        ),
        (
            "a conflict before a superseded new key",
            "rotation-conflict",
            "R-7",
            announce(FIRST, FIRST),
            ROTATED,
        ),
        (
            "a superseded new key before too long an overlap",
            "superseded-new-key",
            "R-8",
            announce(FIRST, FIRST, overlap=MAXIMUM_OVERLAP + 1),
            TRUST,
        ),
        (
            "too long an overlap before the future",
            "overlap-too-long",
            "R-9",
            announce(FIRST, SECOND, NOW + 2 * DAY, overlap=MAXIMUM_OVERLAP + 1),
            TRUST,
        ),
    ]
    return [
        evaluation(name, expected, rule, "Two faults; the earlier rule decides the code.", statement, before=before)
        for name, expected, rule, statement, before in faults
    ]


def conflict_cases() -> list[Vector]:
    other, later = announce(FIRST, THIRD), announce(FIRST, SECOND, ISSUED + 1)
    forged = sign_statement(
        unsigned(FIRST.public, THIRD.public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP),
        THIRD.seed,
        THIRD.seed,
        signed_old_key=FIRST.public,
    )
    by_new = sign_with_nonce(
        secret_scalar(SECOND.seed), SECOND.public, signed_bytes(NEW_ROLE, FIRST.public, GOOD.first_53), 7
    )
    signed_again = Rotation(GOOD.data[:117] + by_new)
    assert signed_again.is_signed_by_new(FIRST.public) and signed_again != GOOD
    long_after, conflict = NOW + 60 * DAY, "rotation-conflict"
    comment = "A provider rotates a key once: someone else has the key, or a backup was restored."
    return [
        evaluation("another new key for a superseded key", conflict, "R-7", comment, other, before=ROTATED),
        evaluation(
            "the same new key in a different statement for a superseded key",
            conflict,
            "R-2 R-7",
            comment,
            later,
            before=ROTATED,
        ),
        *(
            evaluation(
                f"the statement that took effect here with {what}",
                "unchanged",
                "R-2",
                "Its first 53 bytes are compared: who holds the new key alone can sign them again, and that is no theft.",
                statement,
                before=ROTATED,
            )
            for what, statement in [
                ("one bit of its second signature changed", Rotation(flip(-1)(GOOD.data))),
                ("one bit of its first signature changed", Rotation(flip(53)(GOOD.data))),
                ("a second signature that its new key made again", signed_again),
            ]
        ),
        evaluation(
            "the statement that took effect here with the overlap changed",
            BAD,
            "R-2 R-4",
            "It has other 53 bytes, and nobody signed them.",
            Rotation(flip(52)(GOOD.data)),
            before=ROTATED,
        ),
        evaluation(
            "the statement of a handover that the app did without it",
            "untrusted-old-key",
            "R-2 R-7",
            "It superseded no key here.",
            GOOD,
            before=REPLACED,
        ),
        evaluation(
            "a different statement after the overlap",
            conflict,
            "R-7 R-12",
            "A superseded key never verifies a statement again, but still reveals the theft.",
            other,
            before=ROTATED,
            now=long_after,
        ),
        evaluation("two different statements in one chain", f"accepted {conflict}", "R-7 R-13", comment, GOOD, other),
        evaluation(
            "a statement for a superseded key that the old key did not sign is no conflict",
            BAD,
            "R-4 R-7",
            "Anyone could have written it.",
            forged,
            before=ROTATED,
        ),
        evaluation(
            "a statement of a key that the app replaced itself",
            "untrusted-old-key",
            "R-7",
            "It states nothing new about its key.",
            other,
            before=REPLACED,
        ),
    ]


def several_senders_cases() -> list[Vector]:
    """Each sender is asked apart."""
    apart, conflict = "Each sender is asked apart, and one that accepts is enough.", "rotation-conflict"
    furthest = "Of several senders the one that came furthest decides the code."
    knows, superseded = sender_in("a", FIRST), sender_in("a", SECOND, (FIRST, GOOD))
    revoked = sender_in("a", SECOND, (FIRST, None))
    later, other = announce(SECOND, THIRD), announce(FIRST, THIRD)
    moved_on = sender_in("a", THIRD, (SECOND, later))
    long = announce(FIRST, SECOND, overlap=MAXIMUM_OVERLAP + 1)

    def b(sender: Sender) -> TrustedSender:
        return sender_in("b", sender)

    cases: list[tuple[str, str, str, str, Rotation, tuple[TrustedSender, ...]]] = [
        ("a key that two senders pin", ACCEPTED, "R-14", apart, GOOD, (knows, b(FIRST))),
        ("a key that one sender pins and another has superseded by the same statement", ACCEPTED, "R-2 R-14", apart, GOOD, (superseded, b(FIRST))),
        ("a key that one sender pins and another has superseded by another statement", ACCEPTED, "R-7 R-14", "The app is told all the same.", other, (superseded, b(FIRST))),
        ("a key that one sender pins and another has revoked", "untrusted-old-key", "R-7 R-14 R-25", "What is revoked for one sender is revoked for all.", other, (revoked, b(FIRST))),
        ("a new key that another sender has superseded", ACCEPTED, "R-8 R-14", apart, GOOD, (moved_on, b(FIRST))),
        ("a new key that another sender has revoked", "superseded-new-key", "R-8 R-25", "What is revoked for one sender is revoked for all.", GOOD, (sender_in("a", THIRD, (SECOND, None)), b(FIRST))),
        ("a new key that is a recovery key of the sender", "superseded-new-key", "R-8 K-10", "No key is both.", announce(FIRST, RECOVERY), (sender_in("a", FIRST, recovery=(RECOVERY,)),)),
        ("a new key that is a recovery key of another sender", "superseded-new-key", "R-8 K-10", "No key is both.", announce(FIRST, RECOVERY), (knows, sender_in("b", THIRD, recovery=(RECOVERY,)))),
        ("an unknown old key for one sender, too long an overlap for the other", "overlap-too-long", "R-9 R-14", furthest, long, (sender_in("a", THIRD), b(FIRST))),
        ("too long an overlap for one sender, an unknown old key for the other", "overlap-too-long", "R-9 R-14", furthest, long, (knows, b(THIRD))),
        ("no change for one sender, an unknown old key for the other", "unchanged", "R-2 R-14", "No change is no error.", GOOD, (superseded, b(THIRD))),
        ("no change for one sender, a conflict for the other", conflict, "R-7 R-14", "A conflict comes before no change.", GOOD, (superseded, sender_in("b", THIRD, (FIRST, other)))),
        ("a sender whose pin the app removed", conflict, "R-7", "What it had superseded still tells of the theft.", other, (sender_in("a", None, (FIRST, GOOD)),)),
    ]
    return [
        evaluation(name, expected, rules, comment, statement, before=Trust(senders))
        for name, expected, rules, comment, statement, senders in cases
    ]


def refused_cases() -> list[Vector]:
    return [*new_key_cases(), *limit_cases(), *order_cases(), *conflict_cases(), *several_senders_cases()]
