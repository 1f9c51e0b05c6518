"""What a provider does with a phone's record: `Docs/FormatRecords.md`, Rules of providers."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ._certificates import Certificate
from ._envelope import check_topic, time_or_now
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._format import GENERATION_STEP, SUITE
from ._json import is_unicode
from ._keys import ProviderPublicKey
from ._records import Device, DeviceRecord, Reply
from ._types import check_optional, check_type, checked_tuple

#: Milliseconds.
DAY = 86_400_000


@dataclass(frozen=True, kw_only=True)
class StoredDevice(Device):
    """What a provider stores of a device: `Accepted.device`, as columns or as JSON.

    It has what the phone's last record said, and the user, who never comes from a record.
    """

    #: The app's bundle id.
    topic: str
    #: The user whose session sent the record; `None` if not known.
    user: str | None = None
    #: Whether the device was removed: what was learned of it is kept [D-38].
    is_removed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_topic(self.topic)
        check_user(self.user)
        check_type(self.is_removed, bool, "is_removed")

    @classmethod
    def from_json(cls, text: str | bytes) -> StoredDevice:
        """Reads what `to_json` wrote. Refuses anything else with `malformed-record`, or the code of a key."""
        fields = Fields(text, "stored devices")
        for name in ("topic", "generation"):
            fields.require(name in fields.members, name)
        return cls(user=fields.text("user"), is_removed=fields.flag("removed"), **cls._read(fields))

    def to_json(self) -> str:
        """The device as minimal JSON."""
        return written(self._members() | {"user": self.user, "removed": self.is_removed})

    def removed(self, *, at: int | None = None) -> StoredDevice:
        """What to keep of a device that is removed [D-38]: give it to `accept` if the id comes back.

        `at` is the present time in milliseconds since 1970, by default the system's: what the phone sent before it, or says within a day, is older.
        """
        gone: dict[str, Any] = dict.fromkeys(("app_version", "token", "environment", "grant", "provider"))
        return dataclasses.replace(self, is_removed=True, sequence=max(self.sequence or 0, time_or_now(at) + DAY), **gone)

    def without_token(self) -> StoredDevice:
        """The device after APNs said that its token is no longer valid."""
        return dataclasses.replace(self, token=None, environment=None)


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """What comes of a record that is accepted."""

    #: What to store, in the transaction in which `held` was read.
    device: StoredDevice
    #: What the phone gets.
    reply: Reply
    #: Whether to remove the device `elsewhere`.
    removes_elsewhere: bool
    #: A certificate by your provider key that you did not issue: your store is an old copy, or somebody has the key. Tell your operator,
    #: and give it as `proven` to the next `CertificateRequest` [D-36].
    stale_store: Certificate | None
    #: The members of the record that name a provider key which you never had. Tell your operator [D-35].
    foreign: Sequence[str]


def accept(
    record: DeviceRecord, held: StoredDevice | None, session_user: str | None, *, topic: str, provider: ProviderPublicKey,
    own_keys: Collection[ProviderPublicKey] = (), certificate: Certificate | None = None,
    issued: Collection[Certificate] | None = None, elsewhere: StoredDevice | None = None, replace: bool = False,
    push_key: bytes | None = None,
) -> Accepted:
    """Decides about a phone's record, and returns what to store and to answer [D-22] to [D-38].

    What the record lacks stays as held; of a device that was removed or set up again, the user, `update_key` and `sequence` alone. A refusal changes nothing:
    `user-mismatch`, `generation-rollback`, `generation-too-high`, `suite-downgrade`, `unsupported-suite`, `topic-mismatch`, `key-taken`.

    Args:
        record: What the phone sent.
        held: What you hold of the record's device, also of a removed one; `None` if you never knew it.
        session_user: The user whose session sent the record, never a member of it; `None` for a session without a user.
        topic: The app's bundle id. A record that names another app is refused.
        provider: Your provider key.
        own_keys: Other provider keys that you have or had.
        certificate: Your current certificate; `None` at epoch 0.
        issued: All that you issued, down to the floor of the current one. Without them, a stale store is noticed at epoch 0 only.
        elsewhere: Another device under which you hold the record's key.
        replace: Whether your operator says that the device was set up again.
        push_key: The public key with which you sign requests to a relay, 32 bytes.
    """
    check_type(record, DeviceRecord, "record")
    for device in (held, elsewhere):
        check_optional(device, StoredDevice, "a stored device")
    check_user(session_user)
    check_topic(topic)
    check_type(provider, ProviderPublicKey, "provider")
    check_optional(certificate, Certificate, "certificate")
    check_type(replace, bool, "replace")
    keys = {provider, *checked_tuple(own_keys, ProviderPublicKey, "own_keys")}
    known = None if issued is None else checked_tuple(issued, Certificate, "issued")

    user = check_rules(record, held, session_user, topic, elsewhere, replace)
    kept = None if held is None or held.is_removed or replace else held
    device = merged(record, held, kept, user, topic)
    foreign = () if record.provider is None or record.provider in keys else ("provider",)
    stale = None
    if known is not None or certificate is None:
        stale = never_issued(record.certificate, provider, device.topic, certificate, known or ())
    reply = Reply(acknowledged=record.public_key, provider=provider, certificate=certificate, foreign=foreign, push_key=push_key)
    return Accepted(device=device, reply=reply, removes_elsewhere=elsewhere is not None, stale_store=stale, foreign=foreign)


def check_rules(
    record: DeviceRecord, held: StoredDevice | None, user: str | None, topic: str, elsewhere: StoredDevice | None, replace: bool
) -> str | None:
    """The rules that refuse, in their order. Returns whose device it is."""
    is_same = held is not None and held.public_key == record.public_key
    if held is not None and not replace and user != held.user:
        if user is not None:
            raise PushcryptError(Code.USER_MISMATCH, "the device is another user's, or nobody's")
        if not is_same:
            raise PushcryptError(Code.USER_MISMATCH, "the device is a user's, and a session without a user has another key")
    if not replace:
        generation = 0 if held is None else held.generation
        if held is not None and (record.generation < generation or (record.generation == generation and not is_same)):
            raise PushcryptError(Code.GENERATION_ROLLBACK, "the record is older than the one held")
        if record.generation > generation + GENERATION_STEP:
            raise PushcryptError(Code.GENERATION_TOO_HIGH, f"the generation is over {GENERATION_STEP} above the one held")
        if held is not None and held.public_key.suite > record.public_key.suite:
            raise PushcryptError(Code.SUITE_DOWNGRADE, "the device has a post-quantum key, and this one is not")
    if record.public_key.suite != SUITE and (held is None or held.is_removed or not is_same):
        raise PushcryptError(Code.UNSUPPORTED_SUITE, "the key is of suite 2, to which this package does not seal")
    topics = {topic} if held is None or replace or held.is_removed else {topic, held.topic}
    if record.topic is not None and topics != {record.topic}:
        raise PushcryptError(Code.TOPIC_MISMATCH, "the device is, or was registered, for another app")
    owner = user if user is not None or held is None else held.user
    if elsewhere is not None and (owner is None or elsewhere.user != owner):
        raise PushcryptError(Code.KEY_TAKEN, "another device, not of the same user, has this key")
    return owner


def merged(record: DeviceRecord, held: StoredDevice | None, kept: StoredDevice | None, user: str | None, topic: str) -> StoredDevice:
    """The record as it is stored, after what is kept of the device."""
    values = {one.name: getattr(record, one.name) for one in dataclasses.fields(Device)}
    if held is not None:
        values["device"], values["update_key"] = record.device or held.device, record.update_key or held.update_key
        values["sequence"] = max(record.sequence or 0, held.sequence or 0) or None
    if kept is not None:
        stays = [name for name in ("app_version", "grant", "topic") if values[name] is None]
        stays += ["token", "environment"] if record.token is None else []
        stays += ["created"] if record.created is None and kept.public_key == record.public_key else []
        values |= {name: getattr(kept, name) for name in stays}
    return StoredDevice(**values | {"user": user, "topic": values["topic"] or topic})


def never_issued(
    shown: Certificate | None, provider: ProviderPublicKey, topic: str, current: Certificate | None, issued: Collection[Certificate]
) -> Certificate | None:
    """The certificate of a record, if it verifies and is none of the provider's [D-36]."""
    known = [*issued, *([] if current is None else [current])]
    if shown is None or any(one.claim == shown.claim for one in known) or (current is not None and shown.epoch < current.floor):
        return None
    try:
        shown.check(provider, topic)
    except PushcryptError:
        return None
    return shown


def check_user(user: str | None) -> None:
    """An empty name would make one user of all whose names a program lost."""
    check_optional(user, str, "the user")
    if user is not None and not (user and is_unicode(user)):
        raise ValueError("the user's name is empty, or has half a surrogate pair; None is a session without a user")
