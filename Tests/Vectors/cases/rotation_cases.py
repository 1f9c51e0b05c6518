"""Rotation statements, and what trust becomes of them."""

from reference import keys, rotation
from reference.curve25519 import key_with_torsion, sign_with_torsion, torsion
from reference.rotation import (
    DEFAULT_ACCEPT_FOR,
    DEFAULT_OVERLAP,
    MAXIMUM_OVERLAP,
    NEW_ROLE,
    OLD_ROLE,
    MalformedStatements,
    Statement,
    Superseded,
    Trust,
    signed_bytes,
    unsigned,
)

from .forge import flip, put
from .material import (
    CHAIN,
    COLLIDING_SENDERS,
    DAY,
    GENERATIONS,
    HOUR,
    NOW,
    SECOND_PROVIDER,
    SENT_AT,
    STRANGER,
    TRUST,
    Case,
    Sender,
    announce,
    sign_statement,
    trust_in,
)
from .vector import Header, Vector, base64url, trust_header, vector

FIRST, SECOND, THIRD = GENERATIONS[:3]
ISSUED = SENT_AT - DAY
UNSIGNED = unsigned(FIRST.public, SECOND.public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)
GOOD = sign_statement(UNSIGNED, FIRST.seed, SECOND.seed)
REPLACED = Trust((SECOND.public,), (Superseded(FIRST.public, None),))
ROTATED = trust_in(SECOND, superseded=((FIRST, GOOD),))


def statement_case(name: str, old: Sender, new: Sender, issued_at: int, accept_for: int, overlap: int) -> Case:
    """All that goes into a statement, both signed strings included."""
    first_53 = unsigned(old.public, new.public, issued_at, accept_for, overlap)
    statement = sign_statement(first_53, old.seed, new.seed)
    assert statement.is_signed_by_old(old.public) and statement.is_signed_by_new(old.public)
    assert (statement.issued_at, statement.accept_for, statement.overlap) == (issued_at, accept_for, overlap)
    return {
        "name": name,
        "oldSeed": old.seed.hex(),
        "oldPublic": old.public.hex(),
        "oldKeyID": old.key_id.hex(),
        "newSeed": new.seed.hex(),
        "newPublic": new.public.hex(),
        "issuedAt": issued_at,
        "acceptFor": accept_for,
        "overlap": overlap,
        "signedByOld": signed_bytes(OLD_ROLE, old.public, first_53).hex(),
        "signedByNew": signed_bytes(NEW_ROLE, old.public, first_53).hex(),
        "statement": statement.data.hex(),
    }


def evaluation(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *statements: Statement | bytes,
    before: Trust = TRUST,
    now: int = NOW,
) -> Vector:
    """Statements evaluated one after the other, `expected` naming the outcomes in order."""
    trust, outcomes = before, []
    lines = [item if isinstance(item, bytes) else item.data for item in statements]
    for data in lines:
        try:
            result, trust = rotation.evaluate(rotation.parse(data), trust, now)
        except MalformedStatements:
            result = "malformed-statement"
        outcomes.append(result)
    assert outcomes == expected.split(), (name, outcomes)
    first, *others = outcomes
    header: list[Header] = [
        *(("expect", outcome) for outcome in others),
        ("time", now),
        *trust_header(before),
        *(trust_header(trust, "-after") if trust != before else []),
    ]
    return vector("statements", name, first, rules, comment, header, "\n".join(map(base64url, lines)).encode())


ACCEPTED, BAD = "accepted", "bad-statement-signature"


def accepted_cases() -> list[Vector]:
    twin, other = COLLIDING_SENDERS
    limits = [
        ("issued exactly 24 hours in the future", "R-10", {"issued_at": NOW + DAY}),
        ("at the last millisecond of accept for", "R-11", {"issued_at": NOW - HOUR, "accept_for": 3600}),
        ("the longest overlap", "R-9", {"overlap": MAXIMUM_OVERLAP}),
        ("no overlap at all", "R-9", {"overlap": 0}),
        ("accept for 2^32 - 1 seconds", "R-11", {"accept_for": 2**32 - 1}),
        ("issued at 0 and accepted for long enough", "R-11", {"issued_at": 0, "accept_for": 2**31}),
    ]
    chain, again = (
        "Statements are evaluated one after the other.",
        "A statement whose bytes took effect here is no news.",
    )
    return [
        evaluation("a good statement", ACCEPTED, "R-4 R-5 R-6 R-7 R-8", "The new key takes the pin.", GOOD),
        *(
            evaluation(
                name,
                ACCEPTED,
                rule,
                "Limits are inclusive.",
                announce(FIRST, SECOND, **{"issued_at": ISSUED, **fields}),
            )
            for name, rule, fields in limits
        ),
        evaluation("a chain of two", "accepted accepted", "R-13", chain, *CHAIN[:2]),
        evaluation("a chain of four", "accepted " * 4, "R-13", chain, *CHAIN),
        evaluation("the same statement twice in one chain", "accepted unchanged", "R-2", again, GOOD, GOOD),
        evaluation("the same bytes again", "unchanged", "R-2", again, GOOD, before=ROTATED),
        evaluation(
            "the same bytes again after accept for",
            "unchanged",
            "R-2",
            "What took effect is looked for before anything else.",
            GOOD,
            before=ROTATED,
            now=NOW + 1000 * DAY,
        ),
        evaluation(
            "a chain of which the first was accepted before",
            "unchanged accepted",
            "R-2 R-13",
            chain,
            GOOD,
            announce(SECOND, THIRD),
            before=ROTATED,
        ),
        evaluation(
            "a chain that began before this receiver was enrolled",
            "untrusted-old-key accepted",
            "R-3 R-13",
            "A statement that fails is passed over.",
            *CHAIN[:2],
            before=trust_in(SECOND),
        ),
        evaluation(
            "one pin of two", ACCEPTED, "R-7", "The other pin stays.", GOOD, before=trust_in(SECOND_PROVIDER, FIRST)
        ),
        evaluation(
            "the old key is the second of two pinned under one id",
            ACCEPTED,
            "R-3 R-4",
            "Every key with the id is tried.",
            announce(other, SECOND),
            before=trust_in(twin, other),
        ),
    ]


def signature_cases() -> list[Vector]:
    old_at, new_at = 53, 117
    twin, other = COLLIDING_SENDERS
    exchanged = Statement(GOOD.data[:old_at] + GOOD.data[new_at:] + GOOD.data[old_at:new_at])
    faults = [
        ("R of the old key's signature changed", "R-4", Statement(flip(old_at)(GOOD.data))),
        ("S of the old key's signature changed", "R-4", Statement(flip(old_at + 32)(GOOD.data))),
        ("R of the new key's signature changed", "R-6", Statement(flip(new_at)(GOOD.data))),
        ("S of the new key's signature changed", "R-6", Statement(flip(new_at + 32)(GOOD.data))),
        ("no signature by the old key", "R-4", Statement(put(old_at, bytes(64))(GOOD.data))),
        ("no signature by the new key", "R-6", Statement(put(new_at, bytes(64))(GOOD.data))),
        ("the two signatures exchanged", "R-4", exchanged),
        ("both roles swapped", "R-4", sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, NEW_ROLE, OLD_ROLE)),
        (
            "the old key signs in the new key's role",
            "R-4",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, old_role=NEW_ROLE),
        ),
        (
            "the new key signs in the old key's role",
            "R-6",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, new_role=OLD_ROLE),
        ),
        ("the old key signs both", "R-6", sign_statement(UNSIGNED, FIRST.seed, FIRST.seed)),
        (
            "the new key signs both",
            "R-4",
            sign_statement(UNSIGNED, SECOND.seed, SECOND.seed, signed_old_key=FIRST.public),
        ),
        (
            "signed over another old key",
            "R-4",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, signed_old_key=STRANGER.public),
        ),
        ("the new key changed after signing", "R-4", Statement(put(5, THIRD.public)(GOOD.data))),
        ("issued at changed after signing", "R-4", Statement(flip(44)(GOOD.data))),
        ("accept for changed after signing", "R-4", Statement(flip(48)(GOOD.data))),
        ("the overlap changed after signing", "R-4", Statement(flip(52)(GOOD.data))),
    ]
    comment = "Each key signs all of the statement, the old key's bytes and its own role."
    return [
        *(evaluation(name, BAD, rule, comment, statement) for name, rule, statement in faults),
        evaluation(
            "the old key id changed to that of another pin",
            BAD,
            "R-4",
            comment,
            Statement(put(1, SECOND_PROVIDER.key_id)(GOOD.data)),
            before=trust_in(FIRST, SECOND_PROVIDER),
        ),
        evaluation(
            "the old key only shares its id with the pinned one",
            BAD,
            "R-4 K-1",
            "A key id never stands for a key.",
            announce(other, SECOND),
            before=trust_in(twin),
        ),
    ]


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
            statement = Statement(first_53 + by_old + by_new)
            assert statement.is_signed_by_old(FIRST.public), (kind, number)
            assert statement.is_signed_by_new(FIRST.public), (kind, number)
            cases.append(
                evaluation(
                    f"a new key of {kind} order, {number} times the generator of the eight",
                    "weak-key",
                    "R-5",
                    "Its signature verifies; only the check of the key refuses it.",
                    statement,
                )
            )
    returned = "A superseded key never takes its place back."
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
        *((f"version {number}", put(0, bytes([number]))(GOOD.data)) for number in (0, 2, 255)),
        ("no bytes", b""),
        ("180 bytes", GOOD.data[:-1]),
        ("182 bytes", GOOD.data + b"\x00"),
    ]
    untrusted = "untrusted-old-key"
    return [
        *(
            evaluation(
                name,
                expected,
                rules,
                "Rightly signed by both keys, and outside a limit.",
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
            "an old key that is not pinned", untrusted, "R-3", "Nobody knows the key.", announce(STRANGER, SECOND)
        ),
        evaluation(
            "nothing is pinned", untrusted, "R-0 R-3", "A statement pins nothing by itself.", GOOD, before=Trust()
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
            evaluation(name, "malformed-statement", "R-1", "A statement has 181 bytes and version 1.", data)
            for name, data in malformed
        ),
    ]


def order_cases() -> list[Vector]:
    """Two faults each: the one of the earlier rule is reported."""
    stranger = announce(STRANGER, SECOND, overlap=MAXIMUM_OVERLAP + 1)
    weak = unsigned(FIRST.public, bytes(32), ISSUED, DEFAULT_ACCEPT_FOR, MAXIMUM_OVERLAP + 1)
    faults: list[tuple[str, str, str, Statement | bytes, Trust]] = [
        ("a wrong version before an unknown old key", "malformed-statement", "R-1", b"\x02" + stranger.data[1:], TRUST),
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
            Statement(flip(117)(announce(FIRST, THIRD).data)),
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
    long_after, conflict = NOW + 60 * DAY, "rotation-conflict"
    comment = "A provider rotates a key once: somebody else has it, or a backup came back."
    return [
        evaluation("another new key for a superseded key", conflict, "R-7", comment, other, before=ROTATED),
        evaluation(
            "the same new key in a different statement for a superseded key",
            conflict,
            "R-7",
            comment,
            later,
            before=ROTATED,
        ),
        evaluation(
            "a different statement after the overlap",
            conflict,
            "R-7 R-12",
            "A superseded key verifies no statement ever again, and still tells of the theft.",
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
            "What it says of its place is nothing new.",
            other,
            before=REPLACED,
        ),
    ]


def worked_statement() -> Case:
    return statement_case("the worked example", FIRST, SECOND, SENT_AT, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)


def statement_cases() -> list[Case]:
    return [
        worked_statement(),
        statement_case("the next in the chain", SECOND, THIRD, SENT_AT + DAY, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP),
        statement_case("the longest overlap, the shortest accept for", FIRST, SECOND, SENT_AT, 1, MAXIMUM_OVERLAP),
    ]


def evaluation_cases() -> list[Vector]:
    return [
        *accepted_cases(),
        *signature_cases(),
        *new_key_cases(),
        *limit_cases(),
        *order_cases(),
        *conflict_cases(),
    ]
