"""What a provider does with a phone's record: `Docs/FormatRecords.md`, Rules of providers."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol

from ._certificates import Certificate
from ._envelope import DAY, check_topic, time_or_now
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._format import GENERATION_STEP, LARGEST_TIME, SUITE
from ._json import is_unicode
from ._keys import DevicePublicKey, ProviderPublicKey
from ._records import Device, DeviceRecord, Reply, is_device_id
from ._types import Value, check_optional, check_type, checked_tuple


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredDevice(Device):
    """What a provider stores of a device: each of `Accepted.changes`, as columns or as JSON.

    It has what the phone's last record said, and the user, who never comes from a record.
    """

    #: The id under which it is stored.
    device: str
    #: The app's bundle id.
    topic: str
    #: The user whose session sent the record; `None` if not known.
    user: str | None = None
    #: Whether the device was removed: what was learned of it is kept [D-38], and nothing is sealed to it.
    is_removed: bool = False
    #: The grant that the relay has ended, until the phone brings another.
    ended_grant: str | None = field(default=None, repr=False)

    MOST_SEQUENCE: ClassVar[int] = LARGEST_TIME

    def __post_init__(self) -> None:
        check_type(self.device, str, "device")
        super().__post_init__()
        check_topic(self.topic)
        check_user(self.user)
        check_type(self.is_removed, bool, "is_removed")
        check_optional(self.ended_grant, str, "ended_grant")

    @classmethod
    def from_json(cls, text: str | bytes) -> StoredDevice:
        """Reads what `to_json` wrote. Refuses anything else with `malformed-record`, or the code of a key."""
        fields = Fields(text, "stored devices")
        for name in ("device", "topic", "generation"):
            fields.require(name in fields.members, name)
        user = fields.text("user", lambda text: text != "")
        return cls(user=user, is_removed=fields.flag("removed"), ended_grant=fields.text("ended_grant"), **cls._read(fields))

    def to_json(self) -> str:
        """The device as minimal JSON."""
        return written(self._members() | {"user": self.user, "removed": self.is_removed, "ended_grant": self.ended_grant})

    def removed(self, *, at: datetime | None = None) -> StoredDevice:
        """What to keep of a device that is removed [D-38]: `accept` needs it if the id comes back.

        `at` is the present time, by default the system's: what the phone sent before it, or says within a day, is older.
        """
        return self.ended(max(self.sequence or 0, time_or_now(at) + DAY))

    def ended(self, sequence: int | None) -> StoredDevice:
        """The same with another sequence."""
        gone: dict[str, Any] = dict.fromkeys(("app_version", "token", "environment", "grant", "ended_grant", "provider"))
        return dataclasses.replace(self, is_removed=True, sequence=sequence, **gone)

    def without_token(self) -> StoredDevice:
        """The device after APNs said that its token is no longer valid."""
        return dataclasses.replace(self, token=None, environment=None)

    def without_grant(self, grant: str) -> StoredDevice:
        """The device after the relay answered 410 to a push with this grant; itself if a record has brought another since.

        `accept` does not take the grant again, and the reply tells the phone to fetch another [D-33].
        """
        return dataclasses.replace(self, grant=None, ended_grant=grant) if grant == self.grant else self


class Devices(Protocol):
    """How `accept` looks into your store, in the transaction in which you store what it returns."""

    def find(self, device: str) -> StoredDevice | None:
        """What you hold under an id, also of a removed device; `None` if you never knew it."""

    def holders(self, public_key: DevicePublicKey, token: str | None) -> Iterable[StoredDevice]:
        """All that you hold with the key or with the token, if there is one: under any id and of any user."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Accepted(Value):
    """What comes of a record that is accepted."""

    #: The device that has registered.
    device: StoredDevice
    #: What to store: `device`, and what is left of others that had its key. Each replaces what you hold under its id.
    changes: Sequence[StoredDevice]
    #: What the phone gets, once that is stored.
    reply: Reply
    #: A certificate by your provider key that you did not issue: your store is an old copy, or somebody has the key. Give it as `proven` to
    #: the next `CertificateRequest` [D-36].
    stale_store: Certificate | None
    #: The members of the record that name a provider key which you never had [D-35].
    foreign: Sequence[str]
    #: Sentences for your operator: about the two before this, and what of the record was stored as something else.
    warnings: Sequence[str]


def accept(
    record: DeviceRecord, devices: Devices, session_user: str | None, *, topic: str, provider: ProviderPublicKey,
    device: str | None = None, own_keys: Collection[ProviderPublicKey] = (), certificate: Certificate | None = None,
    issued: Collection[Certificate] | None = None, replace: bool = False, push_key: bytes | None = None,
    next_push_key: bytes | None = None, _is_signed: bool = False,
) -> Accepted:
    """Decides about a phone's record, and returns what to store and to answer [D-22] to [D-38]. It verifies no signature.

    What the record lacks stays as held; of a device that was removed, the user, `update_key` and `sequence` alone; of one that was set up again, the
    user. A refusal changes nothing: `user-mismatch`, `stale-record`, `generation-rollback`, `generation-too-high`, `suite-downgrade`, `unsupported-suite`,
    `topic-mismatch`, `key-taken`.

    Args:
        record: What the phone sent.
        devices: Your store.
        session_user: The user whose session sent the record, never a member of it; `None` for a session without a user.
        topic: The app's bundle id. A record that names another app is refused.
        provider: Your provider key.
        device: Your id for the device, for records that name none.
        own_keys: Other provider keys that you have or had.
        certificate: Your current certificate; `None` at epoch 0.
        issued: All that you issued, down to the floor of the current one. Without them, a stale store is noticed at epoch 0 only.
        replace: Whether your operator says that the device was set up again.
        push_key: The public key with which you sign requests to a relay, 32 bytes.
        next_push_key: The one that will follow it.
    """
    check_type(record, DeviceRecord, "record")
    check_user(session_user)
    check_topic(topic)
    check_type(provider, ProviderPublicKey, "provider")
    check_optional(certificate, Certificate, "certificate")
    check_type(replace, bool, "replace")
    check_optional(device, str, "device")
    if device is not None and not is_device_id(device):
        raise ValueError("device is not an id of 1 to 255 bytes without invisible characters")
    keys = {provider, *checked_tuple(own_keys, ProviderPublicKey, "own_keys")}
    known = None if issued is None else checked_tuple(issued, Certificate, "issued")
    id = record.device or device
    if id is None:
        raise PushcryptError(Code.MALFORMED_RECORD, "the record names no device; give accept your id for it as device")
    held = found(devices, id)
    user = check_rules(record, held, session_user, topic, replace, _is_signed)
    kept = None if held is None or held.is_removed or replace else held
    # An end outranks all, but for the operator's word [D-26].
    stays = None if held is None or replace or held.sequence == LARGEST_TIME else held
    made = merged(record, id, stays, kept, user, topic)
    others = displaced(devices, made, kept)
    foreign = () if record.provider is None or record.provider in keys else ("provider",)
    stale = None
    if known is not None or certificate is None:
        stale = never_issued(record.certificate, provider, made.topic, certificate, known or ())
    grant = "ended" if record.grant is not None and record.grant == made.ended_grant else None
    reply = Reply(
        acknowledged=record.public_key, provider=provider, certificate=certificate, foreign=foreign, push_key=push_key,
        next_push_key=next_push_key, grant=grant)
    texts = {
        f"{id} names a provider key that you never had: somebody else has enrolled the phone": foreign,
        f"{id} shows a certificate that you never issued: your store is an old copy, or somebody has your provider key": stale,
        f"{id} has a token without an environment: it is stored as one of production": record.token and not record.environment,
    }
    warnings = tuple(text for text, is_true in texts.items() if is_true)
    return Accepted(device=made, changes=(made, *others), reply=reply, stale_store=stale, foreign=foreign, warnings=warnings)


def found(devices: Devices, id: str) -> StoredDevice | None:
    held = devices.find(id)
    check_optional(held, StoredDevice, "what find returns")
    if held is not None and held.device != id:
        raise ValueError(f"find({id!r}) returned {held.device!r}: one phone would get what is another's")
    return held


def displaced(devices: Devices, made: StoredDevice, kept: StoredDevice | None) -> list[StoredDevice]:
    """What is left of the other devices with its key [D-32], or with its token: one phone of one user got each push twice."""
    others, key = checked_tuple(devices.holders(made.public_key, made.token), StoredDevice, "what holders returns"), made.public_key
    gone = []
    for one in others:
        has_key, is_same_user = one.public_key == key and (kept is None or kept.public_key != key), made.user is not None and one.user == made.user
        if one.public_key != key and (made.token is None or one.token != made.token):
            raise ValueError(f"holders returned {one.device!r}, which has another key and another token")
        if one.device == made.device or one.is_removed:
            continue
        if has_key and not is_same_user:
            raise PushcryptError(Code.KEY_TAKEN, "another device, not of the same user, has this key")
        has_token = is_same_user and made.token is not None and (one.token, one.topic) == (made.token, made.topic)
        gone += [one.ended(one.sequence)] if has_key or has_token else []
    return gone


def check_rules(
    record: DeviceRecord, held: StoredDevice | None, user: str | None, topic: str, replace: bool, is_signed: bool
) -> str | None:
    """The rules that refuse, in their order. Returns whose device it is. The holder of the update key was there before, whatever its keys are."""
    is_same = held is not None and held.public_key == record.public_key
    if held is not None and not replace and user != held.user:
        if user is not None:
            raise PushcryptError(Code.USER_MISMATCH, "the device is another user's, or nobody's")
        if not is_same or record.update_key not in (None, held.update_key):
            raise PushcryptError(Code.USER_MISMATCH, "the device is a user's, and a session without a user has another key or update key")
    if held is not None and not replace and record.sequence is not None and record.sequence <= (held.sequence or 0):
        raise PushcryptError(Code.STALE_RECORD, sequence=held.sequence)
    if not replace and not is_signed:
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
    return user if user is not None or held is None else held.user


def merged(
    record: DeviceRecord, id: str, held: StoredDevice | None, kept: StoredDevice | None, user: str | None, topic: str
) -> StoredDevice:
    """The record as it is stored, after what is kept of the device."""
    values = {one.name: getattr(record, one.name) for one in dataclasses.fields(Device)}
    values["environment"] = None if record.token is None else record.environment or "production"
    if held is not None:
        values["update_key"] = record.update_key or held.update_key
        values["sequence"] = record.sequence or held.sequence
    if kept is not None:
        stays = [name for name in ("app_version", "topic") if values[name] is None]
        stays += ["token", "environment"] if record.token is None else []
        stays += ["grant", "ended_grant"] if record.grant in (None, kept.ended_grant) else []
        stays += ["created"] if record.created is None and kept.public_key == record.public_key else []
        values |= {name: getattr(kept, name) for name in stays}
    return StoredDevice(**values | {"device": id, "user": user, "topic": values["topic"] or topic})


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
