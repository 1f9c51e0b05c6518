"""Rotation and recovery statements, as bytes and signatures."""

from dataclasses import dataclass

from . import keys

LABEL = b"pushcrypt/1 rotation\x00"
RECOVERY_LABEL = b"pushcrypt/1 recovery\x00"
OLD_ROLE, NEW_ROLE, RECOVERY_ROLE = b"\x01", b"\x02", b"\x03"
ROTATION_VERSION, RECOVERY_VERSION = 1, 2
SIGNED_SIZE = 53
SIZE = SIGNED_SIZE + 64 + 64
MAXIMUM_COUNT = 4
MAXIMUM_OVERLAP = 5_184_000
DEFAULT_ACCEPT_FOR = 34_560_000
DEFAULT_OVERLAP = 2_678_400
FOREVER = 2**32 - 1
CLOCK_TOLERANCE = 24 * 3_600_000


class MalformedStatement(Exception):
    """Not a statement of a known version, or a recovery of serial 0."""


class MalformedStatements(Exception):
    """The block cannot be read: a wrong count, or too short."""


@dataclass(frozen=True)
class Statement:
    """A statement as received. Nothing about it is verified."""

    data: bytes

    @property
    def first_53(self) -> bytes:
        return self.data[:SIGNED_SIZE]

    @property
    def key_id(self) -> bytes:
        """Of the key that the first signature is by."""
        return self.data[1:5]

    @property
    def new_key(self) -> bytes:
        return self.data[5:37]

    @property
    def issued_at(self) -> int:
        return int.from_bytes(self.data[37:45], "big")

    @property
    def first_signature(self) -> bytes:
        return self.data[53:117]

    @property
    def second_signature(self) -> bytes:
        return self.data[117:181]


@dataclass(frozen=True)
class Rotation(Statement):
    @property
    def accept_for(self) -> int:
        return int.from_bytes(self.data[45:49], "big")

    @property
    def overlap(self) -> int:
        return int.from_bytes(self.data[49:53], "big")

    def is_signed_by_old(self, old_key: bytes) -> bool:
        return keys.verifies(old_key, self.first_signature, signed_bytes(OLD_ROLE, old_key, self.first_53))

    def is_signed_by_new(self, old_key: bytes) -> bool:
        return keys.verifies(self.new_key, self.second_signature, signed_bytes(NEW_ROLE, old_key, self.first_53))


@dataclass(frozen=True)
class Recovery(Statement):
    @property
    def serial(self) -> int:
        return int.from_bytes(self.data[49:53], "big")

    def is_signed_by_recovery(self, recovery_key: bytes, topic: str) -> bool:
        signed = recovery_signed_bytes(RECOVERY_ROLE, recovery_key, topic, self.first_53)
        return keys.verifies(recovery_key, self.first_signature, signed)

    def is_signed_by_new(self, recovery_key: bytes, topic: str) -> bool:
        signed = recovery_signed_bytes(NEW_ROLE, recovery_key, topic, self.first_53)
        return keys.verifies(self.new_key, self.second_signature, signed)


def signed_bytes(role: bytes, old_key: bytes, first_53: bytes) -> bytes:
    return LABEL + role + old_key + first_53


def recovery_signed_bytes(role: bytes, recovery_key: bytes, topic: str, first_53: bytes) -> bytes:
    context = topic.encode()
    return RECOVERY_LABEL + role + recovery_key + len(context).to_bytes(2, "big") + context + first_53


def unsigned(old_key: bytes, new_key: bytes, issued_at: int, accept_for: int, overlap: int) -> bytes:
    """The first 53 bytes of a rotation."""
    return (
        bytes([ROTATION_VERSION])
        + keys.sender_key_id(old_key)
        + new_key
        + issued_at.to_bytes(8, "big")
        + accept_for.to_bytes(4, "big")
        + overlap.to_bytes(4, "big")
    )


def unsigned_recovery(recovery_key: bytes, new_key: bytes, issued_at: int, serial: int, accept_for: int = FOREVER) -> bytes:
    """The first 53 bytes of a recovery."""
    return (
        bytes([RECOVERY_VERSION])
        + keys.recovery_key_id(recovery_key)
        + new_key
        + issued_at.to_bytes(8, "big")
        + accept_for.to_bytes(4, "big")
        + serial.to_bytes(4, "big")
    )


def parse(data: bytes) -> Rotation | Recovery:
    """R-1."""
    if len(data) == SIZE and data[0] == ROTATION_VERSION:
        return Rotation(data)
    if len(data) == SIZE and data[0] == RECOVERY_VERSION and Recovery(data).serial:
        return Recovery(data)
    raise MalformedStatement


def split(body: bytes) -> tuple[list[Statement | None], bytes]:
    """The statements at the head of a body of type 0x02, None for an unreadable one, and the payload behind them."""
    count = body[0] if body else 0
    if not 1 <= count <= MAXIMUM_COUNT or len(body) < 1 + count * SIZE:
        raise MalformedStatements
    end = 1 + count * SIZE
    statements: list[Statement | None] = []
    for start in range(1, end, SIZE):
        try:
            statements.append(parse(body[start : start + SIZE]))
        except MalformedStatement:
            statements.append(None)
    return statements, body[end:]
