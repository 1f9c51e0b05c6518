"""The people of the vectors, and everything fixed that they share. All of it is SHA-256 of a label."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reference import keys, trust
from reference.curve25519 import secret_scalar, sign_with_nonce
from reference.envelope import Signer
from reference.opening import Receiver
from reference.trust import NEVER, Certificate, Learned

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
class Pair:
    """A key pair of Ed25519: a provider's, or a signing one."""

    seed: bytes

    @cached_property
    def public(self) -> bytes:
        return keys.signature_public_key(self.seed)

    @property
    def provider_id(self) -> bytes:
        return keys.provider_key_id(self.public)


PHONE, TABLET, STRANGERS_PHONE = (Device(seed(f"device {name}")) for name in ("phone", "tablet", "stranger"))
PROVIDER, SECOND_PROVIDER, STRANGER = (
    Pair(seed(f"provider key of {name}")) for name in ("the provider", "a second provider", "a stranger")
)
SIGNING = [Pair(seed(f"signing key {number}")) for number in range(1, 6)]

# Two keys under one id of four bytes. Trying candidates in order found these after about 2^17.
COLLIDING_DEVICES = [Device(seed(f"device candidate {number}")) for number in (46119, 134162)]
assert COLLIDING_DEVICES[0].key_id == COLLIDING_DEVICES[1].key_id

TOPIC = "com.example.app"
SENT_AT = 1_767_225_600_000  # 2026-01-01 00:00:00 UTC
NOW = SENT_AT + 5_000
HOUR, DAY = 3_600_000, 86_400_000

PAYLOAD = b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}'


# Certificates.


def epoch_of(days: int) -> int:
    """The epoch of a certificate that was made so many days before the messages."""
    return SENT_AT // 1000 - days * 86_400


def certify(
    epoch: int,
    key: Pair | bytes,
    floor: int = 0,
    grace_until: int | None = None,
    expires_at: int = NEVER,
    *,
    provider: Pair = PROVIDER,
    topic: str = TOPIC,
    nonce: int | None = None,
    signed_provider: bytes | None = None,
    signed_topic: str | None = None,
) -> Certificate:
    """The grace lasts 38 days unless the floor is the epoch. `nonce` gives another good signature; what is signed can be told wrongly."""
    ends = 0 if floor == epoch else epoch * 1000 + trust.GRACE
    public = key if isinstance(key, bytes) else key.public
    claim = trust.claim(epoch, floor, ends if grace_until is None else grace_until, expires_at, public)
    to_sign = trust.signed_bytes(claim, signed_provider or provider.public, signed_topic or topic)
    if nonce:
        signature = sign_with_nonce(secret_scalar(provider.seed), provider.public, to_sign, nonce)
    else:
        signature = keys.sign(provider.seed, to_sign)
    return Certificate(claim + signature)


# One provider's certificates over half a year. The fourth was made after a theft of the third key.
EPOCHS = [epoch_of(days) for days in (120, 60, 20, 10)]
CHAIN = [
    certify(EPOCHS[0], SIGNING[0]),
    certify(EPOCHS[1], SIGNING[1]),
    certify(EPOCHS[2], SIGNING[2], EPOCHS[1]),
    certify(EPOCHS[3], SIGNING[3], EPOCHS[3]),
]


def signer(number: int | None = None, provider: Pair = PROVIDER) -> Signer:
    """By a certificate of the chain, counted from 0; without one, the provider key itself."""
    if number is None:
        return Signer(provider.seed, provider.public)
    return Signer(SIGNING[number].seed, provider.public, CHAIN[number])


def by(key: Pair, certificate: Certificate, provider: Pair = PROVIDER) -> Signer:
    return Signer(key.seed, provider.public, certificate)


def kept(*certificates: Certificate, provider: Pair = PROVIDER) -> dict[bytes, Learned]:
    """What a phone keeps that accepted these."""
    learned = Learned()
    for one in certificates:
        learned, _ = learned.learning(one)
    return {provider.public: learned}


def pinned(*providers: Pair, learned: dict[bytes, Learned] | None = None, devices: tuple[Device, ...] = (PHONE,)) -> Receiver:
    secrets = tuple(device.secret for device in devices)
    return Receiver(TOPIC, secrets, tuple(provider.public for provider in providers), learned or {})


def knows(*numbers: int) -> Receiver:
    """A receiver that pins the provider and has accepted certificates of the chain."""
    return pinned(PROVIDER, learned=kept(*(CHAIN[number] for number in numbers)))


PROVIDER_SIGNER = signer()
RECEIVER = pinned(PROVIDER)
