"""The people of the vectors, and everything fixed that they share. All of it is SHA-256 of a label."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from reference import hpke, keys
from reference.opening import Receiver
from reference.rotation import (
    DEFAULT_ACCEPT_FOR,
    DEFAULT_OVERLAP,
    NEW_ROLE,
    OLD_ROLE,
    Statement,
    Superseded,
    Trust,
    signed_bytes,
    unsigned,
)

# One case of a file: what it says, field by field. Or the arguments that make one.
Case = dict[str, Any]


def seed(label: str) -> bytes:
    return hashlib.sha256(b"pushcrypt vectors/" + label.encode()).digest()


@dataclass(frozen=True)
class Device:
    secret: bytes

    @cached_property
    def public(self) -> bytes:
        return hpke.public_key(self.secret)

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
) -> Statement:
    """Signs 53 bytes as a statement. The roles and the old key can be told wrongly."""
    old_key = signed_old_key or keys.sender_public_key(old_seed)
    return Statement(
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
) -> Statement:
    return sign_statement(unsigned(old.public, new.public, issued_at, accept_for, overlap), old.seed, new.seed)


CHAIN = [announce(old, new, SENT_AT - (5 - number) * DAY) for number, (old, new) in enumerate(pairwise(GENERATIONS))]


def trust_in(*senders: Sender, superseded: tuple[tuple[Sender, Statement], ...] = ()) -> Trust:
    return Trust(
        tuple(sender.public for sender in senders),
        tuple(Superseded(sender.public, statement) for sender, statement in superseded),
    )


TRUST = trust_in(PROVIDER)
RECEIVER = Receiver(TOPIC, (PHONE.secret,), TRUST)
