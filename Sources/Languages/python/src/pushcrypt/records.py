"""How a phone and its provider exchange public keys: `Docs/FormatRecords.md`.

The app provides the channel, which must authenticate both ends.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._envelope import LARGEST_TIME, TOPIC, encode
from ._errors import Code, PushcryptError
from ._json import Number, parse_object, write
from ._types import check_type, check_types
from .attachments import BYTES32
from .certificates import Certificate
from .keys import DevicePublicKey, ProviderPublicKey, check_verifying_key
from .messages import is_label, is_visible
from .trust import Change, Trust

__all__ = ["DeviceRecord", "HeldDevice", "ProviderRecord", "Reply", "apply_reply", "check_registration", "shows_stale_store"]

#: The suite of the keys that this package seals to; `pcrx1…` are of suite 2.
SUITE = 1
SUITE_2, PREFIX_2 = 2, "pcrx1"
LARGEST_SUITE = 255
MOST_SUITES = 16
LONGEST_VERSION = 64
MOST_FOREIGN = 16
GENERATION_STEP = 1024
REASON = re.compile(r"[a-z0-9-]{1,64}")
TOKEN = re.compile(r"(?:[0-9a-f]{2}){1,100}")
WITHDRAWAL = re.compile(r"[0-9a-f]{32}")
GRANT = re.compile(r"[A-Za-z0-9_-]{1,1024}")
ENVIRONMENT = re.compile(r"production|development")


@dataclass(frozen=True, kw_only=True)
class DeviceRecord:
    """A phone's registration: from a phone to its provider."""

    public_key: DevicePublicKey
    #: The id under which the provider keeps the device; without one, the provider names it.
    device: str | None = None
    #: By default that of the key.
    suites: Sequence[int] = ()
    topic: str | None = None
    generation: int = 1
    #: Milliseconds since 1970.
    created: int | None = None
    #: The provider key that the device has pinned, and the highest certificate that it knows.
    provider: ProviderPublicKey | None = None
    certificate: Certificate | None = None
    app_version: str | None = None
    #: The push token in hexadecimal digits, and whose it is: `production` or `development`.
    token: str | None = field(default=None, repr=False)
    environment: str | None = None
    withdrawal: str | None = field(default=None, repr=False)
    grant: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_type(self.public_key, DevicePublicKey, "public_key")
        check_common(self)
        check_type(self.device, (str, type(None)), "device")
        for text, rule, what in own_texts(self):
            check_type(text, (str, type(None)), what)
            require(text is None or rule.fullmatch(text) is not None, what)
        check_type(self.app_version, (str, type(None)), "app_version")
        check_types(self.suites, int, "suites")
        object.__setattr__(self, "suites", self.suites or (self.public_key.suite,))
        check_type(self.provider, (ProviderPublicKey, type(None)), "provider")
        require(self.device is None or is_device_id(self.device), "the device's id")
        require(self.app_version is None or is_label(self.app_version, LONGEST_VERSION), "the app's version")
        require(self.public_key.suite in self.suites and list(self.suites) == sorted(set(self.suites)) and 1 <= self.suites[0], "suites")
        require(self.suites[-1] <= LARGEST_SUITE and len(self.suites) <= MOST_SUITES, "suites")

    @classmethod
    def parse(cls, data: bytes) -> DeviceRecord:
        """Reads a record; refuses one that breaks a rule. The rules of a provider follow: `check_registration`."""
        # First what is no text of a key, then those, last what follows of the keys.
        fields = Fields(data)
        public_key, key_id, provider = fields.needed("public_key"), fields.text("key_id"), fields.text("provider")
        suite = suite_of(public_key)
        fields.check_suite(suite)
        device, version = fields.text("device"), fields.text("app_version")
        require(device is None or is_device_id(device), "the device's id")
        require(version is None or is_label(version, LONGEST_VERSION), "the app's version")
        topic, generation, created = fields.topic(), fields.number("generation"), fields.number("created")
        suites, (certificate, _) = fields.suites(suite), fields.certificate()
        token, environment = fields.matching("token", TOKEN), fields.matching("environment", ENVIRONMENT)
        withdrawal, grant = fields.matching("withdrawal", WITHDRAWAL), fields.matching("grant", GRANT)
        record = cls(
            public_key=DevicePublicKey.parse(public_key), device=device, suites=suites, topic=topic,
            generation=1 if generation is None else generation, created=created,
            provider=None if provider is None else ProviderPublicKey.parse(provider),
            certificate=certificate, app_version=version,
            token=token, environment=environment, withdrawal=withdrawal, grant=grant,
        )
        require(key_id is None or key_id == record.public_key.key_id, "key_id, which is another key's,")
        return record

    def to_json(self) -> bytes:
        """The record as minimal JSON."""
        members = {
            "device": self.device, "public_key": str(self.public_key), "key_id": self.public_key.key_id,
            "suite": self.public_key.suite,
            "suites": list(self.suites), "topic": self.topic, "generation": self.generation, "created": self.created,
            "provider": text_of(self.provider), "certificate": text_of(self.certificate), "app_version": self.app_version,
            "token": self.token, "environment": self.environment, "withdrawal": self.withdrawal, "grant": self.grant,
        }
        return written(members)


@dataclass(frozen=True, kw_only=True)
class ProviderRecord:
    """A provider's announcement of its key: from a provider to its phones."""

    public_key: ProviderPublicKey
    topic: str | None = None
    generation: int = 1
    created: int | None = None
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        check_type(self.public_key, ProviderPublicKey, "public_key")
        check_common(self)

    @classmethod
    def parse(cls, data: bytes) -> ProviderRecord:
        """Reads a record; refuses one that breaks a rule."""
        fields = Fields(data)
        fields.check_suite(SUITE)
        public_key, key_id = fields.needed("public_key"), fields.text("key_id")
        topic, generation, created = fields.topic(), fields.number("generation"), fields.number("created")
        certificate, _ = fields.certificate()
        record = cls(
            public_key=ProviderPublicKey.parse(public_key), topic=topic, generation=1 if generation is None else generation,
            created=created, certificate=certificate,
        )
        require(key_id is None or key_id == record.public_key.key_id, "key_id, which is another key's,")
        return record

    def to_json(self) -> bytes:
        """The record as minimal JSON."""
        members = {
            "public_key": str(self.public_key), "key_id": self.public_key.key_id, "topic": self.topic,
            "generation": self.generation, "created": self.created, "certificate": text_of(self.certificate),
        }
        return written(members)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A provider's answer to a record: either `acknowledged`, or `refused` with a reason."""

    acknowledged: DevicePublicKey | None = None
    refused: str | None = None
    provider: ProviderPublicKey | None = None
    #: The provider's current certificate, from epoch 1 on [D-26].
    certificate: Certificate | None = None
    suites: Sequence[int] = (SUITE,)
    #: The members of the record that name a key which the provider never had [D-22].
    foreign: Sequence[str] = ()
    #: The public key with which the provider signs requests to a relay, 32 bytes.
    push_key: bytes | None = None
    #: Why a certificate that came is ignored [D-20].
    refused_certificate: Code | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_type(self.acknowledged, (DevicePublicKey, type(None)), "acknowledged")
        check_type(self.refused, (str, type(None)), "refused")
        check_type(self.provider, (ProviderPublicKey, type(None)), "provider")
        check_type(self.certificate, (Certificate, type(None)), "certificate")
        check_types(self.suites, int, "suites")
        check_types(self.foreign, str, "foreign")
        check_type(self.push_key, (bytes, type(None)), "push_key")
        if self.push_key is not None:
            require(len(self.push_key) == 32, "push_key")
            check_verifying_key(self.push_key)
        require(len(self.foreign) <= MOST_FOREIGN, "foreign")
        require((self.acknowledged is None) != (self.refused is None), "the choice of acknowledged or refused")
        require(self.refused is None or REASON.fullmatch(self.refused) is not None, "the reason")

    @classmethod
    def parse(cls, data: bytes) -> Reply:
        """Reads a reply; refuses one that breaks a rule."""
        fields = Fields(data)
        require(fields.number("version") == 1, "the version")
        acknowledged, refused, provider = (fields.text(name) for name in ("acknowledged", "refused", "provider"))
        require((acknowledged is None) != (refused is None), "the choice of acknowledged or refused")
        require(refused is None or REASON.fullmatch(refused) is not None, "the reason")
        (certificate, refused_certificate), push_key = fields.certificate(), fields.text("push_key")
        foreign, suites = fields.texts("foreign", MOST_FOREIGN), fields.suites(None)
        return cls(
            acknowledged=None if acknowledged is None else DevicePublicKey.parse(acknowledged), refused=refused,
            provider=None if provider is None else ProviderPublicKey.parse(provider),
            certificate=certificate, refused_certificate=refused_certificate, suites=suites, foreign=tuple(foreign),
            push_key=None if push_key is None else read_push_key(push_key),
        )

    def to_json(self) -> bytes:
        """The reply as minimal JSON."""
        members = {
            "version": 1, "acknowledged": text_of(self.acknowledged), "refused": self.refused, "provider": text_of(self.provider),
            "certificate": text_of(self.certificate), "suites": None if self.suites == (SUITE,) else list(self.suites),
            "foreign": list(self.foreign), "push_key": None if self.push_key is None else encode(self.push_key),
        }
        return written(members)


# A provider


@dataclass(frozen=True, kw_only=True)
class HeldDevice:
    """What a provider holds of a device."""

    #: Its key, or the text of the key, which may be of suite 2, `pcrx1…`.
    public_key: DevicePublicKey | str
    generation: int
    topic: str | None = None
    user: str | None = None
    #: Whether the device was removed: what was learned of it is kept [D-34].
    is_removed: bool = False

    def __post_init__(self) -> None:
        check_type(self.is_removed, bool, "is_removed")
        check_type(self.public_key, (DevicePublicKey, str), "public_key")
        check_type(self.generation, int, "generation")
        for text, what in ((self.topic, "topic"), (self.user, "user")):
            check_type(text, (str, type(None)), what)


def check_registration(
    record: DeviceRecord, held: HeldDevice | None, *, user: str | None, elsewhere: HeldDevice | None = None,
    replace: bool = False, own_keys: Collection[ProviderPublicKey] | None = None,
) -> list[str]:
    """Decides whether a provider accepts a record [D-7], [D-8], [D-15], [D-17], [D-18], [D-22],
    [D-23], [D-24].

    Refuses it with the code that the reply names: `Reply(refused=error.code)`. Otherwise the provider stores the record,
    in the same transaction in which it read `held`, removes the key `elsewhere`, and keeps the held topic and user if
    the record and the session have none.

    Args:
        record: What the phone sent.
        held: What the provider holds of the record's device, also of a removed one; `None` if it never knew it.
        user: The user whose session sent the record, never a member of it; `None` for a session without a user.
        elsewhere: Another device under which the provider holds the record's key.
        replace: Whether the provider's operator says that the device was set up again.
        own_keys: All provider keys that the provider has or had.

    Returns:
        The record's members that name a key which the provider never had, for `Reply.foreign`: tell your operator.
    """
    check_type(record, DeviceRecord, "record")
    for device in (held, elsewhere):
        check_type(device, (HeldDevice, type(None)), "a held device")
    check_type(user, (str, type(None)), "user")
    check_type(replace, bool, "replace")
    check_types(own_keys or (), ProviderPublicKey, "own_keys")
    is_same = held is not None and str(held.public_key) == str(record.public_key)
    if held is not None and not replace and held.user is not None:
        if user is not None and user != held.user:
            raise PushcryptError(Code.USER_MISMATCH, "the device is another user's")
        if user is None and not is_same:
            raise PushcryptError(Code.USER_MISMATCH, "the device is a user's, and a session without a user has another key")
    if not replace:
        generation = 0 if held is None else held.generation
        if held is not None and (
            record.generation < generation or (record.generation == generation and not is_same)
        ):
            raise PushcryptError(Code.GENERATION_ROLLBACK, "the record is older than the one held")
        if record.generation > generation + GENERATION_STEP:
            raise PushcryptError(Code.GENERATION_TOO_HIGH, f"the generation is over {GENERATION_STEP} above the one held")
        if held is not None and suite_of(str(held.public_key)) > record.public_key.suite:
            raise PushcryptError(Code.SUITE_DOWNGRADE, "the device has a post-quantum key, and this one is not")
    if record.public_key.suite != SUITE and not is_same:
        raise PushcryptError(Code.UNSUPPORTED_SUITE, "the key is of suite 2, to which this package does not seal")
    holds_topic = held is not None and not replace and not held.is_removed
    if held is not None and holds_topic and None not in (held.topic, record.topic) and held.topic != record.topic:
        raise PushcryptError(Code.TOPIC_MISMATCH, "the device is held for another app")
    owner = user if user is not None or held is None else held.user
    if elsewhere is not None and (owner is None or elsewhere.user != owner):
        raise PushcryptError(Code.KEY_TAKEN, "another device, not of the same user, has this key")
    if own_keys is None or record.provider is None or record.provider in own_keys:
        return []
    return ["provider"]


def shows_stale_store(record: DeviceRecord, provider: ProviderPublicKey, *, topic: str, issued: Collection[Certificate]) -> bool:
    """Whether a record has a certificate by the provider's own key that the provider did not issue [D-33].

    Then its store is an old one, or somebody else has the provider key: tell your operator. A certificate by another key is ignored.
    """
    check_type(record, DeviceRecord, "record")
    check_types(issued, Certificate, "issued")
    if record.certificate is None or any(one.claim == record.certificate.claim for one in issued):
        return False
    try:
        record.certificate.check(provider, topic)
    except PushcryptError:
        return False
    return True


# A phone


def apply_reply(
    reply: Reply, key: DevicePublicKey, trust: Trust, *, topic: str, is_built_in: bool
) -> tuple[bool, Code | None]:
    """What a phone does with a reply to the record of `key` [D-12], [D-13], [D-20]: whether the key is confirmed, and a code to tell
    the app of. Store what changes in `trust` in one transaction.

    `is_built_in` says whether the app has a provider key built in.
    """
    for value, kind, what in ((reply, Reply, "reply"), (key, DevicePublicKey, "key"), (trust, Trust, "trust")):
        check_type(value, kind, what)
    check_type(is_built_in, bool, "is_built_in")
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


# Members


class Fields:
    """The members of a record. A member that is `null` counts as absent [D-6]."""

    def __init__(self, data: bytes) -> None:
        members = parse_object(bytes(data), Code.MALFORMED_RECORD)
        self.members: dict[str, Any] = {name: value for name, value in members.items() if value is not None}

    def text(self, name: str) -> str | None:
        value = self.members.get(name)
        require(value is None or type(value) is str, name)
        return value

    def needed(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise broken(name)
        return value

    def number(self, name: str) -> int | None:
        value = self.members.get(name)
        number = value.at_most(LARGEST_TIME) if type(value) is Number else None
        require(value is None or number is not None, name)
        return number

    def texts(self, name: str, most: int) -> list[str]:
        value = self.members.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not 1 <= len(value) <= most or any(type(text) is not str for text in value):
            raise broken(name)
        return value

    def matching(self, name: str, rule: re.Pattern[str]) -> str | None:
        value = self.text(name)
        require(value is None or rule.fullmatch(value) is not None, name)
        return value

    def certificate(self) -> tuple[Certificate | None, Code | None]:
        """A certificate that breaks [T-1] counts as absent [D-31]; its code comes with it."""
        text = self.text("certificate")
        try:
            return None if text is None else Certificate.parse(text), None
        except PushcryptError as refused:
            return None, refused.code

    def topic(self) -> str | None:
        topic = self.text("topic")
        require(topic is None or TOPIC.fullmatch(topic) is not None, "topic")
        return topic

    def check_suite(self, own: int) -> None:
        """[D-3]"""
        suite = self.members.get("suite")
        require(suite is None or (type(suite) is Number and suite == str(own)), "suite")

    def suites(self, own: int | None) -> tuple[int, ...]:
        """[D-9], with the suite of a record's key."""
        value = self.members.get("suites")
        if value is None:
            return (own or SUITE,)
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_SUITES:
            raise broken("suites")
        numbers = [one.at_most(LARGEST_SUITE) if type(one) is Number else None for one in value]
        suites = [number for number in numbers if number]
        require(len(suites) == len(value) and suites == sorted(set(suites)), "suites")
        require(own is None or own in suites, "suites")
        return tuple(suites)


def check_common(record: DeviceRecord | ProviderRecord) -> None:
    """What both kinds of records have, and refuse when they are read."""
    check_type(record.topic, (str, type(None)), "topic")
    check_type(record.generation, int, "generation")
    check_type(record.created, (int, type(None)), "created")
    check_type(record.certificate, (Certificate, type(None)), "certificate")
    require(record.topic is None or TOPIC.fullmatch(record.topic) is not None, "topic")
    require(0 <= record.generation <= LARGEST_TIME and 0 <= (record.created or 0) <= LARGEST_TIME, "generation or created")


def is_device_id(text: str) -> bool:
    """[D-14]"""
    return is_label(text) and is_visible(text) and not text.startswith(("pcr1", PREFIX_2)) and bool(text.strip(" "))


def suite_of(public_key: str) -> int:
    return SUITE_2 if public_key.startswith(PREFIX_2) else SUITE


def own_texts(record: DeviceRecord) -> list[tuple[str | None, re.Pattern[str], str]]:
    return [
        (record.token, TOKEN, "token"), (record.environment, ENVIRONMENT, "environment"),
        (record.withdrawal, WITHDRAWAL, "withdrawal"), (record.grant, GRANT, "grant"),
    ]


def read_push_key(text: str) -> bytes:
    """[D-32]"""
    if not BYTES32.fullmatch(text):
        raise PushcryptError(Code.MALFORMED_KEY, "push_key is not 32 bytes in base64url")
    return base64.urlsafe_b64decode(text + "=")


def text_of(value: object) -> str | None:
    return None if value is None else str(value)


def require(condition: bool, what: str) -> None:
    if not condition:
        raise broken(what)


def broken(what: str) -> PushcryptError:
    return PushcryptError(Code.MALFORMED_RECORD, f"{what} breaks the rules of records; see Docs/FormatRecords.md")


def written(members: dict[str, Any]) -> bytes:
    """JSON without what is absent. What this package refuses to read is not written either."""
    data = write({name: value for name, value in members.items() if value is not None and value != []})
    try:
        return data.encode("utf-8")
    except UnicodeEncodeError:
        raise broken("a text with half a surrogate pair") from None
