"""How a phone and its provider exchange public keys: `Docs/FormatRecords.md`.

The app provides the channel, which must authenticate both ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ._certificates import Certificate
from ._envelope import TOPIC, decode
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._format import KEY_LENGTH, LARGEST_SUITE, LARGEST_TIME, LONGEST_APP_VERSION, MOST_FOREIGN, MOST_SUITES, SUITE
from ._json import Number
from ._keys import DevicePublicKey, ProviderPublicKey, bytes32, check_verifying_key
from ._messages import is_visible
from ._types import Value, check_optional, check_type, checked_tuple, is_label

SUITE_2, PREFIX_2 = 2, "pcrx1"
REASON = re.compile(r"[a-z0-9-]{1,64}")
TOKEN = re.compile(r"(?:[0-9a-f]{2}){1,100}")
NONCE = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")
GRANT = re.compile(r"[A-Za-z0-9_-]{1,1024}")
ENVIRONMENT = re.compile(r"production|development")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False, init=False)
class Device(Value):
    """What a phone says of itself, in a record and where a provider stores it."""

    #: The key to seal to.
    public_key: DevicePublicKey
    #: The id under which the provider keeps the device, 1 to 255 bytes; without one, the provider names it.
    device: str | None = None
    #: The suites that the device opens; by default that of the key.
    suites: Sequence[int] = ()
    #: The app's bundle id.
    topic: str | None = None
    #: The number of the key among the device's keys.
    generation: int = 1
    #: When the key was made, in milliseconds since 1970.
    created: int | None = None
    #: The provider key that the device has pinned.
    provider: ProviderPublicKey | None = None
    #: The app's version, 1 to 64 bytes.
    app_version: str | None = None
    #: The push token in lower-case hexadecimal digits.
    token: str | None = field(default=None, repr=False)
    #: Where the token is valid: `production` or `development`.
    environment: str | None = None
    #: A relay's permission to push to the phone.
    grant: str | None = field(default=None, repr=False)
    #: The key that signs the device's records without a session, 32 bytes.
    update_key: bytes | None = None
    #: The number of the record, 1 to 2**53 - 2; a later one has a higher one.
    sequence: int | None = None

    MOST_SEQUENCE: ClassVar[int] = LARGEST_TIME - 1

    def __post_init__(self) -> None:
        check_type(self.public_key, DevicePublicKey, "public_key")
        check_type(self.generation, int, "generation")
        check_optional(self.created, int, "created")
        check(all(0 <= number <= LARGEST_TIME for number in (self.generation, self.created or 0)), "generation or created")
        check_optional(self.provider, ProviderPublicKey, "provider")
        object.__setattr__(self, "suites", checked_tuple(self.suites, int, "suites") or (self.public_key.suite,))
        for name, rule in TEXTS.items():
            check_optional(getattr(self, name), str, name)
            check(getattr(self, name) is None or rule(getattr(self, name)), name)
        check(are_suites(self.suites, self.public_key.suite), "suites")
        check_key(self.update_key, "update_key")
        check_optional(self.sequence, int, "sequence")
        check(self.sequence is None or 1 <= self.sequence <= self.MOST_SEQUENCE, "sequence")

    @classmethod
    def _read(cls, fields: Fields) -> dict[str, Any]:
        # First what is no text of a key, then those, last what follows of the keys.
        public_key = fields.needed(fields.text("public_key"), "public_key")
        suite, key_id, number = suite_of(public_key), fields.text("key_id"), fields.number("generation")
        for name in ("provider", "update_key"):
            fields.text(name)
        fields.text("nonce", NONCE.fullmatch)
        fields.require("ended" not in fields.members, "ended")
        fields.require(fields.number("suite") in (None, suite), "suite")
        values: dict[str, Any] = {name: fields.text(name, rule) for name, rule in TEXTS.items()}
        values |= {"suites": suites_of(fields, suite), "generation": 1 if number is None else number, "created": fields.number("created")}
        values |= {"sequence": fields.number("sequence", cls.MOST_SEQUENCE)}
        fields.require(values["sequence"] != 0, "sequence")
        key = DevicePublicKey.parse(public_key)
        values |= {"public_key": key, "provider": fields.read("provider", ProviderPublicKey.parse), "update_key": fields.read("update_key", raw_key)}
        fields.require(key_id in (None, key.key_id), "key_id, which is another key's,")
        return values

    def _members(self) -> dict[str, Any]:
        names = ("device", "public_key", "suites", "topic", "generation", "created", "provider", *TEXTS, "update_key", "sequence")
        return {name: getattr(self, name) for name in names} | {"key_id": self.public_key.key_id}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DeviceRecord(Device):
    """A phone's registration: from a phone to its provider. `accept` decides about it."""

    #: The highest certificate that the device knows. One that breaks [T-1] counts as absent [D-12].
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_optional(self.certificate, Certificate, "certificate")

    @classmethod
    def from_json(cls, text: str | bytes) -> DeviceRecord:
        """Reads a record. Refuses with `malformed-record` if it breaks a rule, and the codes of keys."""
        fields = Fields(text, "records")
        certificate = certificate_of(fields)
        return cls(certificate=certificate, **cls._read(fields))

    def to_json(self) -> str:
        """The record as minimal JSON."""
        return written(self._members() | {"suite": self.public_key.suite, "certificate": self.certificate})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reply(Value):
    """A provider's answer to a post, with one of the first four. `Accepted.reply` is `acknowledged`, and `Reply.refusal` makes a `refused`."""

    #: The key that the provider seals to from now on.
    acknowledged: DevicePublicKey | None = None
    #: Why the record was refused.
    refused: str | None = None
    #: The device that has ended.
    ended: str | None = None
    #: What the phone had posted.
    hello: str | None = None
    #: The one held, beside the refusal `stale-record`.
    sequence: int | None = None
    #: The provider key.
    provider: ProviderPublicKey | None = None
    #: The provider's current certificate, from epoch 1 on, in a refusal too [D-37].
    certificate: Certificate | None = None
    #: The suites of which the phone may make a key [D-47].
    suites: Sequence[int] = (SUITE,)
    #: The members of the record that name a key which the provider never had [D-35].
    foreign: Sequence[str] = ()
    #: The public key with which the provider signs requests to a relay, 32 bytes, and the one announced to follow it.
    push_key: bytes | None = None
    next_push_key: bytes | None = None
    #: `ended`: the relay has ended the record's grant [D-16].
    grant: str | None = None

    def __post_init__(self) -> None:
        check_optional(self.acknowledged, DevicePublicKey, "acknowledged")
        for name in ("refused", "ended", "hello"):
            check_optional(getattr(self, name), str, name)
        check_optional(self.sequence, int, "sequence")
        check_optional(self.provider, ProviderPublicKey, "provider")
        check_optional(self.certificate, Certificate, "certificate")
        object.__setattr__(self, "suites", checked_tuple(self.suites, int, "suites"))
        object.__setattr__(self, "foreign", checked_tuple(self.foreign, str, "foreign"))
        for name in ("push_key", "next_push_key"):
            check_key(getattr(self, name), name)
        check(self.grant in (None, "ended"), "grant")
        check(len(self.foreign) <= MOST_FOREIGN, "foreign")
        check(are_suites(self.suites, None), "suites")
        kinds = (self.acknowledged, self.refused, self.ended, self.hello)
        check(kinds.count(None) == 3, "the choice of acknowledged, refused, ended or hello")
        check(self.refused is None or REASON.fullmatch(self.refused), "refused")

    @classmethod
    def refusal(cls, error: PushcryptError, *, certificate: Certificate | None = None) -> Reply:
        """The reply that refuses a record, for what `DeviceRecord.from_json` or `accept` raised. Give your current certificate."""
        check_type(error, PushcryptError, "error")
        return cls(refused=str(error.code), sequence=error.sequence, certificate=certificate)

    def to_json(self) -> str:
        """The reply as minimal JSON."""
        suites = () if self.suites == (SUITE,) else self.suites
        return written({"version": 1} | vars(self) | {"suites": suites})


def check(is_good: object, what: str) -> None:
    if not is_good:
        raise PushcryptError(Code.MALFORMED_RECORD, f"{what} breaks the rules of records")


def check_key(key: bytes | None, name: str) -> None:
    """[D-13], of bytes."""
    check_optional(key, bytes, name)
    if key is not None:
        check(len(key) == KEY_LENGTH, name)
        check_verifying_key(key)


def raw_key(text: str) -> bytes:
    """[D-13]"""
    key = bytes32(decode(text), "a key in base64url")
    check_verifying_key(key)
    return key


def is_device_id(text: str) -> bool:
    """[D-20]"""
    return is_label(text) and is_visible(text) and not text.startswith(("pcr1", PREFIX_2)) and bool(text.strip(" "))


def is_version(text: str) -> bool:
    """[D-8]"""
    return is_label(text, LONGEST_APP_VERSION)


#: The texts of a device's record that are no keys, with their rules.
TEXTS: dict[str, Callable[[str], object]] = {
    "device": is_device_id, "topic": TOPIC.fullmatch, "app_version": is_version, "token": TOKEN.fullmatch,
    "environment": ENVIRONMENT.fullmatch, "grant": GRANT.fullmatch,
}


def suite_of(public_key: str) -> int:
    return SUITE_2 if public_key.startswith(PREFIX_2) else SUITE


def are_suites(suites: Sequence[int], own: int | None) -> bool:
    """[D-7], with the suite of a record's key."""
    is_ordered = list(suites) == sorted(set(suites)) and 1 <= len(suites) <= MOST_SUITES
    return is_ordered and 1 <= suites[0] and suites[-1] <= LARGEST_SUITE and (own is None or own in suites)


def suites_of(fields: Fields, own: int) -> Sequence[int]:
    """[D-7]"""
    numbers = [one.at_most(LARGEST_SUITE) for one in fields.items("suites", Number, MOST_SUITES)]
    suites = [number for number in numbers if number is not None] or [own]
    fields.require(None not in numbers and are_suites(suites, own), "suites")
    return suites


def certificate_of(fields: Fields) -> Certificate | None:
    """A certificate that breaks [T-1] counts as absent [D-12]."""
    text = fields.text("certificate")
    try:
        return None if text is None else Certificate.parse(text)
    except PushcryptError:
        return None
