"""What a phone knows of the providers that it has pinned: `Docs/FormatTrust.md`, [T-3] to [T-6], and what it does with a reply."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._certificates import Certificate
from .._envelope import check_topic, later
from .._errors import Code, PushcryptError
from .._fields import Fields, written
from .._format import EXPIRY_TOLERANCE, MOST_PINS
from .._keys import DevicePublicKey, ProviderPublicKey
from .._records import Reply
from .._types import check_optional, check_type, checked_tuple

LARGEST_EPOCH = 2**32 - 1
#: Provider keys in a stored trust.
MOST_LEARNED = 1000


@dataclass(frozen=True)
class Learned:
    """What a phone knows of a provider key and an app, for all accounts: the highest certificate and the highest floor [T-6]."""

    certificate: Certificate | None = None
    floor: int = 0

    def __post_init__(self) -> None:
        check_optional(self.certificate, Certificate, "the certificate")
        check_type(self.floor, int, "the floor")
        if not 0 <= self.floor <= LARGEST_EPOCH:
            raise PushcryptError(Code.MALFORMED_RECORD, "the floor is an epoch")

    def merged(self, other: Learned) -> Learned:
        """The maximum of each: stores may come in any order."""
        both = [one.certificate for one in (self, other) if one.certificate is not None]
        return Learned(max(both, default=None), max(self.floor, other.floor))

    def after(self, certificate: Certificate | None) -> Learned:
        """[T-3]"""
        return self if certificate is None else self.merged(Learned(certificate, certificate.floor))

    @property
    def said(self) -> tuple[bytes, int]:
        """What changes if a certificate raises it: another signature says nothing else."""
        return b"" if self.certificate is None else self.certificate.claim, self.floor

    def opens(self, epoch: int, certificate: Certificate | None, sent_at: int, now: int) -> bool:
        """[T-4], where `self` has taken the message's own certificate into account."""
        if certificate is not None and (sent_at > certificate.expires_at or now > later(certificate.expires_at, EXPIRY_TOLERANCE)):
            return False
        highest = self.certificate
        return epoch >= self.floor and (highest is None or epoch == highest.epoch or now <= highest.grace_until)


class Change(str, enum.Enum):
    """What an accepted certificate did [T-3]."""

    RAISED = "raised"
    UNCHANGED = "unchanged"
    #: Another certificate of its epoch is known: of a restored store, or a stolen provider key. Tell the app.
    CONFLICT = "conflict"


class Trust:
    """The pins of one account, for one app, at most two [T-5], and what the phone has learned of provider keys there.

    What is learned is of the app, whatever the account, and only grows [T-6].
    """

    #: The provider keys of the account.
    pins: tuple[ProviderPublicKey, ...]

    def __init__(self, pins: Sequence[ProviderPublicKey] = (), learned: Mapping[ProviderPublicKey, Learned] | None = None) -> None:
        self._learned = dict(learned or {})
        checked_tuple(self._learned, ProviderPublicKey, "the keys of learned")
        checked_tuple(self._learned.values(), Learned, "learned")
        self.pins = checked_tuple(pins, ProviderPublicKey, "pins")
        if len(self.pins) > MOST_PINS or len(set(self.pins)) < len(self.pins):
            raise PushcryptError(Code.TOO_MANY_PINS, "an account has one or two pins, of different provider keys; unpin one")

    @classmethod
    def from_json(cls, text: str | bytes) -> Trust:
        """Reads what `to_json` wrote."""
        fields = Fields(text, "trust")
        pins = [ProviderPublicKey.parse(pin) for pin in fields.items("pins", str, MOST_PINS)]
        learned = {}
        for one in fields.objects("learned", MOST_LEARNED):
            key = one.needed(one.read("provider", ProviderPublicKey.parse), "provider")
            learned[key] = Learned(one.read("certificate", Certificate.parse), one.number("floor", LARGEST_EPOCH) or 0)
        return cls(pins, learned)

    def to_json(self) -> str:
        """Pins and what is learned, as minimal JSON."""
        return written({"pins": self.pins, "learned": [{"provider": key} | vars(one) for key, one in self._learned.items()]})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trust) and (self.pins, self._learned) == (other.pins, other._learned)

    def learned(self, key: ProviderPublicKey) -> Learned:
        """What is known of a provider key, pinned or not."""
        return self._learned.get(key, Learned())

    def learn(self, key: ProviderPublicKey, learned: Learned) -> None:
        """Merges what came of a message [O-9.1]."""
        check_type(key, ProviderPublicKey, "the key")
        check_type(learned, Learned, "learned")
        self._learned[key] = self.learned(key).merged(learned)

    def accept(self, certificate: Certificate, *, topic: str) -> Change:
        """Learns a certificate of a reply, for the first pin that verifies it."""
        check_type(certificate, Certificate, "the certificate")
        check_topic(topic)
        refused = PushcryptError(Code.BAD_CERTIFICATE_SIGNATURE, "no provider is pinned")
        for key in self.pins:
            try:
                certificate.check(key, topic)
            except PushcryptError as error:
                refused = error
                continue
            known = self.learned(key)
            self._learned[key] = known.after(certificate)
            if certificate.conflicts(known.certificate):
                return Change.CONFLICT
            return Change.UNCHANGED if self.learned(key).said == known.said else Change.RAISED
        raise refused


def apply_reply(reply: Reply, key: DevicePublicKey, trust: Trust, *, topic: str, is_built_in: bool) -> tuple[bool, Code | None]:
    """Changes `trust` as a phone does by a reply to the record of `key` [D-12], [D-13], [D-20]. `is_built_in`: whether the app has a pin.

    Returns whether the key is confirmed, and a code to tell the app of.
    """
    for value, kind in ((reply, Reply), (key, DevicePublicKey), (trust, Trust), (topic, str), (is_built_in, bool)):
        check_type(value, kind, "an argument")
    if reply.acknowledged not in (None, key):
        return False, None
    confirms = reply.acknowledged == key
    if confirms and not trust.pins and not is_built_in and reply.provider is not None:
        trust.pins = (reply.provider,)
    if reply.certificate is None or not trust.pins:
        return confirms, reply.refused_certificate
    try:
        return confirms, Code.CERTIFICATE_CONFLICT if trust.accept(reply.certificate, topic=topic) is Change.CONFLICT else None
    except PushcryptError as refused:
        return confirms, refused.code
