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
MAXIMUM_CANDIDATES = 4
DEFAULT_ACCEPT_FOR = 34_560_000
DEFAULT_OVERLAP = 2_678_400
CLOCK_TOLERANCE = 24 * 3_600_000


class MalformedStatements(Exception):
    """The block cannot be read: wrong count, too short, or an unknown statement version."""


@dataclass(frozen=True)
class Statement:
    """A statement as received. Nothing about it is verified."""

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

    def is_signed_by_old(self, old_key: bytes) -> bool:
        return keys.verifies(old_key, self.data[53:117], signed_bytes(OLD_ROLE, old_key, self.data[:SIGNED_SIZE]))

    def is_signed_by_new(self, old_key: bytes) -> bool:
        signed = signed_bytes(NEW_ROLE, old_key, self.data[:SIGNED_SIZE])
        return keys.verifies(self.new_key, self.data[117:181], signed)


@dataclass(frozen=True)
class Superseded:
    """A superseded key, and the statement that superseded it. Without a statement, the app replaced it."""

    key: bytes
    statement: Statement | None

    def still_verifies(self, now: int) -> bool:
        return self.statement is not None and now <= self.statement.issued_at + self.statement.overlap * 1000


@dataclass(frozen=True)
class Trust:
    """The sender keys that one receiver trusts."""

    pinned: tuple[bytes, ...] = ()
    superseded: tuple[Superseded, ...] = ()

    def all_keys(self) -> list[bytes]:
        return [*self.pinned, *(entry.key for entry in self.superseded)]

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
    """The outcome and the trust after it: "accepted", "unchanged", or the error code of the first rule that fails."""
    if any(entry.statement == statement for entry in trust.superseded):
        return "unchanged", trust
    known = [key for key in trust.all_keys() if keys.sender_key_id(key) == statement.old_key_id]
    if not known:
        return "untrusted-old-key", trust
    old_key = next(filter(statement.is_signed_by_old, known[:MAXIMUM_CANDIDATES]), None)
    if old_key is None:
        return "bad-statement-signature", trust
    if not keys.is_acceptable_sender_key(statement.new_key):
        return "weak-key", trust
    if not statement.is_signed_by_new(old_key):
        return "bad-statement-signature", trust
    if old_key not in trust.pinned:
        by_statement = any(entry.key == old_key and entry.statement for entry in trust.superseded)
        return ("rotation-conflict" if by_statement else "untrusted-old-key"), trust
    if statement.new_key == old_key or any(entry.key == statement.new_key for entry in trust.superseded):
        return "superseded-new-key", trust
    if statement.overlap > MAXIMUM_OVERLAP:
        return "overlap-too-long", trust
    if statement.issued_at > now + CLOCK_TOLERANCE:
        return "statement-not-yet-valid", trust
    if now > statement.issued_at + statement.accept_for * 1000:
        return "statement-expired", trust
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
