"""Rotation statements, and what trust becomes of them."""

from reference.rotation import (
    DEFAULT_ACCEPT_FOR,
    DEFAULT_OVERLAP,
    MAXIMUM_OVERLAP,
    NEW_ROLE,
    OLD_ROLE,
    MalformedStatement,
    Rotation,
    Statement,
    parse,
    signed_bytes,
    unsigned,
)
from reference.trust import Trust, evaluate

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
    TOPIC,
    TRUST,
    Case,
    Sender,
    announce,
    sign_statement,
    trust_in,
)
from .vector import Header, Vector, base64url, trust_after_header, trust_header, vector

FIRST, SECOND, THIRD = GENERATIONS[:3]
ISSUED = SENT_AT - DAY
UNSIGNED = unsigned(FIRST.public, SECOND.public, ISSUED, DEFAULT_ACCEPT_FOR, DEFAULT_OVERLAP)
GOOD = sign_statement(UNSIGNED, FIRST.seed, SECOND.seed)
REPLACED = trust_in(SECOND, superseded=((FIRST, None),))
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
    topic: str = TOPIC,
) -> Vector:
    """Statements evaluated one after the other, `expected` naming the outcomes in order."""
    trust, outcomes, told = before, [], []
    lines = [item if isinstance(item, bytes) else item.data for item in statements]
    for data in lines:
        try:
            result = evaluate(parse(data), trust, topic, now)
        except MalformedStatement:
            outcomes.append("malformed-statement")
            continue
        outcomes.append(result.what)
        trust = result.trust
        told += [result.told] if result.told and result.told != result.what else []
    assert outcomes == expected.split(), (name, outcomes)
    first, *others = outcomes
    header: list[Header] = [
        *(("expect", outcome) for outcome in others),
        ("time", now),
        ("context", topic),
        *trust_header(before),
        *(("told", code) for code in told),
        *trust_after_header(before, trust),
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
        "Statements are evaluated one after another.",
        "A statement whose bytes took effect here changes nothing.",
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
            "A statement that took effect is recognised before anything else.",
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
            "A failing statement is ignored.",
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
    exchanged = Rotation(GOOD.data[:old_at] + GOOD.data[new_at:] + GOOD.data[old_at:new_at])
    faults = [
        ("R of the old key's signature changed", "R-4", Rotation(flip(old_at)(GOOD.data))),
        ("S of the old key's signature changed", "R-4", Rotation(flip(old_at + 32)(GOOD.data))),
        ("R of the new key's signature changed", "R-6", Rotation(flip(new_at)(GOOD.data))),
        ("S of the new key's signature changed", "R-6", Rotation(flip(new_at + 32)(GOOD.data))),
        ("no signature by the old key", "R-4", Rotation(put(old_at, bytes(64))(GOOD.data))),
        ("no signature by the new key", "R-6", Rotation(put(new_at, bytes(64))(GOOD.data))),
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
        ("the new key changed after signing", "R-4", Rotation(put(5, THIRD.public)(GOOD.data))),
        ("issued at changed after signing", "R-4", Rotation(flip(44)(GOOD.data))),
        ("accept for changed after signing", "R-4", Rotation(flip(48)(GOOD.data))),
        ("the overlap changed after signing", "R-4", Rotation(flip(52)(GOOD.data))),
    ]
    comment = "Each key signs all of the statement, the old key's bytes and its own role."
    return [
        *(evaluation(name, BAD, rule, comment, statement) for name, rule, statement in faults),
        evaluation(
            "the old key id changed to that of another pin",
            BAD,
            "R-4",
            comment,
            Rotation(put(1, SECOND_PROVIDER.key_id)(GOOD.data)),
            before=trust_in(FIRST, SECOND_PROVIDER),
        ),
        evaluation(
            "the old key only shares its id with the pinned one",
            BAD,
            "R-4 K-1",
            "A key id never replaces a key.",
            announce(other, SECOND),
            before=trust_in(twin),
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
    ]
