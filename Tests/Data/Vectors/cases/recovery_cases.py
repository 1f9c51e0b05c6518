"""Recovery statements: what they do to a trust, and what must not be one."""

from reference import keys
from reference.curve25519 import key_with_torsion, secret_scalar, sign_with_nonce, sign_with_torsion, torsion
from reference.rotation import (
    LABEL,
    NEW_ROLE,
    OLD_ROLE,
    RECOVERY_ROLE,
    SIZE,
    Recovery,
    Rotation,
    Statement,
    recovery_signed_bytes,
    signed_bytes,
    unsigned,
    unsigned_recovery,
)
from reference.trust import Trust, TrustedSender

from .forge import flip, put
from .material import (
    COLLIDING_RECOVERY,
    DAY,
    GENERATIONS,
    NOW,
    PROVIDER,
    RECOVERY,
    SECOND_RECOVERY,
    SENT_AT,
    STRANGER,
    STRANGERS_RECOVERY,
    TOPIC,
    Case,
    RecoveryKey,
    Sender,
    announce,
    recover,
    sender_in,
    sign_recovery,
)
from .rotation_cases import ACCEPTED, BAD, evaluation
from .vector import Vector

OLD, THIEF, NEW, LATER = GENERATIONS[:4]
STOLEN = announce(OLD, THIEF)
SERIAL = SENT_AT // 1000
GOOD = recover(NEW, SERIAL)
UNKNOWN, SUPERSEDED = "unknown-recovery-key", "superseded-new-key"

KNOWS_OLD = sender_in("a", OLD, recovery=(RECOVERY,))
MISLED = sender_in("a", THIEF, (OLD, STOLEN), recovery=(RECOVERY,))
RECOVERED = sender_in("a", NEW, (OLD, None), (THIEF, None), recovery=(RECOVERY,), last=GOOD)


def trust(*senders: TrustedSender) -> Trust:
    return Trust(senders)


def case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *statements: Statement | bytes,
    before: TrustedSender | Trust = KNOWS_OLD,
    now: int = NOW,
    topic: str = TOPIC,
) -> Vector:
    known = before if isinstance(before, Trust) else trust(before)
    return evaluation(f"recovery: {name}", expected, rules, comment, *statements, before=known, now=now, topic=topic)


def signed(new: Sender, serial: int, recovery: RecoveryKey = RECOVERY, issued_at: int = SENT_AT) -> Recovery:
    return recover(new, serial, recovery, issued_at)


def accepted_cases() -> list[Vector]:
    takes = "The new key takes the pin, every other key of the sender is revoked, the serial is kept."
    timeless = "No time limits a recovery: the thief's later rotations would outlive it."
    twin, other = COLLIDING_RECOVERY
    earlier = recover(LATER, SERIAL - 1)
    unread = sign_recovery(unsigned_recovery(RECOVERY.public, NEW.public, SENT_AT, SERIAL, 0), RECOVERY.seed, NEW.seed)
    times = [
        ("issued at 0", {"issued_at": 0}, NOW),
        ("issued at 2^64 - 1", {"issued_at": 2**64 - 1}, NOW),
        ("a clock at 0", {}, 0),
        ("a clock at 2^64 - 1", {}, 2**64 - 1),
        ("issued a year after the receiver's clock", {"issued_at": NOW + 365 * DAY}, NOW),
    ]
    return [
        case("the old key is pinned", ACCEPTED, "R-21", takes, GOOD),
        case("the thief has rotated", ACCEPTED, "R-21", takes, GOOD, before=MISLED),
        case("the thief rotates, then the recovery", "accepted accepted", "R-13 R-21", takes, STOLEN, GOOD),
        case("the new key is pinned already", ACCEPTED, "R-21", takes, GOOD, before=sender_in("a", NEW, (OLD, None), recovery=(RECOVERY,))),
        case("the new key was not yet known, and an older recovery was", ACCEPTED, "R-19 R-21", takes, GOOD, before=sender_in("a", LATER, (OLD, None), recovery=(RECOVERY,), last=earlier)),
        case("the first of two recovery keys", ACCEPTED, "R-15", takes, GOOD, before=sender_in("a", OLD, recovery=(RECOVERY, SECOND_RECOVERY))),
        case("the second of two recovery keys", ACCEPTED, "R-15", takes, GOOD, before=sender_in("a", OLD, recovery=(SECOND_RECOVERY, RECOVERY))),
        case("the second of two recovery keys with one id", ACCEPTED, "R-15 R-16 K-1", "Every recovery key with the id is tried.", signed(NEW, SERIAL, other), before=sender_in("a", OLD, recovery=(twin, other))),
        *(case(name, ACCEPTED, "R-21", timeless, signed(NEW, SERIAL, **{"issued_at": SENT_AT, **fields}), now=now) for name, fields, now in times),
        case("nothing in the place of accept for", ACCEPTED, "R-21", "Receivers do not read these four bytes.", unread),
        case("the smallest serial", ACCEPTED, "R-1 R-19", "Without a recovery the last serial is 0.", signed(NEW, 1)),
        case("the largest serial", ACCEPTED, "R-19", "No other can follow.", signed(NEW, 2**32 - 1)),
        case("the shortest context", ACCEPTED, "R-16 K-2", "lp16 counts one byte.", sign_recovery(GOOD.first_53, RECOVERY.seed, NEW.seed, "a"), topic="a"),
        case("the longest context", ACCEPTED, "R-16 K-2", "lp16 counts 255 bytes.", sign_recovery(GOOD.first_53, RECOVERY.seed, NEW.seed, "x" * 255), topic="x" * 255),
    ]


def afterwards_cases() -> list[Vector]:
    """What a recovery leaves of the stolen key, and of itself."""
    stolen, again = "The stolen key states nothing any more, and that is no conflict.", "It took effect here before."
    rotation = announce(NEW, LATER)
    later = sender_in("a", LATER, (OLD, None), (NEW, rotation), recovery=(RECOVERY,), last=GOOD)
    resigned = Recovery(
        GOOD.first_53
        + sign_with_nonce(secret_scalar(RECOVERY.seed), RECOVERY.public, recovery_signed_bytes(RECOVERY_ROLE, RECOVERY.public, TOPIC, GOOD.first_53), 7)
        + sign_with_nonce(secret_scalar(NEW.seed), NEW.public, recovery_signed_bytes(NEW_ROLE, RECOVERY.public, TOPIC, GOOD.first_53), 7)
    )
    assert resigned.is_signed_by_recovery(RECOVERY.public, TOPIC) and resigned != GOOD
    return [
        case("then a rotation by the stolen key", "accepted untrusted-old-key", "R-7 R-21 R-25", stolen, GOOD, STOLEN),
        case("then another rotation by the stolen key, after the thief's first", "untrusted-old-key", "R-7 R-21 R-25", stolen, announce(OLD, LATER), before=RECOVERED),
        case("then a rotation by the thief's key", "untrusted-old-key", "R-7 R-21 R-25", stolen, announce(THIEF, LATER), before=RECOVERED),
        case("then the thief's rotation, which took effect here before the recovery", "untrusted-old-key", "R-2 R-7 R-21", stolen, STOLEN, before=RECOVERED),
        case("then a rotation of the new key", "accepted accepted", "R-12 R-21", "The provider rotates on.", GOOD, rotation),
        case("then a rotation to the stolen key", f"accepted {SUPERSEDED}", "R-8 R-25", "A revoked key is never pinned again.", GOOD, announce(NEW, OLD)),
        case("the same again", "accepted unchanged", "R-19", again, GOOD, GOOD),
        case("the same again after a rotation of the new key", "unchanged", "R-19 R-20", again, GOOD, before=later),
        case("the same again with other signatures by the same keys", "unchanged", "R-19", "The first 53 bytes are compared.", resigned, before=RECOVERED),
        case("a lower serial", "unchanged", "R-19", "An older recovery changes nothing.", signed(LATER, SERIAL - 1), before=RECOVERED),
        case("a lower serial and a revoked new key", "unchanged", "R-19 R-20", "An older recovery changes nothing.", signed(OLD, SERIAL - 1), before=RECOVERED),
        case("the lowest serial", "unchanged", "R-19", "An older recovery changes nothing.", signed(LATER, 1), before=RECOVERED),
        case("a higher serial", ACCEPTED, "R-19 R-21", "A second theft.", signed(LATER, SERIAL + 1), before=RECOVERED),
        case("a higher serial and the same key", ACCEPTED, "R-19 R-21", "The serial is kept.", signed(NEW, SERIAL + 1), before=RECOVERED),
        case("a second one and a third", "accepted accepted unchanged", "R-19 R-21", "The serial only grows.", GOOD, signed(LATER, SERIAL + 1), GOOD),
    ]


def conflict_cases() -> list[Vector]:
    conflict = "recovery-conflict"
    told = "Two statements of one serial: somebody else has the recovery key, or its holder made a mistake."
    both = sender_in("a", NEW, (OLD, None), recovery=(RECOVERY, SECOND_RECOVERY), last=GOOD)
    largest = signed(NEW, 2**32 - 1)
    other = signed(LATER, SERIAL)
    return [
        case("another new key under the same serial", conflict, "R-19", told, other, before=RECOVERED),
        case("the same new key under the same serial, issued at another time", conflict, "R-19", told, signed(NEW, SERIAL, issued_at=SENT_AT), before=RECOVERED),
        case("a revoked new key under the same serial", conflict, "R-19 R-20", told, signed(OLD, SERIAL), before=RECOVERED),
        case("the same serial by the sender's other recovery key", conflict, "R-19", told, signed(NEW, SERIAL, SECOND_RECOVERY), before=both),
        case("another one of the largest serial", conflict, "R-19", told, signed(LATER, 2**32 - 1), before=sender_in("a", NEW, recovery=(RECOVERY,), last=largest)),
        case("two different ones in one message", f"accepted {conflict}", "R-13 R-19", told, GOOD, other),
        case("the same serial, and the recovery key did not sign", BAD, "R-16 R-19", "Anyone could have written it: no alarm.", Recovery(flip(53)(other.data)), before=RECOVERED),
        case("the same serial, and the new key did not sign", BAD, "R-18 R-19", "The signatures come before the serial.", Recovery(flip(117)(other.data)), before=RECOVERED),
        case("a lower serial, and the recovery key did not sign", BAD, "R-16 R-19", "The signatures come before the serial.", Recovery(flip(53)(signed(LATER, 1).data)), before=RECOVERED),
        case("a lower serial, and the new key did not sign", BAD, "R-18 R-19", "The signatures come before the serial.", Recovery(flip(117)(signed(LATER, 1).data)), before=RECOVERED),
    ]


def several_cases() -> list[Vector]:
    """Each sender is asked apart."""
    apart = "Each sender has its own serial."
    b_old = sender_in("b", OLD, recovery=(RECOVERY,))
    without = sender_in("b", OLD)
    return [
        case("two senders with the same recovery key", ACCEPTED, "R-14 R-21", "Both are recovered.", GOOD, before=trust(KNOWS_OLD, b_old)),
        case("two senders, one of which has it already", ACCEPTED, "R-14 R-19", apart, GOOD, before=trust(RECOVERED, sender_in("b", THIEF, recovery=(RECOVERY,)))),
        case("two senders, one of which has another one of the serial", ACCEPTED, "R-14 R-19", "The app is told all the same.", signed(LATER, SERIAL), before=trust(RECOVERED, sender_in("b", STRANGER, recovery=(RECOVERY,)))),
        case("a sender without recovery keys keeps another key", ACCEPTED, "R-15 R-21", "Only senders with this recovery key are recovered.", GOOD, before=trust(KNOWS_OLD, sender_in("b", PROVIDER, (STRANGER, announce(STRANGER, PROVIDER))), sender_in("c", STRANGER))),
        case("a sender without recovery keys and with the stolen key", "accepted untrusted-old-key", "R-7 R-25", "What is revoked for one sender is revoked for all; the pin stays without effect.", GOOD, announce(OLD, LATER), before=trust(KNOWS_OLD, without)),
        case("a sender whose pin was revoked for another, and its own recovery later", ACCEPTED, "R-21 R-25", "A pin without effect is still one.", signed(LATER, SERIAL, SECOND_RECOVERY), before=trust(RECOVERED, sender_in("b", OLD, recovery=(SECOND_RECOVERY,)))),
        case("a new key that is revoked for another sender", SUPERSEDED, "R-20 R-25", "A revoked key is never pinned again.", GOOD, before=trust(KNOWS_OLD, sender_in("b", LATER, (NEW, None)))),
        case("a new key that another sender has superseded", ACCEPTED, "R-20", "It is superseded there and nowhere else.", GOOD, before=trust(KNOWS_OLD, sender_in("b", LATER, (NEW, announce(NEW, LATER))))),
        case("a new key that another sender pins", ACCEPTED, "R-20 R-21", "One key may be pinned under two names.", GOOD, before=trust(KNOWS_OLD, sender_in("b", NEW))),
    ]


def fault_cases() -> list[Vector]:
    one = "A recovery with one fault. Nothing changes."
    purpose = "A recovery key puts a key in the place of others, and does nothing else."
    weak = []
    for number, point in enumerate(torsion()):
        for scalar, kind in ((0, "small"), (2**251 + 1, "mixed")):
            if scalar and not number:
                continue
            public = key_with_torsion(scalar, point)
            first_53 = unsigned_recovery(RECOVERY.public, public, SENT_AT, SERIAL)
            by_recovery = keys.sign(RECOVERY.seed, recovery_signed_bytes(RECOVERY_ROLE, RECOVERY.public, TOPIC, first_53))
            by_new = sign_with_torsion(scalar, public, recovery_signed_bytes(NEW_ROLE, RECOVERY.public, TOPIC, first_53))
            weak.append(case(f"a new key of {kind} order, {number} times the generator of the eight", "weak-key", "R-17", "Only the check of the key refuses it.", Recovery(first_53 + by_recovery + by_new)))
    first_53 = GOOD.first_53
    as_rotation = Recovery(
        first_53
        + keys.sign(RECOVERY.seed, LABEL + RECOVERY_ROLE + RECOVERY.public + first_53)
        + keys.sign(NEW.seed, LABEL + NEW_ROLE + RECOVERY.public + first_53)
    )
    without_context = Recovery(
        first_53
        + keys.sign(RECOVERY.seed, b"pushcrypt/1 recovery\x00" + RECOVERY_ROLE + RECOVERY.public + first_53)
        + keys.sign(NEW.seed, b"pushcrypt/1 recovery\x00" + NEW_ROLE + RECOVERY.public + first_53)
    )
    sender_id = put(1, keys.sender_key_id(RECOVERY.public))(first_53)
    by_sender = put(1, keys.recovery_key_id(OLD.public))(first_53)
    by_recovery_key = unsigned(RECOVERY.public, NEW.public, SENT_AT, 34_560_000, 2_678_400)
    exchanged = Recovery(first_53 + GOOD.second_signature + GOOD.first_signature)
    two = sender_in("a", OLD, recovery=(RECOVERY, SECOND_RECOVERY))
    twin, other = COLLIDING_RECOVERY
    by_app = sender_in("a", OLD, (NEW, None), recovery=(RECOVERY,))
    faults: list[tuple[str, str, str, Statement | bytes, TrustedSender | Trust]] = [
        ("nobody is trusted", UNKNOWN, "R-15", GOOD, Trust()),
        ("a sender without recovery keys", UNKNOWN, "R-15 R-22", GOOD, sender_in("a", OLD)),
        ("a recovery key that nobody knows", UNKNOWN, "R-15", signed(NEW, SERIAL, STRANGERS_RECOVERY), KNOWS_OLD),
        ("a sender whose pin the app removed", UNKNOWN, "R-15", GOOD, sender_in("a", None, (OLD, None), recovery=(RECOVERY,))),
        ("the id of the recovery key as a sender's", UNKNOWN, "R-15", sign_recovery(sender_id, RECOVERY.seed, NEW.seed), KNOWS_OLD),
        ("a pinned sender key as recovery key", UNKNOWN, "R-15", sign_recovery(by_sender, OLD.seed, NEW.seed), KNOWS_OLD),
        ("a pinned sender key signs under the recovery key's id", BAD, "R-16", sign_recovery(first_53, OLD.seed, NEW.seed, signed_recovery_key=RECOVERY.public), KNOWS_OLD),
        ("the recovery key only shares its id with the pinned one", BAD, "R-16 K-1", signed(NEW, SERIAL, other), sender_in("a", OLD, recovery=(twin,))),
        ("the id of the sender's other recovery key", BAD, "R-16", Recovery(put(1, SECOND_RECOVERY.key_id)(GOOD.data)), two),
        ("signed for another context", BAD, "R-16", sign_recovery(first_53, RECOVERY.seed, NEW.seed, "com.example.other"), KNOWS_OLD),
        ("signed for an empty context", BAD, "R-16", sign_recovery(first_53, RECOVERY.seed, NEW.seed, ""), KNOWS_OLD),
        ("signed without a context", BAD, "R-16", without_context, KNOWS_OLD),
        ("signed over another recovery key", BAD, "R-16", sign_recovery(first_53, RECOVERY.seed, NEW.seed, signed_recovery_key=SECOND_RECOVERY.public), KNOWS_OLD),
        ("signed with a rotation's label", BAD, "R-16", as_rotation, KNOWS_OLD),
        ("the recovery key signs in the role of an old key", BAD, "R-16", sign_recovery(first_53, RECOVERY.seed, NEW.seed, recovery_role=OLD_ROLE), KNOWS_OLD),
        ("the recovery key signs in the new key's role", BAD, "R-16", sign_recovery(first_53, RECOVERY.seed, NEW.seed, recovery_role=NEW_ROLE), KNOWS_OLD),
        ("the new key signs in the recovery key's role", BAD, "R-18", sign_recovery(first_53, RECOVERY.seed, NEW.seed, new_role=RECOVERY_ROLE), KNOWS_OLD),
        ("the recovery key signs both", BAD, "R-18", sign_recovery(first_53, RECOVERY.seed, RECOVERY.seed), KNOWS_OLD),
        ("the new key signs both", BAD, "R-16", sign_recovery(first_53, NEW.seed, NEW.seed, signed_recovery_key=RECOVERY.public), KNOWS_OLD),
        ("the new key signed for another context", BAD, "R-18", Recovery(GOOD.data[:117] + sign_recovery(first_53, RECOVERY.seed, NEW.seed, "com.example.other").second_signature), KNOWS_OLD),
        ("the two signatures exchanged", BAD, "R-16", exchanged, KNOWS_OLD),
        ("a new key that was superseded", SUPERSEDED, "R-20", signed(OLD, SERIAL), MISLED),
        ("a new key that was revoked", SUPERSEDED, "R-20 R-25", GOOD, by_app),
        ("a new key that is the recovery key itself", SUPERSEDED, "R-20 K-10", signed(RECOVERY, SERIAL), KNOWS_OLD),
        ("a new key that is the other recovery key", SUPERSEDED, "R-20 K-10", signed(SECOND_RECOVERY, SERIAL), two),
        ("a new key that is another sender's recovery key", SUPERSEDED, "R-20 K-10", signed(SECOND_RECOVERY, SERIAL), trust(KNOWS_OLD, sender_in("b", STRANGER, recovery=(SECOND_RECOVERY,)))),
        ("serial 0", "malformed-statement", "R-1", signed(NEW, 0), KNOWS_OLD),
    ]
    return [
        *(case(name, expected, rules, one, statement, before=before) for name, expected, rules, statement, before in faults),
        *weak,
        case("a recovery key that signs a rotation", "untrusted-old-key", "R-3 K-10", purpose, Rotation(by_recovery_key + keys.sign(RECOVERY.seed, signed_bytes(OLD_ROLE, RECOVERY.public, by_recovery_key)) + keys.sign(NEW.seed, signed_bytes(NEW_ROLE, RECOVERY.public, by_recovery_key)))),
        case("a weak new key before a wrong second signature", "weak-key", "R-17 R-18", "Two faults; the earlier rule decides the code.", sign_recovery(unsigned_recovery(RECOVERY.public, bytes(32), SENT_AT, SERIAL), RECOVERY.seed, STRANGER.seed)),
        case("a wrong first signature before a weak new key", BAD, "R-16 R-17", "Two faults; the earlier rule decides the code.", sign_recovery(unsigned_recovery(RECOVERY.public, bytes(32), SENT_AT, SERIAL), STRANGER.seed, STRANGER.seed, signed_recovery_key=RECOVERY.public)),
    ]


def every_bit_cases() -> list[Vector]:
    """One file has many statements, each with one fault."""
    changed = "Each line has one bit of a good recovery changed."
    cases = []
    for name, rules, start, end in [
        ("every bit of the first 53 bytes", "R-1 R-15 R-16", 0, 53),
        ("every bit of the recovery key's signature", "R-16", 53, 117),
        ("every bit of the new key's signature", "R-18", 117, 181),
    ]:
        faults = [flip(position, bit)(GOOD.data) for position in range(start, end) for bit in range(8)]
        expected = ["malformed-statement" if not fault[0] == 2 else UNKNOWN if fault[1:5] != GOOD.key_id else BAD for fault in faults]
        cases.append(case(name, " ".join(expected), rules, changed, *faults, before=MISLED))
    cut = [GOOD.data[:length] for length in range(SIZE)]
    return [
        *cases,
        case("cut at every byte", "malformed-statement " * SIZE, "R-1", "Each line has the beginning of a good recovery.", *cut, before=MISLED),
        case("a byte too many", "malformed-statement", "R-1", "A statement has 181 bytes.", GOOD.data + b"\x00", before=MISLED),
    ]


def recovery_case(name: str, recovery: RecoveryKey, new: Sender, issued_at: int, serial: int, topic: str) -> Case:
    """All that goes into a recovery, for recovery.json."""
    first_53 = unsigned_recovery(recovery.public, new.public, issued_at, serial)
    statement = sign_recovery(first_53, recovery.seed, new.seed, topic)
    assert statement.is_signed_by_recovery(recovery.public, topic) and statement.is_signed_by_new(recovery.public, topic)
    assert (statement.issued_at, statement.serial) == (issued_at, serial)
    return {
        "name": name,
        "topic": topic,
        "recoverySeed": recovery.seed.hex(),
        "recoveryPublic": recovery.public.hex(),
        "recoveryKeyID": recovery.key_id.hex(),
        "newSeed": new.seed.hex(),
        "newPublic": new.public.hex(),
        "issuedAt": issued_at,
        "serial": serial,
        "signedByRecovery": recovery_signed_bytes(RECOVERY_ROLE, recovery.public, topic, first_53).hex(),
        "signedByNew": recovery_signed_bytes(NEW_ROLE, recovery.public, topic, first_53).hex(),
        "statement": statement.data.hex(),
    }


def json_cases() -> list[Case]:
    return [
        recovery_case("a recovery", RECOVERY, NEW, SENT_AT, SERIAL, TOPIC),
        recovery_case("the same for another app", RECOVERY, NEW, SENT_AT, SERIAL, "com.example.other"),
        recovery_case("the second recovery key, the smallest serial", SECOND_RECOVERY, NEW, 0, 1, TOPIC),
        recovery_case("the largest serial", RECOVERY, LATER, SENT_AT + DAY, 2**32 - 1, "a"),
    ]


def statement_file_cases() -> list[Vector]:
    return [
        *accepted_cases(),
        *afterwards_cases(),
        *conflict_cases(),
        *several_cases(),
        *fault_cases(),
        *every_bit_cases(),
    ]
