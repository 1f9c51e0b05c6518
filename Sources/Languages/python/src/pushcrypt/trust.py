"""A receiver's trust in senders, and the statements that change it: `Docs/FormatRotation.md`, [R-1] to [R-25]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ._envelope import LARGEST_TIME, check_topic, later, lp16, milliseconds_now, number
from ._errors import Code, PushcryptError
from ._types import check_type
from .keys import RecoveryKey, RecoveryPublicKey, SenderKey, SenderPublicKey

__all__ = ["Sender", "Superseded", "Trust", "recovery_statement", "rotation_statement"]

STATEMENT = 181
SIGNED = 53
ROTATES, RECOVERS = 0x01, 0x02
TOLERANCE = 86_400
LARGEST_OVERLAP = 5_184_000
LARGEST_DURATION = 2**32 - 1
MOST_RECOVERY_KEYS = 2
CONFLICTS = (Code.ROTATION_CONFLICT, Code.RECOVERY_CONFLICT)


@dataclass(frozen=True)
class Superseded:
    """A sender key that is no longer pinned. It never verifies a statement again.

    It verifies messages up to and including the millisecond of its end. Without a statement it is revoked, by the app or
    by a recovery: it verifies nothing, for any sender [R-25]. The statement is always kept: [R-2] and [R-7] need it.
    """

    key: SenderPublicKey
    statement: bytes | None = None

    def verifies(self, now: int) -> bool:
        if self.statement is None:
            return False
        return now <= later(number(self.statement, 37, 45), number(self.statement, 49, 53))


@dataclass(frozen=True)
class Sender:
    """What a receiver has of one sender: a name that the app gives. Without `pinned`, the app has removed the pin.

    `last_recovery` is the first 53 bytes of the last recovery statement, which include the serial. Recovery keys come
    from the app, or with the reply that brings the first pin [R-22].
    """

    name: str
    pinned: SenderPublicKey | None
    superseded: tuple[Superseded, ...] = ()
    recovery: tuple[RecoveryPublicKey, ...] = ()
    last_recovery: bytes = b""

    @property
    def past(self) -> list[SenderPublicKey]:
        """The superseded keys, oldest first."""
        return [old.key for old in self.superseded]

    @property
    def serial(self) -> int:
        """The number of the last recovery; 0 if there was none."""
        return number(self.last_recovery, 49, 53)


class Trust:
    """The senders that an app trusts for one topic, in order.

    It is durable and only grows. Two messages may be opened at the same time, each with the trust stored before. So never
    store the trust that a message was opened with: under one lock read the stored one, let it `follow` the message's
    statements, and store that, superseded keys, their statements and the last recovery included.
    """

    senders: tuple[Sender, ...]

    def __init__(self, senders: Iterable[Sender] = ()) -> None:
        self.senders = tuple(senders)
        for sender in self.senders:
            check_type(sender, Sender, "one of senders")
            check_type(sender.pinned, (SenderPublicKey, type(None)), "pinned")
            for key in sender.recovery:
                check_type(key, RecoveryPublicKey, "one of recovery")
            for old in sender.superseded:
                check_type(old, Superseded, "one of superseded")
            own = [*([] if sender.pinned is None else [sender.pinned]), *sender.past]
            if len(set(own)) != len(own):
                raise PushcryptError(Code.SENDER_SUPERSEDED, "one key is pinned and superseded, or superseded twice")
            if len(sender.recovery) > MOST_RECOVERY_KEYS or len(sender.last_recovery) not in (0, SIGNED):
                raise PushcryptError(Code.CORRUPT_STORE, "a sender has over 2 recovery keys, or part of a recovery")
            if any(old.statement is not None and len(old.statement) != STATEMENT for old in sender.superseded):
                raise PushcryptError(Code.CORRUPT_STORE, "a superseded key has a part of its statement")
            if any(bytes(key) in self.recovery_keys() for key in own):
                raise PushcryptError(Code.SENDER_SUPERSEDED, "one key is a sender's and a recovery key [K-10]")

    def copy(self) -> Trust:
        """Another trust with the same senders."""
        trust = Trust.__new__(Trust)
        trust.senders = self.senders
        return trust

    def revoked(self) -> set[SenderPublicKey]:
        """The keys that verify nothing, for any sender."""
        return {old.key for sender in self.senders for old in sender.superseded if old.statement is None}

    def recovery_keys(self) -> set[bytes]:
        return {bytes(key) for sender in self.senders for key in sender.recovery}

    def candidates(self, id: bytes, now: int) -> list[SenderPublicKey]:
        """The keys under which a message with the sender key id may verify."""
        pinned = [sender.pinned for sender in self.senders if sender.pinned is not None]
        overlapping = [old.key for sender in self.senders for old in sender.superseded if old.verifies(now)]
        revoked = self.revoked()
        return [key for key in [*pinned, *overlapping] if key not in revoked and key.id_bytes == id]

    def had_before(self, key: SenderPublicKey, now: int) -> list[SenderPublicKey]:
        """A sender's key, and those that it had before and that still verify messages: whose messages it may withdraw."""
        keys, revoked = [key], self.revoked()
        for sender in self.senders:
            past = sender.past
            end = len(past) if sender.pinned == key else past.index(key) if key in past else 0
            keys += [old.key for old in sender.superseded[:end] if old.verifies(now) and old.key not in revoked]
        return list(dict.fromkeys(keys))

    def follow(self, statements: Sequence[bytes], topic: str, now: int | None = None) -> tuple[list[bytes], list[Code]]:
        """Evaluates statements in order, and ignores one that fails [R-13].

        Returns the accepted statements, and the conflicts to tell the app of.
        """
        now = milliseconds_now() if now is None else now
        accepted: list[bytes] = []
        told: set[Code] = set()
        for statement in statements:
            conflict: Code | None
            try:
                changed, conflict = self.evaluate(statement, topic, now)
                if changed:
                    accepted.append(statement)
            except PushcryptError as refused:
                conflict = refused.code if refused.code in CONFLICTS else None
            if conflict is not None:
                told.add(conflict)
        return accepted, sorted(told)

    def evaluate(self, statement: bytes, topic: str, now: int) -> tuple[bool, Code | None]:
        """Follows a statement, or refuses it and changes nothing. Each sender is evaluated separately [R-14].

        Returns whether something changed, and a conflict that the statement raises nevertheless.
        """
        check_form(statement)
        senders: list[Sender] = []
        failures: list[Fails] = []
        for sender in self.senders:
            try:
                if statement[0] == ROTATES:
                    senders.append(self.rotated(sender, statement, now))
                else:
                    senders.append(self.recovered(sender, statement, topic))
            except Fails as fails:
                senders.append(sender)
                failures.append(fails)
        conflict = next((fails.code for fails in failures if fails.code in CONFLICTS), None)
        if any(after is not before for after, before in zip(senders, self.senders)):
            self.senders = tuple(senders)
            return True, conflict
        if conflict is not None:
            raise refusal(conflict)
        if len(failures) < len(self.senders):
            return False, None
        nobody = Fails(3, Code.UNTRUSTED_OLD_KEY) if statement[0] == ROTATES else Fails(15, Code.UNKNOWN_RECOVERY_KEY)
        raise refusal(max([nobody, *failures], key=lambda fails: fails.rule).code)

    def rotated(self, sender: Sender, statement: bytes, now: int) -> Sender:
        """The sender after a rotation [R-2] to [R-12]; the same one if nothing changes."""
        if any(old.statement is not None and old.statement[:SIGNED] == statement[:SIGNED] for old in sender.superseded):
            return sender
        own = [*([] if sender.pinned is None else [sender.pinned]), *sender.past]
        own = [key for key in own if key.id_bytes == statement[1:5]]
        require(bool(own), 3, Code.UNTRUSTED_OLD_KEY)
        old = next((key for key in own if key.verifies(statement[53:117], signed(statement, 0x01, key))), None)
        if old is None:
            raise Fails(4, Code.BAD_STATEMENT_SIGNATURE)
        new, issued_at = new_key(statement, 5), number(statement, 37, 45)
        require(new.verifies(statement[117:181], signed(statement, 0x02, old)), 6, Code.BAD_STATEMENT_SIGNATURE)
        require(old not in self.revoked(), 7, Code.UNTRUSTED_OLD_KEY)
        require(old == sender.pinned, 7, Code.ROTATION_CONFLICT)
        require(new != old and self.may_pin(new, sender), 8, Code.SUPERSEDED_NEW_KEY)
        require(number(statement, 49, 53) <= LARGEST_OVERLAP, 9, Code.OVERLAP_TOO_LONG)
        require(issued_at <= later(now, TOLERANCE), 10, Code.STATEMENT_NOT_YET_VALID)
        require(now <= later(issued_at, number(statement, 45, 49)), 11, Code.STATEMENT_EXPIRED)
        return replace(sender, pinned=new, superseded=(*sender.superseded, Superseded(old, statement)))

    def recovered(self, sender: Sender, statement: bytes, topic: str) -> Sender:
        """The sender after a recovery [R-15] to [R-21]; the same one if nothing changes. No clock decides."""
        own = [key for key in sender.recovery if key.id_bytes == statement[1:5]]
        if sender.pinned is None or not own:
            raise Fails(15, Code.UNKNOWN_RECOVERY_KEY)
        data = [(key, recovery_signed(statement, 0x03, key, topic)) for key in own]
        recovery = next((key for key, data in data if key.verifies(statement[53:117], data)), None)
        if recovery is None:
            raise Fails(16, Code.BAD_STATEMENT_SIGNATURE)
        new, serial = new_key(statement, 17), number(statement, 49, 53)
        data_of_new = recovery_signed(statement, 0x02, recovery, topic)
        require(new.verifies(statement[117:181], data_of_new), 18, Code.BAD_STATEMENT_SIGNATURE)
        if serial < sender.serial or statement[:SIGNED] == sender.last_recovery:
            return sender
        require(serial > sender.serial, 19, Code.RECOVERY_CONFLICT)
        require(self.may_pin(new, sender), 20, Code.SUPERSEDED_NEW_KEY)
        revoked = tuple(Superseded(key) for key in (*sender.past, sender.pinned) if key != new)
        return replace(sender, pinned=new, superseded=revoked, last_recovery=statement[:SIGNED])

    def may_pin(self, key: SenderPublicKey, sender: Sender) -> bool:
        return key not in sender.past and key not in self.revoked() and bytes(key) not in self.recovery_keys()


class Fails(Exception):
    """A rule that a statement breaks for one sender."""

    def __init__(self, rule: int, code: Code) -> None:
        super().__init__(rule, code)
        self.rule, self.code = rule, code


def require(condition: bool, rule: int, code: Code) -> None:
    if not condition:
        raise Fails(rule, code)


def new_key(statement: bytes, rule: int) -> SenderPublicKey:
    try:
        return SenderPublicKey(statement[5:37])
    except PushcryptError:
        raise Fails(rule, Code.WEAK_KEY) from None


def check_form(statement: bytes) -> None:
    """Refuses what is not a statement [R-1]."""
    if len(statement) != STATEMENT or statement[0] not in (ROTATES, RECOVERS):
        raise malformed()
    if statement[0] == RECOVERS and number(statement, 49, 53) == 0:
        raise malformed()


def malformed() -> PushcryptError:
    return PushcryptError(Code.MALFORMED_STATEMENT, "a statement has 181 bytes, a known version and, for a recovery, a serial")


def refusal(code: Code) -> PushcryptError:
    return PushcryptError(code, f"the statement changes nothing here; see pushcrypt explain {code.value}")


def signed(statement: bytes, role: int, old: SenderPublicKey) -> bytes:
    """The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one."""
    return b"pushcrypt/1 rotation\0" + bytes([role]) + bytes(old) + statement[:SIGNED]


def recovery_signed(statement: bytes, role: int, recovery: RecoveryPublicKey, topic: str) -> bytes:
    """The bytes that the key of a role signs: 0x03 for the recovery key, 0x02 for the new one."""
    topic_field = lp16(topic.encode())
    return b"pushcrypt/1 recovery\0" + bytes([role]) + bytes(recovery) + topic_field + statement[:SIGNED]


def rotation_statement(
    old: SenderKey, new: SenderKey, *, at: int | None = None, accept_for: int = 34_560_000, overlap: int = 2_678_400
) -> bytes:
    """Issues the statement that `new` replaces `old`: 181 bytes, to announce with each message until all phones know it.

    A provider rotates a key once. Phones accept the statement for `accept_for` seconds, by default 400 days; the old key
    verifies messages for `overlap` seconds, by default 31 days and at most 60.
    """
    at = milliseconds_now() if at is None else at
    check_type(old, SenderKey, "the old key")
    check_type(new, SenderKey, "the new key")
    check_type(overlap, int, "overlap")
    if old.public_key == new.public_key:
        raise PushcryptError(Code.SUPERSEDED_NEW_KEY, "a key cannot replace itself")
    if not 0 <= overlap <= LARGEST_OVERLAP:
        raise PushcryptError(Code.OVERLAP_TOO_LONG, "the old key may verify for at most 60 days")
    check_claim(at, accept_for)
    head = claim(ROTATES, old.public_key.id_bytes, new, at, accept_for, overlap)
    return head + old.sign(signed(head, 0x01, old.public_key)) + new.sign(signed(head, 0x02, old.public_key))


def recovery_statement(
    recovery: RecoveryKey, new: SenderKey, *, topic: str, serial: int, at: int | None = None
) -> bytes:
    """Issues the statement that pins `new` whatever a phone of the app has pinned: 181 bytes.

    The serial is above that of each earlier recovery by this key for the app. Announce it first in each message,
    permanently [R-23].
    """
    check_topic(topic)
    at = milliseconds_now() if at is None else at
    check_type(recovery, RecoveryKey, "the recovery key")
    check_type(new, SenderKey, "the new key")
    check_type(serial, int, "serial")
    if not 1 <= serial <= LARGEST_DURATION:
        raise PushcryptError(Code.MALFORMED_STATEMENT, "the serial of a recovery is 1 to 2**32 - 1")
    if bytes(new.public_key) == bytes(recovery.public_key):
        raise PushcryptError(Code.SUPERSEDED_NEW_KEY, "the new key is the recovery key; each needs its own")
    check_claim(at, LARGEST_DURATION)
    head = claim(RECOVERS, recovery.public_key.id_bytes, new, at, LARGEST_DURATION, serial)
    data = [recovery_signed(head, role, recovery.public_key, topic) for role in (0x03, 0x02)]
    return head + recovery.sign(data[0]) + new.sign(data[1])


def claim(version: int, key_id: bytes, new: SenderKey, at: int, fifth: int, sixth: int) -> bytes:
    times = at.to_bytes(8, "big") + fifth.to_bytes(4, "big") + sixth.to_bytes(4, "big")
    return bytes([version]) + key_id + bytes(new.public_key) + times


def check_claim(at: int, accept_for: int) -> None:
    check_type(at, int, "at")
    check_type(accept_for, int, "accept_for")
    if not 0 <= at <= LARGEST_TIME or not 0 <= accept_for <= LARGEST_DURATION:
        raise PushcryptError(Code.INVALID_TIME, "the time of issue or the time to accept it for is out of range")
