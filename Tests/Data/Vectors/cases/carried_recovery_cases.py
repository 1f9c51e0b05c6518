"""Messages with recovery statements, and what a theft comes to."""

from reference.opening import Receiver
from reference.trust import Trust, TrustedSender

from .carried_cases import FAILED, block, carry
from .forge import flip, forge, open_case
from .material import (
    COLLIDING_SENDERS,
    DAY,
    GENERATIONS,
    NOW,
    PHONE,
    RECOVERY,
    SECOND_RECOVERY,
    SENT_AT,
    STRANGER,
    STRANGERS_RECOVERY,
    TOPIC,
    Sender,
    announce,
    recover,
    seed,
    sender_in,
    sign_recovery,
)
from .recovery_cases import GOOD, KNOWS_OLD, LATER, MISLED, NEW, OLD, RECOVERED, SERIAL, STOLEN, THIEF, signed
from .sequence_cases import comes, sequence_case
from .vector import Vector


def knows(*senders: TrustedSender) -> Receiver:
    return Receiver(TOPIC, (PHONE.secret,), Trust(senders))


def opened_cases() -> list[Vector]:
    becomes = "The candidates are those of the trust after all statements."
    twin, other = COLLIDING_SENDERS
    ground = sender_in("a", twin, (OLD, announce(OLD, twin)), recovery=(RECOVERY,))
    rotation = announce(NEW, LATER)
    long_ago = announce(OLD, NEW, SENT_AT - 300 * DAY)
    since = "Without the recovery, its sender could have sent the same: it has no effect."
    last = announce(LATER, STRANGER)
    enrolled = knows(sender_in("a", LATER, recovery=(RECOVERY,)))
    return [
        open_case("a new key announced by a recovery", "opened", "O-5.2 R-21", carry(NEW, block(GOOD)), becomes, receiver=knows(KNOWS_OLD)),
        open_case("a recovery after the thief has rotated", "opened", "O-5.2 R-21", carry(NEW, block(GOOD)), becomes, receiver=knows(MISLED)),
        open_case("a recovery whose new key has the id of the thief's", "opened", "O-5.2 K-1", carry(other, block(signed(other, SERIAL))), "A thief can make a key with any id; the candidates are not the pinned key with it.", receiver=knows(ground)),
        open_case("a recovery, then a rotation of the new key", "opened", "O-5.2 R-13", carry(LATER, block(GOOD, rotation)), becomes, receiver=knows(MISLED)),
        open_case("a recovery that took effect before", "opened", "R-19", carry(NEW, block(GOOD)), "It is announced permanently.", receiver=knows(RECOVERED)),
        open_case("a recovery beside a statement of an unknown version", "opened", "R-1 R-21", carry(NEW, b"\x02" + b"\x7f" + bytes(180) + GOOD.data), "A later version blacks nobody out.", receiver=knows(MISLED)),
        open_case("a recovery before the thief's rotation in the same message", "opened", "R-13 R-21", carry(NEW, block(GOOD, STOLEN)), "The stolen key states nothing any more.", receiver=knows(KNOWS_OLD)),
        open_case("a recovery of serial 0 in a message of the old key", "opened", "R-1", carry(OLD, block(signed(NEW, 0))), "It cannot be read, and is ignored.", receiver=knows(KNOWS_OLD)),
        open_case("a recovery in conflict in a message of the right key", "opened", "R-19", carry(NEW, block(signed(LATER, SERIAL))), "The app is told.", receiver=knows(RECOVERED)),
        open_case("both conflicts in one message of the right key", "opened", "R-7 R-19", carry(LATER, block(signed(OLD, SERIAL), announce(NEW, OLD))), "The app is told of both.", receiver=knows(sender_in("a", LATER, (NEW, rotation), recovery=(RECOVERY,), last=GOOD))),
        open_case("a recovery by a recovery key that nobody knows, in a message of the old key", "opened", "R-15", carry(OLD, block(signed(NEW, SERIAL, STRANGERS_RECOVERY))), "It has no effect.", receiver=knows(KNOWS_OLD)),
        open_case("a recovery for another context in a message of the old key", "opened", "R-16", carry(OLD, block(sign_recovery(GOOD.first_53, RECOVERY.seed, NEW.seed, "com.example.other"))), "It has no effect.", receiver=knows(KNOWS_OLD)),
        open_case("another sender's message that carries the recovery", "opened", "S-12 R-21", carry(STRANGER, block(GOOD)), "The statement authenticates itself.", receiver=knows(MISLED, sender_in("b", STRANGER))),
        open_case("a recovery for two senders", "opened", "R-14 R-21", carry(NEW, block(GOOD)), "Both are recovered.", receiver=knows(KNOWS_OLD, sender_in("b", THIEF, recovery=(SECOND_RECOVERY, RECOVERY)))),
        open_case("a recovery and what followed it, to a phone enrolled since", "opened", "O-5.2", carry(STRANGER, block(GOOD, rotation, last)), "The recovery would revoke the key that the phone enrolled with.", receiver=enrolled),
        open_case("a recovery without the rotation after it, to a phone enrolled since", "opened", "O-5.2", carry(STRANGER, block(GOOD, last)), "The recovery would revoke the key that the phone enrolled with.", receiver=enrolled),
        open_case("a recovery and the rotation to the key that a phone enrolled with", "opened", "O-5.2", carry(LATER, block(GOOD, rotation)), "The recovery would revoke the key that the phone enrolled with.", receiver=enrolled),
        open_case("the stolen key in a message with the recovery", "opened", "O-5.2", carry(OLD, block(GOOD)), since, receiver=knows(KNOWS_OLD)),
        open_case("the stolen key under another name, in a message with the recovery", "opened", "O-5.2", carry(OLD, block(GOOD)), since, receiver=knows(KNOWS_OLD, sender_in("b", OLD))),
        open_case("the thief's key in a message with the recovery", "opened", "O-5.2", carry(THIEF, block(GOOD)), since, receiver=knows(MISLED)),
        open_case("the thief's key, its rotation and the recovery", "opened", "O-5.2", carry(THIEF, block(STOLEN, GOOD)), since, receiver=knows(KNOWS_OLD)),
        open_case("the thief's key, the recovery and its rotation", "opened", "O-5.2", carry(THIEF, block(GOOD, STOLEN)), since, receiver=knows(KNOWS_OLD)),
        open_case("a superseded key within its overlap in a message with the recovery", "opened", "O-5.2", carry(OLD, block(GOOD)), since, receiver=knows(MISLED)),
        open_case("a rotation whose overlap is over, in a message of its old key", "opened", "O-5.2", carry(OLD, block(long_ago)), "Without a recovery the keys of the trust before the statements are candidates too.", receiver=knows(KNOWS_OLD)),
    ]


def refused_cases() -> list[Vector]:
    revoked = "A key that a recovery revoked opens nothing."
    unknown = "The recovery leads to no key."
    conflict = "recovery-conflict"
    elsewhere = sign_recovery(GOOD.first_53, RECOVERY.seed, NEW.seed, "com.example.other")
    dead = sender_in("b", OLD)
    faults: list[tuple[str, str, str, bytes, str, Receiver]] = [
        ("the stolen key after the recovery", FAILED, "O-5.4 R-25", forge(sender=OLD), revoked, knows(RECOVERED)),
        ("the thief's key after the recovery", FAILED, "O-5.4 R-25", forge(sender=THIEF), revoked, knows(RECOVERED)),
        ("the thief's key after the recovery, with its rotation", FAILED, "O-5.3 R-7", carry(THIEF, block(STOLEN)), "What a revoked key states is no conflict.", knows(RECOVERED)),
        ("the stolen key under another name", FAILED, "O-5.4 R-25", forge(sender=OLD), revoked, knows(RECOVERED, dead)),
        ("a key that the app revoked under one name", FAILED, "O-5.4 R-25", forge(sender=OLD), "What is revoked for one sender is revoked for all.", knows(sender_in("a", NEW, (OLD, None)), dead)),
        ("a superseded key that another sender revoked", FAILED, "O-5.4 R-25", forge(sender=OLD), "What is revoked for one sender is revoked for all.", knows(sender_in("a", LATER, (OLD, None)), sender_in("b", THIEF, (OLD, STOLEN)))),
        ("the stolen key after the recovery, in a message with it", FAILED, "O-5.4 R-25", carry(OLD, block(GOOD)), revoked, knows(RECOVERED)),
        ("a conflict, and a recovery that leads to no key", "rotation-conflict", "O-5.3", carry(STRANGER, block(GOOD, announce(OLD, LATER))), "Nobody is a candidate without the recovery either.", knows(MISLED)),
        ("the recovery key signs a message", FAILED, "O-5.4 K-10", forge(sender=Sender(RECOVERY.seed)), "A recovery key is nobody's sender key.", knows(KNOWS_OLD)),
        ("the recovery key signs a message under its own id", FAILED, "O-5.4 K-10", forge(sender=Sender(RECOVERY.seed), sender_id=RECOVERY.key_id), "A recovery key is nobody's sender key.", knows(KNOWS_OLD)),
        ("a recovery by a recovery key that nobody knows", FAILED, "O-5.2 R-15", carry(NEW, block(signed(NEW, SERIAL, STRANGERS_RECOVERY))), unknown, knows(KNOWS_OLD)),
        ("a recovery to a receiver without recovery keys", FAILED, "O-5.2 R-15 R-22", carry(NEW, block(GOOD)), unknown, knows(sender_in("a", OLD))),
        ("a recovery for another context", FAILED, "O-5.2 R-16", carry(NEW, block(elsewhere)), unknown, knows(KNOWS_OLD)),
        ("a recovery that the recovery key did not sign", FAILED, "O-5.2 R-16", carry(NEW, block(type(GOOD)(flip(53)(GOOD.data)))), unknown, knows(KNOWS_OLD)),
        ("a recovery that the new key did not sign", FAILED, "O-5.2 R-18", carry(NEW, block(type(GOOD)(flip(117)(GOOD.data)))), unknown, knows(KNOWS_OLD)),
        ("a recovery of a lower serial", FAILED, "O-5.2 R-19", carry(LATER, block(signed(LATER, 1))), unknown, knows(RECOVERED)),
        ("a recovery of serial 0", FAILED, "O-5.2 R-1", carry(NEW, block(signed(NEW, 0))), unknown, knows(KNOWS_OLD)),
        ("a good recovery in a stranger's message", FAILED, "O-5.4 O-9.3", carry(STRANGER, block(GOOD)), "Anyone can repeat a statement; it takes no effect.", knows(KNOWS_OLD)),
        ("another recovery of one serial", conflict, "O-5.3 R-19", carry(LATER, block(signed(LATER, SERIAL))), "Nobody is a candidate, and the conflict is the reason.", knows(RECOVERED)),
        ("both conflicts", conflict, "O-5.3 R-7 R-19", carry(STRANGER, block(signed(OLD, SERIAL), announce(NEW, OLD))), "Of two conflicts that of the recovery is reported.", knows(sender_in("a", LATER, (NEW, announce(NEW, LATER)), recovery=(RECOVERY,), last=GOOD))),
        ("a conflict of serial that the recovery key did not sign", FAILED, "O-5.3 R-16", carry(LATER, block(type(GOOD)(flip(53)(signed(LATER, SERIAL).data)))), "No conflict: anyone could have written this.", knows(RECOVERED)),
        ("a good recovery in an expired message", "expired", "O-6.3 O-9.3", carry(NEW, block(GOOD), ttl=1), "Statements take effect when every step has passed.", knows(KNOWS_OLD)),
        ("a good recovery before a malformed payload", "malformed-payload", "O-7.2 O-9.3", carry(NEW, block(GOOD), b"{"), "Statements take effect when every step has passed.", knows(KNOWS_OLD)),
    ]
    return [
        open_case(f"refused recovery: {name}", expected, rules, envelope, comment, receiver=receiver)
        for name, expected, rules, envelope, comment, receiver in faults
    ]


def drill_cases() -> list[Vector]:
    """What a phone gets after a theft, one push after the other."""
    counter = iter(range(100))

    def message(sender: Sender, *statements: object, **fields: int) -> bytes:
        identifier = seed(f"drill message {next(counter)}")[:16]
        if not statements:
            return forge(sender=sender, message_id=identifier, **fields)
        return carry(sender, block(*statements), message_id=identifier, **fields)  # type: ignore[arg-type]

    thiefs_again = announce(OLD, LATER, SENT_AT - DAY)
    return [
        sequence_case(
            "a theft: the thief rotates first, then the recovery",
            "new new new authentication-failed authentication-failed new",
            "R-21 R-25 O-9.1",
            "A sleeping phone follows the thief until the recovery reaches it, and not afterwards.",
            comes(NOW, "a", message(OLD)),
            comes(NOW + 1, "b", message(THIEF, STOLEN)),
            comes(NOW + 2, "c", message(NEW, GOOD)),
            comes(NOW + 3, "d", message(THIEF)),
            comes(NOW + 4, "e", message(THIEF, STOLEN)),
            comes(NOW + 5, "f", message(NEW)),
            receiver=knows(KNOWS_OLD),
        ),
        sequence_case(
            "a theft: the recovery first, then the thief's rotation",
            "new authentication-failed authentication-failed new",
            "R-21 R-25 O-9.1",
            "The stolen key can rotate nothing any more, and raises no alarm.",
            comes(NOW, "a", message(NEW, GOOD)),
            comes(NOW + 1, "b", message(THIEF, STOLEN)),
            comes(NOW + 2, "c", message(OLD)),
            comes(NOW + 3, "d", message(NEW, GOOD)),
            receiver=knows(KNOWS_OLD),
        ),
        sequence_case(
            "a theft: a phone that slept for two years",
            "new new",
            "R-21 O-9.1",
            "No time limits a recovery.",
            comes(NOW + 730 * DAY, "a", message(NEW, GOOD, sent_at=SENT_AT + 730 * DAY)),
            comes(NOW + 730 * DAY, "b", message(LATER, GOOD, announce(NEW, LATER, SENT_AT + 700 * DAY), sent_at=SENT_AT + 730 * DAY)),
            receiver=knows(KNOWS_OLD),
        ),
        sequence_case(
            "a theft: the recovery comes in a message that was seen",
            "duplicate-quietly new",
            "R-21 O-9.1 O-8.5",
            "A statement authenticates itself.",
            comes(NOW, "a", message(NEW, GOOD)),
            comes(NOW + 1, "b", message(NEW, sent_at=SENT_AT + 2)),
            receiver=knows(MISLED),
            floor=SENT_AT + 1,
        ),
        sequence_case(
            "a theft: a second one after the recovery",
            "new new new authentication-failed",
            "R-19 R-21",
            "The serial grows, and the key of the first recovery is revoked.",
            comes(NOW, "a", message(NEW, GOOD)),
            comes(NOW + 1, "b", message(LATER, signed(LATER, SERIAL + 1))),
            comes(NOW + 2, "c", message(LATER, GOOD)),
            comes(NOW + 3, "d", message(NEW, GOOD)),
            receiver=knows(MISLED),
        ),
        sequence_case(
            "a theft: two rotations by the stolen key, without a recovery",
            "new new",
            "R-7 O-5.3",
            "The first one wins, and the app is told of the second.",
            comes(NOW, "a", message(THIEF, STOLEN)),
            comes(NOW + 1, "b", message(THIEF, thiefs_again)),
            receiver=knows(KNOWS_OLD),
        ),
    ]


def carried_recovery_cases() -> list[Vector]:
    return [*opened_cases(), *refused_cases(), *drill_cases()]
