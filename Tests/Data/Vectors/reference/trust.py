"""Whom a phone believes: certificates, what it keeps of them, and which epochs open."""

from collections.abc import Sequence
from dataclasses import dataclass

from . import keys

LABEL = b"pushcrypt/1 certificate\x00"
SIZE, CLAIM_SIZE = 121, 57
NEVER = 2**64 - 1
DAY = 86_400_000
AFTER_EXPIRY, GRACE = 31 * DAY, 38 * DAY
LATEST_CLOCK = 4_102_444_800
CONFLICT = "certificate-conflict"


class Refused(Exception):
    """The argument is the error code."""


def require(condition: bool, code: str) -> None:
    if not condition:
        raise Refused(code)


@dataclass(frozen=True, order=True)
class Certificate:
    """121 bytes. Nothing about them is verified."""

    data: bytes

    @property
    def claim(self) -> bytes:
        return self.data[:CLAIM_SIZE]

    @property
    def epoch(self) -> int:
        return int.from_bytes(self.data[1:5], "big")

    @property
    def floor(self) -> int:
        return int.from_bytes(self.data[5:9], "big")

    @property
    def grace_until(self) -> int:
        return int.from_bytes(self.data[9:17], "big")

    @property
    def expires_at(self) -> int:
        return int.from_bytes(self.data[17:25], "big")

    @property
    def signing_key(self) -> bytes:
        return self.data[25:57]

    def check(self, provider: bytes, topic: str) -> None:
        """The end of T-1, and T-2."""
        require(self.signing_key != provider, "weak-key")
        signed = signed_bytes(self.claim, provider, topic)
        require(keys.verifies(provider, self.data[CLAIM_SIZE:], signed), "bad-certificate-signature")


def claim(epoch: int, floor: int, grace_until: int, expires_at: int, signing_key: bytes) -> bytes:
    numbers = ((1, 1), (epoch, 4), (floor, 4), (grace_until, 8), (expires_at, 8))
    return b"".join(number.to_bytes(size, "big") for number, size in numbers) + signing_key


def signed_bytes(claim: bytes, provider: bytes, topic: str) -> bytes:
    return LABEL + provider + len(topic).to_bytes(2, "big") + topic.encode() + claim


def parse(data: bytes) -> Certificate:
    """T-1 as far as it does not need the provider key."""
    one = Certificate(data)
    is_whole = len(data) == SIZE and data[0] == 1 and 1 <= one.epoch >= one.floor
    require(is_whole and (one.grace_until == 0) == (one.floor == one.epoch), "malformed-certificate")
    require(keys.is_acceptable_signature_key(one.signing_key), "weak-key")
    return one


@dataclass(frozen=True)
class Learned:
    """What a phone keeps for a provider key and a context, across accounts: the highest of each."""

    certificate: Certificate | None = None
    floor: int = 0

    def learning(self, one: Certificate) -> tuple["Learned", str]:
        """T-3, and what is said of it."""
        old, after = self.certificate, self.merged(Learned(one, one.floor))
        if old and old.epoch == one.epoch and old.claim != one.claim:
            return after, CONFLICT
        is_same = old and after.certificate and old.claim == after.certificate.claim and self.floor == after.floor
        return after, "unchanged" if is_same else "accepted"

    def merged(self, other: "Learned") -> "Learned":
        """T-6."""
        highest = max(filter(None, (self.certificate, other.certificate)), default=None)
        return Learned(highest, max(self.floor, other.floor))

    def opens(self, epoch: int, one: Certificate | None, sent_at: int, now: int) -> bool:
        """T-4, on the copy that has learned the message's own certificate."""
        highest = self.certificate
        if highest is None:
            return epoch == 0
        is_alive = one is None or (sent_at <= one.expires_at and now <= one.expires_at + AFTER_EXPIRY)
        return epoch >= self.floor and is_alive and (epoch == highest.epoch or now <= highest.grace_until)


def plan(
    current: Certificate | None, past: Sequence[tuple[int, int]], proven: Certificate | None, now: int, is_stolen: bool
) -> tuple[int, int, int]:
    """T-7 to T-9: epoch, floor and grace until of the next certificate. `past` has earlier epochs, and when each was replaced."""
    last = current.epoch if current else 0
    is_stale = proven is not None and proven.claim != (current.claim if current else b"")
    clock = now // 1000
    epoch = max(max(last, proven.epoch if proven else 0) + 1, clock if clock <= LATEST_CLOCK else 0)
    require(epoch < 2**32, "epochs-exhausted")
    if is_stolen or is_stale:
        return epoch, epoch, 0
    recent = [number for number, replaced_at in past if replaced_at + GRACE >= now]
    return epoch, max(current.floor if current else 0, min([*recent, last])), now + GRACE
