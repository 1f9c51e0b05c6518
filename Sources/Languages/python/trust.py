"""A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules [R-1] to [R-13]."""
from dataclasses import dataclass
from typing import Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from keys import ED25519, Refused, check_sender_key, key_id

STATEMENT = 181
TRIED = 4
TOLERANCE = 86_400
LARGEST_OVERLAP = 5_184_000
NEVER = 2**64 - 1


@dataclass(frozen=True)
class Superseded:
    """A superseded sender key. It never verifies a statement again.

    It verifies messages up to and including the millisecond of its end. If the app replaced it, it has no end and
    verifies none. The statement that superseded it, if there is one, is always kept: [R-2] and [R-7] require it.
    """

    key: bytes
    verifies_until: Optional[int] = None
    statement: Optional[bytes] = None

    @classmethod
    def by(cls, key, statement):
        """A key superseded by the statement [R-12]."""
        return cls(key, later(number(statement, 37, 45), number(statement, 49, 53)), statement)

    def verifies(self, now):
        return self.verifies_until is not None and now <= self.verifies_until


class Trust:
    """The pinned sender keys, and the superseded ones, which the app keeps permanently.

    It is durable and only grows: see `Opened` for how it changes. No key is in both lists, and none that [K-7] refuses,
    such as an unset setting.
    """

    def __init__(self, pinned=(), superseded=()):
        self.pinned, self.superseded = tuple(pinned), tuple(superseded)
        past = [old.key for old in self.superseded]
        for key in (*self.pinned, *past):
            check_sender_key(key)
        if any(key in past for key in self.pinned):
            raise Refused("sender-superseded")

    def candidates(self, id, now):
        """The keys under which a message with the sender key id may verify: pinned ones first, at most 4."""
        keys = [*self.pinned, *(old.key for old in self.superseded if old.verifies(now))]
        return [key for key in keys if key_id(ED25519, key) == id][:TRIED]

    def follow(self, statements, now):
        """Evaluates statements in order; ignores one that fails [R-13]. Returns the accepted statements, and whether
        there was a conflict."""
        accepted, conflict = [], False
        for statement in statements:
            try:
                if self.evaluate(statement, now):
                    accepted.append(statement)
            except Refused as refused:
                conflict = conflict or refused.code == "rotation-conflict"
        return accepted, conflict

    def evaluate(self, statement, now):
        """Follows a statement, or refuses it and changes nothing. Returns false if it was followed before."""
        if len(statement) != STATEMENT or statement[0] != 0x01:
            raise Refused("malformed-statement")
        if any(old.statement == statement for old in self.superseded):
            return False
        new, issued_at = statement[5:37], number(statement, 37, 45)
        keys = [*self.pinned, *(old.key for old in self.superseded)]
        keys = [key for key in keys if key_id(ED25519, key) == statement[1:5]][:TRIED]
        if not keys:
            raise Refused("untrusted-old-key")
        old = next((key for key in keys if verifies(key, statement[53:117], signed(statement, 0x01, key))), None)
        if old is None:
            raise Refused("bad-statement-signature")
        check_sender_key(new)
        if not verifies(new, statement[117:181], signed(statement, 0x02, old)):
            raise Refused("bad-statement-signature")
        if old not in self.pinned:
            by_statement = any(past.key == old and past.statement for past in self.superseded)
            raise Refused("rotation-conflict" if by_statement else "untrusted-old-key")
        if new == old or any(past.key == new for past in self.superseded):
            raise Refused("superseded-new-key")
        if number(statement, 49, 53) > LARGEST_OVERLAP:
            raise Refused("overlap-too-long")
        if issued_at > later(now, TOLERANCE):
            raise Refused("statement-not-yet-valid")
        if now > later(issued_at, number(statement, 45, 49)):
            raise Refused("statement-expired")
        self.pinned = (*(key for key in self.pinned if key not in (old, new)), new)
        self.superseded = (*self.superseded, Superseded.by(old, statement))
        return True


def signed(statement, role, old):
    """The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one."""
    return b"pushcrypt/1 rotation\0" + bytes([role]) + old + statement[:53]


def verifies(key, signature, data):
    """Ed25519 with S < L. `check_sender_key` ensured that the key is of prime order."""
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
