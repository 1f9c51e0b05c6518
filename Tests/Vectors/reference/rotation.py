"""Rotation statements and the trust they change."""

from dataclasses import dataclass, replace

from . import keys

LABEL = b"pushcrypt/1 rotation\x00"
OLD_ROLE, NEW_ROLE = b"\x01", b"\x02"
VERSION = 1
SIGNED_SIZE = 53
SIZE = SIGNED_SIZE + 64 + 64
MAXIMUM_COUNT = 4
MAXIMUM_OVERLAP = 5_184_000
DEFAULT_ACCEPT_FOR = 34_560_000
DEFAULT_OVERLAP = 2_678_400
CLOCK_TOLERANCE = 24 * 3_600_000


class MalformedStatements(Exception):
    """The block cannot be read: wrong count, too short, or an unknown statement version."""


@dataclass(frozen=True)
class Statement:
    """A statement as it came. Nothing about it is verified."""

    data: bytes

    @property
    def old_key_id(self) -> bytes:
        return self.data[1:5]

    @property
    def new_key(self) -> bytes:
        return self.data[5:37]

    @property
    def issued_at(self) -> int:
        return int.from_bytes(self.data[37:45], "big")

    @property
    def accept_for(self) -> int:
        return int.from_bytes(self.data[45:49], "big")

    @property
    def overlap(self) -> int:
        return int.from_bytes(self.data[49:53], "big")

    def is_signed_under(self, old_key: bytes) -> bool:
        signed = self.data[:SIGNED_SIZE]
        by_old = keys.verifies(old_key, self.data[53:117], signed_bytes(OLD_ROLE, old_key, signed))
        by_new = keys.verifies(self.new_key, self.data[117:181], signed_bytes(NEW_ROLE, old_key, signed))
        return by_old and by_new


@dataclass(frozen=True)
class Superseded:
    """A key that gave up its pin, and the statement by which it did."""

    key: bytes
    statement: Statement

    def still_verifies(self, now: int) -> bool:
        return now <= self.statement.issued_at + self.statement.overlap * 1000


@dataclass(frozen=True)
class Trust:
    """The sender keys that one receiver trusts."""

    pinned: tuple[bytes, ...] = ()
    superseded: tuple[Superseded, ...] = ()

    def verification_keys(self, now: int) -> list[bytes]:
        return [*self.pinned, *(entry.key for entry in self.superseded if entry.still_verifies(now))]


def signed_bytes(role: bytes, old_key: bytes, signed: bytes) -> bytes:
    return LABEL + role + old_key + signed


def unsigned(old_key: bytes, new_key: bytes, issued_at: int, accept_for: int, overlap: int) -> bytes:
    """The first 53 bytes."""
    return (
        bytes([VERSION])
        + keys.sender_key_id(old_key)
        + new_key
        + issued_at.to_bytes(8, "big")
        + accept_for.to_bytes(4, "big")
        + overlap.to_bytes(4, "big")
    )


def parse(data: bytes) -> Statement:
    if len(data) != SIZE or data[0] != VERSION:
        raise MalformedStatements
    return Statement(data)


def split(body: bytes) -> tuple[list[Statement], bytes]:
    """The statements at the head of a body of type 0x02, and the payload behind them."""
    count = body[0] if body else 0
    if not 1 <= count <= MAXIMUM_COUNT or len(body) < 1 + count * SIZE:
        raise MalformedStatements
    end = 1 + count * SIZE
    return [parse(body[start : start + SIZE]) for start in range(1, end, SIZE)], body[end:]


def evaluate(statement: Statement, trust: Trust, now: int) -> tuple[str, Trust]:
    """The outcome ("accepted", "unchanged", "refused", "rotation-conflict") and the trust after it."""
    for entry in trust.superseded:
        if keys.sender_key_id(entry.key) == statement.old_key_id and statement.is_signed_under(entry.key):
            same = entry.statement == statement
            return ("unchanged" if same else "rotation-conflict"), trust
    for old_key in trust.pinned:
        if keys.sender_key_id(old_key) == statement.old_key_id and statement.is_signed_under(old_key):
            break
    else:
        return "refused", trust
    acceptable = (
        keys.is_acceptable_sender_key(statement.new_key)
        and statement.new_key != old_key
        and all(entry.key != statement.new_key for entry in trust.superseded)
        and statement.overlap <= MAXIMUM_OVERLAP
        and statement.issued_at <= now + CLOCK_TOLERANCE
        and now <= statement.issued_at + statement.accept_for * 1000
    )
    if not acceptable:
        return "refused", trust
    return "accepted", replace(
        trust,
        pinned=tuple(statement.new_key if key == old_key else key for key in trust.pinned),
        superseded=(*trust.superseded, Superseded(old_key, statement)),
    )


def evaluate_chain(statements: list[Statement], trust: Trust, now: int) -> tuple[list[str], Trust]:
    outcomes = []
    for statement in statements:
        outcome, trust = evaluate(statement, trust, now)
        outcomes.append(outcome)
    return outcomes, trust
