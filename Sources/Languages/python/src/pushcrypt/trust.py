"""What a phone knows of the providers that it has pinned: `Docs/FormatTrust.md`, [T-3] to [T-6]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ._envelope import check_topic, later
from ._errors import Code, PushcryptError
from ._types import check_type, check_types
from .certificates import Certificate
from .keys import ProviderPublicKey

__all__ = ["Learned", "Pin", "Trust"]

LONGEST_LIFE = 31 * 86_400
MOST_PINS = 2


@dataclass(frozen=True)
class Learned:
    """What a phone knows of a provider key and an app, for all accounts: the highest certificate and the highest floor [T-6]."""

    certificate: Certificate | None = None
    floor: int = 0

    def merged(self, other: Learned) -> Learned:
        """The maximum of each: whoever stores first, the result is the same."""
        both = [one.certificate for one in (self, other) if one.certificate is not None]
        return Learned(max(both, default=None), max(self.floor, other.floor))

    def learning(self, certificate: Certificate) -> Learned:
        """[T-3]"""
        return self.merged(Learned(certificate, certificate.floor))

    def opens(self, epoch: int, certificate: Certificate | None, sent_at: int, now: int) -> bool:
        """[T-4], where `self` has taken the message's own certificate into account."""
        if certificate is not None and (sent_at > certificate.expires_at or now > later(certificate.expires_at, LONGEST_LIFE)):
            return False
        highest = self.certificate
        return epoch >= self.floor and (highest is None or epoch == highest.epoch or now <= highest.grace_until)


@dataclass(frozen=True)
class Pin:
    """A provider key that an account trusts, with what the phone has learned of it."""

    key: ProviderPublicKey
    learned: Learned = field(default=Learned())


class Trust:
    """The pins of one account, for one app: one, or two while the app changes its provider key by a release [T-5].

    What is learned is stored by provider key and app, for all accounts, and only grows: store the `merged` of what is stored and
    of what comes of a message or a reply. Removing a pin deletes none of it.
    """

    def __init__(self, pins: Sequence[Pin | ProviderPublicKey] = ()) -> None:
        check_types(pins, (Pin, ProviderPublicKey), "pins")
        self.pins = tuple(pin if isinstance(pin, Pin) else Pin(pin) for pin in pins)
        if len(self.pins) > MOST_PINS or len({pin.key for pin in self.pins}) < len(self.pins):
            raise PushcryptError(Code.TOO_MANY_PINS, "an account has one or two pins, of different provider keys; unpin one")

    def accept(self, certificate: Certificate, *, topic: str) -> bool:
        """Learns a certificate of a reply, for the first pin that verifies it. Returns whether it conflicts with a known one."""
        check_type(certificate, Certificate, "the certificate")
        check_topic(topic)
        refused = PushcryptError(Code.BAD_CERTIFICATE_SIGNATURE, "no provider is pinned")
        for place, pin in enumerate(self.pins):
            try:
                certificate.check(pin.key, topic)
            except PushcryptError as error:
                refused = error
                continue
            changed = replace(pin, learned=pin.learned.learning(certificate))
            self.pins = (*self.pins[:place], changed, *self.pins[place + 1 :])
            return certificate.conflicts(pin.learned.certificate)
        raise refused
