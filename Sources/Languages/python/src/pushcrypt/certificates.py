"""Certificates, by which a provider key says which key signs now: `Docs/FormatTrust.md`, [T-1] and [T-2]."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ._envelope import NEVER, check_topic, encode, later, lp16, milliseconds_now, number
from ._errors import Code, PushcryptError
from ._types import check_type, check_types
from .keys import ProviderKey, ProviderPublicKey, SigningKey, check_verifying_key

__all__ = ["Certificate", "Credential", "issue_certificate"]

LENGTH, CLAIM, VERSION = 121, 57, 0x01
TOLERANCE, GRACE = 86_400, 38 * 86_400
TEXT = re.compile(r"[A-Za-z0-9_-]{162}")


@dataclass(frozen=True, order=True, repr=False)
class Certificate:
    """By it a provider key says which key signs its messages of an epoch. The higher one counts [T-3]."""

    data: bytes

    def __post_init__(self) -> None:
        """[T-1], but for what only the provider key decides."""
        check_type(self.data, bytes, "a certificate")
        data = self.data
        if len(data) != LENGTH or data[0] != VERSION or not 1 <= self.epoch or self.floor > self.epoch:
            raise malformed()
        if (number(data, 9, 17) == 0) != (self.floor == self.epoch):
            raise malformed()
        check_verifying_key(self.signing_key)

    @classmethod
    def parse(cls, text: str) -> Certificate:
        """Reads the text of a certificate, 162 characters."""
        check_type(text, str, "the text")
        data = base64.urlsafe_b64decode(text + "==") if TEXT.fullmatch(text) else b""
        if encode(data) != text:
            raise malformed()
        return cls(data)

    def __str__(self) -> str:
        return encode(self.data)

    def __repr__(self) -> str:
        return f"Certificate.parse({str(self)!r})"

    @property
    def epoch(self) -> int:
        return number(self.data, 1, 5)

    @property
    def floor(self) -> int:
        """The lowest epoch whose messages still verify."""
        return number(self.data, 5, 9)

    @property
    def grace_until(self) -> int:
        """The last millisecond of the epochs before this one; 0 if there is none."""
        return number(self.data, 9, 17)

    @property
    def expires_at(self) -> int:
        """Milliseconds since 1970; 2**64 - 1 for never."""
        return number(self.data, 17, 25)

    @property
    def signing_key(self) -> bytes:
        return self.data[25:CLAIM]

    @property
    def claim(self) -> bytes:
        """All but the signature."""
        return self.data[:CLAIM]

    def check(self, provider: ProviderPublicKey, topic: str) -> None:
        """Refuses a certificate that is not this provider's for this app [T-1], [T-2]."""
        if self.signing_key == bytes(provider):
            raise PushcryptError(Code.WEAK_KEY, "the certificate's signing key is the provider key; each needs its own")
        if not provider.verifies(self.data[CLAIM:], claimed(provider, topic, self.claim)):
            raise PushcryptError(Code.BAD_CERTIFICATE_SIGNATURE, "the provider key did not sign this certificate for this app")

    def conflicts(self, other: Certificate | None) -> bool:
        """Whether both are of one epoch and say different things."""
        return other is not None and self.epoch == other.epoch and self.claim != other.claim


# A provider


@dataclass(frozen=True)
class Credential:
    """What signs a provider's messages from epoch 1 on: the signing key, its certificate and the provider key."""

    key: SigningKey
    certificate: Certificate
    provider: ProviderPublicKey

    def __post_init__(self) -> None:
        check_type(self.key, SigningKey, "the key")
        check_type(self.certificate, Certificate, "the certificate")
        check_type(self.provider, ProviderPublicKey, "the provider")
        if self.certificate.signing_key != self.key.public_bytes():
            raise PushcryptError(Code.WRONG_CERTIFICATE, "the certificate is that of another signing key; install the one made for it")

    @classmethod
    def parse(cls, text: str) -> Credential:
        """Reads a signing key file: the secret key, the certificate and the provider key, a line each."""
        check_type(text, str, "the text")
        lines = text.removesuffix("\n").split("\n")
        if len(lines) != 3:
            raise PushcryptError(Code.MALFORMED_KEY, "a signing key file has three lines: the key, its certificate, the provider key")
        return cls(SigningKey.parse(lines[0]), Certificate.parse(lines[1]), ProviderPublicKey.parse(lines[2]))

    def secret_text(self) -> str:
        """The text of the file, as secret as the key."""
        return f"{self.key.secret_text()}\n{self.certificate}\n{self.provider}\n"


def issue_certificate(
    provider: ProviderKey, signing_key: bytes, *, topic: str, current: Certificate | None = None, past: Sequence[tuple[int, int]] = (),
    proven: Certificate | None = None, stolen: bool = False, lifetime: int | None = None, at: int | None = None,
) -> Certificate:
    """Issues the certificate of a new signing key [T-7] to [T-9].

    Args:
        signing_key: Its public half.
        current: The certificate that it replaces; `None` at epoch 0.
        past: Earlier epochs, each with the millisecond at which it was replaced.
        proven: One that a record showed and that you never issued: `shows_stale_store`.
        stolen: Whether nothing of the epochs before may open any more.
        lifetime: The seconds after which nobody believes it; by default it never expires.
    """
    now = milliseconds_now() if at is None else at
    check_type(provider, ProviderKey, "the provider key")
    check_type(current, (Certificate, type(None)), "current")
    check_type(proven, (Certificate, type(None)), "proven")
    check_topic(topic)
    return certify(provider, topic, *plan(current, past, proven, now, stolen, lifetime), signing_key)


def plan(
    current: Certificate | None, past: Sequence[tuple[int, int]], proven: Certificate | None, now: int, stolen: bool, lifetime: int | None
) -> tuple[int, int, int, int]:
    """Epoch, floor, grace until and expires at of the next certificate."""
    last = max(0 if one is None else one.epoch for one in (current, proven))
    epoch = max(last + 1, now // 1000)
    if 1000 * epoch > now + 1000 * TOLERANCE or epoch >= 2**32:
        raise PushcryptError(Code.IMPLAUSIBLE_EPOCH, "the epoch would be more than 24 hours from now; set the clock")
    expires_at = NEVER if lifetime is None else later(now, lifetime)
    is_stale = proven is not None and (current is None or proven.epoch >= current.epoch and proven.claim != current.claim)
    if stolen or is_stale:
        return epoch, epoch, 0, expires_at
    in_use = [0 if current is None else current.epoch, *(one for one, replaced_at in past if later(replaced_at, GRACE) >= now)]
    return epoch, max(min(in_use), 0 if current is None else current.floor), later(now, GRACE), expires_at


def certify(provider: ProviderKey, topic: str, epoch: int, floor: int, grace: int, expires_at: int, signing_key: bytes) -> Certificate:
    claim = bytes([VERSION]) + epoch.to_bytes(4, "big") + floor.to_bytes(4, "big") + grace.to_bytes(8, "big")
    claim += expires_at.to_bytes(8, "big") + signing_key
    made = Certificate(claim + provider.sign(claimed(provider.public_key, topic, claim)))
    made.check(provider.public_key, topic)
    return made


def claimed(provider: ProviderPublicKey, topic: str, claim: bytes) -> bytes:
    return b"pushcrypt/1 certificate\0" + bytes(provider) + lp16(topic.encode()) + claim


def malformed() -> PushcryptError:
    return PushcryptError(Code.MALFORMED_CERTIFICATE, "this is not a certificate: 121 bytes, or 162 characters of text; copy it again")
