"""A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules [R-1] to [R-25]."""
from dataclasses import dataclass, replace
from typing import Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from keys import ED25519, RECOVERY, Refused, check_sender_key, key_id

STATEMENT = 181
SIGNED = 53
ROTATES, RECOVERS = 0x01, 0x02
TOLERANCE = 86_400
LARGEST_OVERLAP = 5_184_000
NEVER = 2**64 - 1
MOST_RECOVERY_KEYS = 2
CONFLICTS = ("rotation-conflict", "recovery-conflict")
# The first byte of the encoding of the identity; 31 zero bytes follow.
IDENTITY = bytes([1]) + bytes(31)


@dataclass(frozen=True)
class Superseded:
    """A superseded sender key. It never verifies a statement again.

    It verifies messages up to and including the millisecond of its end. Without a statement it is revoked, by the app or
    by a recovery: it verifies nothing, for any sender [R-25]. The statement is always kept: [R-2] and [R-7] require it.
    """

    key: bytes
    statement: Optional[bytes] = None

    def verifies(self, now):
        return self.statement is not None and now <= later(number(self.statement, 37, 45), number(self.statement, 49, 53))


@dataclass(frozen=True)
class Sender:
    """What a receiver has of one sender: a name that the app gives. Without `pinned`, the app has removed the pin.

    `last_recovery` is the first 53 bytes of the last recovery statement, which include the serial. Recovery keys come
    from the app, or with the reply that brings the first pin [R-22].
    """

    name: str
    pinned: Optional[bytes]
    superseded: tuple = ()
    recovery: tuple = ()
    last_recovery: bytes = b""

    @property
    def past(self):
        return [old.key for old in self.superseded]

    @property
    def serial(self):
        return number(self.last_recovery, 49, 53)


class Trust:
    """The senders that an app trusts for one context, in order. No key in it is one that [K-7] refuses, such as an unset
    setting, none is both a sender's and a recovery key [K-10], and no sender has one key twice.

    It is durable and only grows: see `Opened` for how it changes.
    """

    def __init__(self, senders=()):
        self.senders = tuple(senders)
        for sender in self.senders:
            own = [*([] if sender.pinned is None else [sender.pinned]), *sender.past]
            for key in (*own, *sender.recovery):
                check_sender_key(key)
            if len(set(own)) != len(own):
                raise Refused("sender-superseded")
            if len(sender.recovery) > MOST_RECOVERY_KEYS or len(sender.last_recovery) not in (0, SIGNED):
                raise Refused("malformed-trust")
            if any(key in self.recovery_keys() for key in own):
                raise Refused("key-has-two-uses")

    def revoked(self):
        return {old.key for sender in self.senders for old in sender.superseded if old.statement is None}

    def recovery_keys(self):
        return {key for sender in self.senders for key in sender.recovery}

    def candidates(self, id, now):
        """The keys under which a message with the sender key id may verify."""
        pinned = [sender.pinned for sender in self.senders if sender.pinned is not None]
        overlapping = [old.key for sender in self.senders for old in sender.superseded if old.verifies(now)]
        revoked = self.revoked()
        return [key for key in [*pinned, *overlapping] if key not in revoked and key_id(ED25519, key) == id]

    def follow(self, statements, context, now):
        """Evaluates statements in order; ignores one that fails [R-13]. Returns the accepted statements, and the
        conflicts to tell the app of."""
        accepted, told = [], set()
        for statement in statements:
            try:
                changed, conflict = self.evaluate(statement, context, now)
                if changed:
                    accepted.append(statement)
            except Refused as refused:
                conflict = refused.code if refused.code in CONFLICTS else None
            told |= {conflict} - {None}
        return accepted, sorted(told)

    def evaluate(self, statement, context, now):
        """Follows a statement, or refuses it and changes nothing. Each sender is evaluated separately [R-14].

        Returns whether something changed, and a conflict that the statement raises nevertheless.
        """
        if len(statement) != STATEMENT or statement[0] not in (ROTATES, RECOVERS):
            raise Refused("malformed-statement")
        if statement[0] == RECOVERS and number(statement, 49, 53) == 0:
            raise Refused("malformed-statement")
        senders, failures = [], []
        for sender in self.senders:
            try:
                if statement[0] == ROTATES:
                    senders.append(self.rotated(sender, statement, now))
                else:
                    senders.append(self.recovered(sender, statement, context))
            except Fails as fails:
                senders.append(sender)
                failures.append(fails)
        conflict = next((fails.code for fails in failures if fails.code in CONFLICTS), None)
        if any(after is not before for after, before in zip(senders, self.senders)):
            self.senders = tuple(senders)
            return True, conflict
        if conflict is not None:
            raise Refused(conflict)
        if len(failures) < len(self.senders):
            return False, None
        nobody = Fails(3, "untrusted-old-key") if statement[0] == ROTATES else Fails(15, "unknown-recovery-key")
        raise Refused(max([nobody, *failures], key=lambda fails: fails.rule).code)

    def rotated(self, sender, statement, now):
        """The sender after a rotation [R-2] to [R-12]; the same one if nothing changes."""
        if any(old.statement is not None and old.statement[:SIGNED] == statement[:SIGNED] for old in sender.superseded):
            return sender
        own = [*([] if sender.pinned is None else [sender.pinned]), *sender.past]
        own = [key for key in own if key_id(ED25519, key) == statement[1:5]]
        require(own, 3, "untrusted-old-key")
        old = next((key for key in own if verifies(key, statement[53:117], signed(statement, 0x01, key))), None)
        require(old is not None, 4, "bad-statement-signature")
        new, issued_at = statement[5:37], number(statement, 37, 45)
        require(is_sender_key(new), 5, "weak-key")
        require(verifies(new, statement[117:181], signed(statement, 0x02, old)), 6, "bad-statement-signature")
        require(old not in self.revoked(), 7, "untrusted-old-key")
        require(old == sender.pinned, 7, "rotation-conflict")
        require(new != old and self.may_pin(new, sender), 8, "superseded-new-key")
        require(number(statement, 49, 53) <= LARGEST_OVERLAP, 9, "overlap-too-long")
        require(issued_at <= later(now, TOLERANCE), 10, "statement-not-yet-valid")
        require(now <= later(issued_at, number(statement, 45, 49)), 11, "statement-expired")
        return replace(sender, pinned=new, superseded=(*sender.superseded, Superseded(old, statement)))

    def recovered(self, sender, statement, context):
        """The sender after a recovery [R-15] to [R-21]; the same one if nothing changes. No clock decides."""
        own = [key for key in sender.recovery if key_id(RECOVERY, key) == statement[1:5]]
        require(sender.pinned is not None and own, 15, "unknown-recovery-key")
        data = [(key, recovery_signed(statement, 0x03, key, context)) for key in own]
        recovery = next((key for key, data in data if verifies(key, statement[53:117], data)), None)
        require(recovery is not None, 16, "bad-statement-signature")
        new, serial = statement[5:37], number(statement, 49, 53)
        require(is_sender_key(new), 17, "weak-key")
        data = recovery_signed(statement, 0x02, recovery, context)
        require(verifies(new, statement[117:181], data), 18, "bad-statement-signature")
        if serial < sender.serial or statement[:SIGNED] == sender.last_recovery:
            return sender
        require(serial > sender.serial, 19, "recovery-conflict")
        require(self.may_pin(new, sender), 20, "superseded-new-key")
        revoked = tuple(Superseded(key) for key in (*sender.past, sender.pinned) if key != new)
        return replace(sender, pinned=new, superseded=revoked, last_recovery=statement[:SIGNED])

    def may_pin(self, key, sender):
        return key not in sender.past and key not in self.revoked() and key not in self.recovery_keys()


class Fails(Exception):
    """A rule that a statement breaks for one sender."""

    def __init__(self, rule, code):
        super().__init__(code)
        self.rule, self.code = rule, code


def require(condition, rule, code):
    if not condition:
        raise Fails(rule, code)


def is_sender_key(key):
    try:
        check_sender_key(key)
        return True
    except Refused:
        return False


def signed(statement, role, old):
    """The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one."""
    return b"pushcrypt/1 rotation\0" + bytes([role]) + old + statement[:SIGNED]


def recovery_signed(statement, role, recovery, context):
    """The bytes that the key of a role signs: 0x03 for the recovery key, 0x02 for the new one."""
    context = len(context).to_bytes(2, "big") + context.encode()
    return b"pushcrypt/1 recovery\0" + bytes([role]) + recovery + context + statement[:SIGNED]


def verifies(key, signature, data):
    """Ed25519 by [K-9]. `check_sender_key` ensured that the key is of prime order; OpenSSL compares the bytes of R."""
    if signature[:32] == IDENTITY:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, data)
        return True
    except InvalidSignature:
        return False


def later(time, seconds):
    """Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]."""
    return min(time + 1000 * seconds, NEVER)


def number(data, start, end):
    return int.from_bytes(data[start:end], "big")
