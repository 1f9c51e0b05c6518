"""rotation.json: statements, and what trust becomes of them."""

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
    describe_trust,
    sign_statement,
    trust_in,
)

FIRST, SECOND, THIRD = GENERATIONS[:3]
ISSUED = SENT_AT - DAY
UNSIGNED = unsigned(FIRST.public, SECOND.public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)
GOOD = sign_statement(UNSIGNED, FIRST.seed, SECOND.seed)
ROTATED = trust_in(SECOND, superseded=((FIRST, GOOD),))


def statement_case(name: str, old: Sender, new: Sender, issued_at: int, accept_for: int, overlap: int) -> Case:
    """All that goes into a statement, both signed strings included."""
    first_53 = unsigned(old.public, new.public, issued_at, accept_for, overlap)
    statement = sign_statement(first_53, old.seed, new.seed)
    assert statement.is_signed_under(old.public)
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


def evaluation(name: str, expected: str, *statements: Statement | bytes, before: Trust = TRUST, now: int = NOW) -> Case:
    """Statements evaluated one after the other, `expected` naming the outcomes in order."""
    trust, outcomes = before, []
    for statement in statements:
        try:
            data = statement if isinstance(statement, bytes) else statement.data
            result, trust = rotation.evaluate(rotation.parse(data), trust, now)
        except MalformedStatements:
            result = "malformed"
        outcomes.append(result)
    assert outcomes == expected.split(), (name, outcomes)
    return {
        "name": name,
        "now": now,
        "before": describe_trust(before),
        "statements": [(item if isinstance(item, bytes) else item.data).hex() for item in statements],
        "results": outcomes,
        "after": describe_trust(trust),
    }


def accepted_cases() -> list[Case]:
    twin, other = COLLIDING_SENDERS
    limits = [
        ("issued exactly 24 hours in the future", {"issued_at": NOW + DAY}),
        ("at the last millisecond of accept for", {"issued_at": NOW - HOUR, "accept_for": 3600}),
        ("the longest overlap", {"overlap": MAXIMUM_OVERLAP}),
        ("no overlap at all", {"overlap": 0}),
        ("accept for 2^32 - 1 seconds", {"accept_for": 2**32 - 1}),
        ("issued at 0 and accepted for long enough", {"issued_at": 0, "accept_for": 2**31}),
    ]
    return [
        evaluation("a good statement", "accepted", GOOD),
        *(
            evaluation(name, "accepted", announce(FIRST, SECOND, **{"issued_at": ISSUED, **fields}))
            for name, fields in limits
        ),
        evaluation("a chain of two", "accepted accepted", *CHAIN[:2]),
        evaluation("a chain of four", "accepted " * 4, *CHAIN),
        evaluation("the same statement twice in one chain", "accepted unchanged", GOOD, GOOD),
        evaluation("the same bytes again", "unchanged", GOOD, before=ROTATED),
        evaluation(
            "a chain of which the first was accepted before",
            "unchanged accepted",
            GOOD,
            announce(SECOND, THIRD),
            before=ROTATED,
        ),
        evaluation(
            "a chain that began before this receiver was enrolled",
            "refused accepted",
            *CHAIN[:2],
            before=trust_in(SECOND),
        ),
        evaluation("one pin of two", "accepted", GOOD, before=trust_in(SECOND_PROVIDER, FIRST)),
        evaluation(
            "the old key is the second of two pinned under one id",
            "accepted",
            announce(other, SECOND),
            before=trust_in(twin, other),
        ),
    ]


def signature_cases() -> list[Case]:
    old_at, new_at = 53, 117
    twin, other = COLLIDING_SENDERS
    exchanged = Statement(GOOD.data[:old_at] + GOOD.data[new_at:] + GOOD.data[old_at:new_at])
    faults = [
        ("R of the old key's signature changed", Statement(flip(old_at)(GOOD.data))),
        ("S of the old key's signature changed", Statement(flip(old_at + 32)(GOOD.data))),
        ("R of the new key's signature changed", Statement(flip(new_at)(GOOD.data))),
        ("S of the new key's signature changed", Statement(flip(new_at + 32)(GOOD.data))),
        ("no signature by the old key", Statement(put(old_at, bytes(64))(GOOD.data))),
        ("no signature by the new key", Statement(put(new_at, bytes(64))(GOOD.data))),
        ("the two signatures exchanged", exchanged),
        ("both roles swapped", sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, NEW_ROLE, OLD_ROLE)),
        (
            "the old key signs in the new key's role",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, old_role=NEW_ROLE),
        ),
        (
            "the new key signs in the old key's role",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, new_role=OLD_ROLE),
        ),
        ("the old key signs both", sign_statement(UNSIGNED, FIRST.seed, FIRST.seed)),
        ("the new key signs both", sign_statement(UNSIGNED, SECOND.seed, SECOND.seed, signed_old_key=FIRST.public)),
        (
            "signed over another old key",
            sign_statement(UNSIGNED, FIRST.seed, SECOND.seed, signed_old_key=STRANGER.public),
        ),
        ("the new key changed after signing", Statement(put(5, THIRD.public)(GOOD.data))),
        ("issued at changed after signing", Statement(flip(44)(GOOD.data))),
        ("accept for changed after signing", Statement(flip(48)(GOOD.data))),
        ("the overlap changed after signing", Statement(flip(52)(GOOD.data))),
    ]
    return [
        *(evaluation(name, "refused", statement) for name, statement in faults),
        evaluation(
            "the old key id changed to that of another pin",
            "refused",
            Statement(put(1, SECOND_PROVIDER.key_id)(GOOD.data)),
            before=trust_in(FIRST, SECOND_PROVIDER),
        ),
        evaluation(
            "the old key only shares its id with the pinned one",
            "refused",
            announce(other, SECOND),
            before=trust_in(twin),
        ),
    ]


def new_key_cases() -> list[Case]:
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
            assert statement.is_signed_under(FIRST.public), (kind, number)
            cases.append(
                evaluation(
                    f"a new key of {kind} order, {number} times the generator of the eight", "refused", statement
                )
            )
    return [
        *cases,
        evaluation("the new key is the old one", "refused", announce(FIRST, FIRST)),
        evaluation("the new key was superseded before", "refused", announce(SECOND, FIRST), before=ROTATED),
        evaluation("there and back again in one chain", "accepted refused", GOOD, announce(SECOND, FIRST)),
    ]


def limit_cases() -> list[Case]:
    limits = [
        ("issued 24 hours and a millisecond in the future", {"issued_at": NOW + DAY + 1}),
        ("issued at 2^64 - 1", {"issued_at": 2**64 - 1}),
        ("one millisecond after accept for", {"issued_at": NOW - HOUR - 1, "accept_for": 3600}),
        ("an overlap one second over the maximum", {"overlap": MAXIMUM_OVERLAP + 1}),
        ("an overlap of 2^32 - 1", {"overlap": 2**32 - 1}),
    ]
    malformed = [
        *((f"version {number}", put(0, bytes([number]))(GOOD.data)) for number in (0, 2, 255)),
        ("no bytes", b""),
        ("180 bytes", GOOD.data[:-1]),
        ("182 bytes", GOOD.data + b"\x00"),
    ]
    return [
        *(
            evaluation(name, "refused", announce(FIRST, SECOND, **{"issued_at": ISSUED, **fields}))
            for name, fields in limits
        ),
        evaluation("an old key that is not pinned", "refused", announce(STRANGER, SECOND)),
        evaluation("nothing is pinned", "refused", GOOD, before=Trust()),
        evaluation("a chain in the wrong order", "refused accepted", CHAIN[1], CHAIN[0]),
        *(evaluation(name, "malformed", data) for name, data in malformed),
    ]


def conflict_cases() -> list[Case]:
    other, later = announce(FIRST, THIRD), announce(FIRST, SECOND, ISSUED + 1)
    forged = sign_statement(
        unsigned(FIRST.public, THIRD.public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP),
        THIRD.seed,
        THIRD.seed,
        signed_old_key=FIRST.public,
    )
    long_after = NOW + 60 * DAY
    return [
        evaluation("another new key for a superseded key", "rotation-conflict", other, before=ROTATED),
        evaluation(
            "the same new key in a different statement for a superseded key", "rotation-conflict", later, before=ROTATED
        ),
        evaluation(
            "a different statement after the overlap", "rotation-conflict", other, before=ROTATED, now=long_after
        ),
        evaluation("two different statements in one chain", "accepted rotation-conflict", GOOD, other),
        evaluation(
            "a statement for a superseded key that the old key did not sign is no conflict",
            "refused",
            forged,
            before=ROTATED,
        ),
    ]


def worked_statement() -> Case:
    return statement_case("the worked example", FIRST, SECOND, SENT_AT, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)


def document() -> dict[str, list[Case]]:
    return {
        "statements": [
            worked_statement(),
            statement_case("the next in the chain", SECOND, THIRD, SENT_AT + DAY, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP),
            statement_case("the longest overlap, the shortest accept for", FIRST, SECOND, SENT_AT, 1, MAXIMUM_OVERLAP),
        ],
        "evaluations": [
            *accepted_cases(),
            *signature_cases(),
            *new_key_cases(),
            *limit_cases(),
            *conflict_cases(),
        ],
    }
