"""Certificates, by which a provider key says which key signs now: `Docs/FormatTrust.md`, [T-1] and [T-2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ._envelope import NEVER, TOPIC, check_topic, decode, encode, later, lp16, milliseconds, moment, number, past_time, time_or_now, whole_seconds
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._format import (
    CERTIFICATE_GRACE, CERTIFICATE_LENGTH, CERTIFICATE_VERSION, CLAIM_LENGTH, LABEL_CERTIFICATE, LATEST_CLOCK,
    LARGEST_TIME, MOST_PAST_CERTIFICATES,
)
from ._keys import ProviderKey, ProviderPublicKey, SigningKey, bytes32, check_verifying_key
from ._types import Value, check_optional, check_type

REQUEST_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Value):
    """By it a provider key says which key signs its messages of an epoch. The higher one counts [T-3].

    Made from its 121 bytes, or by `parse` from its text.
    """

    #: The 121 bytes.
    data: bytes

    def __post_init__(self) -> None:
        """[T-1], but for what only the provider key decides."""
        check_type(self.data, bytes, "a certificate")
        data = self.data
        if len(data) != CERTIFICATE_LENGTH or data[0] != CERTIFICATE_VERSION or not 1 <= self.epoch or self.floor > self.epoch:
            raise PushcryptError(Code.MALFORMED_CERTIFICATE)
        if (number(data, 9, 17) == 0) != (self.floor == self.epoch):
            raise PushcryptError(Code.MALFORMED_CERTIFICATE)
        check_verifying_key(self.signing_key)

    @classmethod
    def parse(cls, text: str) -> Certificate:
        """Reads the text of a certificate, 162 characters."""
        check_type(text, str, "the text")
        return cls(decode(text))

    def __str__(self) -> str:
        return encode(self.data)

    def __repr__(self) -> str:
        return f"Certificate.parse({str(self)!r})"

    @property
    def epoch(self) -> int:
        """The number of the signing key's time, from 1."""
        return number(self.data, 1, 5)

    @property
    def floor(self) -> int:
        """The lowest epoch whose messages still verify."""
        return number(self.data, 5, 9)

    @property
    def expires_at(self) -> datetime | None:
        """`None` for never."""
        return None if self.expiry == NEVER else moment(self.expiry)

    @property
    def expiry(self) -> int:
        """The same in milliseconds since 1970, 2**64 - 1 for never."""
        return number(self.data, 17, 25)

    @property
    def signing_key(self) -> bytes:
        """The public key that signs messages, 32 bytes."""
        return self.data[25:CLAIM_LENGTH]

    @property
    def claim(self) -> bytes:
        """All but the signature."""
        return self.data[:CLAIM_LENGTH]

    def check(self, provider: ProviderPublicKey, topic: str) -> None:
        """Refuses one that is not this provider's for this app [T-1], [T-2]: `weak-key`, `bad-certificate-signature`."""
        check_type(provider, ProviderPublicKey, "provider")
        check_topic(topic)
        if self.signing_key == bytes(provider):
            raise PushcryptError(Code.WEAK_KEY, "the certificate's signing key is the provider key; each needs its own")
        if not provider.verifies(self.data[CLAIM_LENGTH:], claimed(provider, topic, self.claim)):
            raise PushcryptError(Code.BAD_CERTIFICATE_SIGNATURE)


# A provider


@dataclass(frozen=True, eq=False, repr=False)
class Credential(Value):
    """What signs a provider's messages from epoch 1 on: the signing key, its certificate and the provider key."""

    key: SigningKey
    certificate: Certificate
    provider: ProviderPublicKey

    def __post_init__(self) -> None:
        check_type(self.key, SigningKey, "the key")
        check_type(self.certificate, Certificate, "the certificate")
        check_type(self.provider, ProviderPublicKey, "the provider")
        if self.certificate.signing_key != self.key.public_bytes():
            raise wrong("that of another signing key; install the one made for it")

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CertificateRequest(Value):
    """A request for the certificate of a new signing key, which is carried to where the provider key is. It holds no secret.

    The command reads and writes the same texts: `pushcrypt key rotate --request`, `key certify`. The old key signs until `install`.
    """

    #: The app's bundle id.
    topic: str
    #: The provider key that is to sign.
    provider: ProviderPublicKey
    #: The public half of the new signing key, 32 bytes.
    signing_key: bytes
    #: The certificate in use; `None` at epoch 0.
    current: Certificate | None = None
    #: The certificates before it, `None` for epoch 0, each with the time at which it was replaced: those of the last 38 days.
    past: Sequence[tuple[Certificate | None, datetime]] = ()
    #: A certificate that a record showed and that you never issued: `Accepted.stale_store`.
    proven: Certificate | None = None
    #: Whether nothing of the epochs before may open any more.
    stolen: bool = False
    #: The whole seconds after which nobody believes the certificate; by default it never expires.
    lifetime: timedelta | None = None

    def __post_init__(self) -> None:
        check_topic(self.topic)
        check_type(self.provider, ProviderPublicKey, "provider")
        check_verifying_key(bytes32(self.signing_key, "signing_key"))
        check_optional(self.current, Certificate, "current")
        check_optional(self.proven, Certificate, "proven")
        check_type(self.stolen, bool, "stolen")
        if self.lifetime is not None and whole_seconds(self.lifetime, "the lifetime", LARGEST_TIME) < 1:
            raise PushcryptError(Code.INVALID_TIME, "the lifetime is at least a second")
        past = [(certificate, replaced) for certificate, replaced in self.past][-MOST_PAST_CERTIFICATES:]
        for certificate, replaced in past:
            check_optional(certificate, Certificate, "a past certificate")
            past_time(replaced, "the time at which one was replaced")
        object.__setattr__(self, "past", tuple(past))

    @classmethod
    def from_json(cls, text: str | bytes) -> CertificateRequest:
        """Reads a request. Refuses with `malformed-request`, and `malformed-certificate` or `weak-key` of what is in it."""
        fields = request_fields(text, "requests for certificates")
        if "certificate" in fields.members:
            raise PushcryptError(Code.MALFORMED_REQUEST, "this is a certificate already; install it, or certify its request")
        past = [
            (one.read("certificate", Certificate.parse), moment(one.needed(one.number("replaced"), "replaced")))
            for one in fields.objects("past", MOST_PAST_CERTIFICATES)
        ]
        lifetime = fields.number("expires")
        fields.require((lifetime or 0) <= timedelta.max // timedelta(seconds=1), "expires")
        return cls(
            **whose(fields), signing_key=fields.needed(fields.bytes32("signing_key"), "signing_key"), stolen=fields.flag("stolen"),
            lifetime=None if lifetime is None else timedelta(seconds=lifetime), current=fields.read("current", Certificate.parse), past=past,
            proven=fields.read("proven", Certificate.parse),
        )

    def to_json(self) -> str:
        """The text of the file."""
        past = [({} if one is None else {"certificate": str(one)}) | {"replaced": milliseconds(replaced, "past")} for one, replaced in self.past]
        return written({
            "version": REQUEST_VERSION, "topic": self.topic, "provider": self.provider, "signing_key": self.signing_key,
            "expires": self.lifetime and whole_seconds(self.lifetime, "lifetime", LARGEST_TIME), "stolen": self.stolen, "current": self.current, "past": past, "proven": self.proven,
        })

    def certify(self, provider: ProviderKey, *, at: datetime | None = None) -> str:
        """Signs the certificate, where the provider key is, and returns the text to carry back.

        Show the app to a person first.

        `at` is the present time, by default the system's. Refuses with `wrong-certificate` for another
        provider key, and with `bad-certificate-signature` for certificates of another key or app.
        """
        made = self._issue(provider, at)
        members = {"topic": self.topic, "provider": self.provider, "certificate": made}
        return written({"version": REQUEST_VERSION} | members)

    def _issue(self, provider: ProviderKey, at: datetime | None) -> Certificate:
        check_type(provider, ProviderKey, "the provider key")
        if provider.public_key != self.provider:
            raise wrong("requested from another provider key")
        now = time_or_now(at)
        for certificate in (self.current, self.proven, *(one for one, _ in self.past)):
            if certificate is not None:
                certificate.check(self.provider, self.topic)
        return certify(provider, self.topic, *self.plan(now), self.signing_key)

    def plan(self, now: int) -> tuple[int, int, int, int]:
        """Epoch, floor, grace until and expires at of the certificate, if it is made now [T-7] to [T-9]."""
        current, proven = self.current, self.proven
        last = max(0 if one is None else one.epoch for one in (current, proven))
        clock = now // 1000
        epoch = max(last + 1, clock if clock <= LATEST_CLOCK else 0)
        if epoch >= 2**32:
            raise PushcryptError(Code.EPOCHS_EXHAUSTED)
        expires_at = NEVER if self.lifetime is None else later(now, self.lifetime // timedelta(seconds=1))
        is_stale = proven is not None and (current is None or proven.claim != current.claim)
        if self.stolen or is_stale:
            return epoch, epoch, 0, expires_at
        in_use = [current, *(one for one, replaced in self.past if later(milliseconds(replaced, "past"), CERTIFICATE_GRACE) >= now)]
        floor = min(0 if one is None else one.epoch for one in in_use)
        return epoch, max(floor, 0 if current is None else current.floor), later(now, CERTIFICATE_GRACE), expires_at

    def install(self, key: SigningKey, answer: str | bytes, *, at: datetime | None = None) -> Credential:
        """What signs from now on. Store it before you seal with it, and destroy the key before it.

        `key` is the signing key of the request, and `answer` what `certify` or `pushcrypt key certify` returned. Refuses
        with `wrong-certificate` if that answers another request, is not later than what is in use, or has expired; with
        `malformed-request`, or the code of the certificate.
        """
        fields = request_fields(answer, "signed certificates")
        if "signing_key" in fields.members:
            raise PushcryptError(Code.MALFORMED_REQUEST, "this is a request that is not certified yet; certify it first")
        made, signer = fields.needed(fields.read("certificate", Certificate.parse), "certificate"), whose(fields)
        made.check(**signer)
        check_type(key, SigningKey, "the key")
        now = time_or_now(at)
        if signer != {"topic": self.topic, "provider": self.provider} or made.signing_key != self.signing_key:
            raise wrong("for another request; certify this one")
        last = max([one.epoch for one in (self.current, self.proven) if one is not None and one.claim != made.claim], default=0)
        if made.epoch <= last:
            raise wrong(f"of epoch {made.epoch}, not above the last, {last}; make another request")
        if made.expiry <= now:
            raise wrong("past its end; certify the request again")
        return Credential(key, made, self.provider)


def issue_certificate(
    provider: ProviderKey, signing_key: bytes, *, topic: str, current: Certificate | None = None,
    past: Sequence[tuple[Certificate | None, datetime]] = (), proven: Certificate | None = None, stolen: bool = False,
    lifetime: timedelta | None = None, at: datetime | None = None,
) -> Certificate:
    """Issues the certificate of a new signing key, of which `signing_key` is the public half [T-7] to [T-9].

    The arguments are those of `CertificateRequest`; `at` is the present time, by default the system's.
    """
    check_type(provider, ProviderKey, "the provider key")
    request = CertificateRequest(
        topic=topic, provider=provider.public_key, signing_key=signing_key, current=current, past=past, proven=proven, stolen=stolen,
        lifetime=lifetime,
    )
    return request._issue(provider, at)


def certify(
    key: ProviderKey, topic: str, epoch: int, floor: int, grace: int, expires_at: int, signing_key: bytes
) -> Certificate:
    claim = bytes([CERTIFICATE_VERSION]) + epoch.to_bytes(4, "big") + floor.to_bytes(4, "big") + grace.to_bytes(8, "big")
    claim += expires_at.to_bytes(8, "big") + signing_key
    made = Certificate(claim + key.sign(claimed(key.public_key, topic, claim)))
    made.check(key.public_key, topic)
    return made


def claimed(provider: ProviderPublicKey, topic: str, claim: bytes) -> bytes:
    return LABEL_CERTIFICATE + bytes(provider) + lp16(topic.encode()) + claim


def request_fields(text: str | bytes, what: str) -> Fields:
    fields = Fields(text, what, Code.MALFORMED_REQUEST)
    fields.require(fields.number("version") == REQUEST_VERSION, "version")
    return fields


def whose(fields: Fields) -> dict[str, Any]:
    """App and provider key. A key that is not one breaks the whole file."""
    try:
        provider = fields.read("provider", ProviderPublicKey.parse)
    except PushcryptError:
        fields.refuse("provider")
    return {"topic": fields.needed(fields.text("topic", TOPIC.fullmatch), "topic"), "provider": fields.needed(provider, "provider")}


def wrong(what: str) -> PushcryptError:
    return PushcryptError(Code.WRONG_CERTIFICATE, f"the certificate is {what}")
