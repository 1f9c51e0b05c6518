"""Sealing a payload for one device: `Docs/Format.md`, Clear part, Size, Sealing and Randomness."""

from __future__ import annotations

import bisect
import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from ._aps import CheckedPayload
from ._attachments import FullBody, Reference, check_full_body_reference
from ._certificates import Certificate
from ._envelope import check_topic, clock, encode, envelope_info, fingerprint, lp16, milliseconds, moment, named_message, signed, time_or_now, whole_seconds
from ._errors import Code, PushcryptError
from ._format import (
    BUCKETS, CERTIFICATE_LENGTH, CLASSES, CLEAR_BODY, CLEAR_FIELDS, DEVELOPMENT_HOST, ENVELOPE_OVERHEAD, EXPIRATION_UNIT, INNER_BODY,
    INNER_CONTENT, KIND_CERTIFIED, LABEL_COLLAPSE, LABEL_EPHEMERAL, LABEL_MESSAGE_ID, LIMITS, LONGEST_CLEAR_TEXT,
    LONGEST_COLLAPSE_DEVICE, LONGEST_TIME_TO_LIVE, MESSAGE_ID_LENGTH, MOST_ATTACHMENTS, PRODUCTION_HOST, STANDARD_TITLE, SUFFIXES, SUITE,
)
from ._identity import AnyKey, Hedge, Hedged, Identity
from ._json import Number, is_unicode, write, write_object
from ._keys import DevicePublicKey, ProviderPublicKey
from ._messages import Person, check_withdrawal
from ._registration import StoredDevice
from ._types import Value, check_optional, check_type, checked_tuple, utf8

if TYPE_CHECKING:
    from .answers import AnswerSecret

PushType = Literal["alert", "background", "voip"]
ClearField = Literal[
    "badge", "category", "thread-id", "interruption-level", "relevance-score", "target-content-id", "filter-criteria"
]
Payload = bytes | str | Mapping[str, Any]

LONGEST = timedelta(seconds=LONGEST_TIME_TO_LIVE)
# What follows the text of the envelope.
AFTER = b'"}'
TOKEN = r'"(?:[^"\\]|\\.)*"|.'
CHARACTER = r"\\u....|\\.|."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Placeholder(Value):
    """What a phone shows if it cannot open a push. The relay reads all of it, and it is not signed."""

    #: At most 4,096 bytes, with something to see.
    title: str = STANDARD_TITLE
    #: `"matching"` for the system's sound if the payload has one, `None` for silence, or the name of a sound file.
    sound: str | None = "matching"
    #: The fields of `aps` that are also in the clear.
    clear: Sequence[ClearField] = ()

    def __post_init__(self) -> None:
        check_type(self.title, str, "title")
        check_optional(self.sound, str, "sound")
        object.__setattr__(self, "clear", checked_tuple(self.clear, str, "clear"))
        if not is_visible(self.title) or not (self.sound is None or is_visible(self.sound)):
            raise PushcryptError(Code.INVALID_PLACEHOLDER, "title or sound shows nothing, is over 4,096 bytes or has half a surrogate pair")
        if not set(self.clear) <= set(CLEAR_FIELDS):
            raise PushcryptError(Code.INVALID_PLACEHOLDER, f"clear is a list of these: {', '.join(CLEAR_FIELDS)}")


def is_visible(text: str) -> bool:
    return bool(text.strip()) and is_unicode(text) and len(text.encode()) <= LONGEST_CLEAR_TEXT


class ClearPart:
    """The text before the envelope, and the longest that a client may make of what surrounds the envelope."""

    __slots__ = ("before", "widest")

    def __init__(self, placeholder: Placeholder, checked: CheckedPayload, push_type: PushType) -> None:
        members: list[str] = []
        if push_type == "alert":
            alert = {"title": placeholder.title, "body": CLEAR_BODY}
            members += ['"mutable-content":1', f'"alert":{write(alert)}']
            sound = placeholder.sound
            if sound == "matching":
                sound = "default" if checked.has_sound else None
            if sound is not None:
                members.append(f'"sound":{write(sound)}')
            # A number as written, or a string.
            members += [
                f"{write(name)}:{value if type(value) is Number else write(value)}"
                for name, value in checked.aps.items() if name in placeholder.clear
            ]
        if push_type == "background" or checked.wakes_app:
            members.append('"content-available":1')
        before = '{"aps":{' + ",".join(members) + '},"ENCRYPTED_DATA":"'
        self.before, self.widest = before.encode(), widest_length(before + AFTER.decode())


@dataclass(frozen=True, eq=False, repr=False)
class SealedPush(Value):
    """What to send to Apple instead of the original payload."""

    #: The complete JSON, as the body of the request.
    payload: bytes
    #: The value of ENCRYPTED_DATA, for clients that write `aps` themselves.
    envelope: str = field(repr=False)
    #: The 16 bytes by which phones know a message that they have shown.
    message_id: bytes
    #: The device that it is sealed for.
    device: StoredDevice
    #: What it has to be sent as.
    push_type: PushType
    #: The last moment at which a phone shows the message.
    expires_at: datetime
    #: `apns-expiration`: the same in seconds; 0, for one attempt, if the time to live was 0.
    expiration: int
    #: The bytes of the longest form that a client may re-encode the JSON to.
    widest: int

    @property
    def fingerprint(self) -> str:
        """8 hexadecimal digits that name the envelope in logs, also in the phone's."""
        return fingerprint(self.envelope)


@dataclass(frozen=True, eq=False, repr=False)
class PushRequest(Value):
    """A request to APNs, but for the provider's authentication. The relay reads all of it."""

    #: `apns-topic`: the bundle id, for a call with `.voip`.
    topic: str
    #: `apns-push-type`.
    push_type: PushType
    #: `apns-priority`: 10, 5 or 1.
    priority: int
    #: `apns-expiration`: seconds since 1970, 0 for one attempt.
    expiration: int
    #: `apns-collapse-id`: 43 characters, a hash.
    collapse_id: str
    #: The body.
    payload: bytes
    #: The device's token, and where it is valid; `None` without one.
    token: str | None = field(repr=False)
    environment: str | None
    #: The device's permission to push by a relay; `None` without one.
    grant: str | None = field(repr=False)

    @property
    def url(self) -> str | None:
        """Where APNs gets it; `None` if the device has no token."""
        host = DEVELOPMENT_HOST if self.environment == "development" else PRODUCTION_HOST
        return None if self.token is None else f"https://{host}/3/device/{self.token}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the HTTP/2 request."""
        return {
            "apns-topic": self.topic, "apns-push-type": self.push_type, "apns-priority": str(self.priority),
            "apns-expiration": str(self.expiration), "apns-collapse-id": self.collapse_id,
        }


class Sealer(Hedged):
    """Seals APNs payloads for the devices of one app. Any number of threads may use one."""

    def __init__(self, key: AnyKey, *, topic: str, placeholder: Placeholder = Placeholder()) -> None:
        """Makes a sealer.

        Args:
            key: A `ProviderKey`, at epoch 0, or the `Credential` of a signing key.
            topic: The app's bundle id, without a suffix such as `.voip`.
            placeholder: What a phone shows if it cannot open a push.
        """
        check_topic(topic)
        if topic.endswith(".voip"):
            warnings.warn("the topic is the app's bundle id, without .voip; phones would not open this", stacklevel=2)
        check_type(placeholder, Placeholder, "the placeholder")
        self._topic, self._placeholder = topic, placeholder
        self._identity, self._hedge = Identity(key, topic), Hedge.of(key)
        self._whose = self._identity.epoch.to_bytes(4, "big") + lp16(topic.encode())
        self._clear_parts: dict[tuple[PushType, bool, bool], ClearPart] = {}

    @property
    def topic(self) -> str:
        """The app's bundle id."""
        return self._topic

    @property
    def placeholder(self) -> Placeholder:
        """What a phone shows if it cannot open a push."""
        return self._placeholder

    @property
    def provider(self) -> ProviderPublicKey:
        """The provider key that phones have pinned."""
        return self._identity.provider

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the key that signs; `None` at epoch 0."""
        return self._identity.certificate

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.provider!r}, topic={self.topic!r})"

    def seal(
        self, payload: Payload, device: StoredDevice, *, push_type: PushType = "alert", message_id: str | None = None,
        time_to_live: timedelta = LONGEST, at: datetime | None = None, attachments: Iterable[Reference] = (),
        full_body: FullBody | Reference | None = None, person: Person | None = None, withdraws: Iterable[str] = (), drop: bool = False,
        exact: bool = False, answers: AnswerSecret | None = None,
    ) -> SealedPush:
        """Seals a payload for one device.

        Args:
            payload: The APNs payload. Of bytes and text, white space and needless escapes are removed; a dict that JSON would change is refused.
            device: The device as you have stored it: what `accept` returned. A removed one is refused.
            push_type: What the push will be sent as.
            message_id: Your name for the message, the same in every retry, so that a phone shows it once; by default each is new.
            time_to_live: Whole seconds, at most 30 days; 0 for now or never. Unless it is a call, the end is rounded up to ten minutes: the relay
                reads it.
            at: The present time, with its zone; by default the system's.
            attachments: At most 8, already stored. They are part of the encrypted payload, and of its size.
            full_body: The whole text, if the payload's own body is only its beginning.
            person: Who the notification is from.
            withdraws: The ids of earlier messages to this device that it takes off the screen, at most 64.
            drop: Whether nothing is to be shown.
            exact: Whether the client sends these very bytes, so that their own length counts.
            answers: The app's `pushcrypt.answers.AnswerSecret`, if the phone may answer. A `message_id` is then never used for another payload.
        """
        life = whole_seconds(time_to_live, "the time to live", LONGEST_TIME_TO_LIVE)
        return self._seal(
            payload, device, push_type, message_id, life, time_or_now(at), attachments, full_body, person, withdraws, drop, exact, answers
        )

    def withdraw(self, message_ids: Iterable[str], device: StoredDevice, *, at: datetime | None = None) -> SealedPush:
        """Seals the smallest message that takes earlier ones of these names, at most 64, off a device's screen.

        It is a background push, which shows nothing, and which iOS may bring later. With the filtering entitlement an alert with `withdraws` and
        `drop` is quicker.
        """
        return self.seal(b'{"aps":{}}', device, push_type="background", withdraws=message_ids, drop=True, at=at)

    def _seal(
        self, payload: Payload, device: StoredDevice, push_type: PushType, message_id: str | None, time_to_live: int,
        sent_at: int, attachments: Iterable[Reference], full_body: FullBody | Reference | None, person: Person | None,
        withdraws: Iterable[str], drop: bool, exact: bool, answers: AnswerSecret | None, drawn: tuple[bytes, bytes] | None = None,
        sealed_life: int | None = None,
    ) -> SealedPush:
        """Vectors give the randomness, which must never be used twice [S-12], and the life as it is."""
        # Imports that sealing alone needs are in functions, for programs that only accept records.
        from ._hpke import setup_base_s

        if push_type not in LIMITS:
            raise PushcryptError(Code.PUSH_TYPE_NOT_SEALABLE)
        check_type(device, StoredDevice, "the device")
        key = device.public_key
        if device.is_removed:
            raise PushcryptError(Code.REMOVED_DEVICE)
        if device.topic != self.topic:
            raise PushcryptError(Code.TOPIC_MISMATCH, "the device has registered for another app than this sealer's")
        if key.suite != SUITE:
            raise PushcryptError(Code.UNSUPPORTED_SUITE, "the key is of suite 2, to which this package does not seal")
        check_type(exact, bool, "exact")
        # Phones would refuse the message, and say nothing [S-10].
        if self.certificate is not None and sent_at > self.certificate.expiry:
            raise PushcryptError(Code.INVALID_TIME, "the signing key's certificate has expired; replace the key, or set the clock")
        names = checked_tuple(withdraws, str, "withdraws")
        check_withdrawal(names, message_id)
        id_bytes = None if message_id is None else named_message(checked_name(message_id, "the message's id"))
        own = reserved_member(attachments, full_body, person, names, drop)

        checked_payload = CheckedPayload(payload_bytes(payload), push_type)
        body = self._identity.prefix + with_member(checked_payload.json, own)
        random = os.urandom(64)
        r_message_id, r_ephemeral = drawn or (random[:32], random[32:])
        if id_bytes is None:
            drawn_for = r_message_id + sent_at.to_bytes(8, "big") + hashlib.sha256(body).digest()
            id_bytes = self._hedge.digest(LABEL_MESSAGE_ID + drawn_for)[:MESSAGE_ID_LENGTH]
        if answers is not None:
            from .answers import AnswerSecret

            check_type(answers, AnswerSecret, "answers")
            own |= {"answer": answers.member_for(bytes(key), self.topic, id_bytes, sent_at)}
            body = self._identity.prefix + with_member(checked_payload.json, own)
        # The limits leave room for a certificate even if there is none [S-5].
        limit, largest = LIMITS[push_type]
        longest = INNER_BODY + len(body) + (0 if self._identity.certificate else CERTIFICATE_LENGTH)
        if longest > largest:
            raise PushcryptError(Code.PAYLOAD_TOO_LARGE, f"the payload, with attachments, has {longest - largest} bytes too many")
        bucket, longest_bucket = (BUCKETS[bisect.bisect_left(BUCKETS, size)] for size in (INNER_BODY + len(body), longest))
        clear = self._clear_part(checked_payload, push_type)
        length = (len(clear.before) + len(AFTER) if exact else clear.widest) + text_length(longest_bucket)
        if length > limit:
            raise PushcryptError(Code.PUSH_TOO_LARGE, f"the push would have up to {length} bytes, over {limit}; shorten the placeholder")

        life = rounded_time_to_live(sent_at, time_to_live, push_type) if sealed_life is None else sealed_life
        kind = CLASSES[push_type] | (KIND_CERTIFIED if self._identity.certificate else 0)
        content = bytes([kind]) + id_bytes + sent_at.to_bytes(8, "big")
        content += life.to_bytes(4, "big") + len(body).to_bytes(2, "big") + body
        content = content.ljust(bucket - INNER_CONTENT, b"\0")

        recipient, signer, whose = bytes(key), self._identity, self._whose
        header, content_hash = bytes([SUITE]) + key.id_bytes, hashlib.sha256(content).digest()
        ikm_e = self._hedge.digest(LABEL_EPHEMERAL + r_ephemeral + header + recipient + whose + content_hash)
        enc, aead, nonce = setup_base_s(recipient, envelope_info(header, self.topic), ikm_e)
        message = signed(header, enc, recipient, bytes(signer.provider), signer.signing_key, whose, content_hash)
        text = encode(header + enc + aead.encrypt(nonce, whose[:4] + signer.key.sign(message) + content, b""))
        expires_at = sent_at + 1000 * life
        return SealedPush(
            clear.before + text.encode() + AFTER, text, id_bytes, device, push_type, moment(expires_at),
            expires_at // 1000 if time_to_live else 0, clear.widest + text_length(bucket))

    def _clear_part(self, checked: CheckedPayload, push_type: PushType) -> ClearPart:
        """All that the relay sees of a push. Unless fields stay in the clear, there are few, which are kept."""
        if self.placeholder.clear:
            return ClearPart(self.placeholder, checked, push_type)
        shape = (push_type, checked.has_sound, checked.wakes_app)
        if shape not in self._clear_parts:
            self._clear_parts[shape] = ClearPart(self.placeholder, checked, push_type)
        return self._clear_parts[shape]

    def request(
        self, push: SealedPush, *, collapse_name: str | None = None, priority: Literal[1, 5, 10] | None = None,
        expiration: datetime | None = None,
    ) -> PushRequest:
        """The request to APNs for a push that this sealer sealed. The collapse id outlives the keys: it is a hash of the device's id.

        Args:
            push: The sealed push.
            collapse_name: Pushes of this name replace each other on a device; by default only a retry replaces its first copy. Who knows the
                device's id can test guesses of it.
            priority: By default 5 for a background push, and 10 for others.
            expiration: Until when APNs keeps it, at most 31 days ahead; 1970 for one attempt. By default that of the push.
        """
        check_type(push, SealedPush, "the push")
        priority = (5 if push.push_type == "background" else 10) if priority is None else priority
        if type(priority) is not int or priority not in (1, 5, 10) or (push.push_type == "background" and priority == 10):
            raise PushcryptError(Code.INVALID_REQUEST, "the priority is 10, 5 or 1, and for a background push not 10")
        end = push.expiration if expiration is None else milliseconds(expiration, "expiration") // 1000
        if end and not -86_400 <= end - clock() // 1000 <= 31 * 86_400 and expiration is not None:
            raise PushcryptError(Code.IMPLAUSIBLE_TIME, f"the expiration is {expiration}, over a day ago or over 31 days ahead")
        device = push.device
        collapse_id = collapse_hash(self.provider, self.topic, device.public_key, push.message_id, device.device, collapse_name)
        topic = self.topic + SUFFIXES[push.push_type]
        return PushRequest(topic, push.push_type, priority, end, collapse_id, push.payload, device.token, device.environment, device.grant)


def collapse_hash(
    provider: ProviderPublicKey, topic: str, device: DevicePublicKey, message_id: bytes, device_id: str | None, collapse_name: str | None
) -> str:
    whom, what = b"\x02" + bytes(device) if device.suite == SUITE else b"\x04" + hashlib.sha256(bytes(device)).digest(), b"\x02" + message_id
    if device_id is not None:
        whom = b"\x01" + lp16(checked_name(device_id, "the device's id", LONGEST_COLLAPSE_DEVICE).encode())
    if collapse_name is not None:
        what = b"\x01" + lp16(checked_name(collapse_name, "the collapse name", 65_535).encode())
    return encode(hashlib.sha256(LABEL_COLLAPSE + bytes(provider) + lp16(topic.encode()) + whom + what).digest())


def payload_bytes(payload: Payload) -> bytes:
    return write_object(dict(payload)) if isinstance(payload, Mapping) else utf8(payload, "the payload, unless it is a dict,")


def checked_name(name: str, what: str, longest: int | None = None) -> str:
    check_type(name, str, what)
    if not name or not is_unicode(name):
        raise PushcryptError(Code.INVALID_REQUEST, f"{what} is empty, or has half a surrogate pair; leave it out for none")
    if longest is not None and len(name.encode()) > longest:
        raise PushcryptError(Code.INVALID_REQUEST, f"{what} has over {longest:,} bytes")
    return name


def rounded_time_to_live(sent_at: int, time_to_live: int, push_type: PushType) -> int:
    """The time to live whose end does not tell the relay when it was chosen; 0, for one attempt, leaves phones' clocks ten minutes."""
    if not time_to_live:
        return EXPIRATION_UNIT // 1000
    if push_type == "voip":
        return time_to_live
    end = sent_at + 1000 * time_to_live
    life = (-(-end // EXPIRATION_UNIT) * EXPIRATION_UNIT - sent_at + 999) // 1000
    return life if life <= LONGEST_TIME_TO_LIVE else (end // EXPIRATION_UNIT * EXPIRATION_UNIT - sent_at + 999) // 1000


def reserved_member(
    attachments: Iterable[Reference], full_body: FullBody | Reference | None, person: Person | None, withdraws: Sequence[str], drop: bool
) -> dict[str, Any]:
    """The member `pushcrypt` of the sealed payload."""
    check_type(drop, bool, "drop")
    if not drop and not withdraws and attachments == () and full_body is None and person is None:
        return {}
    references = checked_tuple(attachments, Reference, "attachments")
    check_optional(person, Person, "person")
    if len(references) > MOST_ATTACHMENTS:
        raise PushcryptError(Code.TOO_MANY_ATTACHMENTS, f"a notification has at most {MOST_ATTACHMENTS} attachments")
    body = full_body.reference if isinstance(full_body, FullBody) else full_body
    check_optional(body, Reference, "full_body")
    if body is not None:
        check_full_body_reference(body)
    member = {
        "body": body and body.members(), "attachments": [reference.members() for reference in references],
        "sender": person and person.members(), "withdraw": withdraws, "drop": drop,
    }
    return {name: value for name, value in member.items() if value}


def with_member(payload: bytes, member: dict[str, Any]) -> bytes:
    """A minimal payload, which has `aps`, with one more member."""
    return payload[:-1] + b',"pushcrypt":' + write(member).encode() + b"}" if member else payload


def text_length(bucket: int) -> int:
    """The number of characters of an envelope."""
    return (4 * (ENVELOPE_OVERHEAD + bucket) + 2) // 3


def widest_length(json_text: str) -> int:
    """The length of a clear part in the longest form that a client may write [S-4]."""
    tokens = re.findall(TOKEN, json_text)
    outside = [token for token in tokens if token[0] != '"']
    inside = re.findall(CHARACTER, "".join(token for token in tokens if token[0] == '"'))
    return sum(2 if token in ",:" else 1 for token in outside) + sum(map(widest_character, inside))


def widest_character(character: str) -> int:
    if character[0] == "\\" or character in "<>&'+=`\x7f":
        return 6
    return 2 if character == "/" else 1 if character < "\x80" else 6 if character < "\U00010000" else 12
