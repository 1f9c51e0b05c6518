"""The people of the vectors, and everything fixed that they share. All of it is SHA-256 of a label."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from reference import keys
from reference.curve25519 import BASE, L, encode, multiply, sign_with_nonce
from reference.opening import Receiver
from reference.rotation import (
    DEFAULT_ACCEPT_FOR,
    DEFAULT_OVERLAP,
    NEW_ROLE,
    OLD_ROLE,
    RECOVERY_ROLE,
    Recovery,
    Rotation,
    recovery_signed_bytes,
    signed_bytes,
    unsigned,
    unsigned_recovery,
)
from reference.trust import Superseded, Trust, TrustedSender

# One case of a file: what it says, field by field. Or the arguments that make one.
Case = dict[str, Any]


def seed(label: str) -> bytes:
    return hashlib.sha256(b"pushcrypt vectors/" + label.encode()).digest()


@dataclass(frozen=True)
class Device:
    secret: bytes

    @cached_property
    def public(self) -> bytes:
        return keys.device_public_key(self.secret)

    @property
    def key_id(self) -> bytes:
        return keys.device_key_id(self.public)


@dataclass(frozen=True)
class Sender:
    seed: bytes

    @cached_property
    def public(self) -> bytes:
        return keys.sender_public_key(self.seed)

    @property
    def key_id(self) -> bytes:
        return keys.sender_key_id(self.public)


@dataclass(frozen=True)
class ScalarSender(Sender):
    """A sender of whose key only the secret scalar is known."""

    seed: bytes = b""
    scalar: int = 0

    def __init__(self, scalar: int) -> None:
        object.__setattr__(self, "scalar", scalar)
        object.__setattr__(self, "seed", b"")

    @cached_property
    def public(self) -> bytes:
        return encode(multiply(self.scalar, BASE))

    def sign(self, message: bytes) -> bytes:
        nonce = int.from_bytes(hashlib.sha512(self.scalar.to_bytes(32, "little") + message).digest(), "little") % L
        return sign_with_nonce(self.scalar, self.public, message, nonce)


PHONE, TABLET, STRANGERS_PHONE = (Device(seed(f"device {name}")) for name in ("phone", "tablet", "stranger"))
PROVIDER, SECOND_PROVIDER, STRANGER = (
    Sender(seed(f"sender {name}")) for name in ("provider", "second provider", "stranger")
)

# The keys of one provider over the years: each is announced by the one before it.
GENERATIONS = [PROVIDER, *(Sender(seed(f"sender generation {number}")) for number in range(1, 5))]

# Two keys under one id of four bytes. Trying candidates in order found these after about 2^17 of each kind.
COLLIDING_DEVICES = [Device(seed(f"device candidate {number}")) for number in (46119, 134162)]
COLLIDING_SENDERS = [Sender(seed(f"sender candidate {number}")) for number in (10692, 112321)]
assert COLLIDING_DEVICES[0].key_id == COLLIDING_DEVICES[1].key_id
assert COLLIDING_SENDERS[0].key_id == COLLIDING_SENDERS[1].key_id

# Five sender keys under one id. No seed leads to them: their scalars are a first one and these numbers. They were found
# among 2^28 keys whose ids have one beginning.
FIVE_OF_ONE_ID = [
    ScalarSender((int.from_bytes(seed("five senders of one id"), "little") + offset) % L)
    for offset in ((number % 1024) * 2**24 + number // 1024 for number in (38914022, 133414219, 140666797, 179224389, 221976920))
]
assert len({sender.key_id for sender in FIVE_OF_ONE_ID}) == 1

TOPIC = "com.example.app"
SENT_AT = 1_767_225_600_000  # 2026-01-01 00:00:00 UTC
NOW = SENT_AT + 5_000
HOUR, DAY = 3_600_000, 86_400_000

PAYLOAD = b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}'


def sign_statement(
    statement: bytes,
    old_seed: bytes,
    new_seed: bytes,
    old_role: bytes = OLD_ROLE,
    new_role: bytes = NEW_ROLE,
    signed_old_key: bytes | None = None,
) -> Rotation:
    """Signs 53 bytes as a statement. The roles and the old key can be told wrongly."""
    old_key = signed_old_key or keys.sender_public_key(old_seed)
    return Rotation(
        statement
        + keys.sign(old_seed, signed_bytes(old_role, old_key, statement))
        + keys.sign(new_seed, signed_bytes(new_role, old_key, statement))
    )


def announce(
    old: Sender,
    new: Sender,
    issued_at: int = SENT_AT - 30 * DAY,
    accept_for: int = DEFAULT_ACCEPT_FOR,
    overlap: int = DEFAULT_OVERLAP,
) -> Rotation:
    return sign_statement(unsigned(old.public, new.public, issued_at, accept_for, overlap), old.seed, new.seed)


CHAIN = [announce(old, new, SENT_AT - (5 - number) * DAY) for number, (old, new) in enumerate(pairwise(GENERATIONS))]


@dataclass(frozen=True)
class RecoveryKey(Sender):
    """An Ed25519 key like a sender's, with another key id."""

    @property
    def key_id(self) -> bytes:
        return keys.recovery_key_id(self.public)


RECOVERY, SECOND_RECOVERY, STRANGERS_RECOVERY = (
    RecoveryKey(seed(f"recovery {name}")) for name in ("provider", "second", "stranger")
)

# Two recovery keys under one id, found in the same way.
COLLIDING_RECOVERY = [RecoveryKey(seed(f"recovery candidate {number}")) for number in (16767, 117297)]
assert COLLIDING_RECOVERY[0].key_id == COLLIDING_RECOVERY[1].key_id


def sign_recovery(
    statement: bytes,
    recovery_seed: bytes,
    new_seed: bytes,
    topic: str | None = None,
    recovery_role: bytes = RECOVERY_ROLE,
    new_role: bytes = NEW_ROLE,
    signed_recovery_key: bytes | None = None,
) -> Recovery:
    """Signs 53 bytes as a recovery. The context, the roles and the recovery key can be told wrongly."""
    key = signed_recovery_key or keys.sender_public_key(recovery_seed)
    context = TOPIC if topic is None else topic
    return Recovery(
        statement
        + keys.sign(recovery_seed, recovery_signed_bytes(recovery_role, key, context, statement))
        + keys.sign(new_seed, recovery_signed_bytes(new_role, key, context, statement))
    )


def recover(
    new: Sender, serial: int, recovery: RecoveryKey = RECOVERY, issued_at: int = SENT_AT - 20 * DAY
) -> Recovery:
    return sign_recovery(unsigned_recovery(recovery.public, new.public, issued_at, serial), recovery.seed, new.seed)


def sender_in(
    name: str,
    pinned: Sender | None,
    *superseded: tuple[Sender, Rotation | None],
    recovery: tuple[RecoveryKey, ...] = (),
    last: Recovery | None = None,
) -> TrustedSender:
    """A superseded key without a statement is revoked."""
    return TrustedSender(
        name,
        pinned.public if pinned else None,
        tuple(Superseded(sender.public, statement) for sender, statement in superseded),
        tuple(key.public for key in recovery),
        last.first_53 if last else b"",
    )


def trust_in(*senders: Sender, superseded: tuple[tuple[Sender, Rotation | None], ...] = ()) -> Trust:
    """Each key is the pin of a sender, named a, b, c; what was superseded is of the first."""
    return Trust(
        tuple(
            sender_in(chr(ord("a") + number), sender, *(superseded if number == 0 else ()))
            for number, sender in enumerate(senders)
        )
    )


TRUST = trust_in(PROVIDER)
RECEIVER = Receiver(TOPIC, (PHONE.secret,), TRUST)
